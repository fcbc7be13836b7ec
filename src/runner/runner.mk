# Rules for the runner, the tests of pure C, and the fuzz targets; included by
# the top Makefile.
#
# Uses BUILD, EXT_VERSION and WERROR of that file.  The runner is one static
# program at fixed addresses: nothing in it moves from one start to the next,
# so what depends on an address repeats.

LUA_DIR      ?= build/lua-5.4.9/src
RUNNER        = $(BUILD)/sandbox_exec_runner
RUNNER_PROBE  = $(BUILD)/sandbox_exec_runner_probe
PROTOCOL_SRCS = $(wildcard src/protocol/*.c)
RUNNER_SRCS   = $(filter-out src/runner/probe.c src/runner/no_bytecode.c,$(wildcard src/runner/*.c))

# upstream's files that the runner needs; no_bytecode.c replaces two more
LUA_CORE = lapi lcode lctype ldebug ldo lfunc lgc llex lmem lobject lopcodes \
	lparser lstate lstring ltable ltm lvm lzio
LUA_LIBS = lauxlib lbaselib lcorolib lmathlib lstrlib ltablib lutf8lib

RUNNER_CC     ?= $(CC)
RUNNER_OPT     = -std=gnu11 -O2 -g -flto=auto -fno-plt -fno-pie -fvisibility=hidden \
	-ffunction-sections -fdata-sections
RUNNER_HARDEN  = -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
RUNNER_HARDEN += $(if $(filter x86_64,$(shell uname -m)),-fcf-protection)
RUNNER_WARN    = -Wall -Wextra -Wdeclaration-after-statement $(WERROR)
RUNNER_LINK    = -static -no-pie -Wl,-z,relro,-z,now,-z,noexecstack -Wl,--gc-sections

# headers of our own before upstream's, which is found by -I only
LUA_FLAGS      = -include src/runner/lua_config.h -DLUA_CORE= -DLUA_LIB= -I$(LUA_DIR)
RUNNER_CFLAGS  = $(RUNNER_OPT) $(RUNNER_HARDEN)
RUNNER_OWN     = $(RUNNER_CFLAGS) $(RUNNER_WARN) -isystem $(LUA_DIR) \
	-DSANDBOX_EXEC_VERSION='"$(EXT_VERSION)"'

RUNNER_DIR    = $(BUILD)/obj/for-runner
LUA_OBJS      = $(patsubst %,$(RUNNER_DIR)/lua/%.o,$(LUA_CORE) $(LUA_LIBS)) \
	$(RUNNER_DIR)/lua/no_bytecode.o
COMMON_OBJS   = $(LUA_OBJS) $(patsubst src/%.c,$(RUNNER_DIR)/%.o,$(PROTOCOL_SRCS))
RUNNER_OBJS   = $(COMMON_OBJS) $(patsubst src/%.c,$(RUNNER_DIR)/%.o,$(RUNNER_SRCS))
PROBE_OBJS    = $(COMMON_OBJS) \
	$(patsubst src/runner/%.c,$(RUNNER_DIR)/probe/%.o,$(RUNNER_SRCS) src/runner/probe.c)

.PHONY: runner probe unit fuzz
runner: $(RUNNER)
probe: $(RUNNER_PROBE)

$(LUA_DIR)/lua.h:
	scripts/fetch-lua $(patsubst %/lua-5.4.9/src,%,$(LUA_DIR))
$(RUNNER_OBJS) $(PROBE_OBJS): src/runner/runner.mk | $(LUA_DIR)/lua.h

# what of upstream is compiled in a way of its own: see lua_config.h
$(RUNNER_DIR)/lua/lauxlib.o $(RUNNER_DIR)/lua/lstrlib.o: LUA_EXTRA = -DSANDBOX_LUA_IDENTITIES
$(RUNNER_DIR)/lua/lapi.o: LUA_EXTRA = -DSANDBOX_LUA_NO_TABLE_GC

$(RUNNER_DIR)/lua/no_bytecode.o: src/runner/no_bytecode.c src/runner/lua_config.h
	@mkdir -p $(@D)
	$(RUNNER_CC) $(RUNNER_CFLAGS) $(LUA_FLAGS) -c -o $@ $<
$(RUNNER_DIR)/lua/%.o: $(LUA_DIR)/lua.h src/runner/lua_config.h src/runner/identity.h
	@mkdir -p $(@D)
	$(RUNNER_CC) $(RUNNER_CFLAGS) $(LUA_FLAGS) $(LUA_EXTRA) -c -o $@ $(LUA_DIR)/$*.c
$(RUNNER_DIR)/probe/%.o: src/runner/%.c $(EXTENSION).control
	@mkdir -p $(@D)
	$(RUNNER_CC) $(RUNNER_OWN) -DRUNNER_PROBE -MMD -MP -c -o $@ $<
$(RUNNER_DIR)/%.o: src/%.c $(EXTENSION).control
	@mkdir -p $(@D)
	$(RUNNER_CC) $(RUNNER_OWN) -MMD -MP -c -o $@ $<

$(RUNNER): $(RUNNER_OBJS)
	$(RUNNER_CC) $(RUNNER_CFLAGS) $(RUNNER_LINK) -o $@ $(RUNNER_OBJS) -lseccomp -lm
$(RUNNER_PROBE): $(PROBE_OBJS)
	$(RUNNER_CC) $(RUNNER_CFLAGS) $(RUNNER_LINK) -o $@ $(PROBE_OBJS) -lseccomp -lm

-include $(wildcard $(RUNNER_DIR)/*/*.d)
include src/runner/tests.mk
