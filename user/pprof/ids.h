/* SPDX-License-Identifier: MIT */
/* Rows by the ids that a file gives them. */
#ifndef SKYOBSERVE_PPROF_IDS_H
#define SKYOBSERVE_PPROF_IDS_H

#include <stdbool.h>

#include "types.h"

struct id_row {
	u64 id;
	u32 index;
};

struct ids {
	struct id_row *rows; /* the owner's to free */
	u32 n;
};

/* Sort the rows. False if an id is 0 or there twice; then *ret_id is that one. */
bool ids_sort(struct ids *ids, u64 *ret_id);
/* False if there is no such id. */
bool ids_find(const struct ids *ids, u64 id, u32 *ret_index);

#endif /* SKYOBSERVE_PPROF_IDS_H */
