/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of flows (connections of targets), of kinds, and of interactions.
 *
 * The functions named current_* are about the thread that runs now. They are global functions, with
 * numbers for arguments: the verifier looks at each once, whoever calls it. Inlined everywhere the
 * hooks would be too large for it.
 */
#ifndef SKYOBSERVE_FLOWS_BPF_H
#define SKYOBSERVE_FLOWS_BPF_H

#include "http.bpf.h"
#include "sched.bpf.h"
#include "threads.bpf.h"
#include "waits.bpf.h"

static __always_inline bool flow_is_open(const struct flow *f)
{
	return f->state == FLOW_OPEN || f->state == FLOW_HEAD || f->state == FLOW_BODY;
}

/* The flow of @slot1 - 1, NULL for 0. */
static __always_inline struct flow *flow_at(u32 slot1)
{
	u32 slot = slot1 - 1;

	return slot1 ? bpf_map_lookup_elem(&flows, &slot) : NULL;
}

/* The interaction that @t is charging, if it has not ended meanwhile. */
static __always_inline struct flow *flow_of(const struct thread_cell *t)
{
	struct flow *f = flow_at(t->flow);

	return f && f->begin_ns == t->flow_begin_ns && flow_is_open(f) ? f : NULL;
}

static __always_inline struct thread_cell *thread_of_current(void)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();

	return thread_known(pid_tgid, pid_tgid >> 32);
}

static __always_inline struct process_cell *process_of(const struct thread_cell *t)
{
	u32 slot = t->process;

	return bpf_map_lookup_elem(&processes, &slot);
}

static __always_inline struct account_cells *cells_of(u32 account)
{
	u32 key = lane() * cfg.max_accounts + account;

	return bpf_map_lookup_elem(&cells, &key);
}

/* The inode of the socket that descriptor @fd of the current task is open on; 0: it is none. */
static __always_inline u64 socket_inode(s32 fd)
{
	struct file *file = compat_current_fd_file(fd);
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;

	if (!inode || (BPF_CORE_READ(inode, i_mode) & FILE_TYPE_MASK) != FILE_TYPE_SOCK)
		return 0;
	return BPF_CORE_READ(inode, i_ino);
}

/* 1 + the slot of a connection, 0 if no request was read on it. */
static __always_inline u32 flow_find(u64 inode)
{
	u32 *slot = bpf_map_lookup_elem(&flow_slots, &inode);

	return slot ? *slot + 1 : 0;
}

/* The same; most often it is what the thread works for. */
static __always_inline u32 flow_on(const struct thread_cell *t, u64 inode)
{
	const struct flow *f = flow_at(t->flow);

	return f && f->inode == inode ? t->flow : flow_find(inode);
}

/* A free place, which is taken; NULL: there is none. */
static __always_inline struct flow *flow_take(u32 *ret_slot)
{
	u32 slot;

	if (bpf_map_pop_elem(&free_flows, &slot))
		return NULL;
	*ret_slot = slot;
	return bpf_map_lookup_elem(&flows, &slot);
}

/* The place of a connection, taken for it; 0: there is none, which is a loss if it is @needed. */
static __always_inline u32 flow_add(const struct thread_cell *t, u64 inode, bool needed)
{
	u32 slot = 0;
	struct flow *f = flow_take(&slot);

	if (!f) {
		if (needed)
			drop(DROP_FLOWS_FULL);
		return 0;
	}
	f->process = t->process;
	f->tgid = t->tgid;
	f->state = FLOW_IDLE;
	f->ahead = 0;
	f->owner = 0;
	f->ready_ns = 0;
	f->inode = inode;
	if (bpf_map_update_elem(&flow_slots, &inode, &slot, BPF_NOEXIST)) {
		f->inode = 0;
		bpf_map_push_elem(&free_flows, &slot, BPF_ANY);
		return flow_find(inode); /* another thread was first */
	}
	return slot + 1;
}

static __always_inline void flow_release(struct flow *f, u32 slot)
{
	struct owner_key key = { .owner = f->owner, .tgid = f->tgid };
	u64 inode = f->inode;
	u32 *owned;

	if (!inode)
		return;
	owned = f->owner ? bpf_map_lookup_elem(&owner_flows, &key) : NULL;
	if (owned && *owned == slot) /* else it serves another connection by now */
		bpf_map_delete_elem(&owner_flows, &key);
	f->inode = 0;
	bpf_map_delete_elem(&flow_slots, &inode);
	bpf_map_push_elem(&free_flows, &slot, BPF_ANY);
}

/*
 * From now on the current thread works for flow @slot1 (0: for none). The CPU time since the last
 * event is charged to the account before, or with @incoming to the one after; its wait for the CPU
 * before that, to the one before.
 */
