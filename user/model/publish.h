/* SPDX-License-Identifier: MIT */
/* From a snapshot to families: what is published, under which labels. Pure. */
#ifndef SKYOBSERVE_MODEL_PUBLISH_H
#define SKYOBSERVE_MODEL_PUBLISH_H

#include "user/model/family.h"
#include "user/model/totals.h"

/* Facts of the exporter itself. Zero or NULL is not published. */
struct exporter_facts {
	const char *version;
	const char *libbpf_version;
	const char *arch;
	bool label_pid; /* a pid label on the series of processes */
	u64 scrape_ns;	/* time that taking the snapshot took */
	u64 cpu_ticks, open_fds, max_fds, virtual_bytes, max_virtual_bytes, resident_bytes;
	u64 start_wall_ns;
	u64 broker_cpu_ticks, broker_resident_bytes; /* the latter is 0 without a broker */
};

/*
 * Fill the empty set @ret_set. @totals[i] belongs to @snap->processes[i]. Processes of one name are
 * summed (with label_pid, processes of one name and pid). Check ret_set->failed for memory.
 */
void publish(const struct snapshot *snap, const struct process_totals *totals,
	     const struct exporter_facts *facts, struct family_set *ret_set);

#endif /* SKYOBSERVE_MODEL_PUBLISH_H */
