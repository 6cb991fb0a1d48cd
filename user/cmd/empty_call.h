/* SPDX-License-Identifier: MIT */
/* What a system call costs that does nothing. */
#ifndef SKYOBSERVE_CMD_EMPTY_CALL_H
#define SKYOBSERVE_CMD_EMPTY_CALL_H

#include "types.h"

/*
 * CPU time of one getppid(2) of ours, with whatever is attached now: the median of some batches. It
 * is an upper bound for the way into a call and out of it, which is in no stamp of ours.
 */
u64 empty_call_ns(void);

#endif /* SKYOBSERVE_CMD_EMPTY_CALL_H */
