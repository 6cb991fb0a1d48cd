/* SPDX-License-Identifier: MIT */
/*
 * Open connections and their deadlines.
 *
 * libmicrohttpd's own timeout starts again with each byte, so a client that sends one byte a second
 * would keep its connection for ever, and enough of them would keep everybody else out. Here a
 * deadline belongs to what the client has to do, however slowly it does it.
 */
#ifndef SKYOBSERVE_HTTP_CONNS_H
#define SKYOBSERVE_HTTP_CONNS_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

enum conn_phase {
	CONN_NEW,	/* accepted; its first request must arrive */
	CONN_IDLE,	/* has been served, may ask again */
	CONN_RECEIVING, /* a further request has begun to arrive */
	CONN_ANSWERING, /* asked; must take its answer */
	NR_CONN_PHASES
};

/* Zeroed by its owner before conns_add. */
struct conn {
	struct conn *next, **link;
	int fd; /* not owned */
	bool over_loopback;
	bool has_body; /* being sent an answer that counts towards the limit of requests */
	bool closing;  /* shut down; waits to be taken away */
	enum conn_phase phase;
	u64 since_ns; /* when the phase began */
};

struct conns {
	struct conn *first;
	size_t n;
	u64 limits_ns[NR_CONN_PHASES];
};

void conns_add(struct conns *conns, struct conn *c, u64 now_ns);
void conns_remove(struct conns *conns, struct conn *c);

/* A phase begins. */
void conn_enter(struct conn *c, enum conn_phase phase, u64 now_ns);

/* Shut down the sockets whose time is over; returns their number. */
size_t conns_expire(struct conns *conns, u64 now_ns);

/*
 * Shut down the connection that has been without an answer to take for longest (of those being
 * answered, the oldest, if there is no other), but not @except.
 */
void conns_evict(struct conns *conns, const struct conn *except);

/* How many are open and not about to be closed; of them, how many are sent a counted answer. */
size_t conns_open(const struct conns *conns);
size_t conns_busy(const struct conns *conns);

/* The earliest deadline, or (u64)-1. */
u64 conns_deadline_ns(const struct conns *conns);

#endif /* SKYOBSERVE_HTTP_CONNS_H */
