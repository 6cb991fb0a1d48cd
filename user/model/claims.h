/* SPDX-License-Identifier: MIT */
/*
 * Claims about profiles and what was found of them: plain values between who judges and who prints.
 * A number that is not known is NaN.
 */
#ifndef SKYOBSERVE_MODEL_CLAIMS_H
#define SKYOBSERVE_MODEL_CLAIMS_H

#include <stdbool.h>

#include "types.h"
#include "user/base/arena.h"

enum verdict {
	VERDICT_CONFIRMED,    /* it agrees within the margin, as shown by its interval */
	VERDICT_REFUTED,      /* it is outside of the margin, as shown by its interval */
	VERDICT_UNRESOLVED,   /* neither was shown */
	VERDICT_NOT_TESTABLE, /* there is nothing to compare it with */
	VERDICT_INVALID,      /* the two are not about the same thing */
	NR_VERDICTS
};

/* Why it is no verdict. */
enum claim_reason {
	REASON_NONE,
	REASON_TOO_FEW_SAMPLES,
	REASON_STRADDLES,	   /* the interval lies across the margin */
	REASON_OVERDISPERSED,	   /* repeats differ more than samples do */
	REASON_LOW_COVERAGE,	   /* not all CPU time was sampled */
	REASON_EXACT_SIDE_MISSING, /* the record does not have it */
	REASON_EXACT_SIDE_BOUNDED, /* the record's bounds are wider than the margin */
	REASON_WINDOW_EDGES,	   /* the profile begins or ends between two frames of the record */
	REASON_RULES_INCOMPLETE,
	REASON_UNWIND_FAILED,
	REASON_FEW_RUNS,
	REASON_NOT_LINUX,
	NR_CLAIM_REASONS
};

enum claim_unit {
	CLAIM_COUNT,
	CLAIM_SECONDS,
	CLAIM_SHARE, /* 0 to 1 */
	CLAIM_FACTOR,
};

struct claim {
	const char *id;	  /* "C5" */
	const char *name; /* "system calls" */
	bool required;	  /* the exit status is about it */
	enum claim_unit unit;
	double profiler;	/* what the profile says */
	double low, high;	/* where the observer has it; equal if it is exact */
	double delta;		/* of the middle; of times and counts relative to the observer's */
	double ci_low, ci_high; /* of @delta, 90 % */
	double margin;		/* that was allowed */
	double n, deff;		/* samples, design effect */
	double n_needed;	/* samples that would do */
	double bound_low, bound_high; /* of a share, when some time was not sampled */
	double p_outside;	      /* chance of it if the truth were inside of the margin */
	enum verdict verdict;
	enum claim_reason reason;
	char text[320]; /* what follows from the numbers, and likely causes; "" if nothing */
};

#define MAX_CLAIMS 24

/* Whether a run can be judged at all. */
struct claim_gate {
	const char *name;
	enum claim_gate_state {
		CLAIM_GATE_UNKNOWN, /* not measured */
		CLAIM_GATE_HOLDS,
		CLAIM_GATE_WARNS,
		CLAIM_GATE_INVALID,
	} state;
	char text[256];
};

#define MAX_CLAIM_GATES 32

/* One profile with the record of the same time. */
struct claim_run {
	const char *profile, *record; /* files */
	char target[160];	      /* who was observed */
	struct claim claims[MAX_CLAIMS];
	u32 nr_claims;
	struct claim_gate gates[MAX_CLAIM_GATES];
	u32 nr_gates;
};

struct claim_report {
	struct claim_run *runs;
	u32 nr_runs;
	struct claim all[MAX_CLAIMS]; /* about all runs together */
	u32 nr_all;
	enum verdict verdict; /* of it as a whole; never NOT_TESTABLE */
	struct arena arena;
};

extern const char *const verdict_names[NR_VERDICTS];
/* "" of REASON_NONE. */
extern const char *const claim_reason_names[NR_CLAIM_REASONS];

/* A claim of which nothing is known yet: all numbers NaN. */
void claim_begin(struct claim *c, const char *id, const char *name, enum claim_unit unit);

/* Whether a gate makes the run invalid. */
bool claim_run_is_invalid(const struct claim_run *run);

/*
 * INVALID if a run is; else REFUTED if a required claim is; else UNRESOLVED if a required claim is,
 * or if none could be confirmed; else CONFIRMED.
 */
enum verdict claims_verdict(const struct claim_report *report);

#endif /* SKYOBSERVE_MODEL_CLAIMS_H */
