/* SPDX-License-Identifier: MIT */
/* Processes of a session: taken in, found, ended, released. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "user/bpf/iter.h"
#include "user/bpf/session_impl.h"

u64 session_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NS_PER_SEC + (u64)ts.tv_nsec;
}

u32 bpf_session_other_slot(const struct bpf_session *s)
{
	return s->bounds.max_processes - 1;
}

/* The map is as large as there are process ids, and rarely written here: a page of it at a time. */
static int set_observed(struct bpf_session *s, u32 tgid, bool on)
{
	const struct session_map_state *m = &s->maps[MAP_observed];
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	u8 *window;

	_Static_assert(sizeof(struct pid_block) == PIDS_PER_BLOCK, "a byte for each process id");
	if (m->fd < 0 || tgid / PIDS_PER_BLOCK >= m->max_entries)
		return -EINVAL;
	window = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd,
		      (off_t)(tgid / page * page));
	if (window == MAP_FAILED)
		return -errno;
	__atomic_store_n(&window[tgid % page], on, __ATOMIC_RELEASE);
	munmap(window, page);
	return 0;
}

static bool pop_slot(const struct bpf_session *s, enum session_map list, u32 *ret_slot)
{
	return !bpf_map_lookup_and_delete_elem(s->maps[list].fd, NULL, ret_slot);
}

static void push_slot(const struct bpf_session *s, u32 slot)
{
	enum session_map list =
		slot < s->bounds.max_details ? MAP_free_details : MAP_free_processes;

	(void)bpf_map_update_elem(s->maps[list].fd, NULL, &slot, BPF_ANY); /* it came from there */
}

/* --- taking a process in --- */

struct seeding {
	u32 slot;
	size_t nr_threads;
	struct task_counts ended;
	u64 start_ns;
};

static int note_seeded(void *ctx, const struct task_record *rec)
{
	struct seeding *seeding = ctx;

	if (rec->process != seeding->slot)
		return 0;
	seeding->nr_threads += rec->known;
	if (rec->leader) {
		seeding->ended = rec->ended;
		seeding->start_ns = rec->start_ns;
	}
	return 0;
}

static int seed_threads(struct bpf_session *s, const struct thread_calls *calls,
			struct seeding *seeding, struct err *err)
{
	int fd = s->maps[MAP_seed_calls].fd;
	int r;

	for (size_t i = 0; i < calls->n; i++) /* hints: nothing is lost without them */
		(void)bpf_map_update_elem(fd, &calls->at[i].tid, &calls->at[i].call, BPF_ANY);
	r = iter_run(s, note_seeded, seeding, err);
	for (size_t i = 0; i < calls->n; i++)
		(void)bpf_map_delete_elem(fd, &calls->at[i].tid);
	return r;
}

int bpf_session_observe(struct bpf_session *s, u32 tgid, const struct observe_how *how,
			const struct thread_calls *calls, struct observed_process *ret_observed,
			struct err *err)
{
	struct seeding seeding = { 0 };
	struct process_cell *p;
	int r;

	if (!(how->details && pop_slot(s, MAP_free_details, &seeding.slot)) &&
	    !pop_slot(s, MAP_free_processes, &seeding.slot))
		return err_set(err, -ENOSPC, "%u processes are observed already (--max-processes)",
			       s->bounds.max_processes);
	p = session_element(s, MAP_processes, seeding.slot);
	if (!p)
		return err_set(err, -EINVAL, "slot %u is out of bounds", seeding.slot);
	*p = (struct process_cell){ .tgid = tgid,
				    .account = seeding.slot,
				    .flags = how->follow ? PROCESS_FOLLOW : 0,
				    .seeding = 1,
				    .begin_ns = session_now() };
	if (bpf_map_update_elem(s->maps[MAP_process_slots].fd, &tgid, &seeding.slot, BPF_NOEXIST)) {
		r = errno;
		p->tgid = 0;
		push_slot(s, seeding.slot);
		return err_set(err, -r, "cannot take in process %u: %s", tgid, strerror(r));
	}
	r = seed_threads(s, calls, &seeding, err);
	p->start_ns = seeding.start_ns;
	__atomic_store_n(&p->seeding, 0, __ATOMIC_RELEASE);
	if (!r && !seeding.nr_threads)
		r = err_set(err, -ESRCH, "process %u has no thread any more", tgid);
	if (!r) {
		r = set_observed(s, tgid, true);
		if (r)
			r = err_set(err, r, "cannot switch on observing process %u: %s", tgid,
				    strerror(-r));
	}
	if (r) {
		bpf_session_end(s, seeding.slot);
		bpf_session_release(s, seeding.slot);
		return r;
	}
	*ret_observed = (struct observed_process){ .slot = seeding.slot,
						   .begin_ns = p->begin_ns,
						   .ended = seeding.ended };
	return 0;
}

