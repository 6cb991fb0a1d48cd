/* SPDX-License-Identifier: MIT */
/* Differences of families per process. Knows how the model labels its series. */
#include "user/render/activity.h"

#include <stdlib.h>
#include <string.h>

/* Which series to look at: those of one process in the two sets. */
struct scope {
	const struct family_set *prev, *now;
	const char *process, *pid;
};

const char *sample_label_value(const struct sample *s, const char *name)
{
	for (u32 i = 0; i < s->nr_labels; i++) {
		if (!strcmp(s->labels[i].name, name))
			return s->labels[i].value;
	}
	return NULL;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool in_scope(const struct scope *scope, const struct sample *s)
{
	return same_text(sample_label_value(s, "process"), scope->process) &&
	       same_text(sample_label_value(s, "pid"), scope->pid);
}

static u64 drop_below_zero(u64 now, u64 prev)
{
	return now > prev ? now - prev : 0;
}

/* Sum of the series in scope; with @label only those where it is @value (NULL: not there). */
static struct measured sum_of(const struct scope *scope, const struct family_set *set,
			      enum family_id id, const char *label, const char *value)
{
	struct measured sum = { 0 };

	for (size_t i = 0; set && i < set->families[id].nr_samples; i++) {
		const struct sample *s = &set->families[id].samples[i];

		if (!in_scope(scope, s))
			continue;
		if (label && !same_text(sample_label_value(s, label), value))
			continue;
		sum.known = true;
		sum.u += s->u;
	}
	return sum;
}

static struct measured gauge_of(const struct scope *scope, enum family_id id)
{
	return sum_of(scope, scope->now, id, NULL, NULL);
}

static struct measured growth_of(const struct scope *scope, enum family_id id, const char *label,
				 const char *value)
{
	struct measured now = sum_of(scope, scope->now, id, label, value);
	struct measured prev = sum_of(scope, scope->prev, id, label, value);

	now.u = drop_below_zero(now.u, prev.u);
	return now;
}

/* --- off-CPU time --- */

static int compare_amounts(const void *a, const void *b)
{
	const struct named_amount *x = a, *y = b;

	if (x->u != y->u)
		return x->u < y->u ? 1 : -1;
	return strcmp(x->name, y->name);
}

static bool has_reason(const struct activity *a, const char *reason)
{
	for (size_t i = 0; i < a->nr_off_cpu; i++) {
		if (!strcmp(a->off_cpu[i].name, reason))
			return true;
	}
	return false;
}

static void measure_off_cpu(const struct scope *scope, struct activity *a)
{
	const struct family *f = &scope->now->families[FAM_OFF_CPU];

	for (size_t i = 0; i < f->nr_samples; i++) {
		const char *reason = sample_label_value(&f->samples[i], "reason");
		u64 ns;

		if (!reason || !in_scope(scope, &f->samples[i]))
			continue;
		if (!strcmp(reason, "go_scheduler")) /* no thread waits then */
			continue;
		a->off_cpu_known = true;
		if (a->nr_off_cpu == NR_REASONS || has_reason(a, reason))
			continue;
		ns = growth_of(scope, FAM_OFF_CPU, "reason", reason).u;
		if (ns)
			a->off_cpu[a->nr_off_cpu++] = (struct named_amount){ reason, ns };
	}
	qsort(a->off_cpu, a->nr_off_cpu, sizeof(a->off_cpu[0]), compare_amounts);
}

/* --- system calls --- */

/*
 * The row of a sample's call, made if @make. The families list the calls in the same order, so the
 * search begins behind the row found last: all calls of a process in about linear time.
 */
static struct call_activity *call_row(struct activity *a, const struct sample *s, bool make,
				      size_t *hint)
{
	const char *name = sample_label_value(s, "syscall");
	const char *abi = sample_label_value(s, "abi");

	if (!name)
		return NULL;
	for (size_t i = 0; i < a->nr_calls; i++) {
		size_t at = (*hint + i) % a->nr_calls;

		if (!strcmp(a->calls[at].name, name) && same_text(a->calls[at].abi, abi)) {
			*hint = at + 1;
			return &a->calls[at];
		}
	}
	if (!make)
		return NULL;
	if (a->nr_calls == a->cap_calls) {
		size_t cap = a->cap_calls ? 2 * a->cap_calls : 64;
		struct call_activity *grown = realloc(a->calls, cap * sizeof(*grown));

		if (!grown) {
			a->failed = true;
			return NULL;
		}
		a->calls = grown;
		a->cap_calls = cap;
	}
	a->calls[a->nr_calls] = (struct call_activity){ .name = name, .abi = abi };
	return &a->calls[a->nr_calls++];
}

enum fold {
	FOLD_ADD,
	FOLD_SUBTRACT,
};

static void fold_amount(u64 *to, u64 amount, enum fold fold)
{
	*to = fold == FOLD_ADD ? *to + amount : drop_below_zero(*to, amount);
}

static void fold_call(struct call_activity *row, enum family_id id, const struct sample *s,
		      enum fold fold)
{
	switch (id) {
	case FAM_SYSCALLS:
		fold_amount(&row->calls, s->u, fold);
		break;
	case FAM_SYSCALL_ERRORS:
		fold_amount(&row->errors, s->u, fold);
		break;
	case FAM_SYSCALLS_IN_FLIGHT:
		row->in_flight += s->u;
		break;
	case FAM_SYSCALLS_OLDEST:
		if (s->u > row->oldest_ns)
			row->oldest_ns = s->u;
		break;
	case FAM_SYSCALL_DURATION:
		for (size_t i = 0; s->hist && i < NR_HIST_BUCKETS; i++)
			fold_amount(&row->finished, s->hist->counts[i], fold);
		fold_amount(&row->finished_ns, s->hist ? s->hist->sum : 0, fold);
		break;
	default:
		break;
	}
}

static void fold_calls(const struct scope *scope, const struct family_set *set, enum family_id id,
		       enum fold fold, struct activity *a)
{
	size_t hint = 0;

	for (size_t i = 0; set && i < set->families[id].nr_samples; i++) {
		const struct sample *s = &set->families[id].samples[i];
		struct call_activity *row;

		if (!in_scope(scope, s))
			continue;
		row = call_row(a, s, fold == FOLD_ADD, &hint);
		if (row)
			fold_call(row, id, s, fold);
	}
}

static int compare_calls(const void *a, const void *b)
{
	const struct call_activity *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	if (x->in_flight != y->in_flight)
		return x->in_flight < y->in_flight ? 1 : -1;
	return strcmp(x->name, y->name);
}

static bool call_happened(const struct call_activity *c)
{
	return c->calls || c->errors || c->finished || c->in_flight;
}

static void measure_calls(const struct scope *scope, struct activity *a)
{
	static const enum family_id counters[] = { FAM_SYSCALLS, FAM_SYSCALL_ERRORS,
						   FAM_SYSCALL_DURATION };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		fold_calls(scope, scope->now, counters[i], FOLD_ADD, a);
		fold_calls(scope, scope->prev, counters[i], FOLD_SUBTRACT, a);
	}
	fold_calls(scope, scope->now, FAM_SYSCALLS_IN_FLIGHT, FOLD_ADD, a);
	fold_calls(scope, scope->now, FAM_SYSCALLS_OLDEST, FOLD_ADD, a);
	for (size_t i = 0; i < a->nr_calls; i++) {
		if (call_happened(&a->calls[i]))
			a->calls[n++] = a->calls[i];
	}
	a->nr_calls = n;
	if (n)
		qsort(a->calls, n, sizeof(a->calls[0]), compare_calls);
}

