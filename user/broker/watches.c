/* SPDX-License-Identifier: MIT */
/* Go programs by process. Knows how to find them, not how they are read. */
#include "user/broker/watches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/broker/go_watch.h"
#include "user/proc/procfs.h"

struct watched {
	pid_t pid;
	u64 start_ticks;
	struct go_watch go;
};

struct watches {
	struct go_programs *programs;
	struct watched *at;
	size_t n, max;
};

struct watches *watches_new(size_t max)
{
	struct watches *watches = calloc(1, sizeof(*watches));

	if (!watches)
		return NULL;
	watches->max = max;
	watches->programs = go_programs_new();
	if (!watches->programs) {
		free(watches);
		return NULL;
	}
	return watches;
}

void watches_free(struct watches *watches)
{
	if (!watches)
		return;
	for (size_t i = 0; i < watches->n; i++)
		go_watch_done(&watches->at[i].go);
	go_programs_free(watches->programs);
	free(watches->at);
	free(watches);
}

void watches_begin(struct watches *watches, pid_t pid)
{
	go_watch_begin(watches->programs, pid);
}

static struct watched *find(const struct watches *watches, pid_t pid, u64 start_ticks)
{
	for (size_t i = 0; i < watches->n; i++) {
		if (watches->at[i].pid == pid && watches->at[i].start_ticks == start_ticks)
			return &watches->at[i];
	}
	return NULL;
}

static int find_or_add(struct watches *watches, pid_t pid, u64 start_ticks,
		       struct watched **ret_watched)
{
	struct watched *grown;

	*ret_watched = find(watches, pid, start_ticks);
	if (*ret_watched)
		return 0;
	if (watches->n >= watches->max)
		return -ENOSPC;
	grown = realloc(watches->at, (watches->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	watches->at = grown;
	grown[watches->n] = (struct watched){ .pid = pid, .start_ticks = start_ticks };
	*ret_watched = &grown[watches->n++];
	return 0;
}

static bool is_there(pid_t pid, u64 start_ticks)
{
	struct proc_stat stat;

	return !procfs_stat("/proc", pid, &stat) && stat.start_ticks == start_ticks;
}

int watches_owner(struct watches *watches, pid_t pid, struct broker_owner *ret_owner)
{
	return go_watch_owner(watches->programs, pid, &ret_owner->how, ret_owner->why);
}

int watches_read(struct watches *watches, pid_t pid, u64 start_ticks, u64 patience_ns,
		 struct broker_go *ret_go)
{
	struct go_stats stats;
	struct watched *w;
	int r;

	if (!is_there(pid, start_ticks)) {
		watches_done(watches, pid, start_ticks);
		return -ESRCH;
	}
	r = find_or_add(watches, pid, start_ticks, &w);
	if (r)
		return r;
	go_watch_read(watches->programs, &w->go, pid, patience_ns, &stats);
	/* The number may have got a new owner while it was read: that one's sums are not these. */
	if (!is_there(pid, start_ticks)) {
		watches_done(watches, pid, start_ticks);
		return -ESRCH;
	}
	ret_go->state = w->go.refused	? BROKER_GO_REFUSED
			: stats.current ? BROKER_GO_CURRENT
					: BROKER_GO_NONE;
	ret_go->counted = stats.counted;
	ret_go->counters = stats.counters;
	ret_go->gauges = stats.gauges;
	ret_go->program = w->go.facts;
	snprintf(ret_go->why, sizeof(ret_go->why), "%s", w->go.why);
	return 0;
}

void watches_done(struct watches *watches, pid_t pid, u64 start_ticks)
{
	struct watched *w = find(watches, pid, start_ticks);

	if (!w)
		return;
	go_watch_done(&w->go);
	*w = watches->at[--watches->n];
}
