/* SPDX-License-Identifier: MIT */
/*
 * Profiles that somebody takes of a target while it is recorded: seen by the signals that its
 * profiler gets. They are facts of the record, by their number N from 0:
 *
 *	profile.N.pid, .process	     of whom
 *	profile.N.begin_ns, .end_ns  monotonic; end 0: it went on at the end of the record
 *	profile.N.period_ns	     of CPU time of a thread between two samples, as it asked for
 *	profile.N.signals	     samples that its profiler got in between
 *	profile.N.overruns	     expirations of its timers for which there was no signal of
 *their own: several had passed when the kernel looked at its tick profile.N.other_signals
 *SIGPROF that were no samples, since the process was observed
 *	profile.N.leaves.M	     places of the samples: ADDRESS:COUNT, hexadecimal and decimal,
 *				     with a blank between two; as many parts M as it takes
 */
#ifndef SKYOBSERVE_CMD_RECORDER_PROFILES_H
#define SKYOBSERVE_CMD_RECORDER_PROFILES_H

#include "user/cmd/observer.h"
#include "user/model/record.h"

/* More profiles of one record are not kept apart: the last ones are missing, and said so. */
#define MAX_RECORDED_PROFILES 32

struct recorded_profile {
	pid_t pid;
	u32 number; /* of the process's */
	struct census census;
};

struct recorder_profiles {
	struct recorded_profile at[MAX_RECORDED_PROFILES];
	u32 n;
	u32 lost;
	bool begun; /* profiles that were over by then are not ours */
};

/*
 * Look for profiles that began or ended. Cheap; to be called many times a second. True: an edge
 * passed since the last call, so that a snapshot now is near to it.
 */
bool recorder_profiles_look(struct recorder_profiles *profiles, const struct observer *o);

/* All of them into @r. */
void recorder_profiles_end(struct recorder_profiles *profiles, const struct observer *o,
			   struct record *r);

#endif /* SKYOBSERVE_CMD_RECORDER_PROFILES_H */
