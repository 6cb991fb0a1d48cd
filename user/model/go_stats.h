/* SPDX-License-Identifier: MIT */
/* What the runtime of a Go program says of itself, as one plain value. */
#ifndef SKYOBSERVE_MODEL_GO_STATS_H
#define SKYOBSERVE_MODEL_GO_STATS_H

#include <stdbool.h>

#include "layout.h"

/* What the address space of the runtime is for; the sum is MemStats.Sys. */
enum go_memory_class {
	GO_MEMORY_LIVE,	    /* spans in use */
	GO_MEMORY_FREE,	    /* of the heap, still with the process */
	GO_MEMORY_RELEASED, /* of the heap, given back to the kernel */
	GO_MEMORY_STACKS,
	GO_MEMORY_METADATA, /* spans, caches, profile buckets, the collector's own */
	GO_MEMORY_OTHER,
	NR_GO_MEMORY_CLASSES
};

enum go_gc_kind {
	GO_GC_AUTOMATIC,
	GO_GC_FORCED,
	NR_GO_GC_KINDS
};

/* What the time of the Ps went to, as runtime/metrics tells it apart; the sum is all of it. */
enum go_cpu_class {
	GO_CPU_GC_MARK_ASSIST,
	GO_CPU_GC_MARK_DEDICATED, /* with fractional workers */
	GO_CPU_GC_MARK_IDLE,
	GO_CPU_GC_PAUSE,
	GO_CPU_SCAVENGE_ASSIST,
	GO_CPU_SCAVENGE_BACKGROUND,
	GO_CPU_IDLE,
	GO_CPU_USER,
	NR_GO_CPU_CLASSES
};

/* Since the program started; they never go down. Nothing but u64: they are added up as an array. */
struct go_counters {
	u64 allocated_objects, allocated_bytes;
	u64 freed_objects, freed_bytes;
	u64 gc_cycles[NR_GO_GC_KINDS];
	u64 programs;  /* that are in here */
	u64 cpu_known; /* of which in @cpu_ns: runtimes before Go 1.20 do not count it */
	u64 cpu_ns[NR_GO_CPU_CLASSES];
	u64 pauses_known;   /* of @programs, which are in @pauses */
	struct hist pauses; /* times that a cycle stopped the world */
};

/* As things are. */
struct go_gauges {
	u64 heap_live_bytes, heap_goal_bytes;
	u64 goroutines, max_procs;
	u64 memory_limit_bytes;
	s64 gc_percent; /* -1: off */
	u64 memory_bytes[NR_GO_MEMORY_CLASSES];
};

/* What probes in the runtime counted, since they are there. */
struct go_gc {
	bool stops_known, workers_known; /* of @cells; else it is 0 */
	struct go_gc_cells cells;
};

/* Of one process; zeroed: nothing is known. */
struct go_stats {
	bool counted;	   /* @counters were read, now or earlier */
	bool current;	   /* @gauges were read now */
	u64 begin_wall_ns; /* the program started, Unix time: @counters count since then */
	struct go_counters counters;
	struct go_gauges gauges;
};

/* Raise the counters of @now that are below @last to it: a torn read must not let one go down. */
void go_counters_floor(const struct go_counters *last, struct go_counters *now);

void go_gc_add(struct go_gc *sum, const struct go_gc *more);

void go_counters_add(struct go_counters *sum, const struct go_counters *more);

/*
 * Add another process of the same name. Settings (limit, percent) are the lowest of all, the rest
 * is added up, as far as it can be held.
 */
void go_stats_add(struct go_stats *sum, const struct go_stats *more);

#endif /* SKYOBSERVE_MODEL_GO_STATS_H */
