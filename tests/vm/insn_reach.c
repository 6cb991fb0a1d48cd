/* SPDX-License-Identifier: MIT */
/*
 * Sparse conditional constant propagation over BPF instructions, registers only. Knows the
 * instruction set (Documentation/bpf/standardization/instruction-set.rst) and nothing of CO-RE or
 * kernels.
 */
#include "insn_reach.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#define REGISTERS_NR 11

/* Helpers are numbered from 1 and there are some 200; libbpf marks what it could not resolve with
 * far greater numbers. */
#define MAX_HELPER 100000

/* What is known on arrival at an instruction: bit r of known says that register r always holds
 * value[r]. */
struct regs {
	uint16_t known;
	uint64_t value[REGISTERS_NR];
};

struct reach {
	const struct bpf_insn *insns;
	size_t n;
	struct regs *at; /* per instruction, valid where reached */
	bool *reached;
	size_t *work; /* instructions to look at, a stack without duplicates */
	size_t n_work;
	bool *queued;
	int error;
};

static void forget(struct regs *regs, int reg)
{
	regs->known &= ~(1U << reg);
}

static void set(struct regs *regs, int reg, uint64_t value)
{
	regs->known |= 1U << reg;
	regs->value[reg] = value;
}

static bool is_known(const struct regs *regs, int reg)
{
	return regs->known & (1U << reg);
}

/* Control can go to @to with @regs: keep what all ways there agree on, and look at it again if that
 * is less. */
static void flow_to(struct reach *r, long to, const struct regs *regs)
{
	struct regs *at;
	uint16_t known = 0;

	if (to < 0 || (size_t)to >= r->n) {
		r->error = -EBADMSG;
		return;
	}
	at = &r->at[to];
	if (!r->reached[to]) {
		r->reached[to] = true;
		*at = *regs;
	} else {
		for (int i = 0; i < REGISTERS_NR; i++)
			if (is_known(at, i) && is_known(regs, i) && at->value[i] == regs->value[i])
				known |= 1U << i;
		if (known == at->known)
			return;
		at->known = known;
	}
	if (!r->queued[to]) {
		r->queued[to] = true;
		r->work[r->n_work++] = to;
	}
}

/* The result of an arithmetic operation on constants; false for one that is not followed. */
static bool alu(int op, bool is64, uint64_t a, uint64_t b, uint64_t *ret)
{
	unsigned int shift = b & (is64 ? 63 : 31);

	if (!is64) {
		a = (uint32_t)a;
		b = (uint32_t)b;
	}
	switch (op) {
	case BPF_MOV:
		*ret = b;
		break;
	case BPF_ADD:
		*ret = a + b;
		break;
	case BPF_SUB:
		*ret = a - b;
		break;
	case BPF_MUL:
		*ret = a * b;
		break;
	case BPF_AND:
		*ret = a & b;
		break;
	case BPF_OR:
		*ret = a | b;
		break;
	case BPF_XOR:
		*ret = a ^ b;
		break;
	case BPF_LSH:
		*ret = a << shift;
		break;
	case BPF_RSH:
		*ret = a >> shift;
		break;
	case BPF_ARSH:
		*ret = is64 ? (uint64_t)((int64_t)a >> shift) : (uint32_t)((int32_t)a >> shift);
		break;
	case BPF_NEG:
		*ret = -a;
		break;
	default:
		return false;
	}
	if (!is64)
		*ret = (uint32_t)*ret;
	return true;
}

static void step_alu(const struct bpf_insn *insn, struct regs *regs)
{
	bool is64 = BPF_CLASS(insn->code) == BPF_ALU64;
	int op = BPF_OP(insn->code);
	bool by_reg = BPF_SRC(insn->code) == BPF_X && op != BPF_NEG;
	uint64_t b = by_reg ? regs->value[insn->src_reg] : (uint64_t)(int64_t)insn->imm;
	/* A move with an offset is a sign extension (v4 of the instruction set). */
	bool good = insn->off == 0 && (!by_reg || is_known(regs, insn->src_reg)) &&
		    (op == BPF_MOV || is_known(regs, insn->dst_reg));
	uint64_t result;

	if (good && alu(op, is64, regs->value[insn->dst_reg], b, &result))
		set(regs, insn->dst_reg, result);
	else
		forget(regs, insn->dst_reg);
}

/* Whether a conditional jump on constants is taken. */
static bool is_taken(int op, bool is64, uint64_t a, uint64_t b)
{
	int64_t sa = is64 ? (int64_t)a : (int32_t)a;
	int64_t sb = is64 ? (int64_t)b : (int32_t)b;

	if (!is64) {
		a = (uint32_t)a;
		b = (uint32_t)b;
	}
	switch (op) {
	case BPF_JEQ:
		return a == b;
	case BPF_JNE:
		return a != b;
	case BPF_JSET:
		return a & b;
	case BPF_JGT:
		return a > b;
	case BPF_JGE:
		return a >= b;
	case BPF_JLT:
		return a < b;
	case BPF_JLE:
		return a <= b;
	case BPF_JSGT:
		return sa > sb;
	case BPF_JSGE:
		return sa >= sb;
	case BPF_JSLT:
		return sa < sb;
	default:
		return sa <= sb;
	}
}

