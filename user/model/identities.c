/* SPDX-License-Identifier: MIT */
/* The books close. Pure. */
#include "user/model/identities.h"

const char *const identity_names[NR_IDENTITIES] = {
	[IDENTITY_CPU] = "cpu",
	[IDENTITY_CPU_STAMPS] = "cpu_stamps",
	[IDENTITY_MODES] = "modes",
	[IDENTITY_IN_FLIGHT] = "in_flight",
	[IDENTITY_SYSCALLS] = "syscalls",
	[IDENTITY_STAMPS] = "stamps",
	[IDENTITY_RUN_QUEUE] = "run_queue",
	[IDENTITY_WALL] = "wall",
	[IDENTITY_SWITCHES] = "switches",
};

/* What is left of IDENTITY_SWITCH_NS in the sum of the scheduler's run and wait. */
#define WALL_SWITCH_NS 5000ULL

/*
 * A thread is released, and its CPU time put into the sums of /proc, before its last switch; what
 * it runs in between is ours alone. Seen: 10 us on average, on a busy machine.
 */
#define RELEASED_NS 64000ULL

static u64 sum(const u64 *cells, size_t n)
{
	u64 s = 0;

	for (size_t i = 0; i < n; i++)
		s += cells[i];
	return s;
}

static struct identity compare(u64 ours, u64 other, u64 tolerance)
{
	return (struct identity){ true, (s64)(ours - other), other, tolerance };
}

static u64 foreign_calls(const struct process_snap *p)
{
	u64 n = p->calls_elsewhere;

	for (size_t i = 0; i < p->nr_foreign; i++)
		n += p->foreign[i].n;
	return n;
}

/* I-2: needs both readings of /proc; each is cut to a tick of it. */
static struct identity cpu_identity(const struct snapshot *snap, const struct process_snap *p,
				    const struct process_totals *t)
{
	u64 cpu = sum(&t->cells[CELL_CPU], NR_MODES);
	u64 released = RELEASED_NS * t->cells[CELL_THREADS_ENDED];
	u64 tick = NS_PER_SEC / (snap->machine.tick_hz ? snap->machine.tick_hz : 100);
	u64 between = p->books_now.read_ns > p->read_ns ? p->books_now.read_ns - p->read_ns
							: p->read_ns - p->books_now.read_ns;
	u64 ticks = p->books_now.cpu_ticks - p->books_begin.cpu_ticks;

	if (!p->books_begin.valid || !p->books_now.valid || p->books_now.stale ||
	    p->books_now.cpu_ticks < p->books_begin.cpu_ticks)
		return (struct identity){ 0 };
	/* The two are not read at once: each CPU can add what fits between. */
	return compare(cpu, ticks * tick,
		       2 * tick + (t->running + snap->machine.online_cpus) * TICK_NS +
			       between * snap->machine.online_cpus + p->unsettled_ns + released);
}

/* The calls by name were read between the two readings of the threads' counts. */
static struct identity syscalls_identity(const struct process_snap *p)
{
	u64 calls = foreign_calls(p) + p->cells[CELL_SMALL_SYSCALLS];

	if (p->calls)
		calls += sum(p->calls, NR_CALL_SLOTS);
	if (calls < p->enters_before)
		return compare(calls, p->enters_before, 0);
	if (calls > p->enters_after)
		return compare(calls, p->enters_after, 0);
	return compare(calls, calls, 0);
}

static struct identity switches_identity(const struct process_snap *p,
					 const struct process_totals *t)
{
	u64 kernel = p->ended_now.nvcsw + p->ended_now.nivcsw - p->ended_begin.nvcsw -
		     p->ended_begin.nivcsw - t->cells[CELL_ENDED_EARLIER_SWITCHES];
	u64 ours = sum(&t->cells[CELL_SWITCHES], NR_SWITCH_KINDS);

	if (!p->alive || !p->nr_threads)
		return (struct identity){ 0 };
	for (size_t i = 0; i < p->nr_threads; i++) {
		const struct task_record *rec = &p->threads[i];

		if (rec->known)
			kernel += rec->counts.nvcsw + rec->counts.nivcsw - rec->cell.base.nvcsw -
				  rec->cell.base.nivcsw;
	}
	/*
	 * A thread is released, and added to the sums, before its last switch; one that ended a
	 * moment ago is in neither.
	 */
	return compare(ours, kernel,
		       2 * t->cells[CELL_THREADS_ENDED] + p->unsettled_ns / IDENTITY_SWITCH_NS +
			       64);
}

