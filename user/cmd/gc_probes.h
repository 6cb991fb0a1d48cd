/* SPDX-License-Identifier: MIT */
/*
 * Probes in the collectors of Go programs: from a process to its file, to places in it, to probes.
 * While files may be read and probes attached, which is before privileges are dropped.
 */
#ifndef SKYOBSERVE_CMD_GC_PROBES_H
#define SKYOBSERVE_CMD_GC_PROBES_H

#include <sys/types.h>

#include "user/bpf/session.h"
#include "user/model/go_stats.h"

/* The file that was read last: processes of one name are often of one file. */
struct gc_file;
void gc_file_free(struct gc_file *file);

/* Of one process. Zeroed: it is no Go program. */
struct gc_probed {
	struct bpf_probes *probes; /* NULL: none */
	bool stops, workers;	   /* what is counted */
	char why[160];		   /* what is missing, and why; "" if nothing is */
};

/* @file is the caller's, NULL at first. Where nothing can be probed, *ret_probed says why. */
void gc_probes_attach(struct bpf_session *s, struct gc_file **file, pid_t pid, u32 slot,
		      struct gc_probed *ret_probed);

/* Its counts stay. */
void gc_probes_detach(struct gc_probed *probed);

/* State of the group in one snapshot. */
struct gc_probes_sum {
	u32 probed, missing;
	char why[160];
};

/* Add process @pid, which is alive. */
void gc_probes_note(const struct gc_probed *probed, pid_t pid, struct gc_probes_sum *sum);

void gc_probes_state(const struct gc_probes_sum *sum, struct group_state *state);

#endif /* SKYOBSERVE_CMD_GC_PROBES_H */
