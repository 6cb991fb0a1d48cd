/* SPDX-License-Identifier: MIT */
/*
 * How a quantity grows with another one, as found from records at several levels of it: plain
 * values between who computes them and who prints. A number that is not known is NaN.
 */
#ifndef SKYOBSERVE_MODEL_FIT_H
#define SKYOBSERVE_MODEL_FIT_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define MAX_FIT_RUNS 128

struct fit_interval {
	double low, high;
};

/*
 * A number with its intervals at 95 %: if all runs are independent of each other, and if those of
 * one level are not (then there are only as many as levels).
 */
struct fit_number {
	double value;
	struct fit_interval by_runs, by_levels;
};

/*
 * What keeps a line from being said. Of those in FIT_NO_INTERCEPT the value at 0 is not given at
 * all; of the others it is, with the reason beside it.
 */
enum fit_refusal {
	FIT_ONE_LEVEL = 1,
	FIT_TWO_POINTS = 2,   /* two levels: any two are on a line */
	FIT_FEW_LEVELS = 4,   /* below FIT_MIN_LEVELS */
	FIT_EXTRAPOLATED = 8, /* 0 lies far outside of what was measured */
	FIT_NEGATIVE = 16,    /* the value at 0 is below 0, and its interval too */
	FIT_CURVATURE = 32,   /* a square is needed, or the ends have other slopes */
	FIT_LACK_OF_FIT = 64, /* levels are off the line by more than their runs differ */
};
#define NR_FIT_REFUSALS 7
#define FIT_NO_INTERCEPT \
	(FIT_ONE_LEVEL | FIT_TWO_POINTS | FIT_NEGATIVE | FIT_CURVATURE | FIT_LACK_OF_FIT)
#define FIT_MIN_LEVELS 4

/* Of bit 1 << i: "CURVATURE". */
extern const char *const fit_refusal_names[NR_FIT_REFUSALS];

enum fit_model {
	FIT_MODEL_LINE,	   /* a + b x */
	FIT_MODEL_SQUARE,  /* a + b x + c x^2 */
	FIT_MODEL_X_LOG_X, /* a + b x + c x log x */
	NR_FIT_MODELS
};

extern const char *const fit_model_names[NR_FIT_MODELS];

struct fit_line {
	u32 refused; /* enum fit_refusal */
	size_t runs, levels;
	double x_low, x_high;
	double smallest_gap; /* between neighbouring levels */
	bool exact;	     /* every run is on the line, but for rounding */
	struct fit_number slope, intercept;
	double intercept_without_smallest; /* of the line through all levels but the smallest */
	double r2;
	/* Signs of the levels' mean residuals: stretches of equal ones, and the chance of so few.
	 */
	size_t stretches, signs;
	double stretches_chance;
	/* Levels against their own runs. */
	double lack_f, lack_df1, lack_df2, lack_chance;
	struct fit_number square;		    /* c of a + b x + c x^2 */
	struct fit_number lower_slope, upper_slope; /* of the lower and the upper third of levels */
	/* The line through the three smallest levels, where there are more. */
	struct fit_number local_slope, local_intercept;
	double local_x_high;
	double aicc[NR_FIT_MODELS];
	double average_low, average_high; /* y / x at both ends; x_low = 0: NaN */
};

/* --- the knee: where a budget of latency breaks --- */

enum knee_state {
	KNEE_UNKNOWN,
	KNEE_HOLDS,  /* the quantile is within the budget in every run, as shown by its interval */
	KNEE_BROKEN, /* it is above it in every run */
};

enum knee_verdict {
	KNEE_BETWEEN,	     /* above @low, at or below @high */
	KNEE_NOT_REACHED,    /* it holds up to @low, the highest level */
	KNEE_ALREADY_BROKEN, /* at @high, the lowest level */
	KNEE_UNRESOLVED,
	NR_KNEE_VERDICTS
};

extern const char *const knee_verdict_names[NR_KNEE_VERDICTS];

struct knee_level {
	double x;
	size_t runs;
	u64 fewest;		 /* interactions of the run that has the fewest */
	double quantile_low_ns;	 /* where the quantiles of its runs are; exact bounds of buckets */
	double quantile_high_ns; /* infinite in the last bucket */
	double above_low, above_high; /* share above the budget: the ends of all runs' intervals */
	enum knee_state state;
	bool too_few;
};

struct fit_knee {
	enum knee_verdict verdict;
	double low, high; /* NaN: no level holds; none is broken */
	bool crossed;	  /* a level holds above one that is broken */
	size_t n;
	struct knee_level levels[MAX_FIT_RUNS];
};

#endif /* SKYOBSERVE_MODEL_FIT_H */
