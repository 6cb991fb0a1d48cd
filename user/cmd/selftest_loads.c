/* SPDX-License-Identifier: MIT */
/* The life of a load, and how its calls are made and claimed. Knows not what it does. */
#include "user/cmd/selftest_loads_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

long load_call(struct load *l, long nr, long a, long b, long c, long d)
{
	long ret;

	l->calls++;
	l->calls_by_nr[nr]++;
	ret = syscall(nr, a, b, c, d, 0, 0);
	if (ret >= 0)
		return ret;
	l->failed_by_nr[nr]++;
	return -errno;
}

static void set_state(struct load *l, enum load_state state)
{
	__atomic_store_n(&l->shared->state, (u32)state, __ATOMIC_RELEASE);
}

void load_refuse(struct load *l, const char *what, int error)
{
	snprintf(l->shared->why, sizeof(l->shared->why), "%s: %s", what, strerror(error));
	set_state(l, LOAD_REFUSED);
	_exit(0);
}

int load_stopped(const struct load *l)
{
	return __atomic_load_n(l->wires->stop, __ATOMIC_RELAXED) != 0;
}

void load_claim(struct load *l, enum load_quantity quantity, u32 id, u64 low, u64 high,
		const char *what)
{
	struct load_claim *c;

	if (l->shared->nr_claims == MAX_LOAD_CLAIMS)
		load_refuse(l, "more claims than there is room for", ENOSPC);
	c = &l->shared->claims[l->shared->nr_claims++];
	*c = (struct load_claim){ .quantity = quantity, .id = id, .low = low, .high = high };
	snprintf(c->what, sizeof(c->what), "%s", what);
}

void load_claim_error(struct load *l, enum load_quantity quantity, u32 id, int code, u64 n,
		      const char *what)
{
	load_claim(l, quantity, id, n, n, what);
	l->shared->claims[l->shared->nr_claims - 1].code = (u32)code;
}

void load_claim_calls(struct load *l, long nr, const char *what)
{
	load_claim(l, QUANTITY_CALLS, (u32)nr, l->calls_by_nr[nr], l->calls_by_nr[nr], what);
}

int load_file(struct load *l, size_t bytes)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/skyobserve-selftest-XXXXXX", l->wires->folder);
	fd = mkstemp(path);
	if (fd < 0)
		load_refuse(l, l->wires->folder, errno);
	/* Opened a second time by its name, which goes away at once. */
	l->sync_file = open(path, O_RDWR | O_DSYNC | O_CLOEXEC);
	if (unlink(path) || l->sync_file < 0 || ftruncate(fd, (off_t)bytes))
		load_refuse(l, l->wires->folder, errno);
	return fd;
}

long load_must(struct load *l, long nr, long a, long b, long c, long d)
{
	long ret = load_call(l, nr, a, b, c, d);

	if (ret < 0)
		load_refuse(l, "a system call failed", (int)-ret);
	return ret;
}

void load_claim_all_calls(struct load *l)
{
	load_claim(l, QUANTITY_ALL_CALLS, 0, l->calls + 1, l->calls + 1, "all system calls");
}

/* The life of a load; the child never returns from here. */
static void live(struct load *l, const struct load_spec *spec) __attribute__((noreturn));

static void live(struct load *l, const struct load_spec *spec)
{
	const struct load_wires *w = l->wires;
	char byte;

	/* The starter's ends: while a child holds one, closing the other closes nothing. */
	close(w->go[1]);
	close(w->end[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, spec->name);
	signal(SIGINT, SIG_DFL);
	spec->prepare(l);
	/* What claiming touches for the first time is touched before the window. */
	load_claim(l, QUANTITY_COUNT, 0, 0, 0, "warm");
	l->shared->nr_claims = 0;
	set_state(l, LOAD_READY);
	if (syscall(SYS_read, w->go[0], &byte, 1) != 1)
		_exit(0); /* the run was given up */
	spec->run(l);
	set_state(l, LOAD_DONE);
	(void)!syscall(SYS_read, w->end[0], &byte, 1);
	_exit(0);
}

pid_t load_start(const struct load_spec *spec, const struct load_wires *wires,
		 struct load_shared *shared, struct err *err)
{
	struct load *l;
	pid_t pid;

	l = calloc(1, sizeof(*l));
	if (!l)
		return err_set(err, -ENOMEM, "no memory for a load");
	l->wires = wires;
	l->shared = shared;
	pid = fork();
	if (!pid)
		live(l, spec);
	free(l);
	return pid < 0 ? err_set(err, -errno, "fork: %s", strerror(errno)) : pid;
}
