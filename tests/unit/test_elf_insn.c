/* SPDX-License-Identifier: MIT */
/* Where functions return and where a probe belongs, on instructions written by hand. */
#include "tests/lib/check.h"

#include <elf.h>
#include <errno.h>

#include "user/elf/insn.h"

#define BASE 0x401000

static struct insn_code code_of(u16 machine, const u8 *bytes, size_t n)
{
	return (struct insn_code){ .machine = machine, .vaddr = BASE, .bytes = { bytes, n } };
}

#define CODE(machine, bytes) code_of(machine, bytes, sizeof(bytes))

/* Go 1.21 and later: a stack check, then the frame. */
static const u8 go_new[] = {
	0x49, 0x3b, 0x66, 0x10,	   /* 00 cmp 0x10(%r14),%rsp */
	0x76, 0x0b,		   /* 04 jbe 11 */
	0x55,			   /* 06 push %rbp */
	0x48, 0x89, 0xe5,	   /* 07 mov %rsp,%rbp */
	0x48, 0x83, 0xec, 0x08,	   /* 0a sub $8,%rsp */
	0x5d,			   /* 0e pop %rbp */
	0xc3,			   /* 0f ret */
	0xcc,			   /* 10 int3 */
	0xe8, 0,    0,	  0,	0, /* 11 call morestack */
	0xeb, 0xe8,		   /* 16 jmp 00 */
};

/* Go up to 1.20: no push. */
static const u8 go_old[] = {
	0x49, 0x3b, 0x66, 0x10,	   /* 00 cmp 0x10(%r14),%rsp */
	0x76, 0x0e,		   /* 04 jbe 14 */
	0x48, 0x83, 0xec, 0x18,	   /* 06 sub $0x18,%rsp */
	0xb8, 0x01, 0,	  0,	0, /* 0a mov $1,%eax: an argument is gone */
	0x48, 0x83, 0xc4, 0x18,	   /* 0f add $0x18,%rsp */
	0xc3,			   /* 13 ret */
	0xe8, 0,    0,	  0,	0, /* 14 call morestack */
	0xeb, 0xe5,		   /* 19 jmp 00 */
};

/* No stack check; what is behind the first jump is not always reached. */
static const u8 leaf[] = {
	0x48, 0x85, 0xc0, /* 00 test %rax,%rax */
	0x74, 0x02,	  /* 03 je 07 */
	0x55,		  /* 05 push %rbp */
	0x5d,		  /* 06 pop %rbp */
	0xc3,		  /* 07 ret */
};

/* A loop comes back to the first jump. */
static const u8 loop[] = {
	0x90,		  /* 00 nop */
	0x48, 0x85, 0xc0, /* 01 test %rax,%rax */
	0x74, 0x05,	  /* 04 je 0b */
	0x48, 0xff, 0xc8, /* 06 dec %rax */
	0xeb, 0xf6,	  /* 09 jmp 01 */
	0xc3,		  /* 0b ret */
};

/* The byte of a return inside another instruction. */
static const u8 false_return[] = {
	0xb8, 0xc3, 0xc3, 0xc3, 0xc3, /* 00 mov $0xc3c3c3c3,%eax */
	0xf3, 0xc3,		      /* 05 repz ret */
	0xc2, 0x08, 0x00,	      /* 07 ret $8 */
};

static const u8 go_arm64[] = {
	0x90, 0x0b, 0x40, 0xf9, /* 00 ldr x16,[x28,#16] */
	0xff, 0x63, 0x30, 0xeb, /* 04 cmp sp,x16 */
	0xa9, 0x00, 0x00, 0x54, /* 08 b.ls 1c */
	0xfe, 0x0f, 0x1e, 0xf8, /* 0c str x30,[sp,#-32]! */
	0xfe, 0x07, 0x42, 0xf8, /* 10 ldr x30,[sp],#32 */
	0xc0, 0x03, 0x5f, 0xd6, /* 14 ret */
	0x00, 0x00, 0x80, 0xd2, /* 18 mov x0,#0 */
	0x00, 0x00, 0x00, 0x94, /* 1c bl morestack */
	0xf8, 0xff, 0xff, 0x17, /* 20 b 00 */
	0x00, 0x00, 0x00, 0x00, /* padding */
};

static void check_probe(struct insn_code code, struct insn_probe want_cheap,
			struct insn_probe want_exact)
{
	struct insn_probe cheap, exact;
	struct err err = { { 0 } };

	CHECK_EQ_INT(insn_find_probe(&code, &cheap, &exact, &err), 0);
	CHECK_EQ_U64(cheap.vaddr, want_cheap.vaddr);
	CHECK_EQ_INT(cheap.emulated, want_cheap.emulated);
	CHECK_EQ_INT(cheap.exact, want_cheap.exact);
	CHECK_EQ_U64(exact.vaddr, want_exact.vaddr);
	CHECK_EQ_INT(exact.emulated, want_exact.emulated);
	CHECK_EQ_INT(exact.exact, want_exact.exact);
}

TEST(probe_is_on_the_push_behind_the_stack_check)
{
	struct insn_probe push = { BASE + 0x06, true, true };

	check_probe(CODE(EM_X86_64, go_new), push, push);
}

