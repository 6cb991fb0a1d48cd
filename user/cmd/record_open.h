/* SPDX-License-Identifier: MIT */
/* The file of a record, to be read. */
#ifndef SKYOBSERVE_CMD_RECORD_OPEN_H
#define SKYOBSERVE_CMD_RECORD_OPEN_H

#include "user/base/err.h"

/*
 * Open @path: a regular file, without waiting on what only looks like one. Returns a descriptor or
 * a negative errno with @err, which names the file.
 */
int record_open(const char *path, struct err *err);

#endif /* SKYOBSERVE_CMD_RECORD_OPEN_H */
