/* SPDX-License-Identifier: MIT */
/* Fits for people. */
#include "user/render/fit_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "user/render/paper.h"

#define WIDTH	80
#define COLUMN	16
#define AMOUNT	24
#define SEVERAL 400

/* A number of any sign and size. */
static void amount(enum quantity_unit unit, double value, char ret_text[AMOUNT])
{
	char text[HUMAN_WIDTH];
	double size = fabs(value);

	if (!isfinite(value)) {
		snprintf(ret_text, AMOUNT, isnan(value) ? "unknown" : "any");
		return;
	}
	if (unit == QUANTITY_SECONDS && size < 1e9 && size >= 1e-7)
		human_duration((u64)(size * (double)NS_PER_SEC + 0.5), text);
	else if (unit == QUANTITY_SECONDS)
		snprintf(text, sizeof(text), "%.3g ns", size * (double)NS_PER_SEC);
	else if (unit == QUANTITY_BYTES && size >= 1024)
		human_bytes(size, text);
	else if (size >= 1000)
		human_amount(size, text);
	else
		snprintf(text, sizeof(text), "%.3g%s", size, unit == QUANTITY_BYTES ? " B" : "");
	snprintf(ret_text, AMOUNT, "%s%s", value < 0 ? "-" : "", text);
}

/* "585 kB, 95 %: 540 kB..630 kB by runs, 300 kB..900 kB by levels" */
static void say_number(enum quantity_unit unit, const struct fit_number *n, char *ret_text,
		       size_t size)
{
	const struct {
		const struct fit_interval *i;
		const char *by;
	} both[] = { { &n->by_runs, "by runs" }, { &n->by_levels, "by levels" } };
	char value[AMOUNT], low[AMOUNT], high[AMOUNT];
	const char *sep = ", 95 %: ";
	size_t len;

	amount(unit, n->value, value);
	snprintf(ret_text, size, "%s", value);
	for (size_t k = 0; k < 2; k++) {
		if (isnan(both[k].i->low))
			continue;
		amount(unit, both[k].i->low, low);
		amount(unit, both[k].i->high, high);
		len = strlen(ret_text);
		snprintf(ret_text + len, size - len, "%s%s..%s %s", sep, low, high, both[k].by);
		sep = ", ";
	}
}

static void print_refusal(struct paper *p, enum fit_refusal refusal, const char *text)
{
	const char *label = refusal & FIT_NO_INTERCEPT ? "REFUSED" : "DOUBTFUL";

	for (u32 i = 0; i < NR_FIT_REFUSALS; i++) {
		if (1u << i == (u32)refusal)
			paper_row(p, COLUMN, label, "%s: %s", fit_refusal_names[i], text);
	}
}

static void print_extrapolated(struct paper *p, const struct fit_about *about,
			       const struct fit_line *l)
{
	char text[SEVERAL], without[AMOUNT], change[96] = "";

	if (!isnan(l->intercept_without_smallest) && !(l->refused & FIT_NO_INTERCEPT)) {
		amount(about->unit, l->intercept_without_smallest, without);
		snprintf(change, sizeof(change), "; without the smallest level it would be %s",
			 without);
	}
	snprintf(text, sizeof(text),
		 "%s = 0 lies %.4g outside of what was measured (%.4g to %.4g, smallest gap "
		 "%.4g)%s",
		 about->x, l->x_low, l->x_low, l->x_high, l->smallest_gap, change);
	print_refusal(p, FIT_EXTRAPOLATED, text);
}

static void print_curvature(struct paper *p, const struct fit_about *about,
			    const struct fit_line *l)
{
	char text[SEVERAL], square[SEVERAL - 80], lower[AMOUNT], upper[AMOUNT];
	enum fit_model best = FIT_MODEL_LINE;

	say_number(about->unit, &l->square, square, sizeof(square));
	snprintf(text, sizeof(text),
		 "of the square of %s it takes %s; what the line says at 0 is wrong", about->x,
		 square);
	print_refusal(p, FIT_CURVATURE, text);
	amount(about->unit, l->lower_slope.value, lower);
	amount(about->unit, l->upper_slope.value, upper);
	if (!isnan(l->lower_slope.value))
		paper_row(p, COLUMN, "slopes",
			  "%s in the lower third of the levels, %s in the upper", lower, upper);
	for (enum fit_model m = FIT_MODEL_SQUARE; m < NR_FIT_MODELS; m++) {
		if (l->aicc[m] < l->aicc[best])
			best = m;
	}
	if (isnan(l->aicc[FIT_MODEL_LINE]) || isnan(l->aicc[FIT_MODEL_SQUARE]) ||
	    isnan(l->aicc[FIT_MODEL_X_LOG_X]))
		return;
	paper_row(p, COLUMN, "models", "AICc: line %.1f, with x^2 %.1f, with x log x %.1f: %s",
		  l->aicc[FIT_MODEL_LINE], l->aicc[FIT_MODEL_SQUARE], l->aicc[FIT_MODEL_X_LOG_X],
		  best == FIT_MODEL_LINE     ? "none is better than the line"
		  : best == FIT_MODEL_SQUARE ? "x^2 is the best of them"
					     : "x log x is the best of them");
}

