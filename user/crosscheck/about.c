/* SPDX-License-Identifier: MIT */
/* Same program, same process, same time. */
#include "user/crosscheck/about.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/model/gates.h"

#define MAX_TARGETS 64

void about_gate(struct claim_run *run, const char *name, enum claim_gate_state state,
		const char *fmt, ...)
{
	struct claim_gate *g;
	va_list ap;

	if (run->nr_gates == MAX_CLAIM_GATES)
		return;
	g = &run->gates[run->nr_gates++];
	g->name = name;
	g->state = state;
	va_start(ap, fmt);
	vsnprintf(g->text, sizeof(g->text), fmt, ap);
	va_end(ap);
}

/*
 * Functions that Go's runtime has on other systems only, and in every profile of some length.
 *
 * Source: Go src/runtime/sys_darwin.go, os_darwin.go, os_windows.go, sys_libc.go, os_freebsd.go.
 */
static bool is_foreign(const char *function)
{
	static const char *const foreign[] = {
		"runtime.kevent",	   "runtime.pthread_cond_wait",
		"runtime.libcCall",	   "runtime.pthread_cond_timedwait_relative_np",
		"runtime.pthread_kill",	   "runtime.pthread_cond_signal",
		"syscall.rawsyscalln",	   "syscall.syscalln",
		"runtime.stdcall",	   "runtime.asmstdcall",
		"runtime.cgocall_windows", "runtime.sys_umtx_op",
	};

	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		if (!strcmp(function, foreign[i]))
			return true;
	}
	return false;
}

static const char *fact(const struct record *r, u32 target, const char *what)
{
	char name[64];

	snprintf(name, sizeof(name), "target.%u.%s", target, what);
	return record_fact_text(r, name);
}

static bool is_there(const struct record *r, u32 target)
{
	return *fact(r, target, "pid");
}

/* Whether a target is what the profile says of itself; *ret_by: how that was seen. */
static bool is_of(const struct profile *p, const struct record *r, u32 target, const char **ret_by)
{
	const struct profile_mapping *m = p->nr_mappings ? &p->mappings[0] : NULL;
	const char *ids[] = { fact(r, target, "build_id"), fact(r, target, "go_build_id") };

	if (!m)
		return false;
	/* Go writes the ELF's id if there is one; 1.24 and later always make one. */
	if (*m->build_id && (*ids[0] || *ids[1])) {
		*ret_by = "build id";
		return !strcmp(m->build_id, ids[0]) || !strcmp(m->build_id, ids[1]);
	}
	*ret_by = "path";
	return *m->file && !strcmp(m->file, fact(r, target, "exe"));
}

static void find_target(const struct profile *p, const struct record *r, struct claim_run *run,
			struct about *a)
{
	u32 found = MAX_TARGETS, nr_targets = 0, nr_same_name = 0;
	const char *by = "", *how;

	for (u32 i = 0; i < MAX_TARGETS && is_there(r, i); i++) {
		nr_targets++;
		if (found == MAX_TARGETS && is_of(p, r, i, &how)) {
			found = i;
			by = how;
		}
	}
	if (found == MAX_TARGETS) {
		about_gate(
			run, "program", CLAIM_GATE_INVALID,
			"the profile is of %s%s%s, which is none of the %u programs of the record",
			p->nr_mappings && *p->mappings[0].file ? p->mappings[0].file
							       : "a program without a name",
			p->nr_mappings && *p->mappings[0].build_id ? ", build id " : "",
			p->nr_mappings ? p->mappings[0].build_id : "", nr_targets);
		return;
	}
	about_gate(run, "program", CLAIM_GATE_HOLDS, "same %s", by);
	a->process = fact(r, found, "process");
	a->pid = fact(r, found, "pid");
	for (u32 i = 0; i < nr_targets; i++)
		nr_same_name += !strcmp(fact(r, i, "process"), a->process);
	if (nr_same_name > 1)
		about_gate(run, "process", CLAIM_GATE_INVALID,
			   "%u processes are summed up as `%s` in the record; record one of them",
			   nr_same_name, a->process);
	else
		about_gate(run, "process", CLAIM_GATE_HOLDS, "pid %s", fact(r, found, "pid"));
	snprintf(run->target, sizeof(run->target), "%.40s, pid %.10s, %.30s, on Linux %.40s",
		 a->process, fact(r, found, "pid"),
		 *fact(r, found, "runtime_version") ? fact(r, found, "runtime_version")
						    : "not a Go program",
		 record_fact_text(r, "machine.kernel"));
}