/* --- durable writes --- */

static struct durable_activity *durable_row(struct activity *a, const struct sample *s, bool make)
{
	const char *call = sample_label_value(s, "call");
	const char *via = sample_label_value(s, "via");

	for (size_t i = 0; i < a->nr_durables; i++) {
		if (same_text(a->durables[i].call, call) && same_text(a->durables[i].via, via))
			return &a->durables[i];
	}
	if (!make || !call || a->nr_durables == NR_DURABLES)
		return NULL;
	a->durables[a->nr_durables] = (struct durable_activity){ .call = call, .via = via };
	return &a->durables[a->nr_durables++];
}

static void fold_durables(const struct scope *scope, const struct family_set *set,
			  enum family_id id, enum fold fold, struct activity *a)
{
	for (size_t i = 0; set && i < set->families[id].nr_samples; i++) {
		const struct sample *s = &set->families[id].samples[i];
		struct durable_activity *row;

		if (!in_scope(scope, s))
			continue;
		row = durable_row(a, s, fold == FOLD_ADD);
		if (!row)
			continue;
		if (id == FAM_FSYNCS)
			fold_amount(&row->done, s->u, fold);
		else if (id == FAM_FSYNC_ERRORS)
			fold_amount(&row->failed, s->u, fold);
		else if (s->hist)
			fold_amount(&row->durations.sum, s->hist->sum, fold);
		for (size_t k = 0; s->hist && k < NR_HIST_BUCKETS; k++)
			fold_amount(&row->durations.counts[k], s->hist->counts[k], fold);
	}
}

static void measure_durables(const struct scope *scope, struct activity *a)
{
	static const enum family_id ids[] = { FAM_FSYNCS, FAM_FSYNC_ERRORS, FAM_FSYNC_DURATION };
	size_t n = 0;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		fold_durables(scope, scope->now, ids[i], FOLD_ADD, a);
		fold_durables(scope, scope->prev, ids[i], FOLD_SUBTRACT, a);
	}
	for (size_t i = 0; i < a->nr_durables; i++) {
		if (a->durables[i].done || a->durables[i].failed)
			a->durables[n++] = a->durables[i];
	}
	a->nr_durables = n;
}

/* --- interactions --- */

