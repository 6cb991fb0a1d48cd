/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hooks: functions that are interactions, in the programs that user space attaches to. Group:
 * functions.
 *
 * An entry is probed where the stack has grown already and the stack pointer is still that of the
 * call; a return at the instruction, never by a return probe: Go's stacks move.
 */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "functions.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void enters(struct pt_regs *regs, u32 function)
{
	struct thread_cell *t = thread_current();

	if (!t)
		return;
	charge(account_cells(t), CELL_FUNCTION_ENTRIES, 1);
	t->probing = 1;
	barrier();
	current_enters_function(function, PT_REGS_SP(regs), bpf_ktime_get_ns());
	barrier();
	t->probing = 0;
}

/* A program for each: what tells them apart otherwise (a cookie) is not there before 5.15. */
#define FUNCTION(n)                                  \
	SEC("uprobe/function." #n)                   \
	int function_entry_##n(struct pt_regs *regs) \
	{                                            \
		enters(regs, n);                     \
		return 0;                            \
	}

FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)
FUNCTION(4)
FUNCTION(5)
FUNCTION(6)
FUNCTION(7)
_Static_assert(MAX_FUNCTIONS == 8, "a program for each function");

/* Of any of them: which call it is, its depth in the stack says. */
SEC("uprobe/function.return")
int function_return(struct pt_regs *regs)
{
	struct thread_cell *t = thread_current();

	if (!t)
		return 0;
	charge(account_cells(t), CELL_FUNCTION_RETURNS, 1);
	t->probing = 1;
	barrier();
	current_leaves_function(PT_REGS_SP(regs), bpf_ktime_get_ns());
	barrier();
	t->probing = 0;
	return 0;
}
