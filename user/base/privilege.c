/* SPDX-License-Identifier: MIT */
/* Capabilities and ids of this process: capabilities(7), credentials(7). */
#define _GNU_SOURCE /* setresuid, setresgid */
#include "user/base/privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The ids of `nobody`, and of what is not mapped in a user namespace: fs.overflowuid's default. */
#define NOBODY 65534

struct capability_sets {
	u64 effective, permitted, inheritable;
};

static int get_capabilities(struct capability_sets *ret_sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capget, &header, words))
		return -errno;
	*ret_sets = (struct capability_sets){
		.effective = words[0].effective | (u64)words[1].effective << 32,
		.permitted = words[0].permitted | (u64)words[1].permitted << 32,
		.inheritable = words[0].inheritable | (u64)words[1].inheritable << 32,
	};
	return 0;
}

static int set_capabilities(const struct capability_sets *sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3] = {
		{ (u32)sets->effective, (u32)sets->permitted, (u32)sets->inheritable },
		{ (u32)(sets->effective >> 32), (u32)(sets->permitted >> 32),
		  (u32)(sets->inheritable >> 32) },
	};

	return syscall(SYS_capset, &header, words) ? -errno : 0;
}

/* An id that is neither root's nor "no change", or NOBODY. */
static u32 parse_id(const char *text)
{
	size_t n = text ? strspn(text, "0123456789") : 0;
	unsigned long long id;

	if (!n || n > 10 || text[n])
		return NOBODY;
	id = strtoull(text, NULL, 10);
	return id && id < (u32)-1 ? (u32)id : NOBODY;
}

void privilege_choose_user(const char *sudo_uid, const char *sudo_gid,
			   struct privilege_user *ret_user)
{
	ret_user->uid = parse_id(sudo_uid);
	/* The group of a user who was not taken is not taken either. */
	ret_user->gid = ret_user->uid == NOBODY ? NOBODY : parse_id(sudo_gid);
}

int privilege_try(const struct privilege_user *user, u64 keep, int (*fn)(void *ctx), void *ctx,
		  int *ret_result)
{
	struct capability_sets had = { 0 }, reduced;
	gid_t gid = getegid();
	uid_t uid = geteuid();
	bool group = false, become = false;
	int r = get_capabilities(&had), result = 0;

	if (r)
		return r;
	reduced = had;
	reduced.effective = had.permitted & keep;
	/* The saved ids stay ours, which is what lets us back. Refused: then it is tried as root.
	 */
	if (!uid) {
		group = !setegid(user->gid);
		become = !seteuid(user->uid);
	}
	r = set_capabilities(&reduced);
	if (!r)
		result = fn(ctx);
	if ((become && seteuid(uid)) || (group && setegid(gid)) || set_capabilities(&had))
		return -ENOTRECOVERABLE;
	if (!r)
		*ret_result = result;
	return r;
}

/* What cannot be dropped from the bounding set; the kernel says where its capabilities end. */
static u64 drop_bounding(void)
{
	u64 left = 0;

	for (u32 i = 0; i < 64 && prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++) {
		if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) && prctl(PR_CAPBSET_DROP, i, 0, 0, 0))
			left |= CAPABILITY(i);
	}
	return left;
}

/* Permitted capabilities outlive the change of ids; the effective ones are set afterwards. */
static void become(const struct privilege_user *user, struct privilege_left *left)
{
	left->groups = setgroups(0, NULL) && getgroups(0, NULL) > 0;
	if (geteuid() && getuid())
		return; /* an ordinary user already, by file capabilities */
	left->root = prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) ||
		     setresgid(user->gid, user->gid, user->gid) ||
		     setresuid(user->uid, user->uid, user->uid);
}

int privilege_drop(const struct privilege_user *user, u64 keep, struct privilege_left *ret_left,
		   struct err *err)
{
	struct privilege_left left = { 0 };
	struct capability_sets had = { 0 }, kept = { 0 };
	int r = get_capabilities(&had);

	if (r)
		return err_set(err, r, "cannot ask for our capabilities: %s", strerror(-r));
	left.bounding = drop_bounding();
	become(user, &left);
	kept.effective = kept.permitted = left.capabilities = had.permitted & keep;
	/* Where the ambient set is missing (before Linux 4.3), there is nothing to clear. */
	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	r = set_capabilities(&kept);
	if (r)
		return err_set(err, r, "cannot drop capabilities: %s", strerror(-r));
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return err_set(err, -errno, "cannot set no_new_privs: %s", strerror(errno));
	/* Last: a change of ids sets it to what fs.suid_dumpable says. */
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		return err_set(err, -errno, "cannot make the process undumpable: %s",
			       strerror(errno));
	*ret_left = left;
	return 0;
}
