/* SPDX-License-Identifier: MIT */
/* Who is observed: targets, their children, and what becomes of them. */
#include "user/cmd/observer_impl.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/log.h"
#include "user/base/utf8.h"
#include "user/proc/procfs.h"

/* A child that has executed nothing for so long goes by the name that it inherited. */
#define NAME_WAIT_NS (1 * NS_PER_SEC)

u64 observer_now(void)
{
	return clock_monotonic_ns();
}

void observer_free(struct observer *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->nr_processes; i++) {
		if (o->processes[i].pidfd >= 0)
			close(o->processes[i].pidfd);
		free(o->processes[i].last_kinds.at);
		free(o->processes[i].exe);
		observer_forget_name(&o->processes[i]);
		gc_probes_detach(&o->processes[i].gc);
		function_probes_detach(&o->processes[i].functions);
	}
	if (o->epoll_fd >= 0)
		close(o->epoll_fd);
	gc_file_free(o->gc_file);
	function_file_free(o->function_file);
	ended_free(o->ended);
	names_free(o->names);
	free(o->slots);
	free(o->at_slot);
	free(o->processes);
	bpf_session_free(o->session);
	free(o);
}

/* --- taking in --- */

/* Repaired here and not where it is printed: names that are printed alike are one name. */
static void set_name(const struct observer *o, struct process_identity *id)
{
	utf8_repair(o->config.name ? o->config.name : id->comm, id->name, sizeof(id->name));
}

/* Without memory for it, it is not known. */
static void set_exe(struct observed *p, const char *exe)
{
	free(p->exe);
	p->exe = exe[0] ? strdup(exe) : NULL;
	p->id.exe = p->exe;
}

static int identify(const struct observer *o, pid_t pid, struct observed *p, struct err *err)
{
	struct process_identity *id = &p->id;
	struct broker_identity who;
	int r = broker_identify(o->config.broker, pid, &who);

	if (r)
		return err_set(err, r, "process %d: %s", (int)pid,
			       r == -ENOENT ? "there is no such process" : strerror(-r));
	*id = (struct process_identity){ .pid = pid, .uid = who.uid };
	id->start_ticks = who.start_ticks;
	id->start_wall_ns = o->boot_wall_ns + who.start_ticks * (NS_PER_SEC / o->tick_hz);
	memcpy(id->comm, who.comm, sizeof(id->comm));
	set_exe(p, who.exe);
	set_name(o, id);
	return 0;
}

