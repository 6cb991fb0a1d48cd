/* SPDX-License-Identifier: MIT */
/*
 * The two processes that are observed while prices are measured: one does loops, the other one is
 * whom it talks to. Both are on one CPU. Knows no observer.
 */
#ifndef SKYOBSERVE_CMD_CALIBRATE_LOOPS_H
#define SKYOBSERVE_CMD_CALIBRATE_LOOPS_H

#include <stdbool.h>
#include <sys/types.h>

#include "types.h"
#include "user/base/err.h"

enum loop_kind {
	LOOP_CALLS,    /* one empty system call a turn */
	LOOP_SWITCHES, /* a byte to the other one and back: 2 context switches, 4 system calls */
	LOOP_REQUESTS, /* a request is read, a response is written: 2 system calls */
	LOOP_FUNCTION, /* a call of loop_function */
	NR_LOOPS
};

#define LOOP_CALLS_OF_SWITCHES	  4
#define LOOP_SWITCHES_OF_SWITCHES 2
#define LOOP_CALLS_OF_REQUESTS	  2

struct loops {
	pid_t worker, partner;
	int orders; /* a socket */
};

/* Start both. 0 or a negative errno. */
int loops_start(struct loops *ret_loops, struct err *err);

/* CPU ns of one turn of a loop, of both processes: the shortest of some batches. -EPIPE: they died.
 */
int loops_run(const struct loops *l, enum loop_kind kind, double *ret_ns);

/* Kill them, and wait for their end. */
void loops_stop(struct loops *l);

/*
 * The worker looks like a thread of a Go program that runs a goroutine: the places of what tells
 * that, as Go's debug information would say them. False: not on this architecture.
 */
struct loop_goroutine {
	u32 g_m, m_g0, m_curg, g_goid, g_status;
};
bool loops_goroutine(struct loop_goroutine *ret_where);

/*
 * Where in our own file the function of LOOP_FUNCTION is entered (an instruction that the kernel
 * emulates when it is probed) and returns (one that it steps over). -ENOTSUP: there is none on this
 * architecture.
 */
int loops_function(u64 *ret_entry, u64 *ret_return);

#endif /* SKYOBSERVE_CMD_CALIBRATE_LOOPS_H */
