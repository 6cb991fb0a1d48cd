/* SPDX-License-Identifier: MIT */
/* From a list of calls to a classic BPF program (Documentation/userspace-api/seccomp_filter.rst).
 */
#include "user/base/seccomp.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#ifdef __x86_64__
#define OUR_ARCH AUDIT_ARCH_X86_64
#else
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef __SANITIZE_ADDRESS__
#define IS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED 1
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED 0
#endif

/* Five instructions a row at most; the kernel takes 4096 in all. */
#define MAX_RULES 256
#define MAX_INSNS (5 * MAX_RULES + 5)

struct filter {
	struct sock_filter insns[MAX_INSNS];
	unsigned short n;
};

static void emit(struct filter *f, struct sock_filter insn)
{
	f->insns[f->n++] = insn;
}

static void load(struct filter *f, size_t offset)
{
	emit(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (u32)offset));
}

/* Compare what was loaded; skip as many instructions as said for either outcome. */
static void jump(struct filter *f, u16 comparison, u32 value, u8 if_true, u8 if_false)
{
	emit(f, (struct sock_filter)BPF_JUMP((u16)(BPF_JMP | BPF_K | comparison), value, if_true,
					     if_false));
}

static void answer(struct filter *f, u32 action)
{
	emit(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* The number of the call is loaded before each row, and again behind one that loads an argument. */
static void emit_rule(struct filter *f, const struct call_rule *rule)
{
	if (rule->condition == CALL_ALWAYS) {
		jump(f, BPF_JEQ, rule->nr, 0, 1);
		answer(f, SECCOMP_RET_ALLOW);
		return;
	}
	jump(f, BPF_JEQ, rule->nr, 0, 4);
	/* Both architectures are little-endian: the lower half comes first. */
	load(f, offsetof(struct seccomp_data, args) + rule->arg * sizeof(u64));
	if (rule->condition == CALL_ARG_EQUALS)
		jump(f, BPF_JEQ, rule->value, 0, 1);
	else
		jump(f, BPF_JSET, rule->value, 1, 0);
	answer(f, SECCOMP_RET_ALLOW);
	load(f, offsetof(struct seccomp_data, nr));
}

int seccomp_allow_only(const struct call_rule *rules, size_t n, int code)
{
	struct filter f = { .n = 0 };
	struct sock_fprog program = { .filter = f.insns };

	if (n > MAX_RULES)
		return -E2BIG;
	load(&f, offsetof(struct seccomp_data, arch));
	jump(&f, BPF_JEQ, OUR_ARCH, 1, 0);
	answer(&f, SECCOMP_RET_KILL_PROCESS);
	load(&f, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < n; i++)
		emit_rule(&f, &rules[i]);
	answer(&f, SECCOMP_RET_ERRNO | (u32)code);
	program.len = f.n;
	if (!seccomp_is_in_use())
		return 0;
	/* A kernel without CONFIG_SECCOMP_FILTER does not know the request. */
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		return errno == EINVAL ? -ENOSYS : -errno;
	return 0;
}

bool seccomp_is_in_use(void)
{
	return !IS_SANITIZED;
}
