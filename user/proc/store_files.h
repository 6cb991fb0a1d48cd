/* SPDX-License-Identifier: MIT */
/* Whether a process has a certain file open for writing, and when that was changed. */
#ifndef SKYOBSERVE_PROC_STORE_FILES_H
#define SKYOBSERVE_PROC_STORE_FILES_H

#include <sys/types.h>

#include "user/model/store.h"

/*
 * Descriptors of @pid that lead to @path (as the process sees it), or to it with "-wal" or
 * "-journal", and were opened for writing. @root is "/proc", or a folder of ordinary files in
 * tests. Returns 0 or a negative errno.
 */
int procfs_store_files(const char *root, pid_t pid, const char *path,
		       struct store_files *ret_files);

#endif /* SKYOBSERVE_PROC_STORE_FILES_H */
