/* SPDX-License-Identifier: MIT */
/* Inside of the client: client.c (waiting for replies) and ask.c (what they mean). */
#ifndef SKYOBSERVE_BROKER_CLIENT_IMPL_H
#define SKYOBSERVE_BROKER_CLIENT_IMPL_H

#include "user/broker/client.h"

/* The next one of a reply that had @more; as broker_ask. */
int broker_next_reply(struct broker_client *client, u64 deadline_ns,
		      const struct broker_reply **ret_reply, struct err *err);

#endif /* SKYOBSERVE_BROKER_CLIENT_IMPL_H */
