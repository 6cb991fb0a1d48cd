/* SPDX-License-Identifier: MIT */
/* Any words on the command line are taken, or refused with one line of text. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"
#include "user/cmd/options.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define MAX_WORDS 32

/* Each word in memory of its own, of exactly its size. */
static int take_words(const uint8_t *bytes, size_t n, char *argv[MAX_WORDS + 1])
{
	int argc = 0;

	while (n && argc < MAX_WORDS) {
		const uint8_t *end = memchr(bytes, '\0', n);
		size_t len = end ? (size_t)(end - bytes) : n;
		char *word = malloc(len + 1);

		if (!word)
			break;
		memcpy(word, bytes, len);
		word[len] = '\0';
		argv[argc++] = word;
		bytes += len + (end != NULL);
		n -= len + (end != NULL);
	}
	argv[argc] = NULL;
	return argc;
}

static void check_error(const struct err *err)
{
	if (!err->text[0] || !memchr(err->text, '\0', sizeof(err->text)))
		abort();
	for (const char *c = err->text; *c; c++) {
		if ((unsigned char)*c < ' ')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *argv[MAX_WORDS + 1];
	struct err err = { { 0 } };
	struct options options;
	int argc = take_words(bytes, n, argv);
	u32 groups = 0;

	if (options_parse(argc, argv, &options, &err)) {
		check_error(&err);
	} else {
		if (!options.command || !options.max_threads || !options.interval_seconds)
			abort();
		for (size_t i = 0; i < options.pids.n; i++) {
			if (options.pids.word[i][strspn(options.pids.word[i], "0123456789")])
				abort();
		}
		err = (struct err){ { 0 } };
		if (options_groups(options.groups, &groups, &err))
			check_error(&err);
		else if (groups >> NR_GROUPS)
			abort();
	}
	options_done(&options);
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	return 0;
}
