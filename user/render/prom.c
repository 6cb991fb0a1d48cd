/* SPDX-License-Identifier: MIT */
/* Prometheus' text formats. Knows neither HTTP nor where the numbers come from. */
#include "user/render/prom.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/render/number.h"
#include "user/base/utf8.h"

/*
 * Every second bound of hist.h, the powers of two, is printed: 27 and +Inf instead of 53, which
 * halves the series of a histogram at the price of a coarser quantile. 1 prints them all.
 */
#define PROM_BOUND_STEP 2

/* Prefix, name, unit and suffix of any row of the table. */
#define MAX_NAME  128
#define MAX_BOUND 24

#define NR_VALUE_KINDS (VALUE_ONES + 1)

struct printer {
	struct buf *buf;
	enum prom_format format;
	const struct family_desc *desc;
	char name[MAX_NAME]; /* of the family, without _total and _info */
	size_t name_len;
	struct buf labels; /* of the sample, without braces; printed once for all its lines */
	char bounds[NR_VALUE_KINDS][NR_HIST_BOUNDS][MAX_BOUND]; /* texts of `le`, as they are met */
};

/* Which ending a sample's name has; OpenMetrics leaves it out of the family's name. */
static const char *type_suffix(enum family_type type)
{
	switch (type) {
	case FAMILY_COUNTER:
		return "_total";
	case FAMILY_INFO:
		return "_info";
	default:
		return "";
	}
}

static const char *type_name(enum family_type type, enum prom_format format)
{
	switch (type) {
	case FAMILY_COUNTER:
		return "counter";
	case FAMILY_HIST:
		return "histogram";
	case FAMILY_INFO:
		return format == PROM_OPENMETRICS ? "info" : "gauge";
	default:
		return "gauge";
	}
}

/* The help text with backslashes, newlines and, in OpenMetrics, quotes escaped. */
static void print_help(struct printer *p)
{
	for (const char *c = p->desc->help; *c; c++) {
		if (*c == '\n')
			buf_str(p->buf, "\\n");
		else if (*c == '\\' || (*c == '"' && p->format == PROM_OPENMETRICS))
			buf_printf(p->buf, "\\%c", *c);
		else
			buf_char(p->buf, *c);
	}
}

static void print_head(struct printer *p)
{
	const struct family_desc *d = p->desc;
	const char *suffix = p->format == PROM_OPENMETRICS ? "" : type_suffix(d->type);
	const char *type = type_name(d->type, p->format);

	if (p->format == PROM_OPENMETRICS) {
		buf_printf(p->buf, "# TYPE %s %s\n", p->name, type);
		if (d->unit[0])
			buf_printf(p->buf, "# UNIT %s %s\n", p->name, d->unit);
	}
	buf_printf(p->buf, "# HELP %s%s ", p->name, suffix);
	print_help(p);
	buf_char(p->buf, '\n');
	if (p->format == PROM_TEXT)
		buf_printf(p->buf, "# TYPE %s%s %s\n", p->name, suffix, type);
}

/* Bytes that stand for themselves: most values are nothing else. */
static size_t plain_length(const char *value)
{
	size_t n = 0;

	while (value[n] >= ' ' && value[n] <= '~' && value[n] != '"' && value[n] != '\\')
		n++;
	return n;
}

static void add_label_value(const char *value, struct buf *buf)
{
	while (*value) {
		size_t n = plain_length(value);
		u32 c;

		if (n) {
			buf_add(buf, value, n);
			value += n;
			continue;
		}
		n = utf8_next(value, &c);

		if (c == '\n')
			buf_str(buf, "\\n");
		else if (c == '\\' || c == '"')
			buf_printf(buf, "\\%c", (char)c);
		else if (c == UTF8_REPLACEMENT || utf8_is_control(c))
			buf_str(buf, UTF8_REPLACEMENT_STR);
		else
			buf_add(buf, value, n);
		value += n;
	}
}

static void take_labels(struct printer *p, const struct sample *s)
{
	buf_clear(&p->labels);
	for (u32 i = 0; i < s->nr_labels; i++) {
		if (i)
			buf_char(&p->labels, ',');
		buf_str(&p->labels, s->labels[i].name);
		buf_str(&p->labels, "=\"");
		add_label_value(s->labels[i].value, &p->labels);
		buf_char(&p->labels, '"');
	}
}