/* Whether the group `census` was attached all the time. */
static bool is_watched(const struct record *r)
{
	const struct label census = { "group", "census" };
	const struct sample *s = record_find(record_end(r), FAM_GROUP_UP, &census, 1);

	return s && (s->kind == VALUE_REAL ? s->real > 0 : s->u > 0);
}

static void find_window(const struct profile *p, const struct record *r, struct claim_run *run,
			struct about *a)
{
	struct err err = { { 0 } };

	a->was_watched = is_watched(r);
	a->has_seen = a->pid && window_match(p, r, a->pid, &a->seen);
	if (window_find(p, a->has_seen ? &a->seen : NULL, r, &a->window, &err)) {
		about_gate(run, "window", CLAIM_GATE_INVALID, "%s", err.text);
		return;
	}
	a->has_window = a->window.missing <= ABOUT_MAX_MISSING;
	if (!a->has_window)
		about_gate(run, "window", CLAIM_GATE_INVALID,
			   "%.1f %% of the profile's time is outside of the record's",
			   a->window.missing * 100);
	else
		about_gate(run, "window", CLAIM_GATE_HOLDS, "%.3f s, inside of the record's",
			   (double)(a->window.end_ns - a->window.begin_ns) / (double)NS_PER_SEC);
	if (!a->has_window || !a->pid)
		return;
	if (a->has_seen)
		about_gate(run, "profiler", CLAIM_GATE_HOLDS,
			   "it was seen to begin and to end in that process");
	else if (a->was_watched)
		about_gate(
			run, "profiler", CLAIM_GATE_INVALID,
			"no profile was taken of that process at the time that the profile says: "
			"it is of another process, or of another time");
	else
		about_gate(run, "profiler", CLAIM_GATE_UNKNOWN, "%s", "");
}

static void add_record_gates(const struct record *r, struct claim_run *run)
{
	static const enum claim_gate_state states[] = {
		[GATE_UNKNOWN] = CLAIM_GATE_UNKNOWN,
		[GATE_HOLDS] = CLAIM_GATE_HOLDS,
		[GATE_WARNS] = CLAIM_GATE_WARNS,
		[GATE_INVALID] = CLAIM_GATE_INVALID,
	};
	struct gate gates[NR_GATES];

	gates_of(r, gates);
	for (u32 i = 0; i < NR_GATES; i++)
		about_gate(run, gate_names[i], states[gates[i].state], "%s", gates[i].text);
}

void about_find(const struct profile *p, const struct record *r, struct claim_run *run,
		struct about *ret_about)
{
	struct about a = { 0 };

	for (u32 i = 0; i < p->nr_functions && !a.not_linux; i++)
		a.not_linux = is_foreign(p->functions[i].name);
	if (profile_kind(p) != PROFILE_CPU)
		about_gate(run, "kind", CLAIM_GATE_INVALID,
			   "it is no CPU profile but one of kind %s",
			   profile_kind_name(profile_kind(p)));
	else
		about_gate(run, "kind", CLAIM_GATE_HOLDS, "a CPU profile");
	/* A profile of another system has nothing to do with any record. */
	if (!a.not_linux) {
		find_target(p, r, run, &a);
		find_window(p, r, run, &a);
		add_record_gates(r, run);
	}
	*ret_about = a;
}
