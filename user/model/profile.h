/* SPDX-License-Identifier: MIT */
/*
 * A profile, as pprof files hold it: stacks with values. A plain value: who wrote it, and in which
 * format, is forgotten. References are indexes, checked by whoever filled it in.
 */
#ifndef SKYOBSERVE_MODEL_PROFILE_H
#define SKYOBSERVE_MODEL_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"
#include "user/base/err.h"

/* No mapping, no function, no default type. */
#define PROFILE_NONE (~0u)

/* "cpu", "nanoseconds": what a number counts. */
struct profile_type {
	const char *type, *unit;
};

struct profile_mapping {
	u64 id, start, limit, offset;
	const char *file, *build_id;
	bool has_functions, has_filenames, has_line_numbers, has_inline_frames;
};

struct profile_function {
	u64 id;
	const char *name, *system_name, *file;
	s64 start_line;
};

struct profile_line {
	u32 function; /* index, or PROFILE_NONE */
	s64 line;
};

/* An instruction. Its first line is the innermost inlined call; the last is the function itself. */
struct profile_location {
	u64 id, address;
	u32 mapping; /* index, or PROFILE_NONE */
	u32 first_line, nr_lines;
	bool folded;
};

struct profile_label {
	const char *key;
	const char *text; /* NULL: it is a number */
	s64 number;
	const char *unit; /* "" if none */
};

/* Its stack is frames[first_frame...], the leaf first; its values are profile_value()'s. */
struct profile_sample {
	u32 first_frame, nr_frames;
	u32 first_label, nr_labels;
};

/* A zeroed struct is an empty profile. Texts end with NUL; none is NULL but a label's. */
struct profile {
	struct profile_type *types; /* what the values of each sample count */
	struct profile_sample *samples;
	s64 *values; /* nr_types for each sample */
	u32 *frames; /* indexes of locations */
	struct profile_label *labels;
	struct profile_location *locations;
	struct profile_line *lines;
	struct profile_function *functions;
	struct profile_mapping *mappings; /* the first is the program */
	const char **comments;
	u32 nr_types, nr_samples, nr_frames, nr_labels, nr_locations, nr_lines, nr_functions,
		nr_mappings, nr_comments;

	struct profile_type period_type; /* of events between two samples; texts may be empty */
	s64 period;
	s64 wall_ns;	 /* when it began, of the Unix epoch; 0: not said */
	s64 duration_ns; /* 0: not said */
	u32 default_type;
	const char *drop_frames, *keep_frames; /* "" if none */
	char *texts;			       /* all of them, owned */
};

void profile_done(struct profile *p);

static inline s64 profile_value(const struct profile *p, u32 sample, u32 type)
{
	return p->values[(size_t)sample * p->nr_types + type];
}

/* What a profile is, by its types of values. */
enum profile_kind {
	PROFILE_OTHER,
	PROFILE_CPU,
	PROFILE_HEAP,
	PROFILE_CONTENTION, /* block and mutex: they have the same types */
	PROFILE_GOROUTINE,
	NR_PROFILE_KINDS
};

enum profile_kind profile_kind(const struct profile *p);
const char *profile_kind_name(enum profile_kind kind);

/*
 * The type of values that is looked at: the one that is called @name; without a name (NULL) the
 * file's default, else the last, as `go tool pprof` does. -ENOENT if there is none.
 */
int profile_find_type(const struct profile *p, const char *name, u32 *ret_type, struct err *err);

/* Sums over all samples of one type of values. */
struct profile_sums {
	u64 total;     /* of the absolute values, as pprof counts */
	u32 nr_stacks; /* samples with another value than 0 */
};

/* -EOVERFLOW if the total does not fit in 63 bits. */
int profile_sum(const struct profile *p, u32 type, struct profile_sums *ret_sums, struct err *err);

/* Calls of a sample's stack, inlined ones included. */
u32 profile_depth(const struct profile *p, u32 sample);

/* Stacks with at least so many calls: their outer ones may be missing. */
struct profile_depths {
	u32 deepest;
	u32 nr_at_limit;
	u64 total_at_limit; /* of their absolute values */
};

/*
 * How deep the stacks of one type of values are. @limit is how many calls the writer keeps. A Go
 * profile lacks the outermost call of a complete stack (runtime.goexit), so a stack of @limit calls
 * has lost at least that one, unless it is of a thread without a goroutine.
 *
 * Source: Go src/runtime/cpuprof.go maxCPUProfStack (64); mprof.go maxStack (32) up to 1.22,
 * debug.profstackdepth (128) from 1.23 on; runtime/pprof proto.go, which leaves goexit out.
 */
void profile_depths(const struct profile *p, u32 type, u32 limit,
		    struct profile_depths *ret_depths);

#define PROFILE_CPU_DEPTH	64
#define PROFILE_OTHER_DEPTH_OLD 32 /* before Go 1.23 */
#define PROFILE_OTHER_DEPTH	128

#endif /* SKYOBSERVE_MODEL_PROFILE_H */
