/* SPDX-License-Identifier: MIT */
/* The gates of a record, one function each. */
#include "user/model/gates.h"
#include "user/model/gates_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* As docs/MEASUREMENT.md has them: G8, G10, G11, G12, G9, G15, G20. In 1/1000. */
#define MAX_STEAL_WARN	    10
#define MAX_STEAL	    50
#define MAX_NEIGHBOURS	    50
#define MAX_PRESSURE	    50
#define MAX_FREQUENCY	    30
#define MAX_CANARY_SPREAD   50
#define MAX_CANARY_DRIFT    30
#define MAX_CHAIN	    1
#define MAX_EDGE_NS	    (1 * NS_PER_MS)
#define MAX_CLOCK_CHANGE_NS (1 * NS_PER_MS)

const char *const gate_names[NR_GATES] = {
	[GATE_TARGET] = "target",	  [GATE_DROPS] = "drops",
	[GATE_COUNTS] = "counts",	  [GATE_TIMES] = "times",
	[GATE_CHAIN] = "chain",		  [GATE_PROBES] = "probes",
	[GATE_EDGES] = "edges",		  [GATE_CLOCK] = "clock",
	[GATE_SELFTEST] = "selftest",	  [GATE_STORE] = "store",
	[GATE_PROFILE] = "profile",	  [GATE_STEAL] = "steal",
	[GATE_NEIGHBOURS] = "neighbours", [GATE_PRESSURE] = "pressure",
	[GATE_THROTTLE] = "throttle",	  [GATE_FREQUENCY] = "frequency",
	[GATE_CANARY] = "canary",
};

void gate_say(struct gate *g, enum gate_state state, const char *fmt, ...)
{
	va_list ap;

	g->state = state;
	va_start(ap, fmt);
	vsnprintf(g->text, sizeof(g->text), fmt, ap);
	va_end(ap);
}

/* Append to the text, after a comma. */
void gate_say_more(struct gate *g, const char *fmt, ...)
{
	size_t n = strlen(g->text);
	va_list ap;

	if (n)
		n += (size_t)snprintf(g->text + n, sizeof(g->text) - n, "; ");
	if (n >= sizeof(g->text))
		return;
	va_start(ap, fmt);
	vsnprintf(g->text + n, sizeof(g->text) - n, fmt, ap);
	va_end(ap);
}

static enum gate_state if_isolated(const struct record *r)
{
	return !strcmp(record_fact_text(r, "asked.isolated"), "yes") ? GATE_INVALID : GATE_WARNS;
}

/* --- the measurement --- */

static void gate_target(const struct record *r, struct gate *g)
{
	u32 n = 0, lost = 0;

	for (u32 i = 0;; i++) {
		const struct record_fact *fact;
		const char *comm;
		char name[64];

		snprintf(name, sizeof(name), "target.%u.state", i);
		fact = record_fact(r, name);
		if (!fact)
			break;
		n++;
		if (!fact->end || !strcmp(fact->begin, fact->end))
			continue;
		lost++;
		snprintf(name, sizeof(name), "target.%u.comm", i);
		comm = record_fact_text(r, name);
		snprintf(name, sizeof(name), "target.%u.pid", i);
		gate_say_more(g, "%s (pid %s) %s", comm, record_fact_text(r, name), fact->end);
	}
	if (lost)
		g->state = GATE_INVALID;
	else if (n)
		gate_say(g, GATE_HOLDS, "%u process%s at both edges", n, n == 1 ? "" : "es");
	if (r->end == RECORD_END_TARGETS) {
		g->state = GATE_INVALID;
		gate_say_more(g, "the last one ended before the window did");
	}
}

static void gate_drops(const struct record *r, struct gate *g)
{
	const struct family *f = &record_end(r)->families[FAM_DROPPED];

	for (size_t i = 0; i < f->nr_samples; i++) {
		const char *reason = record_label(&f->samples[i], "reason");

		if (!f->samples[i].u)
			continue;
		g->state = GATE_INVALID;
		gate_say_more(g, "%s %llu", reason ? reason : "?", f->samples[i].u);
	}
	if (f->nr_samples && !g->state)
		gate_say(g, GATE_HOLDS, "nothing was lost");
}

