/* SPDX-License-Identifier: MIT */
/* Numbers as decimal text, exactly. The locale must be "C", which it is unless somebody sets it. */
#ifndef SKYOBSERVE_RENDER_NUMBER_H
#define SKYOBSERVE_RENDER_NUMBER_H

#include "types.h"
#include "user/base/buf.h"

/* Append an integer. (Most of a scrape is integers; printf would be most of its time.) */
void number_count(u64 count, struct buf *buf);

/* Append @ns nanoseconds in seconds: all digits that matter, none that do not ("0.5", "3"). */
void number_seconds(u64 ns, struct buf *buf);

/*
 * Append @real with the fewest digits that read back as the same double, in the layout of Go's
 * strconv.FormatFloat(x, 'g', -1, 64), which all Prometheus clients share: an exponent below 1e-4
 * and from 1e+06 digits on ("1.024e-06", "1e+06"); "NaN", "+Inf", "-Inf".
 *
 * Source: Go src/strconv/ftoa.go, formatDigits.
 */
void number_real(double real, struct buf *buf);

/* The same with ".0" if there is neither point nor exponent: OpenMetrics' form of bounds. */
void number_real_point(double real, struct buf *buf);

#endif /* SKYOBSERVE_RENDER_NUMBER_H */
