/* SPDX-License-Identifier: MIT */
/* What a command prints, as a whole. */
#ifndef SKYOBSERVE_CMD_REPORT_H
#define SKYOBSERVE_CMD_REPORT_H

#include "user/base/buf.h"

/*
 * Print @out on standard output. Returns @status; if it could not be written this is said, and
 * EXIT_GOOD becomes EXIT_FAILED.
 */
int report_print(const struct buf *out, int status);

#endif /* SKYOBSERVE_CMD_REPORT_H */
