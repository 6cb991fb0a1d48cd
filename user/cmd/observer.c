/* SPDX-License-Identifier: MIT */
/* Wires /proc, the BPF session and the model together. */
#include "user/cmd/observer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "user/bpf/collect.h"
#include "user/bpf/libbpf_version.h"
#include "user/cmd/version.h"
#include "user/model/publish.h"
#include "user/proc/procfs.h"

#define PROC_ROOT "/proc"

struct observed {
	struct process_identity id;
	struct observed_process where;
	struct proc_books books_begin;
	struct process_totals last;
	int pidfd;
	bool alive;
	bool settled; /* ended, and no longer observed */
	u64 end_ns;
};

struct observer {
	struct observer_config config;
	struct bpf_session *session;
	struct observed *processes;
	size_t nr_processes;
	u64 boot_wall_ns;
	u32 tick_hz;
};

static u64 monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NS_PER_SEC + (u64)ts.tv_nsec;
}

int observer_open(const struct observer_config *config, struct observer **ret_observer,
		  struct err *err)
{
	struct observer *o = calloc(1, sizeof(*o));
	u64 steal, boot;
	int r;

	if (!o)
		return err_set(err, -ENOMEM, "no memory for an observer");
	o->config = *config;
	o->tick_hz = (u32)sysconf(_SC_CLK_TCK);
	procfs_machine(PROC_ROOT, &steal, &boot);
	o->boot_wall_ns = boot * NS_PER_SEC;
	r = bpf_session_open(&config->bounds, config->groups, config->force_raw_tp, &o->session,
			     err);
	if (r) {
		free(o);
		return r;
	}
	*ret_observer = o;
	return 0;
}

void observer_free(struct observer *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->nr_processes; i++) {
		if (o->processes[i].pidfd >= 0)
			close(o->processes[i].pidfd);
	}
	free(o->processes);
	bpf_session_free(o->session);
	free(o);
}

static int identify(const struct observer *o, pid_t pid, struct process_identity *ret_id,
		    struct err *err)
{
	struct proc_status status;
	struct proc_stat stat;
	int r = procfs_stat(PROC_ROOT, pid, &stat);

	if (!r)
		r = procfs_status(PROC_ROOT, pid, &status);
	if (r)
		return err_set(err, r, "process %d: %s", (int)pid,
			       r == -ENOENT ? "there is no such process" : strerror(-r));
	*ret_id = (struct process_identity){ .pid = pid, .uid = status.uid };
	ret_id->start_ticks = stat.start_ticks;
	ret_id->start_wall_ns = o->boot_wall_ns + stat.start_ticks * (NS_PER_SEC / o->tick_hz);
	snprintf(ret_id->comm, sizeof(ret_id->comm), "%.*s", COMM_BYTES - 1, stat.comm);
	snprintf(ret_id->name, sizeof(ret_id->name), "%s",
		 o->config.name ? o->config.name : stat.comm);
	procfs_exe(PROC_ROOT, pid, ret_id->exe, sizeof(ret_id->exe));
	return 0;
}

static int take_in(struct observer *o, struct observed *p, struct err *err)
{
	struct thread_call *calls;
	size_t nr_calls;
	int r;

	r = procfs_thread_calls(PROC_ROOT, p->id.pid, &calls, &nr_calls);
	if (r)
		return err_set(err, r, "no memory for the threads of process %d", (int)p->id.pid);
	r = bpf_session_observe(o->session, (u32)p->id.pid, calls, nr_calls, &p->where, err);
	free(calls);
	if (r)
		return r;
	procfs_books(PROC_ROOT, p->id.pid, monotonic_ns(), &p->books_begin);
	return 0;
}

int observer_add(struct observer *o, pid_t pid, struct err *err)
{
	struct observed p = { .pidfd = -1, .alive = true };
	struct observed *grown;
	int r;

	p.pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* Linux 5.3 */
	if (p.pidfd < 0)
		return err_set(err, errno == ESRCH ? -ENOENT : -errno, "process %d: %s", (int)pid,
			       errno == ESRCH ? "there is no such process" : strerror(errno));
	/* The descriptor holds the number: what is read from /proc now is about this incarnation. */
	r = identify(o, pid, &p.id, err);
	for (size_t i = 0; i < o->nr_processes && !r; i++) {
		const struct process_identity *had = &o->processes[i].id;

		if (had->pid == pid && had->start_ticks == p.id.start_ticks)
			r = err_set(err, -EEXIST, "process %d is observed already", (int)pid);
	}
	if (!r)
		r = take_in(o, &p, err);
	if (r)
		goto out;
	grown = realloc(o->processes, (o->nr_processes + 1) * sizeof(*grown));
	if (!grown) {
		bpf_session_forget(o->session, p.where.slot);
		r = err_set(err, -ENOMEM, "no memory for process %d", (int)pid);
		goto out;
	}
	o->processes = grown;
	o->processes[o->nr_processes++] = p;
	return 0;
out:
	close(p.pidfd);
	return r;
}

