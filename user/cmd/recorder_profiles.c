/* SPDX-License-Identifier: MIT */
/* From the census to facts of a record. */
#include "user/cmd/recorder_profiles.h"

#include <stdio.h>
#include <stdlib.h>

#include "user/base/buf.h"
#include "user/base/log.h"

/* Below what a text of a record may have. */
#define PART_BYTES 8000

static struct recorded_profile *find(struct recorder_profiles *profiles, pid_t pid, u32 number)
{
	for (u32 i = 0; i < profiles->n; i++) {
		if (profiles->at[i].pid == pid && profiles->at[i].number == number)
			return &profiles->at[i];
	}
	return NULL;
}

/* What is known of the last profile of a process. True: it began, or ended. */
static bool note(struct recorder_profiles *profiles, pid_t pid, const struct census *c)
{
	struct recorded_profile *p = find(profiles, pid, c->profiles);
	bool edge = !p || (!p->census.end_ns && c->end_ns);

	if (!p && !profiles->begun && c->end_ns)
		return false;
	if (!p && profiles->n == MAX_RECORDED_PROFILES) {
		profiles->lost++;
		return false;
	}
	if (!p)
		p = &profiles->at[profiles->n++];
	*p = (struct recorded_profile){ .pid = pid, .number = c->profiles, .census = *c };
	return edge;
}

bool recorder_profiles_look(struct recorder_profiles *profiles, const struct observer *o)
{
	size_t n = observer_processes(o);
	bool edge = false;

	for (size_t i = 0; i < n; i++) {
		struct census c;

		if (observer_census(o, i, &c) && c.profiles)
			edge |= note(profiles, observer_identity(o, i)->pid, &c);
	}
	profiles->begun = true;
	return edge;
}

static void set_number(struct record *r, u32 i, const char *what, u64 number)
{
	char name[64];

	snprintf(name, sizeof(name), "profile.%u.%s", i, what);
	record_fact_setf(r, name, "%llu", number);
}

static void set_part(struct record *r, u32 i, u32 part, struct buf *text)
{
	char name[64];

	snprintf(name, sizeof(name), "profile.%u.leaves.%u", i, part);
	r->failed |= text->failed;
	record_fact_set(r, name, text->bytes ? text->bytes : "", NULL);
	buf_clear(text);
}

static void set_leaves(struct record *r, u32 i, const struct leaf_count *leaves, size_t n)
{
	struct buf text = { 0 };
	u32 part = 0;

	for (size_t k = 0; k < n; k++) {
		buf_printf(&text, "%s%llx:%llu", text.len ? " " : "", leaves[k].address,
			   leaves[k].n);
		if (text.len > PART_BYTES)
			set_part(r, i, part++, &text);
	}
	if (text.len)
		set_part(r, i, part, &text);
	buf_done(&text);
}

static void set_profile(struct record *r, u32 i, const struct recorded_profile *p,
			const struct observer *o)
{
	u64 signals = p->census.end_ns ? p->census.end_signals : p->census.signals;
	u64 overruns = p->census.end_ns ? p->census.end_overruns : p->census.overruns;
	size_t n = observer_processes(o);
	char name[64];

	set_number(r, i, "pid", (u64)p->pid);
	set_number(r, i, "begin_ns", p->census.begin_ns);
	set_number(r, i, "end_ns", p->census.end_ns);
	set_number(r, i, "period_ns", p->census.period_ns);
	set_number(r, i, "signals", signals - p->census.begin_signals);
	set_number(r, i, "overruns", overruns - p->census.begin_overruns);
	set_number(r, i, "other_signals", p->census.other_signals);
	for (size_t k = 0; k < n; k++) {
		struct leaf_count *leaves;
		size_t nr_leaves;

		if (observer_identity(o, k)->pid != p->pid)
			continue;
		snprintf(name, sizeof(name), "profile.%u.process", i);
		record_fact_set(r, name, observer_identity(o, k)->name, NULL);
		if (observer_leaves(o, k, p->number, &leaves, &nr_leaves)) {
			r->failed = true;
			continue;
		}
		set_leaves(r, i, leaves, nr_leaves);
		free(leaves);
	}
}

void recorder_profiles_end(struct recorder_profiles *profiles, const struct observer *o,
			   struct record *r)
{
	(void)recorder_profiles_look(profiles, o);
	for (u32 i = 0; i < profiles->n; i++)
		set_profile(r, i, &profiles->at[i], o);
	if (profiles->lost)
		log_warn("record: %u more profiles were taken than are kept", profiles->lost);
}
