/* SPDX-License-Identifier: MIT */
/* Verdicts about profiles: a table for people, JSON, and JUnit's XML for CI. Pure. */
#ifndef SKYOBSERVE_RENDER_CLAIMS_H
#define SKYOBSERVE_RENDER_CLAIMS_H

#include "user/base/buf.h"
#include "user/model/claims.h"

/* Append all runs and what is said of them together. Texts are cleaned. */
void claims_table(const struct claim_report *report, struct buf *out);

/*
 * {"verdict": "CONFIRMED", "runs": [{"profile", "record", "target", "gates": [{"name", "state",
 * "text"}], "claims": [{...}]}], "claims": [of all runs]}; numbers that are not known are null.
 */
void claims_json(const struct claim_report *report, struct buf *out);

/*
 * A test suite for each run, and one for all of them if there are several: gates and claims are
 * test cases. REFUTED is a failure, INVALID an error; what is UNRESOLVED or NOT_TESTABLE is
 * skipped.
 */
void claims_junit(const struct claim_report *report, struct buf *out);

#endif /* SKYOBSERVE_RENDER_CLAIMS_H */
