/* SPDX-License-Identifier: MIT */
/*
 * Outputs that are compared whole with files of tests/golden, which are read before they are
 * committed. With GOLDEN_UPDATE=1 in the environment the files are written instead. A header with
 * code in it, as check.h is.
 */
#ifndef SKYOBSERVE_TESTS_GOLDEN_H
#define SKYOBSERVE_TESTS_GOLDEN_H

#include "tests/lib/check.h"

#include <errno.h>

#include "user/base/buf.h"

static inline void golden_read(const char *path, struct buf *ret_text)
{
	char chunk[4096];
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		FAIL("%s: %s; run from the top of the tree, GOLDEN_UPDATE=1 writes it", path,
		     strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)))
		buf_add(ret_text, chunk, n);
	fclose(f);
}

static inline void golden_write(const char *path, const struct buf *text)
{
	FILE *f = fopen(path, "we");

	if (!f || fwrite(text->bytes, 1, text->len, f) != text->len || fclose(f))
		FAIL("%s: cannot write", path);
}

/* With tests/golden/@name, line by line, so that a difference is named where it is. Frees @got. */
static inline void golden_check(const char *name, struct buf *got)
{
	struct buf want = { 0 };
	const char *g, *w;
	char path[128];
	size_t line = 1;

	CHECK(!got->failed && got->bytes);
	snprintf(path, sizeof(path), "tests/golden/%s", name);
	if (getenv("GOLDEN_UPDATE"))
		golden_write(path, got);
	golden_read(path, &want);
	for (g = got->bytes, w = want.bytes; *g && *w; line++) {
		size_t gn = strcspn(g, "\n"), wn = strcspn(w, "\n");

		if (gn != wn || memcmp(g, w, gn) != 0)
			FAIL("%s:%zu: got \"%.*s\", want \"%.*s\"", path, line, (int)gn, g, (int)wn,
			     w);
		g += gn + (g[gn] == '\n');
		w += wn + (w[wn] == '\n');
	}
	CHECK_EQ_U64(got->len, want.len);
	buf_done(got);
	buf_done(&want);
}

#endif /* SKYOBSERVE_TESTS_GOLDEN_H */