int bpf_session_observe_other(struct bpf_session *s, u32 tgid, bool follow,
			      const struct thread_calls *calls, struct err *err)
{
	struct seeding seeding = { .slot = bpf_session_other_slot(s) };
	struct process_cell *p = session_element(s, MAP_processes, seeding.slot);
	int r;

	if (!p)
		return err_set(err, -EINVAL, "slot %u is out of bounds", seeding.slot);
	if (follow)
		__atomic_fetch_or(&p->flags, PROCESS_FOLLOW, __ATOMIC_RELAXED);
	if (bpf_map_update_elem(s->maps[MAP_process_slots].fd, &tgid, &seeding.slot, BPF_NOEXIST))
		return err_set(err, -errno, "cannot take in process %u: %s", tgid, strerror(errno));
	/* Threads of the others that are met meanwhile are new ones, and would be taken in anyway.
	 */
	__atomic_store_n(&p->seeding, 1, __ATOMIC_RELEASE);
	r = seed_threads(s, calls, &seeding, err);
	__atomic_store_n(&p->seeding, 0, __ATOMIC_RELEASE);
	if (!r)
		r = set_observed(s, tgid, true);
	if (r)
		(void)bpf_map_delete_elem(s->maps[MAP_process_slots].fd, &tgid);
	return r;
}

void bpf_session_want_file(struct bpf_session *s, u32 i, u64 inode, u64 device)
{
	struct wanted *w = session_element(s, MAP_wanted, 0);
	struct wanted_file *file = w && i < MAX_WANTED ? &w->file[i] : NULL;
	u32 kernel_device = (u32)(major(device) << 20 | minor(device));

	if (!file || (file->inode == inode && file->device == kernel_device))
		return;
	/* The programs must not see the number of one file with the device of the other. */
	__atomic_store_n(&file->inode, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&file->device, kernel_device, __ATOMIC_RELEASE);
	__atomic_store_n(&file->inode, inode, __ATOMIC_RELEASE);
}

void bpf_session_drop(struct bpf_session *s, enum drop_reason reason)
{
	struct drop_cells *d = session_element(s, MAP_drops, 0);

	if (d)
		__atomic_fetch_add(&d->drops[reason], 1, __ATOMIC_RELAXED);
}

size_t bpf_session_scan(const struct bpf_session *s, struct process_slot *ret_slots, size_t n)
{
	size_t found = 0;

	for (u32 slot = 0; slot < bpf_session_other_slot(s); slot++) {
		const struct process_cell *p = session_element(s, MAP_processes, slot);
		struct process_slot *out = &ret_slots[found];

		if (!p || !__atomic_load_n(&p->tgid, __ATOMIC_ACQUIRE))
			continue;
		if (found++ >= n)
			continue;
		*out = (struct process_slot){
			.slot = slot,
			.tgid = p->tgid,
			.parent_tgid = p->parent_tgid,
			.live_threads = p->live_threads,
			.execs = p->execs,
			.flags = __atomic_load_n(&p->flags, __ATOMIC_ACQUIRE), /* before comm */
			.begin_ns = p->begin_ns,
			.end_ns = p->end_ns,
			.start_ns = p->start_ns,
			.ended = p->ended
		};
		memcpy(out->comm, p->comm, sizeof(out->comm));
		out->comm[sizeof(out->comm) - 1] = '\0';
	}
	return found;
}

