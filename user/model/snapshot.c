/* SPDX-License-Identifier: MIT */
/* A snapshot as a plain value. */
#include "user/model/snapshot.h"

#include <stdlib.h>

void snapshot_done(struct snapshot *snap)
{
	for (size_t i = 0; i < snap->nr_processes; i++) {
		struct process_snap *p = &snap->processes[i];

		free(p->call_hists);
		free(p->errors);
		free(p->foreign);
		free(p->kinds);
		free(p->threads);
	}
	free(snap->processes);
	free(snap->maps);
	free(snap->programs);
	*snap = (struct snapshot){ 0 };
}

void counters_add(void *sum, const void *more, size_t bytes)
{
	const u64 *from = more;
	u64 *to = sum;

	for (size_t i = 0; i < bytes / sizeof(u64); i++)
		to[i] += from[i];
}
