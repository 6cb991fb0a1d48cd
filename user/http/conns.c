/* SPDX-License-Identifier: MIT */
/* Deadlines of connections. Knows sockets, not HTTP. */
#include "user/http/conns.h"

#include <sys/socket.h>

void conns_add(struct conns *conns, struct conn *c, u64 now_ns)
{
	c->phase = CONN_NEW;
	c->since_ns = now_ns;
	c->next = conns->first;
	c->link = &conns->first;
	if (c->next)
		c->next->link = &c->next;
	conns->first = c;
	conns->n++;
}

void conns_remove(struct conns *conns, struct conn *c)
{
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	conns->n--;
}

void conn_enter(struct conn *c, enum conn_phase phase, u64 now_ns)
{
	c->phase = phase;
	c->since_ns = now_ns;
}

/* Both directions: the server then reads an end of file, or fails to write, and cleans up. */
static void conn_shut(struct conn *c)
{
	(void)shutdown(c->fd, SHUT_RDWR); /* fails if the peer was faster, which is as good */
	c->closing = true;
}

static u64 conn_deadline_ns(const struct conns *conns, const struct conn *c)
{
	return c->since_ns + conns->limits_ns[c->phase];
}

size_t conns_expire(struct conns *conns, u64 now_ns)
{
	size_t n = 0;

	for (struct conn *c = conns->first; c; c = c->next) {
		if (c->closing || now_ns < conn_deadline_ns(conns, c))
			continue;
		conn_shut(c);
		n++;
	}
	return n;
}

void conns_evict(struct conns *conns, const struct conn *except)
{
	struct conn *victim = NULL;

	for (struct conn *c = conns->first; c; c = c->next) {
		bool waits = c->phase != CONN_ANSWERING;

		if (c->closing || c == except)
			continue;
		if (!victim || (waits && victim->phase == CONN_ANSWERING) ||
		    (waits == (victim->phase != CONN_ANSWERING) && c->since_ns < victim->since_ns))
			victim = c;
	}
	if (victim)
		conn_shut(victim);
}

size_t conns_open(const struct conns *conns)
{
	size_t n = 0;

	for (const struct conn *c = conns->first; c; c = c->next)
		n += !c->closing;
	return n;
}

size_t conns_busy(const struct conns *conns)
{
	size_t n = 0;

	for (const struct conn *c = conns->first; c; c = c->next)
		n += c->has_body && !c->closing;
	return n;
}

u64 conns_deadline_ns(const struct conns *conns)
{
	u64 earliest = (u64)-1;

	for (const struct conn *c = conns->first; c; c = c->next) {
		u64 deadline = conn_deadline_ns(conns, c);

		if (!c->closing && deadline < earliest)
			earliest = deadline;
	}
	return earliest;
}
