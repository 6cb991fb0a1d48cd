/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Group interactions: what system calls and context switches of a target say about the requests
 * it serves, or for which call of a function they are (functions.bpf.h). A request begins when the
 * read that brings its first byte returns, and ends when the write that completes its response
 * does.
 */
#ifndef SKYOBSERVE_INTERACTIONS_BPF_H
#define SKYOBSERVE_INTERACTIONS_BPF_H

#include "go.bpf.h"
#include "queue.bpf.h"

#define LAST_CHUNK_BYTES 5 /* 0\r\n\r\n */

static __always_inline struct process_cell *interactions_of(const struct thread_cell *t)
{
	struct process_cell *p = group_on(GROUP_INTERACTIONS) ? process_of(t) : NULL;

	return p && p->owner.mode != OWNER_NONE ? p : NULL;
}

/* --- who works for what --- */

/*
 * Whether @f, of the goroutine that @t runs, still is: one that ended inside a function has left
 * its place in memory to another one.
 */
static __always_inline bool go_still_owns(const struct flow *f, const struct thread_cell *t,
					  const struct process_cell *p)
{
	return !cfg.nr_functions || f->goid == user_word(t->owner + p->owner.g_goid);
}

/* Ask the thread for whom it works, and charge what it did since it was last asked. */
static __always_inline void go_switch(struct thread_cell *t, struct process_cell *p, u64 now)
{
	u64 before = t->owner;
	struct owner_key key = { .tgid = t->tgid };
	struct flow *f = flow_of(t);
	u32 *slot = NULL, slot1;

	t->owner = go_current(t, &p->owner);
	if (f && t->owner && f->owner == t->owner && go_still_owns(f, t, p))
		return; /* it goes on with what it does */
	if (t->owner && p->open_flows) {
		key.owner = t->owner;
		slot = bpf_map_lookup_elem(&owner_flows, &key);
	}
	slot1 = slot ? *slot + 1 : 0;
	f = flow_at(slot1);
	if (!f || f->owner != t->owner || !flow_is_open(f) || !go_still_owns(f, t, p))
		slot1 = 0;
	if (!slot1 && !t->flow && t->account == t->process)
		return; /* from nobody's work to nobody's */
	if (slot1 != t->flow && before && t->owner && before != t->owner)
		charge(account_cells(t), CELL_SPLIT_CPU,
		       elapsed(now, t->settled_ns > t->since_ns ? t->settled_ns : t->since_ns));
	current_works_for(slot1, slot1 != 0, now);
}

/* A thread works for the connection that it last read from or wrote to, until it polls. */
static __always_inline void thread_switch(struct thread_cell *t, struct process_cell *p, u32 nr,
					  u64 now)
{
	const volatile struct call_class *c = &cfg.calls[nr];
	bool moves = c->io != CALL_IO_NONE && c->wait != WAIT_POLL;
	u32 slot1 = flow_of(t) ? t->flow : 0, found;
	struct flow *f;
	u64 inode;

	if (c->wait == WAIT_POLL) {
		slot1 = 0;
	} else if (moves && p->open_flows) {
		inode = socket_inode(t->call_fd);
		found = inode ? flow_find(inode) : 0;
		f = flow_at(found);
		if (f)
			slot1 = flow_is_open(f) ? found : 0;
	}
	current_works_for(slot1, 0, now);
}

/* --- requests --- */

struct call_bytes {
	u64 address;
	u32 n;
	u32 pad;
};

#define LAST_PART ~0u

/*
 * Memory that a call with the arguments @at and @third moved: part number @nr, no more of it than
 * @moved.
 */
static __always_inline void call_part(u64 at, u64 third, u8 buffer, u32 nr, u64 moved,
				      struct call_bytes *ret)
{
	u64 count = 1, length = moved;
	struct user_msghdr msg = {};
	struct iovec part = {};

