/* SPDX-License-Identifier: MIT */
/* From observed processes to facts of a record. */
#include "user/cmd/recorder_targets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/cmd/program.h"
#include "user/elf/file.h"
#include "user/proc/conditions.h"
#include "user/runtime/worker.h"

static const char running[] = "running";

static void set(struct record *r, u32 i, const char *what, const char *begin, const char *end)
{
	char name[256];

	snprintf(name, sizeof(name), "target.%u.%s", i, what);
	record_fact_set(r, name, begin, end);
}

static const char *get(const struct record *r, u32 i, const char *what)
{
	char name[256];

	snprintf(name, sizeof(name), "target.%u.%s", i, what);
	return record_fact_text(r, name);
}

/*
 * The value of a fact at the one edge or the other. What was there at the beginning and is not set
 * at the end has gone: 0 by then; what is new was 0.
 */
static void set_edge(struct record *r, u32 i, const char *what, const char *value, bool at_end)
{
	char begin[32];

	snprintf(begin, sizeof(begin), "%s", get(r, i, what));
	if (at_end)
		set(r, i, what, begin[0] ? begin : "0", value);
	else
		set(r, i, what, value, "0");
}

/* What its file says; read by a confined process. Of one file it is read once. */
static void set_file(struct record *r, u32 i, pid_t pid, const char *path)
{
	static const char *const facts[] = { "build_id", "go_build_id", "runtime",
					     "runtime_version" };
	const struct target_request request = { 0 };
	struct err err = { { 0 } };
	struct target *target;
	int fd;

	for (u32 k = 0; k < i; k++) {
		if (strcmp(get(r, k, "exe"), get(r, i, "exe")) != 0)
			continue;
		for (size_t f = 0; f < sizeof(facts) / sizeof(facts[0]); f++)
			set(r, i, facts[f], get(r, k, facts[f]), NULL);
		return;
	}
	fd = elf_open_pid(pid, &err);
	if (fd < 0 && path[0]) /* the program that was started, and it has ended by now */
		fd = elf_open_path(path, &err);
	if (fd < 0)
		return;
	target = calloc(1, sizeof(*target));
	if (target && !target_read_confined(fd, &request, target, &err)) {
		set(r, i, "build_id", target->file.build_id, NULL);
		set(r, i, "runtime", target->runtime, NULL);
		set(r, i, "go_build_id", target->go.build_id, NULL);
		set(r, i, "runtime_version", target->go.version_text, NULL);
	}
	free(target);
	close(fd);
}

static void describe(struct record *r, u32 i, const struct process_identity *id)
{
	char number[32];

	snprintf(number, sizeof(number), "%d", (int)id->pid);
	set(r, i, "pid", number, NULL);
	snprintf(number, sizeof(number), "%u", id->uid);
	set(r, i, "user_id", number, NULL);
	set(r, i, "comm", id->comm, NULL);
	set(r, i, "process", id->name, NULL);
	conditions_process("", id->pid, i, r);
}

/* As set_edge, where "?" is what could not be read, and "" at the end that it is no more there. */
static void set_amount(struct record *r, u32 i, const char *what, const char *value, bool at_end,
		       const char *before)
{
	char begin[32];

	snprintf(begin, sizeof(begin), "%s", get(r, i, what));
	if (at_end)
		set(r, i, what, begin[0] ? begin : before, value);
	else
		set(r, i, what, value, "");
}

/* Bytes that were written to the connections to one place; a new place had none before. */
static void set_sent(struct record *r, u32 i, const struct socket_end *at, bool at_end)
{
	struct socket_end place = *at;
	char number[24] = "?", end[160], what[192];

	if (at->kind != SOCKET_CONNECTED)
		return;
	place.n = 1;
	place.comm[0] = '\0'; /* it may be known at one edge only */
	socket_end_text(&place, end, sizeof(end));
	snprintf(what, sizeof(what), "sent.%s", end);
	if (at->sent_of == at->n)
		snprintf(number, sizeof(number), "%llu", at->sent);
	set_amount(r, i, what, number, at_end, "0");
}

/* Its descriptors of the store's file, if one is expected. */
static void set_store(const struct recorder_targets *t, struct record *r, u32 i, bool at_end)
{
	char descriptors[24] = "?", changed[24] = "?";
	struct store_files files;

	if (!t->store_is_file)
		return;
	if (!broker_store(t->broker, t->at[i].pid, &files) && !files.unreadable) {
		snprintf(descriptors, sizeof(descriptors), "%u", files.descriptors);
		snprintf(changed, sizeof(changed), "%llu", files.changed_ns);
	}
	set_amount(r, i, "store.descriptors", descriptors, at_end, "?");
	set_amount(r, i, "store.changed_ns", changed, at_end, "?");
}

