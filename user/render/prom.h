/* SPDX-License-Identifier: MIT */
/* Families as Prometheus reads them: text 0.0.4 and OpenMetrics 1.0.0. Pure. */
#ifndef SKYOBSERVE_RENDER_PROM_H
#define SKYOBSERVE_RENDER_PROM_H

#include "user/base/buf.h"
#include "user/model/family.h"

enum prom_format {
	PROM_TEXT,	  /* text/plain; version=0.0.4 */
	PROM_OPENMETRICS, /* application/openmetrics-text; version=1.0.0 */
};

/*
 * Append all families of @set that have samples, in the order of the table.
 *
 * Nanoseconds are printed as exact decimal seconds, counts as integers, reals with the fewest
 * digits that read back as the same number. Histograms show their power-of-two bounds (see
 * PROM_BOUND_STEP in the .c) and +Inf. Broken UTF-8 and control bytes in label values become
 * U+FFFD. `_created` appears in OpenMetrics only, where the model knows it.
 *
 * Returns 0; -ENOMEM if @set is incomplete or @buf failed: then nothing of it is to be served.
 */
int prom_render(const struct family_set *set, enum prom_format format, struct buf *buf);

#endif /* SKYOBSERVE_RENDER_PROM_H */