	ret->address = 0;
	ret->n = 0;
	if (buffer == BUFFER_MSG) {
		if (bpf_probe_read_user(&msg, sizeof(msg), (void *)at))
			return;
		at = (u64)msg.msg_iov;
		count = msg.msg_iovlen;
	} else if (buffer == BUFFER_IOVEC) {
		count = third;
	}
	if (nr != LAST_PART && nr >= count)
		return;
	if (buffer != BUFFER_PLAIN) {
		if (nr != LAST_PART)
			at += nr * sizeof(part);
		else if (count > 1 && count <= 1024)
			at += (count - 1) * sizeof(part);
		if (bpf_probe_read_user(&part, sizeof(part), (void *)at))
			return;
		at = (u64)part.iov_base;
		length = part.iov_len;
	}
	ret->address = at;
	ret->n = length < moved ? length : moved;
}

static __always_inline void call_bytes(struct pt_regs *regs, u8 buffer, u64 moved, u32 part,
				       struct call_bytes *ret)
{
	u64 at = CALL_ARG(regs, 2), third = CALL_ARG(regs, 3);

	/* Read before anything else: one load must not be of two kinds of memory. */
	barrier_var(at);
	barrier_var(third);
	call_part(at, third, buffer, part, moved, ret);
}

static __always_inline bool copy_bytes(struct flow *f, const struct call_bytes *from, u32 max,
				       u32 *ret_n)
{
	u64 n = from->n < max ? from->n : max; /* 64 bits: see charge_nth */

	barrier_var(n);
	if (!n || n > FLOW_LOOK_BYTES ||
	    bpf_probe_read_user(f->bytes, n, (const void *)from->address))
		return false;
	*ret_n = n;
	return true;
}

/* One more byte of method and path, for the routes. */
static __always_inline void route_byte(struct http_request *r, u8 c)
{
	u32 state = r->route;
	const struct route_state *s = bpf_map_lookup_elem(&route_states, &state);
	u64 symbol = c < NR_ROUTE_SYMBOLS ? c : NR_ROUTE_SYMBOLS - 1;

	barrier_var(symbol);
	r->route = s && symbol < NR_ROUTE_SYMBOLS ? s->next[symbol] : 0;
}

/* @n bytes of the flow's copy are of a request. */
__noinline int feed_request(u32 slot1, u32 n)
{
	struct flow *f = flow_at(slot1);

	for (u32 i = 0; f && i < FLOW_LOOK_BYTES; i++) {
		u8 c = f->bytes[i], before = f->request.state;

		if (i >= n || before >= HTTP_REQUEST)
			break;
		http_request_byte(&f->request, c);
		/* What ends a path is no part of it. */
		if (cfg.nr_routes && (before == HTTP_METHOD || f->request.state == HTTP_PATH))
			route_byte(&f->request, c);
	}
	return 0;
}

/*
 * @f->bytes begin a request, or go on with it. Before the write of a response has returned, another
 * thread may have read the first byte of the next request ahead (net/http does).
 */
static __always_inline void request_bytes(struct flow *f, u32 slot1, u32 n, u64 ready_ns, u64 now)
{
	u8 ahead = f->state == FLOW_IDLE ? f->ahead : 0;

	if (f->state == FLOW_IDLE) {
		http_request_begin(&f->request);
		f->begin_ns = now;
		f->queued_ns = ready_ns;
		f->state = FLOW_REQUEST;
	}
	feed_request(slot1, n);
	if (f->request.state == HTTP_NONE && ahead) {
		http_request_begin(&f->request);
		http_request_byte(&f->request, ahead);
		f->begin_ns = f->ahead_ns;
		f->queued_ns = f->ahead_ready_ns;
		feed_request(slot1, n);
	}
}

