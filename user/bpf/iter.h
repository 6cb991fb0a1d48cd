/* SPDX-License-Identifier: MIT */
/* Run the task iterator once: one record per thread of the observed processes. */
#ifndef SKYOBSERVE_BPF_ITER_H
#define SKYOBSERVE_BPF_ITER_H

#include "layout.h"
#include "user/base/err.h"

struct bpf_session;

/* Called for each record; nonzero stops and is returned by iter_run. */
typedef int (*iter_fn)(void *ctx, const struct task_record *rec);

/* @fn may be NULL (only the seeding is wanted). Returns 0 or a negative errno. */
int iter_run(const struct bpf_session *s, iter_fn fn, void *ctx, struct err *err);

#endif /* SKYOBSERVE_BPF_ITER_H */
