/* SPDX-License-Identifier: MIT */
/*
 * A snapshot: everything that was counted, as one plain value. Taken by user/bpf/collect.c, pure
 * from here on. Times are monotonic ns.
 */
#ifndef SKYOBSERVE_MODEL_SNAPSHOT_H
#define SKYOBSERVE_MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "layout.h"
#include "user/base/arena.h"
#include "user/model/cost.h"
#include "user/model/go_stats.h"

#define MAX_NAME_BYTES 256

/* Who a process is. Read from /proc when it was taken in. */
struct process_identity {
	pid_t pid;
	u64 start_ticks;   /* /proc/PID/stat starttime: with pid, one incarnation */
	u64 start_wall_ns; /* Unix time */
	uid_t uid;
	char comm[COMM_BYTES];	   /* now; follows renames */
	char name[MAX_NAME_BYTES]; /* `process` label: --name, or comm when taken in */
	const char *exe; /* any bytes; NULL: not known. Whoever made the struct keeps them */
};

/* What the file of a program says; texts are "" where it does not. */
struct program_facts {
	char runtime[16];	  /* "go"; "" for none that is known */
	char runtime_version[32]; /* "go1.24.4" */
	char build_id[65];	  /* GNU's, as hexadecimal digits */
	u8 known;		  /* 0: the file was not read, and nothing here counts */
	u8 stripped;		  /* it has no table of symbols */
};

/* The system call that a thread is in before it is observed, from /proc. */
struct thread_call {
	u32 tid;
	struct seed_call call;
};

struct thread_calls {
	struct thread_call *at;
	size_t n, cap;
};

/* Duration histogram of one system call. */
struct call_hist {
	u32 nr;
	struct hist hist;
};

struct error_count {
	u16 kind; /* enum error_kind */
	u16 id;
	u32 code;
	u64 n;
};

struct foreign_count {
	u32 abi;
	u32 nr;
	u64 n;
};

/* Requests of one kind that ended with the same status code of HTTP. */
struct code_count {
	u16 code;    /* of HTTP; INTERACTION_ABORTED: not answered; CODE_OTHER: the rest; or
			INTERACTION_* */
	u16 outcome; /* enum outcome */
	u64 n;
};

#define MAX_KIND_CODES	32
#define CODE_OTHER	1
#define HTTP_LEAST_CODE 100

/*
 * A kind of interactions of a process, or its background (an empty @name): what was charged to its
 * account. After kinds_finish (user/model/kinds.h) what threads have spent since is in it too.
 */
struct kind_snap {
	char name[KIND_NAME_BYTES + 1];
	u32 account;
	u64 oldest_ns; /* age of the oldest that is in flight; 0: none is */
	u64 cells[NR_CELLS];
	u64 calls[NR_CALL_SLOTS];
	struct kind_hists hists;
	struct code_count codes[MAX_KIND_CODES];
	u32 nr_codes;
};

/* /proc/PID/stat and statm at the time of the snapshot; the kernel's books by another way. */
struct proc_books {
	bool valid;
	bool stale;	    /* it has run since: @cpu_ticks are not those of the snapshot */
	u64 read_ns;	    /* when */
	u64 cpu_ticks;	    /* utime + stime */
	u64 children_ticks; /* the same of children that were waited for */
	u64 minflt;
	u64 majflt;
	u64 resident_bytes;
	u64 nr_threads;
};

/*
 * One observed process. Arrays are owned by the snapshot.
 *
 * The cells hold what was charged; what threads have spent since their last charge is in their
 * records (kernel's counters minus @cell.charged). user/model/totals.h adds the two up.
 */
struct process_snap {
	struct process_identity id;
	u32 slot;
	bool alive;
	bool details;	  /* has per-call counters and histograms */
	bool named;	  /* @calls has all of its native calls; true if @details is */
	u64 incarnations; /* processes in this entry: 1, or those of a name that ended */
	u64 begin_ns;	  /* observed since */
	u64 end_ns;	  /* when it was seen to have ended, 0 while alive */
	u64 read_ns;	  /* when the records of its threads were read */

