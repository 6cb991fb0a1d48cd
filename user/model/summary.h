/* SPDX-License-Identifier: MIT */
/*
 * A record in numbers that can be compared with those of another run. Pure, and one plain value, so
 * that it can be made in a confined process.
 */
#ifndef SKYOBSERVE_MODEL_SUMMARY_H
#define SKYOBSERVE_MODEL_SUMMARY_H

#include "hist.h"
#include "user/model/record.h"

#define MAX_QUANTITIES 1024
#define MAX_LATENCIES  128

/* Quantities that are looked for by name. */
#define SUMMARY_CPU	  "CPU"
#define SUMMARY_RESIDENT  "resident memory"
#define SUMMARY_SESSIONS  "sessions"
#define SUMMARY_IN_FLIGHT "requests in flight"

enum quantity_unit {
	QUANTITY_COUNT,
	QUANTITY_SECONDS, /* @value is in seconds */
	QUANTITY_BYTES,
	NR_QUANTITY_UNITS
};

enum quantity_per {
	QUANTITY_IN_ALL, /* of a whole program */
	QUANTITY_PER_SECOND,
	QUANTITY_PER_INTERACTION,
	QUANTITY_AT_END,  /* as it was at the end of the window */
	QUANTITY_AVERAGE, /* over the time of the window */
};

/*
 * @group is for people: a process, or a process and a kind of interactions. @process and @kind are
 * the two, or "". Any bytes.
 */
struct quantity {
	char group[160];
	char process[64], kind[96];
	char what[48];
	u32 unit; /* enum quantity_unit */
	u32 per;  /* enum quantity_per */
	double value;
};

/* Durations of a kind of interactions, of those that ended in the window. */
struct latency {
	char process[64], kind[96];
	struct hist hist; /* ns */
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
	u32 left_out; /* quantities and latencies that had no room */
	u32 n;
	struct quantity at[MAX_QUANTITIES];
	u32 nr_latencies;
	struct latency latencies[MAX_LATENCIES];
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
