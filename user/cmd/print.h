/* SPDX-License-Identifier: MIT */
/* What a command prints, as a whole. */
#ifndef SKYOBSERVE_CMD_PRINT_H
#define SKYOBSERVE_CMD_PRINT_H

#include "user/base/buf.h"

/*
 * Print @out on standard output. Returns @status; if it could not be written this is said, and
 * EXIT_GOOD becomes EXIT_FAILED.
 */
int print_whole(const struct buf *out, int status);

/*
 * Make what a confined process answered (any bytes) lines of harmless text, as for a terminal: with
 * control characters and NUL replaced, in place.
 */
void print_clean(struct buf *text);

#endif /* SKYOBSERVE_CMD_PRINT_H */
