/* SPDX-License-Identifier: MIT */
/* Whom to become, and what is left afterwards. The whole of it, as root: tests/e2e. */
#include "tests/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "user/base/landlock.h"
#include "user/base/privilege.h"

TEST(privilege_becomes_who_called_sudo_or_nobody)
{
	static const struct {
		const char *sudo_uid, *sudo_gid;
		uid_t uid;
		gid_t gid;
	} rows[] = {
		{ NULL, NULL, 65534, 65534 },	     { "1000", "1001", 1000, 1001 },
		{ "0", "0", 65534, 65534 },	     { "0", "1001", 65534, 65534 },
		{ "1000", "0", 1000, 65534 },	     { "1000", NULL, 1000, 65534 },
		{ NULL, "1000", 65534, 65534 },	     { "", "", 65534, 65534 },
		{ "-1", "1", 65534, 65534 },	     { "4294967295", "1", 65534, 65534 },
		{ "4294967296", "1", 65534, 65534 }, { "99999999999", "1", 65534, 65534 },
		{ "1000x", "1", 65534, 65534 },	     { " 1000", "1", 65534, 65534 },
		{ "00", "1", 65534, 65534 },	     { "4294967294", "1", 4294967294, 1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct privilege_user user;

		privilege_choose_user(rows[i].sudo_uid, rows[i].sudo_gid, &user);
		CHECK_EQ_U64(user.uid, rows[i].uid);
		CHECK_EQ_U64(user.gid, rows[i].gid);
	}
}

static const struct privilege_user somebody = { .uid = 12345, .gid = 12346 };

static int who_is_it(void *ctx)
{
	bool *called = ctx;

	*called = true;
	return (int)geteuid();
}

TEST(privilege_is_tried_and_taken_back)
{
	uid_t uid = geteuid();
	bool called = false;
	int result = -1;

	CHECK_EQ_INT(privilege_try(&somebody, 0, who_is_it, &called, &result), 0);
	CHECK(called);
	/* Root that may not change its user (as in some containers) stays root. */
	CHECK(result == (int)uid || (!uid && result == (int)somebody.uid));
	CHECK_EQ_U64(geteuid(), uid);
	/* And the same again: nothing was lost. */
	CHECK_EQ_INT(privilege_try(&somebody, 0, who_is_it, &called, &result), 0);
	CHECK_EQ_U64(geteuid(), uid);
}

static int dropped(void)
{
	struct privilege_left left;
	struct err err = { { 0 } };
	bool was_root = !geteuid();

	if (privilege_drop(&somebody, 0, &left, &err))
		return 1;
	if (left.capabilities || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 ||
	    prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0)
		return 2;
	if (was_root && !left.root && (getuid() != somebody.uid || getgid() != somebody.gid))
		return 3;
	if (setuid(0) == 0 && !left.root)
		return 4;
	/* There is nothing to try with any more, and nothing to give up: both still work. */
	return privilege_drop(&somebody, ~0ull, &left, &err) || left.capabilities ? 5 : 0;
}

TEST(privilege_is_dropped_for_ever)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		FAIL("fork: %s", strerror(errno));
	if (!pid)
		_exit(dropped());
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ_INT(WEXITSTATUS(status), 0);
}

/* 0, 77 where the kernel has none, or where it went wrong. */
static int only_proc(void)
{
	static const char *const folders[] = { "/proc", "/nonexistent" };
	int r;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return 1;
	r = landlock_read_only_below(folders, 2);
	if (r == -ENOSYS || r == -EOPNOTSUPP)
		return 77;
	if (r)
		return 2;
	if (open("/proc/self/stat", O_RDONLY | O_CLOEXEC) < 0)
		return 3;
	if (open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 || errno != EACCES)
		return 4;
	return open("/proc/self/comm", O_WRONLY | O_CLOEXEC) >= 0 || errno != EACCES ? 5 : 0;
}

TEST(landlock_leaves_reading_below_the_folders)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		FAIL("fork: %s", strerror(errno));
	if (!pid)
		_exit(only_proc());
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77) /* the kernel may have none, which changes nothing else */
		CHECK_EQ_INT(WEXITSTATUS(status), 0);
}
