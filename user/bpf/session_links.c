/* SPDX-License-Identifier: MIT */
/* Hooks that are detached for a while. */
#include <errno.h>
#include <string.h>

#include "user/bpf/session_impl.h"

/* The chain of switches begins anew: that some were missed is no fault of the kernel. */
static void forget_chain(const struct bpf_session *s)
{
	for (u32 cpu = 0; cpu < s->cpus; cpu++) {
		struct chain_cell *c = session_element(s, MAP_chain, cpu);

		if (c)
			__atomic_store_n(&c->begun, 0, __ATOMIC_RELAXED);
	}
}

int bpf_session_attach_only(struct bpf_session *s, u32 groups, struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < s->nr_links; i++) {
		struct session_link *l = &s->links[i];

		if (l->groups & groups || !l->link)
			continue;
		bpf_link__destroy(l->link);
		l->link = NULL;
	}
	forget_chain(s);
	for (size_t i = 0; i < s->nr_links; i++) {
		struct session_link *l = &s->links[i];

		if (!(l->groups & groups) || l->link)
			continue;
		l->link = bpf_program__attach(l->prog);
		if (!l->link)
			r = err_set(err, -errno, "cannot attach %s again: %s",
				    bpf_program__name(l->prog), strerror(errno));
	}
	return r;
}