size_t observer_processes(const struct observer *o)
{
	return o->nr_processes;
}

size_t observer_alive(const struct observer *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->nr_processes; i++)
		n += o->processes[i].alive;
	return n;
}

int observer_pidfd(const struct observer *o, size_t i)
{
	return i < o->nr_processes ? o->processes[i].pidfd : -1;
}

void observer_ended(struct observer *o, size_t i)
{
	struct observed *p = &o->processes[i];

	if (!p->alive)
		return;
	p->alive = false;
	p->end_ns = monotonic_ns();
	close(p->pidfd);
	p->pidfd = -1;
}

void observer_settle(struct observer *o)
{
	for (size_t i = 0; i < o->nr_processes; i++) {
		struct observed *p = &o->processes[i];

		if (p->alive || p->settled)
			continue;
		bpf_session_forget(o->session, p->where.slot);
		p->settled = true;
	}
}

u64 observer_age_ns(const struct observer *o)
{
	return o->nr_processes ? monotonic_ns() - o->processes[0].where.begin_ns : 0;
}

const struct process_identity *observer_identity(const struct observer *o, size_t i)
{
	return i < o->nr_processes ? &o->processes[i].id : NULL;
}

const struct group_state *observer_groups(const struct observer *o)
{
	return bpf_session_groups(o->session);
}

static void fill_process(const struct observed *p, struct process_snap *ret_snap)
{
	*ret_snap = (struct process_snap){
		.id = p->id,
		.slot = p->where.slot,
		.alive = p->alive,
		.begin_ns = p->where.begin_ns,
		.end_ns = p->end_ns,
		.books_begin = p->books_begin,
		.ended_begin = p->where.ended,
	};
}

int observer_snapshot(struct observer *o, struct snapshot *ret_snap,
		      struct process_totals **ret_totals, struct err *err)
{
	struct snapshot snap = { 0 };
	struct process_totals *totals;
	u64 boot;
	int r;

	totals = calloc(o->nr_processes + 1, sizeof(*totals));
	snap.processes = calloc(o->nr_processes + 1, sizeof(*snap.processes));
	if (!totals || !snap.processes) {
		r = err_set(err, -ENOMEM, "no memory for a snapshot");
		goto out;
	}
	snap.nr_processes = o->nr_processes;
	snap.machine.tick_hz = o->tick_hz;
	snap.machine.online_cpus = (u32)sysconf(_SC_NPROCESSORS_ONLN);
	procfs_machine(PROC_ROOT, &snap.machine.steal_ticks, &boot);
	for (size_t i = 0; i < o->nr_processes; i++)
		fill_process(&o->processes[i], &snap.processes[i]);
	r = collect_snapshot(o->session, &snap, err);
	if (r)
		goto out;
	for (size_t i = 0; i < o->nr_processes; i++) {
		struct observed *p = &o->processes[i];

		if (p->alive) {
			procfs_books(PROC_ROOT, p->id.pid, monotonic_ns(),
				     &snap.processes[i].books_now);
			memcpy(p->id.comm, snap.processes[i].id.comm, sizeof(p->id.comm));
		}
		totals_of(&snap.processes[i], &totals[i]);
		totals_floor(&p->last, &totals[i]);
		p->last = totals[i];
	}
	*ret_snap = snap;
	*ret_totals = totals;
	return 0;
out:
	snapshot_done(&snap);
	free(totals);
	return r;
}

static void exporter_facts(const struct observer *o, u64 scrape_ns, const char *arch,
			   struct exporter_facts *ret_facts)
{
	struct proc_self self;

	procfs_self(PROC_ROOT, &self);
	*ret_facts = (struct exporter_facts){
		.version = SKYOBSERVE_VERSION,
		.libbpf_version = libbpf_version_text(),
		.arch = arch,
		.label_pid = o->config.label_pid,
		.scrape_ns = scrape_ns,
		.cpu_ticks = self.cpu_ticks,
		.open_fds = self.open_fds,
		.max_fds = self.max_fds,
		.virtual_bytes = self.virtual_bytes,
		.max_virtual_bytes = self.max_virtual_bytes,
		.resident_bytes = self.resident_bytes,
		.start_wall_ns = o->boot_wall_ns + self.start_ticks * (NS_PER_SEC / o->tick_hz),
	};
}

int observer_publish(struct observer *o, struct family_set *ret_set, struct err *err)
{
	struct process_totals *totals;
	struct exporter_facts facts;
	struct utsname uts;
	struct snapshot snap;
	u64 begin = monotonic_ns();
	int r;

	r = observer_snapshot(o, &snap, &totals, err);
	if (r)
		return r;
	exporter_facts(o, monotonic_ns() - begin, uname(&uts) ? "" : uts.machine, &facts);
	publish(&snap, totals, &facts, ret_set);
	snapshot_done(&snap);
	free(totals);
	return ret_set->failed ? err_set(err, -ENOMEM, "no memory for the metrics") : 0;
}
