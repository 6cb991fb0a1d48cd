/* SPDX-License-Identifier: MIT */
/* How a window went, by its snapshots in between: the part of a report on a record. Pure. */
#ifndef SKYOBSERVE_RENDER_RECORD_SERIES_H
#define SKYOBSERVE_RENDER_RECORD_SERIES_H

#include "user/model/record.h"
#include "user/render/paper.h"

/* Nothing, with fewer than three intervals. */
void record_series_print(const struct record *r, struct paper *p);

#endif /* SKYOBSERVE_RENDER_RECORD_SERIES_H */
