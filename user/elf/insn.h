/* SPDX-License-Identifier: MIT */
/*
 * What a probe must know about a function's instructions: where it returns, and where it is cheap
 * and right to stop it. By a disassembler, never by searching bytes. x86-64 and arm64.
 */
#ifndef SKYOBSERVE_ELF_INSN_H
#define SKYOBSERVE_ELF_INSN_H

#include <stdbool.h>

#include "user/base/err.h"
#include "user/base/span.h"

/* The instructions of a function. */
struct insn_code {
	u16 machine; /* EM_X86_64 or EM_AARCH64 */
	u64 vaddr;
	struct span bytes;
};

/*
 * Addresses of the return instructions, ascending. Returns how many, which may be more than @max
 * (then the first @max are written); -EBADMSG: an instruction is not known, so that nothing behind
 * it is certain; -ENOTSUP: another machine; -ENOMEM.
 */
int insn_find_returns(const struct insn_code *code, u64 *ret_vaddrs, size_t max, struct err *err);

/*
 * The first jump that leaves the function: what it jumps to returns in its place. *ret_vaddr is 0
 * if there is none; jumps to what a register holds are not followed. 0, or errors as above.
 */
int insn_find_tail(const struct insn_code *code, u64 *ret_vaddr, struct err *err);

/* A place for a probe at the entry: the arguments are still in their registers. */
struct insn_probe {
	u64 vaddr;
	/* The kernel emulates the instruction; else it single-steps it, which costs about four
	 * times as much. */
	bool emulated;
	/* Hit once per call. Else also once more for each time that the stack grows at the entry.
	 */
	bool exact;
};

/*
 * Two places: the cheapest, and the cheapest exact one at which, on x86-64, the stack pointer is
 * still that of the entry (ret_exact->exact is false if there is none); often they are the same.
 * Where nothing is emulated the cheapest is the function's first instruction. Errors as above.
 *
 * Source of what is emulated: Linux arch/x86/kernel/uprobes.c (branch_setup_xol_ops,
 * push_setup_xol_ops: jumps, jcc, push, nop; not call, which is, but not in a prologue; not ret);
 * arch/arm64/kernel/probes/decode-insn.c (branches, ret, adr, nop).
 */
int insn_find_probe(const struct insn_code *code, struct insn_probe *ret_cheap,
		    struct insn_probe *ret_exact, struct err *err);

/* An address that an instruction computes or reads relative to itself (x86-64 only). */
struct insn_ref {
	u32 offset;	 /* of the instruction, from the begin of the code */
	bool is_address; /* it takes the address (LEA); else it reads or writes there */
	u64 vaddr;
};

/* All of them in order; return value and errors as of insn_find_returns. */
int insn_find_refs(const struct insn_code *code, struct insn_ref *ret_refs, size_t max,
		   struct err *err);

#endif /* SKYOBSERVE_ELF_INSN_H */
