/* SPDX-License-Identifier: MIT */
/* Which instructions of a BPF program can run at all, as far as constants in registers tell. */
#ifndef SKYOBSERVE_TESTS_VM_INSN_REACH_H
#define SKYOBSERVE_TESTS_VM_INSN_REACH_H

#include <stdbool.h>
#include <stddef.h>

struct bpf_insn;

/*
 * Mark the instructions that can be reached from the first one.
 *
 * @insns is a whole program as libbpf hands it to the kernel: subprograms appended, calls resolved.
 * A branch whose operands are constants is followed only the way it goes; that is what a
 * bpf_core_field_exists() guard becomes after relocation. Constants are followed through registers,
 * not through the stack or maps: what depends on those counts as reachable. On success
 * ret_reached[i] says whether instruction i can run; ret_reached has @n elements and belongs to the
 * caller.
 *
 * Returns 0; -ENOMEM; -EBADMSG if a jump leaves the program.
 */
int insn_reach_mark(const struct bpf_insn *insns, size_t n, bool *ret_reached);

/*
 * Index of the first instruction of the function that contains instruction @i: 0 for the main
 * program, else the start of a subprogram.
 */
size_t insn_reach_function(const struct bpf_insn *insns, size_t n, size_t i);

#endif
