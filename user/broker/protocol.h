/* SPDX-License-Identifier: MIT */
/*
 * What the serving process and the broker say to each other: plain structures of fixed size, one
 * per packet of a SOCK_SEQPACKET socket. Each side takes the other one for hostile.
 *
 * There is one request at a time. It is answered by one reply, or by several with @more set in all
 * but the last one. Nothing of a target's memory is in any of them but sums that were checked.
 */
#ifndef SKYOBSERVE_BROKER_PROTOCOL_H
#define SKYOBSERVE_BROKER_PROTOCOL_H

#include <stdbool.h>

#include "user/model/snapshot.h"
#include "user/model/sockets.h"
#include "user/model/store.h"

enum broker_op {
	BROKER_HELLO,	 /* sent once by itself: it is ready, or @result says why not */
	BROKER_IDENTIFY, /* who process @pid is */
	BROKER_CALLS,	 /* the system calls that its threads are in */
	BROKER_BOOKS,	 /* what /proc says that it used */
	BROKER_SOCKETS,	 /* what it listens on and is connected to */
	BROKER_STORE,	 /* its descriptors of the file that the command line names */
	BROKER_FIND,	 /* the processes that the command line asks for; @pid is 0 */
	BROKER_FILES,	 /* which files --exe means now; @pid is 0 */
	BROKER_OWNER,	 /* how the work of process @pid is told apart; -EAGAIN: ask again */
	BROKER_GO_BEGIN, /* begin to read the file that @pid executes */
	BROKER_GO_READ,	 /* what the Go runtime of (@pid, @start_ticks) says; waits @patience_ms */
	BROKER_GO_DONE,	 /* forget (@pid, @start_ticks) */
	NR_BROKER_OPS
};

struct broker_request {
	u64 seq; /* from 1, one more each time */
	u64 start_ticks;
	u32 op;
	s32 pid;
	u32 patience_ms; /* for the file of a program, see above */
	u32 zero;
};
_Static_assert(sizeof(struct broker_request) == 32, "no padding");

struct broker_hello {
	u64 capabilities; /* that it kept */
	u32 uid;
	u32 calls_limited; /* 0 or 1 */
};

struct broker_identity {
	u64 start_ticks;
	u32 uid;
	u32 zero;
	char comm[COMM_BYTES];
	char exe[4096]; /* any bytes, "" if it cannot be read */
};

struct broker_books {
	u64 cpu_ticks, children_ticks, minflt, majflt, resident_bytes, nr_threads;
};

enum broker_go_state {
	BROKER_GO_NONE, /* no Go program, or not known yet */
	BROKER_GO_CURRENT,
	BROKER_GO_REFUSED, /* it is a Go program, and @why it cannot be read */
	NR_BROKER_GO_STATES
};

struct broker_go {
	u32 state;
	u32 counted; /* 0 or 1 */
	struct go_counters counters;
	struct go_gauges gauges; /* if the state is CURRENT */
	struct program_facts program;
	char why[160];
};

/* A file by what a process's executable is compared with; zeros: there is none now. */
struct broker_file {
	u64 inode, device;
};

struct broker_owner {
	struct owner_how how; /* OWNER_NONE: it is not, and @why */
	char why[160];
};

/* Of a list, in one reply. */
#define BROKER_BATCH 256

struct broker_reply {
	u64 seq;    /* of the request */
	u32 op;	    /* of the request */
	s32 result; /* 0 or a negative errno; then nothing else counts */
	u32 more;   /* 0 or 1 */
	u32 n;	    /* elements of a list */
	union {
		struct broker_hello hello;
		struct broker_identity identity;
		struct broker_books books;
		struct thread_call calls[BROKER_BATCH];
		s32 pids[BROKER_BATCH];
		struct broker_file files[MAX_WANTED];
		struct broker_go go;
		struct socket_ends sockets;
		struct store_files store;
		struct broker_owner owner;
	};
};

/* Whether @n bytes are a request; then *ret_request is it. */
bool broker_request_check(const void *bytes, size_t n, struct broker_request *ret_request);

/*
 * Whether @n bytes are a reply to @asked; then *ret_reply is it: texts end and show no control
 * bytes where they are ours, numbers of elements fit.
 */
bool broker_reply_check(const void *bytes, size_t n, const struct broker_request *asked,
			struct broker_reply *ret_reply);

#endif /* SKYOBSERVE_BROKER_PROTOCOL_H */