/* --- the end --- */

/* Threads of @slot whose end was not reported must not keep their cells. */
static void reap_threads(struct bpf_session *s, u32 slot)
{
	for (u32 i = 0; i < s->bounds.max_threads; i++) {
		struct thread_cell *t = session_element(s, MAP_threads, i);
		u32 tid = t ? t->tid : 0;

		if (!tid || t->process != slot)
			continue;
		(void)bpf_map_delete_elem(s->maps[MAP_thread_slots].fd, &tid);
		t->tid = 0;
		(void)bpf_map_update_elem(s->maps[MAP_free_threads].fd, NULL, &i, BPF_ANY);
	}
}

void bpf_session_end(struct bpf_session *s, u32 slot)
{
	struct process_cell *p = session_element(s, MAP_processes, slot);
	u32 owner;

	if (!p || !p->tgid)
		return;
	/* Another incarnation may have the number by now, with a slot of its own. */
	if (!bpf_map_lookup_elem(s->maps[MAP_process_slots].fd, &p->tgid, &owner) &&
	    owner == slot) {
		(void)set_observed(s, p->tgid, false); /* then it is observed for longer */
		(void)bpf_map_delete_elem(s->maps[MAP_process_slots].fd, &p->tgid);
	}
	if (!p->end_ns)
		p->end_ns = session_now();
}

void session_clear_lanes(struct bpf_session *s, enum session_map map, u32 i, u32 stride)
{
	for (u32 lane = 0; lane < s->lanes; lane++) {
		void *element = session_element(s, map, lane * stride + i);

		if (element)
			memset(element, 0, s->maps[map].value_size);
	}
}

static void release_rows(struct bpf_session *s, u32 slot)
{
	struct call_rows *rows = session_element(s, MAP_call_rows, slot);

	for (u32 nr = 0; rows && nr < NR_CALL_SLOTS; nr++) {
		struct row_key key = { .process = slot, .nr = nr };
		u32 row = rows->row[nr];

		if (!row)
			continue;
		(void)bpf_map_delete_elem(s->maps[MAP_row_claims].fd, &key);
		rows->row[nr] = 0;
		session_clear_lanes(s, MAP_row_hists, row, s->bounds.max_rows);
		(void)bpf_map_update_elem(s->maps[MAP_free_rows].fd, NULL, &row, BPF_ANY);
	}
}

void session_release_keys(struct bpf_session *s, enum session_map map, size_t key_bytes, u32 first)
{
	u32 key[4], next[4];
	int fd = s->maps[map].fd;
	bool more = fd >= 0 && key_bytes <= sizeof(key) && !bpf_map_get_next_key(fd, NULL, key);

	for (u32 i = 0; more && i < s->maps[map].max_entries; i++) {
		more = !bpf_map_get_next_key(fd, key, next);
		if (key[0] == first)
			(void)bpf_map_delete_elem(fd, key);
		memcpy(key, next, sizeof(key));
	}
}

void bpf_session_release(struct bpf_session *s, u32 slot)
{
	struct process_cell *p = session_element(s, MAP_processes, slot);

	if (!p || !p->tgid || slot >= bpf_session_other_slot(s))
		return;
	if (p->live_threads)
		reap_threads(s, slot);
	session_release_kinds(s, slot);
	session_clear_lanes(s, MAP_cells, slot, session_accounts(s));
	if (slot < s->named)
		session_clear_lanes(s, MAP_calls, slot, session_call_accounts(s));
	if (slot < s->bounds.max_details) {
		session_clear_lanes(s, MAP_hists, slot, s->bounds.max_details);
		release_rows(s, slot);
	}
	if (slot < s->bounds.max_go)
		session_clear_lanes(s, MAP_go_gc, slot, s->bounds.max_go);
	session_release_keys(s, MAP_errors, sizeof(struct error_key), slot);
	session_release_keys(s, MAP_foreign_calls, sizeof(struct foreign_key), slot);
	session_release_keys(s, MAP_census_leaves, sizeof(struct leaf_key), slot);
	memset(p, 0, sizeof(*p));
	push_slot(s, slot);
}
