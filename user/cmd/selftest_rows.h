/* SPDX-License-Identifier: MIT */
/* From claims and a snapshot to rows: wanted = got. */
#ifndef SKYOBSERVE_CMD_SELFTEST_ROWS_H
#define SKYOBSERVE_CMD_SELFTEST_ROWS_H

#include "user/cmd/selftest.h"
#include "user/cmd/selftest_loads.h"
#include "user/model/totals.h"

/* Forget the rows of @result from the @n-th on. */
void rows_cut(struct selftest_result *result, size_t n);

/* A row that says why @load was not observed. */
void rows_skip(struct selftest_result *result, const char *load, enum selftest_verdict verdict,
	       const char *why);

/* What process @i of @snap claims against what was observed. */
void rows_claims(struct selftest_result *result, const char *load, const struct load_shared *shared,
		 const struct snapshot *snap, size_t i, const struct process_totals *totals);

/* Whether each identity holds for all processes of @snap; they must be alive. */
void rows_identities(struct selftest_result *result, const struct snapshot *snap,
		     const struct process_totals *totals);

/* What is to be true when all processes have ended, and what was lost. */
void rows_end(struct selftest_result *result, const struct snapshot *snap,
	      const struct process_totals *totals);

#endif /* SKYOBSERVE_CMD_SELFTEST_ROWS_H */
