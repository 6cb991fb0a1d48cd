# SPDX-License-Identifier: MIT
#
# skyobserve. `make help` lists the targets; DEVELOPERS.md explains them.
#
# Variables a user may set:
#   V=1             show the commands
#   CC, CLANG       compiler of the program, compiler of the BPF objects
#   CFLAGS_EXTRA    more flags for the program
#   PREFIX, DESTDIR where `make install` puts things
#   B               folder of the program's objects (default build; variants use build/san, ...)
#   FUZZ_SECONDS    seconds per fuzz target
#   TEST_FLAGS      more arguments for tests/run.py, such as --only 'unit/test_hist*'
#   RUN_SECONDS     `make run` ends by itself after so many seconds

MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all
SHELL := /bin/sh

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-8s %s\n'
endif

# --- Who builds -------------------------------------------------------------------------------------
#
# Under sudo the build belongs to the user who typed it: targets that write build/ are made again as that
# user, and only those that need root (apt, the observer, its tests, install) stay root.

IS_ROOT := $(filter 0,$(shell id -u))
SUDO_BUILDER := $(if $(IS_ROOT),$(if $(filter-out 0,$(SUDO_UID)),$(SUDO_USER)))
ifneq ($(SUDO_BUILDER),)
# A tree that this user cannot write (a clone that root made) is built by root.
SUDO_BUILDER := $(shell runuser -u '$(SUDO_BUILDER)' -- test -w . && echo '$(SUDO_BUILDER)')
endif
ifneq ($(SUDO_BUILDER),)
AS_BUILDER := runuser -u '$(SUDO_BUILDER)' -- env -u SUDO_UID HOME='$(shell getent passwd '$(SUDO_BUILDER)' | cut -d: -f6)'
endif
# Each use is its own make, so that what `deps` just installed is seen.
BUILD_MAKE = +$(Q)$(AS_BUILDER) $(MAKE)
JOBS := -j$(shell nproc)

# --- Tools and flags --------------------------------------------------------------------------------

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
LLVM_STRIP ?= llvm-strip
GO ?= go
PYTHON ?= python3
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local
B ?= build
FUZZ_SECONDS ?= 60

MACHINE := $(patsubst aarch64,arm64,$(shell uname -m))
BPF_TARGET_ARCH := $(patsubst x86_64,x86,$(MACHINE))

# Libraries of the program, by their pkg-config names, and of the workloads.
PACKAGES := libbpf libelf libdw libmicrohttpd zlib
WORKLOAD_PACKAGES := liburing

INCLUDES := -Iinclude -I.
WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes
# Evaluated once, at the first use: a bare machine has no pkg-config before `make deps`.
once = $(eval $(1) := $(2))$($(1))
PACKAGE_CFLAGS = $(call once,PACKAGE_CFLAGS,$(shell $(PKG_CONFIG) --cflags $(PACKAGES)))
PACKAGE_LIBS = $(call once,PACKAGE_LIBS,$(shell $(PKG_CONFIG) --libs $(PACKAGES)))
WORKLOAD_LIBS = $(call once,WORKLOAD_LIBS,$(shell $(PKG_CONFIG) --libs $(WORKLOAD_PACKAGES)))
BPF_CFLAGS_PKG = $(call once,BPF_CFLAGS_PKG,$(shell $(PKG_CONFIG) --cflags libbpf))

HARDENING := -fstack-protector-strong -D_FORTIFY_SOURCE=2
C_FLAGS = -std=gnu11 -O2 -g $(HARDENING) $(WARNINGS) $(INCLUDES) $(PACKAGE_CFLAGS) $(CFLAGS_EXTRA) $(CFLAGS)
LD_FLAGS = -Wl,-z,relro,-z,now $(CFLAGS_EXTRA) $(LDFLAGS)
# v2: the newest instruction set that every kernel from 5.10 on and clang 14 agree about.
# unused-parameter: the argument macros of libbpf name a context that most programs do not use.
BPF_FLAGS = -target bpf -mcpu=v2 -O2 -g -Wall -Wextra -Wno-unused-parameter -Werror -D__TARGET_ARCH_$(BPF_TARGET_ARCH) \
	-Iinclude -Ibpf -Ivmlinux/$(MACHINE) $(BPF_CFLAGS_PKG)
DEPFLAGS = -MMD -MP

# --- Sources ----------------------------------------------------------------------------------------

USER_SRCS := $(sort $(shell find user -name '*.c' 2>/dev/null))
USER_OBJS := $(USER_SRCS:%.c=$(B)/%.o)
MAIN_OBJ := $(filter $(B)/user/main.o,$(USER_OBJS))
LIB := $(B)/libskyobserve.a
BIN := $(if $(MAIN_OBJ),$(B)/skyobserve)