	u64 cells[NR_CELLS];
	u64 *calls;		     /* NR_CALL_SLOTS of them; NULL: none are known by name */
	struct process_hists *hists; /* if it has @details, else NULL */
	/* Entries by the threads' own counts, before and after @calls was read. */
	u64 enters_before, enters_after;
	/* CPU time that threads were charged while @cells was read: it may be missing, never
	 * double. */
	u64 unsettled_ns;
	u64 ended_before; /* threads that had ended when reading began */
	/* Threads ended at each try to read them: records and cells do not quite fit together. */
	bool torn;
	/*
	 * Threads that the kernel has released, and whose last switch was not seen (yet): neither
	 * the records nor the cells have their books.
	 */
	u32 unlisted;

	struct call_hist *call_hists;
	size_t nr_call_hists;
	struct error_count *errors;
	size_t nr_errors;
	struct foreign_count *foreign;
	size_t nr_foreign;
	u64 calls_elsewhere; /* that are in neither @calls nor @foreign, but in another name's */
	struct kind_snap *kinds; /* the background first; none: interactions are not looked for */
	size_t nr_kinds;
	bool goroutines;	     /* kinds are of goroutines */
	struct task_record *threads; /* those that the kernel still has */
	size_t nr_threads;

	struct proc_books books_begin, books_now;
	struct task_counts ended_begin, ended_now; /* kernel's sums of released threads */
	struct go_stats go;
	struct go_gc *gc;	      /* NULL: it was never probed */
	struct program_facts program; /* that it executes, or executed last */
	/* What observing it cost, of what it used, in a window that is over; 0: not known yet. */
	u64 window_cost_ns, window_cpu_ns;
};

struct group_state {
	bool up;
	char reason[160]; /* how it is attached, or why not */
};

struct map_fill {
	const char *name; /* constant */
	u64 entries, max_entries;
};

struct program_stats {
	char name[32];
	u64 run_ns, runs;
};

/* The machine. */
struct machine_snap {
	u64 steal_ticks; /* of all CPUs, since boot */
	u64 switches, chain_breaks;
	u32 tick_hz; /* of /proc's ticks (USER_HZ) */
	u32 online_cpus;
};

struct snapshot {
	u64 begin_ns, end_ns; /* the edge: everything was read between the two */
	u64 wall_minus_mono_ns;
	u64 drops[NR_DROPS];
	struct machine_snap machine;
	struct group_state groups[NR_GROUPS];
	struct map_fill *maps;
	size_t nr_maps;
	struct program_stats *programs;
	size_t nr_programs;
	bool bpf_stats_on;
	struct cost_prices prices;
	struct arena texts; /* of identities */
	/* The first nr_counted are in slots of the programs; of the rest the totals were taken
	 * over. */
	struct process_snap *processes;
	size_t nr_processes, nr_counted;
	u32 *at_slot; /* of the collector: 1 + the process in each slot, 0 = none */
	size_t nr_slots;
};

void snapshot_done(struct snapshot *snap);

/* Room for what is counted by name, zeroed, and for @hists if they are wanted. 0 or -ENOMEM. */
int process_snap_add_details(struct process_snap *p, bool hists);
/* Free the arrays of @p and forget them. */
void process_snap_done(struct process_snap *p);
/* Forget the arrays of @p: they are another's. */
void process_snap_forget(struct process_snap *p);

/* Add a count to that of the same key in the list *@at of *@n, or put it behind. 0 or -ENOMEM. */
int error_counts_add(struct error_count **at, size_t *n, const struct error_count *more);
int foreign_counts_add(struct foreign_count **at, size_t *n, const struct foreign_count *more);

/* Add each u64 of the @bytes at @more to that at @sum: cells, calls, histograms. */
void counters_add(void *sum, const void *more, size_t bytes);

#endif /* SKYOBSERVE_MODEL_SNAPSHOT_H */
