/* SPDX-License-Identifier: MIT */
/* Bounds on marking, from counters that are behind. */
#include "user/crosscheck/collector.h"

/*
 * Cycles by which two frames are to differ, so that what was under way in the one is over in the
 * other. One would do if a frame was a moment; its numbers are read one after the other, and a
 * cycle may end in between: one more for each of the two.
 */
#define CYCLES_APART 3

struct at_frame {
	u64 cycles, marked_ns, cpu_ns;
};

static bool sum(const struct record *r, size_t i, enum family_id id, const char *process,
		const char *phase, u64 *ret)
{
	const struct label labels[] = { { "process", process }, { "phase", phase } };
	size_t found;

	*ret = record_sum(&r->frames[i].set, id, labels, phase ? 2 : 1, &found);
	return found > 0;
}

static bool read_frame(const struct record *r, size_t i, const char *process, struct at_frame *ret)
{
	u64 worked, idle;

	if (!sum(r, i, FAM_GO_GC_CYCLES, process, NULL, &ret->cycles) ||
	    !sum(r, i, FAM_GO_GC_CPU, process, "mark", &worked) ||
	    !sum(r, i, FAM_GO_GC_CPU, process, "mark_idle", &idle) ||
	    !sum(r, i, FAM_CPU, process, NULL, &ret->cpu_ns))
		return false;
	ret->marked_ns = worked + idle;
	return true;
}

/* What was spent by frame @i, at most. False: a frame lacks it, or a counter went down. */
static bool most_by(const struct record *r, size_t i, const char *process, u64 *ret_ns)
{
	struct at_frame here, other;
	u64 before_ns = 0, most;

	if (!read_frame(r, i, process, &here))
		return false;
	for (size_t k = i; k-- > 0;) {
		if (!read_frame(r, k, process, &other) || other.cpu_ns > here.cpu_ns)
			return false;
		if (other.cycles + CYCLES_APART > here.cycles)
			continue;
		before_ns = other.cpu_ns;
		break;
	}
	most = here.marked_ns + (here.cpu_ns - before_ns);
	for (size_t k = i + 1; k < r->nr_frames; k++) {
		if (!read_frame(r, k, process, &other) || other.marked_ns < here.marked_ns)
			return false;
		if (other.cycles < here.cycles + CYCLES_APART)
			continue;
		most = other.marked_ns < most ? other.marked_ns : most;
		break;
	}
	*ret_ns = most;
	return true;
}

static double seconds_between(u64 from, u64 to)
{
	return to > from ? (double)(to - from) / (double)NS_PER_SEC : 0;
}

bool collector_spent(const struct record *r, const struct window *w, const char *process,
		     struct interval *ret_seconds)
{
	bool inside = w->inner_begin <= w->inner_end;
	size_t behind_begin = inside ? w->inner_begin : w->outer_end;
	size_t before_end = inside ? w->inner_end : w->outer_begin;
	struct at_frame begin, end;
	u64 most_begin, most_end;

	if (!read_frame(r, w->outer_begin, process, &begin) ||
	    !read_frame(r, before_end, process, &end) ||
	    !most_by(r, behind_begin, process, &most_begin) ||
	    !most_by(r, w->outer_end, process, &most_end))
		return false;
	ret_seconds->low = seconds_between(most_begin, end.marked_ns);
	ret_seconds->high = seconds_between(begin.marked_ns, most_end);
	return true;
}
