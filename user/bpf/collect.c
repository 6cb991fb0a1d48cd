/* SPDX-License-Identifier: MIT */
/* Read the maps into a snapshot. Adds lanes up; knows no metric. */
#include "user/bpf/collect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/bpf/iter.h"
#include "user/bpf/session_impl.h"

#define MAX_TRIES 5
/* Less than this charged while reading is the ordinary traffic of a busy process. */
#define SETTLED_NS (1 * NS_PER_MS)

static u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (u64)ts.tv_sec * NS_PER_SEC + (u64)ts.tv_nsec;
}

/* --- cells --- */

static void add_u64s(u64 *sum, const u64 *lane, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum[i] += __atomic_load_n(&lane[i], __ATOMIC_RELAXED);
}

void collect_lanes(const struct bpf_session *s, enum session_map map, u32 i, u32 stride, void *sum,
		   size_t bytes)
{
	memset(sum, 0, bytes);
	for (u32 lane = 0; lane < s->lanes; lane++) {
		const u64 *element = session_element(s, map, lane * stride + i);

		if (element)
			add_u64s(sum, element, bytes / sizeof(u64));
	}
}

static int read_cells(const struct bpf_session *s, struct process_snap *p)
{
	collect_lanes(s, MAP_cells, p->slot, session_accounts(s), p->cells, sizeof(p->cells));
	p->details = p->slot < s->bounds.max_details;
	p->named = p->slot < s->named;
	if (!p->named)
		return 0;
	if (process_snap_add_details(p, p->details))
		return -ENOMEM;
	collect_lanes(s, MAP_calls, p->slot, session_call_accounts(s), p->calls,
		      sizeof(struct account_calls));
	if (p->details)
		collect_lanes(s, MAP_hists, p->slot, s->bounds.max_details, p->hists,
			      sizeof(*p->hists));
	return 0;
}

static int read_call_hists(const struct bpf_session *s, struct process_snap *p)
{
	const struct call_rows *rows = session_element(s, MAP_call_rows, p->slot);
	u32 row[NR_CALL_SLOTS]; /* one more may come while they are counted */
	size_t n = 0;

	free(p->call_hists);
	p->call_hists = NULL;
	p->nr_call_hists = 0;
	for (u32 nr = 0; rows && nr < NR_CALL_SLOTS; nr++) {
		row[nr] = __atomic_load_n(&rows->row[nr], __ATOMIC_RELAXED);
		n += row[nr] != 0;
	}
	if (!n)
		return 0;
	p->call_hists = calloc(n, sizeof(*p->call_hists));
	if (!p->call_hists)
		return -ENOMEM;
	for (u32 nr = 0; nr < NR_CALL_SLOTS; nr++) {
		struct call_hist *c = &p->call_hists[p->nr_call_hists];

		if (!row[nr])
			continue;
		c->nr = nr;
		collect_lanes(s, MAP_row_hists, row[nr], s->bounds.max_rows, &c->hist,
			      sizeof(c->hist));
		p->nr_call_hists++;
	}
	return 0;
}

/* --- open sets --- */

int collect_hash(const struct session_map_state *m, size_t key_bytes, void **ret_keys,
		 void **ret_values, u32 *ret_n)
{
	LIBBPF_OPTS(bpf_map_batch_opts, opts);
	u32 n = m->max_entries; /* at once, so that no bucket is ever too large for the batch */
	void *keys, *values;
	u64 cursor = 0;

	keys = calloc(n, key_bytes);
	values = calloc(n, m->value_size);
	if (!keys || !values)
		goto fail;
	if (bpf_map_lookup_batch(m->fd, NULL, &cursor, keys, values, &n, &opts) && errno != ENOENT)
		goto fail;
	*ret_keys = keys;
	*ret_values = values;
	*ret_n = n;
	return 0;
fail:
	free(keys);
	free(values);
	return -ENOMEM;
}

/* Who is where, once for all that is read. */
static int index_slots(const struct bpf_session *s, struct snapshot *snap)
{
	snap->nr_slots = s->bounds.max_processes;
	snap->at_slot = calloc(snap->nr_slots, sizeof(*snap->at_slot));
	if (!snap->at_slot)
		return -ENOMEM;
	for (size_t i = 0; i < snap->nr_counted; i++) {
		if (snap->processes[i].slot < snap->nr_slots)
			snap->at_slot[snap->processes[i].slot] = (u32)i + 1;
	}
	return 0;
}

struct process_snap *collect_by_slot(struct snapshot *snap, u32 slot)
{
	u32 at = slot < snap->nr_slots ? snap->at_slot[slot] : 0;

	return at ? &snap->processes[at - 1] : NULL;
}

static int by_error(const void *a, const void *b)
{
	const struct error_count *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->code < y->code ? -1 : x->code > y->code;
}

