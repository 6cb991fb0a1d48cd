/* SPDX-License-Identifier: MIT */
/*
 * Families: what a renderer prints. Plain values; knows neither the kernel nor HTTP.
 *
 * A family is one metric with all its samples. Its facts (name, type, unit, help, method) come
 * from include/families.def and nowhere else.
 */
#ifndef SKYOBSERVE_MODEL_FAMILY_H
#define SKYOBSERVE_MODEL_FAMILY_H

#include <stdbool.h>
#include <stddef.h>

#include "families.h"
#include "hist.h"
#include "types.h"
#include "user/base/arena.h"

#define FAMILY_PREFIX	  "skyobserve_"
#define MAX_SAMPLE_LABELS 8

enum family_type {
	FAMILY_COUNTER,
	FAMILY_GAUGE,
	FAMILY_HIST,
	FAMILY_INFO, /* rendered as a gauge with value 1 whose name ends in _info */
};

enum family_method {
	METHOD_EXACT,	/* every event was seen, or the kernel's own total */
	METHOD_BOUNDED, /* the error has a hard bound, said in the help text */
	METHOD_SAMPLED, /* the error is statistical */
};

struct family_desc {
	const char *name; /* without prefix, unit and suffix: "cpu" */
	const char *unit; /* "seconds", "bytes", "ratio", or "" */
	enum family_type type;
	enum family_method method;
	bool exporter;	   /* a standard process_* family of the exporter itself: no prefix, no unit
			      rule */
	const char *error; /* largest error in words, "0" for none */
	const char *help;  /* one line, where the number comes from */
};

/* The facts of each family, by enum family_id. */
extern const struct family_desc family_descs[NR_FAMILIES];

/* How a value is to be printed. */
enum value_kind {
	VALUE_COUNT, /* @u as it is */
	VALUE_NS,    /* @u nanoseconds, printed exactly in seconds */
	VALUE_REAL,  /* @real */
	VALUE_ONES,  /* @u in 1024ths (HIST_ONE), printed as a count: histograms of counts */
};

/* @value may be any bytes (names of strangers' processes): renderers escape and repair it. */
struct label {
	const char *name;
	const char *value;
};

struct sample {
	struct label *labels; /* in the set's arena */
	u32 nr_labels;
	enum value_kind kind;
	union {
		u64 u;
		double real;
	};
	const struct hist *hist; /* for FAMILY_HIST only; the unit is that of @kind */
	u64 created_wall_ns;	 /* when the series began (Unix time), 0 = not known */
};

struct family {
	struct sample *samples;
	size_t nr_samples;
	size_t cap;
};

/*
 * All families of one snapshot. A family without samples was not measured and is not printed.
 * Samples, labels and histograms live in @arena; @failed says that memory ran out.
 */
struct family_set {
	struct family families[NR_FAMILIES];
	struct arena arena;
	bool failed;
};

/*
 * Add a sample to family @id and return it, zeroed, for its labels and value; never NULL (when
 * memory runs out a scratch sample is returned and @set->failed is set).
 */
struct sample *family_add(struct family_set *set, enum family_id id);

/* Add a label; the text of @value is copied into the set, @name must be a constant. */
void sample_label(struct family_set *set, struct sample *s, const char *name, const char *value);

/* The same without a copy: @value lives as long as the set does. */
void sample_label_kept(struct family_set *set, struct sample *s, const char *name,
		       const char *value);

/* The full name without a counter's _total: "skyobserve_cpu_seconds". @ret_name has room for @n. */
void family_name(const struct family_desc *desc, char *ret_name, size_t n);

void family_set_done(struct family_set *set);

#endif /* SKYOBSERVE_MODEL_FAMILY_H */
