/* SPDX-License-Identifier: MIT */
/*
 * The runtime's own statistics of a Go program that runs, read from its memory while it runs: no
 * probe, no signal, and nothing that it could notice.
 *
 * A plan says where things are; it is made from the program's file, refused with a reason if the
 * version has not been tested, and checked against each process before a number is believed.
 */
#ifndef SKYOBSERVE_RUNTIME_GO_LIVE_H
#define SKYOBSERVE_RUNTIME_GO_LIVE_H

#include <sys/types.h>

#include "user/model/go_stats.h"
#include "user/runtime/runtime.h"

/* Plain, and valid for every process of the program. */
struct go_live_plan {
	u64 base_vaddr;
	bool pie;
	u32 minor;
	u64 vaddrs[NR_GO_DATA];
	s32 offsets[NR_GO_FIELDS];
};

/*
 * -ENOENT: it is no Go program; -ENOTSUP: it is one, and @err says why it cannot be read.
 */
int go_live_plan(const struct target *target, struct go_live_plan *ret_plan, struct err *err);

struct go_live;

/*
 * Begin with a process. -EBADMSG: what is in its memory is not what the plan says; -ESTALE: it has
 * executed another program meanwhile; else as go_memory_open.
 */
int go_live_open(pid_t pid, const struct go_live_plan *plan, struct go_live **ret_live,
		 struct err *err);
void go_live_free(struct go_live *live);

/*
 * Read it now. Of a program that allocates meanwhile the totals are those of some moment between
 * the begin and the end of the call, less what was on its way from a cache to the sums; they are
 * never too high. Cost: some 50 us for two Ps, at most GO_LIVE_TRIES times.
 *
 * Errors, after which *ret_stats is untouched: -EAGAIN: it was changing all the time; -EBADMSG,
 * -ESTALE as above; -ESRCH: it has ended.
 */
int go_live_read(struct go_live *live, struct go_stats *ret_stats, struct err *err);

#define GO_LIVE_TRIES 12

#endif /* SKYOBSERVE_RUNTIME_GO_LIVE_H */
