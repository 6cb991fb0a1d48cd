/* SPDX-License-Identifier: MIT */
/*
 * What is read of processes in /proc, with whatever capabilities the caller has: by the broker, and
 * by the serving process itself where there is no broker.
 */
#ifndef SKYOBSERVE_BROKER_LOOK_H
#define SKYOBSERVE_BROKER_LOOK_H

#include "user/broker/protocol.h"
#include "user/proc/procfs.h"

struct look_words {
	const char *const *word;
	size_t n;
};

/* The processes that the command line asks for. The words belong to the caller. */
struct look_wanted {
	struct look_words comms, exes, cgroups;
};

/* Returns 0; -ENOENT if there is no such process; -EBADMSG. What may not be seen is "". */
int look_identity(pid_t pid, struct broker_identity *ret_identity);

/*
 * All processes that are wanted, once each; @pids is to be freed. 0 or a negative errno; a control
 * group that cannot be read is -ENOENT if nothing else is wanted.
 */
int look_find(const struct look_wanted *wanted, struct pid_list *ret_list);

/* Which files the executables that are wanted are now. Returns how many, at most MAX_WANTED. */
u32 look_files(const struct look_wanted *wanted, struct broker_file ret_files[MAX_WANTED]);

#endif /* SKYOBSERVE_BROKER_LOOK_H */
