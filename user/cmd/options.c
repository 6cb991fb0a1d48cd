/* SPDX-License-Identifier: MIT */
/* The command line, by the table in options.def. */
#include "user/cmd/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "families.h"

enum option_kind {
	FLAG,
	WORD,
	NUMBER,
	WORDS,
	PIDS
};

struct option_row {
	const char *name;
	const char *commands; /* as in options.def */
	enum option_kind kind;
	size_t offset; /* of the field in struct options */
	const char *argument, *help;
};

static const struct option_row rows[] = {
#define OPT(name, commands, kind, field, argument, help) \
	{ name, commands, kind, offsetof(struct options, field), argument, help },
#include "user/cmd/options.def"
#undef OPT
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))
_Static_assert(NR_ROWS <= 64, "a bit for each option that was given");

static int add_word(struct words *words, const char *word, struct err *err)
{
	const char **grown = realloc(words->word, (words->n + 1) * sizeof(*grown));

	if (!grown)
		return err_set(err, -ENOMEM, "no memory for the command line");
	words->word = grown;
	grown[words->n++] = word;
	return 0;
}

static bool is_number(const char *word)
{
	if (!*word)
		return false;
	for (; *word; word++) {
		if (!isdigit((unsigned char)*word))
			return false;
	}
	return true;
}

static int parse_number(const char *name, const char *word, u32 *ret_number, struct err *err)
{
	unsigned long long n;

	errno = 0;
	n = is_number(word) ? strtoull(word, NULL, 10) : 0;
	if (!n || errno || n > 0x7fffffff)
		return err_set(err, -EINVAL, "--%s: `%s` is not a number above 0", name, word);
	*ret_number = (u32)n;
	return 0;
}

/* The row of `--name` or `--name=value`; the value is in *ret_value, or NULL. */
static const struct option_row *find_row(const char *word, const char **ret_value)
{
	const char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);

	for (size_t i = 0; i < NR_ROWS; i++) {
		if (strlen(rows[i].name) == len && !strncmp(rows[i].name, word, len)) {
			*ret_value = equals ? equals + 1 : NULL;
			return &rows[i];
		}
	}
	return NULL;
}

/* One word may hold several numbers: "$(pgrep app)" in quotes. */
static int add_pids(struct words *pids, char *word, struct err *err)
{
	char *save = NULL;
	char *one;

	for (one = strtok_r(word, " \t\n,", &save); one; one = strtok_r(NULL, " \t\n,", &save)) {
		int r;

		if (!is_number(one))
			return err_set(err, -EINVAL, "--pid: `%s` is not a process id", one);
		r = add_word(pids, one, err);
		if (r)
			return r;
	}
	return 0;
}

static int take_pids(struct options *o, char *value, char ***argv, struct err *err)
{
	int r = 0;

	o->pids_given = true;
	if (value)
		return add_pids(&o->pids, value, err);
	/* All that follows up to the next option; after the first, only numbers. */
	for (bool first = true; **argv && !r; first = false) {
		char *word = **argv;

		if (word[0] == '-' || (!first && !isdigit((unsigned char)word[0])))
			break;
		r = add_pids(&o->pids, word, err);
		(*argv)++;
	}
	return r;
}

static int take_value(struct options *o, const struct option_row *row, const char *value,
		      struct err *err)
{
	void *field = (char *)o + row->offset;

	if (!value[0] && row->kind != FLAG)
		return err_set(
			err, -EINVAL,
			"--%s: the value is empty; if nothing is meant, leave the option out",
			row->name);
	switch (row->kind) {
	case WORD:
		*(const char **)field = value;
		return 0;
	case WORDS:
		return add_word(field, value, err);
	case NUMBER:
		return parse_number(row->name, value, field, err);
	default:
		return err_set(err, -EINVAL, "--%s takes no value", row->name);
	}
}

