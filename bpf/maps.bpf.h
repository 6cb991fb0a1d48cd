/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps, each described once. Every hook is an object of its own that names the maps it uses;
 * the loader creates them once, sized by its bounds, and shares them. max_entries here are
 * placeholders.
 */
#ifndef SKYOBSERVE_MAPS_BPF_H
#define SKYOBSERVE_MAPS_BPF_H

#define MMAP_ARRAY(name, value_type)               \
	struct {                                   \
		__uint(type, BPF_MAP_TYPE_ARRAY);  \
		__uint(map_flags, BPF_F_MMAPABLE); \
		__uint(max_entries, 1);            \
		__type(key, u32);                  \
		__type(value, value_type);         \
	} name SEC(".maps")

#define HASH(name, key_type, value_type)         \
	struct {                                 \
		__uint(type, BPF_MAP_TYPE_HASH); \
		__uint(max_entries, 1);          \
		__type(key, key_type);           \
		__type(value, value_type);       \
	} name SEC(".maps")

#define FREE_LIST(name)                           \
	struct {                                  \
		__uint(type, BPF_MAP_TYPE_STACK); \
		__uint(max_entries, 1);           \
		__uint(value_size, sizeof(u32));  \
	} name SEC(".maps")

/* Which process ids are observed. */
MMAP_ARRAY(observed, struct pid_block);

/* Whom to take in at its exec: one element. */
MMAP_ARRAY(wanted, struct wanted);

/*
 * Threads of targets: slot by tid, cell by slot, slots that are free. thread_hints is a cache of
 * thread_slots, 1 + slot at the low bits of the tid: it may be wrong, the cell tells.
 */
HASH(thread_slots, u32, u32);
MMAP_ARRAY(thread_hints, u32);
MMAP_ARRAY(threads, struct thread_cell);
FREE_LIST(free_threads);

/* Processes: slot by tgid, cell by slot, free slots with and without details. */
HASH(process_slots, u32, u32);
MMAP_ARRAY(processes, struct process_cell);
FREE_LIST(free_details);
FREE_LIST(free_processes);

/* The accounts, in lanes. */
MMAP_ARRAY(cells, struct account_cells);
MMAP_ARRAY(calls, struct account_calls);

/* Histograms of closed dimensions per process, in lanes. */
MMAP_ARRAY(hists, struct process_hists);

/* Duration histograms of system calls: row by (process, number), rows in lanes, free rows. */
MMAP_ARRAY(call_rows, struct call_rows);
HASH(row_claims, struct row_key, u32);
FREE_LIST(free_rows);
MMAP_ARRAY(row_hists, struct hist);

/* Open sets that are rare. */
HASH(errors, struct error_key, u64);
HASH(foreign_calls, struct foreign_key, u64);

/* Calls that threads were in before observing began, from /proc: by tid. */
HASH(seed_calls, u32, struct seed_call);

/* io_uring requests in flight, by request. */
HASH(uring_requests, u64, struct uring_request);

/*
 * Interactions: connections by the socket's inode, goroutines that work for one, kinds by their
 * names, and what is counted of a kind besides its account.
 */
HASH(flow_slots, u64, u32);
MMAP_ARRAY(flows, struct flow);
FREE_LIST(free_flows);
HASH(owner_flows, struct owner_key, u32);
HASH(kinds, struct kind_key, u32);
FREE_LIST(free_kinds);
MMAP_ARRAY(kind_hists, struct kind_hists);
HASH(codes, struct code_key, u64);

/* What the command line says of kinds: routes as a machine, their names, rules for responses. */
MMAP_ARRAY(route_states, struct route_state);
MMAP_ARRAY(route_names, struct route_name);
HASH(good_kinds, struct route_name, u32);
MMAP_ARRAY(good_rules, struct good_rule);

/* Functions that are interactions. */
MMAP_ARRAY(function_names, struct route_name);

/* Collectors of Go programs, by process, in lanes. */
MMAP_ARRAY(go_gc, struct go_gc_cells);
/* Where profilers took their samples. */
HASH(census_leaves, struct leaf_key, u64);

/* Losses by reason, in lanes; the chain check per CPU. */
MMAP_ARRAY(drops, struct drop_cells);
MMAP_ARRAY(chain, struct chain_cell);

#endif /* SKYOBSERVE_MAPS_BPF_H */
