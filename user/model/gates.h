/* SPDX-License-Identifier: MIT */
/*
 * Whether a record can be trusted: gates, from what is in it. Pure. They are not kept in the file,
 * so whoever reads a record judges it anew, by the same rules.
 *
 * | gate       | holds while                                                     | else    |
 * |------------|-----------------------------------------------------------------|---------|
 * | target     | each process that was observed at the beginning is the same one | INVALID |
 * |            | at the end, and executes the same file                          |         |
 * | drops      | nothing was lost                                                | INVALID |
 * | counts     | the identities of counts are bit-exact                          | INVALID |
 * | times      | the identities of times are inside their bounds                 | INVALID |
 * |            | ... and the kernel did not report all switches                  | warns   |
 * | chain      | at most 1 of 1000 context switches was not reported             | warns   |
 * | probes     | what was measured at the beginning is measured at the end       | INVALID |
 * | edges      | each edge was read within 1 ms                                  | warns   |
 * | clock      | REALTIME - MONOTONIC moved by less than 1 ms                    | warns   |
 * | selftest   | no row of it failed                                             | INVALID |
 * | store      | what --expect-store names was connected to and written to       | INVALID |
 * |            | ... and also where that is not known                            | INVALID |
 * | profile    | the profile that was asked for was fetched within the window    | INVALID |
 * | steal      | at most 1 % of the machine's CPU time was stolen                | warns   |
 * | neighbours | others used at most 5 % of the machine's CPU time               | warns   |
 * | pressure   | tasks waited for a CPU during at most 5 % of the window         | warns   |
 * | throttle   | no target's control group was throttled                         | warns   |
 * | frequency  | the CPUs' clocks differ by at most 3 %                          | warns   |
 * | canary     | a fixed loop took the same time: spread 5 %, drift 3 %          | warns   |
 *
 * From steal on they are about the machine, not about the measurement: numbers stay right, but
 * those of another run may differ. A run that was declared to be alone there (--isolated) is
 * INVALID where one of them does not hold; steal above 5 % is it in any case.
 */
#ifndef SKYOBSERVE_MODEL_GATES_H
#define SKYOBSERVE_MODEL_GATES_H

#include "user/model/record.h"

enum gate_id {
	GATE_TARGET,
	GATE_DROPS,
	GATE_COUNTS,
	GATE_TIMES,
	GATE_CHAIN,
	GATE_PROBES,
	GATE_EDGES,
	GATE_CLOCK,
	GATE_SELFTEST,
	GATE_STORE,
	GATE_PROFILE,
	GATE_STEAL,
	GATE_NEIGHBOURS,
	GATE_PRESSURE,
	GATE_THROTTLE,
	GATE_FREQUENCY,
	GATE_CANARY,
	NR_GATES
};

enum gate_state {
	GATE_UNKNOWN, /* what it needs was not measured, or not asked for */
	GATE_HOLDS,
	GATE_WARNS,
	GATE_INVALID,
};

struct gate {
	enum gate_state state;
	char text[256]; /* what was found, with the number; any bytes of names in it */
};

extern const char *const gate_names[NR_GATES];

/* The record needs its edges (record_read). */
void gates_of(const struct record *r, struct gate ret_gates[NR_GATES]);

/* How many of them make the run invalid. */
u32 gates_invalid(const struct gate gates[NR_GATES]);

#endif /* SKYOBSERVE_MODEL_GATES_H */
