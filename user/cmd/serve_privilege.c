/* SPDX-License-Identifier: MIT */
/* Which privileges the serving phase keeps. How they are dropped is user/base/privilege.c. */
#include "user/cmd/serve_privilege.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/landlock.h"
#include "user/base/log.h"
#include "user/cmd/serve_broker.h"
#include "user/cmd/serve_calls.h"

static const struct {
	u64 capability;
	const char *name, *why;
} rows[] = {
	{ CAPABILITY(CAP_BPF), "CAP_BPF", "this kernel asks for it at each bpf(2)" },
	{ CAPABILITY(CAP_SYS_ADMIN), "CAP_SYS_ADMIN", "this kernel asks for it at each bpf(2)" },
	{ CAPABILITY(CAP_SYS_PTRACE), "CAP_SYS_PTRACE", "of the broker" },
	{ CAPABILITY(CAP_DAC_READ_SEARCH), "CAP_DAC_READ_SEARCH", "of the broker" },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

struct trial {
	const struct observer *observer;
};

static int try_out(void *ctx)
{
	const struct trial *trial = ctx;

	return !observer_may_go_on(trial->observer);
}

/* What would help where bpf(2) was refused, and has not been tried yet. */
static u64 next_capability(u64 keep)
{
	if (!(keep & CAPABILITY(CAP_BPF)))
		return CAPABILITY(CAP_BPF);
	/* Kernels that take CAP_SYS_ADMIN where we were not given CAP_BPF. */
	if (!(keep & CAPABILITY(CAP_SYS_ADMIN)))
		return CAPABILITY(CAP_SYS_ADMIN);
	return 0;
}

void serve_needs(const struct options *options, struct observer *o,
		 const struct privilege_user *user, struct serve_needs *ret_needs)
{
	struct trial trial = { .observer = o };
	struct serve_needs needs = { .targets_come = serve_targets_come(options) };
	u64 more = 0;
	int refused = 0;

	do {
		needs.capabilities |= more;
		needs.is_not_enough =
			privilege_try(user, needs.capabilities, try_out, &trial, &refused);
		more = !needs.is_not_enough && refused ? next_capability(needs.capabilities) : 0;
	} while (more);
	needs.is_not_enough |= refused;
	*ret_needs = needs;
}

void serve_capability_names(u64 capabilities, char *ret_text, size_t n)
{
	size_t len = 0;

	ret_text[0] = '\0';
	for (size_t i = 0; i < NR_ROWS && len < n; i++) {
		if (capabilities & rows[i].capability)
			len += (size_t)snprintf(ret_text + len, n - len, " %s", rows[i].name);
	}
}

static void say_what_stayed(const struct privilege_left *left)
{
	char names[96];

	serve_capability_names(left->capabilities, names, sizeof(names));
	if (left->root)
		log_warn("still user id 0: CAP_SETUID and CAP_SETGID are needed to become another "
			 "user");
	if (left->groups)
		log_warn("supplementary groups stay: CAP_SETGID is needed to leave them");
	log_info("privileges dropped: user id %u, capabilities%s", (unsigned int)geteuid(),
		 names[0] ? names : " none");
	for (size_t i = 0; i < NR_ROWS; i++) {
		if (left->capabilities & rows[i].capability)
			log_info("%s stays: %s", rows[i].name, rows[i].why);
	}
}

/* The user whom we became owns files that are nobody else's business. */
static int limit_files(void)
{
	static const char *const folders[] = { "/proc", "/sys" };

	return landlock_read_only_below(folders, sizeof(folders) / sizeof(folders[0]));
}

int serve_drop_privileges(const struct options *options, struct observer *o, struct err *err)
{
	struct privilege_left left;
	struct privilege_user user;
	struct serve_needs needs;
	int r;

	privilege_choose_user(getenv("SUDO_UID"), getenv("SUDO_GID"), &user);
	serve_needs(options, o, &user, &needs);
	if (needs.is_not_enough) {
		log_warn("privileges are not dropped: without them this kernel lets nothing be "
			 "read");
		return 0;
	}
	r = privilege_drop(&user, needs.capabilities, &left, err);
	if (r)
		return r;
	say_what_stayed(&left);
	if (!limit_files())
		log_info("files: only /proc and /sys can be opened, for reading");
	r = serve_limit_calls(needs.targets_come);
	if (r)
		log_warn("system calls are not limited: %s", strerror(-r));
	return 0;
}