static char *put(char *at, const char *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

/*
 * The name and labels of the sample, up to the value. @le is the bound of a bucket or NULL. Most of
 * the work of a large scrape is here: room is made once, not for each piece.
 */
static void print_series(struct printer *p, const char *suffix, const char *le)
{
	static const char le_name[] = "le=\"";
	size_t suffix_len = strlen(suffix), le_len = le ? strlen(le) : 0;
	size_t labels = p->labels.len + (le ? sizeof(le_name) + le_len : 0);
	bool comma = p->labels.len && le;
	char *at = buf_extend(p->buf,
			      p->name_len + suffix_len + (labels ? labels + 2 : 0) + comma + 1);

	if (!at)
		return;
	at = put(at, p->name, p->name_len);
	at = put(at, suffix, suffix_len);
	if (labels) {
		*at++ = '{';
		if (p->labels.len)
			at = put(at, p->labels.bytes, p->labels.len);
		if (comma)
			*at++ = ',';
		if (le) {
			at = put(at, le_name, sizeof(le_name) - 1);
			at = put(at, le, le_len);
			*at++ = '"';
		}
		*at++ = '}';
	}
	*at = ' ';
}

static void print_count(struct printer *p, u64 count)
{
	number_count(count, p->buf);
	buf_char(p->buf, '\n');
}

static void print_value(struct printer *p, const struct sample *s)
{
	switch (s->kind) {
	case VALUE_COUNT:
		number_count(s->u, p->buf);
		break;
	case VALUE_NS:
		number_seconds(s->u, p->buf);
		break;
	case VALUE_ONES:
		number_count(s->u / HIST_ONE, p->buf);
		break;
	case VALUE_REAL:
		number_real(s->real, p->buf);
		break;
	}
	buf_char(p->buf, '\n');
}

static void print_created(struct printer *p, const struct sample *s)
{
	if (p->format != PROM_OPENMETRICS || !s->created_wall_ns)
		return;
	print_series(p, "_created", NULL);
	number_seconds(s->created_wall_ns, p->buf);
	buf_char(p->buf, '\n');
}

/* A bound as the text of `le`, in the unit of the histogram. */
static const char *bound_text(struct printer *p, enum value_kind kind, u32 bound)
{
	char *text = p->bounds[kind][bound];
	double real = (double)hist_bound(bound);
	struct buf le = { 0 };

	if (text[0])
		return text;
	if (kind == VALUE_ONES)
		real /= (double)HIST_ONE;
	if (kind == VALUE_NS)
		real /= (double)NS_PER_SEC;
	if (p->format == PROM_OPENMETRICS)
		number_real_point(real, &le);
	else
		number_real(real, &le);
	p->buf->failed |= le.failed;
	if (!le.failed)
		snprintf(text, MAX_BOUND, "%s", le.bytes);
	buf_done(&le);
	return text;
}

static void print_hist(struct printer *p, const struct sample *s)
{
	struct sample sum = { .kind = s->kind };
	u64 count = 0;

	if (!s->hist) /* nothing was observed by this series, not even zero times */
		return;
	sum.u = s->hist->sum;
	for (u32 i = 0; i < NR_HIST_BOUNDS; i++) {
		count += s->hist->counts[i];
		if (i % PROM_BOUND_STEP)
			continue;
		print_series(p, "_bucket", bound_text(p, s->kind, i));
		print_count(p, count);
	}
	count += s->hist->counts[NR_HIST_BOUNDS];
	print_series(p, "_bucket", "+Inf");
	print_count(p, count);
	print_series(p, "_sum", NULL);
	print_value(p, &sum);
	print_series(p, "_count", NULL);
	print_count(p, count);
	print_created(p, s);
}

static void print_sample(struct printer *p, const struct sample *s)
{
	static const struct sample one = { .kind = VALUE_COUNT, .u = 1 };

	take_labels(p, s);
	if (p->desc->type == FAMILY_HIST) {
		print_hist(p, s);
		return;
	}
	print_series(p, type_suffix(p->desc->type), NULL);
	print_value(p, p->desc->type == FAMILY_INFO ? &one : s);
	if (p->desc->type == FAMILY_COUNTER)
		print_created(p, s);
}

static void print_family(const struct family_desc *desc, const struct family *f, struct printer *p)
{
	p->desc = desc;
	family_name(desc, p->name, sizeof(p->name));
	if (desc->type == FAMILY_INFO)
		p->name[strlen(p->name) - strlen(type_suffix(FAMILY_INFO))] = '\0';
	p->name_len = strlen(p->name);
	print_head(p);
	for (size_t i = 0; i < f->nr_samples; i++)
		print_sample(p, &f->samples[i]);
}

int prom_render(const struct family_set *set, enum prom_format format, struct buf *buf)
{
	struct printer p = { .buf = buf, .format = format };

	if (set->failed)
		return -ENOMEM;
	for (size_t i = 0; i < NR_FAMILIES; i++) {
		if (set->families[i].nr_samples)
			print_family(&family_descs[i], &set->families[i], &p);
	}
	if (format == PROM_OPENMETRICS)
		buf_str(buf, "# EOF\n");
	buf->failed |= p.labels.failed;
	buf_done(&p.labels);
	return buf->failed ? -ENOMEM : 0;
}
