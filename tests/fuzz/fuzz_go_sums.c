/* SPDX-License-Identifier: MIT */
/*
 * Whatever was copied out of a process, the sums of Go's allocator are computed within bounds, and
 * what a cache adds never exceeds what its spans can hold.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/runtime/go_sums.h"
#include "user/runtime/runtime.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define MAX_SPANS 64

static void take(const uint8_t **at, size_t *left, void *ret, size_t n)
{
	size_t have = n < *left ? n : *left;

	memset(ret, 0, n);
	if (have)
		memcpy(ret, *at, have);
	*at += have;
	*left -= have;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	static struct go_heap_sums heap, later;
	static struct go_cache_sums caches;
	struct go_counters counters;
	s32 offsets[NR_GO_FIELDS];
	u16 classes[GO_SIZE_CLASSES];
	struct go_pacer pacer;
	struct hist hist;
	u32 sweepgen;
	u8 nr_spans;

	memset(&caches, 0, sizeof(caches));
	take(&bytes, &n, offsets, sizeof(offsets));
	for (int i = 0; i < NR_GO_FIELDS; i++)
		offsets[i] = offsets[i] % (1 << 13); /* target_check lets pass -1 to 1 << 20 */
	for (int i = 0; i < NR_GO_FIELDS; i++)
		offsets[i] = offsets[i] < -1 ? -1 : offsets[i];
	take(&bytes, &n, classes, sizeof(classes));
	(void)go_sums_classes_good(classes);
	take(&bytes, &n, &sweepgen, sizeof(sweepgen));
	take(&bytes, &n, &nr_spans, sizeof(nr_spans));
	for (u32 i = 0; i < nr_spans % MAX_SPANS; i++) {
		struct go_cached_span span;

		take(&bytes, &n, &span, sizeof(span));
		span.index %= GO_SPAN_CLASSES; /* a place in an array of ours */
		go_sums_add_span(&span, sweepgen, classes, &caches);
	}
	if (caches.moving + caches.wrong > nr_spans % MAX_SPANS)
		abort();
	memset(&pacer, 0, sizeof(pacer));
	take(&bytes, &n, &pacer, offsetof(struct go_pacer, headroom_is_percent));
	pacer.headroom_is_percent = sweepgen & 1;
	(void)go_sums_heap_goal(&pacer);
	(void)go_sums_durations((struct span){ bytes, n }, sweepgen, sweepgen & 1 ? 1296 : 5768,
				&hist);
	if (!go_sums_of_heap((struct span){ bytes, n }, offsets, &heap))
		return 0;
	memset(&later, 0, sizeof(later));
	(void)go_sums_between(&heap, &later);
	if (go_sums_between(&heap, &heap) != 0)
		abort();
	go_sums_count(&heap, &caches, classes, &counters);
	return 0;
}
