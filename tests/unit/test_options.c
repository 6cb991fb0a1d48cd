/* SPDX-License-Identifier: MIT */
/* The command line: what the table says is taken, anything else is refused by name. */
#include "tests/lib/check.h"

#include <errno.h>

#include "families.h"
#include "user/cmd/options.h"

enum option_kind {
	FLAG,
	WORD,
	NUMBER,
	WORDS,
	PIDS
};

static const struct {
	const char *name;
	enum option_kind kind;
	size_t offset;
} rows[] = {
#define OPT(name, commands, kind, field, argument, help) \
	{ name, kind, offsetof(struct options, field) },
#include "user/cmd/options.def"
#undef OPT
};

#define NR_ROWS	  (sizeof(rows) / sizeof(rows[0]))
#define MAX_WORDS 16

/* Words are copied: the parser may cut those of --pid. */
struct line {
	char text[MAX_WORDS][256];
	char *argv[MAX_WORDS + 1];
	int argc;
	struct options options;
	struct err err;
	int status;
};

static void parse_words(struct line *l, const char *const *words)
{
	*l = (struct line){ 0 };
	for (; words[l->argc]; l->argc++) {
		snprintf(l->text[l->argc], sizeof(l->text[0]), "%s", words[l->argc]);
		l->argv[l->argc] = l->text[l->argc];
	}
	l->status = options_parse(l->argc, l->argv, &l->options, &l->err);
}

#define PARSE(line, ...) parse_words(line, (const char *const[]){ __VA_ARGS__, NULL })

static void check_words(const struct words *got, const char *const *want)
{
	size_t i = 0;

	for (; want[i]; i++) {
		CHECK(i < got->n);
		CHECK_STR(got->word[i], want[i]);
	}
	CHECK_EQ_U64(got->n, i);
}

#define CHECK_WORDS(words, ...) check_words(words, (const char *const[]){ __VA_ARGS__, NULL })
#define CHECK_NO_WORDS(words)	CHECK_EQ_U64((words)->n, 0)

static void *field(struct line *l, size_t row)
{
	return (char *)&l->options + rows[row].offset;
}

TEST(options_nothing_is_serve_with_the_defaults)
{
	struct line l;

	parse_words(&l, (const char *const[]){ NULL });
	CHECK_EQ_INT(l.status, 0);
	CHECK_STR(l.options.command, "serve");
	CHECK_STR(l.options.telemetry_path, "/metrics");
	CHECK_EQ_U64(l.options.max_requests, 40);
	CHECK_EQ_U64(l.options.interval_seconds, 2);
	CHECK_EQ_U64(l.options.max_processes, 1024);
	CHECK_EQ_U64(l.options.max_threads, 16384);
	CHECK(!l.options.pids_given && !l.options.help && !l.options.version && !l.options.live);
	CHECK_STR(l.options.name, NULL);
	CHECK_STR(l.options.groups, NULL);
	CHECK_NO_WORDS(&l.options.rest);
	options_done(&l.options);
}

TEST(options_first_word_is_the_command)
{
	struct line l;

	PARSE(&l, "top", "--live", "rest", "-", "more");
	CHECK_EQ_INT(l.status, 0);
	CHECK_STR(l.options.command, "top");
	CHECK(l.options.live);
	CHECK_WORDS(&l.options.rest, "rest", "-", "more");
	options_done(&l.options);
	PARSE(&l, "--live", "top");
	CHECK_STR(l.options.command, "serve");
	CHECK_WORDS(&l.options.rest, "top");
	options_done(&l.options);
}

