/* SPDX-License-Identifier: MIT */
/*
 * Claims of a CPU profile, judged by a record of the same time. Pure: both are values.
 */
#ifndef SKYOBSERVE_CROSSCHECK_CROSSCHECK_H
#define SKYOBSERVE_CROSSCHECK_CROSSCHECK_H

#include "user/crosscheck/buckets.h"
#include "user/model/claims.h"
#include "user/model/record.h"

struct crosscheck_input {
	const char *profile_name, *record_name;
	const struct profile *profile;
	const struct record *record;
	const struct rules *go;	   /* the built-in rules "go": what a system call is */
	const struct rules *rules; /* what the user wants to know of; NULL: nothing more */
};

/*
 * Judge @n runs, each alone and all together. 0; -EINVAL or -EOVERFLOW: a profile that has no
 * shares, with its name; -ENOMEM. crosscheck_done afterwards, in any case.
 */
int crosscheck(const struct crosscheck_input *runs, u32 n, struct claim_report *ret_report,
	       struct err *err);
void crosscheck_done(struct claim_report *report);

#endif /* SKYOBSERVE_CROSSCHECK_CROSSCHECK_H */