static int read_errors(const struct bpf_session *s, struct snapshot *snap)
{
	const struct session_map_state *m = &s->maps[MAP_errors];
	void *keys, *values;
	u32 n;
	int r;

	for (size_t i = 0; i < snap->nr_counted; i++)
		snap->processes[i].nr_errors = 0;

	r = m->fd < 0 ? 1 : collect_hash(m, sizeof(struct error_key), &keys, &values, &n);
	if (r)
		return r < 0 ? r : 0;
	for (u32 i = 0; i < n && !r; i++) {
		const struct error_key *k = &((const struct error_key *)keys)[i];
		struct process_snap *p = collect_by_slot(snap, k->process);
		struct error_count *grown;

		if (!p)
			continue;
		grown = realloc(p->errors, (p->nr_errors + 1) * sizeof(*grown));
		if (!grown) {
			r = -ENOMEM;
			break;
		}
		p->errors = grown;
		grown[p->nr_errors++] =
			(struct error_count){ k->kind, k->id, k->code, ((const u64 *)values)[i] };
	}
	for (size_t i = 0; i < snap->nr_counted; i++) {
		if (snap->processes[i].nr_errors)
			qsort(snap->processes[i].errors, snap->processes[i].nr_errors,
			      sizeof(struct error_count), by_error);
	}
	free(keys);
	free(values);
	return r;
}

static struct process_snap *process_by_account(struct snapshot *snap, u32 account)
{
	struct process_snap *p = collect_by_slot(snap, account);

	for (size_t i = 0; !p && i < snap->nr_counted; i++) {
		for (size_t k = 1; k < snap->processes[i].nr_kinds; k++) {
			if (snap->processes[i].kinds[k].account == account)
				p = &snap->processes[i];
		}
	}
	return p;
}

static int read_foreign(const struct bpf_session *s, struct snapshot *snap)
{
	const struct session_map_state *m = &s->maps[MAP_foreign_calls];
	void *keys, *values;
	u32 n;
	int r;

	for (size_t i = 0; i < snap->nr_counted; i++)
		snap->processes[i].nr_foreign = 0;

	r = m->fd < 0 ? 1 : collect_hash(m, sizeof(struct foreign_key), &keys, &values, &n);
	if (r)
		return r < 0 ? r : 0;
	for (u32 i = 0; i < n && !r; i++) {
		const struct foreign_key *k = &((const struct foreign_key *)keys)[i];
		struct process_snap *p = process_by_account(snap, k->account);
		struct foreign_count *grown;

		if (!p)
			continue;
		grown = realloc(p->foreign, (p->nr_foreign + 1) * sizeof(*grown));
		if (!grown) {
			r = -ENOMEM;
			break;
		}
		p->foreign = grown;
		grown[p->nr_foreign++] =
			(struct foreign_count){ k->abi, k->nr, ((const u64 *)values)[i] };
	}
	free(keys);
	free(values);
	return r;
}

/* --- thread records --- */

