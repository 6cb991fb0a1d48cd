/* SPDX-License-Identifier: MIT */
/* Frames around a profile, and inside of it. */
#include "user/crosscheck/window.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* More than a record has (cmd/recorder_profiles.h). */
#define MAX_PROFILES 256
/* Clocks are compared across a frame, and Go notes the beginning a little late. */
#define MATCH_NS NS_PER_SEC

static u64 frame_ns(const struct record_frame *f)
{
	return f->begin_ns + (f->end_ns - f->begin_ns) / 2;
}

static u64 after(u64 a, u64 b)
{
	return a > b ? a - b : 0;
}

static bool number(const struct record *r, u32 i, const char *what, u64 *ret)
{
	char name[64];

	snprintf(name, sizeof(name), "profile.%u.%s", i, what);
	return record_fact_number(r, name, ret);
}

bool window_seen(const struct record *r, u32 i, const char *pid, struct seen_profile *ret_seen)
{
	struct seen_profile s = { .number = i };
	char name[64];

	snprintf(name, sizeof(name), "profile.%u.pid", i);
	if (strcmp(record_fact_text(r, name), pid) != 0 || !number(r, i, "begin_ns", &s.begin_ns) ||
	    !number(r, i, "end_ns", &s.end_ns) || s.end_ns <= s.begin_ns ||
	    !number(r, i, "signals", &s.signals) || !number(r, i, "period_ns", &s.period_ns) ||
	    !number(r, i, "overruns", &s.overruns))
		return false;
	*ret_seen = s;
	return true;
}

/* What the profile says, on the record's clock. */
static bool said(const struct profile *p, const struct record *r, u64 *ret_begin, u64 *ret_end)
{
	const struct record_frame *f = &r->frames[0];

	if (p->wall_ns <= 0 || p->duration_ns <= 0 ||
	    (u64)p->wall_ns + frame_ns(f) < f->wall_ns + (frame_ns(f) - f->begin_ns))
		return false;
	*ret_begin = (u64)p->wall_ns + f->begin_ns - f->wall_ns;
	*ret_end = *ret_begin + (u64)p->duration_ns;
	return true;
}

bool window_match(const struct profile *p, const struct record *r, const char *pid,
		  struct seen_profile *ret_seen)
{
	u64 begin, end;

	if (!said(p, r, &begin, &end))
		return false;
	for (u32 i = 0; i < MAX_PROFILES; i++) {
		struct seen_profile s;

		if (window_seen(r, i, pid, &s) && s.begin_ns + MATCH_NS >= begin &&
		    s.end_ns <= end + MATCH_NS && s.end_ns > begin && s.begin_ns < end) {
			*ret_seen = s;
			return true;
		}
	}
	return false;
}

static void find_frames(const struct record *r, struct window *w)
{
	w->outer_end = r->nr_frames - 1;
	w->inner_begin = r->nr_frames;
	for (size_t i = 0; i < r->nr_frames; i++) {
		u64 at = frame_ns(&r->frames[i]);

		if (at <= w->begin_ns)
			w->outer_begin = i;
		else if (w->inner_begin == r->nr_frames)
			w->inner_begin = i;
		if (at < w->end_least_ns)
			w->inner_end = i;
		if (at >= w->end_ns && at < frame_ns(&r->frames[w->outer_end]))
			w->outer_end = i;
	}
}

int window_find(const struct profile *p, const struct seen_profile *seen, const struct record *r,
		struct window *ret_window, struct err *err)
{
	u64 first = frame_ns(&r->frames[0]), last = frame_ns(&r->frames[r->nr_frames - 1]);
	struct window w = { 0 };

	if (seen) {
		w.begin_ns = seen->begin_ns;
		w.end_ns = w.end_least_ns = seen->end_ns;
	} else if (said(p, r, &w.begin_ns, &w.end_ns)) {
		w.end_least_ns = w.end_ns - w.begin_ns > WINDOW_WRITER_NS
					 ? w.end_ns - WINDOW_WRITER_NS
					 : w.begin_ns;
	} else {
		return err_set(err, -ENOENT, "the profile does not say when it was taken");
	}
	find_frames(r, &w);
	w.missing = (double)(after(first, w.begin_ns) + after(w.end_ns, last)) /
		    (double)(w.end_ns - w.begin_ns);
	*ret_window = w;
	return 0;
}

/* A moment between two frames, and a counter then: from where to where. */
struct moment {
	size_t before, behind; /* frames */
	u64 at_ns;
	double least, most;
};

static bool read_frame(const struct record *r, size_t i, const struct window_series *of,
		       double *ret)
{
	size_t found;
	u64 sum = record_sum(&r->frames[i].set, of->id, of->labels, of->nr_labels, &found);

	*ret = (double)sum;
	/* A series that is not there yet has not begun. */
	return found || i < r->nr_frames - 1;
}

/*
 * No less than in the frame before and no more than in the one behind, and no further from either
 * than the time between allows.
 */
static bool read_moment(const struct record *r, const struct window_series *of, struct moment *m)
{
	double low, high, since, until;

	if (!read_frame(r, m->before, of, &low) || !read_frame(r, m->behind, of, &high) ||
	    high < low)
		return false;
	m->least = low;
	m->most = high;
	if (!(of->max_rate > 0))
		return true;
	since = (double)after(m->at_ns, r->frames[m->before].begin_ns) / (double)NS_PER_SEC;
	until = (double)after(r->frames[m->behind].end_ns, m->at_ns) / (double)NS_PER_SEC;
	if (high - until * of->max_rate > m->least)
		m->least = high - until * of->max_rate;
	if (low + since * of->max_rate < m->most)
		m->most = low + since * of->max_rate;
	/* Frames that contradict the rate (a slice that was charged late) leave what they say. */
	if (m->least > m->most) {
		m->least = low;
		m->most = high;
	}
	return true;
}

bool window_delta(const struct record *r, const struct window *w, const struct window_series *of,
		  struct window_amount *ret_amount)
{
	/* No frame inside: the next one behind an edge is the one behind the other, too. */
	bool inside = w->inner_begin <= w->inner_end;
	struct moment begin = { .before = w->outer_begin,
				.behind = inside ? w->inner_begin : w->outer_end,
				.at_ns = w->begin_ns };
	struct moment least = { .before = inside ? w->inner_end : w->outer_begin,
				.behind = w->outer_end,
				.at_ns = w->end_least_ns };
	struct moment most = least;

	most.at_ns = w->end_ns;
	if (!read_moment(r, of, &begin) || !read_moment(r, of, &least) ||
	    !read_moment(r, of, &most))
		return false;
	ret_amount->least = least.least > begin.most ? (u64)(least.least - begin.most) : 0;
	ret_amount->most = most.most > begin.least ? (u64)(most.most - begin.least) : 0;
	return true;
}
