/* SPDX-License-Identifier: MIT */
/*
 * A record in numbers that can be compared with those of another run. Pure, and one plain value, so
 * that it can be made in a confined process.
 */
#ifndef SKYOBSERVE_MODEL_SUMMARY_H
#define SKYOBSERVE_MODEL_SUMMARY_H

#include "user/model/record.h"

#define MAX_QUANTITIES 1024

enum quantity_unit {
	QUANTITY_COUNT,
	QUANTITY_SECONDS, /* @value is in seconds */
	QUANTITY_BYTES,
	NR_QUANTITY_UNITS
};

/* @group is a process, or a process and a kind of interactions. Any bytes. */
struct quantity {
	char group[160];
	char what[48];
	u32 unit; /* enum quantity_unit */
	u32 zero;
	double value;
};

struct summary {
	char kernel[128], cpu_model[128], cpus[64];
	/* Of the targets, in their order. The file of one that ended at once may not have been
	 * read. */
	char builds[512];   /* build ids, or else executables */
	char programs[512]; /* executables */
	bool builds_known;  /* all build ids are there */
	u32 by_program;	    /* amounts are those of a whole program, else per second */
	u32 invalid;	    /* gates that make it so */
	char why[320];	    /* the first of them */
	u64 begin_wall_ns, window_ns;
	u32 left_out; /* quantities that had no room */
	u32 n;
	struct quantity at[MAX_QUANTITIES];
};

void summary_of(const struct record *r, struct summary *ret_summary);

/*
 * Make the texts of one that a confined process answered end, and its numbers fit. False if it is
 * none: numbers that are no numbers, or more of them than there is room for.
 */
bool summary_check(struct summary *s);

/* The quantity of that name, or NULL. */
const struct quantity *summary_find(const struct summary *s, const char *group, const char *what);

#endif /* SKYOBSERVE_MODEL_SUMMARY_H */