static bool is_of_counts(const char *identity)
{
	return !strcmp(identity, "in_flight") || !strcmp(identity, "syscalls") ||
	       !strcmp(identity, "modes");
}

static bool breaks_chain(const struct record *r)
{
	u64 breaks;

	return !record_delta(r, FAM_CHAIN_BREAKS, NULL, 0, &breaks) && breaks;
}

static void gate_identities(const struct record *r, bool counts, struct gate *g)
{
	const struct family *f = &record_end(r)->families[FAM_IDENTITY_OK];
	u32 n = 0;

	for (size_t i = 0; i < f->nr_samples; i++) {
		const struct sample *s = &f->samples[i];
		const char *identity = record_label(s, "identity");
		const char *process = record_label(s, "process");

		if (!identity || is_of_counts(identity) != counts)
			continue;
		n++;
		if (s->u)
			continue;
		g->state = !counts && breaks_chain(r) ? GATE_WARNS : GATE_INVALID;
		gate_say_more(g, "%s of %s does not hold", identity,
			      process ? process : "all without details");
	}
	if (n && !g->state)
		gate_say(g, GATE_HOLDS, "%u identities hold", n);
}

static void gate_chain(const struct record *r, struct gate *g)
{
	u64 breaks, switches;

	if (record_delta(r, FAM_CHAIN_BREAKS, NULL, 0, &breaks) ||
	    record_delta(r, FAM_SWITCH_CHAIN, NULL, 0, &switches))
		return;
	gate_say(g, breaks * 1000 > switches * MAX_CHAIN ? GATE_WARNS : GATE_HOLDS,
		 "%llu of %llu context switches of the machine were not reported", breaks,
		 switches);
}

static void gate_probes(const struct record *r, struct gate *g)
{
	const struct family *f = &record_begin(r)->families[FAM_GROUP_UP];

	for (size_t i = 0; i < f->nr_samples; i++) {
		const struct sample *end = record_twin(record_end(r), FAM_GROUP_UP, &f->samples[i]);
		const char *group = record_label(&f->samples[i], "group");

		if (!f->samples[i].u || (end && end->u))
			continue;
		/* They are down where no target lives: those that ended are in their totals. */
		if (group && (!strcmp(group, "go") || !strcmp(group, "go_gc")))
			continue;
		g->state = GATE_INVALID;
		gate_say_more(g, "%s went off", group ? group : "?");
	}
	if (f->nr_samples && !g->state)
		gate_say(g, GATE_HOLDS, "the same at both edges");
}

static u64 width_ns(const struct record_frame *f)
{
	return f->end_ns - f->begin_ns;
}

static void gate_edges(const struct record *r, struct gate *g)
{
	u64 begin = width_ns(&r->frames[0]), end = width_ns(&r->frames[r->nr_frames - 1]);

	gate_say(g, begin > MAX_EDGE_NS || end > MAX_EDGE_NS ? GATE_WARNS : GATE_HOLDS,
		 "read within %llu us at the beginning, %llu us at the end", begin / 1000,
		 end / 1000);
}

static void gate_clock(const struct record *r, struct gate *g)
{
	const struct record_frame *first = &r->frames[0], *last = &r->frames[r->nr_frames - 1];
	u64 before = first->wall_ns - first->begin_ns, after = last->wall_ns - last->begin_ns;
	u64 change = after > before ? after - before : before - after;

	gate_say(g, change >= MAX_CLOCK_CHANGE_NS ? GATE_WARNS : GATE_HOLDS,
		 "REALTIME - MONOTONIC moved by %llu us", change / 1000);
}

