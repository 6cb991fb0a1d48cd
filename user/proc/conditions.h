/* SPDX-License-Identifier: MIT */
/*
 * Under which conditions something was measured, as facts of a record. What cannot be read is left
 * out. docs/RECORD.md lists the names.
 *
 * @root is "" for the machine itself, or a folder with proc/ and sys/ of ordinary files in tests.
 */
#ifndef SKYOBSERVE_PROC_CONDITIONS_H
#define SKYOBSERVE_PROC_CONDITIONS_H

#include <sys/types.h>

#include "user/model/record.h"

/* What of the machine does not change: machine.* */
void conditions_machine(const char *root, struct record *r);

/* What does, as of now: load, CPU time, pressure, memory, clocks. */
void conditions_now(const char *root, struct record *r);

/*
 * Process @pid under the names "target.@i.…": its control group, the CPUs that it may use, and what
 * is set of the few variables of its environment that change how a runtime works. Never all of it.
 */
void conditions_process(const char *root, pid_t pid, u32 i, struct record *r);

/* How much its control group was throttled so far; @cgroup is that fact's text. */
void conditions_throttled(const char *root, const char *cgroup, u32 i, struct record *r);

#endif /* SKYOBSERVE_PROC_CONDITIONS_H */