__noinline int current_works_for(u32 slot1, u32 incoming, u64 now)
{
	struct thread_cell *t = thread_of_current();
	struct flow *after = flow_at(slot1), *before;
	struct account_cells *was, *will;
	struct task_counts counts;
	u32 account;
	u64 on;

	if (!t)
		return 0;
	before = flow_of(t);
	account = t->process; /* its background */
	if (after) /* no ?: with fields: the compiler takes both addresses before it asks */
		account = *(const volatile u32 *)&after->account;
	if (t->flow == slot1 && t->account == account && after == before)
		return 0;
	was = account_cells(t);
	will = cells_of(account);
	compat_current_counts(&counts);
	on = sched_settle(t, incoming ? will : was, was, &counts, now);
	if (incoming && after)
		add(&after->cpu_ns, on);
	else if (!incoming && before)
		add(&before->cpu_ns, on);
	t->account = account;
	t->flow = after ? slot1 : 0;
	t->flow_begin_ns = after ? after->begin_ns : 0;
	return 0;
}

/* The current thread is charged @on of CPU time: it may be for an interaction. */
__noinline int current_spends(u64 on)
{
	struct thread_cell *t = thread_of_current();
	struct flow *f = t ? flow_of(t) : NULL;

	if (f)
		add(&f->cpu_ns, on);
	return 0;
}

/* A thread gets a CPU again that it left at @out_ns, while it worked for the flow. */
__noinline int flow_rests(u32 slot1, u64 begin_ns, u64 out_ns, u64 now)
{
	struct flow *f = flow_at(slot1);

	if (f && f->begin_ns == begin_ns && flow_is_open(f))
		add(&f->off_cpu_ns, elapsed(now, out_ns > begin_ns ? out_ns : begin_ns));
	return 0;
}

/* A request that fits a route is of its kind. */
static __always_inline void name_by_route(struct http_request *r)
{
	const struct route_name *name = NULL;
	const struct route_state *state;
	u32 key = r->route;

	if (!cfg.nr_routes)
		return;
	state = bpf_map_lookup_elem(&route_states, &key);
	key = state ? state->route1 : 0;
	if (key--)
		name = bpf_map_lookup_elem(&route_names, &key);
	if (name)
		__builtin_memcpy(r->name, name->name, KIND_NAME_BYTES);
}

/* What is to be found out about the response to a request of this kind. */
static __always_inline void outcome_begin(struct flow *f)
{
	struct route_name kind;
	const u32 *rule;

	f->outcome = OUTCOME_NONE;
	if (!cfg.nr_goods)
		return;
	__builtin_memcpy(kind.name, f->request.name, KIND_NAME_BYTES);
	rule = bpf_map_lookup_elem(&good_kinds, &kind);
	if (!rule)
		return;
	f->good = *rule;
	f->good_at = 0;
	f->body_bytes = 0;
	f->chunks.left = 0;
	f->chunks.state = CHUNK_SIZE;
	f->outcome = OUTCOME_OPEN;
}

static __always_inline u32 outcome_end(const struct flow *f, u32 code)
{
	const struct good_rule *rule;
	u32 key = f->good;

	if (!cfg.nr_goods || f->outcome == OUTCOME_NONE || code == INTERACTION_ABORTED)
		return OUTCOME_NONE;
	if (code < 200 || code >= 400)
		return OUTCOME_EMPTY;
	if (f->outcome != OUTCOME_OPEN)
		return f->outcome;
	rule = bpf_map_lookup_elem(&good_rules, &key);
	if (rule && !rule->n)
		return f->body_bytes >= rule->min_bytes ? OUTCOME_GOOD : OUTCOME_EMPTY;
	return OUTCOME_EMPTY; /* the body was over before the prefix was */
}

/* The account of a kind, taken from the pool at its first request; beyond the bound: `other`. */
static __always_inline u32 kind_account(const struct flow *f)
{
	struct kind_key key = { .process = f->process };
	u32 account, *known;

	__builtin_memcpy(key.name, f->request.name, KIND_NAME_BYTES);
	known = bpf_map_lookup_elem(&kinds, &key);
	if (known)
		return *known;
	if (!bpf_map_pop_elem(&free_kinds, &account)) {
		if (!bpf_map_update_elem(&kinds, &key, &account, BPF_NOEXIST))
			return account;
		bpf_map_push_elem(&free_kinds, &account, BPF_ANY);
		known = bpf_map_lookup_elem(&kinds, &key);
		if (known)
			return *known;
	}
	__builtin_memset(key.name, 0, KIND_NAME_BYTES);
	__builtin_memcpy(key.name, OTHER_KIND, sizeof(OTHER_KIND));
	known = bpf_map_lookup_elem(&kinds, &key);
	return known ? *known : f->process;
}