TEST(probe_without_a_push_is_cheap_or_exact)
{
	check_probe(CODE(EM_X86_64, go_old), (struct insn_probe){ BASE + 0x04, true, false },
		    (struct insn_probe){ BASE + 0x06, false, true });
}

/* A frame without a stack check: behind its begin the stack pointer is another one. */
static const u8 frame[] = {
	0x48, 0x83, 0xec, 0x18, /* 00 sub $0x18,%rsp */
	0x48, 0x85, 0xc0,	/* 04 test %rax,%rax */
	0x74, 0x01,		/* 07 je 0a */
	0x90,			/* 09 nop */
	0x48, 0x83, 0xc4, 0x18, /* 0a add $0x18,%rsp */
	0xc3,			/* 0e ret */
};

TEST(probe_that_is_exact_has_the_stack_pointer_of_the_entry)
{
	check_probe(CODE(EM_X86_64, frame), (struct insn_probe){ BASE + 0x07, true, true },
		    (struct insn_probe){ BASE, false, true });
}

static u64 tail_of(struct insn_code code)
{
	struct err err = { { 0 } };
	u64 vaddr = 1;

	CHECK_EQ_INT(insn_find_tail(&code, &vaddr, &err), 0);
	return vaddr;
}

/* add $8,%rax; jmp away */
static const u8 wrapper[] = { 0x48, 0x83, 0xc0, 0x08, 0xe9, 0x00, 0x01, 0x00, 0x00 };

TEST(a_jump_to_another_function_is_seen)
{
	CHECK_EQ_U64(tail_of(CODE(EM_X86_64, wrapper)), BASE + 4);
	CHECK_EQ_U64(tail_of(CODE(EM_X86_64, go_new)), 0);
	CHECK_EQ_U64(tail_of(CODE(EM_X86_64, loop)), 0);
}

TEST(probe_does_not_pass_a_jump_that_is_no_stack_check)
{
	struct insn_probe je = { BASE + 0x03, true, true };

	check_probe(CODE(EM_X86_64, leaf), je, je);
}

TEST(probe_in_a_loop_is_not_exact)
{
	struct insn_probe nop = { BASE, true, true };

	check_probe(CODE(EM_X86_64, loop), nop, nop);
}

TEST(probe_on_arm64_is_cheap_or_exact)
{
	check_probe(CODE(EM_AARCH64, go_arm64), (struct insn_probe){ BASE + 0x08, true, false },
		    (struct insn_probe){ BASE + 0x0c, false, true });
}

TEST(returns_are_instructions_not_bytes)
{
	struct insn_code code = CODE(EM_X86_64, false_return);
	u64 vaddrs[4];

	CHECK_EQ_INT(insn_find_returns(&code, vaddrs, 4, NULL), 2);
	CHECK_EQ_U64(vaddrs[0], BASE + 5);
	CHECK_EQ_U64(vaddrs[1], BASE + 7);
	code = CODE(EM_AARCH64, go_arm64);
	CHECK_EQ_INT(insn_find_returns(&code, vaddrs, 4, NULL), 1);
	CHECK_EQ_U64(vaddrs[0], BASE + 0x14);
}

TEST(returns_beyond_the_room_are_counted)
{
	struct insn_code code = CODE(EM_X86_64, false_return);
	u64 vaddrs[1];

	CHECK_EQ_INT(insn_find_returns(&code, vaddrs, 1, NULL), 2);
	CHECK_EQ_U64(vaddrs[0], BASE + 5);
}

TEST(instructions_that_are_not_known_are_refused)
{
	static const u8 bad[] = { 0x90, 0x06, 0xc3 }; /* 06 is none in 64 bits */
	struct insn_code code = CODE(EM_X86_64, bad);
	struct err err = { { 0 } };
	u64 vaddr;

	CHECK_EQ_INT(insn_find_returns(&code, &vaddr, 1, &err), -EBADMSG);
	CHECK_STR(err.text, "the instruction at 0x401001 is not known");
	code.machine = EM_S390;
	CHECK_EQ_INT(insn_find_returns(&code, &vaddr, 1, &err), -ENOTSUP);
}

TEST(refs_are_relative_to_the_next_instruction)
{
	static const u8 bytes[] = {
		0x48, 0x8d, 0x05, 0x10, 0,    0,    0, /* 00 lea 0x10(%rip),%rax */
		0x8b, 0x0d, 0xf0, 0xff, 0xff, 0xff,    /* 07 mov -0x10(%rip),%ecx */
		0x48, 0x8b, 0x03,		       /* 0d mov (%rbx),%rax */
	};
	struct insn_code code = CODE(EM_X86_64, bytes);
	struct insn_ref refs[4];

	CHECK_EQ_INT(insn_find_refs(&code, refs, 4, NULL), 2);
	CHECK_EQ_U64(refs[0].vaddr, BASE + 0x07 + 0x10);
	CHECK(refs[0].is_address);
	CHECK_EQ_U64(refs[1].vaddr, BASE + 0x0d - 0x10);
	CHECK(!refs[1].is_address);
	CHECK_EQ_U64(refs[1].offset, 7);
}
