/* SPDX-License-Identifier: MIT */
/* What the observed processes did: snapshots, folding of those that ended, publication. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/bpf/collect.h"
#include "user/bpf/libbpf_version.h"
#include "user/cmd/observer_impl.h"
#include "user/cmd/version.h"
#include "user/model/publish.h"
#include "user/model/record.h"
#include "user/proc/procfs.h"

#define FOLD_INTERVAL_NS (100 * NS_PER_MS)
/* Processes without details whose books in /proc are read at a snapshot: some 2 ms. */
#define MAX_BOOKS 128
/* One that does not run may lose pages all the same. */
#define BOOKS_AGE_NS (60 * NS_PER_SEC)

static int fill_process(const struct observed *p, struct arena *texts,
			struct process_snap *ret_snap)
{
	*ret_snap = (struct process_snap){
		.id = p->id,
		.slot = p->where.slot,
		.alive = p->alive && !p->slot_ended,
		.incarnations = 1,
		.begin_ns = p->where.begin_ns,
		.end_ns = p->end_ns,
		.books_begin = p->books_begin,
		.ended_begin = p->where.ended,
	};
	if (!p->exe)
		return 0;
	ret_snap->id.exe = arena_strdup(texts, p->exe);
	return ret_snap->id.exe ? 0 : -ENOMEM;
}

/*
 * Between its release and its last switch a thread is in no book: so the books cannot be compared.
 * That is over in a moment; what lasts is a last switch that was not reported, a fault to be shown.
 */
static bool is_unlisted_for_now(struct observed *p, const struct process_snap *snap, u64 now)
{
	if (!snap->unlisted)
		p->unlisted_ns = 0;
	else if (!p->unlisted_ns)
		p->unlisted_ns = now;
	return snap->unlisted && now - p->unlisted_ns < GIVE_UP_NS;
}

/*
 * What /proc says of a process at the same time. Reading it costs more than all else of one: of the
 * many without details it is read only if they have run since, and of so many at a snapshot in
 * turn. The CPU time of the others is not compared then, and their resident memory is that of last
 * time.
 */
static void read_books(struct observer *o, size_t i, struct process_snap *snap,
		       const struct process_totals *totals, u32 *budget)
{
	struct observed *p = &o->processes[i];
	u64 now = observer_now();
	bool ran = !p->books.valid || totals->runtime_ns != p->books_runtime_ns;
	bool old = !p->books.valid || now - p->books.read_ns > BOOKS_AGE_NS;

	if (snap->details || ((ran || old) && *budget)) {
		*budget -= !snap->details;
		broker_read_books(o->config.broker, p->id.pid, now, &p->books);
		p->books_runtime_ns = totals->runtime_ns;
		snap->books_now = p->books;
		return;
	}
	snap->books_now = p->books;
	snap->books_now.stale = ran;
	if (!ran)
		snap->books_now.read_ns = snap->read_ns;
}

/* From where the last snapshot stopped, so that everybody's turn comes. */
static void read_all_books(struct observer *o, struct snapshot *snap,
			   const struct process_totals *totals)
{
	u32 budget = MAX_BOOKS;
	size_t n = o->nr_processes;
	bool cut = false;

	for (size_t k = 0; k < n; k++) {
		size_t i = (o->books_next + k) % n;

		if (snap->processes[i].alive)
			read_books(o, i, &snap->processes[i], &totals[i], &budget);
		if (!budget && !cut) {
			o->books_next = (i + 1) % n;
			cut = true;
		}
	}
}

/* What was counted of a collector with probes. -ENOMEM. */
static int read_gc(const struct observer *o, const struct observed *p, struct process_snap *snap)
{
	if (!p->gc.stops && !p->gc.workers)
		return 0;
	snap->gc = calloc(1, sizeof(*snap->gc));
	if (!snap->gc)
		return -ENOMEM;
	snap->gc->stops_known = p->gc.stops;
	snap->gc->workers_known = p->gc.workers;
	bpf_session_read_go_gc(o->session, p->where.slot, &snap->gc->cells);
	return 0;
}