static struct observed *new_place(struct observer *o)
{
	struct observed *grown = realloc(o->processes, (o->nr_processes + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	o->processes = grown;
	return &grown[o->nr_processes];
}

static void say_as_a_whole(const struct observed *p, const char *why)
{
	log_warn("process %d (%s): interactions are not told apart: %s", (int)p->id.pid, p->id.comm,
		 why);
}

/* Without a broker everything is background. */
static bool tells_apart(const struct observer *o)
{
	return observer_groups(o)[GROUP_INTERACTIONS].up && o->config.broker;
}

/* What a process serves before the broker has answered is background. */
static void ask_owner(struct observer *o, struct observed *p)
{
	struct err err = { { 0 } };
	struct broker_owner owner;
	int r = broker_owner(o->config.broker, p->id.pid, &owner);

	if (r == -EAGAIN)
		return;
	p->owner_pending = false;
	if (r == -ESRCH || r == -ENOENT)
		return; /* it has ended */
	if (r)
		say_as_a_whole(p, "the broker cannot read its file");
	else if (owner.how.mode == OWNER_NONE)
		say_as_a_whole(p, owner.why);
	else if (bpf_session_set_owner(o->session, p->where.slot, &owner.how, &err))
		say_as_a_whole(p, err.text);
}

static bool ask_owners(struct observer *o)
{
	bool pending = false;

	for (size_t i = 0; i < o->nr_processes; i++) {
		struct observed *p = &o->processes[i];

		if (p->owner_pending && p->alive)
			ask_owner(o, p);
		pending |= p->owner_pending && p->alive;
	}
	return pending;
}

void observer_await_owners(struct observer *o, u64 patience_ns)
{
	const struct timespec pause = { .tv_nsec = 2 * NS_PER_MS };
	u64 begin_ns = observer_now();

	while (ask_owners(o) && observer_now() - begin_ns < patience_ns)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

/* In the program that it executes now, while that may be done. What an earlier one did stays. */
static void probe_gc(struct observer *o, struct observed *p)
{
	struct gc_probed before = p->gc;

	if (!p->target || o->sealed || o->config.all || !observer_groups(o)[GROUP_GO_GC].up)
		return;
	gc_probes_detach(&p->gc);
	gc_probes_attach(o->session, &o->gc_file, p->id.pid, p->where.slot, &p->gc);
	p->gc.stops |= before.stops;
	p->gc.workers |= before.workers;
}

static struct function_list functions_of(const struct observer *o)
{
	return (struct function_list){ o->config.function_names, o->config.nr_functions };
}

/* In the program that it executes now; of one that comes too late everything is background. */
static void probe_functions(struct observer *o, struct observed *p)
{
	const struct function_list functions = functions_of(o);

	if (!p->target || !functions.n)
		return;
	function_probes_detach(&p->functions);
	if (o->sealed) {
		snprintf(p->functions.why, sizeof(p->functions.why), "%s",
			 "what is executed after observing began is not probed");
		log_warn("process %d (%s): its interactions are not told apart: %s; start "
			 "skyobserve when it runs, or let skyobserve start it (-- COMMAND)",
			 (int)p->id.pid, p->id.comm, p->functions.why);
	} else if (observer_groups(o)[GROUP_FUNCTIONS].up) {
		/* What was read for it says as well whose the calls are: nobody is to be asked. */
		function_probes_attach(o->session, &o->function_file, p->id.pid, p->where.slot,
				       &functions, &p->functions);
		p->owner_pending &= !p->functions.all;
	} else {
		snprintf(p->functions.why, sizeof(p->functions.why), "%s",
			 observer_groups(o)[GROUP_FUNCTIONS].reason);
	}
}

static void probe(struct observer *o, struct observed *p)
{
	probe_gc(o, p);
	probe_functions(o, p);
}

int observer_check_program(struct observer *o, int fd, struct err *err)
{
	const struct function_list functions = functions_of(o);

	return functions.n ? function_probes_check(&o->function_file, fd, &functions, err) : 0;
}

int observer_check_functions(const struct observer *o, struct err *err)
{
	for (size_t i = 0; i < o->nr_processes && o->config.nr_functions; i++) {
		const struct observed *p = &o->processes[i];

		if (p->target && p->alive && *p->functions.why)
			return err_set(err, p->functions.unfit ? -ENOTSUP : -EIO,
				       "process %d (%s): %.250s", (int)p->id.pid, p->id.comm,
				       p->functions.why);
	}
	return 0;
}

static int take_in(struct observer *o, struct observed *p, bool details, struct err *err)
{
	const struct observe_how how = { .details = details,
					 .follow = o->config.follow || o->config.all };
	struct thread_calls calls;
	int r;

	r = broker_thread_calls(o->config.broker, p->id.pid, &calls);
	if (r)
		return err_set(err, r, "no memory for the threads of process %d", (int)p->id.pid);
	r = bpf_session_observe(o->session, (u32)p->id.pid, &how, &calls, &p->where, err);
	free(calls.at);
	if (r)
		return r;
	broker_read_books(o->config.broker, p->id.pid, observer_now(), &p->books_begin);
	p->owner_pending = tells_apart(o);
	probe(o, p);
	if (observer_reads_go(o))
		go_view_begin(o->config.broker, p->id.pid);
	if (!o->begin_ns)
		o->begin_ns = p->where.begin_ns;
	return 0;
}

/* There is no place left: it is counted, but not by itself. Returns 1, or a negative errno. */
static int take_in_with_others(struct observer *o, const struct observed *p, struct err *err)
{
	struct thread_calls calls;
	int r = broker_thread_calls(o->config.broker, p->id.pid, &calls);

	if (r)
		return err_set(err, r, "no memory for the threads of process %d", (int)p->id.pid);
	r = bpf_session_observe_other(o->session, (u32)p->id.pid, o->config.follow || o->config.all,
				      &calls, err);
	free(calls.at);
	return r ? r : 1;
}

static bool observed_already(const struct observer *o, const struct process_identity *id)
{
	for (size_t i = 0; i < o->nr_processes; i++) {
		const struct process_identity *had = &o->processes[i].id;

		if (had->pid == id->pid && had->start_ticks == id->start_ticks)
			return true;
	}
	return false;
}

/* Of a process that lives and holds its number: from here on its end is seen. 0 or -errno. */
static int watch_end(const struct observer *o, pid_t pid, struct observed *p)
{
	struct epoll_event event = { .events = EPOLLIN };

	p->pidfd = (int)syscall(SYS_pidfd_open, pid, 0); /* Linux 5.3 */
	if (p->pidfd < 0)
		return errno == ESRCH ? -ENOENT : -errno;
	event.data.fd = p->pidfd;
	(void)epoll_ctl(o->epoll_fd, EPOLL_CTL_ADD, p->pidfd, &event); /* else observer_scan */
	return 0;
}

static bool has_ended(const struct observed *p)
{
	struct pollfd end = { .fd = p->pidfd, .events = POLLIN };

	return poll(&end, 1, 0) != 0;
}

/* One that is no target is one of the whole machine. */
static int add(struct observer *o, pid_t pid, bool target, struct err *err)
{
	struct observed *p = new_place(o);
	int r;

	if (!p)
		return err_set(err, -ENOMEM, "no memory for process %d", (int)pid);
	*p = (struct observed){ .target = target, .alive = true };
	r = watch_end(o, pid, p);
	if (r)
		return err_set(err, r, "process %d: %s", (int)pid,
			       r == -ENOENT ? "there is no such process" : strerror(-r));
	/* The descriptor holds the number: what /proc says now is about this incarnation. */
	r = identify(o, pid, p, err);
	if (!r && observed_already(o, &p->id))
		r = err_set(err, -EEXIST, "process %d is observed already", (int)pid);
	if (!r)
		r = take_in(o, p, target, err);
	if (r == -ENOSPC && !target)
		r = take_in_with_others(o, p, err);
	if (r == -ESRCH && !has_ended(p))
		r = err_set(
			err, -EACCES,
			"process %d lives, but this kernel hides it from BPF programs (its task "
			"iterator does not list it): it cannot be observed",
			(int)pid);
	if (r || !target) {
		/* The programs tell of its end; a descriptor each would be more than there are. */
		close(p->pidfd);
		p->pidfd = -1;
	}
	if (r)
		free(p->exe);
	else
		o->nr_processes++;
	return r;
}

int observer_add(struct observer *o, pid_t pid, struct err *err)
{
	return add(o, pid, true, err);
}

/*
 * A target that the programs took in at its exec. Its number is its own as long as the programs
 * did not see its end.
 */
static void greet_target(struct observer *o, struct observed *p)
{
	if (!o->begin_ns)
		o->begin_ns = p->where.begin_ns;
	if (p->alive && !watch_end(o, p->id.pid, p))
		p->unsaid = true;
}

/* A process that the programs took in by themselves; it may be gone already. */
static struct observed *add_taken_in(struct observer *o, const struct process_slot *slot)
{
	struct observed *p = new_place(o);
	struct err err;

	if (!p)
		return NULL; /* at the next scan */
	*p = (struct observed){ .pidfd = -1,
				.target = slot->flags & PROCESS_WANTED,
				.alive = !slot->end_ns };
	p->where.slot = slot->slot;
	p->where.begin_ns = slot->begin_ns;
	p->execs = slot->execs;
	p->where.ended = slot->ended;
	if (slot->end_ns || identify(o, (pid_t)slot->tgid, p, &err))
		p->id = (struct process_identity){ .pid = (pid_t)slot->tgid, .exe = p->exe };
	/* The name that the kernel saw it execute: /proc may know another process by now. */
	memcpy(p->id.comm, slot->comm, sizeof(p->id.comm));
	set_name(o, &p->id);
	if (p->target)
		greet_target(o, p);
	if (!slot->end_ns)
		probe(o, p);
	p->owner_pending = tells_apart(o);
	o->nr_processes++;
	return p;
}

void observer_seal(struct observer *o)
{
	o->sealed = true;
}

void observer_want_file(struct observer *o, size_t i, u64 inode, u64 device)
{
	bpf_session_want_file(o->session, (u32)i, inode, device);
}

bool observer_observes(const struct observer *o, pid_t pid)
{
	for (size_t i = 0; i < o->nr_processes; i++) {
		if (o->processes[i].id.pid == pid && o->processes[i].alive)
			return true;
	}
	return false;
}

bool observer_began_later(const struct observer *o, size_t i)
{
	return o->processes[i].id.start_ticks > o->open_ticks;
}

void observer_count_late(struct observer *o)
{
	bpf_session_drop(o->session, DROP_LATE_PROCESS);
}

const struct process_identity *observer_next_come(struct observer *o)
{
	for (size_t i = 0; i < o->nr_processes; i++) {
		if (!o->processes[i].unsaid)
			continue;
		o->processes[i].unsaid = false;
		return &o->processes[i].id;
	}
	return NULL;
}

int observer_add_all(struct observer *o, struct err *err)
{
	struct pid_list list;
	int r = procfs_list(PROC_ROOT, &list);

	if (r)
		return err_set(err, r, "cannot list /proc: %s", strerror(-r));
	for (size_t i = 0; i < list.n; i++) {
		struct err one;

		/* One that ends meanwhile, or was taken in as a child, is no failure. */
		if (list.pids[i] != getpid() && list.pids[i] != broker_client_pid(o->config.broker))
			(void)add(o, list.pids[i], false, &one);
	}
	free(list.pids);
	return 0;
}

/* --- life --- */

size_t observer_processes(const struct observer *o)
{
	return o->nr_processes;
}

const struct process_identity *observer_identity(const struct observer *o, size_t i)
{
	return i < o->nr_processes ? &o->processes[i].id : NULL;
}

size_t observer_alive(const struct observer *o)
{
	size_t n = 0;

	for (size_t i = 0; i < o->nr_processes; i++)
		n += o->processes[i].target && o->processes[i].alive;
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
	p->end_ns = observer_now();
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
}

int observer_fd(const struct observer *o)
{
	return o->epoll_fd;
}

const struct process_identity *observer_next_ended(struct observer *o)
{
	struct epoll_event event;

	if (epoll_wait(o->epoll_fd, &event, 1, 0) != 1)
		return NULL;
	for (size_t i = 0; i < o->nr_processes; i++) {
		if (o->processes[i].pidfd != event.data.fd)
			continue;
		o->last_ended = o->processes[i].id;
		o->last_ended.exe = NULL; /* it may go before the caller has looked at it */
		observer_ended(o, i);
		return &o->last_ended;
	}
	return NULL;
}

static void index_slots(struct observer *o)
{
	memset(o->at_slot, 0, o->config.bounds.max_processes * sizeof(*o->at_slot));
	for (size_t i = 0; i < o->nr_processes; i++)
		o->at_slot[o->processes[i].where.slot] = (u32)i + 1;
}

static struct observed *by_slot(struct observer *o, u32 slot)
{
	return o->at_slot[slot] ? &o->processes[o->at_slot[slot] - 1] : NULL;
}

/* Its last switch was not reported, or its pidfd was not: it is over all the same. */
static bool is_overdue(const struct observed *p)
{
	if (p->slot_ended)
		return false;
	return p->missed > 1 || (!p->alive && p->end_ns && observer_now() - p->end_ns > GIVE_UP_NS);
}

/*
 * It executes another program: an identity that was read before is no longer true. Where it cannot
 * be read (any more) it is not known.
 */
static void note_exec(struct observer *o, struct observed *p, const struct process_slot *slot)
{
	struct broker_identity who;

	if (p->execs == slot->execs)
		return;
	p->execs = slot->execs;
	set_exe(p, "");
	p->owner_pending = tells_apart(o);
	if (slot->end_ns)
		return;
	probe(o, p);
	if (broker_identify(o->config.broker, p->id.pid, &who))
		return;
	set_exe(p, who.exe);
	p->id.uid = who.uid;
}

void observer_name_all(struct observer *o)
{
	o->last_call = true;
}

/* A label is for good, since counters do not move: so it waits for the first exec. */
static bool has_name(const struct observer *o, const struct process_slot *slot)
{
	return slot->flags & PROCESS_EXECUTED || slot->end_ns || o->last_call ||
	       observer_now() - slot->begin_ns > NAME_WAIT_NS;
}

void observer_scan(struct observer *o)
{
	size_t n = bpf_session_scan(o->session, o->slots, o->config.bounds.max_processes);

	(void)ask_owners(o);

	index_slots(o);
	for (size_t i = 0; i < n; i++) {
		const struct process_slot *slot = &o->slots[i];
		struct observed *p = by_slot(o, slot->slot);

		if (!p && has_name(o, slot))
			p = add_taken_in(o, slot);
		if (!p)
			continue;
		note_exec(o, p, slot);
		if (!slot->end_ns)
			continue;
		p->slot_ended = true;
		if (!p->end_ns)
			p->end_ns = slot->end_ns;
		if (p->pidfd < 0)
			p->alive = false;
	}
	for (size_t i = 0; i < o->nr_processes; i++) {
		if (!is_overdue(&o->processes[i]))
			continue;
		observer_ended(o, i);
		bpf_session_end(o->session, o->processes[i].where.slot);
		o->processes[i].slot_ended = true;
	}
}

void observer_drop(struct observer *o, size_t i)
{
	struct observed *p = &o->processes[i];

	bpf_session_release(o->session, p->where.slot);
	gc_probes_detach(&p->gc);
	function_probes_detach(&p->functions);
	free(p->last_kinds.at);
	free(p->exe);
	observer_forget_name(p);
	if (p->pidfd >= 0)
		close(p->pidfd);
	o->nr_processes--;
	memmove(p, p + 1, (o->nr_processes - i) * sizeof(*p));
}

u64 observer_age_ns(const struct observer *o)
{
	return o->begin_ns ? observer_now() - o->begin_ns : 0;
}

const struct group_state *observer_groups(const struct observer *o)
{
	return bpf_session_groups(o->session);
}

bool observer_may_go_on(const struct observer *o)
{
	return bpf_session_may_go_on(o->session);
}
