/* SPDX-License-Identifier: MIT */
/* Which of the observed processes are Go programs, and what they say. */
#include "user/broker/go_watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/elf/file.h"
#include "user/runtime/go_live.h"
#include "user/runtime/owner.h"
#include "user/runtime/worker.h"

/* Files that are read at the same time, each in a process of its own. */
#define MAX_RUNNING 4

/* Of one kilobyte each. A machine does not execute more in the life of an observer. */
#define MAX_PROGRAMS 4096

enum program_state {
	PROGRAM_NEW,	 /* nobody reads it yet */
	PROGRAM_RUNNING, /* @worker does */
	PROGRAM_READ	 /* @result is there */
};

struct program {
	dev_t dev;
	ino_t ino;
	off_t n_bytes;
	struct timespec changed;
	enum program_state state;
	struct target_worker worker;
	int result; /* of go_live_plan */
	struct go_live_plan plan;
	struct program_facts facts;
	struct owner_how owner;
	char why[160];
	char owner_why[GO_WATCH_WHY_BYTES]; /* if @owner has no mode */
};

struct go_programs {
	struct program *at;
	size_t n;
	u32 nr_running;
};

struct go_programs *go_programs_new(void)
{
	return calloc(1, sizeof(struct go_programs));
}

void go_programs_free(struct go_programs *programs)
{
	if (!programs)
		return;
	for (size_t i = 0; i < programs->n; i++) {
		if (programs->at[i].state == PROGRAM_RUNNING)
			target_worker_done(&programs->at[i].worker);
	}
	free(programs->at);
	free(programs);
}

/* --- files --- */

static bool is_file(const struct program *p, const struct stat *st)
{
	return p->dev == st->st_dev && p->ino == st->st_ino && p->n_bytes == st->st_size &&
	       p->changed.tv_sec == st->st_mtim.tv_sec && p->changed.tv_nsec == st->st_mtim.tv_nsec;
}

/* Our own file: a program that is about to be executed is still ours. */
static bool is_ours(const struct program *p)
{
	struct stat st;

	return !stat("/proc/self/exe", &st) && is_file(p, &st);
}

/* The number plus 1 of what the process executes; 0 if it has gone, or there are too many. */
static size_t program_of(struct go_programs *programs, pid_t pid)
{
	struct program *grown;
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (stat(path, &st))
		return 0;
	for (size_t i = 0; i < programs->n; i++) {
		if (is_file(&programs->at[i], &st))
			return i + 1;
	}
	if (programs->n == MAX_PROGRAMS)
		return 0;
	grown = realloc(programs->at, (programs->n + 1) * sizeof(*grown));
	if (!grown)
		return 0;
	programs->at = grown;
	grown[programs->n++] = (struct program){
		.dev = st.st_dev, .ino = st.st_ino, .n_bytes = st.st_size, .changed = st.st_mtim
	};
	return programs->n;
}

static void program_end(struct program *p, int result, const struct err *err)
{
	p->state = PROGRAM_READ;
	p->result = result;
	if (result)
		snprintf(p->why, sizeof(p->why), "%.150s", err->text);
	if (p->owner.mode == OWNER_NONE && !p->owner_why[0])
		snprintf(p->owner_why, sizeof(p->owner_why), "%.150s", err->text);
}

static void program_start(struct go_programs *programs, struct program *p, pid_t pid)
{
	const struct target_request request = { 0 };
	struct err err = { { 0 } };
	struct stat st;
	int fd, r;

	if (p->state != PROGRAM_NEW || programs->nr_running == MAX_RUNNING || is_ours(p))
		return;
	fd = elf_open_pid(pid, &err);
	if (fd >= 0 && (fstat(fd, &st) || !is_file(p, &st))) {
		close(fd); /* it executes another one by now */
		return;
	}
	r = fd < 0 ? fd : target_worker_start(fd, &request, clock_monotonic_ns(), &p->worker, &err);
	if (fd >= 0)
		close(fd);
	if (r) {
		if (fd >= 0)
			target_worker_done(&p->worker);
		program_end(p, r, &err);
		return;
	}
	p->state = PROGRAM_RUNNING;
	programs->nr_running++;
}

static void program_facts(struct program *p, const struct target *target)
{
	p->facts.known = 1;
	p->facts.stripped = !target->file.symtab;
	snprintf(p->facts.build_id, sizeof(p->facts.build_id), "%s", target->file.build_id);
	if (strcmp(target->runtime, runtime_go.name) != 0)
		return;
	snprintf(p->facts.runtime, sizeof(p->facts.runtime), "%s", "go");
	snprintf(p->facts.runtime_version, sizeof(p->facts.runtime_version), "%.31s",
		 target->go.version_text);
}