/* Totals that never go down. */
static int finish_process(const struct observer *o, struct observed *p, struct process_snap *snap,
			  struct process_totals *totals)
{
	int r = read_gc(o, p, snap);

	if (snap->alive) {
		if (snap->nr_threads)
			memcpy(p->id.comm, snap->id.comm, sizeof(p->id.comm));
		p->missed = snap->nr_threads ? 0 : p->missed + 1;
	}
	snap->torn |= is_unlisted_for_now(p, snap, observer_now());
	totals_of(snap, totals);
	observed_cost_step(&p->cost, &o->prices, snap->nr_kinds != 0, snap, totals);
	totals_floor(&p->last, totals);
	p->last = *totals;
	kinds_finish(snap);
	return r ? r : kinds_floor(&p->last_kinds, snap);
}

/* What it said last. */
static void read_go_ended(struct observer *o, struct observed *p, struct process_snap *snap)
{
	go_view_ended(&p->go, o->config.broker, &snap->id, &snap->go);
	snap->go.begin_wall_ns = snap->id.start_wall_ns;
	snap->program = p->go.program;
}

/* What became of the group of probes in collectors. */
static void note_gc(struct observer *o, struct snapshot *snap)
{
	struct group_state *group = &snap->groups[GROUP_GO_GC];
	struct gc_probes_sum sum = { 0 };

	for (size_t i = 0; i < o->nr_processes; i++) {
		if (snap->processes[i].alive)
			gc_probes_note(&o->processes[i].gc, o->processes[i].id.pid, &sum);
	}
	gc_probes_state(&sum, group);
	if (o->config.all)
		snprintf(group->reason, sizeof(group->reason), "%s",
			 "not of the whole machine (--all)");
}

/* And in functions. */
static void note_functions(struct observer *o, struct snapshot *snap)
{
	struct gc_probes_sum sum = { 0 };

	if (!o->config.nr_functions)
		return;
	for (size_t i = 0; i < o->nr_processes; i++) {
		if (snap->processes[i].alive)
			function_probes_note(&o->processes[i].functions, o->processes[i].id.pid,
					     &sum);
	}
	gc_probes_state(&sum, &snap->groups[GROUP_FUNCTIONS]);
}

/* What Go programs say of themselves, and what became of the group. */
static void read_go(struct observer *o, struct snapshot *snap)
{
	u64 deadline_ns = observer_now() + GO_VIEW_DEADLINE_NS;
	struct go_view_sum sum = { 0 };

	if (!observer_reads_go(o)) {
		struct group_state *group = &snap->groups[GROUP_GO];

		if (group->up)
			snprintf(group->reason, sizeof(group->reason), "%s",
				 o->config.all ? "not of the whole machine (--all)"
					       : "there is no broker");
		group->up = false;
		return;
	}
	for (size_t i = 0; i < o->nr_processes; i++) {
		struct process_snap *p = &snap->processes[i];
		struct go_view *view = &o->processes[i].go;

		if (!p->alive) {
			read_go_ended(o, &o->processes[i], p);
			continue;
		}
		go_view_read(view, o->config.broker, &p->id, deadline_ns, &sum, &p->go);
		p->go.begin_wall_ns = p->id.start_wall_ns;
		p->program = view->program;
	}
	go_view_state(&sum, &snap->groups[GROUP_GO]);
}

/* Everything but the names that ended. The arrays have room for @room more. */
static int snapshot_counted(struct observer *o, size_t room, struct snapshot *ret_snap,
			    struct process_totals **ret_totals, struct err *err)
{
	size_t n = o->nr_processes + 1; /* and `other` */
	struct snapshot snap = { .nr_processes = n, .nr_counted = n };
	struct process_totals *totals;
	u64 boot;
	int r = 0;

