/* SPDX-License-Identifier: MIT */
/*
 * The ground that bpf/ stands on, for the host: what its headers get from the compiler's BPF
 * target, from libbpf, from the kernel and from the maps. Include it first, then
 *
 *	sched.bpf.h, syscalls.bpf.h	the decisions
 *	waits.bpf.h			why a thread blocks
 *	threads.bpf.h			the life of cells
 *
 * Knows no kernel header: a task is only what those files look at. It is a header with code in it
 * because each test is one file and one program.
 */
#ifndef SKYOBSERVE_TESTS_SIM_HOST_H
#define SKYOBSERVE_TESTS_SIM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"

/* In place of these: everything below. */
#define SKYOBSERVE_LEDGER_BPF_H
#define SKYOBSERVE_KERNEL_COMPAT_BPF_H
#define SKYOBSERVE_MAPS_BPF_H

#undef __always_inline
#define __always_inline inline __attribute__((always_inline, unused))

#define barrier_var(v) __asm__ volatile("" : "+r"(v))

/* --- the kernel --- */

/* include/linux/sched.h, stable since Linux 4.14. */
#define COMPAT_TASK_INTERRUPTIBLE   0x0001
#define COMPAT_TASK_UNINTERRUPTIBLE 0x0002
#define COMPAT_TASK_STOPPED	    0x0004
#define COMPAT_TASK_TRACED	    0x0008
#define COMPAT_TASK_DEAD	    0x0080

#define HOST_FILES 8

struct inode {
	u32 i_mode;
};

struct file {
	struct inode *f_inode;
	u32 f_flags;
};

struct task_struct {
	u32 pid, tgid;
	u32 flags;
	u64 start_time;
	bool in_iowait;
	struct task_counts counts; /* what the hooks read of it at this moment */
	struct file *files[HOST_FILES];
};

static u64 host_now __attribute__((unused));			 /* bpf_ktime_get_ns */
static u32 host_cpu __attribute__((unused));			 /* bpf_get_smp_processor_id */
static struct task_struct *host_current __attribute__((unused)); /* bpf_get_current_task */

#define bpf_ktime_get_ns()	   host_now
#define bpf_get_current_task()	   host_current
#define bpf_get_current_pid_tgid() ((u64)host_current->tgid << 32 | host_current->pid)
#define bpf_get_smp_processor_id() host_cpu

#define HOST_READ_1(p, a)		((p)->a)
#define HOST_READ_2(p, a, b)		((p)->a->b)
#define HOST_READ_PICK(a, b, name, ...) name
#define BPF_CORE_READ(p, ...) \
	HOST_READ_PICK(__VA_ARGS__, HOST_READ_2, HOST_READ_1, 0)(p, __VA_ARGS__)

static __always_inline void compat_task_counts_probed(struct task_struct *task,
						      struct task_counts *ret)
{
	*ret = task->counts;
}

static __always_inline struct file *compat_fd_file(struct task_struct *task, s32 fd)
{
	return fd >= 0 && fd < HOST_FILES ? task->files[fd] : NULL;
}

/* --- the maps --- */

enum host_map_kind {
	HOST_ARRAY, /* key is an index; also the hashes, whose keys are small numbers here */
	HOST_HASH,
	HOST_STACK, /* of u32 */
};

struct host_map {
	enum host_map_kind kind;
	u32 max_keys, max_entries;
	size_t value_bytes;
	char *values;
	bool *present; /* HOST_HASH */
	u32 n;	       /* HOST_HASH, HOST_STACK: entries */
};

#define BPF_ANY	    0
#define BPF_NOEXIST 1

static inline void *bpf_map_lookup_elem(const struct host_map *map, const void *key)
{
	u32 i = *(const u32 *)key;

	if (i >= map->max_keys || (map->kind == HOST_HASH && !map->present[i]))
		return NULL;
	return map->values + i * map->value_bytes;
}

static inline int bpf_map_update_elem(struct host_map *map, const void *key, const void *value,
				      u64 flags)
{
	u32 i = *(const u32 *)key;

	if (i >= map->max_keys)
		return -1;
	if (map->kind == HOST_HASH && !map->present[i]) {
		if (map->n == map->max_entries)
			return -1;
		map->present[i] = true;
		map->n++;
	} else if (flags == BPF_NOEXIST) {
		return -1;
	}
	memcpy(map->values + i * map->value_bytes, value, map->value_bytes);
	return 0;
}

static inline int bpf_map_delete_elem(struct host_map *map, const void *key)
{
	u32 i = *(const u32 *)key;

	if (i >= map->max_keys || !map->present[i])
		return -1;
	map->present[i] = false;
	map->n--;
	return 0;
}

static inline int bpf_map_pop_elem(struct host_map *map, void *ret_value)
{
	if (!map->n)
		return -1;
	map->n--;
	memcpy(ret_value, map->values + map->n * map->value_bytes, map->value_bytes);
	return 0;
}

static inline int bpf_map_push_elem(struct host_map *map, const void *value, u64 flags)
{
	(void)flags;
	if (map->n == map->max_entries)
		return -1;
	memcpy(map->values + map->n * map->value_bytes, value, map->value_bytes);
	map->n++;
	return 0;
}