TEST(options_every_row_is_taken)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		char name[64];
		struct line l;

		snprintf(name, sizeof(name), "--%s", rows[i].name);
		if (rows[i].kind == FLAG)
			PARSE(&l, name);
		else
			PARSE(&l, name, "17");
		if (l.status)
			FAIL("%s: %s", name, l.err.text);
		switch (rows[i].kind) {
		case FLAG:
			CHECK(*(bool *)field(&l, i));
			break;
		case WORD:
			CHECK_STR(*(const char **)field(&l, i), "17");
			break;
		case NUMBER:
			CHECK_EQ_U64(*(u32 *)field(&l, i), 17);
			break;
		case WORDS:
		case PIDS:
			CHECK_WORDS((struct words *)field(&l, i), "17");
			break;
		}
		CHECK_NO_WORDS(&l.options.rest);
		options_done(&l.options);
	}
}

TEST(options_every_row_with_a_value_takes_it_behind_an_equals_sign)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		char word[64];
		struct line l;

		snprintf(word, sizeof(word), "--%s=18", rows[i].name);
		PARSE(&l, word, "rest");
		if (rows[i].kind == FLAG) {
			CHECK_EQ_INT(l.status, -EINVAL);
			CHECK(strstr(l.err.text, rows[i].name) && strstr(l.err.text, "no value"));
			options_done(&l.options);
			continue;
		}
		CHECK_EQ_INT(l.status, 0);
		if (rows[i].kind == WORD)
			CHECK_STR(*(const char **)field(&l, i), "18");
		else if (rows[i].kind == NUMBER)
			CHECK_EQ_U64(*(u32 *)field(&l, i), 18);
		else
			CHECK_WORDS((struct words *)field(&l, i), "18");
		CHECK_WORDS(&l.options.rest, "rest");
		options_done(&l.options);
	}
}

TEST(options_every_row_with_a_value_refuses_to_be_the_last_word)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		char name[64];
		struct line l;

		if (rows[i].kind == FLAG || rows[i].kind == PIDS)
			continue;
		snprintf(name, sizeof(name), "--%s", rows[i].name);
		PARSE(&l, "serve", name);
		CHECK_EQ_INT(l.status, -EINVAL);
		CHECK(strstr(l.err.text, name) && strstr(l.err.text, "needs a value"));
		options_done(&l.options);
	}
}

TEST(options_every_number_refuses_what_is_none)
{
	static const char *const bad[] = {
		"",   "0",  "00",  "-1",  "+1",	  "1x",		"x1",
		"1 ", " 1", "1.5", "1e3", "0x10", "2147483648", "18446744073709551617"
	};

	for (size_t i = 0; i < NR_ROWS; i++) {
		char name[64];

		if (rows[i].kind != NUMBER)
			continue;
		snprintf(name, sizeof(name), "--%s", rows[i].name);
		for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
			struct line l;

			PARSE(&l, name, bad[k]);
			if (!l.status)
				FAIL("%s took `%s`", name, bad[k]);
			CHECK_EQ_INT(l.status, -EINVAL);
			CHECK(strstr(l.err.text, name) && strstr(l.err.text, bad[k]));
			options_done(&l.options);
		}
	}
}

TEST(options_numbers_go_up_to_31_bits)
{
	struct line l;

	PARSE(&l, "--max-threads", "2147483647", "--interval=0001");
	CHECK_EQ_INT(l.status, 0);
	CHECK_EQ_U64(l.options.max_threads, 2147483647);
	CHECK_EQ_U64(l.options.interval_seconds, 1);
	options_done(&l.options);
}

TEST(options_pid_takes_all_numbers_that_follow)
{
	struct line l;

	PARSE(&l, "serve", "--pid", "1", "2", "3");
	CHECK_EQ_INT(l.status, 0);
	CHECK(l.options.pids_given);
	CHECK_WORDS(&l.options.pids, "1", "2", "3");
	options_done(&l.options);

	PARSE(&l, "--pid", "1", "2", "--live", "7");
	CHECK_WORDS(&l.options.pids, "1", "2");
	CHECK_WORDS(&l.options.rest, "7");
	CHECK(l.options.live);
	options_done(&l.options);

	PARSE(&l, "--pid", "1", "word", "2");
	CHECK_WORDS(&l.options.pids, "1");
	CHECK_WORDS(&l.options.rest, "word", "2");
	options_done(&l.options);
}

