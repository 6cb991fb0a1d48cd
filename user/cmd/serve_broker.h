/* SPDX-License-Identifier: MIT */
/* Whether serving needs a broker, what for, and what it says when that ends. */
#ifndef SKYOBSERVE_CMD_SERVE_BROKER_H
#define SKYOBSERVE_CMD_SERVE_BROKER_H

#include "user/broker/client.h"
#include "user/cmd/options.h"

/* Whether processes are taken in after serving has begun. */
bool serve_targets_come(const struct options *options);

/* What --comm, --exe and --cgroup ask for; the words belong to @options. */
void serve_wanted(const struct options *options, struct look_wanted *ret_wanted);

/*
 * Start a broker if something will be needed that only privilege gives: Go programs, processes that
 * come later, or a /proc that hides processes. For the moment before anything is opened. @groups is
 * a mask of enum probe_group; *ret_client stays NULL if none is needed. Returns 0 or a negative
 * errno with @err.
 */
int serve_start_broker(const struct options *options, u32 groups, struct broker_client **ret_client,
		       struct err *err);

/* Say what the broker keeps; NULL is fine. */
void serve_say_broker(const struct broker_client *client);

/* Take note that it has ended, and say so. */
void serve_broker_ended(struct broker_client *client);

#endif /* SKYOBSERVE_CMD_SERVE_BROKER_H */
