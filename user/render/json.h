/* SPDX-License-Identifier: MIT */
/*
 * Families as JSON, for programs (/snapshot). Pure.
 *
 *	{"families": {"skyobserve_cpu_seconds_total": {
 *		"type": "counter", "unit": "seconds", "method": "exact", "help": "...",
 *		"samples": [{"labels": {"process": "app"}, "created": 1700000000, "value": 1.25}]}}}
 *
 * A sample of a histogram has "sum", "count" and "buckets" instead of "value": a list of
 * [upper bound, observations at or below it] with every bound of hist.h, the last one "+Inf".
 *
 * Numbers are exact decimals however large: counts are integers up to 2^64 - 1 and times are
 * seconds with up to nine decimals. A reader that turns them into doubles rounds above 2^53 by
 * itself. JSON has no NaN or infinity: these are the strings "NaN", "+Inf" and "-Inf".
 */
#ifndef SKYOBSERVE_RENDER_JSON_H
#define SKYOBSERVE_RENDER_JSON_H

#include "user/base/buf.h"
#include "user/model/family.h"

/* Append @set. Returns 0; -ENOMEM if @set is incomplete or @buf failed. */
int json_render(const struct family_set *set, struct buf *buf);

/* Append @text as a string with its quotes, as above. */
void json_string(const char *text, struct buf *buf);

#endif /* SKYOBSERVE_RENDER_JSON_H */
