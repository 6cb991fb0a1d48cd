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
	u8 buffer;  /* enum call_buffer */
};

enum call_abi {
	ABI_NATIVE,
	ABI_COMPAT, /* 32-bit system call table */
	ABI_X32,
};

/* Where the bytes are that a call moved. */
enum call_buffer {
	BUFFER_NONE,   /* not in the caller's memory: sendfile */
	BUFFER_PLAIN,  /* (fd, address, ...) */
	BUFFER_IOVEC,  /* (fd, iovec, count) */
	BUFFER_MSG,    /* (fd, msghdr) */
	BUFFER_CLOSE,  /* none: the descriptor is closed */
	BUFFER_ACCEPT, /* none: it returns the descriptor of a connection */
};

/* Set once before the programs are loaded; the verifier folds it away. */
struct bpf_config {
	u32 groups;	    /* bit per enum probe_group */
	u32 lane_mask;	    /* lanes - 1 */
	u32 call_lane_mask; /* the same of the calls by name */
	u32 max_details;    /* processes and accounts with everything: slots below it */
	u32 max_named;	    /* processes with calls by name: slots below it */
	u32 max_processes;  /* all slots; the last one is `other`, for those beyond the bound */
	u32 max_accounts;   /* of processes: their slots; then those of kinds */
	u32 max_kinds;
	u32 max_flows;
	u32 max_go; /* processes whose collector is counted: slots below it */
	u32 max_rows;
	u32 nr_routes;
	u32 nr_goods;
	u32 nr_functions; /* that begin and end interactions, instead of requests; 0: requests do */
	u32 observe_all;  /* programs that are executed by nobody's child are taken in as well */
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
	u32 process;	   /* slot of its process */
	u32 account;	   /* account that is charged now */
	u64 begin_ns;	   /* observed since */
	u64 since_ns;	   /* in run_state since */
	u64 enter_ns;	   /* entry of the call in flight */
	u64 sys_since_ns;  /* system time is in sys_ns up to here, while in a call and running */
	u64 sys_ns;	   /* system time not yet charged */
	u64 waited_ns;	   /* wait for a CPU before the present run, by our stamps */
	u64 settled_ns;	   /* CPU time of the present run is charged up to here */
	u64 settled_on_ns; /* so much of it */
	u64 out_ns;	   /* when it last left its CPU */
	u64 owner;	   /* whose work it did last: a goroutine; 0 = nobody's */
	u64 owner_home;	   /* the runtime's own goroutine on this thread (Go: g0), once known */
	u64 flow_begin_ns; /* of the interaction that is charged now: flows are used again */
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
	u32 flow;	 /* 1 + the flow that is charged now, 0 = background */
	u32 exiting;	 /* task_mark of the task that left through do_exit, 0 = it lives */
	u64 exit_ns;	 /* and when */
	u64 stop_begin_ns; /* it stopped the world of its Go program, 0 = it did not */
	u64 stop_cpu_ns;   /* its CPU time when it began to, plus 1; 0 = not known */
	u64 worker_cpu_ns; /* the same when it began to work for the collector */
	u32 stop_reason;   /* enum stop_reason */
	u32 probing; /* a probe changes this cell, and may be preempted: see functions.bpf.h */
	u64 enters;
	u64 exits;		    /* those with an entry */
	struct task_counts base;    /* when observing began */
	struct task_counts charged; /* up to here it is in the account */
};

_Static_assert(sizeof(struct thread_cell) == 280, "thread_cell has no holes");

/* --- Go's collector --- */

/* Modes of background workers, as in runtime.gcMarkWorkerMode less 1. */
enum gc_worker {
	GC_WORKER_DEDICATED,
	GC_WORKER_FRACTIONAL,
	GC_WORKER_IDLE,
	NR_GC_WORKERS
};

/* What the probes counted of the collector of one process. Nothing but u64. */
struct go_gc_cells {
	struct hist stops[NR_STOP_REASONS];
	u64 stop_cpu_ns; /* of the threads that stopped the world, while it stood */
	u64 worker_ns[NR_GC_WORKERS];
	u64 worker_cpu_ns[NR_GC_WORKERS];
	u64 workers[NR_GC_WORKERS]; /* that stopped */
};

