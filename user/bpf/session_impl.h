/* SPDX-License-Identifier: MIT */
/* Inside of the session, shared by the files of this folder only. */
#ifndef SKYOBSERVE_BPF_SESSION_IMPL_H
#define SKYOBSERVE_BPF_SESSION_IMPL_H

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "user/bpf/session.h"

/* Every map of bpf/maps.bpf.h: MAP(name, bound). */
#define SESSION_MAPS(MAP)              \
	MAP(observed, pid_blocks)      \
	MAP(wanted, one)               \
	MAP(thread_slots, threads)     \
	MAP(thread_hints, hints)       \
	MAP(threads, threads)          \
	MAP(free_threads, threads)     \
	MAP(process_slots, pids)       \
	MAP(processes, processes)      \
	MAP(free_details, details)     \
	MAP(free_processes, processes) \
	MAP(cells, lane_accounts)      \
	MAP(calls, lane_details)       \
	MAP(hists, lane_details)       \
	MAP(call_rows, details)        \
	MAP(row_claims, rows)          \
	MAP(free_rows, rows)           \
	MAP(row_hists, lane_rows)      \
	MAP(errors, errors)            \
	MAP(foreign_calls, errors)     \
	MAP(seed_calls, threads)       \
	MAP(uring_requests, threads)   \
	MAP(drops, lanes)              \
	MAP(chain, cpus)

enum session_map {
#define MAP(name, bound) MAP_##name,
	SESSION_MAPS(MAP)
#undef MAP
	NR_SESSION_MAPS
};

struct session_map_state {
	int fd; /* -1: not created */
	u32 type;
	u32 value_size;
	u32 max_entries;
	void *mapped; /* of arrays that are mmapable, else NULL */
	size_t mapped_bytes;
};

#define MAX_SESSION_OBJECTS 16
#define MAX_SESSION_LINKS   32

struct bpf_session {
	struct bpf_bounds bounds;
	struct btf *kernel_btf; /* while loading */
	u32 lanes;
	u32 cpus;
	struct session_map_state maps[NR_SESSION_MAPS];
	struct bpf_object *objects[MAX_SESSION_OBJECTS]; /* by hook; NULL: not loaded */
	u32 wanted; /* groups that were asked for and not lost */
	struct bpf_link *links[MAX_SESSION_LINKS];
	size_t nr_links;
	struct bpf_link *iter_link;
	struct group_state groups[NR_GROUPS];
};

/* Monotonic ns, the clock of the BPF programs. */
u64 session_now(void);

/* Element @i of a mapped array. @i is checked against the map's bound: NULL beyond it. */
void *session_element(const struct bpf_session *s, enum session_map map, u32 i);

/* Create all maps that the object @obj names and that do not exist yet; share those that do. */
int session_share_maps(struct bpf_session *s, struct bpf_object *obj, struct err *err);

/* Map the arrays and fill the free lists, once all maps exist. */
int session_maps_ready(struct bpf_session *s, struct err *err);

void session_maps_done(struct bpf_session *s);

#endif /* SKYOBSERVE_BPF_SESSION_IMPL_H */
