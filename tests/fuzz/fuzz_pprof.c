/* SPDX-License-Identifier: MIT */
/* A profile may be anything; one that is taken has every reference inside of its tables. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/profile_top.h"
#include "user/pprof/pprof.h"
#include "user/render/profile_raw.h"
#include "user/render/profile_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct profile *p)
{
	for (u32 i = 0; i < p->nr_samples; i++) {
		if (p->samples[i].first_frame + p->samples[i].nr_frames > p->nr_frames ||
		    p->samples[i].first_label + p->samples[i].nr_labels > p->nr_labels)
			abort();
	}
	for (u32 i = 0; i < p->nr_frames; i++) {
		if (p->frames[i] >= p->nr_locations)
			abort();
	}
	for (u32 i = 0; i < p->nr_locations; i++) {
		if (p->locations[i].first_line + p->locations[i].nr_lines > p->nr_lines)
			abort();
	}
}

/* All that is said of it is said without a fault. */
static void ask(const struct profile *p)
{
	struct profile_sums sums;
	struct profile_top top;
	struct buf out = { 0 };
	u32 type;

	if (profile_find_type(p, NULL, &type, NULL) || profile_sum(p, type, &sums, NULL) ||
	    profile_top(p, type, &top, NULL))
		return;
	profile_table_head(p, type, &sums, &out);
	profile_table_top(p, type, &sums, &top, top.n, &out);
	(void)profile_raw(p, &out);
	buf_done(&out);
	profile_top_done(&top);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	u8 *copy = malloc(n ? n : 1); /* of exactly this size: a byte too far is seen */
	struct profile p = { 0 };

	if (!copy)
		return 0;
	memcpy(copy, bytes, n);
	if (!pprof_parse((struct span){ copy, n }, &p, NULL)) {
		check(&p);
		ask(&p);
	}
	profile_done(&p);
	free(copy);
	return 0;
}
