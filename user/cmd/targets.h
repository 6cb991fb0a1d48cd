/* SPDX-License-Identifier: MIT */
/* From --pid, --comm, --exe, --cgroup and --all to processes that are observed. */
#ifndef SKYOBSERVE_CMD_TARGETS_H
#define SKYOBSERVE_CMD_TARGETS_H

#include "user/broker/client.h"
#include "user/cmd/observer.h"
#include "user/cmd/options.h"

/* Exit statuses of the program (docs/METRICS.md, "Exit status"). */
enum exit_status {
	EXIT_GOOD = 0,
	EXIT_FAILED = 1,
	EXIT_UNRESOLVED = 2,
	EXIT_INVALID = 3, /* the run is invalid, or the target is gone */
	EXIT_USAGE = 64,
	EXIT_MISSING = 69, /* privilege, or a feature of the kernel */
};

/*
 * Check what the command line names, before anything is attached. Returns EXIT_GOOD, or the status
 * to exit with and @err: no target named, `pgrep` found nothing, a process that does not exist, a
 * thread, a kernel thread.
 */
enum exit_status targets_check(const struct options *options, struct err *err);

/*
 * Observe the targets, say on stderr who they are (executable and user of each; a note for what is
 * left out: ourselves, the sudo wrapper; a warning if executables differ). Returns as above.
 */
enum exit_status targets_add(struct observer *o, struct broker_client *broker,
			     const struct options *options, struct err *err);

/*
 * Tell the programs which files --exe means now: a file may be replaced, or come later. A process
 * that executes the new one before this was called again is found by targets_rescan.
 */
void targets_want_files(struct observer *o, struct broker_client *broker,
			const struct options *options);

/* Say on stderr which targets the programs took in since. */
void targets_say_come(struct observer *o);

/*
 * Take in what appeared since of --comm, --exe and --cgroup, found by @broker (which may be NULL).
 * Those that cannot be observed are said once on stderr. One of --comm or --exe that is not in
 * @seen, the new ones of the last look, is only noted there: it may be in the middle of its exec,
 * and the programs are about to take it in. Returns whether there are such: look again soon. @seen
 * is NULL at the beginning; its pids are to be freed.
 */
bool targets_rescan(struct observer *o, struct broker_client *broker, const struct options *options,
		    struct pid_list *seen);

#endif /* SKYOBSERVE_CMD_TARGETS_H */
