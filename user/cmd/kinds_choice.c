/* SPDX-License-Identifier: MIT */
/* From words of the command line to the observer's configuration. */
#include "user/cmd/kinds_choice.h"

#include <errno.h>
#include <string.h>

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

int kinds_choose(const struct options *options, struct observer_config *config,
		 struct kinds_choice *ret_choice, struct err *err)
{
	const char *boundary = options->interaction;

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
		return err_set(err, -EINVAL, "--interaction %s: http and off are known", boundary);
	if (boundary)
		config->groups |= 1u << GROUP_INTERACTIONS; /* also with --groups */
	return read_kinds(options, config, ret_choice, err);
}

void kinds_choice_done(struct kinds_choice *choice)
{
	routes_done(&choice->routes);
}
