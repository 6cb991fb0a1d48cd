/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that the programs take in by themselves: followed children, and what is wanted. */
#ifndef SKYOBSERVE_PROCESSES_BPF_H
#define SKYOBSERVE_PROCESSES_BPF_H

#include "threads.bpf.h"

/* The kernel's sums of the threads of a process that are gone; order as in struct task_counts. */
static __always_inline void ended_counts(struct task_struct *task, struct task_counts *ret)
{
	struct signal_struct *sig = KREAD(task, signal);

	ret->runtime_ns = BPF_CORE_READ(sig, sum_sched_runtime);
	ret->run_delay_ns = 0;
	ret->nvcsw = BPF_CORE_READ(sig, nvcsw);
	ret->nivcsw = BPF_CORE_READ(sig, nivcsw);
	ret->faults = BPF_CORE_READ(sig, min_flt) + BPF_CORE_READ(sig, maj_flt);
}

/*
 * Take in a process at its birth or at an exec. One with details gets them as long as there are
 * slots; beyond the bound it is in `other`. @comm is its name.
 */
static __always_inline bool process_add(struct task_struct *task, u32 flags, bool details,
					u32 parent_tgid, const void *comm, u64 now)
{
	u32 tgid = KREAD(task, tgid), slot;
	struct process_cell *p;
	u8 *flag;

	if ((!details || bpf_map_pop_elem(&free_details, &slot)) &&
	    bpf_map_pop_elem(&free_processes, &slot))
		slot = cfg.max_processes - 1;
	p = bpf_map_lookup_elem(&processes, &slot);
	if (!p)
		return false;
	if (slot != cfg.max_processes - 1) {
		p->account = slot;
		p->flags = 0;
		p->seeding = 0;
		p->live_threads = 0;
		p->begin_ns = now;
		p->end_ns = 0;
		p->start_ns = KREAD(task, start_time);
		p->execs = 0;
		__builtin_memset(&p->census, 0, sizeof(p->census));
		p->parent_tgid = parent_tgid;
		ended_counts(task, &p->ended);
		bpf_probe_read_kernel_str(p->comm, sizeof(p->comm), comm);
		p->flags = flags;
		p->tgid = tgid;
	} else {
		p->flags |= flags; /* the children of those in `other` are followed, too */
	}
	flag = observed_flag(tgid);
	if (!flag || bpf_map_update_elem(&process_slots, &tgid, &slot, BPF_ANY)) {
		drop(DROP_PROCESSES_FULL);
		return false;
	}
	*flag = 1;
	return true;
}

static __always_inline bool comm_is_wanted(const struct wanted *w, const u64 *comm)
{
	for (u32 i = 0; i < MAX_WANTED; i++) {
		if (i < cfg.nr_wanted_comms && w->comm[i][0] == comm[0] && w->comm[i][1] == comm[1])
			return true;
	}
	return false;
}

static __always_inline bool file_is_wanted(const struct wanted *w, const struct inode *inode)
{
	u64 number = BPF_CORE_READ(inode, i_ino);
	u32 device = BPF_CORE_READ(inode, i_sb, s_dev);

	for (u32 i = 0; i < MAX_WANTED; i++) {
		if (i < cfg.nr_wanted_files && number && w->file[i].inode == number &&
		    w->file[i].device == device)
			return true;
	}
	return false;
}

/* @comm is what it is called, or is about to be. */
static __always_inline bool is_wanted(struct task_struct *task, const void *comm, bool by_file)
{
	u32 key = 0;
	struct wanted *w;
	u64 copy[COMM_BYTES / sizeof(u64)] = {}; /* what follows the name is not always 0 */

	if (!cfg.nr_wanted_comms && !(by_file && cfg.nr_wanted_files))
		return false;
	w = bpf_map_lookup_elem(&wanted, &key);
	if (!w)
		return false;
	if (cfg.nr_wanted_comms) {
		bpf_probe_read_kernel_str(copy, sizeof(copy), comm);
		if (comm_is_wanted(w, copy))
			return true;
	}
	return by_file && cfg.nr_wanted_files &&
	       file_is_wanted(w, BPF_CORE_READ(task, mm, exe_file, f_inode));
}

/*
 * Take in the process of @task, which runs and is its only thread. Its past belongs to whatever it
 * was before: charged from here on.
 */
static __always_inline void process_add_running(struct task_struct *task, u32 flags, bool details,
						const void *comm)
{
	struct task_counts counts;
	struct thread_cell *t;
	u64 now = bpf_ktime_get_ns();
	u32 slot;

	/* User space is taking it in at this moment. */
	if (process_find(KREAD(task, tgid), &slot))
		return;
	compat_task_counts(task, &counts);
	if (!process_add(task, flags | PROCESS_EXECUTED, details, 0, comm, now))
		return;
	t = thread_add(KREAD(task, pid), KREAD(task, tgid), now, &counts);
	if (t)
		t->run_state = RUN_RUNNING;
}

#endif /* SKYOBSERVE_PROCESSES_BPF_H */
