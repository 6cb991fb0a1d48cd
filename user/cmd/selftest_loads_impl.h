/* SPDX-License-Identifier: MIT */
/* Inside of the loads: the child's own state, and how calls are made and claimed. */
#ifndef SKYOBSERVE_CMD_SELFTEST_LOADS_IMPL_H
#define SKYOBSERVE_CMD_SELFTEST_LOADS_IMPL_H

#include "user/cmd/selftest_loads.h"

#include "layout.h"

struct load_uring;

/* One load, in its child. */
struct load {
	const struct load_wires *wires;
	struct load_shared *shared;
	u64 calls; /* system calls made in the window */
	u64 calls_by_nr[NR_CALL_SLOTS];
	u64 failed_by_nr[NR_CALL_SLOTS];
	int file, sync_file; /* the same temporary file, also open with O_DSYNC */
	int in, out;	     /* pipe load: from and to the partner */
	char *pages;
	struct load_uring *uring;
};

/*
 * Make a system call that is counted. Returns what it returned, or a negative errno. Nothing else
 * that a load does in its window may enter the kernel.
 */
long load_call(struct load *l, long nr, long a, long b, long c, long d);

/* The same; a failure ends the load. */
long load_must(struct load *l, long nr, long a, long b, long c, long d);

/* The load cannot be done here: say why and leave. Before LOAD_DONE only. */
void load_refuse(struct load *l, const char *what, int error) __attribute__((noreturn));

/* The run shall end early. */
int load_stopped(const struct load *l);

void load_claim(struct load *l, enum load_quantity quantity, u32 id, u64 low, u64 high,
		const char *what);
void load_claim_error(struct load *l, enum load_quantity quantity, u32 id, int code, u64 n,
		      const char *what);
/* Calls of @nr as they were counted. */
void load_claim_calls(struct load *l, long nr, const char *what);
/* All of them as they were counted, and the read from @end, which is under way then. */
void load_claim_all_calls(struct load *l);

/* A temporary file without a name, @bytes long, in the folder of the run. */
int load_file(struct load *l, size_t bytes);

/* selftest_uring.c */
void load_uring_prepare(struct load *l);
void load_uring_run(struct load *l);

#endif /* SKYOBSERVE_CMD_SELFTEST_LOADS_IMPL_H */
