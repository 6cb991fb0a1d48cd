/* SPDX-License-Identifier: MIT */
/* Read what was counted of kinds of interactions into a snapshot. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/bpf/session_impl.h"

static struct kind_snap *grow(struct process_snap *p)
{
	struct kind_snap *grown = realloc(p->kinds, (p->nr_kinds + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	p->kinds = grown;
	memset(&grown[p->nr_kinds], 0, sizeof(*grown));
	return &grown[p->nr_kinds++];
}

/* The background is what the process's own account has; from here on @p has all of it. */
static int begin_kinds(const struct bpf_session *s, struct process_snap *p)
{
	const struct process_cell *cell = session_element(s, MAP_processes, p->slot);
	struct kind_snap *k = grow(p);

	if (!k)
		return -ENOMEM;
	k->account = p->slot;
	p->goroutines = cell && cell->flags & PROCESS_GOROUTINES;
	memcpy(k->cells, p->cells, sizeof(k->cells));
	if (process_snap_add_details(p, false))
		return -ENOMEM;
	memcpy(k->calls, p->calls, sizeof(k->calls));
	return 0;
}

static int read_kind(const struct bpf_session *s, struct process_snap *p,
		     const struct kind_key *key, u32 account)
{
	u32 i = account - s->bounds.max_processes;
	struct kind_snap *k;

	k = grow(p);
	if (!k)
		return -ENOMEM;
	memcpy(k->name, key->name, sizeof(key->name));
	k->account = account;
	collect_lanes(s, MAP_kind_hists, i, s->bounds.max_kinds, &k->hists, sizeof(k->hists));
	collect_lanes(s, MAP_cells, account, session_accounts(s), k->cells, sizeof(k->cells));
	/* It is there from the beginning, but counts only beyond the bound. */
	if (!k->cells[CELL_BEGUN] && !strcmp(k->name, OTHER_KIND)) {
		p->nr_kinds--;
		return 0;
	}
	collect_lanes(s, MAP_calls, s->named + i, session_call_accounts(s), k->calls,
		      sizeof(k->calls));
	counters_add(p->cells, k->cells, sizeof(p->cells));
	counters_add(p->calls, k->calls, sizeof(k->calls));
	return 0;
}

/* The kind of @p, which may be NULL, that has @account; not the background. */
static struct kind_snap *kind_of_process(struct process_snap *p, u32 account)
{
	for (size_t k = 1; p && k < p->nr_kinds; k++) {
		if (p->kinds[k].account == account)
			return &p->kinds[k];
	}
	return NULL;
}

static struct kind_snap *kind_by_account(struct snapshot *snap, u32 account)
{
	struct kind_snap *k = NULL;

	for (size_t i = 0; i < snap->nr_counted && !k; i++)
		k = kind_of_process(&snap->processes[i], account);
	return k;
}

static void add_code(struct kind_snap *k, const struct code_key *key, u64 n)
{
	struct code_count *c;

	if (k->nr_codes == MAX_KIND_CODES) {
		c = &k->codes[MAX_KIND_CODES - 1];
		c->code = CODE_OTHER;
	} else {
		c = &k->codes[k->nr_codes++];
		c->code = key->code;
		c->outcome = key->outcome;
	}
	c->n += n;
}

static int read_codes(const struct bpf_session *s, struct snapshot *snap)
{
	const struct session_map_state *m = &s->maps[MAP_codes];
	void *keys, *values;
	u32 n;
	int r = collect_hash(m, sizeof(struct code_key), &keys, &values, &n);

	if (r)
		return r;
	for (u32 i = 0; i < n; i++) {
		const struct code_key *key = &((const struct code_key *)keys)[i];
		struct kind_snap *k = kind_by_account(snap, key->account);

		if (k)
			add_code(k, key, ((const u64 *)values)[i]);
	}
	free(keys);
	free(values);
	return 0;
}

/* The kind of the interaction on @f, and *@ret_age of it; NULL: none is in flight there. */
static struct kind_snap *kind_in_flight_on(const struct flow *f, struct snapshot *snap, u64 now,
					   u64 *ret_age)
{
	u64 begin_ns = __atomic_load_n(&f->begin_ns, __ATOMIC_ACQUIRE);
	u8 state = __atomic_load_n(&f->state, __ATOMIC_ACQUIRE);
	u32 account = __atomic_load_n(&f->account, __ATOMIC_ACQUIRE);
	struct process_snap *p =
		collect_by_slot(snap, __atomic_load_n(&f->process, __ATOMIC_ACQUIRE));

	if (state != FLOW_OPEN && state != FLOW_HEAD && state != FLOW_BODY)
		return NULL;
	/* It may end and the next begin meanwhile. */
	if (begin_ns != __atomic_load_n(&f->begin_ns, __ATOMIC_ACQUIRE) || begin_ns >= now)
		return NULL;
	*ret_age = now - begin_ns;
	return kind_of_process(p, account);
}

/* By the connections in use: to look at all places would make the whole map resident. */
static int read_oldest(const struct bpf_session *s, struct snapshot *snap)
{
	void *keys, *values;
	u64 now = session_now();
	u32 n;
	int r = collect_hash(&s->maps[MAP_flow_slots], sizeof(u64), &keys, &values, &n);

	if (r)
		return r;
	for (u32 i = 0; i < n; i++) {
		const struct flow *f = session_element(s, MAP_flows, ((const u32 *)values)[i]);
		u64 age = 0;
		struct kind_snap *k = f ? kind_in_flight_on(f, snap, now, &age) : NULL;

		if (k && age > k->oldest_ns)
			k->oldest_ns = age;
	}
	free(keys);
	free(values);
	return 0;
}

static int by_account(const void *a, const void *b)
{
	const struct kind_snap *x = a, *y = b;

	return x->account < y->account ? -1 : x->account > y->account;
}

int collect_kinds(const struct bpf_session *s, struct snapshot *snap)
{
	const struct session_map_state *m = &s->maps[MAP_kinds];
	void *keys = NULL, *values = NULL;
	u32 n = 0;
	int r = 0;

	for (size_t i = 0; i < snap->nr_counted; i++)
		snap->processes[i].nr_kinds = 0;
	if (!s->groups[GROUP_INTERACTIONS].up)
		return 0;
	/* Also before it is known how a process is to be told apart: its series stay the same. */
	for (size_t i = 0; i < snap->nr_counted && !r; i++)
		r = begin_kinds(s, &snap->processes[i]);
	if (r)
		return r;
	r = collect_hash(m, sizeof(struct kind_key), &keys, &values, &n);
	for (u32 i = 0; i < n && !r; i++) {
		const struct kind_key *key = &((const struct kind_key *)keys)[i];
		struct process_snap *p = collect_by_slot(snap, key->process);

		if (p)
			r = read_kind(s, p, key, ((const u32 *)values)[i]);
	}
	free(keys);
	free(values);
	if (r)
		return r;
	/* Always in the same order: the background first, as its number is the lowest. */
	for (size_t i = 0; i < snap->nr_counted; i++) {
		struct process_snap *p = &snap->processes[i];

		if (p->nr_kinds)
			qsort(p->kinds, p->nr_kinds, sizeof(*p->kinds), by_account);
	}
	r = read_codes(s, snap);
	return r ? r : read_oldest(s, snap);
}
