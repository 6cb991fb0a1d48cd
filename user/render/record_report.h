/* SPDX-License-Identifier: MIT */
/* A record for people, in lines of 80 columns. Pure. */
#ifndef SKYOBSERVE_RENDER_RECORD_REPORT_H
#define SKYOBSERVE_RENDER_RECORD_REPORT_H

#include <stdbool.h>

#include "user/base/buf.h"
#include "user/model/record.h"

/*
 * Append what @r says, under the name @path: whether it is valid, the conditions, each process,
 * each kind of interactions, what was lost and what was not measured. Whatever bytes names have,
 * what is appended is printable ASCII, newlines and, with @colour, SGR sequences. Check
 * buf->failed.
 */
void record_report_render(const struct record *r, const char *path, bool colour, struct buf *buf);

/*
 * The same as JSON: {"file", "version", "window_seconds", "ended_by", "program_status", "valid",
 * "gates": [{"gate", "state", "text"}], "facts": {NAME: VALUE or [BEGIN, END]}, "begin": SNAPSHOT,
 * "end": SNAPSHOT}, each SNAPSHOT as in json.h. 0 or -ENOMEM.
 */
int record_report_json(const struct record *r, const char *path, struct buf *buf);

#endif /* SKYOBSERVE_RENDER_RECORD_REPORT_H */
