/* SPDX-License-Identifier: MIT */
/* Fits for programs. What is not known, and what is refused, is null. */
#include <math.h>

#include "user/render/fit_text.h"
#include "user/render/json.h"
#include "user/render/number.h"

static void value(double v, struct buf *out)
{
	if (isfinite(v))
		number_real(v, out);
	else
		buf_str(out, "null");
}

static void named(const char *name, double v, struct buf *out)
{
	buf_printf(out, ",\"%s\":", name);
	value(v, out);
}

static void interval(const char *name, const struct fit_interval *i, struct buf *out)
{
	buf_printf(out, ",\"%s\":", name);
	if (!isfinite(i->low) || !isfinite(i->high)) {
		buf_str(out, "null");
		return;
	}
	buf_char(out, '[');
	value(i->low, out);
	buf_char(out, ',');
	value(i->high, out);
	buf_char(out, ']');
}

static void number(const char *name, const struct fit_number *n, struct buf *out)
{
	buf_printf(out, ",\"%s\":", name);
	if (!isfinite(n->value)) {
		buf_str(out, "null");
		return;
	}
	buf_str(out, "{\"value\":");
	value(n->value, out);
	interval("ci95_by_runs", &n->by_runs, out);
	interval("ci95_by_levels", &n->by_levels, out);
	buf_char(out, '}');
}

static void head(const struct fit_about *about, struct buf *out)
{
	static const char *const units[NR_QUANTITY_UNITS] = { "count", "seconds", "bytes" };

	buf_str(out, "{\"group\":");
	json_string(about->group, out);
	buf_str(out, ",\"what\":");
	json_string(about->what, out);
	buf_printf(out, ",\"unit\":\"%s\",\"x\":", units[about->unit]);
	json_string(about->x, out);
	buf_printf(out, ",\"records_without\":%zu", about->without);
}

void fit_line_json(const struct fit_about *about, const struct fit_line *line, struct buf *buf)
{
	static const struct fit_number none = { NAN, { NAN, NAN }, { NAN, NAN } };
	const char *sep = "";

	head(about, buf);
	buf_printf(buf, ",\"runs\":%zu,\"levels\":%zu", line->runs, line->levels);
	named("x_low", line->x_low, buf);
	named("x_high", line->x_high, buf);
	named("smallest_gap", line->smallest_gap, buf);
	number("slope", &line->slope, buf);
	number("intercept", line->refused & FIT_NO_INTERCEPT ? &none : &line->intercept, buf);
	named("intercept_without_smallest",
	      line->refused & FIT_NO_INTERCEPT ? (double)NAN : line->intercept_without_smallest,
	      buf);
	named("average_low", line->average_low, buf);
	named("average_high", line->average_high, buf);
	buf_printf(buf, ",\"exact\":%s", line->exact ? "true" : "false");
	named("r2", line->r2, buf);
	buf_printf(buf, ",\"stretches\":%zu", line->stretches);
	named("stretches_chance", line->stretches_chance, buf);
	named("lack_of_fit_f", line->lack_f, buf);
	named("lack_of_fit_df1", line->lack_df1, buf);
	named("lack_of_fit_df2", line->lack_df2, buf);
	named("lack_of_fit_chance", line->lack_chance, buf);
	number("square", &line->square, buf);
	number("lower_slope", &line->lower_slope, buf);
	number("upper_slope", &line->upper_slope, buf);
	number("local_slope", &line->local_slope, buf);
	number("local_intercept", &line->local_intercept, buf);
	named("local_x_high", line->local_x_high, buf);
	for (u32 m = 0; m < NR_FIT_MODELS; m++) {
		buf_printf(buf, ",\"aicc_%s\":", fit_model_names[m]);
		value(line->aicc[m], buf);
	}
	buf_str(buf, ",\"refused\":[");
	for (u32 i = 0; i < NR_FIT_REFUSALS; i++) {
		if (!(line->refused & 1u << i))
			continue;
		buf_printf(buf, "%s\"%s\"", sep, fit_refusal_names[i]);
		sep = ",";
	}
	buf_str(buf, "]}");
}

static void level(const struct knee_level *l, struct buf *out)
{
	static const char *const states[] = { "unknown", "holds", "broken" };

	buf_str(out, "{\"x\":");
	value(l->x, out);
	buf_printf(out, ",\"state\":\"%s\",\"runs\":%zu,\"fewest\":%llu,\"too_few\":%s",
		   states[l->state], l->runs, l->fewest, l->too_few ? "true" : "false");
	/* Above all bounds: there is a lower one only. */
	named("quantile_seconds_low",
	      l->fewest ? l->quantile_low_ns / (double)NS_PER_SEC : (double)NAN, out);
	named("quantile_seconds_high",
	      l->fewest ? l->quantile_high_ns / (double)NS_PER_SEC : (double)NAN, out);
	named("above_low", l->fewest ? l->above_low : (double)NAN, out);
	named("above_high", l->fewest ? l->above_high : (double)NAN, out);
	buf_char(out, '}');
}

void fit_knee_json(const struct fit_about *about, const struct fit_knee *knee, const char *budget,
		   struct buf *buf)
{
	head(about, buf);
	buf_str(buf, ",\"budget\":");
	json_string(budget, buf);
	buf_printf(buf, ",\"verdict\":\"%s\"", knee_verdict_names[knee->verdict]);
	named("holds_up_to", knee->low, buf);
	named("broken_at", knee->high, buf);
	buf_printf(buf, ",\"crossed\":%s,\"levels\":[", knee->crossed ? "true" : "false");
	for (size_t i = 0; i < knee->n; i++) {
		buf_str(buf, i ? "," : "");
		level(&knee->levels[i], buf);
	}
	buf_str(buf, "]}");
}
