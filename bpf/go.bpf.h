/* SPDX-License-Identifier: GPL-2.0-only */
/* Which goroutine a thread of a Go program runs. Reads the target's memory; never writes. */
#ifndef SKYOBSERVE_GO_BPF_H
#define SKYOBSERVE_GO_BPF_H

#include "kernel_compat.bpf.h"

static __always_inline u64 user_word(u64 address)
{
	u64 word = 0;

	/* An address that makes no sense reads as 0. */
	if (!address ||
	    bpf_probe_read_user(&word, sizeof(word), (const void *)(unsigned long)address))
		return 0;
	return word;
}

/* What the thread itself takes for its goroutine: before the thread pointer on x86-64. */
static __always_inline u64 go_of_thread(void)
{
#if defined(__TARGET_ARCH_x86)
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	u64 base = BPF_CORE_READ(task, thread.fsbase);

	return base ? user_word(base - 8) : 0;
#else
	return 0; /* user space does not ask for it */
#endif
}

/*
 * The goroutine for which the current thread @t works; 0 if it is none (the scheduler, an idle
 * thread, a thread of C). The runtime's own work for a goroutine, done on the thread's g0, is that
 * goroutine's: m.curg.
 */
static __always_inline u64 go_current(struct thread_cell *t, const struct owner_how *how)
{
	u64 g = go_of_thread(), m;

	if (!g)
		return 0;
	if (g != t->owner_home) {
		if (t->owner_home)
			return g;
		m = user_word(g + how->g_m);
		t->owner_home = m ? user_word(m + how->m_g0) : 0;
		if (g != t->owner_home)
			return g;
	} else {
		m = user_word(g + how->g_m);
	}
	return m ? user_word(m + how->m_curg) : 0;
}

#endif /* SKYOBSERVE_GO_BPF_H */
