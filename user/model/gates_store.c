/* SPDX-License-Identifier: MIT */
/*
 * Whether targets kept their state where --expect-store says (G4). A program whose store cannot be
 * reached may go on with its memory and a line in its log: its numbers look valid, and are of
 * another system. So what is not known is INVALID as well, and says that it is not known.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/gates_impl.h"
#include "user/model/store.h"

#define NOT_KNOWN "not known: "

/* What the targets' sockets say, all targets together. */
struct evidence {
	u32 targets, unseen; /* described ones, and those whose sockets could not be read */
	u64 left_out, unix_streams;
	u64 places, places_at_end; /* to which there were connections at either edge, at the end */
	u64 stayed;		   /* of them, there at both edges */
	u64 sent;		   /* bytes written to them in the window, at least */
	bool sent_unknown, gone;   /* of a place that counts; connections to it went away */
	const char *any;	   /* one of them */
};

/* The part of a fact's name behind "target.@i.KIND.", or NULL. */
static const char *of_kind(const struct record_fact *fact, u32 i, const char *kind)
{
	char prefix[64];
	size_t n;

	snprintf(prefix, sizeof(prefix), "target.%u.%s.", i, kind);
	n = strlen(prefix);
	return strncmp(fact->name, prefix, n) ? NULL : fact->name + n;
}

static bool number(const char *text, u64 *ret)
{
	char *end;

	if (!text || text[0] < '0' || text[0] > '9')
		return false;
	*ret = strtoull(text, &end, 10);
	return !*end;
}

/* The port of "ADDRESS:PORT" or "ADDRESS:PORT (COMM)", 0: none. */
static u32 port_of(const char *place)
{
	size_t n = strcspn(place, " ");
	u32 port = 0, factor = 1;

	while (n && place[n - 1] >= '0' && place[n - 1] <= '9' && factor <= 10000) {
		port += (u32)(place[--n] - '0') * factor;
		factor *= 10;
	}
	return n && place[n - 1] == ':' ? port : 0;
}

/* A fact of target @i; the highest of its two edges. */
static bool highest(const struct record *r, u32 i, const char *what, u64 *ret)
{
	char name[64];
	u64 end;

	snprintf(name, sizeof(name), "target.%u.%s", i, what);
	if (!record_fact_number(r, name, ret) || !record_fact_number_at_end(r, name, &end))
		return false;
	*ret = end > *ret ? end : *ret;
	return true;
}

static void take_connected(const struct record_fact *fact, const char *place, struct evidence *e)
{
	u64 begin = 0, end = 0;

	if (!number(fact->begin, &begin) || !number(fact->end, &end))
		return;
	e->places++;
	e->any = place;
	e->places_at_end += end > 0;
	e->stayed += begin > 0 && end > 0;
}

static void take_sent(const struct record_fact *fact, struct evidence *e)
{
	u64 begin = 0, end = 0;
	bool known = number(fact->begin, &begin);
	bool ended = fact->end && !fact->end[0];

	if (!ended && (!known || !number(fact->end, &end)))
		e->sent_unknown = true;
	else if (ended ||
		 end < begin) /* all or a part of it went with connections that were closed */
		e->gone = true;
	else
		e->sent += end - begin;
}

/* Connections to @port, or to any if it is 0. */
static void look(const struct record *r, u32 port, struct evidence *e)
{
	*e = (struct evidence){ 0 };
	for (u32 i = 0;; i++) {
		u64 n, left_out;
		char name[64];

		snprintf(name, sizeof(name), "target.%u.pid", i);
		if (!record_fact(r, name))
			return;
		e->targets++;
		if (!highest(r, i, "unix_streams", &n) ||
		    !highest(r, i, "ends_left_out", &left_out)) {
			e->unseen++;
			continue;
		}
		e->unix_streams += n;
		e->left_out += left_out;
		for (size_t k = 0; k < r->nr_facts; k++) {
			const struct record_fact *fact = &r->facts[k];
			const char *to = of_kind(fact, i, "connected");
			const char *sent = of_kind(fact, i, "sent");

			if (to && (!port || port_of(to) == port))
				take_connected(fact, to, e);
			else if (sent && (!port || port_of(sent) == port))
				take_sent(fact, e);
		}
	}
}

/* Whether the sockets of all targets were seen; says it if not. */
static bool is_seen(const struct record *r, const struct evidence *e, struct gate *g)
{
	if (record_fact_text(r, "asked.program")[0])
		gate_say(g, GATE_INVALID,
			 NOT_KNOWN "what a program that was started has open between its begin and "
				   "its end is not seen");
	else if (!e->targets)
		gate_say(g, GATE_INVALID, NOT_KNOWN "no target is described");
	else if (e->unseen)
		gate_say(g, GATE_INVALID,
			 NOT_KNOWN "the sockets of %u of %u targets could not be "
				   "read at both edges",
			 e->unseen, e->targets);
	else if (e->left_out)
		gate_say(g, GATE_INVALID, NOT_KNOWN "%llu sockets had no room in the record",
			 e->left_out);
	else
		return true;
	return false;
}

