/* SPDX-License-Identifier: MIT */
/*
 * Fetching a CPU profile of the window that is recorded: by curl(1), a child without privileges
 * that was made before we gave up the right to make one.
 */
#ifndef SKYOBSERVE_CMD_FETCH_H
#define SKYOBSERVE_CMD_FETCH_H

#include <stdbool.h>

#include "types.h"
#include "user/base/err.h"

struct fetch;

/* More than any profile of some minutes has. */
#define FETCH_MAX_BYTES (64u << 20)

/* What the server may take beyond the seconds that it was asked for. */
#define FETCH_GRACE_SECONDS 15

/*
 * Make the child that will fetch @url (http or https; `seconds=@seconds` is added unless the URL
 * has it already) and write what it gets to @out_fd. Returns 0, -EINVAL for what is no such URL, or
 * another negative errno, with @err. For a process that has one thread.
 */
int fetch_prepare(const char *url, u64 seconds, int out_fd, struct fetch **ret_fetch,
		  struct err *err);

/* Now. */
void fetch_go(struct fetch *f);

/* Readable when there is something to do: then call fetch_step. */
int fetch_fd(const struct fetch *f);

/* True when it is over. */
bool fetch_step(struct fetch *f);
bool fetch_is_over(const struct fetch *f);

/* How it went: "fetched", or why not, in words of curl's. */
const char *fetch_state(const struct fetch *f);

/* Where it came from, without what may be secret: user, password, query. */
const char *fetch_url(const struct fetch *f);

/* When the request was made and when all was there, monotonic ns; 0 if it was not. */
u64 fetch_begin_ns(const struct fetch *f);
u64 fetch_end_ns(const struct fetch *f);

/* It ends if it did not yet. NULL is fine. */
void fetch_free(struct fetch *f);

#endif /* SKYOBSERVE_CMD_FETCH_H */
