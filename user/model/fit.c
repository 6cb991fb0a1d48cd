/* SPDX-License-Identifier: MIT */
/* Names of what a fit says. */
#include "user/model/fit.h"

const char *const fit_refusal_names[NR_FIT_REFUSALS] = {
	"ONE_LEVEL",	      "TWO_POINTS", "FEW_LEVELS", "EXTRAPOLATED_INTERCEPT",
	"NEGATIVE_INTERCEPT", "CURVATURE",  "LACK_OF_FIT"
};

const char *const fit_model_names[NR_FIT_MODELS] = { "line", "square", "x_log_x" };

const char *const knee_verdict_names[NR_KNEE_VERDICTS] = { "between", "not_reached",
							   "already_broken", "unresolved" };