# Built once; the others once per kind of tracepoint.
HOOKS := $(sort $(patsubst bpf/hooks/%.bpf.c,%,$(wildcard bpf/hooks/*.bpf.c)))
HOOKS_ONCE := $(filter iter_% uprobe_% perf_%,$(HOOKS))
HOOKS_TWICE := $(filter-out $(HOOKS_ONCE),$(HOOKS))
BPF_NAMES := $(sort $(HOOKS_ONCE) $(HOOKS_TWICE:%=%.tp_btf) $(HOOKS_TWICE:%=%.raw_tp))
# Not below $(B): the same for every variant of the program.
BPF_DIR := build/bpf
BPF_OBJS := $(BPF_NAMES:%=$(BPF_DIR)/%.bpf.o)
GEN := build/gen
GEN_OBJS := $(B)/gen/bpf_objects.o $(B)/gen/bpf_bytes.o

LIB_OBJS := $(filter-out $(MAIN_OBJ),$(USER_OBJS)) $(GEN_OBJS)

# Test programs by stage; tests/run.py finds the scripts itself. tests/vm builds its own.
TEST_STAGES_USER := unit golden sim
TEST_STAGES_ROOT := bpf e2e
tests_of = $(patsubst %.c,$(B)/%,$(filter-out %.bpf.c,$(wildcard $(1:%=tests/%/test_*.c))))
TESTS_USER := $(call tests_of,$(TEST_STAGES_USER))
TESTS_ROOT := $(call tests_of,$(TEST_STAGES_ROOT))
TEST_LIB_OBJS := $(patsubst %.c,$(B)/%.o,$(wildcard tests/lib/*.c))
TEST_BPF_OBJS := $(patsubst %.bpf.c,build/%.bpf.o,$(wildcard tests/bpf/*.bpf.c tests/bench/*.bpf.c))
BENCHES := $(patsubst %.c,$(B)/%,$(filter-out %.bpf.c,$(wildcard tests/bench/*.c)))
FUZZERS := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))
WORKLOADS_C := $(patsubst %.c,build/%,$(wildcard tests/workloads/*.c))
WORKLOADS_GO := $(patsubst tests/workloads/%/go.mod,build/tests/workloads/%,$(wildcard tests/workloads/*/go.mod))
WORKLOADS := $(WORKLOADS_C) $(WORKLOADS_GO)

C_FILES = $(sort $(shell find user include bpf tests -name '*.[ch]' -not -name '*.gen.h' 2>/dev/null))

# --- The program ------------------------------------------------------------------------------------

ifeq ($(SUDO_BUILDER),)

all: $(BIN) $(LIB) $(BPF_OBJS)

# Rewritten only when its text changes; what depends on it is then made again: after a change of flags,
# and when a source file appears or goes away.
define stamp_if_changed
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(1))' >$@
endef

$(B)/flags.stamp: FORCE
	$(call stamp_if_changed,$(CC) $(C_FLAGS) $(LD_FLAGS) $(PACKAGE_LIBS))
$(B)/objects.stamp: FORCE
	$(call stamp_if_changed,$(LIB_OBJS) $(TEST_LIB_OBJS))
$(BPF_DIR)/flags.stamp: FORCE
	$(call stamp_if_changed,$(CLANG) $(BPF_FLAGS))
$(GEN)/names.stamp: FORCE
	$(call stamp_if_changed,$(BPF_NAMES))

$(B)/%.o: %.c $(B)/flags.stamp
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(DEPFLAGS) -c $< -o $@

$(LIB): $(LIB_OBJS) $(B)/objects.stamp
	$(say) AR $@
	$(Q)rm -f $@
	$(Q)ar rcs $@ $(LIB_OBJS)

$(B)/skyobserve: $(MAIN_OBJ) $(LIB) $(B)/flags.stamp
	$(say) LD $@
	$(Q)$(CC) $(LD_FLAGS) $(MAIN_OBJ) $(LIB) $(PACKAGE_LIBS) -o $@

# --- BPF objects, and the table that carries them ---------------------------------------------------

# DWARF is stripped; BTF stays.
define compile_bpf
	$(say) BPF $@
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_FLAGS) $(1) $(DEPFLAGS) -c $< -o $@
	$(Q)$(LLVM_STRIP) -g $@
endef

$(BPF_DIR)/%.tp_btf.bpf.o: bpf/hooks/%.bpf.c $(BPF_DIR)/flags.stamp
	$(call compile_bpf,-DHOOK_TP_BTF)
$(BPF_DIR)/%.raw_tp.bpf.o: bpf/hooks/%.bpf.c $(BPF_DIR)/flags.stamp
	$(call compile_bpf,-DHOOK_RAW_TP)
