/* SPDX-License-Identifier: MIT */
/*
 * What this kernel lets us do with BPF, found out by doing it once: programs of two instructions
 * are loaded, attached and let go. No version numbers.
 */
#ifndef SKYOBSERVE_BPF_FEATURES_H
#define SKYOBSERVE_BPF_FEATURES_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"
#include "user/base/err.h"

/* Where a feature is an int, it is 0 for "works" or the negative errno that came back. */
struct bpf_features {
	int kernel_types; /* /sys/kernel/btf/vmlinux can be read */
	u32 nr_kernel_types;
	int map;	      /* bpf(2) creates a map */
	int program;	      /* bpf(2) loads a program that does nothing */
	int compiled;	      /* it became machine code: the JIT is on */
	int kernel_read;      /* a tracing program may read kernel memory */
	int typed_tracepoint; /* BTF-typed raw tracepoint, attached to sched_switch */
	int raw_tracepoint;   /* raw tracepoint, attached to sched_switch */
	int task_iterator;    /* created, run over all tasks */
	int charged_memory;   /* 0: maps count against RLIMIT_MEMLOCK; -ENOENT: they do not */
	int stamp;	      /* the next one could be measured */
	double stamp_ns;      /* one reading of the clock inside a program */
};

/* Ask everything. Takes a few milliseconds; leaves nothing behind. */
void bpf_features_ask(struct bpf_features *ret_features);

/* A tracepoint that one of our hooks is for. */
struct bpf_tracepoint {
	const char *hook; /* constant */
	u32 groups;	  /* mask of enum probe_group that are lost without the hook */
	char name[64];
	bool present; /* in the kernel's types */
};

/*
 * The tracepoints of all hooks, from the embedded programs. A hook runs with those that the kernel
 * has, and needs one of them. *ret_rows (free) has *ret_n entries, in the order of the hooks.
 * Returns 0 or a negative errno: -ENOENT without the kernel's types.
 */
int bpf_features_tracepoints(struct bpf_tracepoint **ret_rows, size_t *ret_n, struct err *err);

#endif /* SKYOBSERVE_BPF_FEATURES_H */
