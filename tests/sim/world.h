/* SPDX-License-Identifier: MIT */
/* What the simulated machine of machine.h is made of: its calls, tasks and CPUs, and chance. */
#ifndef SKYOBSERVE_TESTS_SIM_WORLD_H
#define SKYOBSERVE_TESTS_SIM_WORLD_H

#include "tests/sim/host.h"

#include "syscalls.bpf.h"
#include "waits.bpf.h"

#define MAX_CPUS      4
#define MAX_TASKS     48
#define NR_TGIDS      3 /* two are observed, the last one is a stranger */
#define NR_OBSERVED   2
#define TICK_INTERVAL 4000000
#define FOR_GOOD      (1u << 30)

/* Calls of this machine. What they are is in call_classes. */
enum sim_call {
	CALL_READ_FILE,
	CALL_READ_PIPE,
	CALL_RECV,
	CALL_FUTEX,
	CALL_POLL,
	CALL_SLEEP,
	CALL_FSYNC,
	CALL_GETPID,
	CALL_CLONE,
	CALL_EXIT,
	NR_SIM_CALLS
};

static const struct {
	struct call_class class;
	s32 fd;
	u8 reason; /* why a thread that sleeps in it is off the CPU */
} call_classes[NR_SIM_CALLS] = {
	[CALL_READ_FILE] = { { WAIT_FILE, RULE_NONE, CALL_IO_READ, 0 }, 0, REASON_BLOCK_IO },
	[CALL_READ_PIPE] = { { WAIT_FILE, RULE_NONE, CALL_IO_READ, 0 }, 1, REASON_PIPE },
	[CALL_RECV] = { { WAIT_FILE, RULE_NONE, CALL_IO_READ, 0 }, 2, REASON_SOCKET },
	[CALL_FUTEX] = { { WAIT_FUTEX, RULE_NONE, CALL_IO_NONE, 0 }, -1, REASON_FUTEX },
	[CALL_POLL] = { { WAIT_POLL, RULE_NONE, CALL_IO_NONE, 0 }, -1, REASON_POLL },
	[CALL_SLEEP] = { { WAIT_SLEEP, RULE_NONE, CALL_IO_NONE, 0 }, -1, REASON_SLEEP },
	[CALL_FSYNC] = { { WAIT_DURABLE, RULE_FSYNC, CALL_IO_NONE, 0 }, 0, REASON_FSYNC },
	[CALL_GETPID] = { { WAIT_OTHER, RULE_NONE, CALL_IO_NONE, 0 }, -1, REASON_OTHER },
	[CALL_CLONE] = { { WAIT_OTHER, RULE_NONE, CALL_IO_NONE, 0 }, -1, REASON_OTHER },
	[CALL_EXIT] = { { WAIT_OTHER, RULE_NONE, CALL_IO_NONE, 0 }, -1, REASON_OTHER },
};

/* Open on descriptors 0, 1, 2. */
static struct inode disk_inode = { 0100644 }, pipe_inode = { FILE_TYPE_FIFO },
		    socket_inode = { FILE_TYPE_SOCK };
static struct file disk = { &disk_inode, 0 }, pipe_end = { &pipe_inode, 0 },
		   sock = { &socket_inode, 0 };

enum place {
	PLACE_NONE, /* the entry is free */
	PLACE_NEW,  /* forked, not yet woken for the first time */
	PLACE_RUNNING,
	PLACE_QUEUED,
	PLACE_SLEEPING,
};

struct task {
	struct task_struct k; /* first: what the hooks are given */
	enum place place;
	u32 cpu;
	u32 group; /* which tgid */
	long state;
	/* the scheduler's: by the clock of its run queue */
	u64 exec_start, last_queued; /* 0: not queued */
	/* what it does */
	s32 call;	 /* or NO_CALL */
	bool entry_seen; /* of the call, by the observer */
	bool from_clone; /* its first step out of the kernel has no entry */
	bool awake_soon; /* a signal came between going to sleep and schedule() */
	bool signalled;	 /* so it queues, although it was reported to sleep */
	u32 sleeps_in;	 /* how often it may still sleep in this call */
	u32 guarded;	 /* reports about it that will not be lost */
	/* the truth */
	u64 since;	 /* in place since */
	u64 spell_begin; /* off the CPU since, for the histograms */
	u64 unborn_ns;	 /* from fork to the first wake-up */
	u8 wait_reason, reason;
	struct task_counts base; /* when it came under observation */
};

/* What really happened to one process while it was observed. */
struct truth {
	u64 user, system;
	u64 wait[NR_WAIT_REASONS];
	u64 blocked[NR_REASONS];
	u64 unborn; /* between fork and the first wake-up */
	u64 wall;
	u64 spells[NR_REASONS], spells_ns[NR_REASONS];
	u64 enters, exits, unmatched, never_returned;
	u64 born, ended;
	struct task_counts counts;   /* the kernel's, of threads that are gone */
	struct task_counts released; /* the kernel's sums in signal_struct, since boot */
	u64 prior_wait;		     /* of queues that threads stood in when observing began */
};

struct cpu {
	struct task *current; /* NULL: idle */
	u64 clock;	      /* the scheduler's */
};

struct machine {
	u64 seed, random;
	u64 now, next_tick;
	u32 nr_cpus, max_tasks;
	struct cpu cpus[MAX_CPUS];
	struct task tasks[MAX_TASKS];
	struct truth truth[NR_TGIDS];
	u64 begin_ns; /* of the observation; 0: not yet */
	u64 moves;
	u64 lost; /* reports that the kernel did not make */
	/* what kind of machine it is */
	u64 max_lag_ns;			      /* how far the scheduler's clock may be behind */
	u32 lose_per_million;		      /* reports of switches and wake-ups */
	bool nobody_dies;		      /* the processes are not marked as observed yet */
	bool losses_apart;		      /* never two in a row about one thread */
	u32 moves_per_million;		      /* of sleepers to another run queue */
	u32 signals_per_million;	      /* sleeps that a signal prevents in the last moment */
	void (*in_switch)(struct machine *m); /* called between tracepoint and run_delay, or NULL */
};

/* --- chance --- */

static u64 chance(struct machine *m)
{
	m->random ^= m->random << 13;
	m->random ^= m->random >> 7;
	m->random ^= m->random << 17;
	return m->random >> 11;
}

static u64 below(struct machine *m, u64 n)
{
	return chance(m) % n;
}

static bool one_in(struct machine *m, u64 n)
{
	return !below(m, n);
}

/*
 * Whether a report about these two threads (either may be NULL) is lost. Where losses have to be
 * apart, the two were reported well at least twice since the last one.
 */
static bool is_lost(struct machine *m, struct task *a, struct task *b)
{
	struct task *about[] = { a, b };
	bool lost = m->lose_per_million && below(m, 1000000) < m->lose_per_million;

	for (int i = 0; i < 2; i++)
		lost &= !m->losses_apart || !about[i] || !about[i]->guarded;
	for (int i = 0; i < 2; i++) {
		if (about[i] && lost)
			about[i]->guarded = 8;
		else if (about[i] && about[i]->guarded)
			about[i]->guarded--;
	}
	m->lost += lost;
	return lost;
}

#endif /* SKYOBSERVE_TESTS_SIM_WORLD_H */
