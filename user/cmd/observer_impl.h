/* SPDX-License-Identifier: MIT */
/* Inside of the observer: observer.c (who is observed), observer_snapshot.c (what they did), and
 * the files that they name. observer_open.c opens it. */
#ifndef SKYOBSERVE_CMD_OBSERVER_IMPL_H
#define SKYOBSERVE_CMD_OBSERVER_IMPL_H

#include "user/broker/go_view.h"
#include "user/cmd/ended.h"
#include "user/cmd/function_probes.h"
#include "user/cmd/gc_probes.h"
#include "user/cmd/observer.h"
#include "user/cmd/observer_cost.h"
#include "user/model/kinds.h"
#include "user/model/names.h"

#define PROC_ROOT "/proc"

/* After the end of a process or thread was seen, its last context switch takes no longer than this.
 */
#define GIVE_UP_NS (1 * NS_PER_SEC)

struct observed {
	struct process_identity id; /* its texts are in @exe */
	char *exe;		    /* NULL: not known */
	struct observed_process where;
	struct name_entry *name;   /* NULL: not known yet, or no memory for it */
	struct process_snap *base; /* what is counted in OTHER_NAME for good, or NULL */
	bool placed, shown;	   /* it was published, under its name */
	struct proc_books books_begin;
	struct proc_books books; /* as they were read last, and when so much CPU time was used: */
	u64 books_runtime_ns;
	struct process_totals last;
	struct kind_list last_kinds;
	struct go_view go;
	struct gc_probed gc;
	struct function_probed functions;
	struct observed_cost cost;
	int pidfd;	    /* of a live target, else -1 */
	bool target;	    /* was asked for; else a followed child */
	bool unsaid;	    /* a target that the programs took in, for observer_next_come */
	bool owner_pending; /* how its interactions are told apart is not known yet */
	bool alive;	    /* as far as user space knows */
	bool slot_ended;    /* the programs saw its last thread go, or we gave up waiting for it */
	u64 end_ns;
	u32 execs;	 /* as of the last look at who it is */
	u64 unlisted_ns; /* since then every snapshot had threads that are not listed; 0: none */
	u32 missed;	 /* snapshots in a row in which the kernel had no thread of it */
};

struct observer {
	struct observer_config config;
	struct bpf_session *session;
	struct observed *processes;
	size_t nr_processes;
	struct observed other; /* the shared slot of those beyond the bound */
	struct ended *ended;
	struct names *names;
	struct gc_file *gc_file;
	struct function_file *function_file;
	struct cost_prices prices;
	struct process_slot *slots; /* room for a scan */
	u32 *at_slot;		    /* 1 + the process in each slot, 0 = none; for a scan */
	size_t books_next; /* whose books are the next to be read, of those without details */
	struct process_identity last_ended;
	int epoll_fd;
	u64 boot_wall_ns;
	u64 begin_ns;	/* the first process was taken in */
	u64 open_ticks; /* since boot, as in /proc/PID/stat */
	u64 folded_ns;	/* the last time that processes that ended were folded in */
	bool last_call; /* observer_name_all */
	bool sealed;	/* observer_seal */
	u32 tick_hz;
};

/* Whether Go programs are read: of targets, not of the whole machine, and by the broker. */
bool observer_reads_go(const struct observer *o);

/* Find new children and ends among the slots of the session; folds nothing. */
void observer_scan(struct observer *o);

/* --- observer_names.c --- */

/*
 * Choose the names that have series, and give the processes of a whole snapshot those that they are
 * published under, with the share of their totals that belongs there. 0 or -ENOMEM.
 */
int observer_place(struct observer *o, struct snapshot *snap, struct process_totals *totals);

/* Add process @i, which is over, to what ended under its name. 0 or -ENOMEM. */
int observer_fold_in(struct observer *o, size_t i, struct process_snap *snap,
		     struct process_totals *totals);

void observer_forget_name(struct observed *p);

/* --- observer.c --- */

/* Give up process @i: drop its place and release its slot. Its totals must be in @o->ended. */
void observer_drop(struct observer *o, size_t i);

#endif /* SKYOBSERVE_CMD_OBSERVER_IMPL_H */
