/* SPDX-License-Identifier: MIT */
/* Whether this process may (still) do what a session that runs asks of bpf(2). */
#include <errno.h>
#include <stdlib.h>

#include "user/bpf/iter.h"
#include "user/bpf/session_impl.h"

/* Anything else is an answer to the call, and no refusal of it. */
static bool is_refused(int r)
{
	return r && (errno == EPERM || errno == EACCES);
}

/* A key that no thread has comes and goes. */
static bool refuses_hash(const struct session_map_state *m)
{
	u32 key = ~0u, next;
	struct seed_call value = { 0 };

	return is_refused(bpf_map_update_elem(m->fd, &key, &value, BPF_ANY)) ||
	       is_refused(bpf_map_lookup_elem(m->fd, &key, &value)) ||
	       is_refused(bpf_map_get_next_key(m->fd, NULL, &next)) ||
	       is_refused(bpf_map_delete_elem(m->fd, &key));
}

/* One element is taken from a list and put back where it was. */
static bool refuses_list(const struct session_map_state *m)
{
	u32 value;

	if (bpf_map_lookup_and_delete_elem(m->fd, NULL, &value))
		return is_refused(-1);
	return is_refused(bpf_map_update_elem(m->fd, NULL, &value, BPF_ANY));
}

static bool refuses_batch(const struct session_map_state *m)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	u32 key[4], n = 1;
	u64 cursor, value;

	return m->fd >= 0 && m->value_size == sizeof(value) &&
	       is_refused(bpf_map_lookup_batch(m->fd, NULL, &cursor, key, &value, &n, &opts));
}

static bool refuses_facts(const struct bpf_session *s)
{
	for (size_t i = 0; i < MAX_SESSION_OBJECTS; i++) {
		const struct bpf_program *prog =
			s->objects[i] ? bpf_object__next_program(s->objects[i], NULL) : NULL;
		struct bpf_prog_info facts = { 0 };
		u32 bytes = sizeof(facts);

		if (prog)
			return is_refused(
				bpf_obj_get_info_by_fd(bpf_program__fd(prog), &facts, &bytes));
	}
	return false;
}

bool bpf_session_may_go_on(const struct bpf_session *s)
{
	struct err err;
	int r;

	if (refuses_hash(&s->maps[MAP_seed_calls]) || refuses_list(&s->maps[MAP_free_processes]) ||
	    refuses_batch(&s->maps[MAP_errors]) || refuses_facts(s))
		return false;
	r = iter_run(s, NULL, NULL, &err);
	return r != -EPERM && r != -EACCES;
}
