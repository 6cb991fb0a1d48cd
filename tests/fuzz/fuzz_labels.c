/* SPDX-License-Identifier: MIT */
/* A process may have any name: no output may change its shape by it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/render/json.h"
#include "user/render/prom.h"
#include "user/render/table.h"
#include "user/base/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static size_t count_lines(const struct buf *out)
{
	size_t n = 0;

	for (size_t i = 0; i < out->len; i++)
		n += out->bytes[i] == '\n';
	return n;
}

/* Valid UTF-8 without control bytes, in exactly @lines lines. */
static void check_text(const struct buf *out, size_t lines)
{
	const char *at = out->bytes;
	u32 c;

	if (count_lines(out) != lines || strlen(out->bytes) != out->len)
		abort();
	while (*at) {
		size_t n = utf8_next(at, &c);

		if (c != '\n' && utf8_is_control(c))
			abort();
		if (c == UTF8_REPLACEMENT && memcmp(at, UTF8_REPLACEMENT_STR, 3))
			abort();
		at += n;
	}
}

/* The label value of the only sample ends where the line does, before " 1". */
static void check_prom(const struct family_set *set, enum prom_format format, size_t lines)
{
	struct buf out = { 0 };
	const char *at;

	if (prom_render(set, format, &out))
		abort();
	check_text(&out, lines);
	at = strstr(out.bytes, "{process=\"");
	if (!at)
		abort();
	for (at += strlen("{process=\""); *at != '"'; at++) {
		if (*at == '\\' && !strchr("\\\"n", *++at))
			abort();
	}
	if (strncmp(at, "\"} 1\n", 5))
		abort();
	buf_done(&out);
}

static void check_table(const struct family_set *set)
{
	const struct table_input in = { .now = set, .interval_ns = NS_PER_SEC };
	struct buf out = { 0 };

	if (table_render(&in, &out))
		abort();
	for (const char *line = out.bytes; *line;) {
		size_t n = strcspn(line, "\n");

		for (size_t i = 0; i < n; i++) {
			if (line[i] < ' ' || line[i] > '~')
				abort();
		}
		if (n > TABLE_WIDTH || line[n] != '\n')
			abort();
		line += n + 1;
	}
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1); /* of exactly this size: a byte too far is seen */
	struct family_set set = { 0 };
	struct buf json = { 0 };
	struct sample *s;

	if (!text)
		return 0;
	memcpy(text, bytes, n);
	text[n] = '\0';
	s = family_add(&set, FAM_PROCESS_UP);
	s->u = 1;
	sample_label(&set, s, "process", text);
	s->labels[0].value =
		text; /* not the copy in the arena, whose end the sanitizer cannot see */
	check_prom(&set, PROM_TEXT, 3);
	check_prom(&set, PROM_OPENMETRICS, 4);
	if (json_render(&set, &json))
		abort();
	check_text(&json, 3);
	check_table(&set);
	buf_done(&json);
	family_set_done(&set);
	free(text);
	return 0;
}