	totals = calloc(n + room, sizeof(*totals));
	snap.processes = calloc(n + room, sizeof(*snap.processes));
	if (!totals || !snap.processes) {
		free(totals);
		free(snap.processes);
		return err_set(err, -ENOMEM, "no memory for a snapshot");
	}
	snap.prices = o->prices;
	snap.machine.tick_hz = o->tick_hz;
	snap.machine.online_cpus = (u32)sysconf(_SC_NPROCESSORS_ONLN);
	procfs_machine(PROC_ROOT, &snap.machine.steal_ticks, &boot);
	for (size_t i = 0; i < o->nr_processes; i++)
		r |= fill_process(&o->processes[i], &snap.texts, &snap.processes[i]);
	r |= fill_process(&o->other, &snap.texts, &snap.processes[n - 1]);
	r = r ? err_set(err, r, "no memory for a snapshot")
	      : collect_snapshot(o->session, &snap, err);
	if (r) {
		snapshot_done(&snap);
		free(totals);
		return r;
	}
	for (size_t i = 0; i < o->nr_processes; i++)
		r |= finish_process(o, &o->processes[i], &snap.processes[i], &totals[i]);
	r |= finish_process(o, &o->other, &snap.processes[n - 1], &totals[n - 1]);
	note_gc(o, &snap);
	note_functions(o, &snap);
	read_all_books(o, &snap, totals);
	if (!r) {
		read_go(o, &snap);
		r = observer_place(o, &snap, totals);
	}
	if (r) {
		snapshot_done(&snap);
		free(totals);
		return err_set(err, -ENOMEM, "no memory for a snapshot");
	}
	/* Unless somebody is in it, `other` is not there. */
	if (!totals[n - 1].cells[CELL_THREADS_BORN]) {
		process_snap_done(&snap.processes[n - 1]);
		snap.nr_processes = snap.nr_counted = n - 1;
	}
	*ret_snap = snap;
	*ret_totals = totals;
	return 0;
}

/*
 * Whether it can be folded in. The end of one that has a descriptor is told first
 * (observer_next_ended): it was readable before the programs saw the last switch.
 */
static bool is_over(const struct observed *p)
{
	return p->slot_ended && p->pidfd < 0;
}

/* How many there are; *ret_many: they hold so many places that others may not find one. */
static size_t nr_over(const struct observer *o, bool *ret_many)
{
	const struct bpf_bounds *b = &o->config.bounds;
	size_t n = 0, with_details = 0;

	for (size_t i = 0; i < o->nr_processes; i++) {
		if (!is_over(&o->processes[i]))
			continue;
		n++;
		with_details += o->processes[i].where.slot < b->max_details;
	}
	*ret_many = with_details > b->max_details / 4 ||
		    n - with_details > (b->max_processes - b->max_details) / 4;
	return n;
}

/* What those that are over did, and what their programs said last. */
static int collect_over(struct observer *o, struct snapshot *snap, struct process_totals *totals)
{
	struct err err;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < o->nr_processes; i++) {
		if (is_over(&o->processes[i]) && n < snap->nr_processes)
			r |= fill_process(&o->processes[i], &snap->texts, &snap->processes[n++]);
	}
	if (!r)
		r = collect_ended(o->session, snap, &err);
	n = 0;
	for (size_t i = 0; i < o->nr_processes && !r; i++) {
		struct observed *p = &o->processes[i];

		if (!is_over(p) || n == snap->nr_processes)
			continue;
		r = finish_process(o, p, &snap->processes[n], &totals[n]);
		if (observer_reads_go(o))
			read_go_ended(o, p, &snap->processes[n]);
		n++;
	}
	return r;
}

/* On failure they stay where they are, until the next time. */
static void fold(struct observer *o, size_t n)
{
	struct process_totals *totals = calloc(n, sizeof(*totals));
	struct snapshot snap = { .nr_processes = n, .nr_counted = n };

	snap.processes = calloc(n, sizeof(*snap.processes));
	if (totals && snap.processes && !collect_over(o, &snap, totals)) {
		for (size_t i = o->nr_processes; i-- > 0 && n;) {
			if (!is_over(&o->processes[i]))
				continue;
			n--;
			if (!observer_fold_in(o, i, &snap.processes[n], &totals[n]))
				observer_drop(o, i);
		}
	}
	if (!snap.processes)
		snap.nr_processes = 0;
	o->folded_ns = observer_now();
	snapshot_done(&snap);
	free(totals);
}

void observer_refresh(struct observer *o)
{
	bool many;
	size_t n;

	observer_scan(o);
	n = o->config.keep_ended ? 0 : nr_over(o, &many);
	if (n)
		fold(o, n);
}

