/* SPDX-License-Identifier: MIT */
/* Looking at instructions by capstone. Knows no symbols and no files. */
#include "user/elf/insn.h"

#include <elf.h>
#include <errno.h>

#include <capstone/capstone.h>

/* A prologue is over by then: the longest seen, of a large frame, has 45 bytes on x86-64. */
#define MAX_PROLOGUE_BYTES 96

struct decoder {
	csh handle;
	cs_insn *insn;
	const struct insn_code *code;
	const uint8_t *at;
	size_t n;
	uint64_t vaddr;
};

static int decoder_open(struct decoder *d, const struct insn_code *code, struct err *err)
{
	cs_err e;

	*d = (struct decoder){
		.code = code, .at = code->bytes.at, .n = code->bytes.n, .vaddr = code->vaddr
	};
	if (code->machine == EM_X86_64)
		e = cs_open(CS_ARCH_X86, CS_MODE_64, &d->handle);
	else if (code->machine == EM_AARCH64)
		e = cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &d->handle);
	else
		return err_set(err, -ENOTSUP, "instructions of machine %u are not known here",
			       code->machine);
	if (e != CS_ERR_OK)
		return err_set(err, -ENOTSUP, "capstone: %s", cs_strerror(e));
	cs_option(d->handle, CS_OPT_DETAIL, CS_OPT_ON);
	d->insn = cs_malloc(d->handle);
	if (!d->insn) {
		cs_close(&d->handle);
		return err_set(err, -ENOMEM, "no memory for the disassembler");
	}
	return 0;
}

static void decoder_close(struct decoder *d)
{
	cs_free(d->insn, 1);
	cs_close(&d->handle);
}

/* Go fills up to the next function with zeros on arm64, which are no instruction. */
static bool is_padding(const struct decoder *d)
{
	for (size_t i = 0; i < d->n; i++) {
		if (d->at[i])
			return false;
	}
	return true;
}

/* 1 with the next instruction in d->insn, 0 at the end, or -EBADMSG. */
static int decoder_next(struct decoder *d, struct err *err)
{
	if (!d->n)
		return 0;
	if (cs_disasm_iter(d->handle, &d->at, &d->n, &d->vaddr, d->insn))
		return 1;
	if (is_padding(d))
		return 0;
	return err_set(err, -EBADMSG, "the instruction at 0x%llx is not known", (u64)d->vaddr);
}

static bool is_x86(const struct decoder *d)
{
	return d->code->machine == EM_X86_64;
}

static bool is_return(const struct decoder *d)
{
	if (is_x86(d))
		return d->insn->id == X86_INS_RET || d->insn->id == X86_INS_RETF ||
		       d->insn->id == X86_INS_RETFQ;
	return d->insn->id == ARM64_INS_RET;
}

int insn_find_returns(const struct insn_code *code, u64 *ret_vaddrs, size_t max, struct err *err)
{
	struct decoder d;
	size_t n = 0;
	int r = decoder_open(&d, code, err);

	if (r)
		return r;
	while ((r = decoder_next(&d, err)) > 0) {
		if (!is_return(&d))
			continue;
		if (n < max)
			ret_vaddrs[n] = d.insn->address;
		n++;
	}
	decoder_close(&d);
	return r ? r : (int)n;
}

static bool in_group(const struct decoder *d, u8 group)
{
	return cs_insn_group(d->handle, d->insn, group);
}

/* The address that a direct jump or branch goes to; 0 if it is none. */
static u64 jump_target(const struct decoder *d)
{
	const cs_detail *detail = d->insn->detail;

	if (!in_group(d, CS_GRP_JUMP))
		return 0;
	if (is_x86(d)) {
		if (detail->x86.op_count == 1 && detail->x86.operands[0].type == X86_OP_IMM)
			return (u64)detail->x86.operands[0].imm;
		return 0;
	}
	/* cbz and tbz have the target last. */
	for (int i = detail->arm64.op_count - 1; i >= 0; i--) {
		if (detail->arm64.operands[i].type == ARM64_OP_IMM)
			return (u64)detail->arm64.operands[i].imm;
	}
	return 0;
}

