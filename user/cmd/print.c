/* SPDX-License-Identifier: MIT */
/* The end of each command that prints. */
#include "user/cmd/print.h"

#include <string.h>

#include "user/base/log.h"
#include "user/base/standard.h"
#include "user/base/utf8.h"
#include "user/cmd/targets.h"

int print_whole(const struct buf *out, int status)
{
	int r = standard_print(out);

	if (!r)
		return status;
	log_error("cannot write to standard output: %s", strerror(-r));
	return status == EXIT_GOOD ? EXIT_FAILED : status;
}

void print_clean(struct buf *text)
{
	char *line = text->bytes;

	for (size_t i = 0; i < text->len; i++) {
		if (!text->bytes[i])
			text->bytes[i] = '?';
	}
	while (line && *line) {
		char *end = strchr(line, '\n');
		char *rest = end ? end + 1 : NULL;
		size_t n;

		if (end)
			*end = '\0';
		n = strlen(line);
		utf8_hide_controls(line);
		/* It gets no longer; what it got shorter is filled up in front of the newline. */
		memset(line + strlen(line), ' ', n - strlen(line));
		if (end)
			*end = '\n';
		line = rest;
	}
}