void observer_tidy(struct observer *o)
{
	bool many = false;
	size_t n;

	observer_scan(o);
	n = o->config.keep_ended ? 0 : nr_over(o, &many);
	if (many || (n && observer_now() - o->folded_ns > FOLD_INTERVAL_NS))
		fold(o, n);
}

int observer_snapshot(struct observer *o, struct snapshot *ret_snap,
		      struct process_totals **ret_totals, struct err *err)
{
	int r;

	observer_refresh(o);
	r = snapshot_counted(o, ended_names(o->ended) + 1, ret_snap, ret_totals, err);
	if (r)
		return r;
	r = ended_copy(o->ended, ret_snap->processes, *ret_totals, &ret_snap->nr_processes);
	if (r) {
		snapshot_done(ret_snap);
		free(*ret_totals);
		*ret_totals = NULL;
		return err_set(err, r, "no memory for a snapshot");
	}
	return 0;
}

static void exporter_facts(const struct observer *o, u64 scrape_ns, const char *arch,
			   struct exporter_facts *ret_facts)
{
	pid_t broker = broker_client_pid(o->config.broker);
	struct proc_books broker_books = { 0 };
	struct proc_self self;

	procfs_self(PROC_ROOT, &self);
	if (broker)
		broker_read_books(o->config.broker, broker, observer_now(), &broker_books);
	*ret_facts = (struct exporter_facts){
		.version = SKYOBSERVE_VERSION,
		.libbpf_version = libbpf_version_text(),
		.arch = arch,
		.label_pid = o->config.label_pid,
		.scrape_ns = scrape_ns,
		.cpu_ticks = self.cpu_ticks,
		.broker_cpu_ticks = broker_books.cpu_ticks + broker_books.children_ticks,
		.broker_resident_bytes = broker_books.resident_bytes,
		.open_fds = self.open_fds,
		.max_fds = self.max_fds,
		.virtual_bytes = self.virtual_bytes,
		.max_virtual_bytes = self.max_virtual_bytes,
		.resident_bytes = self.resident_bytes,
		.start_wall_ns = o->boot_wall_ns + self.start_ticks * (NS_PER_SEC / o->tick_hz),
	};
}

/* @ret_snap is emptied; its times stay. */
static int publish_snapshot(struct observer *o, struct snapshot *ret_snap,
			    struct family_set *ret_set, struct err *err)
{
	struct process_totals *totals = NULL;
	struct exporter_facts facts;
	struct utsname uts;
	struct snapshot snap = { 0 };
	u64 begin = observer_now();
	int r;

	r = observer_snapshot(o, &snap, &totals, err);
	if (r)
		return r;
	exporter_facts(o, observer_now() - begin, uname(&uts) ? "" : uts.machine, &facts);
	publish(&snap, totals, &facts, ret_set);
	ret_snap->begin_ns = snap.begin_ns;
	ret_snap->end_ns = snap.end_ns;
	snapshot_done(&snap);
	free(totals);
	return ret_set->failed ? err_set(err, -ENOMEM, "no memory for the metrics") : 0;
}

int observer_publish(struct observer *o, struct family_set *ret_set, struct err *err)
{
	struct snapshot times = { 0 };

	return publish_snapshot(o, &times, ret_set, err);
}

int observer_frame(struct observer *o, struct record_frame *ret_frame, struct err *err)
{
	struct snapshot times = { 0 };
	int r = publish_snapshot(o, &times, &ret_frame->set, err);

	ret_frame->begin_ns = times.begin_ns;
	ret_frame->end_ns = times.end_ns;
	ret_frame->wall_ns = times.begin_ns + clock_wall_minus_monotonic_ns();
	return r;
}

bool observer_census(const struct observer *o, size_t i, struct census *ret_census)
{
	return bpf_session_census(o->session, o->processes[i].where.slot, ret_census);
}

int observer_leaves(const struct observer *o, size_t i, u32 profile, struct leaf_count **ret_leaves,
		    size_t *ret_n)
{
	return bpf_session_leaves(o->session, o->processes[i].where.slot, profile, ret_leaves,
				  ret_n);
}
