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
JOBS = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# These call make again; beside another goal (make -j2 clean all) they must not run at the same time.
DRIVERS := test test-user test-root soak bench selftest run install check compilers sanitize fuzz clean distclean
ifneq ($(SUDO_BUILDER)$(filter $(DRIVERS),$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif

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
PACKAGES := libbpf libelf libdw capstone libmicrohttpd zlib
WORKLOAD_PACKAGES := liburing

INCLUDES := -Iinclude -I.
WERROR := -Werror
WARNINGS := -Wall -Wextra $(WERROR) -Wshadow -Wstrict-prototypes -Wmissing-prototypes
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

C_FILES = $(sort $(shell find user include bpf tests -name '*.[ch]' 2>/dev/null))
TEST_C_SRCS := $(filter-out %.bpf.c,$(sort $(shell find tests -name '*.c' -not -path 'tests/workloads/*' 2>/dev/null)))

# --- The program ------------------------------------------------------------------------------------

ifeq ($(SUDO_BUILDER),)

all: $(BIN) $(LIB) $(BPF_OBJS)
	@:

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

# The files of rules are inside of it.
$(B)/user/crosscheck/rules_shipped.o: $(wildcard user/crosscheck/*.conf)

$(LIB): $(LIB_OBJS) $(B)/objects.stamp
	$(say) AR $@
	$(Q)rm -f $@.new
	$(Q)ar qcs $@.new $(LIB_OBJS)
	$(Q)mv $@.new $@

$(B)/skyobserve: $(MAIN_OBJ) $(LIB) $(B)/flags.stamp
	$(say) LD $@
	$(Q)$(CC) $(LD_FLAGS) $(MAIN_OBJ) $(LIB) $(PACKAGE_LIBS) -lm -o $@

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

bpf: $(BPF_OBJS)
	@:
tests-user: $(TESTS_USER)
	@:
tests-build: $(TESTS_USER) $(TESTS_ROOT) $(TEST_BPF_OBJS) $(WORKLOADS)
	@:
workloads: $(WORKLOADS)
	@:
workloads-sample: $(WORKLOADS_GO)
	@:
benches: $(BENCHES) $(TEST_BPF_OBJS) $(WORKLOADS)
	@:
fuzzers: $(FUZZERS)
	@:

# The decisions of BPF are compiled for the host there.
$(B)/tests/sim/%.o $(B)/tests/fuzz/fuzz_http.o: INCLUDES += -Ibpf
$(FUZZERS): LD_FLAGS += -fsanitize=fuzzer

$(TESTS_USER) $(TESTS_ROOT) $(BENCHES) $(FUZZERS): %: %.o $(TEST_LIB_OBJS) $(LIB)
	$(say) LD $@
	$(Q)$(CC) $(LD_FLAGS) $< $(TEST_LIB_OBJS) $(LIB) $(PACKAGE_LIBS) -lm -lpthread -o $@

# One file, one program, with nothing of ours in it; never a variant, so not below $(B).
$(WORKLOADS_C): build/tests/workloads/%: tests/workloads/%.c $(B)/flags.stamp
	$(say) CC $@
	@mkdir -p $(@D) build/dep
	$(Q)$(CC) -std=gnu11 -O2 -g -Wall -Wextra -Werror $(DEPFLAGS) -MT $@ -MF build/dep/workload-$*.d $< -o $@ \
		-Wl,--as-needed $(WORKLOAD_LIBS) -lpthread -lm

.SECONDEXPANSION:
$(WORKLOADS_GO): build/tests/workloads/%: tests/workloads/%/go.mod $$(shell find tests/workloads/$$* -type f)
	$(say) GO $@
	@mkdir -p $(@D)
	$(Q)cd tests/workloads/$* && GOENV=off GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=0 \
		GOCACHE=$(CURDIR)/build/gocache GOPATH=$(CURDIR)/build/gopath $(GO) build -o $(CURDIR)/$@ .

# --- Checks, by the builder -------------------------------------------------------------------------

CHECKS := format-check lint cppcheck tidy compilers sanitize

# All of them, then what failed: one run tells everything.
check:
	+@failed=; for step in $(CHECKS); do \
		begin=$$(date +%s); echo "== $$step"; \
		$(MAKE) $(JOBS) $$step || failed="$$failed $$step"; \
		echo "-- $$step: $$(($$(date +%s) - begin)) s"; \
	done; \
	if [ -n "$$failed" ]; then echo "check FAILED:$$failed"; exit 1; fi; echo "check passed"

format:
	$(Q)clang-format -i $(C_FILES)
format-check:
	$(Q)clang-format --dry-run -Werror $(C_FILES)

lint:
	$(Q)CC='$(CC)' CLANG='$(CLANG)' $(PYTHON) tests/lint/lint.py
	$(Q)$(PYTHON) tests/lint/test_lint.py

cppcheck:
	@mkdir -p build/cppcheck
	$(Q)cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability --inline-suppr --std=c11 \
		--suppressions-list=tests/lint/cppcheck.txt --cppcheck-build-dir=build/cppcheck $(JOBS) \
		$(INCLUDES) $(USER_SRCS) $(TEST_C_SRCS)

# One stamp per file. The object stands for the headers that it was made from.
tidy: $(USER_SRCS:%.c=$(B)/tidy/%.ok)
	@:
$(B)/tidy/%.ok: %.c $(B)/%.o .clang-tidy
	$(say) TIDY $<
	@mkdir -p $(@D)
	$(Q)clang-tidy --quiet $< -- -std=gnu11 $(INCLUDES) $(PACKAGE_CFLAGS) 2>$@.log || { cat $@.log; exit 1; }
	@touch $@

# Both compilers refuse every warning, in the program and its tests; and the BPF programs compile for the
# other architecture too.
compilers:
	$(BUILD_MAKE) $(JOBS) all tests-user tests-build
	$(BUILD_MAKE) $(JOBS) B=build/clang CC='$(CLANG)' all tests-user
	$(BUILD_MAKE) $(JOBS) MACHINE=x86_64 BPF_DIR=build/bpf-x86_64 bpf
	$(BUILD_MAKE) $(JOBS) MACHINE=arm64 BPF_DIR=build/bpf-arm64 bpf

# The sanitizers change what the optimizer sees, and with it the compiler's guesses: no -Werror.
SANITIZE := B=build/san HARDENING= WERROR= CFLAGS_EXTRA='-O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all'
sanitize:
	$(BUILD_MAKE) $(JOBS) $(SANITIZE) CC=gcc all tests-user
	$(Q)$(PYTHON) tests/run.py --build build/san $(TEST_STAGES_USER)

FUZZ := B=build/fuzz HARDENING= WERROR= CC='$(CLANG)' CFLAGS_EXTRA='-O1 -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all'
fuzz:
	$(BUILD_MAKE) $(JOBS) $(FUZZ) fuzzers
	@[ -n '$(FUZZERS)' ] || echo 'no fuzz targets'
	$(Q)$(BUILD_MAKE) $(JOBS) --keep-going --output-sync=target FUZZ_SECONDS=$(FUZZ_SECONDS) $(FUZZ_RUNS) || \
		{ echo 'fuzz FAILED (inputs in build/fuzz/crashes)'; exit 1; }

# As many at once as there are CPUs: a target uses one.
FUZZ_RUNS := $(FUZZERS:$(B)/tests/fuzz/fuzz_%=fuzz-run-%)
$(FUZZ_RUNS): fuzz-run-%:
	$(Q)failed=; new=build/fuzz/corpus/$*; log=build/fuzz/$*.log; mkdir -p $$new build/fuzz/crashes; \
	seeds=tests/fuzz/corpus/$*; [ -d $$seeds ] || seeds=; \
	echo "== fuzz $*: $(FUZZ_SECONDS) s"; \
	build/fuzz/tests/fuzz/fuzz_$* -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
		-artifact_prefix=build/fuzz/crashes/$*- $$new $$seeds >$$log 2>&1 || { tail -n 60 $$log; failed=1; }; \
	grep -E 'stat::(number_of_executed_units|average_exec_per_sec)|cov:' $$log | tail -n 3; [ -z "$$failed" ]

.SECONDARY:
FORCE:
.PHONY: FORCE all bpf tests-user tests-build workloads workloads-sample benches fuzzers check $(CHECKS) format fuzz $(FUZZ_RUNS)

-include $(shell find $(B) $(BPF_DIR) build/dep build/tests -name '*.d' 2>/dev/null)

else # under sudo

BUILDER_TARGETS := all bpf tests-user tests-build workloads workloads-sample benches fuzzers check format-check lint cppcheck tidy \
	compilers sanitize fuzz format test-user
$(BUILDER_TARGETS):
	$(BUILD_MAKE) $@
.PHONY: $(BUILDER_TARGETS)

endif

# --- Packages ---------------------------------------------------------------------------------------

deps:
	$(Q)sh packaging/deps.sh build
# The kernels that tests/vm boots are packages too, but they are only unpacked, below build/.
deps-test:
	$(Q)sh packaging/deps.sh build sample test
	$(Q)if [ -e tests/vm/fetch.py ]; then $(AS_BUILDER) $(PYTHON) tests/vm/fetch.py; fi

# --- Targets that need root, or stay root -----------------------------------------------------------

# Root's tests leave files below build/; they go back to the builder, whatever happened.
GIVE_BACK = $(if $(SUDO_BUILDER),chown -R -h --from=0 '$(SUDO_BUILDER):' build)
as_root = status=0; $(1) || status=$$?; $(if $(SUDO_BUILDER),$(GIVE_BACK);) exit $$status
NEED_ROOT = $(if $(IS_ROOT),,@echo '$@ needs root: sudo make $@' >&2; exit 1)

test: deps-test
	$(BUILD_MAKE) $(JOBS) all tests-build
	$(Q)$(call as_root,$(PYTHON) tests/run.py $(TEST_FLAGS))

test-root:
	$(NEED_ROOT)
	$(BUILD_MAKE) $(JOBS) all tests-build
	$(Q)$(call as_root,$(PYTHON) tests/run.py --root $(TEST_FLAGS))

ifeq ($(SUDO_BUILDER),)
test-user:
	$(BUILD_MAKE) $(JOBS) all tests-user
	$(Q)$(PYTHON) tests/run.py --user $(TEST_FLAGS)
endif

# As in the tests, but for long.
SOAK_SECONDS ?= 1200
soak:
	$(NEED_ROOT)
	$(BUILD_MAKE) $(JOBS) all workloads
	$(Q)$(call as_root,SOAK_SECONDS=$(SOAK_SECONDS) $(PYTHON) tests/e2e/test_soak.py --times)

bench:
	$(NEED_ROOT)
	$(BUILD_MAKE) $(JOBS) all benches
	$(Q)$(call as_root,$(PYTHON) tests/bench/run.py $(BENCH_FLAGS))

selftest:
	$(NEED_ROOT)
	$(BUILD_MAKE) $(JOBS) all
	$(Q)build/skyobserve selftest

run:
	$(NEED_ROOT)
	$(Q)sh packaging/deps.sh build sample
	$(BUILD_MAKE) $(JOBS) all workloads-sample
	$(Q)BUILDER='$(SUDO_BUILDER)' sh packaging/run-sample.sh $(RUN_SECONDS)

# --- Installation -----------------------------------------------------------------------------------

DOC_DIR = $(DESTDIR)$(PREFIX)/share/doc/skyobserve
install:
	$(BUILD_MAKE) $(JOBS) all
	$(Q)install -D -m 755 build/skyobserve $(DESTDIR)$(PREFIX)/bin/skyobserve
	$(Q)install -d $(DOC_DIR)/LICENSES
	$(Q)install -m 644 LICENSE $(wildcard README.md) $(DOC_DIR)
	$(Q)install -m 644 $(wildcard LICENSES/*) $(DOC_DIR)/LICENSES
uninstall:
	$(Q)rm -f $(DESTDIR)$(PREFIX)/bin/skyobserve
	$(Q)rm -rf $(DOC_DIR)

# The kernels in build/vm are not made here but fetched, so they stay.
clean:
	$(Q)if [ -d build ]; then find build -mindepth 1 -maxdepth 1 -not -name vm -exec rm -rf {} +; fi
distclean:
	$(Q)rm -rf build

help:
	@echo 'make                  build/skyobserve (the same as make all)'
	@echo 'sudo make run         install what is missing, build, observe the bundled sample, live; Ctrl-C ends it'
	@echo 'sudo make test        install what is missing, build, all tests'
	@echo 'make test-user        the tests that need no root'
	@echo 'sudo make test-root   the tests that do'
	@echo 'make check            format, lint, cppcheck, clang-tidy, both compilers, sanitizers'
	@echo 'sudo make soak        an observer beside storms for SOAK_SECONDS=1200: nothing leaks, nothing drifts'
	@echo 'sudo make bench       cost per event and against other tools'
	@echo 'make fuzz             each fuzz target for FUZZ_SECONDS=60'
	@echo 'make sanitize         the unit tests under ASan and UBSan'
	@echo 'make format           clang-format, in place'
	@echo 'sudo make selftest    workloads of known truth on this machine'
	@echo 'sudo make deps        Debian packages for building; says what it installs'
	@echo 'sudo make deps-test   and those for the sample and the tests, with the kernels that the tests boot'
	@echo 'make install          to $$(DESTDIR)$$(PREFIX), /usr/local by default; and make uninstall'
	@echo 'make clean            remove what was built; make distclean also the fetched kernels'
	@echo 'Variables: V=1, CC, CLANG, CFLAGS_EXTRA, TEST_FLAGS, FUZZ_SECONDS, SOAK_SECONDS, RUN_SECONDS (see the Makefile).'

.PHONY: deps deps-test test test-root test-user soak bench selftest run install uninstall clean distclean help