/*
 * From now on what @owner does is for the flow. The entry stays when the interaction ends: net/http
 * serves a connection by one goroutine, and its next request finds it.
 */
static __always_inline void flow_owned_by(struct flow *f, u32 slot, u64 owner)
{
	struct owner_key key = { .owner = f->owner, .tgid = f->tgid };
	u32 *known;

	if (f->owner && f->owner != owner)
		bpf_map_delete_elem(&owner_flows, &key);
	f->owner = owner;
	if (!owner)
		return;
	key.owner = owner;
	known = bpf_map_lookup_elem(&owner_flows, &key);
	if (known && *known == slot)
		return;
	if (bpf_map_update_elem(&owner_flows, &key, &slot, BPF_ANY)) {
		drop(DROP_OWNERS_FULL);
		f->owner = 0;
	}
}

/* The request on @slot1 is all there: the current thread has read it. */
__noinline int current_begins(u32 slot1, u64 now)
{
	struct thread_cell *t = thread_of_current();
	struct process_cell *p = t ? process_of(t) : NULL;
	struct flow *f = flow_at(slot1);

	if (!p || !f)
		return 0;
	name_end(&f->request);
	name_by_route(&f->request);
	outcome_begin(f);
	f->account = kind_account(f);
	f->cpu_ns = 0;
	f->off_cpu_ns = 0;
	f->enters = 0;
	f->fsyncs = 0;
	f->ahead = 0;
	flow_owned_by(f, slot1 - 1, p->owner.mode == OWNER_GO ? t->owner : 0);
	f->state = FLOW_OPEN;
	__sync_fetch_and_add(&p->open_flows, 1);
	charge(cells_of(f->account), CELL_BEGUN, 1);
	return current_works_for(slot1, 0, now);
}

static __always_inline void count_code(u32 account, u32 code, u32 outcome)
{
	struct code_key key = { .account = account, .code = code, .outcome = outcome };
	u64 *n = bpf_map_lookup_elem(&codes, &key);
	u64 zero = 0;

	if (!n) {
		bpf_map_update_elem(&codes, &key, &zero, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&codes, &key);
	}
	if (n)
		add(n, 1);
	else
		drop(DROP_CODES_FULL);
}

static __always_inline void observe_interaction(struct flow *f, u64 end_ns)
{
	u32 key = lane() * cfg.max_kinds + f->account - cfg.max_processes;
	struct kind_hists *h = bpf_map_lookup_elem(&kind_hists, &key);
	u64 wall = elapsed(end_ns, f->begin_ns), known = f->cpu_ns + f->off_cpu_ns;

	if (f->owner) /* what a thread does beside its connection is not told apart */
		charge(cells_of(f->account), CELL_UNOWNED_WALL, elapsed(wall, known));
	if (!h)
		return;
	hist_add(&h->duration, wall);
	hist_add(&h->cpu, f->cpu_ns);
	hist_add(&h->off_cpu, f->off_cpu_ns);
	hist_add(&h->enters, f->enters * HIST_ONE);
	hist_add(&h->fsyncs, f->fsyncs * HIST_ONE);
	if (group_on(GROUP_QUEUE) && f->queued_ns)
		hist_add(&h->queue, elapsed(f->begin_ns, f->queued_ns));
}

/*
 * The interaction on @slot1 is over: @code is the status of the response, INTERACTION_ABORTED if
 * there was none, or INTERACTION_SESSION.
 */
__noinline int current_ends(u32 slot1, u64 end_ns, u32 code, u64 now)
{
	struct thread_cell *t = thread_of_current();
	struct process_cell *p = t ? process_of(t) : NULL;
	struct flow *f = flow_at(slot1);

	if (!p || !f)
		return 0;
	if (t->flow == slot1)
		current_works_for(0, 0, now);
	__sync_fetch_and_add(&p->open_flows, -1);
	charge(cells_of(f->account), CELL_COMPLETED, 1);
	if (code == INTERACTION_SESSION) {
		charge(cells_of(f->account), CELL_SESSIONS_OPENED, 1);
		f->state = FLOW_STREAM;
		return 0;
	}
	count_code(f->account, code, outcome_end(f, code));
	if (code != INTERACTION_ABORTED && code != INTERACTION_UNFINISHED)
		observe_interaction(f, end_ns);
	f->state = FLOW_IDLE;
	return 0;
}

#endif /* SKYOBSERVE_FLOWS_BPF_H */
