/* SPDX-License-Identifier: MIT */
/* Giving up everything but reading what is open and answering. */
#ifndef SKYOBSERVE_RUNTIME_CONFINE_H
#define SKYOBSERVE_RUNTIME_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Of this process, for ever: all descriptors above @max_fd, capabilities, memory beyond a bound,
 * and every system call that is not needed for reading, computing and writing. 0 or a negative
 * errno.
 */
int confine_self(int max_fd);

/* Descriptors of a confined process; 0 to 2 stay, for the sanitizers' reports. */
enum {
	CONFINED_FILE = 3, /* what it reads */
	CONFINED_PIPE,	   /* what it answers to */
	CONFINED_FREE,
};

/*
 * What a forked process does first: have @fd and @pipe_fd at those numbers and nothing else, then
 * confine_self. Returns what that returned; without the descriptors nobody can be told, it ends.
 */
int confine_begin(int fd, int pipe_fd);

/* Write all of it to CONFINED_PIPE. */
bool confine_answer(const void *bytes, size_t n);

#endif /* SKYOBSERVE_RUNTIME_CONFINE_H */
