# sandbox_exec: `make help` lists what there is.
#
# Everything that is built lies under build/.  Programs with more than a few
# lines of logic are scripts/; this file says what depends on what.

PG_CONFIG ?= pg_config
BUILD     ?= build

EXTENSION   = sandbox_exec
EXT_VERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" $(EXTENSION).control)
PGXS        := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)
export PG_CONFIG BUILD

all:

# ---------------------------------------------------------------- products

MODULES    = $(BUILD)/$(EXTENSION)
DATA       = $(wildcard updates/*.sql)
DATA_built = $(BUILD)/$(EXTENSION)--$(EXT_VERSION).sql
EXTRA_CLEAN = $(filter-out $(BUILD)/lua%, $(wildcard $(BUILD)/*))

SERVER_OBJS = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(wildcard src/server/*.c src/protocol/*.c))
SQL_PARTS   = $(addprefix src/sql/,$(shell sed 's/#.*//' src/sql/ORDER 2>/dev/null))

ifneq ($(wildcard $(PGXS)),)

# entry points are never inlined into queries: no bitcode
override with_llvm := no
include $(PGXS)
include src/runner/runner.mk
include bench/bench.mk

all: $(RUNNER)

# PostgreSQL's own flags decide the dialect; these make its leniency ours.
# Unused parameters, mixed signs and partial initializers are idiom in its API.
SERVER_CFLAGS = -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers \
	-Wno-cast-function-type -Werror=implicit-function-declaration \
	-DSANDBOX_EXEC_VERSION='"$(EXT_VERSION)"' $(WERROR) $(SANITIZE)

$(MODULES).so: $(SERVER_OBJS) src/exports.map
	$(CC) $(CFLAGS) $(SANITIZE) -shared -o $@ $(SERVER_OBJS) -Wl,--version-script=src/exports.map $(LDFLAGS) $(LDFLAGS_SL)

$(SERVER_OBJS): $(BUILD)/obj/%.o: src/%.c $(EXTENSION).control
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_SL) $(SERVER_CFLAGS) -Isrc $(CPPFLAGS) -MMD -MP -c -o $@ $<

-include $(SERVER_OBJS:.o=.d)

# for one test: the library without its journal, to see that the test notices
NO_JOURNAL      = $(BUILD)/no-journal/$(EXTENSION).so
NO_JOURNAL_OBJS = $(filter-out $(BUILD)/obj/server/call.o,$(SERVER_OBJS)) $(BUILD)/no-journal/call.o

$(BUILD)/no-journal/call.o: src/server/call.c $(EXTENSION).control
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_SL) $(SERVER_CFLAGS) -DSANDBOX_EXEC_NO_JOURNAL -Isrc $(CPPFLAGS) -MMD -MP -c -o $@ $<
$(NO_JOURNAL): $(NO_JOURNAL_OBJS) src/exports.map
	$(CC) $(CFLAGS) $(SANITIZE) -shared -o $@ $(NO_JOURNAL_OBJS) -Wl,--version-script=src/exports.map $(LDFLAGS) $(LDFLAGS_SL)
-include $(BUILD)/no-journal/call.d

no-journal: $(NO_JOURNAL)
.PHONY: no-journal

$(DATA_built): $(SQL_PARTS) src/sql/ORDER $(EXTENSION).control
	@mkdir -p $(@D)
	scripts/build-sql $(EXT_VERSION) $(SQL_PARTS) > $@.part
	mv $@.part $@

install: install-runner
install-runner: $(RUNNER) installdirs
	$(INSTALL_PROGRAM) $(RUNNER) '$(DESTDIR)$(pkglibdir)/$(EXTENSION)_runner'
uninstall: uninstall-runner
uninstall-runner:
	rm -f '$(DESTDIR)$(pkglibdir)/$(EXTENSION)_runner'
.PHONY: install-runner uninstall-runner

else                            # no development package yet

all install uninstall clean unit fuzz bench-programs:
	@echo "no PostgreSQL development files for PG_CONFIG=$(PG_CONFIG): run 'make deps' first" >&2; exit 1

endif

# ------------------------------------------------------------------ commands

QUIET_MAKE = $(MAKE) --no-print-directory -s $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

ready:                          # dependencies, then a current build
	@scripts/deps
	@+$(QUIET_MAKE) all

deps:
	@scripts/deps
demo: ready
	@demo/run
test: ready
	@+scripts/test
regress isolation tap: all
	@scripts/suite $@
bench:
	@scripts/deps bench
	@+$(QUIET_MAKE) all bench-programs
	@bench/run $(BENCH)
lint:
	@scripts/deps lint
	@+$(QUIET_MAKE) all
	@+scripts/lint
format:
	@scripts/format
asan: all
	@+scripts/asan
matrix:
	@scripts/matrix
distclean: clean
	rm -rf $(BUILD)
help:
	@sed -n 's/^#: //p' Makefile

#: make            build the extension and its runner under build/
#: make deps       install the Debian packages that are missing, fetch Lua's source
#: make demo       dependencies, build, private throwaway server, the main job, clean up
#: make test       dependencies, build, every suite below; says N passed, N failed
#: make unit       pure C: protocol and runner, without a server, under ASan and UBSan
#: make regress    SQL, topic by topic, against expected output        (sql/, expected/)
#: make isolation  races between sessions                              (test/specs/)
#: make tap        behaviour of whole servers; PROVE_TESTS=... selects (test/t/)
#: make fuzz       fuzz the code that reads hostile bytes; FUZZ_SECONDS=...
#: make asan       every part under sanitizers: pure C, and the library in a server
#: make bench      what it costs, beside peers; BENCH="drain latency" selects    (docs/performance.md)
#: make lint       format, layering, exports, comments, warnings: see CONTRIBUTING.md
#: make format     rewrite the C sources in the project's style
#: make matrix     build and regress on other PostgreSQL majors, in throwaway trees
#: make install    install into the PostgreSQL that PG_CONFIG names
#: make clean      remove what was built; distclean removes Lua's source too

.PHONY: all ready deps demo test regress isolation tap bench lint format matrix distclean help \
	unit fuzz asan