TEST(options_pid_with_an_equals_sign_takes_only_its_value)
{
	struct line l;

	PARSE(&l, "--pid=1", "2");
	CHECK_EQ_INT(l.status, 0);
	CHECK_WORDS(&l.options.pids, "1");
	CHECK_WORDS(&l.options.rest, "2");
	options_done(&l.options);
}

TEST(options_pid_takes_a_quoted_list)
{
	struct line l;

	PARSE(&l, "--pid", "1 2\n3\n", "4", "--pid=5,6", "--pid", "7");
	CHECK_EQ_INT(l.status, 0);
	CHECK_WORDS(&l.options.pids, "1", "2", "3", "4", "5", "6", "7");
	options_done(&l.options);
}

TEST(options_pid_with_nothing_behind_it_was_given)
{
	struct line l;
	static const char *const none[][3] = { { "--pid" },
					       { "--pid", "" },
					       { "--pid", " \n" },
					       { "--pid=" },
					       { "--pid", "--live" } };

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		PARSE(&l, "serve", none[i][0], none[i][1]);
		CHECK_EQ_INT(l.status, 0);
		CHECK(l.options.pids_given);
		CHECK_NO_WORDS(&l.options.pids);
		options_done(&l.options);
	}
}

TEST(options_pid_refuses_what_is_no_number)
{
	static const char *const bad[] = { "app", "1x", "0x1", "1 two", "+1", "1.5", "1;2" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct line l;

		PARSE(&l, "--pid", bad[i]);
		if (!l.status)
			FAIL("taken: `%s`", bad[i]);
		CHECK_EQ_INT(l.status, -EINVAL);
		CHECK(strstr(l.err.text, "is not a process id") != NULL);
		options_done(&l.options);
	}
}

TEST(options_pid_refuses_a_bad_number_behind_a_good_one)
{
	struct line l;

	PARSE(&l, "--pid", "1", "2x");
	CHECK_EQ_INT(l.status, -EINVAL);
	CHECK(strstr(l.err.text, "`2x`") != NULL);
	options_done(&l.options);
}

TEST(options_the_rest_is_a_command)
{
	struct line l;

	PARSE(&l, "--follow", "--", "sh", "-c", "exit 3");
	CHECK_EQ_INT(l.status, 0);
	CHECK(l.options.follow);
	CHECK_STR(l.options.program[0], "sh");
	CHECK_STR(l.options.program[2], "exit 3");
	CHECK(!l.options.program[3]);
	options_done(&l.options);
}

TEST(options_unknown_words_are_refused_by_name)
{
	static const char *const bad[] = { "--pids", "--pi", "--PID", "--unknown=1", "-p",
					   "-5",     "--",   "--=1",  "--live ",     "-hh" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct line l;

		PARSE(&l, "serve", bad[i]);
		CHECK_EQ_INT(l.status, -EINVAL);
		CHECK(strstr(l.err.text, bad[i]) && strstr(l.err.text, "--help"));
		options_done(&l.options);
	}
}

TEST(options_h_is_help)
{
	struct line l;

	PARSE(&l, "-h");
	CHECK_EQ_INT(l.status, 0);
	CHECK(l.options.help);
	options_done(&l.options);
}

TEST(options_lists_grow_and_single_words_are_replaced)
{
	struct line l;

	PARSE(&l, "--comm", "a", "--name=x", "--comm=b", "--name", "y", "--comm", "a b");
	CHECK_EQ_INT(l.status, 0);
	CHECK_WORDS(&l.options.comms, "a", "b", "a b");
	CHECK_STR(l.options.name, "y");
	options_done(&l.options);
}

TEST(options_values_may_hold_equals_signs)
{
	struct line l;

	PARSE(&l, "--comm=a=b", "--name==");
	CHECK_EQ_INT(l.status, 0);
	CHECK_WORDS(&l.options.comms, "a=b");
	CHECK_STR(l.options.name, "=");
	options_done(&l.options);
}

