/* SPDX-License-Identifier: MIT */
/* The command, and its words for a terminal. */
#include "user/cmd/explain.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/explain_impl.h"
#include "user/cmd/print.h"
#include "user/cmd/targets.h"
#include "user/render/paper.h"

#define EXPLAIN_WIDTH 80
#define WORD_COLUMN   16
#define TEXT_COLUMN   2

const char *const explain_group_names[NR_GROUPS] = {
#define GROUP(id, label, help) label,
#include "groups.def"
#undef GROUP
};

void explain_name(enum family_id id, char ret_name[METRIC_NAME_BYTES])
{
	const struct family_desc *d = &family_descs[id];
	size_t len;

	family_name(d, ret_name, METRIC_NAME_BYTES);
	len = strlen(ret_name);
	if (d->type == FAMILY_COUNTER)
		snprintf(ret_name + len, METRIC_NAME_BYTES - len, "_total");
}

const char *explain_type(enum family_id id)
{
	static const char *const types[] = {
		[FAMILY_COUNTER] = "counter",
		[FAMILY_GAUGE] = "gauge",
		[FAMILY_HIST] = "histogram",
		[FAMILY_INFO] = "info",
	};

	return types[family_descs[id].type];
}

const char *explain_method(enum family_id id)
{
	static const char *const methods[] = {
		[METHOD_EXACT] = "exact",
		[METHOD_BOUNDED] = "bounded",
		[METHOD_SAMPLED] = "sampled",
	};

	return methods[family_descs[id].method];
}

void explain_labels(const struct metric_facts *f, const char *quote, struct buf *out)
{
	for (u32 i = 0; i < f->nr_labels; i++) {
		const struct metric_label *l = &f->labels[i];

		buf_printf(out, "%s%s%s%s%s", i ? ", " : "", quote, l->name, quote,
			   l->always ? "" : " (not on every series)");
		for (u32 v = 0; v < l->nr_values; v++)
			buf_printf(out, "%s%s", v ? " | " : " = ", l->values[v]);
	}
}

static void words(u32 mask, const char *const *names, size_t n, const char *quote, struct buf *out)
{
	const char *separator = "";

	for (u32 i = 0; i < n; i++) {
		if (!(mask & 1u << i))
			continue;
		buf_printf(out, "%s%s%s%s", separator, quote, names[i], quote);
		separator = ", ";
	}
}

void explain_groups(u32 groups, const char *quote, struct buf *out)
{
	words(groups, explain_group_names, NR_GROUPS, quote, out);
}

void explain_identities(u32 identities, const char *quote, struct buf *out)
{
	words(identities, identity_names, NR_IDENTITIES, quote, out);
}

/* --- one metric on the terminal --- */

/* "labels        process, mode = user | system"; nothing without a text. Empties @text. */
static void print_word(struct paper *p, const char *word, struct buf *text)
{
	char label[WORD_COLUMN + 1];

	p->buf->failed |= text->failed;
	if (text->len && !text->failed) {
		snprintf(label, sizeof(label), "  %s", word);
		paper_begin(p, WORD_COLUMN, PAPER_FAINT, label);
		paper_text(p, PAPER_PLAIN, text->bytes);
		paper_end(p);
	}
	buf_clear(text);
}

static void print_metric(struct paper *p, const struct metric_book *book, enum family_id id)
{
	const struct family_desc *d = &family_descs[id];
	const struct metric_facts *f = &book->facts[id];
	char name[METRIC_NAME_BYTES];
	struct buf text = { 0 };

	explain_name(id, name);
	paper_begin(p, 0, PAPER_STRONG, name);
	paper_end(p);
	paper_begin(p, TEXT_COLUMN, PAPER_PLAIN, "");
	paper_text(p, PAPER_PLAIN, d->help);
	paper_end(p);
	buf_printf(&text, "%s%s%s", explain_type(id), d->unit[0] ? ", " : "", d->unit);
	print_word(p, "type", &text);
	explain_labels(f, "", &text);
	print_word(p, "labels", &text);
	buf_printf(&text, "%s; error: %s", explain_method(id), d->error);
	print_word(p, "method", &text);
	explain_groups(f->groups, "", &text);
	print_word(p, "probe groups", &text);
	explain_identities(f->identities, "", &text);
	print_word(p, "identities", &text);
	if (f->small_set)
		buf_str(&text, "also with --all, for processes that are no targets");
	print_word(p, "scope", &text);
	if (!f->published)
		buf_str(&text, "this version does not measure it");
	print_word(p, "note", &text);
	buf_done(&text);
}