static int keep_record(void *ctx, const struct task_record *rec)
{
	struct process_snap *p = collect_by_slot(ctx, rec->process);
	struct task_record *grown;

	if (!p)
		return 0;
	/* A power of two is reached: double. */
	if (!(p->nr_threads & (p->nr_threads - 1))) {
		size_t cap = p->nr_threads ? 2 * p->nr_threads : 1;

		grown = realloc(p->threads, cap * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		p->threads = grown;
	}
	p->threads[p->nr_threads++] = *rec;
	p->read_ns = rec->now_ns;
	if (rec->leader) {
		p->ended_now = rec->ended;
		memcpy(p->id.comm, rec->comm, sizeof(p->id.comm));
		p->id.comm[COMM_BYTES - 1] = '\0';
	}
	return 0;
}

static int read_records(const struct bpf_session *s, struct snapshot *snap, struct err *err)
{
	for (size_t i = 0; i < snap->nr_counted; i++) {
		struct process_snap *p = &snap->processes[i];

		p->nr_threads = 0;
		free(p->threads);
		p->threads = NULL;
	}
	return iter_run(s, keep_record, snap, err);
}

/* Threads that have a cell; read before the records, which then miss none that was born since. */
static u32 threads_with_cells(const struct bpf_session *s, const struct process_snap *p)
{
	const struct process_cell *c = session_element(s, MAP_processes, p->slot);

	return c ? __atomic_load_n(&c->live_threads, __ATOMIC_RELAXED) : 0;
}

static u32 threads_unlisted(const struct process_snap *p, u32 with_cells)
{
	u32 known = 0;

	for (size_t i = 0; i < p->nr_threads; i++)
		known += p->threads[i].known != 0;
	return with_cells > known ? with_cells - known : 0;
}

/* One cell of a process's account, from memory. */
static u64 cell_now(const struct bpf_session *s, const struct process_snap *p, enum cell_id cell)
{
	u64 n = 0;

	for (u32 lane = 0; lane < s->lanes; lane++) {
		const struct account_cells *a =
			session_element(s, MAP_cells, lane * session_accounts(s) + p->slot);

		if (a)
			n += __atomic_load_n(&a->cell[cell], __ATOMIC_ACQUIRE);
	}
	return n;
}

/*
 * What the cells of threads say, without asking the kernel: entries of calls, and CPU time as
 * charged, of those that live.
 */
static void read_threads_before(const struct bpf_session *s, struct snapshot *snap)
{
	for (u32 i = 0; i < s->bounds.max_threads; i++) {
		const struct thread_cell *c = session_element(s, MAP_threads, i);
		struct process_snap *p;

		if (!c || !__atomic_load_n(&c->tid, __ATOMIC_ACQUIRE))
			continue;
		p = collect_by_slot(snap, c->process);
		if (!p)
			continue;
		p->enters_before += __atomic_load_n(&c->enters, __ATOMIC_RELAXED);
		p->unsettled_ns += __atomic_load_n(&c->charged.runtime_ns, __ATOMIC_RELAXED) -
				   c->base.runtime_ns;
	}
}

/* Entries of the threads that live, by their own counts. */
static u64 live_enters(const struct process_snap *p)
{
	u64 n = 0;

	for (size_t i = 0; i < p->nr_threads; i++) {
		if (p->threads[i].known)
			n += p->threads[i].cell.enters;
	}
	return n;
}

static u64 charged_runtime(const struct process_snap *p)
{
	u64 ns = 0;

	for (size_t i = 0; i < p->nr_threads; i++)
		ns += p->threads[i].cell.charged.runtime_ns - p->threads[i].cell.base.runtime_ns;
	return ns;
}

/* A record of a running thread may be read while its own CPU changes it. */
static bool records_whole(const struct process_snap *p)
{
	for (size_t i = 0; i < p->nr_threads; i++) {
		const struct thread_cell *c = &p->threads[i].cell;
		u64 open = c->nr != NO_CALL && !(c->flags & THREAD_SEEDED_CALL);

		if (p->threads[i].known && c->enters - c->exits != open)
			return false;
	}
	return true;
}

/*
 * What comes later in the life of a call is read first: errors, then durations, then entries. So no
 * more calls ever failed than finished, nor finished than were entered.
 */
static int read_counters(const struct bpf_session *s, struct snapshot *snap, struct err *err)
{
	int r = read_errors(s, snap);

	for (size_t i = 0; i < snap->nr_counted && !r; i++) {
		r = read_call_hists(s, &snap->processes[i]);
		if (!r)
			r = read_cells(s, &snap->processes[i]);
	}
	if (!r)
		r = collect_kinds(s, snap);
	if (!r)
		r = read_foreign(s, snap);
	return r ? err_set(err, r, "no memory for a snapshot") : 0;
}

/*
 * The books of a thread that ends go from its record to the account, one after the other: records
 * and cells only fit together if none was ending when reading began, and none began to since. Each
 * end is counted when it begins and when it is done.
 */
static bool ended_whole(const struct bpf_session *s, const struct process_snap *p)
{
	return cell_now(s, p, CELL_ENDS_BEGUN) == p->ended_before &&
	       p->cells[CELL_ENTERS] - p->cells[CELL_EXITS] == p->cells[CELL_NEVER_RETURNED];
}

/*
 * Read the threads' cells, the accounts, the threads' records. A thread that ends meanwhile moves
 * its entries from its cell to the account: read in this order, enters_before is never too high and
 * enters_after never too low.
 * Returns 1 if it has to be done again, 0, or a negative errno.
 */
static int read_once(const struct bpf_session *s, struct snapshot *snap, struct err *err)
{
	int r, again = 0;

	for (size_t i = 0; i < snap->nr_counted; i++) {
		struct process_snap *p = &snap->processes[i];

		p->ended_before = cell_now(s, p, CELL_THREADS_ENDED);
		p->enters_before = cell_now(s, p, CELL_ENTERS);
		p->unsettled_ns = 0;
	}
	read_threads_before(s, snap);
	for (size_t i = 0; i < snap->nr_counted; i++)
		snap->processes[i].unsettled_ns +=
			cell_now(s, &snap->processes[i], CELL_ENDED_RUNTIME);
	r = read_counters(s, snap, err);
	for (size_t i = 0; i < snap->nr_counted; i++)
		snap->processes[i].unlisted = threads_with_cells(s, &snap->processes[i]);
	if (!r)
		r = read_records(s, snap, err);
	if (r)
		return r;
	for (size_t i = 0; i < snap->nr_counted; i++) {
		struct process_snap *p = &snap->processes[i];
		u64 settled = charged_runtime(p) + cell_now(s, p, CELL_ENDED_RUNTIME);

		p->unsettled_ns = settled > p->unsettled_ns ? settled - p->unsettled_ns : 0;
		p->enters_after = live_enters(p) + cell_now(s, p, CELL_ENTERS);
		p->unlisted = threads_unlisted(p, p->unlisted);
		p->torn = !records_whole(p) || !ended_whole(s, p);
		again |= p->torn || p->unsettled_ns > SETTLED_NS;
	}
	return again;
}

/* --- ourselves --- */

static int read_programs(const struct bpf_session *s, struct snapshot *snap)
{
	snap->programs = calloc(MAX_SESSION_LINKS, sizeof(*snap->programs));
	if (!snap->programs)
		return -ENOMEM;
	for (size_t i = 0; i < MAX_SESSION_OBJECTS; i++) {
		struct bpf_program *prog = NULL;

		while (s->objects[i] && (prog = bpf_object__next_program(s->objects[i], prog))) {
			struct bpf_prog_info info = { 0 };
			u32 bytes = sizeof(info);
			struct program_stats *out = &snap->programs[snap->nr_programs];

			if (snap->nr_programs == MAX_SESSION_LINKS ||
			    bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &bytes))
				continue;
			snprintf(out->name, sizeof(out->name), "%s", bpf_program__name(prog));
			out->run_ns = info.run_time_ns;
			out->runs = info.run_cnt;
			snap->bpf_stats_on |= info.run_cnt != 0;
			snap->drops[DROP_RECURSION] += info.recursion_misses;
			snap->nr_programs++;
		}
	}
	return 0;
}

