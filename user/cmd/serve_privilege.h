/* SPDX-License-Identifier: MIT */
/* What serving keeps of root: as little as this kernel, asked, lets it work with. */
#ifndef SKYOBSERVE_CMD_SERVE_PRIVILEGE_H
#define SKYOBSERVE_CMD_SERVE_PRIVILEGE_H

#include "user/base/privilege.h"
#include "user/cmd/observer.h"
#include "user/cmd/options.h"

/* The capabilities that a session needs to go on, and why; by trying them out. */
struct serve_needs {
	u64 capabilities;   /* set of CAPABILITY() */
	bool targets_come;  /* processes are still to be taken in */
	bool is_not_enough; /* even with all of them something is refused: nothing may be dropped */
};

/* What serving with @options needs, now that everything is attached. Changes nothing. */
void serve_needs(const struct options *options, struct observer *o,
		 const struct privilege_user *user, struct serve_needs *ret_needs);

/* " CAP_BPF CAP_SYS_PTRACE", each with a blank before it; "" for none. */
void serve_capability_names(u64 capabilities, char *ret_text, size_t n);

/*
 * Give up everything that serving with @options does not need, for ever, and say on stderr what
 * stayed and why. For the moment when everything is attached and open. Returns 0, or a negative
 * errno with @err if capabilities could not be dropped.
 */
int serve_drop_privileges(const struct options *options, struct observer *o, struct err *err);

#endif /* SKYOBSERVE_CMD_SERVE_PRIVILEGE_H */
