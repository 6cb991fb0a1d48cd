/* SPDX-License-Identifier: MIT */
/* Writing lines of limited width for a terminal: wrapping, padding, styles, harmless bytes. */
#ifndef SKYOBSERVE_RENDER_PAPER_H
#define SKYOBSERVE_RENDER_PAPER_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"
#include "user/base/buf.h"

enum paper_style {
	PAPER_PLAIN,
	PAPER_STRONG,
	PAPER_FAINT,
	PAPER_GOOD,
	PAPER_BAD,
};

struct paper {
	struct buf *buf;
	size_t width;
	bool colour;   /* styles are SGR sequences; otherwise they are nothing */
	size_t column; /* filled by the functions below */
	size_t indent; /* where a wrapped line goes on */
};

/* Append @text with every byte that is not printable ASCII as one '?' per character. */
void paper_clean(const char *text, struct buf *buf);

/* Begin a line with @label, and put what follows and what wraps at column @indent. */
void paper_begin(struct paper *p, size_t indent, enum paper_style style, const char *label);

/* Append one item of a line, cleaned, on the next line if it does not fit. */
void paper_item(struct paper *p, enum paper_style style, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Append running text, cleaned, broken between words, or inside a word that fits no line. */
void paper_text(struct paper *p, enum paper_style style, const char *text);

void paper_end(struct paper *p);

/* A heading of its own line, behind an empty line unless it is the first. */
void paper_title(struct paper *p, const char *text);

/* A line of a list: @label, indented, and what follows from column @indent on, wrapped there. */
void paper_row(struct paper *p, size_t indent, const char *label, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* --- Numbers for people: three digits that matter, never wider than 9 columns --- */

#define HUMAN_WIDTH 16

/* "0 s", "940 ns", "1.20 ms", "2.05 s", "3m 05s", "27h 46m" */
void human_duration(u64 ns, char ret_text[HUMAN_WIDTH]);
/* "0", "0.25", "12.3", "1234", "56.7k", "1.23M" */
void human_amount(double amount, char ret_text[HUMAN_WIDTH]);
/* "512 B", "34.2 MiB" */
void human_bytes(double bytes, char ret_text[HUMAN_WIDTH]);

#endif /* SKYOBSERVE_RENDER_PAPER_H */