/* The call that a thread was in before it was observed. */
struct seed_call {
	s32 nr;
	s32 fd; /* first argument, -1 unless it is a small number */
};

#define PROCESS_FOLLOW	     (1 << 0) /* its children are observed from their birth */
#define PROCESS_LEADER_ENDED (1 << 1) /* and no other thread has taken over its number yet */
#define PROCESS_EXECUTED     (1 << 2) /* comm is that of the first program that it executed */
#define PROCESS_GOROUTINES   (1 << 4) /* its interactions are those of goroutines */
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
/* How the work of one interaction is told from that of another. */
enum owner_mode {
	OWNER_NONE,   /* interactions are not looked for */
	OWNER_THREAD, /* a thread works for the connection that it last read or wrote */
	OWNER_GO,     /* a goroutine: the members of Go's structures are where owner_how says */
};

struct owner_how {
	u32 mode; /* enum owner_mode */
	u32 g_m, m_g0, m_curg;
	u32 g_goid, g_status;
};

/* What the profiler inside of a process got. */
struct census {
	u64 signals;	   /* SIGPROF of its threads' timers: its samples */
	u64 other_signals; /* and all others */
	u64 overruns;	   /* expirations of these timers that became one signal with another */
	/* The last profile: from setitimer(ITIMER_PROF) on to its being switched off. */
	u64 begin_ns, end_ns; /* begin 0: none yet; end 0: it goes on */
	u64 begin_signals, end_signals;
	u64 begin_overruns, end_overruns;
	u64 period_ns;
	u32 profiles; /* so many were begun */
	u32 pad;
};

/* Where the samples of a profile were taken. */
struct leaf_key {
	u32 process;
	u32 profile; /* the census' count of them */
	u64 address; /* of the instruction; 0: not known */
};

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
	struct owner_how owner;
	u32 open_flows; /* interactions in flight that have an owner */
	u32 look_flow;	/* the next whose goroutine is to be looked after: functions.bpf.h */
	struct census census;
};

/* --- interactions --- */

#define KIND_NAME_BYTES 60
#define OTHER_KIND	"other" /* of requests beyond the bound; each process has it */
/* What is looked at of a request's path; a longer one is counted by its beginning. */
#define HTTP_PATH_BYTES 120
#define HTTP_HEAD_BYTES 4096 /* of a response; the end of a longer head is not seen */
#define FLOW_LOOK_BYTES 128  /* copied at once */

/*
 * Routes, as one machine for all of them: it reads method, space and path of a request, a byte at a
 * time. State 0: no route fits any more; the machine begins in ROUTE_BEGIN.
 */
#define MAX_ROUTES	 64
#define MAX_ROUTE_STATES 4096
#define NR_ROUTE_SYMBOLS 128 /* of ASCII; the last one stands for all bytes above */
#define ROUTE_BEGIN	 1
struct route_state {
	u16 next[NR_ROUTE_SYMBOLS];
	u32 route1; /* 1 + the route that a path which ends here fits; 0: none */
	u32 pad;
};
struct route_name {
	char name[KIND_NAME_BYTES]; /* "GET /metadata/:key" */
};

/* When the response to an interaction of some kind is a good one. */
#define MAX_GOODS	  16
#define GOOD_PREFIX_BYTES 64
struct good_rule {
	u64 min_bytes; /* of the body, if there is no prefix */
	u32 n;	       /* bytes of @prefix */
	u32 pad;
	u8 prefix[GOOD_PREFIX_BYTES];
};

enum outcome {
	OUTCOME_NONE, /* there is no rule for the kind */
	OUTCOME_OPEN, /* the rule is not decided yet */
	OUTCOME_GOOD,
	OUTCOME_EMPTY,
	OUTCOME_UNKNOWN, /* the body was not in memory that can be looked at: sendfile */
	NR_OUTCOMES
};

/* Functions that are interactions, by their number on the command line. */
#define MAX_FUNCTIONS 8

enum http_state {
	HTTP_METHOD,
	HTTP_PATH,
	HTTP_VERSION,
	HTTP_REQUEST, /* it is one */
	HTTP_NONE,    /* it is none */
};

