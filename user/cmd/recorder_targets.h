/* SPDX-License-Identifier: MIT */
/* Who is recorded, as facts: what each target is, and whether it is the same at the end. */
#ifndef SKYOBSERVE_CMD_RECORDER_TARGETS_H
#define SKYOBSERVE_CMD_RECORDER_TARGETS_H

#include "user/broker/client.h"
#include "user/cmd/observer.h"
#include "user/cmd/options.h"
#include "user/model/record.h"

/* More are counted, and not described. */
#define MAX_RECORDED_TARGETS 32

struct recorder_targets {
	struct broker_client *broker; /* the caller's */
	bool must_stay;		      /* none of them may end or execute something else */
	bool store_is_file;	      /* the one that is expected */
	u32 n;
	struct {
		pid_t pid;
		u64 start_ticks;
	} at[MAX_RECORDED_TARGETS];
};

/*
 * Describe the processes that are observed now ("target.N.…"); for the moment in which their files
 * may still be read. With --all it would be everybody, so it is nobody.
 */
void recorder_targets_begin(struct recorder_targets *t, const struct options *options,
			    struct observer *o, struct broker_client *broker, struct record *r);

/* What became of them. */
void recorder_targets_end(struct recorder_targets *t, struct record *r);

#endif /* SKYOBSERVE_CMD_RECORDER_TARGETS_H */
