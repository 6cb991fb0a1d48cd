/* SPDX-License-Identifier: MIT */
/*
 * A small machine that is simulated: CPUs, threads, a scheduler with a clock of its own, and the
 * counters that a kernel keeps. It runs random histories, calls bpf/'s decisions where a kernel
 * would call our programs, and writes down independently what really happened.
 *
 * Knows nothing of the ledger. Histories follow from the seed alone.
 *
 * The order of things in a context switch is the kernel's (__schedule in kernel/sched/core.c, Linux
 * 6.1): the runtime of the previous task is brought up to date, its switch is counted, the
 * tracepoint runs, then the run_delay of the next task grows. A wake-up's tracepoint runs when the
 * task is on its queue; it also runs for tasks that never left it.
 */
#ifndef SKYOBSERVE_TESTS_SIM_MACHINE_H
#define SKYOBSERVE_TESTS_SIM_MACHINE_H
#include "tests/sim/programs.h"
#include "tests/sim/world.h"

/* --- the truth --- */

static bool is_target(const struct machine *m, const struct task *t)
{
	return m->begin_ns && t->group < NR_OBSERVED;
}

/* Book the time since the last change of a task, before its next one. */
static void settle(struct machine *m, struct task *t)
{
	struct truth *truth = &m->truth[t->group];
	u64 ns = m->now - t->since;

	t->since = m->now;
	if (!is_target(m, t))
		return;
	truth->wall += ns;
	switch (t->place) {
	case PLACE_RUNNING:
		if (t->call == NO_CALL)
			truth->user += ns;
		else
			truth->system += ns;
		break;
	case PLACE_QUEUED:
		truth->wait[t->wait_reason] += ns;
		break;
	case PLACE_SLEEPING:
		truth->blocked[t->reason] += ns;
		break;
	default:
		truth->unborn += ns;
		t->unborn_ns += ns;
	}
}

static void end_spell(struct machine *m, struct task *t, u8 reason)
{
	struct truth *truth = &m->truth[t->group];

	if (is_target(m, t)) {
		truth->spells[reason]++;
		truth->spells_ns[reason] += m->now - t->spell_begin;
	}
	t->spell_begin = m->now;
}

static void add_counts_since(struct task_counts *sum, const struct task_counts *now,
			     const struct task_counts *base)
{
	sum->runtime_ns += now->runtime_ns - base->runtime_ns;
	sum->run_delay_ns += now->run_delay_ns - base->run_delay_ns;
	sum->nvcsw += now->nvcsw - base->nvcsw;
	sum->nivcsw += now->nivcsw - base->nivcsw;
	sum->faults += now->faults - base->faults;
}

/* --- the scheduler --- */

/* The clock of a run queue is read when the scheduler comes by: it is behind, never ahead. */
static u64 queue_clock(struct machine *m, u32 cpu)
{
	struct cpu *c = &m->cpus[cpu];
	u64 lag = m->max_lag_ns ? below(m, m->max_lag_ns + 1) : 0;

	if (m->now - lag > c->clock)
		c->clock = m->now - lag;
	return c->clock;
}

static void update_runtime(struct machine *m, u32 cpu)
{
	struct task *t = m->cpus[cpu].current;
	u64 clock = queue_clock(m, cpu);

	if (!t)
		return;
	if (clock > t->exec_start)
		t->k.counts.runtime_ns += clock - t->exec_start;
	t->exec_start = clock;
}

static void update_all(struct machine *m)
{
	for (u32 cpu = 0; cpu < m->nr_cpus; cpu++)
		update_runtime(m, cpu);
}

static void grow_run_delay(struct task *t, u64 clock)
{
	if (t->last_queued && clock > t->last_queued)
		t->k.counts.run_delay_ns += clock - t->last_queued;
	t->last_queued = 0;
}

static void arrive(struct machine *m, u32 cpu, struct task *t)
{
	u64 clock = m->cpus[cpu].clock; /* read when the switch began */

	grow_run_delay(t, clock);
	settle(m, t);
	end_spell(m, t, t->wait_reason);
	t->exec_start = clock;
	t->cpu = cpu;
	t->place = PLACE_RUNNING;
	m->cpus[cpu].current = t;
}

static void queue(struct machine *m, struct task *t, u8 wait_reason)
{
	settle(m, t);
	if (t->place != PLACE_NEW) /* it waits since it was born */
		t->spell_begin = m->now;
	t->place = PLACE_QUEUED;
	t->wait_reason = wait_reason;
	if (!t->last_queued)
		t->last_queued = m->cpus[t->cpu].clock;
}

