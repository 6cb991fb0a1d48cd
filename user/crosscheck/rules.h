/* SPDX-License-Identifier: MIT */
/*
 * Rules that put stacks into buckets: the file, and one decision for profiles and for our own
 * stacks, so that two tables never differ because of the rules.
 *
 * A file is lines; what follows a # that begins a word is a comment. The first is `version 1`.
 *
 *	bucket NAME CONDITIONS	these stacks are NAME's, unless a line above took them: a partition
 *	overlap NAME CONDITIONS	these stacks are counted beside the partition, by a row of their own
 *	sum NAME = BUCKET...	buckets of the partition that are also wanted as one
 *
 * CONDITIONS are CONDITION [& CONDITION]... [; CONDITION [& CONDITION]...]...: `;` is "or", and
 * binds less than `&`. A condition is
 *
 *	[!]self [func|pkg|file] PATTERN	 of the innermost call, inlined ones included
 *	[!]stack [func|pkg|file] PATTERN of any call on the stack
 *	any				 every stack
 *
 * func, which may be left out, is the name of the function ("main.(*app).serve"); pkg what stands
 * in it before the dot that ends the path of its package, "" for assembly and C. A PATTERN is a
 * text that is equal; *TEXT, TEXT* or *TEXT* for its end, its beginning or its inside (a *
 *elsewhere is itself, as in names of methods); or /ERE/, a POSIX extended regular expression that
 *is found anywhere, in which \/ is a slash, and {} and references back are refused.
 */
#ifndef SKYOBSERVE_CROSSCHECK_RULES_H
#define SKYOBSERVE_CROSSCHECK_RULES_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "types.h"
#include "user/base/arena.h"
#include "user/base/err.h"
#include "user/base/span.h"

/* A file of rules is written by hand: these are far beyond what one needs. */
#define RULES_MAX_BYTES	    (64u << 10)
#define RULES_MAX_LINE	    2048
#define RULES_MAX_REGEX_LEN 256
/* of + after a group or a repeat: each may double what the C library makes of the expression */
#define RULES_MAX_REGEX_DOUBLINGS 1
#define RULES_MAX_PATTERNS	  256
#define RULES_MAX_CONDITIONS	  512
#define RULES_MAX_RULES		  256
#define RULES_MAX_NAMES		  64 /* of buckets, of overlaps, of sums */
#define RULES_NONE		  (~0u)

enum rule_aspect {
	RULE_FUNC,
	RULE_PKG,
	RULE_FILE,
	NR_RULE_ASPECTS
};

enum rule_way {
	RULE_EQUAL,
	RULE_BEGIN,
	RULE_END,
	RULE_INSIDE,
	RULE_REGEX,
	NR_RULE_WAYS
};

struct rule_pattern {
	enum rule_aspect aspect;
	enum rule_way way;
	const char *text;
	regex_t regex; /* of RULE_REGEX */
};

struct rule_condition {
	u32 pattern;	 /* RULES_NONE: any */
	bool self, not ; /* else the stack */
};

/* All its conditions hold. Alternatives are rules of one line. */
struct rule {
	u32 line;
	u32 first_condition, nr_conditions;
	u32 name; /* index of its bucket, or of its overlap */
};

/* Buckets of a sum, by a bit each. */
struct rule_sum {
	const char *name;
	u64 buckets;
};

struct rules {
	struct rule_pattern *patterns;
	struct rule_condition *conditions;
	struct rule *rules, *overlaps; /* in the order of the file */
	const char **bucket_names, **overlap_names;
	struct rule_sum *sums;
	u32 nr_patterns, nr_conditions, nr_rules, nr_overlaps, nr_buckets, nr_overlap_names,
		nr_sums;
	struct arena arena; /* texts and tables */
};

/*
 * Read a file of rules. -EINVAL with the line and what is wrong with it; -E2BIG beyond the limits;
 * -ENOMEM. rules_done afterwards, in any case.
 */
int rules_parse(struct span text, struct rules *ret_rules, struct err *err);
void rules_done(struct rules *rules);

/* Which patterns a call matches, by a bit each: worth keeping for each function. */
struct rule_traits {
	u64 bits[RULES_MAX_PATTERNS / 64];
};

void rules_traits(const struct rules *rules, const char *function, const char *file,
		  struct rule_traits *ret_traits);
/* What either matches. */
void rule_traits_add(struct rule_traits *sum, const struct rule_traits *more);

/*
 * The first of @rules->rules that takes a stack, or RULES_NONE. @self is what its innermost call
 * matches (all zero if it has none), @stack what any of its calls does.
 */
u32 rules_first(const struct rules *rules, const struct rule_traits *self,
		const struct rule_traits *stack);
/* Whether a rule takes it, for overlaps. */
bool rule_takes(const struct rules *rules, const struct rule *rule, const struct rule_traits *self,
		const struct rule_traits *stack);

/* The package of a function's name: its first bytes, *ret_n of them. */
void rules_package(const char *function, size_t *ret_n);

/*
 * Rules that are inside of this program: "go" (calls into the kernel, collector, allocator,
 * scheduler of a Go program on Linux) and "sky" (leaf functions of a Sky.Live application, as its
 * users defined them on macOS). False: no rules of that name.
 */
bool rules_shipped(const char *name, struct span *ret_text);

#endif /* SKYOBSERVE_CROSSCHECK_RULES_H */
