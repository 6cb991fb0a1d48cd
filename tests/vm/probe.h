/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/* What probe.bpf.c and probe.c share. */
#ifndef SKYOBSERVE_TESTS_VM_PROBE_H
#define SKYOBSERVE_TESTS_VM_PROBE_H

struct probe_counters {
	unsigned long long raw_tp_calls;
	unsigned long long tp_btf_calls;
	unsigned long long wrong_tgids; /* CO-RE and the helper disagree */
	unsigned long long
		states; /* sum of the task states, so that the read is not optimized away */
};

#endif