static __always_inline void on_read(struct thread_cell *t, struct pt_regs *regs, u8 buffer,
				    u64 moved, u64 now)
{
	u64 inode = socket_inode(t->call_fd);
	struct call_bytes from;
	struct flow *f;
	u64 ready_ns;
	u8 first = 0;
	u32 slot1, n;

	if (!inode)
		return;
	call_bytes(regs, buffer, moved, 0, &from);
	if (bpf_probe_read_user(&first, 1, (const void *)from.address))
		return;
	slot1 = flow_find(inode);
	if (!slot1 && http_may_begin(first))
		slot1 = flow_add(t, inode, true);
	f = flow_at(slot1);
	if (!f || f->state == FLOW_STREAM)
		return;
	ready_ns = queue_read(f);
	if (f->state == FLOW_IDLE && !f->owner) { /* a server may fork after it accepted */
		f->process = t->process;
		f->tgid = t->tgid;
	}
	if (flow_is_open(f)) {
		if (moved == 1) {
			f->ahead = first;
			f->ahead_ns = now;
			f->ahead_ready_ns = ready_ns;
			return;
		}
		if (f->state != FLOW_BODY || f->body != BODY_UNTIL_CLOSE || !http_may_begin(first))
			return; /* the request's body */
		current_ends(slot1, f->last_write_ns, f->response.code, now);
	}
	if (!copy_bytes(f, &from, FLOW_LOOK_BYTES, &n))
		return;
	request_bytes(f, slot1, n, ready_ns, now);
	if (f->request.state == HTTP_NONE) {
		flow_release(f, slot1 - 1);
	} else if (f->request.state == HTTP_REQUEST) {
		current_begins(slot1, now);
	}
}

/* --- responses --- */

/*
 * @n bytes of the flow's copy are of a response's head. Returns how many of them are, with
 * HEAD_ENDS if it ended with them.
 */
#define HEAD_ENDS 0x10000

__noinline int feed_response(u32 slot1, u32 n)
{
	struct flow *f = flow_at(slot1);
	u32 i;

	for (i = 0; f && i < FLOW_LOOK_BYTES; i++) {
		if (i >= n)
			break;
		/* Nothing is kept in registers from byte to byte: their states would multiply. */
		barrier();
		if (http_response_byte(&f->response, &f->bytes[i]))
			return (i + 1) | HEAD_ENDS;
	}
	return i;
}

/* @n bytes of the flow's copy are of a body that is to begin with the prefix of a rule. */
__noinline int feed_body(u32 slot1, u32 n)
{
	struct flow *f = flow_at(slot1);
	u32 nr = f ? f->good : 0;
	const struct good_rule *rule = bpf_map_lookup_elem(&good_rules, &nr);

	for (u32 i = 0; f && rule && i < FLOW_LOOK_BYTES; i++) {
		u64 at = f->good_at;

		if (i >= n || f->outcome != OUTCOME_OPEN)
			break;
		if (f->body == BODY_CHUNKED && !http_chunk_byte(&f->chunks, f->bytes[i]))
			continue;
		barrier_var(at);
		if (at >= GOOD_PREFIX_BYTES || rule->prefix[at] != f->bytes[i])
			f->outcome = OUTCOME_EMPTY;
		else if (at + 1 >= rule->n)
			f->outcome = OUTCOME_GOOD;
		f->good_at = at + 1;
	}
	return 0;
}

/*
 * A call wrote @moved bytes, @skip of them of the head, the others of the body of a response whose
 * rule is not decided yet. @packed: @skip << 8 | enum call_buffer. Two parts are looked at: servers
 * write head and body with one call. What is not seen leaves the rule undecided for good.
 */
__noinline int body_shows(u32 slot1, u64 at, u64 third, u64 packed, u64 moved)
{
	u64 skip = packed >> 8, seen = skip, before = 0;
	struct flow *f = flow_at(slot1);
	struct call_bytes from;
	u32 n;

	if (!f)
		return 0;
	for (u32 part = 0; part < 2; part++) {
		call_part(at, third, packed & 0xff, part, moved - before, &from);
		before += from.n;
		if (skip >= before || f->outcome != OUTCOME_OPEN)
			continue;
		from.address += from.n - (before - seen);
		from.n = before - seen;
		if (!copy_bytes(f, &from, FLOW_LOOK_BYTES, &n))
			break;
		feed_body(slot1, n);
		seen += n;
		if (n < from.n)
			break;
	}
	if (f->outcome == OUTCOME_OPEN && seen < moved)
		f->outcome = OUTCOME_UNKNOWN;
	return 0;
}