/* @argv points behind the option's own word. */
static int take_option(struct options *o, char *word, char ***argv, struct err *err)
{
	const char *value = NULL;
	const struct option_row *row;

	if (!strcmp(word, "-o")) /* as compilers have it */
		word = "--output";
	row = find_row(word + 2, &value);

	if (!row)
		return err_set(err, -EINVAL, "`%s` is not an option; see --help", word);
	o->given |= 1ULL << (row - rows);
	if (row->kind == PIDS)
		return take_pids(o, value ? word + 2 + strlen(row->name) + 1 : NULL, argv, err);
	if (row->kind == FLAG && !value) {
		*(bool *)((char *)o + row->offset) = true;
		return 0;
	}
	if (row->kind != FLAG && !value) {
		value = **argv;
		if (!value)
			return err_set(err, -EINVAL, "--%s needs a value: --%s %s", row->name,
				       row->name, row->argument);
		(*argv)++;
	}
	return take_value(o, row, value, err);
}

int options_parse(int argc, char **argv, struct options *ret_options, struct err *err)
{
	struct options *o = ret_options;
	int r = 0;

	*o = (struct options){ .telemetry_path = "/metrics",
			       .max_requests = 40,
			       .interval_seconds = 2,
			       .max_processes = 1024,
			       .max_threads = 16384,
			       .max_kinds = 64 };
	if (argc && argv[0][0] != '-')
		o->command = *argv++;
	while (*argv && !r) {
		char *word = *argv++;

		if (!strcmp(word, "--")) {
			o->program = argv;
			if (!*argv)
				r = err_set(err, -EINVAL, "`--` needs a command; see --help");
			break;
		}
		if (!strcmp(word, "-h"))
			o->help = true;
		else if ((!strncmp(word, "--", 2) && word[2]) || !strcmp(word, "-o"))
			r = take_option(o, word, &argv, err);
		else if (word[0] == '-' && word[1])
			r = err_set(err, -EINVAL, "`%s` is not an option; see --help", word);
		else
			r = add_word(&o->rest, word, err);
	}
	if (!o->command)
		o->command = "serve";
	return r;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (; *words; words += strspn(words, " ")) {
		size_t n = strcspn(words, " ");

		if (n == len && !strncmp(words, word, n))
			return true;
		words += n;
	}
	return false;
}

int options_check(const struct options *options, struct err *err)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct option_row *row = &rows[i];

		if (!(options->given & 1ULL << i) || !row->commands[0] ||
		    has_word(row->commands, options->command))
			continue;
		return err_set(err, -EINVAL, "--%s means nothing to `%s`; it belongs to: %s",
			       row->name, options->command, row->commands);
	}
	return 0;
}

void options_done(struct options *options)
{
	free(options->rest.word);
	free(options->pids.word);
	free(options->comms.word);
	free(options->exes.word);
	free(options->cgroups.word);
	free(options->listen.word);
	free(options->hosts.word);
	free(options->profiles.word);
	free(options->records.word);
	free(options->interactions.word);
	free(options->routes.word);
	free(options->goods.word);
	free(options->ofs.word);
	*options = (struct options){ 0 };
}

void options_help(struct buf *out)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		char left[64];

		snprintf(left, sizeof(left), "--%s %s", rows[i].name, rows[i].argument);
		buf_printf(out, "  %-31s %s\n", left, rows[i].help);
	}
}

int options_groups(const char *list, u32 *ret_groups, struct err *err)
{
	static const char *const names[NR_GROUPS] = {
#define GROUP(id, label, help) label,
#include "groups.def"
#undef GROUP
	};
	u32 groups = 0;

	if (!list) {
		*ret_groups = (1u << NR_GROUPS) - 1;
		return 0;
	}
	while (*list) {
		size_t len = strcspn(list, ",");
		u32 g;

		for (g = 0; g < NR_GROUPS; g++) {
			if (strlen(names[g]) == len && !strncmp(names[g], list, len))
				break;
		}
		if (g == NR_GROUPS)
			return err_set(
				err, -EINVAL,
				"--groups: `%.*s` is not a probe group; see `skyobserve doctor`",
				(int)len, list);
		groups |= 1u << g;
		list += len + (list[len] == ',');
	}
	*ret_groups = groups;
	return 0;
}
