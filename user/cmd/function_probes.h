/* SPDX-License-Identifier: MIT */
/*
 * Functions of Go programs whose calls are interactions: from a process to its file, to places in
 * it, to probes. While files may be read and probes attached, which is before privileges are
 * dropped.
 */
#ifndef SKYOBSERVE_CMD_FUNCTION_PROBES_H
#define SKYOBSERVE_CMD_FUNCTION_PROBES_H

#include <sys/types.h>

#include "user/bpf/session.h"
#include "user/cmd/gc_probes.h"

/* Functions as they were named; the caller's. */
struct function_list {
	const char *const *names;
	u32 n; /* up to MAX_FUNCTIONS; 0: interactions are no functions */
};

/* The file that was read last: processes of one name are often of one file. */
struct function_file;
void function_file_free(struct function_file *file);

/* Of one process. Zeroed: it was not asked for. */
struct function_probed {
	struct bpf_probes *probes[MAX_FUNCTIONS];
	bool all;   /* all functions are probed */
	bool unfit; /* the program does not have them so: another one is needed, or other names */
	char why[256]; /* what is missing, and why; "" if nothing is, or the process has ended */
};

/*
 * Whether the program that is open as @fd has all functions, so that a process of it can be probed:
 * 0; -ENOTSUP: @err says why not; or errors of reading it. @file is the caller's, NULL at first.
 */
int function_probes_check(struct function_file **file, int fd,
			  const struct function_list *functions, struct err *err);

/* All or none. Before it, it is said to the session how the process in @slot is told apart. */
void function_probes_attach(struct bpf_session *s, struct function_file **file, pid_t pid, u32 slot,
			    const struct function_list *functions,
			    struct function_probed *ret_probed);

/* Its counts stay. */
void function_probes_detach(struct function_probed *probed);

/* As gc_probes_note and gc_probes_state. */
void function_probes_note(const struct function_probed *probed, pid_t pid,
			  struct gc_probes_sum *sum);

#endif /* SKYOBSERVE_CMD_FUNCTION_PROBES_H */
