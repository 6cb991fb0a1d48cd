/* SPDX-License-Identifier: MIT */
/* `skyobserve … -- COMMAND…`: started to be observed from its first instruction. */
#ifndef SKYOBSERVE_CMD_PROGRAM_H
#define SKYOBSERVE_CMD_PROGRAM_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

#include "types.h"
#include "user/base/err.h"

/* Statuses of a program that could not be executed, as of a shell. */
#define PROGRAM_NOT_EXECUTABLE 126
#define PROGRAM_NOT_FOUND      127

/* What a program gets to end in after it was asked to; then it is killed. */
#define PROGRAM_GRACE_NS (30 * NS_PER_SEC)

/* A child that waits to execute its program. */
struct program {
	pid_t pid;   /* 0: none */
	int go;	     /* a byte lets it begin */
	int failed;  /* the errno of exec comes here, or end of file */
	int bell[2]; /* a pipe that signals it: see program_signal */
	u64 kill_ns; /* when it is killed, monotonic; 0: it was not asked to end */
	bool killed;
};

/*
 * Make the child of @argv: as @user, or as the user who called sudo if that is NULL, else as we
 * are. It bears the program's name already, and waits. Returns 0 or a negative errno with @err.
 */
int program_prepare(char **argv, const char *user, struct program *ret_program, struct err *err);

/*
 * Let it execute @name. A negative errno if it could not: then it is gone, and *ret_status is what
 * a shell would return: PROGRAM_NOT_FOUND or PROGRAM_NOT_EXECUTABLE.
 */
int program_start(struct program *p, const char *name, int *ret_status, struct err *err);

/*
 * What executing @name means now, as execvp(3) looks for it, without links: the path of a file that
 * may be executed. Returns false if there is none.
 */
bool program_file(const char *name, char ret_path[PATH_MAX]);

/*
 * We got signal @sig: the running program gets it as well. @from_kernel: the terminal sent it
 * (Ctrl-C, hang-up), to all of the foreground process group; a program that is in our group has it
 * already, and what becomes of it is between it and whoever types. Otherwise SIGINT and SIGTERM
 * end it: PROGRAM_GRACE_NS later, or with the second of them, it is killed. Works without
 * privilege, whoever the program runs as. Returns false if it was killed before and is still there:
 * nothing is left to wait for.
 */
bool program_signal(struct program *p, int sig, bool from_kernel, u64 now_ns);

/* Kill it if it was asked to end and its time is over. */
void program_check(struct program *p, u64 now_ns);

/*
 * The exit status of the program if it has ended: its own, or 128 + the signal; -1 while it runs.
 */
int program_status(struct program *p);

/* Close what is open. A program that was not started ends; one that runs gets SIGTERM. */
void program_done(struct program *p);

#endif /* SKYOBSERVE_CMD_PROGRAM_H */