/*
 * From Linux 6.12 on (152e11f6df29) a sleeper may stay on its run queue for a while. If it is moved
 * to another one then, the scheduler believes that it waits, until it is taken off or runs.
 */
static void move_sleeper(struct machine *m, struct task *t)
{
	u64 clock = queue_clock(m, t->cpu);

	if (t->last_queued)
		grow_run_delay(t, clock);
	else
		t->last_queued = clock;
	m->moves++;
}

/* A thread is gone: the kernel keeps the sums that it released before the last switch. */
static void bury(struct machine *m, struct task *t)
{
	struct truth *truth = &m->truth[t->group];

	settle(m, t);
	if (is_target(m, t)) {
		add_counts_since(&truth->counts, &t->k.counts, &t->base);
		truth->ended++;
		truth->never_returned += t->call != NO_CALL && t->entry_seen;
	}
	t->place = PLACE_NONE;
}

/* @state is why the current task leaves, 0 if it does not want to. */
static void context_switch(struct machine *m, u32 cpu, struct task *next, bool preempted,
			   long state)
{
	struct cpu *c = &m->cpus[cpu];
	struct task *prev = c->current;
	static const struct task_counts none;

	if (!prev && !next)
		return;
	update_runtime(m, cpu);
	if (prev) {
		if (state & COMPAT_TASK_DEAD) /* release_task came before */
			add_counts_since(&m->truth[prev->group].released, &prev->k.counts, &none);
		if (preempted || !state)
			prev->k.counts.nivcsw++;
		else
			prev->k.counts.nvcsw++;
		prev->state = prev->awake_soon ? 0 : state;
	}
	if (!is_lost(m, prev, next))
		program_switch(m, cpu, prev, next, preempted, state);
	if (m->in_switch && one_in(m, 64))
		m->in_switch(m);

	c->current = NULL;
	if (prev && state & COMPAT_TASK_DEAD) {
		bury(m, prev);
		program_freed(prev);
	} else if (prev && (preempted || !state || prev->awake_soon)) {
		queue(m, prev, REASON_PREEMPTED);
	} else if (prev) {
		settle(m, prev);
		prev->place = PLACE_SLEEPING;
		prev->spell_begin = m->now;
	}
	if (prev) {
		prev->signalled = prev->awake_soon;
		prev->awake_soon = false;
	}
	if (next)
		arrive(m, cpu, next);
}

/* A random runnable task, or NULL. */
static struct task *pick(struct machine *m, enum place place)
{
	u32 first = (u32)below(m, m->max_tasks);

	for (u32 i = 0; i < m->max_tasks; i++) {
		struct task *t = &m->tasks[(first + i) % m->max_tasks];

		if (t->place == place)
			return t;
	}
	return NULL;
}

/* --- what threads do --- */

static void wake(struct machine *m, struct task *t)
{
	if (t->place == PLACE_SLEEPING) {
		queue_clock(m, t->cpu);
		end_spell(m, t, t->reason);
		t->k.in_iowait = false;
		t->state = 0;
		queue(m, t, REASON_RUN_QUEUE);
	}
	if (!is_lost(m, t, NULL))
		program_wake(m, t, false);
}

static void wake_new(struct machine *m, struct task *t)
{
	queue_clock(m, t->cpu);
	queue(m, t, REASON_RUN_QUEUE);
	if (!is_lost(m, t, NULL))
		program_wake(m, t, true);
}

static void enter_call(struct machine *m, struct task *t, enum sim_call call)
{
	settle(m, t);
	t->call = (s32)call;
	t->entry_seen = false;
	t->sleeps_in = (u32)below(m, 4);
	if (m->begin_ns)
		program_enter(m, t);
	if (is_target(m, t))
		m->truth[t->group].enters += t->entry_seen;
}

static void exit_call(struct machine *m, struct task *t)
{
	bool looked = false;

	settle(m, t);
	if (m->begin_ns)
		looked = program_exit(m, t);
	if (is_target(m, t)) {
		if (t->call != NO_CALL && t->entry_seen)
			m->truth[t->group].exits++;
		else /* nobody looks at a thread that is not known while its process is unmarked */
			m->truth[t->group].unmatched += looked || !m->nobody_dies;
	}
	t->call = NO_CALL;
	t->entry_seen = false;
	t->from_clone = false;
}

