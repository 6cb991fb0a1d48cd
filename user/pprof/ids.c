/* SPDX-License-Identifier: MIT */
/* Rows by the ids that a file gives them. */
#include "user/pprof/ids.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
	const struct id_row *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

bool ids_sort(struct ids *ids, u64 *ret_id)
{
	if (ids->n)
		qsort(ids->rows, ids->n, sizeof(*ids->rows), compare);
	for (u32 i = 0; i < ids->n; i++) {
		*ret_id = ids->rows[i].id;
		if (!*ret_id || (i && *ret_id == ids->rows[i - 1].id))
			return false;
	}
	return true;
}

bool ids_find(const struct ids *ids, u64 id, u32 *ret_index)
{
	const struct id_row wanted = { .id = id };
	const struct id_row *row;

	/* Most writers count from 1. */
	if (id - 1 < ids->n && ids->rows[id - 1].id == id)
		row = &ids->rows[id - 1];
	else
		row = ids->n ? bsearch(&wanted, ids->rows, ids->n, sizeof(*ids->rows), compare)
			     : NULL;
	if (!row)
		return false;
	*ret_index = row->index;
	return true;
}