static void print_list(struct buf *out, const struct metric_book *book)
{
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		const struct metric_facts *f = &book->facts[i];
		char name[METRIC_NAME_BYTES];

		explain_name(i, name);
		buf_printf(out, "%-46s %-9.9s ", name, explain_type(i));
		for (u32 k = 0; k < f->nr_labels; k++)
			buf_printf(out, "%s%s", k ? "," : "", f->labels[k].name);
		buf_char(out, '\n');
	}
}

/* --- names --- */

/* True if @word is @name, perhaps without the prefix, or one of its series. */
static bool is_name(const char *word, enum family_id id, bool without_prefix)
{
	static const char *const endings[] = { "", "_total", "_bucket", "_sum", "_count" };
	const struct family_desc *d = &family_descs[id];
	size_t skip = without_prefix && !d->exporter ? strlen(FAMILY_PREFIX) : 0;
	char name[METRIC_NAME_BYTES], full[METRIC_NAME_BYTES + 8];

	if (without_prefix && !strcmp(word, d->name))
		return true;
	family_name(d, name, sizeof(name));
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		bool fits = !i || (i == 1 ? d->type == FAMILY_COUNTER : d->type == FAMILY_HIST);

		snprintf(full, sizeof(full), "%s%s", name + skip, endings[i]);
		if (fits && !strcmp(word, full))
			return true;
	}
	return false;
}

/* The metric called @word, or NR_FAMILIES. A whole name wins over one without its prefix. */
static u32 find_metric(const char *word)
{
	for (int without_prefix = 0; without_prefix < 2; without_prefix++) {
		for (u32 i = 0; i < NR_FAMILIES; i++) {
			if (is_name(word, i, without_prefix))
				return i;
		}
	}
	return NR_FAMILIES;
}

/* Letters to insert, delete or change to make one word of the other (Levenshtein). */
static size_t distance(const char *a, const char *b)
{
	size_t row[METRIC_NAME_BYTES + 1], n = strlen(b);

	for (size_t k = 0; k <= n; k++)
		row[k] = k;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t k = 1; k <= n; k++) {
			size_t change = diagonal + (a[i] != b[k - 1]);
			size_t one = 1 + (row[k] < row[k - 1] ? row[k] : row[k - 1]);

			diagonal = row[k];
			row[k] = change < one ? change : one;
		}
	}
	return row[n];
}

static void nearest(const char *word, char ret_name[METRIC_NAME_BYTES])
{
	bool prefixed = !strncmp(word, FAMILY_PREFIX, strlen(FAMILY_PREFIX));
	size_t best = SIZE_MAX;

	for (u32 i = 0; i < NR_FAMILIES; i++) {
		size_t skip = prefixed || family_descs[i].exporter ? 0 : strlen(FAMILY_PREFIX);
		char name[METRIC_NAME_BYTES];
		size_t d;

		explain_name(i, name);
		d = distance(word, name + skip);
		if (*word && !strncmp(word, name + skip, strlen(word)))
			d = 0; /* its beginning */
		if (d < best) {
			best = d;
			snprintf(ret_name, METRIC_NAME_BYTES, "%s", name);
		}
	}
}

/* --- the command --- */

static int print_named(const struct words *rest, const struct metric_book *book, struct buf *out)
{
	struct paper p = { .buf = out,
			   .width = EXPLAIN_WIDTH,
			   .colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR") };

	for (size_t i = 0; i < rest->n; i++) {
		u32 id = find_metric(rest->word[i]);
		char name[METRIC_NAME_BYTES] = "";

		if (id == NR_FAMILIES) {
			nearest(rest->word[i], name);
			log_error("explain: `%.100s` is not a metric; the nearest is %s",
				  rest->word[i], name);
			return EXIT_USAGE;
		}
		if (i)
			buf_char(out, '\n');
		print_metric(&p, book, id);
	}
	return EXIT_GOOD;
}

static int print_asked(const struct options *options, const struct metric_book *book,
		       struct buf *out)
{
	if (options->markdown && options->rest.n) {
		log_error("explain: --markdown is about all metrics: leave out `%s`",
			  options->rest.word[0]);
		return EXIT_USAGE;
	}
	if (options->markdown)
		explain_markdown(book, out);
	else if (!options->rest.n)
		print_list(out, book);
	else
		return print_named(&options->rest, book, out);
	return EXIT_GOOD;
}

int cmd_explain(const struct options *options)
{
	struct metric_book *book = calloc(1, sizeof(*book));
	struct buf out = { 0 };
	int status;

	if (!book || metric_book_make(book)) {
		log_error("explain: no memory");
		status = EXIT_FAILED;
		goto out;
	}
	status = print_asked(options, book, &out);
	if (!status)
		status = print_whole(&out, status);
out:
	buf_done(&out);
	if (book)
		metric_book_done(book);
	free(book);
	return status;
}
