/* SPDX-License-Identifier: MIT */
/* Where the collector of a Go program is probed: which of its functions say what they do, by
 * version. */
#ifndef SKYOBSERVE_RUNTIME_GO_GC_H
#define SKYOBSERVE_RUNTIME_GO_GC_H

#include "user/runtime/runtime.h"

/* What a program of bpf/hooks/uprobe_go_gc.bpf.c is to be attached to. */
enum go_gc_probe {
	GO_GC_WORKER_STOP,
	GO_GC_WORKER_DRAIN,
	GO_GC_STARTED_WORLD,
	GO_GC_START_WORLD,
	GO_GC_STOP_WORLD,
	NR_GO_GC_PROBES
};

#define GO_GC_MAX_PLACES (NR_GO_GC_PROBES + TARGET_MAX_RETURNS)

struct go_gc_place {
	enum go_gc_probe probe;
	u64 offset; /* in the file */
};

/* Plain. The order is that of attaching: an end is seen before the begin that it belongs to. */
struct go_gc_places {
	struct go_gc_place at[GO_GC_MAX_PLACES];
	u32 n;
	bool workers, stops;
	char why[160]; /* what one of them is missing for; "" if both are there */
};

/*
 * -ENOENT: it is no Go program; -ENOTSUP: it is one, and @err says why nothing of it can be probed.
 * A version that was not tested is refused: what is in its registers is not guessed.
 */
int go_gc_find_places(const struct target *target, struct go_gc_places *ret_places,
		      struct err *err);

#endif /* SKYOBSERVE_RUNTIME_GO_GC_H */
