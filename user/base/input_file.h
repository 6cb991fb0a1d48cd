/* SPDX-License-Identifier: MIT */
/* The bytes of a file that somebody named. */
#ifndef SKYOBSERVE_BASE_INPUT_FILE_H
#define SKYOBSERVE_BASE_INPUT_FILE_H

#include "user/base/buf.h"
#include "user/base/err.h"

/*
 * Append what @fd holds from where it stands. -EFBIG: more than @max_bytes; -ENOMEM; or the errno
 * of reading. They are not looked at: that is for a confined process.
 */
int input_file_read(int fd, size_t max_bytes, struct buf *ret_bytes, struct err *err);

#endif /* SKYOBSERVE_BASE_INPUT_FILE_H */
