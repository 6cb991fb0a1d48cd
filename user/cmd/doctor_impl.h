/* SPDX-License-Identifier: MIT */
/* Inside of the doctor, shared by its files only. */
#ifndef SKYOBSERVE_CMD_DOCTOR_IMPL_H
#define SKYOBSERVE_CMD_DOCTOR_IMPL_H

#include "user/bpf/features.h"
#include "user/bpf/session.h"
#include "user/proc/sysinfo.h"
#include "user/render/paper.h"

/* Where /proc and /sys of the examined machine are, for the readers in user/proc/. */
#define DOCTOR_ROOT	 ""
#define PRIVILEGE_REMEDY "run as root: sudo skyobserve doctor"

enum health {
	HEALTH_OK,
	HEALTH_LIMITED, /* works, with less; or not as well */
	HEALTH_MISSING,
	HEALTH_UNCHECKED, /* cannot be found out with this privilege, or was not asked for */
	NR_HEALTHS
};

struct report {
	struct paper paper;
	u32 healths[NR_HEALTHS]; /* rows of each */
	struct sysinfo_privilege privilege;
	struct bpf_features features;
	bool bpf_refused; /* bpf(2) itself is not allowed: nothing behind it can be asked */
};

/*
 * One row of the table: what, state, what was found. @remedy is NULL if there is none; it is left
 * out for HEALTH_OK.
 */
void report_row(struct report *r, enum health health, const char *what, const char *remedy,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Rows about who we are and may do, about BPF in this kernel, and about its books and clock. */
void doctor_privilege(struct report *r);
void doctor_kernel(struct report *r);
void doctor_machine(struct report *r);

/* A row about whether the kernel reports every context switch, found out with group `sched` up. */
void doctor_chain(struct report *r, const struct bpf_session *session);

/* Rows about what `serve` keeps once it serves, found out by giving it up for a moment. */
void doctor_serving(struct report *r, const struct bpf_session *session);

#endif /* SKYOBSERVE_CMD_DOCTOR_IMPL_H */
