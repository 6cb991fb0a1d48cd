/* SPDX-License-Identifier: MIT */
/* The live table for a terminal of 80 columns. Pure. */
#ifndef SKYOBSERVE_RENDER_TABLE_H
#define SKYOBSERVE_RENDER_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "user/base/buf.h"
#include "user/model/family.h"

#define TABLE_WIDTH 80

struct table_input {
	const struct family_set *prev; /* start of the interval; NULL: counters began at 0 */
	const struct family_set *now;  /* its end */
	u64 interval_ns;	       /* its length, above 0 */
	bool totals;		       /* what happened in the interval, not how often per second */
	bool rates_too;	      /* with @totals: calls per second, in place of those in flight */
	const char *address;  /* where to scrape ("http://127.0.0.1:19435/metrics"), or NULL */
	size_t max_syscalls;  /* rows of system calls per process; 0: 12 */
	size_t max_processes; /* processes shown; 0: 4. The rest is said to be left out */
	bool colour;	      /* the terminal understands SGR sequences */
};

/*
 * Append one picture of lines of at most TABLE_WIDTH columns, each ended by a newline, without
 * moving the cursor or clearing anything: the caller does that. Bytes of strangers (names of
 * processes) reach the terminal only as printable ASCII; anything else is a '?'.
 *
 * What was not measured is left out of the numbers and named under "not measured".
 *
 * Returns 0; -ENOMEM if a set is incomplete or memory ran out; -EINVAL without an interval.
 */
int table_render(const struct table_input *in, struct buf *buf);

/* Append what it means that @breaks of @switches were not reported (I-17), in the same width. */
void table_render_chain(u64 breaks, u64 switches, bool colour, struct buf *buf);

#endif /* SKYOBSERVE_RENDER_TABLE_H */
