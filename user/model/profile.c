/* SPDX-License-Identifier: MIT */
/* What can be said of a profile without looking at names of functions. */
#include "user/model/profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void profile_done(struct profile *p)
{
	free(p->types);
	free(p->samples);
	free(p->values);
	free(p->frames);
	free(p->labels);
	free(p->locations);
	free(p->lines);
	free(p->functions);
	free(p->mappings);
	free(p->comments);
	free(p->texts);
	*p = (struct profile){ 0 };
}

static const struct {
	enum profile_kind kind;
	const char *type, *unit;
} kinds[] = {
	{ PROFILE_CPU, "cpu", "nanoseconds" },
	{ PROFILE_HEAP, "inuse_space", "bytes" },
	{ PROFILE_CONTENTION, "contentions", "count" },
	{ PROFILE_GOROUTINE, "goroutine", "count" },
};

enum profile_kind profile_kind(const struct profile *p)
{
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		for (u32 i = 0; i < p->nr_types; i++) {
			if (!strcmp(p->types[i].type, kinds[k].type) &&
			    !strcmp(p->types[i].unit, kinds[k].unit))
				return kinds[k].kind;
		}
	}
	return PROFILE_OTHER;
}

const char *profile_kind_name(enum profile_kind kind)
{
	static const char *const names[NR_PROFILE_KINDS] = {
		[PROFILE_OTHER] = "other",	   [PROFILE_CPU] = "CPU",
		[PROFILE_HEAP] = "heap",	   [PROFILE_CONTENTION] = "block or mutex",
		[PROFILE_GOROUTINE] = "goroutine",
	};

	return names[kind];
}

int profile_find_type(const struct profile *p, const char *name, u32 *ret_type, struct err *err)
{
	if (!p->nr_types)
		return err_set(err, -ENOENT, "it has no values");
	if (!name) {
		*ret_type = p->default_type != PROFILE_NONE ? p->default_type : p->nr_types - 1;
		return 0;
	}
	for (u32 i = 0; i < p->nr_types; i++) {
		if (!strcmp(p->types[i].type, name)) {
			*ret_type = i;
			return 0;
		}
	}
	return err_set(err, -ENOENT, "it has no values of type `%s`; the first is `%s`", name,
		       p->types[0].type);
}

static u64 absolute(s64 value)
{
	return value < 0 ? 0 - (u64)value : (u64)value;
}

int profile_sum(const struct profile *p, u32 type, struct profile_sums *ret_sums, struct err *err)
{
	struct profile_sums sums = { 0 };

	for (u32 i = 0; i < p->nr_samples; i++) {
		u64 value = absolute(profile_value(p, i, type));

		sums.nr_stacks += value != 0;
		if (__builtin_add_overflow(sums.total, value, &sums.total) || sums.total >> 63)
			return err_set(err, -EOVERFLOW, "the sum of its values is too large");
	}
	*ret_sums = sums;
	return 0;
}

u32 profile_depth(const struct profile *p, u32 sample)
{
	const struct profile_sample *s = &p->samples[sample];
	u32 depth = 0;

	/* A location without a line is one call whose name is not known. */
	for (u32 i = 0; i < s->nr_frames; i++) {
		u32 nr_lines = p->locations[p->frames[s->first_frame + i]].nr_lines;

		depth += nr_lines ? nr_lines : 1;
	}
	return depth;
}

void profile_depths(const struct profile *p, u32 type, u32 limit, struct profile_depths *ret_depths)
{
	struct profile_depths d = { 0 };

	for (u32 i = 0; i < p->nr_samples; i++) {
		u64 value = absolute(profile_value(p, i, type));
		u32 depth = value ? profile_depth(p, i) : 0;

		if (depth > d.deepest)
			d.deepest = depth;
		if (depth >= limit) {
			d.nr_at_limit++;
			d.total_at_limit += value;
		}
	}
	*ret_depths = d;
}