/* What is there at one edge, as @begin or @end of facts target.@i.listens.TEXT and .connected. */
static void set_sockets(const struct recorder_targets *t, struct record *r, u32 i, bool at_end)
{
	static const char *const kinds[NR_SOCKET_KINDS] = {
		[SOCKET_LISTENS] = "listens", [SOCKET_CONNECTED] = "connected"
	};
	struct socket_ends *ends = malloc(sizeof(*ends));
	char number[16], end[160], what[192];

	if (ends && !broker_sockets(t->broker, t->at[i].pid, ends)) {
		snprintf(number, sizeof(number), "%u", ends->clients);
		set_edge(r, i, "clients", number, at_end);
		snprintf(number, sizeof(number), "%u", ends->unix_streams);
		set_edge(r, i, "unix_streams", number, at_end);
		snprintf(number, sizeof(number), "%u", ends->left_out);
		set_edge(r, i, "ends_left_out", number, at_end);
		for (u32 k = 0; k < ends->n; k++) {
			struct socket_end *at = &ends->at[k];

			set_sent(r, i, at, at_end);
			snprintf(number, sizeof(number), "%u", at->n);
			at->n = 1; /* how often is the value, not in the name */
			socket_end_text(at, end, sizeof(end));
			snprintf(what, sizeof(what), "%s.%s", kinds[at->kind], end);
			set_edge(r, i, what, number, at_end);
		}
	}
	free(ends);
}

static void set_throttled(const struct recorder_targets *t, struct record *r)
{
	for (u32 i = 0; i < t->n; i++)
		conditions_throttled("", get(r, i, "cgroup"), i, r);
}

void recorder_targets_begin(struct recorder_targets *t, const struct options *options,
			    struct observer *o, struct broker_client *broker, struct record *r)
{
	size_t n = options->all ? 0 : observer_processes(o);
	char program[PATH_MAX] = "";
	struct store store;

	/* One that ends at once shows nobody any more what it executed. */
	if (options->program && !program_file(options->program[0], program))
		program[0] = '\0';
	t->broker = broker;
	t->store_is_file = options->expect_store && store_parse(options->expect_store, &store) &&
			   store.kind == STORE_FILE;
	t->must_stay = !options->program && !options->cgroups.n;
	record_fact_setf(r, "targets.at_begin", "%zu", observer_processes(o));
	for (size_t k = 0; k < n && t->n < MAX_RECORDED_TARGETS; k++) {
		const struct process_identity *id = observer_identity(o, k);
		const char *file = k ? "" : program; /* what was started is the first */
		struct broker_identity who;
		u32 i = t->n;

		if (broker_identify(broker, id->pid, &who))
			continue; /* it has ended already */
		t->at[i].pid = id->pid;
		t->at[i].start_ticks = who.start_ticks;
		t->n++;
		set(r, i, "exe", who.exe[0] ? who.exe : file, NULL);
		describe(r, i, id);
		set_sockets(t, r, i, false);
		set_store(t, r, i, false);
		set_file(r, i, id->pid, file);
	}
	set_throttled(t, r);
}

static const char *state_now(const struct recorder_targets *t, const struct record *r, u32 i)
{
	struct broker_identity who;

	if (broker_identify(t->broker, t->at[i].pid, &who) ||
	    who.start_ticks != t->at[i].start_ticks)
		return "ended";
	/* Without the right to see what it executes, it is nothing that has changed. */
	if (who.exe[0] && strcmp(who.exe, get(r, i, "exe")) != 0)
		return "executed another file";
	return running;
}

/* The value at the beginning is in @r; that at the end comes beside it. */
static void end_throttled(struct record *r, u32 i)
{
	char begin[32], end[32];

	snprintf(begin, sizeof(begin), "%s", get(r, i, "throttled_us"));
	if (!begin[0])
		return;
	conditions_throttled("", get(r, i, "cgroup"), i, r);
	snprintf(end, sizeof(end), "%s", get(r, i, "throttled_us"));
	set(r, i, "throttled_us", begin, end);
}

void recorder_targets_end(struct recorder_targets *t, struct record *r)
{
	for (u32 i = 0; i < t->n; i++) {
		if (t->must_stay)
			set(r, i, "state", running, state_now(t, r, i));
		end_throttled(r, i);
		set_sockets(t, r, i, true);
		set_store(t, r, i, true);
	}
}
