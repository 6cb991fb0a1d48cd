/* SPDX-License-Identifier: MIT */
/*
 * The Go programs among the observed processes: their files are read once, confined and without
 * waiting long; their statistics at each snapshot.
 */
#ifndef SKYOBSERVE_BROKER_GO_WATCH_H
#define SKYOBSERVE_BROKER_GO_WATCH_H

#include <stddef.h>
#include <sys/types.h>

#include "user/model/snapshot.h"

struct go_live;

/* Program files, whatever they are; one that many processes execute is read once. */
struct go_programs;

/* What is known of one process. Zeroed: nothing yet. */
struct go_watch {
	struct go_live *live;
	size_t program;		   /* its number plus 1, of @live or of @why */
	struct go_counters before; /* of programs that it executed earlier */
	struct go_counters last;
	struct program_facts facts; /* of the program that it executes */
	bool counted;
	bool refused;  /* it is a Go program, and @why it cannot be read */
	char why[160]; /* "" if it is read, or is not Go */
};

/* NULL when memory runs out. */
struct go_programs *go_programs_new(void);
void go_programs_free(struct go_programs *programs);

/* Begin to read the file that process @pid executes, if it is not known. */
void go_watch_begin(struct go_programs *programs, pid_t pid);

#define GO_WATCH_WHY_BYTES 160

/*
 * How the work of process @pid is told apart (OWNER_NONE: it is not, and @ret_why says why). Never
 * waits. 0; -EAGAIN: its file is being read; -ESRCH.
 */
int go_watch_owner(struct go_programs *programs, pid_t pid, struct owner_how *ret_how,
		   char ret_why[GO_WATCH_WHY_BYTES]);

/*
 * Read process @pid, which is alive, now. Counters stay what they were when it cannot be read, and
 * go on when it executes another program. Waits for its file @patience_ns at most; one that takes
 * longer (20 MB take 0.1 s) is there at a later call.
 */
void go_watch_read(struct go_programs *programs, struct go_watch *watch, pid_t pid, u64 patience_ns,
		   struct go_stats *ret_stats);

void go_watch_done(struct go_watch *watch);

#endif /* SKYOBSERVE_BROKER_GO_WATCH_H */