void identities_of(const struct snapshot *snap, const struct process_snap *p,
		   const struct process_totals *t, struct identity ret_identities[NR_IDENTITIES])
{
	const u64 *c = t->cells;
	u64 cpu = sum(&c[CELL_CPU], NR_MODES);
	u64 switches = sum(&c[CELL_SWITCHES], NR_SWITCH_KINDS);
	u64 born = BIRTH_NS * c[CELL_THREADS_BORN];
	u64 lost = LOST_SWITCH_NS * c[CELL_LOST_SWITCHES];
	/* At the beginning as at the end, on every CPU that ran a thread of the process. */
	u64 stale = TICK_NS * (t->running + snap->machine.online_cpus) + p->unsettled_ns;
	u64 edges = born + lost + stale;
	u64 blur = IDENTITY_SWITCH_NS * switches + edges;
	bool sched = snap->groups[GROUP_SCHED].up, calls = snap->groups[GROUP_SYSCALLS].up;
	u64 delay = t->run_delay_ns + t->open_wait_ns;

	for (size_t i = 0; i < NR_IDENTITIES; i++)
		ret_identities[i] = (struct identity){ 0 };
	if (p->torn) /* not a fault of the books; they are checked at the next snapshot */
		return;
	if (calls) {
		u64 ended = c[CELL_EXITS] + c[CELL_NEVER_RETURNED];

		ret_identities[IDENTITY_IN_FLIGHT] =
			compare(c[CELL_ENTERS] + t->open_enters, ended + t->in_flight, 0);
		ret_identities[IDENTITY_SYSCALLS] = syscalls_identity(p);
	}
	if (!sched)
		return;
	ret_identities[IDENTITY_CPU] = cpu_identity(snap, p, t);
	ret_identities[IDENTITY_CPU_STAMPS] = compare(c[CELL_ON_STAMPS], cpu, blur + cpu / 1000);
	ret_identities[IDENTITY_MODES] = compare(cpu, t->runtime_ns, p->unsettled_ns);
	ret_identities[IDENTITY_STAMPS] = compare(
		c[CELL_ON_STAMPS] + c[CELL_WAIT_STAMPS] + c[CELL_BLOCKED_STAMPS],
		c[CELL_THREAD_WALL],
		born + lost + p->unsettled_ns + 10 * switches + c[CELL_THREAD_WALL] / 10000);
	ret_identities[IDENTITY_RUN_QUEUE] =
		compare(c[CELL_WAIT_STAMPS], delay, blur + delay / 1000);
	ret_identities[IDENTITY_WALL] =
		compare(cpu + delay + c[CELL_BLOCKED_STAMPS], c[CELL_THREAD_WALL],
			edges + WALL_SWITCH_NS * switches + c[CELL_THREAD_WALL] / 2000);
	ret_identities[IDENTITY_SWITCHES] = switches_identity(p, t);
}

static u64 magnitude(s64 v)
{
	return v < 0 ? 0 - (u64)v : (u64)v;
}

/* |@a| + |@b|, as far as it can be held. */
static s64 add_magnitudes(s64 a, s64 b)
{
	const u64 max = ~0ULL >> 1;
	u64 x = a < 0 ? 0 - (u64)a : (u64)a, y = b < 0 ? 0 - (u64)b : (u64)b;

	return (s64)(x + y < max ? x + y : max);
}

void identity_add(struct identity *sum, const struct identity *more)
{
	sum->checked = true;
	sum->residual = add_magnitudes(sum->residual, more->residual);
	sum->total += more->total;
	sum->tolerance += more->tolerance;
}

double identity_ratio(const struct identity *identity)
{
	u64 total = identity->total;

	if (!identity->residual)
		return 0;
	return (double)magnitude(identity->residual) / (double)(total ? total : 1);
}

bool identity_holds(const struct identity *identity)
{
	return magnitude(identity->residual) <= identity->tolerance;
}

const char chain_meaning[] = "Totals come from the kernel's own books and lack nothing; off-CPU "
			     "reasons and spells are uncertain by about that share.";

bool chain_holds(const struct machine_snap *machine)
{
	return machine->chain_breaks <= machine->switches / 1000;
}
