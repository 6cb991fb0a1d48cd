/* SPDX-License-Identifier: MIT */
/* Giving up everything but reading what is open and answering. */
#ifndef SKYOBSERVE_RUNTIME_CONFINE_H
#define SKYOBSERVE_RUNTIME_CONFINE_H

/*
 * Of this process, for ever: all descriptors above @max_fd, capabilities, memory beyond a bound,
 * and every system call that is not needed for reading, computing and writing. 0 or a negative
 * errno.
 */
int confine_self(int max_fd);

#endif /* SKYOBSERVE_RUNTIME_CONFINE_H */
