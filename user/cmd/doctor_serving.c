/* SPDX-License-Identifier: MIT */
/* What `serve` gives up on this kernel, and what it has to keep. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user/base/privilege.h"
#include "user/cmd/doctor_impl.h"

struct trial {
	const struct bpf_session *session;
};

static int may_go_on(void *ctx)
{
	const struct trial *trial = ctx;

	return bpf_session_may_go_on(trial->session);
}

static bool works_with(const struct bpf_session *session, const struct privilege_user *user,
		       u64 capabilities)
{
	struct trial trial = { .session = session };
	int works = false;

	return !privilege_try(user, capabilities, may_go_on, &trial, &works) && works;
}

static void check_capabilities_kept(struct report *r, const struct bpf_session *session)
{
	struct privilege_user user;

	privilege_choose_user(getenv("SUDO_UID"), getenv("SUDO_GID"), &user);
	if (geteuid())
		user.uid = geteuid(); /* it stays */
	if (works_with(session, &user, 0))
		report_row(r, HEALTH_OK, "while serving", NULL,
			   "needs no capability any more; it goes on as user id %u",
			   (unsigned int)user.uid);
	else if (works_with(session, &user, CAPABILITY(CAP_BPF)))
		report_row(r, HEALTH_OK, "while serving", NULL,
			   "keeps CAP_BPF: this kernel asks for it at each bpf(2); it goes on as "
			   "user id %u",
			   (unsigned int)user.uid);
	else
		report_row(r, HEALTH_LIMITED, "while serving",
			   "a kernel from 5.8 on, or less in the way of a security module",
			   "with CAP_BPF alone bpf(2) is refused: more has to be kept");
}

/* It is forked, so it has at most what we have. */
static void check_broker(struct report *r)
{
	report_row(r, HEALTH_OK, "broker", NULL,
		   "a second process, which answers no network, keeps CAP_SYS_PTRACE and "
		   "CAP_DAC_READ_SEARCH if they are there: for Go programs, and targets that come "
		   "later");
}

static void check_call_filter(struct report *r)
{
	u32 action = SECCOMP_RET_KILL_PROCESS;

	if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action))
		report_row(r, HEALTH_LIMITED, "seccomp", "a kernel with CONFIG_SECCOMP_FILTER",
			   "%s: system calls are not limited while serving", strerror(errno));
	else
		report_row(r, HEALTH_OK, "seccomp", NULL, "system calls are limited while serving");
}

/* Its version, if the kernel has it. No harm without: the filter of calls is there as well. */
static void check_landlock(struct report *r)
{
	long version =
		syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	if (version < 0)
		report_row(r, HEALTH_OK, "landlock", NULL,
			   "none in this kernel: serving can open every file that its user may "
			   "read");
	else
		report_row(r, HEALTH_OK, "landlock", NULL,
			   "serving can open files below /proc and /sys only");
}

void doctor_serving(struct report *r, const struct bpf_session *session)
{
	check_capabilities_kept(r, session);
	check_broker(r);
	check_call_filter(r);
	check_landlock(r);
}
