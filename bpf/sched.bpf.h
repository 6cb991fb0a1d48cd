/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decisions of the scheduler group: what a context switch or a wake-up charges. No helpers, no
 * maps: tests compile this file for the host and play random histories through it.
 *
 * Totals of CPU time, waiting for a CPU, switches and faults are differences of the kernel's own
 * counters, so that a switch the kernel does not report (seen: 3 in 10,000 on one kernel) delays
 * a charge and loses none, and is found out by its number. Our stamps say why a thread was off the
 * CPU, how much of its CPU time was inside system calls, and check the kernel's totals (I-1, I-6,
 * I-7, I-8).
 */
#ifndef SKYOBSERVE_SCHED_BPF_H
#define SKYOBSERVE_SCHED_BPF_H

/* Time since @then; clocks of two CPUs may disagree by a few ns, which must not wrap. */
static __always_inline u64 elapsed(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

static __always_inline void off_cpu_spell(struct process_hists *h, u8 reason, u64 ns)
{
	u64 i = reason;

	barrier_var(i);
	if (h && i < NR_REASONS)
		hist_add(&h->off_cpu[i], ns);
}

static __always_inline void charge_reason(struct account_cells *a, u8 reason, u64 ns)
{
	charge_nth(a, CELL_OFF_CPU, reason, NR_REASONS, ns);
}

static __always_inline void sched_charge_cpu(struct thread_cell *t, struct account_cells *a, u64 on)
{
	u64 system = t->sys_ns < on ? t->sys_ns : on;

	charge(a, CELL_CPU + MODE_SYSTEM, system);
	charge(a, CELL_CPU + MODE_USER, on - system);
	t->sys_ns = 0;
}

/* Bring an account up to the kernel's counters @k of a thread. */
static __always_inline void sched_charge_counts(struct thread_cell *t, struct account_cells *a,
						const struct task_counts *k)
{
	u64 on = elapsed(k->runtime_ns, t->charged.runtime_ns);

	sched_charge_cpu(t, a, on);
	charge_reason(a, t->wait_reason, k->run_delay_ns - t->charged.run_delay_ns);
	charge(a, CELL_SWITCHES + SWITCH_VOLUNTARY, k->nvcsw - t->charged.nvcsw);
	charge(a, CELL_SWITCHES + SWITCH_INVOLUNTARY, k->nivcsw - t->charged.nivcsw);
	charge(a, CELL_PAGE_FAULTS, k->faults - t->charged.faults);
	/* What was charged by our clock (sched_settle) may be ahead of the scheduler's. */
	if (k->runtime_ns < t->charged.runtime_ns) {
		on = t->charged.runtime_ns;
		t->charged = *k;
		t->charged.runtime_ns = on;
	} else {
		t->charged = *k;
	}
}

/* System time runs while a thread is on a CPU inside a call. */
static __always_inline void sched_stop_system_clock(struct thread_cell *t, u64 now)
{
	if (t->nr != NO_CALL && t->run_state == RUN_RUNNING) {
		t->sys_ns += elapsed(now, t->sys_since_ns);
		t->sys_since_ns = now;
	}
}

static __always_inline void sched_end_block(struct thread_cell *t, struct account_cells *a,
					    struct process_hists *h, u64 spell)
{
	charge(a, CELL_BLOCKED_STAMPS, spell);
	charge_reason(a, t->reason, spell);
	off_cpu_spell(h, t->reason, spell);
}

/*
 * Stamps of a spell in which the kernel did not report every switch: the kernel's counters say how
 * much of it the thread ran and waited (@on, @wait); the rest it was blocked, if it can have been.
 */
static __always_inline void sched_heal(struct thread_cell *t, struct account_cells *a, u64 spell,
				       u64 on, u64 wait)
{
	u64 rest;

	/* If more than one was lost in a row, the counters tell of more than the spell. */
	if (on > spell)
		on = spell;
	if (wait > spell - on)
		wait = spell - on;
	rest = spell - on - wait;
	charge(a, CELL_ON_STAMPS, on);
	if (t->run_state == RUN_RUNNABLE) {
		charge(a, CELL_WAIT_STAMPS, wait + rest);
		return;
	}
	charge(a, CELL_WAIT_STAMPS, wait);
	charge(a, CELL_BLOCKED_STAMPS, rest);
	/* Of a thread that seemed to run all the time it is not known what it waited for. */
	charge_reason(a, t->run_state == RUN_BLOCKED ? t->reason : REASON_OTHER, rest);
}

/*
 * What run_delay says of the last wait is cut to our stamps in two cases. A wait that was going on
 * when observing began: run_delay grows by all of it when it ends. And on kernels that leave a
 * sleeper on the run queue (delayed dequeue, 152e11f6df29, 6.12), which count part of some sleeps
 * as waiting (seen: 488 ms of a sleep of 571 ms): then the two part by far more than the clocks do
 * (254 us at most). A thread that was preempted did not sleep: there they part by what the
 * hypervisor took between the scheduler's clock and ours (seen: 1.3 ms), and run_delay is right.
 */
#define RUN_DELAY_SLACK_NS 1000000ULL

static __always_inline void sched_cut_wait(struct thread_cell *t, const struct task_counts *k,
					   u64 switches)
{
	u64 wait = k->run_delay_ns - t->charged.run_delay_ns;
	u64 excess = elapsed(wait, t->waited_ns);
	bool seeded = t->flags & THREAD_SEEDED_WAIT;

	t->flags &= ~THREAD_SEEDED_WAIT;
	if (t->run_state != RUN_RUNNING || switches != 1 || t->unsplit_ns)
		return; /* a report was lost: our stamps do not know the wait */
	if (!seeded && (t->wait_reason == REASON_PREEMPTED || excess <= RUN_DELAY_SLACK_NS))
		return;
	t->base.run_delay_ns += excess;
	t->charged.run_delay_ns += excess;
}

/*
 * The thread leaves its CPU: @reason is PREEMPTED if it is still runnable, else why it blocks. @k
 * are the kernel's counters: their number of switches tells, exactly, whether one was not reported
 * since the last one seen.
 */
static __always_inline void sched_switch_out(struct thread_cell *t, struct account_cells *a,
					     struct process_hists *h, const struct task_counts *k,
					     u64 now, int reason)
{
	bool runnable = reason < NR_WAIT_REASONS;
	u64 spell = elapsed(now, t->since_ns), wait;
	u64 on = elapsed(k->runtime_ns, t->charged.runtime_ns) + t->settled_on_ns;
	u64 switches = k->nvcsw + k->nivcsw - t->charged.nvcsw - t->charged.nivcsw;

	sched_cut_wait(t, k, switches);
	wait = k->run_delay_ns - t->charged.run_delay_ns;
	sched_stop_system_clock(t, now);
	sched_charge_counts(t, a, k);
	if (t->unsplit_ns) {
		charge(a, CELL_WAIT_STAMPS, wait < t->unsplit_ns ? wait : t->unsplit_ns);
		sched_end_block(t, a, h, elapsed(t->unsplit_ns, wait));
		t->unsplit_ns = 0;
		wait = 0;
	}

	if (t->run_state == RUN_RUNNING && switches == 1) {
		charge(a, CELL_ON_STAMPS, spell);
	} else if (t->run_state != RUN_UNKNOWN) {
		charge(a, CELL_LOST_SWITCHES, switches > 1 ? switches - 1 : 1);
		/* The wait before the spell is in its run_delay too. */
		sched_heal(t, a, spell, on,
			   t->waited_ns == WAIT_NOT_SEEN ? wait : elapsed(wait, t->waited_ns));
	}

	t->run_state = runnable ? RUN_RUNNABLE : RUN_BLOCKED;
	t->reason = reason;
	if (runnable)
		t->wait_reason = REASON_PREEMPTED;
	t->waited_ns = 0;
	t->settled_on_ns = 0;
	t->since_ns = now;
	t->out_ns = now;
}

/* Tells tasks that had the same number one after the other apart, by when they began. */
static __always_inline u32 task_mark(u64 start_ns)
{
	return (u32)start_ns | 1;
}

/* The task that began at @start_ns is in do_exit: from here to its last switch it is a matter of
 * microseconds. */
static __always_inline void sched_exits(struct thread_cell *t, u64 start_ns, u64 now)
{
	t->exiting = task_mark(start_ns);
	t->exit_ns = now;
}

/*
 * The kernel frees the task that began at @start_ns, after its last switch. If its cell is still
 * there, that switch was not reported: close its books by the kernel's last counters, @k. It ended
 * when it had run what it ran, not earlier than it was in do_exit. Returns that time, for
 * thread_end; 0 if the cell is another's: the number is used again.
 */
static __always_inline u64 sched_freed(struct thread_cell *t, struct account_cells *a,
				       struct process_hists *h, u64 start_ns,
				       const struct task_counts *k)
{
	u64 end = t->exit_ns > t->since_ns ? t->exit_ns : t->since_ns, ran;

	if (t->exiting != task_mark(start_ns))
		return 0;
	ran = elapsed(k->runtime_ns, t->charged.runtime_ns) + t->settled_on_ns;
	if (t->run_state == RUN_RUNNING && t->since_ns + ran > end)
		end = t->since_ns + ran;
	sched_switch_out(t, a, h, k, end, REASON_OTHER);
	return end;
}

/*
 * The thread works for another account from now on: charge what it has spent so far, its CPU time
 * to @spent, its wait for the CPU to @waited. The scheduler's clock stands still while a thread
 * runs, so this part goes by ours; what the two differ by is made up for at the next switch, in
 * what is charged then: the thread's total is always the scheduler's. @k are the kernel's counters.
 * Returns the CPU time.
 */
static __always_inline u64 sched_settle(struct thread_cell *t, struct account_cells *spent,
					struct account_cells *waited, const struct task_counts *k,
					u64 now)
{
	u64 from = t->settled_ns > t->since_ns ? t->settled_ns : t->since_ns;
	u64 on = elapsed(now, from);

	if (t->run_state != RUN_RUNNING)
		return 0;
	sched_stop_system_clock(t, now);
	sched_charge_cpu(t, spent, on);
	t->charged.runtime_ns += on;
	t->settled_on_ns += on;
	t->settled_ns = now;
	charge(spent, CELL_PAGE_FAULTS, k->faults - t->charged.faults);
	t->charged.faults = k->faults;
	if (!t->unsplit_ns) { /* else it is not known yet what of it was a wait */
		sched_cut_wait(t, k, 1);
		charge_reason(waited, t->wait_reason, k->run_delay_ns - t->charged.run_delay_ns);
		t->charged.run_delay_ns = k->run_delay_ns;
	}
	return on;
}

/*
 * CPU time of a thread that runs, up to @now: by the scheduler's clock up to the last time that it
 * was charged, and by ours since.
 */
static __always_inline u64 sched_cpu_so_far(const struct thread_cell *t, u64 now)
{
	u64 from = t->settled_ns > t->since_ns ? t->settled_ns : t->since_ns;

	return t->charged.runtime_ns + (t->run_state == RUN_RUNNING ? elapsed(now, from) : 0);
}

/*
 * The thread is made runnable. A wake-up of one that runs or waits already moves nothing; one that
 * is new waits since its birth, a moment before.
 */
static __always_inline void sched_wake(struct thread_cell *t, struct account_cells *a,
				       struct process_hists *h, u64 now)
{
	if (t->run_state == RUN_BLOCKED) {
		sched_end_block(t, a, h, elapsed(now, t->since_ns));
		t->since_ns = now;
	} else if (t->run_state != RUN_UNKNOWN) {
		return;
	}
	t->run_state = RUN_RUNNABLE;
	t->reason = REASON_RUN_QUEUE;
	t->wait_reason = REASON_RUN_QUEUE;
}

/* The thread gets a CPU. */
static __always_inline void sched_switch_in(struct thread_cell *t, struct account_cells *a,
					    struct process_hists *h, u64 now)
{
	if (t->run_state == RUN_RUNNING)
		return; /* its switch-out was lost; the next one heals the spell */
	if (t->run_state == RUN_BLOCKED) {
		/* Its wake-up was not reported: the next switch-out splits the spell. */
		t->unsplit_ns += elapsed(now, t->since_ns);
		t->wait_reason = REASON_RUN_QUEUE;
		charge(a, CELL_LOST_SWITCHES, 1);
	} else {
		/* RUN_UNKNOWN: it is new, and its first wake-up was not reported. */
		u64 spell = elapsed(now, t->since_ns);

		t->waited_ns = spell;
		charge(a, CELL_WAIT_STAMPS, spell);
		off_cpu_spell(h, t->wait_reason, spell);
	}
	t->run_state = RUN_RUNNING;
	t->since_ns = now;
	t->sys_since_ns = now;
}

/*
 * Why a thread blocks. @wait is the class of the call it is in (enum call_wait, WAIT_FILE already
 * resolved by the caller to SOCKET, or to a pipe by @on_pipe), @in_call whether it is in one.
 */
static __always_inline u8 sched_block_reason(bool in_call, u8 wait, bool durable, bool on_pipe,
					     bool in_iowait, long state)
{
	if (state & (COMPAT_TASK_STOPPED | COMPAT_TASK_TRACED))
		return REASON_STOPPED;
	if (!in_call)
		return state & COMPAT_TASK_UNINTERRUPTIBLE || in_iowait ? REASON_PAGE_FAULT
									: REASON_OTHER;
	if (durable || wait == WAIT_DURABLE)
		return REASON_FSYNC;
	if (in_iowait)
		return REASON_BLOCK_IO;
	if (on_pipe)
		return REASON_PIPE;
	switch (wait) {
	case WAIT_FUTEX:
		return REASON_FUTEX;
	case WAIT_POLL:
		return REASON_POLL;
	case WAIT_SLEEP:
		return REASON_SLEEP;
	case WAIT_SOCKET:
		return REASON_SOCKET;
	default:
		return REASON_OTHER;
	}
}

#endif /* SKYOBSERVE_SCHED_BPF_H */