$(BPF_DIR)/%.bpf.o: bpf/hooks/%.bpf.c $(BPF_DIR)/flags.stamp
	$(call compile_bpf,)
build/tests/%.bpf.o: tests/%.bpf.c $(BPF_DIR)/flags.stamp
	$(call compile_bpf,)

$(GEN)/bpf_bytes.S: $(GEN)/names.stamp
	$(say) GEN $@
	$(Q){ \
		echo '/* Generated by the Makefile: the BPF objects. */'; \
		echo '	.section .rodata'; \
		i=0; for name in $(BPF_NAMES); do \
			echo '	.balign 16'; \
			echo "	.globl bpf_bytes_begin_$$i, bpf_bytes_end_$$i"; \
			echo "bpf_bytes_begin_$$i:"; \
			echo "	.incbin \"$(BPF_DIR)/$$name.bpf.o\""; \
			echo "bpf_bytes_end_$$i:"; \
			i=$$((i + 1)); \
		done; \
		echo '	.section .note.GNU-stack, "", %progbits'; \
	} >$@

$(GEN)/bpf_objects.c: $(GEN)/names.stamp
	$(say) GEN $@
	$(Q){ \
		echo '/* Generated by the Makefile: the table of BPF objects. */'; \
		echo '#include "user/bpf/embedded.h"'; \
		i=0; for name in $(BPF_NAMES); do \
			echo "extern const char bpf_bytes_begin_$$i[], bpf_bytes_end_$$i[];"; \
			i=$$((i + 1)); \
		done; \
		echo 'const struct bpf_embedded bpf_embedded[] = {'; \
		i=0; for name in $(BPF_NAMES); do \
			echo "	{ \"$$name\", bpf_bytes_begin_$$i, bpf_bytes_end_$$i },"; \
			i=$$((i + 1)); \
		done; \
		echo '};'; \
		echo 'const size_t nr_bpf_embedded = sizeof(bpf_embedded) / sizeof(bpf_embedded[0]);'; \
	} >$@

$(B)/gen/bpf_bytes.o: $(GEN)/bpf_bytes.S $(BPF_OBJS)
	$(say) AS $@
	@mkdir -p $(@D)
	$(Q)$(CC) -c $< -o $@
$(B)/gen/bpf_objects.o: $(GEN)/bpf_objects.c $(B)/flags.stamp
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(DEPFLAGS) -c $< -o $@

# --- Test programs and workloads --------------------------------------------------------------------

tests-user: $(TESTS_USER)
tests-build: $(TESTS_USER) $(TESTS_ROOT) $(TEST_BPF_OBJS) $(WORKLOADS)
workloads: $(WORKLOADS)
benches: $(BENCHES) $(TEST_BPF_OBJS) $(WORKLOADS)
fuzzers: $(FUZZERS)

# The decisions of BPF are compiled for the host there.
$(B)/tests/sim/%.o: C_FLAGS += -Ibpf
# Test cases are found by name, not by prototype.
$(B)/tests/%.o: C_FLAGS += -Itests

$(TESTS_USER) $(TESTS_ROOT) $(BENCHES) $(FUZZERS): %: %.o $(TEST_LIB_OBJS) $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(LD_FLAGS) $(TEST_LIB_OBJS:%=) $< $(TEST_LIB_OBJS) $(LIB) $(PACKAGE_LIBS) -lm -lpthread -o $@

# One file, one program, with nothing of ours in it; never a variant, so not below $(B).
$(WORKLOADS_C): build/tests/workloads/%: tests/workloads/%.c $(B)/flags.stamp
	$(say) CC $@
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Werror $(DEPFLAGS) -MF $@.d $< -o $@ \
		-Wl,--as-needed $(WORKLOAD_LIBS) -lpthread -lm

.SECONDEXPANSION:
$(WORKLOADS_GO): build/tests/workloads/%: $$(wildcard tests/workloads/%/*.go tests/workloads/%/*/*.go) tests/workloads/%/go.mod
	$(say) GO $@
	@mkdir -p $(@D)
	$(Q)cd tests/workloads/$* && GOENV=off GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0 \
		GOCACHE=$(CURDIR)/build/gocache GOPATH=$(CURDIR)/build/gopath $(GO) build -o $(CURDIR)/$@ .

.SECONDARY:
FORCE:
.PHONY: FORCE all tests-user tests-build workloads benches fuzzers

-include $(shell find $(B) $(BPF_DIR) build/tests -name '*.d' -not -path 'build/vm/*' 2>/dev/null)

else # under sudo

BUILDER_TARGETS := all tests-user tests-build workloads benches fuzzers check format-check lint cppcheck tidy compilers \
	headers sanitize fuzz format test-user
$(BUILDER_TARGETS):
	$(BUILD_MAKE) $@
.PHONY: $(BUILDER_TARGETS)

endif
