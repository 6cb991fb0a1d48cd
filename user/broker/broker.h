/* SPDX-License-Identifier: MIT */
/*
 * The broker: a second process that keeps the capabilities to look at other users' processes, and
 * does nothing but answer the requests of protocol.h. It answers no network and starts no program.
 */
#ifndef SKYOBSERVE_BROKER_BROKER_H
#define SKYOBSERVE_BROKER_BROKER_H

#include <stddef.h>

#include "user/base/privilege.h"
#include "user/broker/look.h"

struct broker_config {
	struct privilege_user user; /* whom to become, if we are root */
	u64 capabilities;	    /* to keep, if we have them: set of CAPABILITY() */
	size_t max_go;		    /* Go programs at a time; 0: they are not read */
	struct look_wanted wanted;  /* for BROKER_FIND */
	bool counts_sent;	    /* say what was written to connections */
	const char *store_path;	    /* for BROKER_STORE; NULL: there is none */
};

/*
 * Be the broker on the socket @fd until its other end is closed or says what no request is. For a
 * process that was just forked: closes all other descriptors but stderr. Begins with BROKER_HELLO.
 */
__attribute__((noreturn)) void broker_run(const struct broker_config *config, int fd);

#endif /* SKYOBSERVE_BROKER_BROKER_H */
