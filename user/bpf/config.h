/* SPDX-License-Identifier: MIT */
/* The configuration of the BPF programs: from the tables, the bounds and the kernel's BTF. */
#ifndef SKYOBSERVE_BPF_CONFIG_H
#define SKYOBSERVE_BPF_CONFIG_H

#include "layout.h"
#include "user/bpf/session.h"

struct btf;
struct bpf_object;

/*
 * Fill *ret_cfg for this machine. @kernel_btf answers which arguments its tracepoints have; the
 * system call classes come from calls.def through the native table of numbers.
 */
void bpf_config_fill(const struct btf *kernel_btf, const struct bpf_bounds *bounds, u32 lanes,
		     u32 groups, struct bpf_config *ret_cfg);

/*
 * Leave out the programs of @obj whose tracepoint this kernel does not have (a hook names all the
 * names that its tracepoint had). Returns how many programs remain.
 */
int bpf_config_choose_programs(const struct btf *kernel_btf, struct bpf_object *obj);

#endif /* SKYOBSERVE_BPF_CONFIG_H */