static void step_branch(struct reach *r, size_t i, const struct regs *regs)
{
	const struct bpf_insn *insn = &r->insns[i];
	bool is64 = BPF_CLASS(insn->code) == BPF_JMP;
	bool by_reg = BPF_SRC(insn->code) == BPF_X;
	uint64_t b = by_reg ? regs->value[insn->src_reg] : (uint64_t)(int64_t)insn->imm;
	bool known = is_known(regs, insn->dst_reg) && (!by_reg || is_known(regs, insn->src_reg));
	bool taken = known && is_taken(BPF_OP(insn->code), is64, regs->value[insn->dst_reg], b);

	if (!known || taken)
		flow_to(r, (long)i + 1 + insn->off, regs);
	if (!known || !taken)
		flow_to(r, (long)i + 1, regs);
}

static void step_call(struct reach *r, size_t i, struct regs *regs)
{
	const struct bpf_insn *insn = &r->insns[i];
	struct regs callee = *regs;

	if (insn->src_reg == BPF_PSEUDO_CALL) {
		/* Only the arguments are passed on. */
		callee.known &= 0x3e;
		flow_to(r, (long)i + 1 + insn->imm, &callee);
	}
	/* R0 to R5 are the callee's. An unresolved relocation stands where something else was: all
	 * may differ. */
	if (insn->src_reg == 0 && insn->imm > MAX_HELPER)
		regs->known = 0;
	else
		regs->known &= ~0x3fU;
	flow_to(r, (long)i + 1, regs);
}

static void step_jump(struct reach *r, size_t i, struct regs *regs)
{
	const struct bpf_insn *insn = &r->insns[i];

	switch (BPF_OP(insn->code)) {
	case BPF_EXIT:
		return;
	case BPF_CALL:
		step_call(r, i, regs);
		return;
	case BPF_JA:
		/* The 32-bit class carries a long distance in imm (v4). */
		flow_to(r, (long)i + 1 + (BPF_CLASS(insn->code) == BPF_JMP ? insn->off : insn->imm),
			regs);
		return;
	default:
		step_branch(r, i, regs);
	}
}

static void step_load_imm64(struct reach *r, size_t i, struct regs *regs)
{
	const struct bpf_insn *insn = &r->insns[i];
	const struct regs nothing = { 0 };

	forget(regs, insn->dst_reg);
	if (insn->src_reg == BPF_PSEUDO_FUNC)
		/* A callback's address, relative like a call; a helper calls it with arguments of
		 * its own. */
		flow_to(r, (long)i + 1 + insn->imm, &nothing);
	else if (insn->src_reg == 0 && i + 1 < r->n)
		set(regs, insn->dst_reg,
		    (uint32_t)insn->imm | (uint64_t)(uint32_t)insn[1].imm << 32);
	flow_to(r, (long)i + 2, regs);
}

static void step(struct reach *r, size_t i)
{
	const struct bpf_insn *insn = &r->insns[i];
	struct regs regs = r->at[i];

	if (insn->dst_reg >= REGISTERS_NR || insn->src_reg >= REGISTERS_NR) {
		r->error = -EBADMSG;
		return;
	}
	switch (BPF_CLASS(insn->code)) {
	case BPF_JMP:
	case BPF_JMP32:
		step_jump(r, i, &regs);
		return;
	case BPF_LD:
		if (insn->code == (BPF_LD | BPF_IMM | BPF_DW)) {
			step_load_imm64(r, i, &regs);
			return;
		}
		regs.known &= ~0x3fU;
		break;
	case BPF_LDX:
		forget(&regs, insn->dst_reg);
		break;
	case BPF_STX:
		/* An atomic operation may return the old value, in its source register or in R0. */
		forget(&regs, insn->src_reg);
		forget(&regs, BPF_REG_0);
		break;
	case BPF_ST:
		break;
	default:
		step_alu(insn, &regs);
	}
	flow_to(r, (long)i + 1, &regs);
}

int insn_reach_mark(const struct bpf_insn *insns, size_t n, bool *ret_reached)
{
	struct reach r = { .insns = insns, .n = n };
	const struct regs nothing = { 0 };

	r.at = calloc(n, sizeof(*r.at));
	r.reached = calloc(n, sizeof(*r.reached));
	r.queued = calloc(n, sizeof(*r.queued));
	r.work = calloc(n, sizeof(*r.work));
	if (!r.at || !r.reached || !r.queued || !r.work) {
		r.error = -ENOMEM;
		goto out;
	}
	flow_to(&r, 0, &nothing);
	/* Ends: an instruction is looked at again only when one of its registers became unknown. */
	while (r.n_work && !r.error) {
		size_t i = r.work[--r.n_work];

		r.queued[i] = false;
		step(&r, i);
	}
	if (!r.error)
		memcpy(ret_reached, r.reached, n * sizeof(*ret_reached));
out:
	free(r.at);
	free(r.reached);
	free(r.queued);
	free(r.work);
	return r.error;
}

size_t insn_reach_function(const struct bpf_insn *insns, size_t n, size_t i)
{
	size_t start = 0;

	for (size_t k = 0; k < n; k++) {
		bool call = insns[k].code == (BPF_JMP | BPF_CALL) &&
			    insns[k].src_reg == BPF_PSEUDO_CALL;
		bool callback = insns[k].code == (BPF_LD | BPF_IMM | BPF_DW) &&
				insns[k].src_reg == BPF_PSEUDO_FUNC;
		size_t to = k + 1 + (long)insns[k].imm;

		if ((call || callback) && to <= i && to > start)
			start = to;
	}
	return start;
}