static void print_refusals(struct paper *p, const struct fit_about *about, const struct fit_line *l)
{
	char text[SEVERAL], number[SEVERAL - 80];

	if (l->refused & FIT_ONE_LEVEL)
		print_refusal(p, FIT_ONE_LEVEL, "one level is no line: record others");
	if (l->refused & FIT_TWO_POINTS)
		print_refusal(p, FIT_TWO_POINTS,
			      "any two levels lie on a line, so nothing tells how wrong it is: no "
			      "interval, and nothing about 0");
	if (l->refused & FIT_FEW_LEVELS) {
		snprintf(text, sizeof(text),
			 "%zu levels hardly show whether it is a line; %d are the least", l->levels,
			 FIT_MIN_LEVELS);
		print_refusal(p, FIT_FEW_LEVELS, text);
	}
	if (l->refused & FIT_EXTRAPOLATED)
		print_extrapolated(p, about, l);
	if (l->refused & FIT_NEGATIVE) {
		say_number(about->unit, &l->intercept, number, sizeof(number));
		snprintf(text, sizeof(text), "%s, which cannot be: it is no line", number);
		print_refusal(p, FIT_NEGATIVE, text);
	}
	if (l->refused & FIT_LACK_OF_FIT) {
		snprintf(text, sizeof(text),
			 "levels are off the line by more than runs of one level differ: "
			 "F(%.0f, %.0f) = %.3g, chance %.2g",
			 l->lack_df1, l->lack_df2, l->lack_f, l->lack_chance);
		print_refusal(p, FIT_LACK_OF_FIT, text);
	}
	if (l->refused & FIT_CURVATURE)
		print_curvature(p, about, l);
}

/* Where the line is refused, and there are levels enough, those near 0 may still be one. */
static void print_local(struct paper *p, const struct fit_about *about, const struct fit_line *l)
{
	char slope[SEVERAL], intercept[SEVERAL], label[64];

	if (!(l->refused & (FIT_CURVATURE | FIT_LACK_OF_FIT | FIT_NEGATIVE)) ||
	    isnan(l->local_x_high))
		return;
	say_number(about->unit, &l->local_slope, slope, sizeof(slope));
	say_number(about->unit, &l->local_intercept, intercept, sizeof(intercept));
	snprintf(label, sizeof(label), "to %.4g", l->local_x_high);
	paper_row(p, COLUMN, label, "(the three smallest levels) per %s %s; at 0 %s", about->x,
		  slope, intercept);
}

static void print_evidence(struct paper *p, const struct fit_line *l)
{
	char lack[128] = "";

	if (l->exact) {
		paper_row(p, COLUMN, "a line?", "every run is on it, exactly");
		return;
	}
	if (!isnan(l->lack_chance))
		snprintf(lack, sizeof(lack),
			 "; levels against their runs F(%.0f, %.0f) = %.3g, chance %.2g",
			 l->lack_df1, l->lack_df2, l->lack_f, l->lack_chance);
	paper_row(p, COLUMN, "a line?",
		  "signs of the levels' residuals in %zu stretches, chance of so few %.2g%s; R2 "
		  "%.4f, which is no evidence of a line",
		  l->stretches, l->stretches_chance, lack, l->r2);
}

static void print_average(struct paper *p, const struct fit_about *about, const struct fit_line *l)
{
	char low[AMOUNT], high[AMOUNT];

	if (isnan(l->average_low) || isnan(l->average_high) || l->levels < 2)
		return;
	amount(about->unit, l->average_low, low);
	amount(about->unit, l->average_high, high);
	paper_row(p, COLUMN, "average", "all of it / %s is %s at %.4g and %s at %.4g%s", about->x,
		  low, l->x_low, high, l->x_high,
		  l->average_high < l->average_low
			  ? ": it falls, so there is a part that does not grow"
			  : "");
}

