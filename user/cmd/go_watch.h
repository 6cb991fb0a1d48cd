/* SPDX-License-Identifier: MIT */
/*
 * The Go programs among the observed processes: their files are read once, confined and without
 * waiting long; their statistics at each snapshot.
 */
#ifndef SKYOBSERVE_CMD_GO_WATCH_H
#define SKYOBSERVE_CMD_GO_WATCH_H

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
	bool counted;
	bool refused;  /* it is a Go program, and @why it cannot be read */
	char why[160]; /* "" if it is read, or is not Go */
};

/* NULL when memory runs out. */
struct go_programs *go_programs_new(void);
void go_programs_free(struct go_programs *programs);

/* Begin to read the file that process @pid executes, if it is not known. */
void go_watch_begin(struct go_programs *programs, pid_t pid);

/*
 * Read process @pid now; @alive is false when it has ended. Counters stay what they were when it
 * cannot be read, and go on when it executes another program. Waits for its file at most two
 * seconds after that was begun; later it is there at a later call.
 */
void go_watch_read(struct go_programs *programs, struct go_watch *watch, pid_t pid, bool alive,
		   struct go_stats *ret_stats);

void go_watch_done(struct go_watch *watch);

/* State of the group `go`, over all processes. */
struct go_watch_sum {
	u32 read, refused;
	char why[160];
};
void go_watch_note(const struct go_watch *watch, pid_t pid, struct go_watch_sum *sum);
void go_watch_state(const struct go_watch_sum *sum, struct group_state *ret_state);

#endif /* SKYOBSERVE_CMD_GO_WATCH_H */
