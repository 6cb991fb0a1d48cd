/* SPDX-License-Identifier: MIT */
/* Groups of processes by their names. Pure. */
#define _GNU_SOURCE /* qsort_r */
#include "user/model/name_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct grouping {
	const struct snapshot *snap;
	bool by_pid;
};

static int by_group(const struct grouping *by, size_t a, size_t b)
{
	const struct process_identity *x = &by->snap->processes[a].id;
	const struct process_identity *y = &by->snap->processes[b].id;
	int r = strcmp(x->name, y->name);

	if (r || !by->by_pid || x->pid == y->pid)
		return r;
	return x->pid < y->pid ? -1 : 1;
}

static int by_group_and_place(const void *a, const void *b, void *by)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int r = by_group(by, x, y);

	if (r)
		return r;
	return x < y ? -1 : 1;
}

int name_groups_find(const struct snapshot *snap, bool by_pid, struct name_groups *ret_groups)
{
	struct grouping by = { snap, by_pid };
	size_t n = snap->nr_processes;
	struct name_groups g = { calloc(n + 1, sizeof(*g.order)), calloc(n + 1, sizeof(*g.next)),
				 calloc(n + 1, sizeof(*g.led)) };

	*ret_groups = g;
	if (!g.order || !g.next || !g.led)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		g.order[i] = i;
	qsort_r(g.order, n, sizeof(*g.order), by_group_and_place, &by);
	for (size_t i = 1; i < n; i++) {
		if (by_group(&by, g.order[i - 1], g.order[i]))
			continue;
		g.next[g.order[i - 1]] = g.order[i];
		g.led[g.order[i]] = true;
	}
	return 0;
}

void name_groups_done(struct name_groups *groups)
{
	free(groups->order);
	free(groups->next);
	free(groups->led);
	*groups = (struct name_groups){ 0 };
}
