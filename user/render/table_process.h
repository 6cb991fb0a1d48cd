/* SPDX-License-Identifier: MIT */
/* The part of the live table that belongs to one process. */
#ifndef SKYOBSERVE_RENDER_TABLE_PROCESS_H
#define SKYOBSERVE_RENDER_TABLE_PROCESS_H

#include "user/render/activity.h"
#include "user/render/paper.h"
#include "user/render/table.h"

/* Column at which what follows a line's label stands. */
#define TABLE_INDENT 16

/* Print what @a did in the interval of @in. */
void table_print_process(const struct table_input *in, const struct activity *a, struct paper *p);

#endif /* SKYOBSERVE_RENDER_TABLE_PROCESS_H */
