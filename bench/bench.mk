# The programs of the benchmark; included by the top Makefile.  The runner that
# they drive is the real one.

BENCH_PROGRAMS = $(addprefix $(BUILD)/bench/,latency runner lua)
BENCH_CFLAGS   = -std=gnu11 -O2 -D_GNU_SOURCE -Wall -Wextra $(WERROR) -DSANDBOX_EXEC_VERSION='"$(EXT_VERSION)"'

.PHONY: bench-programs
bench-programs: $(BENCH_PROGRAMS)

$(BUILD)/bench/latency: bench/latency.c bench/clock.h
	@mkdir -p $(@D)
	$(CC) $(BENCH_CFLAGS) -I$(shell $(PG_CONFIG) --includedir) -o $@ $< -L$(shell $(PG_CONFIG) --libdir) -lpq -lm
$(BUILD)/bench/%: bench/%.c bench/clock.h test/unit/runner_client.c test/unit/runner_client.h $(PROTOCOL_SRCS)
	@mkdir -p $(@D)
	$(CC) $(BENCH_CFLAGS) -o $@ $< test/unit/runner_client.c $(PROTOCOL_SRCS) -lm
