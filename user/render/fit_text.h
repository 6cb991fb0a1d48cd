/* SPDX-License-Identifier: MIT */
/* Fits for people, in lines of 80 columns, and for programs. Pure. */
#ifndef SKYOBSERVE_RENDER_FIT_TEXT_H
#define SKYOBSERVE_RENDER_FIT_TEXT_H

#include "user/base/buf.h"
#include "user/model/fit.h"
#include "user/model/summary.h"

/* What was fitted. */
struct fit_about {
	const char *group, *what; /* any bytes */
	enum quantity_unit unit;
	const char *x;	/* what x is: "X", "sessions", "in flight" */
	size_t without; /* records that do not have it */
};

void fit_line_text(const struct fit_about *about, const struct fit_line *line, struct buf *buf);
/* @budget is as it was given ("p99=100ms"). */
void fit_knee_text(const struct fit_about *about, const struct fit_knee *knee, const char *budget,
		   struct buf *buf);

/* An object each, without a newline. */
void fit_line_json(const struct fit_about *about, const struct fit_line *line, struct buf *buf);
void fit_knee_json(const struct fit_about *about, const struct fit_knee *knee, const char *budget,
		   struct buf *buf);

#endif /* SKYOBSERVE_RENDER_FIT_TEXT_H */
