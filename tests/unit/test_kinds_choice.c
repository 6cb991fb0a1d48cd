/* SPDX-License-Identifier: MIT */
/* --interaction: what it makes of its words. What is refused is in tests/e2e/test_functions.py. */
#include "tests/lib/check.h"

#include <errno.h>
#include <string.h>

#include "user/cmd/kinds_choice.h"

static struct options options;
static struct observer_config config;
static struct kinds_choice choice;

static int choose(const char *one, const char *two, struct err *err)
{
	char *argv[] = { "--interaction", (char *)one, two ? "--interaction" : NULL, (char *)two,
			 NULL };
	int r;

	config = (struct observer_config){ .groups = (1u << NR_GROUPS) - 1 };
	choice = (struct kinds_choice){ 0 };
	*err = (struct err){ { 0 } };
	r = options_parse(two ? 4 : 2, argv, &options, err);
	r = r ? r : kinds_choose(&options, &config, &choice, err);
	kinds_choice_done(&choice);
	options_done(&options);
	return r;
}

TEST(interaction_http_probes_no_function)
{
	struct err err;

	CHECK_EQ_INT(choose("http", NULL, &err), 0);
	CHECK(config.groups & 1u << GROUP_INTERACTIONS);
	CHECK(!(config.groups & 1u << GROUP_FUNCTIONS));
	CHECK(config.groups & 1u << GROUP_QUEUE);
	CHECK_EQ_U64(config.nr_functions, 0);
	CHECK_EQ_INT(choose("off", NULL, &err), 0);
	CHECK(!(config.groups &
		(1u << GROUP_INTERACTIONS | 1u << GROUP_FUNCTIONS | 1u << GROUP_QUEUE)));
	CHECK_EQ_INT(choose("http", "off", &err), -EINVAL);
	CHECK_EQ_INT(choose("uprobe:", NULL, &err), -EINVAL);
}

TEST(interaction_functions_have_their_names)
{
	struct err err;

	CHECK_EQ_INT(choose("uprobe:main.f", "uprobe:main.(*app).g", &err), 0);
	CHECK(config.groups & 1u << GROUP_FUNCTIONS);
	CHECK(!(config.groups & 1u << GROUP_QUEUE));
	CHECK_EQ_U64(config.nr_functions, 2);
	CHECK_STR(config.function_kinds[0].name, "main.f");
	CHECK_STR(config.function_names[1], "main.(*app).g");
	CHECK_EQ_INT(choose("uprobe:main.f", "uprobe:main.f", &err), -EINVAL);
}

TEST(interaction_kind_of_a_long_name_is_its_end)
{
	static const struct {
		const char *name, *kind;
	} cases[] = {
		{ "example.org/a/very/long/path/of/a/package/of/somebody.(*Server).Handle",
		  ".../long/path/of/a/package/of/somebody.(*Server).Handle" },
		{ "main.abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz12",
		  "main.abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz12" },
		{ "main.f\xc3\xa4zyxabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv",
		  "main.f\xc3\xa4zyxabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv" },
		/* The cut would be inside of a letter. */
		{ "main.f\xc3\xa4zyxabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
		  "...zyxabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char word[128];
		struct err err;

		snprintf(word, sizeof(word), "uprobe:%s", cases[i].name);
		CHECK_EQ_INT(choose(word, NULL, &err), 0);
		CHECK_STR(config.function_kinds[0].name, cases[i].kind);
	}
}