int insn_find_tail(const struct insn_code *code, u64 *ret_vaddr, struct err *err)
{
	struct decoder d;
	u64 target;
	int r = decoder_open(&d, code, err);

	if (r)
		return r;
	*ret_vaddr = 0;
	while (!*ret_vaddr && (r = decoder_next(&d, err)) > 0) {
		target = jump_target(&d);
		if (target && (target < code->vaddr || target >= code->vaddr + code->bytes.n))
			*ret_vaddr = d.insn->address;
	}
	decoder_close(&d);
	return r < 0 ? r : 0;
}

static bool is_conditional_jump(const struct decoder *d)
{
	if (!jump_target(d))
		return false;
	if (is_x86(d))
		return d->insn->id != X86_INS_JMP;
	return d->insn->id != ARM64_INS_B || (d->insn->detail->arm64.cc != ARM64_CC_INVALID &&
					      d->insn->detail->arm64.cc != ARM64_CC_AL);
}

/* What may change between the entry and a probe: stack, frame, scratch registers of Go's prologue.
 */
static bool is_scratch(const struct decoder *d, u16 reg)
{
	static const u16 x86[] = { X86_REG_RSP,	 X86_REG_RBP,	 X86_REG_R12, X86_REG_R13,
				   X86_REG_R12D, X86_REG_EFLAGS, X86_REG_RIP };
	static const u16 arm64[] = { ARM64_REG_SP,  ARM64_REG_X16, ARM64_REG_X17, ARM64_REG_X27,
				     ARM64_REG_X29, ARM64_REG_X30, ARM64_REG_NZCV };
	const u16 *table = is_x86(d) ? x86 : arm64;
	size_t n = is_x86(d) ? sizeof(x86) / sizeof(x86[0]) : sizeof(arm64) / sizeof(arm64[0]);

	for (size_t i = 0; i < n; i++) {
		if (table[i] == reg)
			return true;
	}
	return false;
}

static bool keeps_arguments(const struct decoder *d, bool *moves_stack)
{
	cs_regs reads, writes;
	uint8_t nr_reads, nr_writes;

	if (cs_regs_access(d->handle, d->insn, reads, &nr_reads, writes, &nr_writes) != CS_ERR_OK)
		return false;
	for (u8 i = 0; i < nr_writes; i++) {
		if (!is_scratch(d, writes[i]))
			return false;
		*moves_stack |= is_x86(d) && writes[i] == X86_REG_RSP;
	}
	return true;
}

/* One byte of opcode: 50 to 57, perhaps with a prefix for r8 to r15. */
static bool is_push_register(const struct decoder *d)
{
	return is_x86(d) && d->insn->id == X86_INS_PUSH && d->insn->detail->x86.op_count == 1 &&
	       d->insn->detail->x86.operands[0].type == X86_OP_REG;
}

static bool is_emulated(const struct decoder *d)
{
	if (is_x86(d) && in_group(d, CS_GRP_JUMP))
		return jump_target(d) && d->insn->id != X86_INS_JRCXZ &&
		       d->insn->id != X86_INS_JECXZ && d->insn->id != X86_INS_LOOP &&
		       d->insn->id != X86_INS_LOOPE && d->insn->id != X86_INS_LOOPNE;
	if (is_x86(d))
		return is_push_register(d) || (d->insn->id == X86_INS_NOP && d->insn->size == 1);
	return jump_target(d) || d->insn->id == ARM64_INS_ADR || d->insn->id == ARM64_INS_ADRP;
}

/* Places in the order of the code; the first instruction of the function is always one. */
struct places {
	struct insn_probe at[MAX_PROLOGUE_BYTES];
	u32 n;
	u32 n_entry; /* so many of them have the stack pointer of the entry */
	u64 check; /* address of the first conditional jump, or ~0: a stack check stands before what
		      is behind */
};

