/* SPDX-License-Identifier: MIT */
/* Families as JSON (RFC 8259). Knows neither HTTP nor where the numbers come from. */
#include "user/render/json.h"

#include <errno.h>
#include <math.h>

#include "user/render/number.h"
#include "user/base/utf8.h"

#define MAX_NAME 128

static const char *const type_names[] = {
	[FAMILY_COUNTER] = "counter",
	[FAMILY_GAUGE] = "gauge",
	[FAMILY_HIST] = "histogram",
	[FAMILY_INFO] = "info",
};

static const char *const method_names[] = {
	[METHOD_EXACT] = "exact",
	[METHOD_BOUNDED] = "bounded",
	[METHOD_SAMPLED] = "sampled",
};

/* A string with its quotes. Control bytes are kept as escapes, broken UTF-8 becomes U+FFFD. */
void json_string(const char *text, struct buf *buf)
{
	buf_char(buf, '"');
	while (*text) {
		u32 c;
		size_t n = utf8_next(text, &c);

		if (c == '"' || c == '\\')
			buf_printf(buf, "\\%c", (char)c);
		else if (c == '\n')
			buf_str(buf, "\\n");
		else if (utf8_is_control(c) || c == 0x2028 || c == 0x2029)
			buf_printf(buf, "\\u%04x", c); /* U+2028 ends a line in JavaScript */
		else if (c == UTF8_REPLACEMENT)
			buf_str(buf, UTF8_REPLACEMENT_STR);
		else
			buf_add(buf, text, n);
		text += n;
	}
	buf_char(buf, '"');
}

static void print_real(double real, struct buf *buf)
{
	if (!isfinite(real))
		buf_char(buf, '"');
	number_real(real, buf);
	if (!isfinite(real))
		buf_char(buf, '"');
}

static void print_amount(enum value_kind kind, u64 amount, struct buf *buf)
{
	if (kind == VALUE_NS)
		number_seconds(amount, buf);
	else if (kind == VALUE_ONES && amount % HIST_ONE)
		number_real((double)amount / (double)HIST_ONE, buf);
	else if (kind == VALUE_ONES)
		number_count(amount / HIST_ONE, buf);
	else
		number_count(amount, buf);
}

static void print_hist(const struct sample *s, struct buf *buf)
{
	u64 count = 0;

	for (u32 i = 0; i < NR_HIST_BUCKETS; i++)
		count += s->hist->counts[i];
	buf_str(buf, ",\"sum\":");
	print_amount(s->kind, s->hist->sum, buf);
	buf_printf(buf, ",\"count\":%llu,\"buckets\":[", count);
	count = 0;
	for (u32 i = 0; i < NR_HIST_BOUNDS; i++) {
		count += s->hist->counts[i];
		buf_char(buf, '[');
		print_amount(s->kind, hist_bound(i), buf);
		buf_char(buf, ',');
		number_count(count, buf);
		buf_str(buf, "],");
	}
	buf_printf(buf, "[\"+Inf\",%llu]]", count + s->hist->counts[NR_HIST_BOUNDS]);
}

static void print_sample(const struct family_desc *desc, const struct sample *s, struct buf *buf)
{
	buf_str(buf, "{\"labels\":{");
	for (u32 i = 0; i < s->nr_labels; i++) {
		if (i)
			buf_char(buf, ',');
		json_string(s->labels[i].name, buf);
		buf_char(buf, ':');
		json_string(s->labels[i].value, buf);
	}
	buf_char(buf, '}');
	if (s->created_wall_ns && desc->type != FAMILY_GAUGE && desc->type != FAMILY_INFO) {
		buf_str(buf, ",\"created\":");
		number_seconds(s->created_wall_ns, buf);
	}
	if (desc->type == FAMILY_HIST) {
		print_hist(s, buf);
	} else {
		buf_str(buf, ",\"value\":");
		if (desc->type == FAMILY_INFO)
			buf_char(buf, '1');
		else if (s->kind == VALUE_REAL)
			print_real(s->real, buf);
		else
			print_amount(s->kind, s->u, buf);
	}
	buf_char(buf, '}');
}

static void print_family(const struct family_desc *desc, const struct family *f, struct buf *buf)
{
	char name[MAX_NAME];
	const char *before = "\n";

	family_name(desc, name, sizeof(name));
	buf_printf(buf,
		   "\n\"%s%s\":{\"type\":\"%s\",\"unit\":\"%s\",\"method\":\"%s\",\"help\":", name,
		   desc->type == FAMILY_COUNTER ? "_total" : "", type_names[desc->type], desc->unit,
		   method_names[desc->method]);
	json_string(desc->help, buf);
	buf_str(buf, ",\"samples\":[");
	for (size_t i = 0; i < f->nr_samples; i++) {
		if (desc->type == FAMILY_HIST && !f->samples[i].hist)
			continue;
		buf_str(buf, before);
		print_sample(desc, &f->samples[i], buf);
		before = ",\n";
	}
	buf_str(buf, "]}");
}

int json_render(const struct family_set *set, struct buf *buf)
{
	const char *before = "";

	if (set->failed)
		return -ENOMEM;
	buf_str(buf, "{\"families\":{");
	for (size_t i = 0; i < NR_FAMILIES; i++) {
		if (!set->families[i].nr_samples)
			continue;
		buf_str(buf, before);
		print_family(&family_descs[i], &set->families[i], buf);
		before = ",";
	}
	buf_str(buf, "}}\n");
	return buf->failed ? -ENOMEM : 0;
}