static u32 free_tid(struct machine *m)
{
	for (;;) {
		/* Numbers are used again soon, and some share a place in the cache. */
		u32 tid = 100 + (u32)below(m, 64) + NR_THREAD_HINTS * (u32)below(m, 3);
		bool taken = false;

		for (u32 i = 0; i < m->max_tasks; i++)
			taken |= m->tasks[i].place != PLACE_NONE && m->tasks[i].k.pid == tid;
		if (!taken)
			return tid;
	}
}

static struct task *new_task(struct machine *m, u32 group, u32 cpu)
{
	struct task *t = pick(m, PLACE_NONE);

	if (!t)
		return NULL;
	*t = (struct task){ .place = PLACE_NEW, .cpu = cpu, .group = group, .call = NO_CALL };
	t->k = (struct task_struct){ .pid = free_tid(m), .tgid = 10 + group, .start_time = m->now };
	t->k.files[0] = &disk;
	t->k.files[1] = &pipe_end;
	t->k.files[2] = &sock;
	t->since = t->spell_begin = m->now;
	t->from_clone = true;
	if (m->begin_ns) {
		if (is_target(m, t))
			m->truth[group].born++;
		program_fork(m, t);
	}
	return t;
}

static void sleep_now(struct machine *m, struct task *t)
{
	long state = COMPAT_TASK_INTERRUPTIBLE;

	t->reason = t->call == NO_CALL ? REASON_PAGE_FAULT : call_classes[t->call].reason;
	t->k.in_iowait = t->reason == REASON_BLOCK_IO;
	if (t->call == NO_CALL || t->k.in_iowait || t->call == CALL_FSYNC)
		state = COMPAT_TASK_UNINTERRUPTIBLE;
	else if (one_in(m, 100)) {
		state = COMPAT_TASK_STOPPED;
		t->reason = REASON_STOPPED;
	}
	t->awake_soon =
		state == COMPAT_TASK_INTERRUPTIBLE && below(m, 1000000) < m->signals_per_million;
	context_switch(m, t->cpu, pick(m, PLACE_QUEUED), false, state);
}

static void die(struct machine *m, struct task *t)
{
	u32 alive = 0;

	for (u32 i = 0; i < m->max_tasks; i++)
		alive += m->tasks[i].place != PLACE_NONE && m->tasks[i].group == t->group;
	if (alive < 2 || m->nobody_dies)
		return;
	if (t->call == NO_CALL && !one_in(m, 4))
		enter_call(m, t, CALL_EXIT); /* else it is killed where it is */
	t->k.in_iowait = false;
	program_dying(m, t);
	context_switch(m, t->cpu, pick(m, PLACE_QUEUED), false, COMPAT_TASK_DEAD);
}

static void step_in_call(struct machine *m, struct task *t)
{
	u64 what = below(m, 100);

	if (t->call == CALL_CLONE && what < 50) {
		struct task *child = new_task(m, t->group, t->cpu);

		if (child) {
			m->now += below(m, 50000);
			wake_new(m, child);
		}
		exit_call(m, t);
	} else if (t->call == CALL_FUTEX && one_in(m, 4000)) {
		/* It waits for good; whoever wakes it finds it there again. */
		t->sleeps_in = FOR_GOOD;
	} else if (one_in(m, 2000)) {
		die(m, t);
	} else if (t->sleeps_in && t->call != CALL_GETPID && what < 60) {
		t->sleeps_in--;
		sleep_now(m, t);
	} else if (t->sleeps_in < FOR_GOOD / 2) {
		exit_call(m, t);
	}
}

static void step_in_user(struct machine *m, struct task *t)
{
	static const enum sim_call calls[] = { CALL_READ_FILE, CALL_READ_PIPE, CALL_RECV,
					       CALL_FUTEX,     CALL_FUTEX,     CALL_POLL,
					       CALL_SLEEP,     CALL_FSYNC,     CALL_GETPID,
					       CALL_GETPID,    CALL_GETPID };
	u64 what = below(m, 1000);

	if (t->from_clone)
		exit_call(m, t);
	else if (what < 3)
		die(m, t);
	else if (what < 8)
		enter_call(m, t, CALL_CLONE);
	else if (what < 40)
		sleep_now(m, t); /* a page fault that reads from the disk */
	else if (what < 800)
		enter_call(m, t, calls[below(m, sizeof(calls) / sizeof(calls[0]))]);
	else
		t->k.counts.faults++;
}

