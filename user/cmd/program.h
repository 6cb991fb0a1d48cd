/* SPDX-License-Identifier: MIT */
/* `skyobserve … -- COMMAND…`: started to be observed from its first instruction. */
#ifndef SKYOBSERVE_CMD_PROGRAM_H
#define SKYOBSERVE_CMD_PROGRAM_H

#include <sys/types.h>

#include "user/base/err.h"

/* A child that waits to execute its program. */
struct program {
	pid_t pid;  /* 0: none */
	int go;	    /* closed to let it begin */
	int failed; /* the errno of exec comes here, or end of file */
};

/*
 * Make the child of @argv: as @user, or as the user who called sudo if that is NULL, else as we
 * are. It bears the program's name already, and waits. Returns 0 or a negative errno with @err.
 */
int program_prepare(char **argv, const char *user, struct program *ret_program, struct err *err);

/* Let it execute. A negative errno if it could not: then it is gone. */
int program_start(struct program *p, const char *name, struct err *err);

/*
 * The exit status of the program if it has ended: its own, or 128 + the signal; -1 while it runs.
 */
int program_status(struct program *p);

/* Close what is open; a program that was not started ends. A running one goes on. */
void program_done(struct program *p);

#endif /* SKYOBSERVE_CMD_PROGRAM_H */
