/* SPDX-License-Identifier: GPL-2.0-only */
/* Hook: data have come for a socket (40e0b0908142, 6.3). Group: queue. */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "queue.bpf.h"

char LICENSE[] SEC("license") = "GPL";

HOOK(sk_data_ready)
int sk_data_ready(void *ctx)
{
	queue_data_ready((const struct sock *)ARG(ctx, 0));
	return 0;
}