/* The last @written of @moved bytes are of the body. */
static __always_inline void look_at_body(struct flow *f, u32 slot1, struct pt_regs *regs, u8 buffer,
					 u64 moved, u64 written)
{
	const struct good_rule *rule;
	u64 at, third, skip = moved - written;
	u32 nr = f->good;

	if (!cfg.nr_goods || f->outcome != OUTCOME_OPEN)
		return;
	add(&f->body_bytes, written);
	rule = bpf_map_lookup_elem(&good_rules, &nr);
	if (!written || !rule || !rule->n)
		return;
	if (buffer < BUFFER_PLAIN) {
		f->outcome = OUTCOME_UNKNOWN;
		return;
	}
	at = CALL_ARG(regs, 2);
	third = CALL_ARG(regs, 3);
	barrier_var(at);
	barrier_var(third);
	body_shows(slot1, at, third, skip << 8 | buffer, moved);
}

static __always_inline bool is_last_chunk(struct pt_regs *regs, u8 buffer, u64 moved)
{
	char end[LAST_CHUNK_BYTES] = {};
	struct call_bytes from;

	call_bytes(regs, buffer, moved, LAST_PART, &from);
	if (from.n < LAST_CHUNK_BYTES ||
	    bpf_probe_read_user(end, sizeof(end),
				(const void *)(from.address + from.n - LAST_CHUNK_BYTES)))
		return false;
	return end[0] == '0' && end[1] == '\r' && end[2] == '\n' && end[3] == '\r' &&
	       end[4] == '\n';
}

/* @written bytes of the body: true if they complete it. */
static __always_inline bool body_bytes(struct flow *f, struct pt_regs *regs, u8 buffer, u64 moved,
				       u64 written)
{
	switch (f->body) {
	case BODY_NONE:
		return true;
	case BODY_LENGTH:
		f->remaining = elapsed(f->remaining, written);
		return !f->remaining;
	case BODY_CHUNKED:
		return buffer >= BUFFER_PLAIN && is_last_chunk(regs, buffer, moved);
	default:
		return false;
	}
}

static __always_inline bool begins_response(const struct flow *f, u32 n)
{
	return n >= 9 && f->bytes[0] == 'H' && f->bytes[1] == 'T' && f->bytes[2] == 'T' &&
	       f->bytes[3] == 'P' && f->bytes[4] == '/';
}

/*
 * @n_bytes at @address of the target begin a response's head, or go on with it. Returns how many of
 * them are of it, with HEAD_ENDS; 0 if they begin none.
 */
__noinline int feed_head(u32 slot1, u64 address, u32 n_bytes)
{
	struct call_bytes from = { .address = address, .n = n_bytes };
	struct flow *f = flow_at(slot1);
	u32 used = 0, n, fed;

	for (u32 piece = 0; f && piece < HTTP_HEAD_BYTES / FLOW_LOOK_BYTES; piece++) {
		if (!copy_bytes(f, &from, FLOW_LOOK_BYTES, &n))
			break;
		if (f->state == FLOW_OPEN) {
			if (!begins_response(f, n))
				break;
			http_response_begin(&f->response);
			f->state = FLOW_HEAD;
		}
		fed = feed_response(slot1, n);
		used += fed & ~HEAD_ENDS;
		if (fed & HEAD_ENDS)
			return used | HEAD_ENDS;
		from.address += n;
		from.n -= n;
	}
	return used;
}

/* Bytes of the head were written. Returns how many of @moved are behind it. */
static __always_inline u64 head_bytes(struct flow *f, u32 slot1, struct pt_regs *regs, u8 buffer,
				      u64 moved)
{
	struct call_bytes from;
	u32 used;

	if (buffer < BUFFER_PLAIN)
		return 0;
	call_bytes(regs, buffer, moved, 0, &from);
	used = feed_head(slot1, from.address, from.n);
	if (f->state == FLOW_OPEN)
		return 0;
	if (used & HEAD_ENDS && http_is_interim(f->response.code)) {
		f->state = FLOW_OPEN;
		return 0;
	}
	if (used & HEAD_ENDS) {
		f->body = http_body(&f->response, f->request.method);
		f->remaining = f->response.length;
		f->state = FLOW_BODY;
		return elapsed(moved, used & ~HEAD_ENDS);
	}
	if (used < moved) { /* too long, or in parts: its end is not seen */
		f->body = BODY_UNTIL_CLOSE;
		f->state = FLOW_BODY;
		if (f->outcome == OUTCOME_OPEN)
			f->outcome = OUTCOME_UNKNOWN;
	}
	return 0;
}

