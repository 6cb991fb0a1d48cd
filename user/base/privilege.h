/* SPDX-License-Identifier: MIT */
/* What this process may do beyond its user: capabilities, ids, and how they are given up. */
#ifndef SKYOBSERVE_BASE_PRIVILEGE_H
#define SKYOBSERVE_BASE_PRIVILEGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "types.h"
#include "user/base/err.h"

/* The set that holds capability CAP_*, of linux/capability.h; sets are or-ed together. */
#define CAPABILITY(number) (1ull << (number))

struct privilege_user {
	uid_t uid;
	gid_t gid;
};

/*
 * Whom to become: the user who called sudo (@sudo_uid, @sudo_gid are the values of SUDO_UID and
 * SUDO_GID, or NULL), unless that is root or makes no sense; then nobody.
 */
void privilege_choose_user(const char *sudo_uid, const char *sudo_gid,
			   struct privilege_user *ret_user);

/*
 * Call @fn(@ctx) with the capabilities of @keep alone and, if we are root, as @user; then be as
 * before. *ret_result is what it returned. Supplementary groups stay meanwhile. Returns 0 or a
 * negative errno; -ENOTRECOVERABLE if what was given up could not be taken back.
 */
int privilege_try(const struct privilege_user *user, u64 keep, int (*fn)(void *ctx), void *ctx,
		  int *ret_result);

/* What could not be given up; all of it is said by 0 and false. */
struct privilege_left {
	u64 capabilities; /* permitted: those of @keep that we had */
	u64 bounding;	  /* without CAP_SETPCAP they stay; no_new_privs makes them useless */
	bool root;	  /* still uid 0: CAP_SETUID or CAP_SETGID was not there, or no such user */
	bool groups;	  /* supplementary groups stay: no CAP_SETGID */
};

/*
 * For ever: only the capabilities of @keep (effective and permitted; none inheritable, ambient, or
 * bounding), @user if we are root, no supplementary groups, no_new_privs, not dumpable (so that
 * processes of the same user can neither trace us nor open our descriptors). What the kernel did
 * not let go is in *ret_left. Call it while there is one thread. Returns 0, or a negative errno
 * with @err when capabilities could not be dropped or no_new_privs not be set.
 */
int privilege_drop(const struct privilege_user *user, u64 keep, struct privilege_left *ret_left,
		   struct err *err);

#endif /* SKYOBSERVE_BASE_PRIVILEGE_H */
