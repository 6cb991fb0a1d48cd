/* SPDX-License-Identifier: MIT */
/* Lines of limited width. Knows nothing of what they say. */
#include "user/render/paper.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/base/utf8.h"

#define GAP	2 /* columns between two items */
#define MAX_ROW 2048

static const char *const style_codes[] = {
	[PAPER_PLAIN] = "",	   [PAPER_STRONG] = "\x1b[1m", [PAPER_FAINT] = "\x1b[2m",
	[PAPER_GOOD] = "\x1b[32m", [PAPER_BAD] = "\x1b[1;31m",
};

#define STYLE_END "\x1b[0m"

void paper_clean(const char *text, struct buf *buf)
{
	while (*text) {
		u32 c;
		size_t n = utf8_next(text, &c);

		buf_char(buf, c >= 0x20 && c < 0x7f ? (char)c : '?');
		text += n;
	}
}

static void paper_pad(struct paper *p, size_t column)
{
	while (p->column < column) {
		buf_char(p->buf, ' ');
		p->column++;
	}
}

/* @text is clean. What does not fit is cut: nothing may be wider than the terminal. */
static void paper_print(struct paper *p, enum paper_style style, const char *text, size_t n)
{
	bool styled = p->colour && style != PAPER_PLAIN && n;

	if (n > p->width - p->column)
		n = p->width - p->column;
	if (styled)
		buf_str(p->buf, style_codes[style]);
	buf_add(p->buf, text, n);
	if (styled)
		buf_str(p->buf, STYLE_END);
	p->column += n;
}

static void paper_wrap(struct paper *p)
{
	buf_char(p->buf, '\n');
	p->column = 0;
	paper_pad(p, p->indent);
}

void paper_begin(struct paper *p, size_t indent, enum paper_style style, const char *label)
{
	struct buf clean = { 0 };

	p->column = 0;
	p->indent = indent;
	paper_clean(label, &clean);
	p->buf->failed |= clean.failed;
	if (!clean.failed && clean.len)
		paper_print(p, style, clean.bytes, clean.len);
	if (p->column >= indent && p->column < p->width && indent)
		paper_print(p, PAPER_PLAIN, " ", 1);
	buf_done(&clean);
}

/* Go to where an item of @n columns may begin. */
static void paper_make_room(struct paper *p, size_t n, size_t gap)
{
	if (p->column <= p->indent)
		paper_pad(p, p->indent);
	else if (p->column + gap + n > p->width)
		paper_wrap(p);
	else
		paper_pad(p, p->column + gap);
}

void paper_item(struct paper *p, enum paper_style style, const char *fmt, ...)
{
	struct buf clean = { 0 };
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	paper_clean(text, &clean);
	p->buf->failed |= clean.failed;
	if (!clean.failed && clean.len) {
		paper_make_room(p, clean.len, GAP);
		paper_print(p, style, clean.bytes, clean.len);
	}
	buf_done(&clean);
}

void paper_text(struct paper *p, enum paper_style style, const char *text)
{
	struct buf clean = { 0 };
	const char *at, *end;

	paper_clean(text, &clean);
	p->buf->failed |= clean.failed;
	if (clean.failed || !clean.len) {
		buf_done(&clean);
		return;
	}
	end = clean.bytes + clean.len;
	for (at = clean.bytes; at < end;) {
		size_t n = strcspn(at, " ");

		if (n > p->width - p->indent)
			n = p->width - p->indent;
		if (n) {
			paper_make_room(p, n, 1);
			paper_print(p, style, at, n);
		}
		at += n;
		at += strspn(at, " ");
	}
	buf_done(&clean);
}

void paper_end(struct paper *p)
{
	buf_char(p->buf, '\n');
	p->column = 0;
}

void paper_title(struct paper *p, const char *text)
{
	if (p->buf->len)
		buf_char(p->buf, '\n');
	paper_begin(p, 0, PAPER_STRONG, text);
	paper_end(p);
}

void paper_row(struct paper *p, size_t indent, const char *label, const char *fmt, ...)
{
	char text[MAX_ROW], head[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(head, sizeof(head), "  %s", label);
	paper_begin(p, indent, PAPER_PLAIN, head);
	paper_text(p, PAPER_PLAIN, text);
	paper_end(p);
}

/* Three digits that matter. */
static int decimals_for(double x)
{
	return x < 9.995 ? 2 : x < 99.95 ? 1 : 0;
}

void human_duration(u64 ns, char ret_text[HUMAN_WIDTH])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double x = (double)ns;
	size_t unit = 0;
	u64 s = ns / NS_PER_SEC;

	if (!ns) {
		snprintf(ret_text, HUMAN_WIDTH, "0 s");
		return;
	}
	if (s >= 3600) {
		snprintf(ret_text, HUMAN_WIDTH, "%lluh %02llum", s / 3600, s / 60 % 60);
		return;
	}
	if (s >= 100) {
		snprintf(ret_text, HUMAN_WIDTH, "%llum %02llus", s / 60, s % 60);
		return;
	}
	while (x >= 999.5 && unit < 3) {
		x /= 1000;
		unit++;
	}
	snprintf(ret_text, HUMAN_WIDTH, "%.*f %s", unit ? decimals_for(x) : 0, x, units[unit]);
}

void human_amount(double amount, char ret_text[HUMAN_WIDTH])
{
	static const char *const units[] = { "", "k", "M", "G", "T", "P", "E" };
	size_t unit = 0;

	if (amount > 0 && amount < 0.005) {
		snprintf(ret_text, HUMAN_WIDTH, "<0.01");
		return;
	}
	if (amount == 0) {
		snprintf(ret_text, HUMAN_WIDTH, "0");
		return;
	}
	if (amount < 9999.5) { /* four digits need no prefix */
		snprintf(ret_text, HUMAN_WIDTH, "%.*f", decimals_for(amount), amount);
		return;
	}
	while (amount >= 999.5 && unit < 6) {
		amount /= 1000;
		unit++;
	}
	snprintf(ret_text, HUMAN_WIDTH, "%.*f%s", decimals_for(amount), amount, units[unit]);
}

void human_bytes(double bytes, char ret_text[HUMAN_WIDTH])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	size_t unit = 0;

	while (bytes >= 1023.5 && unit < 6) {
		bytes /= 1024;
		unit++;
	}
	snprintf(ret_text, HUMAN_WIDTH, "%.*f %s", unit ? decimals_for(bytes) : 0, bytes,
		 units[unit]);
}
