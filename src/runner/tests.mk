# Unit tests of pure C, and fuzz targets; included by runner.mk.
#
#   make unit    each program of test/unit under AddressSanitizer and
#                UndefinedBehaviorSanitizer; the runner it drives is the real one
#   make fuzz    each target of test/fuzz over its corpus, FUZZ_SECONDS each

TEST_DIR      = $(BUILD)/obj/for-tests
TEST_CC      ?= $(CC)
TEST_CFLAGS   = -std=gnu11 -O1 -g -fno-omit-frame-pointer -D_GNU_SOURCE \
	-fsanitize=$(TEST_SANITIZER) -fno-sanitize-recover=undefined \
	-Wall -Wextra $(WERROR) -DSANDBOX_EXEC_VERSION='"$(EXT_VERSION)"'

UNIT_NAMES    = utf8 frame message json_check outlog calendar arena runner calls containment burst parallel replay
UNIT_TESTS    = $(patsubst %,$(BUILD)/unit/test_%,$(UNIT_NAMES))
UNIT_SHARED   = $(PROTOCOL_SRCS) $(wildcard src/runner/calendar.c src/runner/arena*.c)

# tests that drive a runner; the second kind also has a journal
UNIT_CLIENTS  = $(patsubst %,$(BUILD)/unit/test_%,runner calls containment burst)
UNIT_WORKERS  = $(patsubst %,$(BUILD)/unit/test_%,parallel replay)
$(UNIT_CLIENTS): UNIT_MORE = test/unit/runner_client.c
$(UNIT_CLIENTS): test/unit/runner_client.c
$(UNIT_WORKERS): UNIT_MORE = test/unit/runner_client.c test/unit/worker_model.c
$(UNIT_WORKERS): test/unit/runner_client.c test/unit/worker_model.c

# the arena's address lies in AddressSanitizer's own memory
TEST_SANITIZER = address,undefined
$(BUILD)/unit/test_arena: TEST_SANITIZER = undefined

$(BUILD)/unit/test_%: test/unit/test_%.c $(UNIT_SHARED) $(wildcard test/unit/*.h src/protocol/*.h src/runner/*.h)
	@mkdir -p $(@D)
	$(TEST_CC) $(TEST_CFLAGS) -o $@ $< $(UNIT_MORE) $(UNIT_SHARED) -lcmocka

# all of them run, whatever one came to
unit: $(UNIT_TESTS) $(RUNNER) $(RUNNER_PROBE)
	@failed=0; for test in $(UNIT_TESTS); do \
		RUNNER=$(RUNNER) RUNNER_PROBE=$(RUNNER_PROBE) $$test || failed=1; \
	done; exit $$failed

FUZZ_CC      ?= $(firstword $(shell command -v clang-14 clang 2>/dev/null) clang)
FUZZ_SECONDS ?= 5
FUZZ_NAMES    = message outlog print json_check
FUZZ_TARGETS  = $(patsubst %,$(BUILD)/fuzz/fuzz_%,$(FUZZ_NAMES))

$(BUILD)/fuzz/fuzz_%: test/fuzz/fuzz_%.c $(PROTOCOL_SRCS) $(wildcard src/protocol/*.h)
	@mkdir -p $(@D)
	$(FUZZ_CC) -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
		-Wall -Wextra $(WERROR) -o $@ $< $(PROTOCOL_SRCS)

# findings land in build/fuzz; the committed corpus is only read
fuzz: $(FUZZ_TARGETS)
	@failed=0; for name in $(FUZZ_NAMES); do \
		mkdir -p $(BUILD)/fuzz/found_$$name; \
		if $(BUILD)/fuzz/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 \
			-artifact_prefix=$(BUILD)/fuzz/$$name- $(BUILD)/fuzz/found_$$name test/fuzz/$$name \
			> $(BUILD)/fuzz/$$name.log 2>&1; \
		then echo "fuzz $$name: ok ($$(sed -n 's/^Done \([0-9]*\) runs.*/\1 runs/p' $(BUILD)/fuzz/$$name.log))"; \
		else failed=1; tail -n 40 $(BUILD)/fuzz/$$name.log; echo "fuzz $$name: FAILED"; fi; \
	done; exit $$failed
