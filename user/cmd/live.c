/* SPDX-License-Identifier: MIT */
/* The live table on the terminal, and the summary at the end. */
#include "user/cmd/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/standard.h"
#include "user/http/server.h"
#include "user/render/table.h"

struct live {
	struct family_set last;
	bool has_last;
	u64 last_ns;
	bool on_terminal;
	struct buf url;
};

struct live *live_new(const struct http_server *http)
{
	struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return NULL;
	live->last_ns = observer_now();
	live->on_terminal = isatty(STDOUT_FILENO);
	http_server_url(http, 0, &live->url);
	return live;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	family_set_done(&live->last);
	buf_done(&live->url);
	free(live);
}

void live_show(struct live *live, struct observer *o)
{
	struct family_set now = { 0 };
	struct buf out = { 0 };
	struct err err = { { 0 } };
	u64 at = observer_now();
	int r;
	struct table_input in = {
		.prev = live->has_last ? &live->last : NULL,
		.now = &now,
		.interval_ns = at > live->last_ns ? at - live->last_ns : 1,
		.address = live->url.bytes,
		.colour = live->on_terminal && !getenv("NO_COLOR"),
	};

	if (observer_publish(o, &now, &err)) {
		log_warn_once("no picture: %s", err.text);
		family_set_done(&now);
		return;
	}
	if (live->on_terminal)
		buf_str(&out, "\033[H\033[2J"); /* home, clear */
	if (!table_render(&in, &out)) {
		if (!live->on_terminal)
			buf_char(&out, '\n');
		r = standard_print(&out);
		if (r)
			log_warn_once("the table could not be written: %s", strerror(-r));
	}
	buf_done(&out);
	family_set_done(&live->last);
	live->last = now;
	live->has_last = true;
	live->last_ns = at;
}

void live_summary(struct observer *o)
{
	struct family_set now = { 0 };
	struct buf out = { 0 };
	struct err err = { { 0 } };
	u64 age = observer_age_ns(o);
	struct table_input in = { .now = &now, .interval_ns = age ? age : 1, .totals = true };

	observer_name_all(o);
	if (observer_publish(o, &now, &err))
		log_warn("no summary: %s", err.text);
	else if (!table_render(&in, &out))
		fprintf(stderr, "\nTotals of the observation:\n%s", out.bytes);
	buf_done(&out);
	family_set_done(&now);
}
