/* SPDX-License-Identifier: MIT */
/* Read what profilers inside of processes got. */
#include <errno.h>
#include <stdlib.h>

#include "user/bpf/session_impl.h"

bool bpf_session_census(const struct bpf_session *s, u32 slot, struct census *ret_census)
{
	const struct process_cell *p = session_element(s, MAP_processes, slot);

	if (!p || !s->groups[GROUP_CENSUS].up)
		return false;
	*ret_census = p->census;
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct leaf_count *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

int bpf_session_leaves(const struct bpf_session *s, u32 slot, u32 profile,
		       struct leaf_count **ret_leaves, size_t *ret_n)
{
	void *keys, *values;
	struct leaf_count *leaves;
	size_t nr_leaves = 0;
	u32 n;
	int r = s->maps[MAP_census_leaves].fd < 0
			? -ENOENT
			: collect_hash(&s->maps[MAP_census_leaves], sizeof(struct leaf_key), &keys,
				       &values, &n);

	if (r)
		return r;
	leaves = calloc((size_t)n + 1, sizeof(*leaves));
	for (u32 i = 0; leaves && i < n; i++) {
		const struct leaf_key *key = &((const struct leaf_key *)keys)[i];

		if (key->process == slot && key->profile == profile)
			leaves[nr_leaves++] =
				(struct leaf_count){ key->address, ((const u64 *)values)[i] };
	}
	free(keys);
	free(values);
	if (!leaves)
		return -ENOMEM;
	qsort(leaves, nr_leaves, sizeof(*leaves), by_address);
	*ret_leaves = leaves;
	*ret_n = nr_leaves;
	return 0;
}