static void judge_server(const struct record *r, u32 port, struct gate *g)
{
	struct evidence e;

	look(r, port, &e);
	if (e.stayed && e.sent) {
		gate_say(g, GATE_HOLDS,
			 "connected to %s at both edges, and %llu bytes written to "
			 "port %u",
			 e.any, e.sent, port);
		return;
	}
	if (!is_seen(r, &e, g))
		return;
	if (!e.places && e.unix_streams)
		gate_say(g, GATE_INVALID,
			 NOT_KNOWN "no connection to port %u, and where %llu unix sockets lead and "
				   "what is written to them is not seen",
			 port, e.unix_streams);
	else if (!e.places)
		gate_say(g, GATE_INVALID, "no connection to port %u at either edge", port);
	else if (!e.places_at_end)
		gate_say(g, GATE_INVALID, "connected to %s at the beginning, not at the end",
			 e.any);
	else if (!e.stayed)
		gate_say(g, GATE_INVALID, "connected to %s at the end, not at the beginning",
			 e.any);
	else if (e.sent_unknown)
		gate_say(g, GATE_INVALID,
			 NOT_KNOWN "connected to %s, but the kernel does not say what was written "
				   "to it (no tcp_diag, or another network namespace)",
			 e.any);
	else if (e.gone)
		gate_say(g, GATE_INVALID,
			 NOT_KNOWN "what was written to %s went with connections that were closed",
			 e.any);
	else
		gate_say(g, GATE_INVALID, "connected to %s, and nothing was written to it", e.any);
}

static void judge_file(const struct record *r, const char *path, struct gate *g)
{
	u64 begin, end, before, after, written;
	u32 known = 0, open = 0;

	for (u32 i = 0; i < r->nr_facts; i++) {
		const struct record_fact *changed;
		char name[64];

		snprintf(name, sizeof(name), "target.%u.store.descriptors", i);
		if (!record_fact_number(r, name, &begin) ||
		    !record_fact_number_at_end(r, name, &end))
			continue;
		known++;
		snprintf(name, sizeof(name), "target.%u.store.changed_ns", i);
		changed = record_fact(r, name);
		if (!begin || !end || !changed || !number(changed->begin, &before) ||
		    !number(changed->end, &after))
			continue;
		open++;
		if (after == before || record_delta(r, FAM_WRITTEN_BYTES, NULL, 0, &written) ||
		    !written)
			continue;
		gate_say(g, GATE_HOLDS, "%s is open for writing at both edges, and it changed",
			 path);
		return;
	}
	if (record_fact_text(r, "asked.program")[0] || !known)
		gate_say(g, GATE_INVALID,
			 NOT_KNOWN "which files targets have open was not seen at "
				   "both edges");
	else if (!open)
		gate_say(g, GATE_INVALID, "%s is not open for writing at both edges", path);
	else if (record_delta(r, FAM_WRITTEN_BYTES, NULL, 0, &written))
		gate_say(g, GATE_INVALID, NOT_KNOWN "what was written was not measured");
	else
		gate_say(g, GATE_INVALID, "%s is open, and nothing was written to it", path);
}

static void judge_memory(const struct record *r, struct gate *g)
{
	struct evidence e;
	u64 durable;

	look(r, 0, &e);
	if (record_delta(r, FAM_FSYNCS, NULL, 0, &durable))
		gate_say(g, GATE_INVALID, NOT_KNOWN "durable writes were not measured");
	else if (durable)
		gate_say(g, GATE_INVALID, "%llu durable writes", durable);
	else if (!is_seen(r, &e, g))
		return;
	else if (e.places)
		gate_say(g, GATE_INVALID, NOT_KNOWN "it may keep something behind %s", e.any);
	else if (e.unix_streams)
		gate_say(g, GATE_INVALID, NOT_KNOWN "where %llu unix sockets lead is not seen",
			 e.unix_streams);
	else
		gate_say(g, GATE_HOLDS, "no connection to anybody, and no durable write");
}

void gate_store(const struct record *r, struct gate *g)
{
	const char *asked = record_fact_text(r, "asked.store");
	struct store store;

	if (!asked[0])
		return;
	if (!store_parse(asked, &store)) {
		gate_say(g, GATE_INVALID, NOT_KNOWN "%s is no store", asked);
		return;
	}
	switch (store.kind) {
	case STORE_SERVER:
		judge_server(r, store.port, g);
		break;
	case STORE_FILE:
		judge_file(r, store.path, g);
		break;
	case STORE_MEMORY:
		judge_memory(r, g);
		break;
	}
}