static void fold_kind(struct kind_activity *row, enum family_id id, const struct hist *h,
		      enum fold fold)
{
	switch (id) {
	case FAM_INTERACTION_DURATION:
		for (size_t i = 0; i < NR_HIST_BUCKETS; i++)
			fold_amount(&row->answered, h->counts[i], fold);
		fold_amount(&row->wall_ns, h->sum, fold);
		break;
	case FAM_INTERACTION_CPU:
		fold_amount(&row->cpu_ns, h->sum, fold);
		break;
	case FAM_INTERACTION_OFF_CPU:
		fold_amount(&row->off_cpu_ns, h->sum, fold);
		break;
	default:
		fold_amount(&row->calls, h->sum, fold);
		break;
	}
}

static void fold_kinds(const struct scope *scope, const struct family_set *set, enum family_id id,
		       enum fold fold, struct activity *a)
{
	for (size_t i = 0; set && i < set->families[id].nr_samples; i++) {
		const struct sample *s = &set->families[id].samples[i];
		const char *name = sample_label_value(s, "interaction");

		if (!name || !in_scope(scope, s))
			continue;
		for (size_t k = 0; k < a->nr_kinds; k++) {
			if (strcmp(a->kinds[k].name, name) != 0)
				continue;
			if (s->hist)
				fold_kind(&a->kinds[k], id, s->hist, fold);
			else
				a->kinds[k].in_flight += s->u;
		}
	}
}

static int compare_kinds(const void *a, const void *b)
{
	const struct kind_activity *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	if (x->answered != y->answered)
		return x->answered < y->answered ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void measure_kinds(const struct scope *scope, struct activity *a)
{
	static const enum family_id hists[] = { FAM_INTERACTION_DURATION, FAM_INTERACTION_CPU,
						FAM_INTERACTION_OFF_CPU, FAM_INTERACTION_SYSCALLS };
	const struct family *f = &scope->now->families[FAM_INTERACTIONS_IN_FLIGHT];
	size_t n = 0;

	a->nr_kinds = 0;
	if (!f->nr_samples)
		return;
	a->kinds = calloc(f->nr_samples, sizeof(*a->kinds));
	if (!a->kinds) {
		a->failed = true;
		return;
	}
	for (size_t i = 0; i < f->nr_samples; i++) {
		const char *name = sample_label_value(&f->samples[i], "interaction");

		if (name && in_scope(scope, &f->samples[i]))
			a->kinds[a->nr_kinds++].name = name;
	}
	fold_kinds(scope, scope->now, FAM_INTERACTIONS_IN_FLIGHT, FOLD_ADD, a);
	for (size_t i = 0; i < sizeof(hists) / sizeof(hists[0]); i++) {
		fold_kinds(scope, scope->now, hists[i], FOLD_ADD, a);
		fold_kinds(scope, scope->prev, hists[i], FOLD_SUBTRACT, a);
	}
	for (size_t i = 0; i < a->nr_kinds; i++) {
		if (a->kinds[i].answered || a->kinds[i].in_flight)
			a->kinds[n++] = a->kinds[i];
	}
	a->nr_kinds = n;
	if (n)
		qsort(a->kinds, n, sizeof(a->kinds[0]), compare_kinds);
}

void activity_measure(const struct family_set *prev, const struct family_set *now,
		      const struct sample *who, struct activity *ret_activity)
{
	struct activity *a = ret_activity;
	struct scope scope = { prev, now, sample_label_value(who, "process"),
			       sample_label_value(who, "pid") };

	*a = (struct activity){ .process = scope.process, .pid = scope.pid };
	a->up = gauge_of(&scope, FAM_PROCESS_UP);
	a->threads = gauge_of(&scope, FAM_THREADS);
	a->resident_bytes = gauge_of(&scope, FAM_RESIDENT);
	a->cpu_ns = growth_of(&scope, FAM_CPU, NULL, NULL);
	a->user_ns = growth_of(&scope, FAM_CPU, "mode", "user");
	a->system_ns = growth_of(&scope, FAM_CPU, "mode", "system");
	a->voluntary = growth_of(&scope, FAM_SWITCHES, "kind", "voluntary");
	a->involuntary = growth_of(&scope, FAM_SWITCHES, "kind", "involuntary");
	a->faults = growth_of(&scope, FAM_PAGE_FAULTS, NULL, NULL);
	a->read_bytes = growth_of(&scope, FAM_READ_BYTES, NULL, NULL);
	a->written_bytes = growth_of(&scope, FAM_WRITTEN_BYTES, NULL, NULL);
	measure_off_cpu(&scope, a);
	measure_calls(&scope, a);
	measure_durables(&scope, a);
	measure_kinds(&scope, a);
}

void activity_done(struct activity *a)
{
	free(a->calls);
	free(a->kinds);
	*a = (struct activity){ 0 };
}

u64 hist_quantile_bound(const struct hist *hist, u32 permille)
{
	u64 count = 0, want, below = 0;

	for (size_t i = 0; i < NR_HIST_BUCKETS; i++)
		count += hist->counts[i];
	if (!count)
		return 0;
	/* Rounded up, without a product that could overflow. */
	want = count / 1000 * permille + (count % 1000 * permille + 999) / 1000;
	for (u32 i = 0; i < NR_HIST_BOUNDS; i++) {
		below += hist->counts[i];
		if (below >= want)
			return hist_bound(i);
	}
	return (u64)-1;
}
