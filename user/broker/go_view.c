/* SPDX-License-Identifier: MIT */
/* What the broker says of Go programs, and what is left of it when it says nothing. */
#include "user/broker/go_view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/base/clock.h"

/* The file of a program is waited for by the broker; then there is still time for its answer. */
#define MAX_PATIENCE_NS (2 * NS_PER_SEC)
#define MARGIN_NS	(500 * NS_PER_MS)

static u32 patience_ms(u64 deadline_ns)
{
	u64 now_ns = clock_monotonic_ns() + MARGIN_NS;
	u64 left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;

	return (u32)((left_ns < MAX_PATIENCE_NS ? left_ns : MAX_PATIENCE_NS) / NS_PER_MS);
}

static void fill_last(const struct go_view *view, struct go_stats *ret_stats)
{
	*ret_stats = (struct go_stats){ .counted = view->counted, .counters = view->last };
}

static void take(struct go_view *view, const struct broker_go *go, struct go_stats *ret_stats)
{
	if (go->counted) {
		struct go_counters now = go->counters;

		go_counters_floor(&view->last, &now);
		view->last = now;
		view->counted = true;
	}
	if (go->program.known)
		view->program = go->program;
	fill_last(view, ret_stats);
	if (go->state != BROKER_GO_CURRENT)
		return;
	ret_stats->current = true;
	ret_stats->gauges = go->gauges;
}

static void note(const struct broker_go *go, pid_t pid, struct go_view_sum *sum)
{
	sum->read += go->state == BROKER_GO_CURRENT;
	if (go->state == BROKER_GO_REFUSED && !sum->refused++ && !sum->silent)
		snprintf(sum->why, sizeof(sum->why), "process %d: %.130s", (int)pid, go->why);
}

void go_view_begin(struct broker_client *client, pid_t pid)
{
	const struct broker_request request = { .op = BROKER_GO_BEGIN, .pid = pid };
	const struct broker_reply *reply;
	struct err err;

	/* If it fails, it is begun when it is read. */
	(void)broker_ask(client, &request, clock_monotonic_ns() + BROKER_DEADLINE_NS, &reply, &err);
}

void go_view_read(struct go_view *view, struct broker_client *client,
		  const struct process_identity *id, u64 deadline_ns, struct go_view_sum *sum,
		  struct go_stats *ret_stats)
{
	const struct broker_request request = { .op = BROKER_GO_READ,
						.pid = id->pid,
						.start_ticks = id->start_ticks,
						.patience_ms = patience_ms(deadline_ns) };
	const struct broker_reply *reply;
	struct broker_go none = { .state = BROKER_GO_REFUSED };
	struct err err = { { 0 } };
	int r;

	fill_last(view, ret_stats);
	if (sum->silent)
		return;
	view->asked = true;
	r = broker_ask(client, &request, deadline_ns, &reply, &err);
	if (!r) {
		note(&reply->go, id->pid, sum);
		take(view, &reply->go, ret_stats);
	} else if (broker_is_silent(r)) {
		sum->silent = true;
		snprintf(sum->why, sizeof(sum->why), "%.150s", err.text);
	} else if (r != -ESRCH) { /* that it has ended is no failure */
		snprintf(none.why, sizeof(none.why), "%s", strerror(-r));
		note(&none, id->pid, sum);
	}
}

void go_view_ended(struct go_view *view, struct broker_client *client,
		   const struct process_identity *id, struct go_stats *ret_stats)
{
	const struct broker_request request = { .op = BROKER_GO_DONE,
						.pid = id->pid,
						.start_ticks = id->start_ticks };
	const struct broker_reply *reply;
	struct err err;
	int r = -EBUSY;

	fill_last(view, ret_stats);
	if (!view->asked)
		return;
	r = broker_ask(client, &request, clock_monotonic_ns() + BROKER_DEADLINE_NS, &reply, &err);
	view->asked = r == -EBUSY || r == -ETIMEDOUT; /* later, then */
}

void go_view_state(const struct go_view_sum *sum, struct group_state *ret_state)
{
	ret_state->up = !sum->silent && (sum->read || !sum->refused);
	if (sum->silent || sum->refused)
		snprintf(ret_state->reason, sizeof(ret_state->reason), "%s", sum->why);
	else if (sum->read)
		snprintf(ret_state->reason, sizeof(ret_state->reason), "memory of %u process%s",
			 sum->read, sum->read == 1 ? "" : "es");
	else
		snprintf(ret_state->reason, sizeof(ret_state->reason), "%s",
			 "no Go program is observed");
}