/* An empty map, whatever it was before. */
static inline void host_map_begin(struct host_map *map, enum host_map_kind kind, u32 max_keys,
				  u32 max_entries, size_t value_bytes)
{
	free(map->values);
	free(map->present);
	*map = (struct host_map){ kind, max_keys, max_entries, value_bytes, NULL, NULL, 0 };
	map->values = calloc(max_keys, value_bytes);
	map->present = kind == HOST_HASH ? calloc(max_keys, sizeof(bool)) : NULL;
	if (!map->values || (kind == HOST_HASH && !map->present))
		abort();
}

#define HOST_PROCESSES 4
#define HOST_LANES     4
#define HOST_TIDS      (1 << 18)

static struct host_map observed, thread_slots, thread_hints, threads, free_threads, process_slots,
	processes;

/* Empty maps with room for @max_threads threads. */
static inline void host_maps_begin(u32 max_threads)
{
	host_map_begin(&observed, HOST_ARRAY, HOST_TIDS / PIDS_PER_BLOCK, 0,
		       sizeof(struct pid_block));
	host_map_begin(&thread_slots, HOST_HASH, HOST_TIDS, max_threads, sizeof(u32));
	host_map_begin(&thread_hints, HOST_ARRAY, NR_THREAD_HINTS, 0, sizeof(u32));
	host_map_begin(&threads, HOST_ARRAY, max_threads, 0, sizeof(struct thread_cell));
	host_map_begin(&free_threads, HOST_STACK, max_threads, max_threads, sizeof(u32));
	host_map_begin(&process_slots, HOST_HASH, HOST_TIDS, HOST_PROCESSES, sizeof(u32));
	host_map_begin(&processes, HOST_ARRAY, HOST_PROCESSES, 0, sizeof(struct process_cell));
	for (u32 slot = max_threads; slot-- > 0;)
		bpf_map_push_elem(&free_threads, &slot, BPF_ANY);
}

/* What user space does when it takes a process in: first this, then its threads are seeded. */
static inline void host_take_in(u32 tgid, u32 slot, u64 begin_ns)
{
	struct process_cell p = { .tgid = tgid, .account = slot, .begin_ns = begin_ns };

	bpf_map_update_elem(&processes, &slot, &p, BPF_ANY);
	bpf_map_update_elem(&process_slots, &tgid, &slot, BPF_ANY);
}

/* ... and last this: from now on threads that are not known yet are met. */
static inline void host_mark(u32 tgid)
{
	u32 key = tgid / PIDS_PER_BLOCK;
	struct pid_block *block = bpf_map_lookup_elem(&observed, &key);

	block->observed[tgid % PIDS_PER_BLOCK] = 1;
}

static inline void host_observe(u32 tgid, u32 slot, u64 begin_ns)
{
	host_take_in(tgid, slot, begin_ns);
	host_mark(tgid);
}

/* --- the ledger --- */

static struct bpf_config cfg;
static u64 host_drops[NR_DROPS];
static struct account_cells host_cells[HOST_LANES][HOST_PROCESSES];
static struct process_hists host_hists[HOST_LANES][HOST_PROCESSES];

static inline void host_ledger_begin(void)
{
	memset(&cfg, 0, sizeof(cfg));
	cfg.groups = ~0u;
	cfg.lane_mask = HOST_LANES - 1;
	cfg.max_processes = cfg.max_accounts = cfg.max_details = HOST_PROCESSES;
	memset(host_drops, 0, sizeof(host_drops));
	memset(host_cells, 0, sizeof(host_cells));
	memset(host_hists, 0, sizeof(host_hists));
}

static __always_inline bool group_on(enum probe_group group)
{
	return cfg.groups & (1u << group);
}

static __always_inline u32 lane(void)
{
	return bpf_get_smp_processor_id() & cfg.lane_mask;
}

static __always_inline void add(u64 *cell, u64 amount)
{
	*cell += amount;
}

static __always_inline void drop(enum drop_reason reason)
{
	host_drops[reason]++;
}

static __always_inline void charge(struct account_cells *account, u32 cell, u64 amount)
{
	if (account && amount)
		add(&account->cell[cell], amount);
}

static __always_inline void charge_nth(struct account_cells *account, u32 first, u64 i, u32 n,
				       u64 amount)
{
	if (account && amount && i < n)
		add(&account->cell[first + i], amount);
}

static __always_inline void hist_add(struct hist *hist, u64 value)
{
	hist->sum += value;
	hist->counts[hist_bucket(value)]++;
}

static __always_inline struct account_cells *account_cells(const struct thread_cell *t)
{
	return t->account < HOST_PROCESSES ? &host_cells[lane()][t->account] : NULL;
}

static __always_inline struct process_hists *process_hists(const struct thread_cell *t)
{
	return t->process < HOST_PROCESSES ? &host_hists[lane()][t->process] : NULL;
}

#endif /* SKYOBSERVE_TESTS_SIM_HOST_H */
