/* SPDX-License-Identifier: MIT */
/* Buckets of a profile for people. */
#ifndef SKYOBSERVE_RENDER_BUCKET_TABLE_H
#define SKYOBSERVE_RENDER_BUCKET_TABLE_H

#include "user/base/buf.h"
#include "user/model/buckets.h"
#include "user/model/profile.h"

/*
 * Append @table, which @rules made from values of type @type: the partition, then what may not be
 * added to it, then what is wrong with the rules. Names are cleaned.
 */
void bucket_table(const struct bucket_table *table, const char *rules,
		  const struct profile_type *type, struct buf *out);

#endif /* SKYOBSERVE_RENDER_BUCKET_TABLE_H */
