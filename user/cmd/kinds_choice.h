/* SPDX-License-Identifier: MIT */
/* What the command line says of interactions: --interaction, --route, --good, --max-kinds. */
#ifndef SKYOBSERVE_CMD_KINDS_CHOICE_H
#define SKYOBSERVE_CMD_KINDS_CHOICE_H

#include "user/cmd/observer.h"
#include "user/cmd/options.h"

/* Zeroed: nothing. */
struct kinds_choice {
	struct routes routes;
	struct good_kind goods[MAX_GOODS];
	struct route_name function_kinds[MAX_FUNCTIONS];
	const char *function_names[MAX_FUNCTIONS]; /* words of the command line */
};

/*
 * Read it into @config, which then points into *ret_choice: that is to live until the observer is
 * open, and where functions are named as long as the observer. After kinds_choice_done they are
 * still there. -EINVAL says which word is wrong; -ENOMEM. kinds_choice_done, also after a failure.
 */
int kinds_choose(const struct options *options, struct observer_config *config,
		 struct kinds_choice *ret_choice, struct err *err);
void kinds_choice_done(struct kinds_choice *choice);

#endif /* SKYOBSERVE_CMD_KINDS_CHOICE_H */