/* A request as far as it was read. */
struct http_request {
	u64 word; /* letters */
	u64 method;
	u16 path_len;
	u16 route; /* state of the machine of routes */
	u8 state;  /* enum http_state */
	u8 name_len, segment_at, segment_len, segment_digits, segment_odd, shortened;
	u8 pad;
	char name[KIND_NAME_BYTES]; /* "GET /user/:id" */
};

enum http_header {
	HTTP_HEADER_OTHER, /* no name yet */
	HTTP_HEADER_SKIPPED,
	HTTP_HEADER_LENGTH,
	HTTP_HEADER_TYPE,
	HTTP_HEADER_ENCODING,
};

/* The head of a response as far as it was written. */
struct http_response {
	u64 tail; /* the last letters */
	u64 length;
	u32 code;
	u16 head_len;
	u8 column;
	u8 header; /* enum http_header */
	u8 has_length, is_chunked, is_stream;
	u8 pad[5];
};

/* Where in a chunked body the next byte is. */
enum http_chunk_state {
	CHUNK_SIZE,
	CHUNK_EXTENSION, /* and the end of the line */
	CHUNK_DATA,
	CHUNK_END,
};

struct http_chunks {
	u64 left; /* bytes of the chunk */
	u32 state;
	u32 pad;
};

enum response_body {
	BODY_NONE,
	BODY_LENGTH,
	BODY_CHUNKED,
	BODY_UNTIL_CLOSE,
	BODY_STREAM,
};

enum flow_state {
	FLOW_IDLE,    /* between two interactions */
	FLOW_REQUEST, /* the request's head is not all there */
	FLOW_OPEN,    /* an interaction; nothing was answered yet */
	FLOW_HEAD,    /* the response's head is not all written */
	FLOW_BODY,    /* @body says what is awaited */
	FLOW_STREAM,  /* an event stream, or upgraded: a session */
};

/*
 * One connection of a target on which a request was read. Found by the socket's inode number, which
 * no two sockets have one after the other. Or a call of a function: found by its goroutine.
 */
#define FLOW_OF_FUNCTION (1ULL << 63)
struct flow {
	u64 inode; /* or of a function's call FLOW_OF_FUNCTION and its own number; 0: free */
	u32 process;
	u32 account; /* of its kind */
	u8 state;    /* enum flow_state */
	u8 body;     /* enum response_body */
	u8 ahead;    /* a byte that was read before the response was seen to be complete, or 0 */
	u8 outcome;  /* enum outcome */
	u32 tgid;
	u64 ahead_ns;
	u64 owner; /* the goroutine that read the request; 0: whoever works on the connection */
	u64 begin_ns;
	u64 last_write_ns;
	u64 remaining;	/* bytes of the body that are not written yet */
	u64 body_bytes; /* that were written */
	u32 good;	/* the rule that decides @outcome */
	u32 good_at;	/* so many bytes of its prefix were seen */
	struct http_chunks chunks;
	/* Of this interaction, by those who worked for it. */
	u64 cpu_ns, off_cpu_ns, enters, fsyncs;
	/* Group queue. There has been something to read since @ready_ns, and nobody has; 0: no, or
	 * it is not known. The same of the byte that was read ahead. Since when the request waited.
	 */
	u64 ready_ns, ahead_ready_ns, queued_ns;
	/* Of a call of a function: of which goroutine, and how deep in its stack it was entered. */
	u64 goid, depth;
	struct http_request request;
	struct http_response response;
	u8 bytes[FLOW_LOOK_BYTES]; /* copied from the target, to be looked at */
};

struct owner_key {
	u64 owner;
	u32 tgid;
	u32 pad;
};

struct kind_key {
	u32 process;
	char name[KIND_NAME_BYTES];
};

struct code_key {
	u32 account;
	u16 code;    /* of HTTP; or INTERACTION_* */
	u16 outcome; /* enum outcome */
};

#define INTERACTION_ABORTED    0
#define INTERACTION_RETURNED   2	  /* 1: see CODE_OTHER */
#define INTERACTION_UNFINISHED 3	  /* of a call of a function: it will not return any more */
#define INTERACTION_SESSION    0xffffffff /* it goes on as one; not a key */

/* Histograms of one kind, one observation per interaction. Counts are in 1024ths (HIST_ONE). */
struct kind_hists {
	struct hist duration, cpu, off_cpu, enters, fsyncs, queue;
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
