/* SPDX-License-Identifier: MIT */
/*
 * Which names have series of their own: at most so many, the dearest by CPU time; all the rest goes
 * by one name. Knows names and CPU time, no processes.
 *
 * While there is room, every name has its series. Then a name is let in when it has used twice the
 * CPU time of the cheapest that has one, and 100 ms more; that one has to go. So none comes and
 * goes all the time. What names without series used is remembered of twice as many as have one.
 */
#ifndef SKYOBSERVE_MODEL_NAMES_H
#define SKYOBSERVE_MODEL_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "types.h"

struct names;

struct name_entry {
	char *text;
	pid_t pid;    /* where pids are labels, else 0 */
	bool shown;   /* it has series of its own */
	bool pinned;  /* it is never without them: the caller's, as of names_begin */
	u32 users;    /* processes that live: the caller's. An entry with any stays */
	u64 ended_ns; /* CPU time of its processes that ended: the caller adds to it */
	u64 cpu_ns;   /* of all: the caller adds those that live after names_begin */
};

/* NULL when memory runs out. */
struct names *names_new(size_t max_shown);
void names_free(struct names *names);

/* The entry of a name, made if there is none; it stays while it is shown or has users. NULL without
 * memory. */
struct name_entry *names_find(struct names *names, const char *text, pid_t pid);

/* Before CPU time is added up: cpu_ns is that of processes that ended, and nobody is pinned. */
void names_begin(struct names *names);

/*
 * The next exchange that is due, until it returns false: @ret_in has series from now on, and
 * @ret_out (NULL: there was room) none any more.
 */
bool names_exchange(struct names *names, struct name_entry **ret_in, struct name_entry **ret_out);

/* Forget names beyond the bound that nobody needs; entries that are not shown and have no users may
 * go. */
void names_trim(struct names *names);

size_t names_shown(const struct names *names);

#endif /* SKYOBSERVE_MODEL_NAMES_H */