static void gate_profile(const struct record *r, struct gate *g)
{
	const char *state = record_fact_text(r, "profile.state");
	u64 begin = 0, end = 0;

	if (!state[0])
		return;
	(void)record_fact_number(r, "profile.begin_ns", &begin);
	(void)record_fact_number(r, "profile.end_ns", &end);
	if (strcmp(state, "fetched") != 0)
		gate_say(g, GATE_INVALID, "it was not fetched: %s", state);
	else if (begin < r->frames[0].begin_ns || end > r->frames[r->nr_frames - 1].end_ns)
		gate_say(g, GATE_INVALID, "it was not fetched within the window");
	else
		gate_say(g, GATE_HOLDS, "fetched within the window");
}

static void gate_selftest(const struct record *r, struct gate *g)
{
	u64 failed, ok;

	if (!record_fact_number(r, "selftest.failed", &failed) ||
	    !record_fact_number(r, "selftest.ok", &ok))
		return;
	gate_say(g, failed ? GATE_INVALID : GATE_HOLDS, "%llu rows ok, %llu failed%s%s", ok, failed,
		 failed ? ": " : "", failed ? record_fact_text(r, "selftest.first_failure") : "");
}

/* --- the machine --- */

/* The kernel's books of the machine are too coarse for less. */
static bool is_long_enough(const struct record *r)
{
	return record_window_ns(r) >= NS_PER_SEC;
}

/* CPU time that the machine had in the window: busy, idle and stolen. */
static bool machine_ticks(const struct record *r, u64 *ret_ticks)
{
	u64 busy, idle, steal;

	if (!is_long_enough(r) || !record_fact_delta(r, "cpu.busy_ticks", &busy) ||
	    !record_fact_delta(r, "cpu.idle_ticks", &idle) ||
	    !record_fact_delta(r, "cpu.steal_ticks", &steal))
		return false;
	*ret_ticks = busy + idle + steal;
	return *ret_ticks > 0;
}

/* A share in 1/1000 against its bound, and as text in percent. */
static void say_share(struct gate *g, u64 part, u64 whole, u64 max, enum gate_state otherwise,
		      const char *what)
{
	u64 permille;

	if (!whole) /* a number of a stranger's file that wrapped */
		return;
	permille = part * 1000 / whole;
	gate_say(g, part * 1000 > whole * max ? otherwise : GATE_HOLDS, "%llu.%llu %% %s",
		 permille / 10, permille % 10, what);
}

static void gate_steal(const struct record *r, struct gate *g)
{
	u64 all, steal;

	if (!machine_ticks(r, &all) || !record_fact_delta(r, "cpu.steal_ticks", &steal))
		return;
	say_share(g, steal, all, MAX_STEAL_WARN, if_isolated(r),
		  "of the machine's CPU time was stolen");
	if (steal * 1000 > all * MAX_STEAL)
		g->state = GATE_INVALID;
}

static u64 ns_of(const struct record *r, enum family_id id)
{
	u64 ns;

	return record_delta(r, id, NULL, 0, &ns) ? 0 : ns;
}

static void gate_neighbours(const struct record *r, struct gate *g)
{
	u64 all, busy, hz, canary = 0, tick_ns, others_ns, ours_ns, targets_ns;

	if (!machine_ticks(r, &all) || !record_fact_delta(r, "cpu.busy_ticks", &busy) ||
	    !record_fact_number(r, "machine.tick_hz", &hz) || !hz || hz > NS_PER_SEC ||
	    record_delta(r, FAM_CPU, NULL, 0, &targets_ns))
		return;
	(void)record_fact_number(r, "canary.cpu_ns", &canary);
	tick_ns = NS_PER_SEC / hz;
	ours_ns = ns_of(r, FAM_EXP_CPU) + ns_of(r, FAM_BROKER_CPU) + canary;
	others_ns =
		busy * tick_ns > targets_ns + ours_ns ? busy * tick_ns - targets_ns - ours_ns : 0;
	say_share(g, others_ns, all * tick_ns, MAX_NEIGHBOURS, if_isolated(r),
		  "of the machine's CPU time went to others than targets and the observer");
}

