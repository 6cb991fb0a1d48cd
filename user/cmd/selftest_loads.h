/* SPDX-License-Identifier: MIT */
/*
 * Workloads whose truth is known: each runs in a process of its own and writes down what it did.
 *
 * The life of one, between it and the process that started it:
 *
 *	load_start    the child prepares (files, memory), says LOAD_READY, and reads from @go
 *	(observe it)
 *	a byte to @go the window begins: it does its work, writes its claims, says LOAD_DONE, and
 *		      reads from @end
 *	(compare)
 *	@end closed   it exits
 *
 * The read from @go was entered before it is observed, so it is not in its claims; the read from
 * @end is. Knows no observer.
 */
#ifndef SKYOBSERVE_CMD_SELFTEST_LOADS_H
#define SKYOBSERVE_CMD_SELFTEST_LOADS_H

#include <stddef.h>
#include <sys/types.h>

#include "types.h"
#include "user/base/err.h"

#define MAX_LOAD_CLAIMS 12

enum load_quantity {
	QUANTITY_CALLS, /* system calls of number @id */
	QUANTITY_ALL_CALLS,
	QUANTITY_ERRORS,	 /* calls of number @id that failed with @code */
	QUANTITY_DURABLE_ERRORS, /* durable writes @id that failed with @code */
	QUANTITY_DURABLE_TIMES,	 /* durable writes @id whose duration was taken */
	QUANTITY_COUNT,		 /* cell @id (enum cell_id), counts */
	QUANTITY_BYTES,		 /* cell @id, bytes */
	QUANTITY_NS,		 /* cell @id, ns */
	QUANTITY_CPU,		 /* user and system, ns */
};

/* What the load says it did: between @low and @high, exact if they are equal. */
struct load_claim {
	u32 quantity; /* enum load_quantity */
	u32 id;
	u32 code;
	u32 pad;
	u64 low, high;
	char what[40];
};

enum load_state {
	LOAD_STARTED,
	LOAD_READY,
	LOAD_DONE,
	LOAD_REFUSED, /* it cannot be done here; @why says it */
};

/* In memory that the child shares with whoever started it. */
struct load_shared {
	u32 state; /* enum load_state, atomic */
	u32 nr_claims;
	struct load_claim claims[MAX_LOAD_CLAIMS];
	char why[128];
};

/* What all loads of one run share. */
struct load_wires {
	int go[2], end[2];  /* pipes: [1] is the starter's */
	u32 *stop;	    /* in shared memory; nonzero: finish early, claim what was done */
	const char *folder; /* for temporary files */
};

struct load;

struct load_spec {
	const char *name, *help;
	void (*prepare)(struct load *l); /* before the window; may do anything */
	void (*run)(struct load *l);
};

extern const struct load_spec load_specs[];
extern const size_t nr_load_specs;

/*
 * Fork a child for @spec. It dies with its parent. Returns its pid, or a negative errno. The
 * parent must have one thread only.
 */
pid_t load_start(const struct load_spec *spec, const struct load_wires *wires,
		 struct load_shared *shared, struct err *err);

#endif /* SKYOBSERVE_CMD_SELFTEST_LOADS_H */
