/* SPDX-License-Identifier: MIT */
/* Inside of go_live: go_live.c (what is copied) and go_live_decode.c (where it is, what it says).
 */
#ifndef SKYOBSERVE_RUNTIME_GO_LIVE_IMPL_H
#define SKYOBSERVE_RUNTIME_GO_LIVE_IMPL_H

#include "user/runtime/go_live.h"
#include "user/runtime/go_memory.h"
#include "user/runtime/go_sums.h"

/* GOMAXPROCS is at most the number of CPUs unless somebody asks for more. */
#define GO_LIVE_MAX_PROCS 1024

/* From mspan.sweepgen to the end of mspan.elemsize: 24 bytes in all tested versions. */
#define GO_SPAN_BYTES 64

/* runtime.cpuStats has 88 bytes in all tested versions that have it. */
#define GO_CPU_BYTES 128

/* A slice: of allp, the list of Ps. */
struct go_slice {
	u64 vaddr, n, cap;
};

/* Copies of the runtime's variables. */
struct go_globals {
	u8 *memstats, *controller, *sched;
	u8 cpu[GO_CPU_BYTES]; /* work.cpuStats */
	u32 sweepgen;
	u32 max_procs;
	struct go_slice allp;
	u64 nr_all_gs;
};

/* Copies of a P and its cache. */
struct go_proc {
	u32 id, seq;
	u32 nr_free_gs;
	u64 cache;
	u64 nr_tiny;
	u64 spans[GO_SPAN_CLASSES];
};

struct go_span_copy {
	u64 vaddr;
	u32 index;
	u8 bytes[GO_SPAN_BYTES];
};

struct go_live {
	struct go_live_plan plan;
	struct go_memory memory;
	u64 bias;
	size_t cpu_bytes;	   /* 0: this runtime has none, or it was not found */
	u64 pause_histogram_bytes; /* 0: it is not known where it is */
	u16 class_bytes[GO_SIZE_CLASSES];
	size_t memstats_bytes, controller_bytes, sched_bytes, span_bytes;
	struct go_globals before, after;
	/* Room for so many Ps, used again at each read. */
	u32 room;
	u64 *proc_vaddrs;
	struct go_proc *procs;
	struct go_span_copy *spans;
	struct go_copy *copies;
};

/* How many bytes of each variable there are to copy, and room for them. */
int go_live_sizes(struct go_live *live, struct err *err);

struct span go_live_memstats(const struct go_live *live, const struct go_globals *globals);

void go_live_decode_span(const struct go_live *live, const struct go_span_copy *copy,
			 struct go_cached_span *ret_span);

/*
 * Gauges, and the counters of the collector beside those of go_sums_count. False if the runtime's
 * books contradict each other: what it says of the heap in two places differs, as it does for a
 * moment while the heap grows.
 */
bool go_live_decode(const struct go_live *live, const struct go_globals *globals,
		    const struct go_heap_sums *heap, struct go_gauges *ret_gauges,
		    struct go_counters *ret_counters);

#endif /* SKYOBSERVE_RUNTIME_GO_LIVE_IMPL_H */