static void gate_pressure(const struct record *r, struct gate *g)
{
	u64 us, window_us = record_window_ns(r) / 1000;

	if (!is_long_enough(r) || !record_fact_delta(r, "pressure.cpu_us", &us))
		return;
	say_share(g, us, window_us, MAX_PRESSURE, if_isolated(r),
		  "of the window some task waited for a CPU");
}

static void gate_throttle(const struct record *r, struct gate *g)
{
	u64 worst = 0;
	bool known = false;

	for (u32 i = 0; i < r->nr_facts; i++) {
		char name[64];
		u64 us;

		snprintf(name, sizeof(name), "target.%u.throttled_us", i);
		if (!record_fact_delta(r, name, &us))
			continue;
		known = true;
		worst = us > worst ? us : worst;
	}
	if (known)
		gate_say(g, worst ? if_isolated(r) : GATE_HOLDS,
			 "targets' control groups were throttled for up to %llu us", worst);
}

static void gate_frequency(const struct record *r, struct gate *g)
{
	u64 low, high, low_end, high_end;

	if (!record_fact_number(r, "cpu.lowest_khz", &low) ||
	    !record_fact_number(r, "cpu.highest_khz", &high) ||
	    !record_fact_number_at_end(r, "cpu.lowest_khz", &low_end) ||
	    !record_fact_number_at_end(r, "cpu.highest_khz", &high_end))
		return;
	low = low_end < low ? low_end : low;
	high = high_end > high ? high_end : high;
	if (high && low <= high)
		say_share(g, high - low, high, MAX_FREQUENCY, if_isolated(r),
			  "between the slowest and the fastest clock of a CPU");
}

static void gate_canary(const struct record *r, struct gate *g)
{
	u64 spread, drift, n;

	if (!record_fact_number(r, "canary.spread_permille", &spread) ||
	    !record_fact_number(r, "canary.drift_permille", &drift) ||
	    !record_fact_number(r, "canary.loops", &n))
		return;
	gate_say(g,
		 spread > MAX_CANARY_SPREAD || drift > MAX_CANARY_DRIFT ? if_isolated(r)
									: GATE_HOLDS,
		 "%llu fixed loops: spread %llu.%llu %%, drift %llu.%llu %%", n, spread / 10,
		 spread % 10, drift / 10, drift % 10);
}

void gates_of(const struct record *r, struct gate ret_gates[NR_GATES])
{
	memset(ret_gates, 0, NR_GATES * sizeof(*ret_gates));
	gate_target(r, &ret_gates[GATE_TARGET]);
	gate_drops(r, &ret_gates[GATE_DROPS]);
	gate_identities(r, true, &ret_gates[GATE_COUNTS]);
	gate_identities(r, false, &ret_gates[GATE_TIMES]);
	gate_chain(r, &ret_gates[GATE_CHAIN]);
	gate_probes(r, &ret_gates[GATE_PROBES]);
	gate_edges(r, &ret_gates[GATE_EDGES]);
	gate_clock(r, &ret_gates[GATE_CLOCK]);
	gate_selftest(r, &ret_gates[GATE_SELFTEST]);
	gate_store(r, &ret_gates[GATE_STORE]);
	gate_profile(r, &ret_gates[GATE_PROFILE]);
	gate_steal(r, &ret_gates[GATE_STEAL]);
	gate_neighbours(r, &ret_gates[GATE_NEIGHBOURS]);
	gate_pressure(r, &ret_gates[GATE_PRESSURE]);
	gate_throttle(r, &ret_gates[GATE_THROTTLE]);
	gate_frequency(r, &ret_gates[GATE_FREQUENCY]);
	gate_canary(r, &ret_gates[GATE_CANARY]);
}

u32 gates_invalid(const struct gate gates[NR_GATES])
{
	u32 n = 0;

	for (u32 i = 0; i < NR_GATES; i++)
		n += gates[i].state == GATE_INVALID;
	return n;
}
