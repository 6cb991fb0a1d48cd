/* SPDX-License-Identifier: MIT */
/* Read everything that was counted into a snapshot. */
#ifndef SKYOBSERVE_BPF_COLLECT_H
#define SKYOBSERVE_BPF_COLLECT_H

#include "user/base/err.h"
#include "user/model/snapshot.h"

struct bpf_session;

/*
 * Fill the counted parts of @snap. Its first nr_counted processes are given by the caller
 * (identity, slot, alive); their cells, histograms, errors, calls and thread records, the drops,
 * maps, programs, groups and the chain check are filled in, and the edges in time.
 *
 * Consistency: the threads' records are read before and after the cells, and everything again when
 * much was charged in between, so that a sum over labels and the total come from one moment; what
 * remains is in enters_before/after and unsettled_ns. Cost: no system call per counter.
 *
 * Returns 0 or a negative errno; on failure @snap is to be freed with snapshot_done as well.
 */
int collect_snapshot(const struct bpf_session *s, struct snapshot *snap, struct err *err);

/*
 * Of processes that ended only what was counted: without looking at threads. For the rest see
 * collect_snapshot.
 */
int collect_ended(const struct bpf_session *s, struct snapshot *snap, struct err *err);

#endif /* SKYOBSERVE_BPF_COLLECT_H */
