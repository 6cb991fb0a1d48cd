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
	MAP(calls, lane_calls)         \
	MAP(hists, lane_details)       \
	MAP(call_rows, details)        \
	MAP(row_claims, rows)          \
	MAP(free_rows, rows)           \
	MAP(row_hists, lane_rows)      \
	MAP(errors, errors)            \
	MAP(foreign_calls, errors)     \
	MAP(seed_calls, threads)       \
	MAP(uring_requests, threads)   \
	MAP(flow_slots, flows)         \
	MAP(flows, flows)              \
	MAP(free_flows, flows)         \
	MAP(owner_flows, flows)        \
	MAP(kinds, kinds)              \
	MAP(free_kinds, kinds)         \
	MAP(kind_hists, lane_kinds)    \
	MAP(codes, codes)              \
	MAP(route_states, states)      \
	MAP(route_names, routes)       \
	MAP(good_kinds, goods)         \
	MAP(good_rules, goods)         \
	MAP(function_names, functions) \
	MAP(go_gc, lane_go)            \
	MAP(census_leaves, leaves)     \
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
#define MAX_SESSION_LINKS   48

/* A program on its hook. */
struct session_link {
	struct bpf_link *link; /* NULL: detached for now */
	struct bpf_program *prog;
	u32 groups; /* that it is for */
};

struct bpf_session {
	struct bpf_bounds bounds;
	struct btf *kernel_btf; /* while loading */
	u32 lanes, call_lanes;	/* call_lanes: of calls by name */
	u32 named;		/* processes with calls by name: slots below it */
	u32 cpus;
	u32 nr_route_states, nr_routes, nr_goods; /* places in maps, at least one each */
	struct session_map_state maps[NR_SESSION_MAPS];
	struct bpf_object *objects[MAX_SESSION_OBJECTS]; /* by hook; NULL: not loaded */
	u32 wanted; /* groups that were asked for and not lost */
	struct session_link links[MAX_SESSION_LINKS];
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

/* Accounts: those of processes, at their slots, then those of kinds. */
static inline u32 session_accounts(const struct bpf_session *s)
{
	return s->bounds.max_processes + s->bounds.max_kinds;
}

/* Those of them with calls by name: of processes, then of kinds. */
static inline u32 session_call_accounts(const struct bpf_session *s)
{
	return s->named + s->bounds.max_kinds;
}

/* --- session_process.c --- */

/* Zero element @i of a map in every lane; lanes are @stride elements apart. */
void session_clear_lanes(struct bpf_session *s, enum session_map map, u32 i, u32 stride);

/* Delete the keys of a hash whose first field is @first (a process or an account). */
void session_release_keys(struct bpf_session *s, enum session_map map, size_t key_bytes, u32 first);

/* --- session_kinds.c --- */

/* What the command line says of kinds, for the programs. */
int session_set_up_kinds(struct bpf_session *s, const struct bpf_session_config *config,
			 struct err *err);

/* Forget the connections and kinds of the process in @slot. */
void session_release_kinds(struct bpf_session *s, u32 slot);

/* --- collect.c --- */

/* Sum of element @i of a map over its lanes, which are @stride elements apart. */
void collect_lanes(const struct bpf_session *s, enum session_map map, u32 i, u32 stride, void *sum,
		   size_t bytes);
/* Read a whole hash: keys and values are @ret_keys, @ret_values (to be freed). -ENOMEM. */
int collect_hash(const struct session_map_state *m, size_t key_bytes, void **ret_keys,
		 void **ret_values, u32 *ret_n);
/* NULL: nobody of @snap is there. */
struct process_snap *collect_by_slot(struct snapshot *snap, u32 slot);

/* --- collect_kinds.c --- */

/*
 * Read the kinds of the processes in @snap, and add what they were charged to the cells and calls
 * of these. -ENOMEM.
 */
int collect_kinds(const struct bpf_session *s, struct snapshot *snap);

#endif /* SKYOBSERVE_BPF_SESSION_IMPL_H */
