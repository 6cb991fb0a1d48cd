/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ledger: the only place that writes accounts, histograms and losses.
 *
 * Adds are atomic even in a lane of one CPU: lanes are shared when there are more CPUs than
 * lanes, and programs on uprobes can be preempted.
 */
#ifndef SKYOBSERVE_LEDGER_BPF_H
#define SKYOBSERVE_LEDGER_BPF_H

#include "kernel_compat.bpf.h"
#include "layout.h"
#include "maps.bpf.h"

const volatile struct bpf_config cfg = {};

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
	__sync_fetch_and_add(cell, amount);
}

static __always_inline void drop(enum drop_reason reason)
{
	u32 key = lane();
	struct drop_cells *d = bpf_map_lookup_elem(&drops, &key);

	if (d)
		add(&d->drops[reason], 1);
}

/* Add @amount to entry @cell, a constant, of an account. */
static __always_inline void charge(struct account_cells *account, u32 cell, u64 amount)
{
	if (account && amount)
		add(&account->cell[cell], amount);
}

/*
 * Add @amount to entry @first + @i of an account, one of @n. @i is 64 bits wide and behind
 * a barrier so that the check and the address use one register: else the compiler checks a
 * truncated copy, and the verifier of old and new kernels alike loses the bound.
 */
static __always_inline void charge_nth(struct account_cells *account, u32 first, u64 i, u32 n,
				       u64 amount)
{
	barrier_var(i);
	if (account && amount && i < n)
		add(&account->cell[first + i], amount);
}

static __always_inline void hist_add(struct hist *hist, u64 value)
{
	u64 bucket = hist_bucket(value);

	/* The verifier of old kernels cannot follow hist_bucket's arithmetic. */
	barrier_var(bucket);
	if (bucket >= NR_HIST_BUCKETS)
		return;
	add(&hist->sum, value);
	add(&hist->counts[bucket], 1);
}

static __always_inline struct account_cells *account_cells(const struct thread_cell *t)
{
	u32 key = lane() * cfg.max_accounts + t->account;

	return bpf_map_lookup_elem(&cells, &key);
}

/* NULL for a process without details. */
static __always_inline struct process_hists *process_hists(const struct thread_cell *t)
{
	u32 key = lane() * cfg.max_details + t->process;

	if (t->process >= cfg.max_details)
		return NULL;
	return bpf_map_lookup_elem(&hists, &key);
}

#endif /* SKYOBSERVE_LEDGER_BPF_H */
