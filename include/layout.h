/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Structures that cross the border between the BPF programs and user space.
 *
 * Maps (bpf/maps.bpf.h) hold them as plain arrays that user space reads through mmap. Counters
 * that several CPUs write are kept in "lanes": lane = cpu & lane_mask, entry = lane * bound +
 * index; a reader adds the lanes up.
 */
#ifndef SKYOBSERVE_LAYOUT_H
#define SKYOBSERVE_LAYOUT_H

#include "families.h"
#include "hist.h"
#include "types.h"

/* Native system call numbers that have a cell of their own; the rest goes to the foreign map. */
#define NR_CALL_SLOTS 512
/* Whether a process id is observed: a byte each, since 5.10 has no atomic "or" for BPF. */
#define PIDS_PER_BLOCK 64
struct pid_block {
	u8 observed[PIDS_PER_BLOCK];
};
/* Direct-mapped cache of thread slots, by the low bits of the thread's number. */
#define NR_THREAD_HINTS 65536
#define COMM_BYTES	16
/* Words of --comm and of --exe that the programs look for at each exec. */
#define MAX_WANTED 16

enum call_wait {
	WAIT_OTHER,
	WAIT_FUTEX,
	WAIT_POLL,
	WAIT_SLEEP,
	WAIT_SOCKET,
	WAIT_DURABLE,
	WAIT_FILE, /* depends on what the first argument is open on */
};

enum durable_rule {
	RULE_NONE,
	RULE_FSYNC,
	RULE_FDATASYNC,
	RULE_SYNC_FILE_RANGE,
	RULE_MSYNC, /* if the flags (third argument) have MS_SYNC */
	RULE_SYNCFS,
	RULE_SYNC,
	RULE_WRITE,	  /* if the file (first argument) is open with O_SYNC or O_DSYNC */
	RULE_WRITE_FLAGS, /* or the flags (sixth argument) have RWF_SYNC or RWF_DSYNC */
};

enum call_io {
	CALL_IO_NONE,
	CALL_IO_READ,
	CALL_IO_WRITE,
	CALL_IO_NOERR,
};

/* Facts of one native system call, from calls.def. */
struct call_class {
	u8 wait;    /* enum call_wait */
	u8 durable; /* enum durable_rule */
	u8 io;	    /* enum call_io */
	u8 pad;
};

enum call_abi {
	ABI_NATIVE,
	ABI_COMPAT, /* 32-bit system call table */
	ABI_X32,
};

/* Set once before the programs are loaded; the verifier folds it away. */
struct bpf_config {
	u32 groups;	   /* bit per enum probe_group */
	u32 lane_mask;	   /* lanes - 1 */
	u32 max_details;   /* processes and accounts with everything: slots below it */
	u32 max_processes; /* all slots; the last one is `other`, for those beyond the bound */
	u32 max_accounts;
	u32 max_rows;
	u32 observe_all;     /* programs that are executed by nobody's child are taken in as well */
	u32 nr_wanted_comms; /* entries of struct wanted in use */
	u32 nr_wanted_files;
	u32 wanted_flags;	 /* PROCESS_* of the processes that are taken in for them */
	u32 switch_has_state;	 /* sched_switch passes prev_state (Linux 5.18) */
	u32 uring_submit_form;	 /* enum uring_submit_form */
	u32 uring_complete_form; /* enum uring_complete_form */
	struct call_class calls[NR_CALL_SLOTS];
};

/* What the tracepoints of io_uring pass has changed; user space finds out from the kernel's BTF. */
enum uring_submit_form {
	URING_SUBMIT_NONE,
	URING_SUBMIT_REQ,     /* (req, ...) */
	URING_SUBMIT_CTX_OP,  /* (ctx, opcode, user_data, ...) */
	URING_SUBMIT_CTX_REQ, /* (ctx, req, user_data, opcode, ...) */
};

enum uring_complete_form {
	URING_COMPLETE_NONE,
	URING_COMPLETE_CQE,	  /* (ctx, req, cqe) */
	URING_COMPLETE_REQ,	  /* (ctx, req, user_data, res, ...) */
	URING_COMPLETE_USER_DATA, /* (ctx, user_data, res, ...) */
};

enum run_state {
	RUN_UNKNOWN,
	RUN_RUNNING,
	RUN_RUNNABLE,
	RUN_BLOCKED,
};

#define THREAD_SEEDED_CALL (1 << 0) /* nr was read from /proc, its entry was not seen */
#define THREAD_LATE	   (1 << 1) /* its past in the observation is unknown */
#define THREAD_SEEDED_WAIT (1 << 2) /* it waited for a CPU when observing began */

#define NO_CALL (-1)

/* The thread was not seen to wait before its present run: run_delay alone knows. */
#define WAIT_NOT_SEEN (1ULL << 62)

/* The kernel's own counters of one task. */
struct task_counts {
	u64 runtime_ns;	  /* se.sum_exec_runtime */
	u64 run_delay_ns; /* sched_info.run_delay */
	u64 nvcsw;
	u64 nivcsw;
	u64 faults; /* min_flt + maj_flt */
};

/*
 * One thread of a target. Written only by the CPU that runs it or switches it, or, for a wake-up,
 * under the scheduler's locks; so without atomics.
 */
