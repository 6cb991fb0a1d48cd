/* SPDX-License-Identifier: MIT */
/* The compiled BPF programs inside this binary. The Makefile makes the table from bpf/hooks/. */
#ifndef SKYOBSERVE_BPF_EMBEDDED_H
#define SKYOBSERVE_BPF_EMBEDDED_H

#include <stddef.h>

/*
 * One BPF object file, as bpf_object__open_mem takes it.
 *
 * @name is the file's name without .bpf.o: "sys_enter.tp_btf" and "sys_enter.raw_tp" for a hook
 * that is built for both kinds of tracepoint, "iter_task" for one that is built once. The bytes
 * are read-only, aligned to 16 and live as long as the program.
 */
struct bpf_embedded {
	const char *name;
	const void *bytes_begin;
	const void *bytes_end;
};

/* Every object, sorted by name. */
extern const struct bpf_embedded bpf_embedded[];
extern const size_t nr_bpf_embedded;

#endif /* SKYOBSERVE_BPF_EMBEDDED_H */