static __always_inline void on_write(struct thread_cell *t, struct pt_regs *regs, u8 buffer,
				     u64 moved, u64 now)
{
	u64 inode = socket_inode(t->call_fd);
	u32 slot1 = inode ? flow_on(t, inode) : 0;
	struct flow *f = flow_at(slot1);
	u64 written = moved;
	bool head;

	if (!f || !flow_is_open(f))
		return;
	head = f->state != FLOW_BODY;
	if (head)
		written = head_bytes(f, slot1, regs, buffer, moved);
	f->last_write_ns = now;
	if (f->state != FLOW_BODY)
		return;
	look_at_body(f, slot1, regs, buffer, moved, written);
	if (f->body == BODY_STREAM)
		current_ends(slot1, now, INTERACTION_SESSION, now);
	else if (body_bytes(f, regs, buffer, moved, written))
		current_ends(slot1, now, f->response.code, now);
}

static __always_inline void on_close(struct thread_cell *t, u64 now)
{
	u64 inode = socket_inode(t->call_fd);
	u32 slot1 = inode ? flow_find(inode) : 0;
	struct flow *f = flow_at(slot1);

	/* A server that forks closes its copy while its child serves. */
	if (!f || f->tgid != t->tgid)
		return;
	if (f->state == FLOW_BODY && f->body == BODY_UNTIL_CLOSE)
		current_ends(slot1, f->last_write_ns, f->response.code, now);
	else if (flow_is_open(f))
		current_ends(slot1, now, INTERACTION_ABORTED, now);
	else if (f->state == FLOW_STREAM)
		charge(cells_of(f->account), CELL_SESSIONS_CLOSED, 1);
	flow_release(f, slot1 - 1);
}

/* --- for the hooks --- */

static __always_inline void interactions_enter(struct thread_cell *t, u32 nr, u64 now)
{
	struct process_cell *p = interactions_of(t);
	struct flow *f;

	if (!p || nr >= NR_CALL_SLOTS)
		return;
	if (p->owner.mode == OWNER_GO)
		go_switch(t, p, now);
	else
		thread_switch(t, p, nr, now);
	if (cfg.calls[nr].buffer == BUFFER_CLOSE && !cfg.nr_functions)
		on_close(t, now);
	f = flow_of(t);
	if (f)
		add(&f->enters, 1);
}

static __always_inline void interactions_exit(struct thread_cell *t, struct pt_regs *regs, u32 nr,
					      long ret, u64 now)
{
	struct process_cell *p;
	u8 buffer;

	if (ret < 0 || nr >= NR_CALL_SLOTS || cfg.nr_functions)
		return;
	p = interactions_of(t);
	if (!p)
		return;
	buffer = cfg.calls[nr].buffer;
	if (group_on(GROUP_QUEUE) && buffer == BUFFER_ACCEPT)
		current_accepts(ret);
	else if (!ret)
		return;
	else if (cfg.calls[nr].io == CALL_IO_READ && buffer >= BUFFER_PLAIN)
		on_read(t, regs, buffer, ret, now);
	else if (cfg.calls[nr].io == CALL_IO_WRITE && p->open_flows)
		on_write(t, regs, buffer, ret, now);
}

/* A thread that leaves its CPU in user mode may work for somebody else than at its last call. */
__noinline int current_leaves_user_mode(u64 now)
{
	struct thread_cell *t = thread_of_current();
	struct process_cell *p = t ? interactions_of(t) : NULL;

	if (p && p->owner.mode == OWNER_GO && (p->open_flows || t->flow))
		go_switch(t, p, now);
	return 0;
}

#endif /* SKYOBSERVE_INTERACTIONS_BPF_H */