struct thread_cell {
	u32 tid; /* 0: slot is free */
	u32 tgid;
	u32 process;	  /* slot of its process */
	u32 account;	  /* account that is charged now */
	u64 begin_ns;	  /* observed since */
	u64 since_ns;	  /* in run_state since */
	u64 enter_ns;	  /* entry of the call in flight */
	u64 sys_since_ns; /* system time is in sys_ns up to here, while in a call and running */
	u64 sys_ns;	  /* system time not yet charged */
	u64 waited_ns;	  /* wait for a CPU before the present run, by our stamps */
	u64 unsplit_ns;	 /* blocked, then waiting for a CPU; the wake-up between was not reported */
	s32 nr;		 /* call in flight, or NO_CALL */
	u8 run_state;	 /* enum run_state */
	u8 reason;	 /* enum off_reason, of the present spell or the last one */
	u8 wait_reason;	 /* which wait for a CPU run_delay grew by last */
	u8 flags;	 /* THREAD_* */
	u8 abi;		 /* enum call_abi, of the call in flight */
	u8 call_wait;	 /* enum call_wait, of the call in flight */
	u8 call_durable; /* 1 + enum durable_call of the call in flight, 0 = none */
	u8 call_io;	 /* enum call_io of the call in flight */
	s32 call_fd;	 /* first argument of the call in flight */
	u64 enters;
	u64 exits;		    /* those with an entry */
	struct task_counts base;    /* when observing began */
	struct task_counts charged; /* up to here it is in the account */
};

_Static_assert(sizeof(struct thread_cell) == 184, "thread_cell has no holes");

/* The call that a thread was in before it was observed. */
struct seed_call {
	s32 nr;
	s32 fd; /* first argument, -1 unless it is a small number */
};

#define PROCESS_FOLLOW	     (1 << 0) /* its children are observed from their birth */
#define PROCESS_LEADER_ENDED (1 << 1) /* and no other thread has taken over its number yet */
#define PROCESS_EXECUTED     (1 << 2) /* comm is that of the first program that it executed */
#define PROCESS_WANTED	     (1 << 3) /* a target that the programs took in by themselves */

/* A file as the kernel knows it: i_ino, s_dev (major << 20 | minor). inode 0: none. */
struct wanted_file {
	u64 inode;
	u32 device;
	u32 pad;
};

/* Whom to take in at its exec; user space keeps it up to date. A comm is padded with zeroes. */
struct wanted {
	u64 comm[MAX_WANTED][COMM_BYTES / sizeof(u64)];
	struct wanted_file file[MAX_WANTED];
};

/*
 * One process. Slots and accounts below max_details have per-call counters and histograms; those
 * above keep the small set. User space takes targets in, the fork hook takes their children in when
 * they are followed; both pop the slot from a free list. The end of its last thread switches it
 * off. User space gives the slot back once it has taken the totals over.
 */
struct process_cell {
	u32 tgid;    /* 0: the slot is free */
	u32 account; /* of its background */
	u32 flags;   /* PROCESS_* */
	u32 seeding; /* threads are being taken in; the programs do not look at it yet */
	u32 live_threads;
	u64 begin_ns; /* observed since */
	u64 end_ns;   /* its last thread ended; 0 while it lives */
	u64 start_ns; /* task's start_time */
	u32 parent_tgid;
	u32 execs;		  /* programs that it executed */
	struct task_counts ended; /* the kernel's sums of its threads that were gone by then */
	char comm[COMM_BYTES];	  /* if the programs took it in: at its birth, or its first exec */
};

struct account_cells {
	u64 cell[NR_CELLS];
};

struct process_hists {
	struct hist off_cpu[NR_REASONS];
	struct hist durable[NR_DURABLES];
};

struct account_calls {
	u64 enters[NR_CALL_SLOTS];
};

/* Row of each native system call in the pool of duration histograms; 0 = none yet. */
struct call_rows {
	u32 row[NR_CALL_SLOTS];
};

struct row_key {
	u32 process;
	u32 nr;
};

enum error_kind {
	ERROR_SYSCALL, /* id is a native number */
	ERROR_DURABLE, /* id is an enum durable_call */
};

/* Code of the kernel's internal restart values, which are not errno values. */
#define ERRNO_RESTART 512

struct error_key {
	u32 process;
	u16 kind; /* enum error_kind */
	u16 id;
	u32 code; /* errno, or ERRNO_RESTART */
};

struct foreign_key {
	u32 account;
	u32 abi;
	u32 nr;
};

/* An io_uring request in flight. */
struct uring_request {
	u64 begin_ns;
	u32 process;
	u32 account;
	u32 durable; /* enum durable_call */
	u32 pad;
};

struct drop_cells {
	u64 drops[NR_DROPS];
};

/* Chain check of one CPU: the next task of a switch is the previous one of the following. */
struct chain_cell {
	u64 switches;
	u64 breaks;
	u32 next_tid;
	u32 begun;
	u64 pad[5]; /* a cache line of its own */
};

/* One record of the task iterator: the kernel's books and ours, taken together. */
struct task_record {
	u32 tid;
	u32 tgid;
	u32 process;
	u32 known; /* a thread_cell follows in @cell */
	u64 now_ns;
	u64 start_ns;		   /* task's start_time, monotonic */
	struct task_counts counts; /* of this task */
	struct task_counts ended;  /* of the threads of its process that were released */
	u32 leader;
	u8 on_cpu;
	u8 pad[3];
	char comm[COMM_BYTES];
	struct thread_cell cell;
};

#endif /* SKYOBSERVE_LAYOUT_H */
