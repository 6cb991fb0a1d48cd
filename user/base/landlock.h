/* SPDX-License-Identifier: MIT */
/* Which files a process may still open: Landlock (Linux 5.13, where it is switched on). */
#ifndef SKYOBSERVE_BASE_LANDLOCK_H
#define SKYOBSERVE_BASE_LANDLOCK_H

#include <stddef.h>

/*
 * For ever, of this process: open files only for reading and only below the folders @paths; what is
 * open stays open, and other processes may no longer be traced, whatever the capabilities. Needs
 * no_new_privs. Returns 0 or a negative errno: -ENOSYS or -EOPNOTSUPP where the kernel has no
 * Landlock. A folder that does not exist is left out.
 */
int landlock_read_only_below(const char *const *paths, size_t n);

#endif /* SKYOBSERVE_BASE_LANDLOCK_H */