/* Straight on from the entry, up to what changes an argument or leaves. */
static int find_places(const struct insn_code *code, struct places *p, struct err *err)
{
	bool moved = false;
	struct decoder d;
	int r = decoder_open(&d, code, err);

	if (r)
		return r;
	p->n = 0;
	p->n_entry = 0;
	p->check = ~0ull;
	while ((r = decoder_next(&d, err)) > 0) {
		if (d.insn->address - code->vaddr >= MAX_PROLOGUE_BYTES)
			break;
		p->at[p->n++] = (struct insn_probe){ .vaddr = d.insn->address,
						     .emulated = is_emulated(&d),
						     .exact = true };
		p->n_entry += !moved;
		if (is_conditional_jump(&d)) {
			/* Past a second one we may not always come. */
			if (p->check != ~0ull)
				break;
			p->check = d.insn->address;
			continue;
		}
		if (!keeps_arguments(&d, &moved) || jump_target(&d) || is_return(&d) ||
		    in_group(&d, CS_GRP_CALL))
			break;
	}
	decoder_close(&d);
	if (r < 0)
		return r;
	return p->n ? 0 : err_set(err, -EBADMSG, "the function has no instructions");
}

/*
 * A jump back is hit again. One to the entry is Go's: it comes from behind morestack, before what
 * is behind the stack check is reached.
 */
static void note_jump(struct places *p, u64 entry, u64 target)
{
	for (u32 i = 0; i < p->n; i++) {
		if (target > p->at[i].vaddr || target < entry)
			continue;
		if (target == entry && p->check != ~0ull && p->at[i].vaddr > p->check)
			continue;
		p->at[i].exact = false;
	}
}

/*
 * Is the first conditional jump a stack check? Then some jump of the function goes back to the
 * entry. If not, what is behind the jump is not always reached.
 */
static int judge_places(const struct insn_code *code, struct places *p, struct err *err)
{
	bool to_entry = false;
	struct decoder d;
	int r = decoder_open(&d, code, err);

	if (r)
		return r;
	while ((r = decoder_next(&d, err)) > 0) {
		u64 target = jump_target(&d);

		if (!target)
			continue;
		to_entry |= target == code->vaddr;
		note_jump(p, code->vaddr, target);
	}
	decoder_close(&d);
	if (!to_entry) {
		while (p->n > 1 && p->at[p->n - 1].vaddr > p->check)
			p->n--;
	}
	return r;
}

int insn_find_probe(const struct insn_code *code, struct insn_probe *ret_cheap,
		    struct insn_probe *ret_exact, struct err *err)
{
	const struct insn_probe *cheap, *exact = NULL;
	struct places p;
	int r = find_places(code, &p, err);

	if (!r)
		r = judge_places(code, &p, err);
	if (r)
		return r;
	cheap = &p.at[0];
	for (u32 i = 0; i < p.n; i++) {
		const struct insn_probe *at = &p.at[i];

		/* Emulated before stepped, then exact before not, then the first. */
		if (at->emulated > cheap->emulated ||
		    (at->emulated == cheap->emulated && at->exact > cheap->exact))
			cheap = at;
		if (at->exact && i < p.n_entry && (!exact || at->emulated > exact->emulated))
			exact = at;
	}
	*ret_cheap = *cheap;
	*ret_exact = exact ? *exact : *cheap;
	ret_exact->exact = exact != NULL;
	return 0;
}

int insn_find_refs(const struct insn_code *code, struct insn_ref *ret_refs, size_t max,
		   struct err *err)
{
	struct decoder d;
	size_t n = 0;
	int r;

	if (code->machine != EM_X86_64)
		return err_set(err, -ENOTSUP, "references to data are found on x86-64 only");
	r = decoder_open(&d, code, err);
	if (r)
		return r;
	while ((r = decoder_next(&d, err)) > 0) {
		const cs_x86 *x86 = &d.insn->detail->x86;

		for (int i = 0; i < x86->op_count; i++) {
			const cs_x86_op *op = &x86->operands[i];

			if (op->type != X86_OP_MEM || op->mem.base != X86_REG_RIP ||
			    d.insn->id == X86_INS_NOP)
				continue;
			if (n < max)
				ret_refs[n] = (struct insn_ref){
					.offset = (u32)(d.insn->address - code->vaddr),
					.is_address = d.insn->id == X86_INS_LEA,
					.vaddr = d.insn->address + d.insn->size + (u64)op->mem.disp,
				};
			n++;
		}
	}
	decoder_close(&d);
	return r ? r : (int)n;
}
