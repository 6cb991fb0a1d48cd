/* SPDX-License-Identifier: MIT */
/* Small text files of the kernel, whole. */
#ifndef SKYOBSERVE_PROC_TEXT_H
#define SKYOBSERVE_PROC_TEXT_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Read at most @n - 1 bytes of @path; whatever is returned, @ret_text is NUL-terminated (@n > 0).
 * Does not wait for a pipe's writer, nor become a terminal's owner. Returns the length or a
 * negative errno.
 */
ssize_t proc_read_text(const char *path, char *ret_text, size_t n);

#endif /* SKYOBSERVE_PROC_TEXT_H */
