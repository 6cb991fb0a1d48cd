/* SPDX-License-Identifier: MIT */
/*
 * What a hit of each probe costs on this machine, measured at the start: two processes of ours are
 * observed while they do loops of known work, with the hooks attached and detached in turn; the
 * difference in CPU time is the price.
 *
 * Nothing of it stays in the books. Prices are of loops, with warm caches: a lower bound for a
 * target whose own work drives the programs out of the caches.
 */
#ifndef SKYOBSERVE_CMD_CALIBRATE_H
#define SKYOBSERVE_CMD_CALIBRATE_H

#include "user/bpf/session.h"
#include "user/model/cost.h"

/*
 * Before a target is taken in. Measures what the groups of @s that are up cost at a process with
 * @details or without: @s must have room for two of that sort. On failure *ret_prices is not known,
 * and @err says why.
 */
int calibrate(struct bpf_session *s, bool details, struct cost_prices *ret_prices, struct err *err);

#endif /* SKYOBSERVE_CMD_CALIBRATE_H */
