/* SPDX-License-Identifier: MIT */
/* The live table on the terminal, and the summary at the end. */
#ifndef SKYOBSERVE_CMD_LIVE_H
#define SKYOBSERVE_CMD_LIVE_H

#include "user/cmd/observer.h"

struct live;
struct http_server;

/* NULL when memory runs out (then there is no table). The table names @http's first address. */
struct live *live_new(const struct http_server *http);
void live_free(struct live *live);

/* Show what happened since the last call (since the beginning, the first time) on stdout. */
void live_show(struct live *live, struct observer *o);

/* The totals of the whole observation, on stderr. */
void live_summary(struct observer *o);

#endif /* SKYOBSERVE_CMD_LIVE_H */
