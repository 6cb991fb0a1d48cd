/* SPDX-License-Identifier: MIT */
/*
 * The part of a record in which a profile was taken. A profile's edges lie between two frames, so
 * what was spent in it is known between two bounds: frames inside of it, and frames around it.
 */
#ifndef SKYOBSERVE_CROSSCHECK_WINDOW_H
#define SKYOBSERVE_CROSSCHECK_WINDOW_H

#include "user/model/profile.h"
#include "user/model/record.h"

/*
 * A profile's own end is when its writer, which sleeps for 100 ms between two looks, saw the end of
 * the samples.
 *
 * Source: Go src/runtime/pprof/pprof.go, profileWriter.
 */
#define WINDOW_WRITER_NS (300 * NS_PER_MS)

struct window {
	/* Monotonic. The profile ended somewhere from @end_least_ns on. */
	u64 begin_ns, end_least_ns, end_ns;
	size_t outer_begin, outer_end; /* the frames nearest around it */
	size_t inner_begin, inner_end; /* inside of it; begin >= end: none or one */
	double missing;		       /* part of it that the record does not cover */
};

/* A profile that the record saw being taken (cmd/recorder_profiles.h has the facts). */
struct seen_profile {
	u32 number; /* of the facts */
	u64 begin_ns, end_ns, period_ns, signals, overruns;
};

/* Profile number @i of process @pid that was over before the record's end. False: no such one. */
bool window_seen(const struct record *r, u32 i, const char *pid, struct seen_profile *ret_seen);

/*
 * The one that @p is: the one seen that lies inside of what @p says, give or take a second. False:
 * there is none.
 */
bool window_match(const struct profile *p, const struct record *r, const char *pid,
		  struct seen_profile *ret_seen);

/*
 * The window of @seen, or, if that is NULL, of what the profile says of itself. -ENOENT: it does
 * not say when it was taken, with @err.
 */
int window_find(const struct profile *p, const struct seen_profile *seen, const struct record *r,
		struct window *ret_window, struct err *err);

/* The growth of a counter: at least *ret_least, at most *ret_most. */
struct window_amount {
	u64 least, most;
};

/* A counter: the series that have these labels. */
struct window_series {
	enum family_id id;
	const struct label *labels;
	size_t nr_labels;
	double max_rate; /* in a second, if that is known: edges near to a frame are known better */
};

/* False: it is not in the record, or went down. */
bool window_delta(const struct record *r, const struct window *w, const struct window_series *of,
		  struct window_amount *ret_amount);

#endif /* SKYOBSERVE_CROSSCHECK_WINDOW_H */
