/* SPDX-License-Identifier: MIT */
/* A group that is lost at its last hook is gone as a whole, and the others are as without it. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/check.h"
#include "user/bpf/session.h"

#define ALL_GROUPS ((1u << NR_GROUPS) - 1)
/* They make the programs of system calls large: minutes of verifying in a guest. */
#define LARGE_GROUPS (1u << GROUP_INTERACTIONS | 1u << GROUP_FUNCTIONS | 1u << GROUP_QUEUE)

static const struct {
	const char *name;
	u32 groups;
} hooks[] = {
#define HOOK_OBJECT(name, groups) { #name, groups },
#include "user/bpf/hooks.def"
#undef HOOK_OBJECT
};

#define NR_HOOKS (sizeof(hooks) / sizeof(hooks[0]))

/* Programs that are attached, as descriptors of ours: fdinfo of a link says its number. */
static u32 attached(void)
{
	DIR *dir = opendir("/proc/self/fdinfo");
	char path[300], line[256];
	struct dirent *entry;
	u32 n = 0;

	CHECK(dir);
	while ((entry = readdir(dir))) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			n += !strncmp(line, "link_id:", 8);
		if (f)
			fclose(f);
	}
	closedir(dir);
	return n;
}

static struct bpf_session *open_session(u32 groups, const char *refused_hook)
{
	struct bpf_session_config config = { .bounds = bpf_bounds_default,
					     .groups = groups,
					     .refused_hook = refused_hook };
	struct bpf_session *s = NULL;
	struct err err = { { 0 } };

	if (bpf_session_open(&config, &s, &err) && !refused_hook)
		FAIL("%s", err.text);
	return s;
}

/* Those that are wanted beside the hook @groups are of: the large ones only where it is theirs. */
static u32 wanted_with(u32 groups)
{
	return groups & LARGE_GROUPS ? ALL_GROUPS : ALL_GROUPS & ~LARGE_GROUPS;
}

TEST(a_lost_group_leaves_nothing_attached)
{
	for (size_t i = 0; i < NR_HOOKS; i++) {
		u32 groups = wanted_with(hooks[i].groups), want;
		struct bpf_session *s;

		if (hooks[i].groups & 1u << GROUP_PROCESS ||
		    (i + 1 < NR_HOOKS && hooks[i + 1].groups == hooks[i].groups))
			continue;
		s = open_session(groups & ~hooks[i].groups, NULL);
		want = attached();
		bpf_session_free(s);
		CHECK_EQ_U64(attached(), 0);

		s = open_session(groups, hooks[i].name);
		CHECK(s);
		for (u32 g = 0; g < NR_GROUPS; g++) {
			const struct group_state *state = &bpf_session_groups(s)[g];

			if (!(groups & 1u << g))
				continue;
			/* Lost with the interactions; and kernels before 6.3 do not have it. */
			if (g == GROUP_QUEUE && hooks[i].groups != 1u << GROUP_QUEUE)
				continue;
			if (state->up == !!(hooks[i].groups & 1u << g))
				FAIL("%s refused: group %u is %s: %s", hooks[i].name, g,
				     state->up ? "up" : "down", state->reason);
			if (!state->up &&
			    strncmp(state->reason, hooks[i].name, strlen(hooks[i].name)) != 0)
				FAIL("%s refused, and the reason is: %s", hooks[i].name,
				     state->reason);
		}
		if (attached() != want)
			FAIL("%s refused: %u programs attached, want %u", hooks[i].name, attached(),
			     want);
		bpf_session_free(s);
		CHECK_EQ_U64(attached(), 0);
	}
}

TEST(without_the_process_group_there_is_no_session)
{
	CHECK(!open_session(ALL_GROUPS, "iter_task"));
	CHECK_EQ_U64(attached(), 0);
}
