/* SPDX-License-Identifier: MIT */
/* The bytes of the rules that --rules names. */
#ifndef SKYOBSERVE_CMD_RULES_FILE_H
#define SKYOBSERVE_CMD_RULES_FILE_H

#include "user/base/buf.h"
#include "user/base/err.h"

/*
 * Read @name: rules that are built in, or a file. A file of the name of built-in rules is ./NAME.
 * 0 or a negative errno, with @name in @err. They are not looked at: that is for a confined
 * process. The caller frees *ret_text in all cases.
 */
int rules_file_read(const char *name, struct buf *ret_text, struct err *err);

#endif /* SKYOBSERVE_CMD_RULES_FILE_H */
