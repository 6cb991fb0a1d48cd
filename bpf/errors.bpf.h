/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts of errors by (process, call, errno): an open set, so rows appear as they occur. */
#ifndef SKYOBSERVE_ERRORS_BPF_H
#define SKYOBSERVE_ERRORS_BPF_H

#include "ledger.bpf.h"

static __always_inline void count_error(u32 process, u16 kind, u16 id, u32 code)
{
	struct error_key key = { .process = process, .kind = kind, .id = id, .code = code };
	u64 *n = bpf_map_lookup_elem(&errors, &key);
	u64 zero = 0;

	if (!n) {
		bpf_map_update_elem(&errors, &key, &zero, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&errors, &key);
	}
	if (n)
		add(n, 1);
	else
		drop(DROP_ERRORS_FULL);
}

#endif /* SKYOBSERVE_ERRORS_BPF_H */
