/* SPDX-License-Identifier: MIT */
/* From words of the command line to the observer's configuration. */
#include "user/cmd/kinds_choice.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/runtime/runtime.h"

#define FUNCTION_WORD "uprobe:"

static int read_goods(const struct words *words, struct good_kind *goods, struct err *err)
{
	int r = 0;

	if (words->n > MAX_GOODS)
		return err_set(err, -EINVAL, "--good: at most %d rules", MAX_GOODS);
	for (size_t i = 0; i < words->n && !r; i++) {
		r = good_parse(words->word[i], &goods[i], err);
		for (size_t k = 0; k < i && !r; k++) {
			if (!strcmp(goods[i].kind.name, goods[k].kind.name))
				r = err_set(err, -EINVAL, "--good: there are two rules for %s",
					    goods[i].kind.name);
		}
	}
	return r;
}

static int read_kinds(const struct options *o, struct observer_config *config,
		      struct kinds_choice *choice, struct err *err)
{
	int r = routes_build(o->routes.word, o->routes.n, &choice->routes, err);

	if (!r)
		r = read_goods(&o->goods, choice->goods, err);
	config->bounds.max_kinds = o->max_kinds;
	config->routes = &choice->routes;
	config->goods = choice->goods;
	config->nr_goods = (u32)o->goods.n;
	return r;
}

/* The end of a name is what tells it from others; a package's path is cut off first. */
static void shorten(const char *name, char ret_kind[KIND_NAME_BYTES])
{
	static const char mark[] = "...";
	const size_t room = KIND_NAME_BYTES - sizeof(mark);
	size_t n = strlen(name);
	const char *slash;

	if (n < KIND_NAME_BYTES) {
		memcpy(ret_kind, name, n + 1);
		return;
	}
	name += n - room;
	slash = strchr(name, '/');
	name = slash ? slash : name;
	while ((*name & 0xc0) == 0x80) /* inside of a letter of UTF-8 */
		name++;
	snprintf(ret_kind, KIND_NAME_BYTES, "%s%s", mark, name);
}

static int read_function(const char *word, struct kinds_choice *choice, u32 n, struct err *err)
{
	if (strncmp(word, FUNCTION_WORD, strlen(FUNCTION_WORD)) != 0)
		return err_set(
			err, -EINVAL,
			"--interaction %s: http and off stand alone, only uprobe:FUNCTION can "
			"be repeated",
			word);
	if (n == MAX_FUNCTIONS)
		return err_set(err, -EINVAL, "--interaction: at most %d functions", MAX_FUNCTIONS);
	choice->function_names[n] = word + strlen(FUNCTION_WORD);
	if (!*choice->function_names[n] || strlen(choice->function_names[n]) >= TARGET_TEXT)
		return err_set(err, -EINVAL,
			       "--interaction %.40s: the name of a function is to follow, as in "
			       "uprobe:net/http.serverHandler.ServeHTTP",
			       word);
	shorten(choice->function_names[n], choice->function_kinds[n].name);
	for (u32 i = 0; i < n; i++) {
		if (!strcmp(choice->function_kinds[i].name, choice->function_kinds[n].name))
			return err_set(err, -EINVAL, "--interaction: %s is there twice",
				       choice->function_kinds[n].name);
	}
	return 0;
}

static int read_functions(const struct options *o, struct observer_config *config,
			  struct kinds_choice *choice, struct err *err)
{
	const struct words *words = &o->interactions;

	if (o->all)
		return err_set(err, -EINVAL,
			       "--interaction %s: functions are not probed in the whole machine: "
			       "name the targets instead of --all",
			       words->word[0]);
	if (o->routes.n || o->goods.n)
		return err_set(err, -EINVAL, "--%s is about requests: it needs --interaction http",
			       o->routes.n ? "route" : "good");
	for (size_t i = 0; i < words->n; i++) {
		int r = read_function(words->word[i], choice, (u32)i, err);

		if (r)
			return r;
	}
	config->function_kinds = choice->function_kinds;
	config->function_names = choice->function_names;
	config->nr_functions = (u32)words->n;
	config->groups |= 1u << GROUP_INTERACTIONS | 1u << GROUP_FUNCTIONS;
	return 0;
}

/* One boundary for all processes: a request is also a call, and would be counted twice. */
static bool are_functions(const struct words *words)
{
	return words->n > 1 ||
	       (words->n && !strncmp(words->word[0], FUNCTION_WORD, strlen(FUNCTION_WORD)));
}

static int choose_boundary(const struct options *options, struct observer_config *config,
			   struct kinds_choice *ret_choice, struct err *err)
{
	const struct words *words = &options->interactions;
	const char *boundary = words->n ? words->word[0] : NULL;
	int r;

	config->groups &= ~(1u << GROUP_FUNCTIONS);
	if (are_functions(words)) {
		r = read_functions(options, config, ret_choice, err);
		return r ? r : read_kinds(options, config, ret_choice, err);
	}
	/* Of the whole machine a smaller set, unless it is asked for. */
	if (boundary ? !strcmp(boundary, "off") : options->all) {
		config->groups &= ~(1u << GROUP_INTERACTIONS);
		if (options->routes.n || options->goods.n)
			return err_set(err, -EINVAL,
				       "--%s is about interactions: it needs "
				       "--interaction http",
				       options->routes.n ? "route" : "good");
		return 0;
	}
	if (boundary && strcmp(boundary, "http") != 0)
		return err_set(err, -EINVAL,
			       "--interaction %s: http, off and uprobe:FUNCTION are known",
			       boundary);
	if (boundary)
		config->groups |= 1u << GROUP_INTERACTIONS; /* also with --groups */
	return read_kinds(options, config, ret_choice, err);
}

int kinds_choose(const struct options *options, struct observer_config *config,
		 struct kinds_choice *ret_choice, struct err *err)
{
	int r = choose_boundary(options, config, ret_choice, err);

	/* Only requests wait in sockets. */
	if (!(config->groups & 1u << GROUP_INTERACTIONS) || config->nr_functions)
		config->groups &= ~(1u << GROUP_QUEUE);
	return r;
}

void kinds_choice_done(struct kinds_choice *choice)
{
	routes_done(&choice->routes);
}