static int read_map_fill(const struct bpf_session *s, struct snapshot *snap)
{
	u64 threads = 0, rows = 0, errors = 0, foreign = 0;
	const struct map_fill fill[] = {
		{ "processes", snap->nr_counted, s->bounds.max_processes },
		{ "threads", 0, s->bounds.max_threads },
		{ "call_rows", 0, s->bounds.max_rows },
		{ "errors", 0, s->maps[MAP_errors].max_entries },
		{ "foreign_calls", 0, s->maps[MAP_foreign_calls].max_entries },
	};

	for (size_t i = 0; i < snap->nr_counted; i++) {
		for (size_t t = 0; t < snap->processes[i].nr_threads; t++)
			threads += snap->processes[i].threads[t].known;
		rows += snap->processes[i].nr_call_hists;
		errors += snap->processes[i].nr_errors;
		foreign += snap->processes[i].nr_foreign;
	}
	snap->maps = malloc(sizeof(fill));
	if (!snap->maps)
		return -ENOMEM;
	memcpy(snap->maps, fill, sizeof(fill));
	snap->maps[1].entries = threads;
	snap->maps[2].entries = rows;
	snap->maps[3].entries = errors;
	snap->maps[4].entries = foreign;
	snap->nr_maps = sizeof(fill) / sizeof(fill[0]);
	return 0;
}

static int read_ourselves(const struct bpf_session *s, struct snapshot *snap)
{
	int r;

	collect_lanes(s, MAP_drops, 0, 1, snap->drops, sizeof(snap->drops));
	for (u32 cpu = 0; cpu < s->cpus; cpu++) {
		const struct chain_cell *c = session_element(s, MAP_chain, cpu);

		if (!c)
			continue;
		snap->machine.switches += c->switches;
		snap->machine.chain_breaks += c->breaks;
	}
	memcpy(snap->groups, s->groups, sizeof(snap->groups));
	r = read_map_fill(s, snap);
	return r ? r : read_programs(s, snap);
}

int collect_ended(const struct bpf_session *s, struct snapshot *snap, struct err *err)
{
	if (index_slots(s, snap))
		return err_set(err, -ENOMEM, "no memory for a snapshot");
	return read_counters(s, snap, err);
}

int collect_snapshot(const struct bpf_session *s, struct snapshot *snap, struct err *err)
{
	int r = 1;

	if (index_slots(s, snap))
		return err_set(err, -ENOMEM, "no memory for a snapshot");
	for (int tries = 0; tries < MAX_TRIES && r > 0; tries++) {
		snap->begin_ns = clock_ns(CLOCK_MONOTONIC);
		r = read_once(s, snap, err);
	}
	if (r < 0)
		return r;
	snap->end_ns = clock_ns(CLOCK_MONOTONIC);
	snap->wall_minus_mono_ns = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_MONOTONIC);
	r = read_ourselves(s, snap);
	return r ? err_set(err, r, "cannot read the BPF maps: %s", strerror(-r)) : 0;
}
