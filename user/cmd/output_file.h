/* SPDX-License-Identifier: MIT */
/* The file that a command writes, while it is root or not. */
#ifndef SKYOBSERVE_CMD_OUTPUT_FILE_H
#define SKYOBSERVE_CMD_OUTPUT_FILE_H

#include "user/base/buf.h"
#include "user/base/err.h"

/*
 * Make the file @path, which must not exist (a link does), for its owner only: the user who called
 * sudo, with that user's rights, else whoever we are. Returns a descriptor for writing, or a
 * negative errno with @err.
 */
int output_file_create(const char *path, struct err *err);

/* Remove it again, with the same rights; for when nothing was written. */
void output_file_remove(const char *path);

/* Write all of it. 0 or a negative errno. */
int output_file_write(int fd, const struct buf *bytes);

#endif /* SKYOBSERVE_CMD_OUTPUT_FILE_H */