static void step_cpu(struct machine *m, u32 cpu)
{
	struct task *t = m->cpus[cpu].current;
	struct task *next = pick(m, PLACE_QUEUED);
	u64 what = below(m, 100);

	if (!t)
		context_switch(m, cpu, next, false, 0);
	else if (what < 6 && next) /* now and then just before it would have gone to sleep */
		context_switch(m, cpu, next, true, one_in(m, 8) ? COMPAT_TASK_INTERRUPTIBLE : 0);
	else if (what < 8 && next) /* sched_yield, or a preemption on the way to user mode */
		context_switch(m, cpu, next, false, 0);
	else if (t->call != NO_CALL)
		step_in_call(m, t);
	else
		step_in_user(m, t);
}

static void pass_time(struct machine *m)
{
	u64 kind = below(m, 1000);
	u64 ns = kind < 600   ? below(m, 5000)
		 : kind < 900 ? below(m, 100000)
		 : kind < 998 ? below(m, 500000)
			      : below(m, 20000000);

	for (; m->next_tick <= m->now + ns; m->next_tick += TICK_INTERVAL) {
		ns -= m->next_tick - m->now;
		m->now = m->next_tick;
		update_all(m);
	}
	m->now += ns;
}

/* One event somewhere. */
static void machine_step(struct machine *m)
{
	u64 what = below(m, 100);
	struct task *t;

	pass_time(m);
	if (m->moves_per_million && below(m, 1000000) < m->moves_per_million) {
		t = pick(m, PLACE_SLEEPING);
		if (t)
			move_sleeper(m, t);
	}
	if (what < 25 && (t = pick(m, PLACE_SLEEPING))) {
		wake(m, t);
	} else if (what < 28) {
		/*
		 * A wake-up of one that does not sleep, or not yet. Of one whose state is running
		 * none is reported (ttwu_state_match).
		 */
		t = pick(m, one_in(m, 2) ? PLACE_RUNNING : PLACE_QUEUED);
		if (t && !(t->place == PLACE_QUEUED && t->signalled))
			wake(m, t);
	} else {
		step_cpu(m, (u32)below(m, m->nr_cpus));
	}
}

/* --- beginning --- */

static void machine_begin(struct machine *m, u64 seed)
{
	*m = (struct machine){ .seed = seed, .random = seed * 0x9e3779b97f4a7c15 | 1 };
	for (int i = 0; i < 8; i++)
		(void)chance(m);
	m->now = NS_PER_SEC;
	m->next_tick = m->now + TICK_INTERVAL;
	m->nr_cpus = 1 + (u32)below(m, MAX_CPUS);
	m->max_tasks = 4 + (u32)below(m, MAX_TASKS - 3);
	host_maps_begin(MAX_TASKS + 8);
	host_ledger_begin();
	for (u32 group = 0; group < NR_TGIDS; group++) {
		struct task *t = new_task(m, group, group % m->nr_cpus);

		wake_new(m, t);
	}
}

/*
 * Take the first two processes in as user space does; strangers stay strangers. They are not marked
 * as observed yet: between the two, threads may be born that nobody sees.
 */
static void machine_take_in(struct machine *m)
{
	update_all(m);
	m->begin_ns = m->now;
	for (u32 i = 0; i < m->max_tasks; i++) {
		struct task *t = &m->tasks[i];

		if (t->place == PLACE_NONE)
			continue;
		t->base = t->k.counts;
		if (t->place == PLACE_QUEUED && t->group < NR_OBSERVED)
			m->truth[t->group].prior_wait += m->now - t->since;
		t->since = t->spell_begin = m->now;
		t->wait_reason = REASON_RUN_QUEUE; /* it is not known that it was preempted */
		/* One that was preempted on its way to sleep would be taken for a sleeper: not
		 * here. */
		if (t->place != PLACE_SLEEPING)
			t->state = 0;
		t->entry_seen = false;
	}
	for (u32 group = 0; group < NR_OBSERVED; group++) {
		host_take_in(10 + group, group, m->now);
		for (u32 i = 0; i < m->max_tasks; i++) {
			struct task *t = &m->tasks[i];

			if (t->place != PLACE_NONE && t->group == group)
				program_seed(m, t);
		}
	}
}

static void machine_mark(struct machine *m)
{
	for (u32 group = 0; group < NR_OBSERVED; group++)
		host_mark(10 + group);
	m->nobody_dies = false;
}

#endif /* SKYOBSERVE_TESTS_SIM_MACHINE_H */