TEST(options_empty_values_are_refused_and_said)
{
	static const char *const names[] = { "comm", "exe",	 "cgroup", "name",
					     "user", "web.host", "groups" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char joined[64], apart[64];
		struct line l;

		snprintf(joined, sizeof(joined), "--%s=", names[i]);
		PARSE(&l, joined);
		CHECK_EQ_INT(l.status, -EINVAL);
		CHECK(strstr(l.err.text, "the value is empty"));
		CHECK(strstr(l.err.text, names[i]));
		options_done(&l.options);
		snprintf(apart, sizeof(apart), "--%s", names[i]);
		PARSE(&l, apart, "");
		CHECK_EQ_INT(l.status, -EINVAL);
		CHECK(strstr(l.err.text, "the value is empty"));
		options_done(&l.options);
	}
}

TEST(options_error_is_one_clean_line)
{
	struct line l;

	PARSE(&l, "--bad\n\033[31m");
	CHECK_EQ_INT(l.status, -EINVAL);
	CHECK(!strpbrk(l.err.text, "\n\033"));
	options_done(&l.options);
}

TEST(options_help_lists_every_row)
{
	struct buf out = { 0 };

	options_help(&out);
	CHECK(!out.failed);
#define OPT(name, commands, kind, field, argument, help)                              \
	if (!strstr(out.bytes, "  --" name " " argument) || !strstr(out.bytes, help)) \
		FAIL("not in the help: %s", name);
#include "user/cmd/options.def"
#undef OPT
	buf_done(&out);
}

TEST(options_groups_is_a_mask)
{
	struct err err = { { 0 } };
	u32 groups = 0;

	CHECK_EQ_INT(options_groups(NULL, &groups, &err), 0);
	CHECK_EQ_U64(groups, (1u << NR_GROUPS) - 1);
	CHECK_EQ_INT(options_groups("sched", &groups, &err), 0);
	CHECK_EQ_U64(groups, 1u << GROUP_SCHED);
	CHECK_EQ_INT(options_groups("fsync,process,fsync", &groups, &err), 0);
	CHECK_EQ_U64(groups, 1u << GROUP_FSYNC | 1u << GROUP_PROCESS);
}

TEST(options_groups_refuses_unknown_ones)
{
	static const char *const bad[] = { "sch",    "schedx",	     "sched syscalls",
					   ",sched", "sched,,fsync", "Sched",
					   "all" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct err err = { { 0 } };
		u32 groups = 99;

		CHECK_EQ_INT(options_groups(bad[i], &groups, &err), -EINVAL);
		CHECK_EQ_U64(groups, 99);
		CHECK(strstr(err.text, "is not a probe group") != NULL);
	}
}

TEST(options_that_a_command_does_not_use_are_refused)
{
	static const struct {
		const char *word, *command;
		bool refused;
	} cases[] = {
		{ "--pid=1", "doctor", true },	    { "--pid=1", "inspect", false },
		{ "--pid=1", "serve", false },	    { "--web.host=x", "record", true },
		{ "--live", "top", false },	    { "--groups=sched", "doctor", false },
		{ "--raw", "profile", false },	    { "--raw", "serve", true },
		{ "--markdown", "explain", false }, { "--help", "doctor", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char command[16], word[32];
		char *argv[] = { command, word, NULL };
		struct options options;
		struct err err = { { 0 } };

		snprintf(command, sizeof(command), "%s", cases[i].command);
		snprintf(word, sizeof(word), "%s", cases[i].word);
		CHECK_EQ_INT(options_parse(2, argv, &options, &err), 0);
		if (!options_check(&options, &err) == cases[i].refused)
			FAIL("%s %s: %s", cases[i].command, cases[i].word, err.text);
		options_done(&options);
	}
}
