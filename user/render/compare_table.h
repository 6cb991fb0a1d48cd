/* SPDX-License-Identifier: MIT */
/* Two sets of runs beside each other, in lines of 80 columns. Pure. */
#ifndef SKYOBSERVE_RENDER_COMPARE_TABLE_H
#define SKYOBSERVE_RENDER_COMPARE_TABLE_H

#include "user/base/buf.h"
#include "user/model/summary.h"

#define MAX_COMPARED 64 /* runs of a side */

struct compare_side {
	const struct summary *runs[MAX_COMPARED];
	size_t n;
};

/*
 * Append each quantity's range on both sides, whether they overlap, and what luck alone would do.
 * Returns how many rows are unresolved. Check buf->failed.
 */
size_t compare_table_render(const struct compare_side *a, const struct compare_side *b, bool colour,
			    struct buf *buf);

#endif /* SKYOBSERVE_RENDER_COMPARE_TABLE_H */
