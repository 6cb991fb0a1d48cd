/* SPDX-License-Identifier: MIT */
/* Which processes of a snapshot are published together: those of one name. */
#ifndef SKYOBSERVE_MODEL_NAME_GROUPS_H
#define SKYOBSERVE_MODEL_NAME_GROUPS_H

#include "user/model/snapshot.h"

/* By process of the snapshot. */
struct name_groups {
	size_t *order; /* all of them by name, then as they come */
	size_t *next;  /* the next one of its group; 0: it is the last */
	bool *led;     /* it is somebody's next */
};

/*
 * Find the groups: processes of one name, and of one pid if @by_pid. Returns 0 or -ENOMEM;
 * name_groups_done either way. Cost: a sort.
 */
int name_groups_find(const struct snapshot *snap, bool by_pid, struct name_groups *ret_groups);
void name_groups_done(struct name_groups *groups);

#endif /* SKYOBSERVE_MODEL_NAME_GROUPS_H */