static void program_owner(struct program *p, const struct target *target)
{
	struct err err = { { 0 } };

	if (!owner_of_target(target, &p->owner, &err))
		return;
	p->owner = (struct owner_how){ .mode = OWNER_NONE };
	snprintf(p->owner_why, sizeof(p->owner_why), "%.150s", err.text);
}

static void program_step(struct go_programs *programs, struct program *p)
{
	struct target *target = calloc(1, sizeof(*target));
	struct err err = { { 0 } };
	int r = target ? target_worker_step(&p->worker, clock_monotonic_ns(), target, &err)
		       : -EAGAIN;

	if (r != -EAGAIN) {
		if (!r) {
			program_facts(p, target);
			program_owner(p, target);
			r = go_live_plan(target, &p->plan, &err);
		}
		target_worker_done(&p->worker);
		programs->nr_running--;
		program_end(p, r, &err);
	}
	free(target);
}

static void program_wait(struct go_programs *programs, struct program *p, u64 patience_ns)
{
	u64 begin_ns = clock_monotonic_ns(), waited_ns = 0;

	while (p->state == PROGRAM_RUNNING) {
		struct pollfd fd = { .fd = p->worker.fd, .events = POLLIN };

		if (waited_ns < patience_ns)
			(void)poll(&fd, 1, (int)((patience_ns - waited_ns) / NS_PER_MS) + 1);
		program_step(programs, p);
		if (waited_ns >= patience_ns)
			return;
		waited_ns = clock_monotonic_ns() - begin_ns;
	}
}

void go_watch_begin(struct go_programs *programs, pid_t pid)
{
	size_t i = program_of(programs, pid);

	if (i)
		program_start(programs, &programs->at[i - 1], pid);
}

int go_watch_owner(struct go_programs *programs, pid_t pid, struct owner_how *ret_how,
		   char ret_why[GO_WATCH_WHY_BYTES])
{
	size_t i = program_of(programs, pid);
	struct program *p;

	if (!i)
		return -ESRCH;
	p = &programs->at[i - 1];
	program_start(programs, p, pid);
	program_wait(programs, p, 0);
	if (p->state != PROGRAM_READ)
		return -EAGAIN;
	*ret_how = p->owner;
	memcpy(ret_why, p->owner_why, sizeof(p->owner_why));
	return 0;
}

/* --- processes --- */

void go_watch_done(struct go_watch *watch)
{
	go_live_free(watch->live);
	watch->live = NULL;
}

/* What it did so far stays; what it executes now begins at 0. */
static void begin_anew(struct go_watch *watch)
{
	go_watch_done(watch);
	go_counters_add(&watch->before, &watch->last);
	watch->last = (struct go_counters){ 0 };
}

static int read_live(struct go_watch *watch, pid_t pid, const struct program *p,
		     struct go_stats *ret_stats, struct err *err)
{
	int r = 0;

	if (!watch->live)
		r = go_live_open(pid, &p->plan, &watch->live, err);
	r = r ? r : go_live_read(watch->live, ret_stats, err);
	if (r == -ESTALE)
		begin_anew(watch);
	return r;
}

static void refuse(struct go_watch *watch, const char *why)
{
	watch->refused = true;
	snprintf(watch->why, sizeof(watch->why), "%.150s", why);
}

static void read_now(struct go_programs *programs, struct go_watch *watch, pid_t pid,
		     u64 patience_ns, struct go_stats *ret_stats)
{
	struct err err = { { 0 } };
	size_t i = program_of(programs, pid);
	struct program *p;
	int r;

	if (!i)
		return;
	p = &programs->at[i - 1];
	if (watch->program && watch->program != i)
		begin_anew(watch);
	watch->program = i;
	program_start(programs, p, pid);
	program_wait(programs, p, patience_ns);
	if (p->state != PROGRAM_READ)
		return;
	watch->facts = p->facts;
	if (p->result) {
		/* No Go program, and no program of 64 bits, are no failure. */
		if (p->result != -ENOENT && p->result != -EINVAL)
			refuse(watch, p->why);
		return;
	}
	r = read_live(watch, pid, p, ret_stats, &err);
	if (r == -ESTALE)
		r = read_live(watch, pid, p, ret_stats, &err);
	if (r)
		refuse(watch, err.text);
}

void go_watch_read(struct go_programs *programs, struct go_watch *watch, pid_t pid, u64 patience_ns,
		   struct go_stats *ret_stats)
{
	struct go_stats now = { 0 };

	watch->refused = false;
	watch->why[0] = '\0';
	read_now(programs, watch, pid, patience_ns, &now);
	if (now.counted) {
		go_counters_floor(&watch->last, &now.counters);
		watch->last = now.counters;
		watch->counted = true;
	}
	now.counted = watch->counted;
	now.counters = watch->before;
	go_counters_add(&now.counters, &watch->last);
	*ret_stats = now;
}
