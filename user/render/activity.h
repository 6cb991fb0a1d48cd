/* SPDX-License-Identifier: MIT */
/* What one process did between two sets of families: the numbers of the live table. Pure. */
#ifndef SKYOBSERVE_RENDER_ACTIVITY_H
#define SKYOBSERVE_RENDER_ACTIVITY_H

#include <stdbool.h>
#include <stddef.h>

#include "user/model/family.h"

/* A number that is only there if it was measured. */
struct measured {
	bool known;
	u64 u;
};

struct call_activity {
	const char *name;
	const char *abi; /* NULL for the native one */
	u64 calls, errors;
	u64 finished, finished_ns; /* calls that returned, and their durations */
	u64 in_flight, oldest_ns;
};

struct durable_activity {
	const char *call, *via;
	u64 done, failed;
	struct hist durations;
};

struct named_amount {
	const char *name;
	u64 u;
};

/* One kind of interactions; what is not measured is 0. */
struct kind_activity {
	const char *name;
	u64 in_flight; /* at the end of the interval */
	/* Of those that were answered in it, and not aborted, all together. */
	u64 answered, wall_ns, cpu_ns, off_cpu_ns;
	u64 calls; /* in HIST_ONE */
};

struct activity {
	const char *process;
	const char *pid;			     /* NULL unless series have a pid label */
	struct measured up, threads, resident_bytes; /* at the end of the interval */
	struct measured cpu_ns, user_ns, system_ns;  /* all below: in the interval */
	struct measured voluntary, involuntary, faults, read_bytes, written_bytes;
	struct named_amount off_cpu[NR_REASONS]; /* ns, most first, without zeros */
	size_t nr_off_cpu;
	bool off_cpu_known;
	struct call_activity *calls; /* most first; all that happened or are in flight */
	size_t nr_calls, cap_calls;
	struct durable_activity durables[NR_DURABLES]; /* that happened */
	size_t nr_durables;
	struct kind_activity *kinds; /* most CPU time first; that were answered or are in flight */
	size_t nr_kinds;
	bool failed; /* memory ran out */
};

/*
 * Fill *ret_activity for the process that sample @who of FAM_PROCESS_UP names, from @prev (may be
 * NULL: the counters began at 0) to @now. Texts point into the sets. Counters that went down count
 * as 0. End with activity_done.
 */
void activity_measure(const struct family_set *prev, const struct family_set *now,
		      const struct sample *who, struct activity *ret_activity);

void activity_done(struct activity *a);

/* The value of a label, or NULL. */
const char *sample_label_value(const struct sample *s, const char *name);

/*
 * The upper bound in ns that at least @permille / 1000 of the observations in @hist do not exceed;
 * (u64)-1 if that is in the open bucket, 0 if there are none.
 */
u64 hist_quantile_bound(const struct hist *hist, u32 permille);

#endif /* SKYOBSERVE_RENDER_ACTIVITY_H */
