/* SPDX-License-Identifier: MIT */
/* A record may be any bytes; one that is taken has its edges, and is written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/record/record_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct record *r)
{
	struct buf out = { 0 };

	if (r->nr_frames < 2)
		abort();
	(void)record_window_ns(r);
	for (u32 id = 0; id < NR_FAMILIES; id++) {
		const struct family *f = &record_end(r)->families[id];
		u64 delta;

		(void)record_delta(r, id, NULL, 0, &delta);
		for (size_t i = 0; i < f->nr_samples; i++) {
			struct hist hist;

			(void)record_delta_hist(r, id, &f->samples[i], &hist);
		}
	}
	if (record_write(r, &out))
		abort();
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	u8 *copy = malloc(n ? n : 1); /* of exactly this size: a byte too far is seen */
	struct record r = { 0 };

	if (!copy)
		return 0;
	memcpy(copy, bytes, n);
	if (!record_parse((struct span){ copy, n }, &r, NULL))
		check(&r);
	record_done(&r);
	free(copy);
	return 0;
}