static void print_head(struct paper *p, const struct fit_about *about)
{
	char head[256];

	snprintf(head, sizeof(head), "%s: %s", about->group, about->what);
	paper_begin(p, 0, PAPER_STRONG, head);
	paper_end(p);
	if (about->without)
		paper_row(p, COLUMN, "without", "%zu records that do not have it", about->without);
}

void fit_line_text(const struct fit_about *about, const struct fit_line *line, struct buf *buf)
{
	struct paper p = { .buf = buf, .width = WIDTH };
	char text[SEVERAL];

	print_head(&p, about);
	paper_row(&p, COLUMN, "runs", "%zu at %zu level%s, %s %.4g to %.4g", line->runs,
		  line->levels, line->levels == 1 ? "" : "s", about->x, line->x_low, line->x_high);
	if (!isnan(line->slope.value)) {
		say_number(about->unit, &line->slope, text, sizeof(text));
		paper_row(&p, COLUMN, "per 1 more", "%s", text);
	}
	if (!isnan(line->intercept.value) && !(line->refused & FIT_NO_INTERCEPT)) {
		say_number(about->unit, &line->intercept, text, sizeof(text));
		paper_row(&p, COLUMN, "at 0", "%s%s", text,
			  line->refused & FIT_EXTRAPOLATED ? " (outside: see below)" : "");
	}
	print_average(&p, about, line);
	if (line->levels > 2)
		print_evidence(&p, line);
	print_refusals(&p, about, line);
	print_local(&p, about, line);
}

/* --- the knee --- */

static void print_level(struct paper *p, const struct knee_level *l, const char *budget)
{
	static const char *const words[] = { "not resolved", "holds", "BROKEN" };
	char low[AMOUNT], high[AMOUNT], label[48], count[64], text[SEVERAL] = "";

	amount(QUANTITY_SECONDS, l->quantile_low_ns / (double)NS_PER_SEC, low);
	amount(QUANTITY_SECONDS, l->quantile_high_ns / (double)NS_PER_SEC, high);
	snprintf(label, sizeof(label), "%.4g", l->x);
	if (l->fewest)
		snprintf(text, sizeof(text),
			 ": %.*s in %s..%s; above the budget %.3g..%.3g %% (95 %%)",
			 (int)strcspn(budget, "="), budget, low, high, 100 * l->above_low,
			 100 * l->above_high);
	if (l->runs == 1)
		snprintf(count, sizeof(count), "1 run of %llu", l->fewest);
	else
		snprintf(count, sizeof(count), "%zu runs of %llu or more", l->runs, l->fewest);
	paper_row(p, COLUMN, label, "%s%s; %s%s", words[l->state], text, count,
		  l->too_few ? ", TOO FEW" : "");
}

void fit_knee_text(const struct fit_about *about, const struct fit_knee *knee, const char *budget,
		   struct buf *buf)
{
	struct paper p = { .buf = buf, .width = WIDTH };
	char text[SEVERAL];

	print_head(&p, about);
	for (size_t i = 0; i < knee->n; i++)
		print_level(&p, &knee->levels[i], budget);
	switch (knee->verdict) {
	case KNEE_BETWEEN:
		snprintf(text, sizeof(text), "%s holds up to %.4g and is broken at %.4g", budget,
			 knee->low, knee->high);
		break;
	case KNEE_NOT_REACHED:
		snprintf(text, sizeof(text), "not reached up to %.4g: %s holds", knee->low, budget);
		break;
	case KNEE_ALREADY_BROKEN:
		snprintf(text, sizeof(text), "already broken at %.4g, the lowest level",
			 knee->high);
		break;
	default:
		if (knee->crossed)
			snprintf(text, sizeof(text),
				 "UNRESOLVED: broken at %.4g, and it holds above it, at %.4g",
				 knee->high, knee->low);
		else if (isnan(knee->low) && isnan(knee->high))
			snprintf(text, sizeof(text), "UNRESOLVED: no level shows either");
		else if (isnan(knee->low))
			snprintf(text, sizeof(text),
				 "UNRESOLVED: broken at %.4g, and no level below shows it to hold",
				 knee->high);
		else
			snprintf(text, sizeof(text),
				 "UNRESOLVED: holds up to %.4g, and no level above shows it broken",
				 knee->low);
		break;
	}
	paper_row(&p, COLUMN, "knee", "%s", text);
}
