/* SPDX-License-Identifier: MIT */
/* The programs for functions as interactions are loaded by this kernel, and what is attached works.
 */
#include <string.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "user/bpf/session.h"

static struct bpf_session *open_session(bool force_raw_tp)
{
	static const struct route_name names[] = { { "main.f" }, { "main.g" } };
	struct bpf_session_config config = { .bounds = bpf_bounds_default,
					     .groups = (1u << NR_GROUPS) - 1,
					     .force_raw_tp = force_raw_tp,
					     .functions = names,
					     .nr_functions = 2 };
	struct bpf_session *s = NULL;
	struct err err = { { 0 } };

	if (bpf_session_open(&config, &s, &err))
		FAIL("%s", err.text);
	return s;
}

static void check_up(const struct bpf_session *s, enum probe_group group)
{
	const struct group_state *state = &bpf_session_groups(s)[group];

	if (!state->up)
		FAIL("group %d is off: %s", (int)group, state->reason);
}

TEST(functions_are_loaded_beside_all_other_groups)
{
	for (int raw = 0; raw < 2; raw++) {
		struct bpf_session *s = open_session(raw);

		check_up(s, GROUP_FUNCTIONS);
		check_up(s, GROUP_INTERACTIONS);
		check_up(s, GROUP_SCHED);
		bpf_session_free(s);
	}
}
