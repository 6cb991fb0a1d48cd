/* SPDX-License-Identifier: MIT */
/* Probes in the functions of one process. Knows places in a file, not what is there. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/bpf/session_impl.h"

struct bpf_probes {
	size_t n;
	struct bpf_link *links[BPF_MAX_PROBES];
};

static struct bpf_program *find_program(const struct bpf_session *s, const char *name)
{
	for (size_t i = 0; i < MAX_SESSION_OBJECTS; i++) {
		struct bpf_program *prog =
			s->objects[i] ? bpf_object__find_program_by_name(s->objects[i], name)
				      : NULL;

		if (prog && bpf_program__type(prog) == BPF_PROG_TYPE_KPROBE)
			return prog;
	}
	return NULL;
}

static int attach_one(struct bpf_session *s, const struct probe_target *target,
		      const struct probe_place *place, struct bpf_link **ret_link, struct err *err)
{
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .retprobe = false);
	struct bpf_program *prog = find_program(s, place->program);
	char path[32];

	if (!prog)
		return err_set(err, -ENOENT, "there is no program %s", place->program);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", target->fd);
	*ret_link = bpf_program__attach_uprobe_opts(prog, target->pid, path, place->offset, &opts);
	if (!*ret_link)
		return err_set(err, -errno, "cannot attach %s: %s", place->program,
			       strerror(errno));
	return 0;
}

int bpf_session_probe(struct bpf_session *s, const struct probe_target *target,
		      struct bpf_probes **ret_probes, struct err *err)
{
	struct bpf_probes *probes = calloc(1, sizeof(*probes));
	int r = 0;

	if (!probes)
		return err_set(err, -ENOMEM, "no memory for probes");
	if (target->n > BPF_MAX_PROBES)
		r = err_set(err, -E2BIG, "%zu probes, more than %d", target->n, BPF_MAX_PROBES);
	for (size_t i = 0; i < target->n && !r; i++) {
		r = attach_one(s, target, &target->places[i], &probes->links[i], err);
		probes->n += !r;
	}
	if (r) {
		bpf_probes_free(probes);
		return r;
	}
	*ret_probes = probes;
	return 0;
}

void bpf_probes_free(struct bpf_probes *probes)
{
	if (!probes)
		return;
	while (probes->n)
		bpf_link__destroy(probes->links[--probes->n]);
	free(probes);
}

bool bpf_session_counts_go_gc(const struct bpf_session *s, u32 slot)
{
	return s->groups[GROUP_GO_GC].up && slot < s->bounds.max_go;
}

void bpf_session_read_go_gc(const struct bpf_session *s, u32 slot, struct go_gc_cells *ret_cells)
{
	*ret_cells = (struct go_gc_cells){ 0 };
	if (bpf_session_counts_go_gc(s, slot))
		collect_lanes(s, MAP_go_gc, slot, s->bounds.max_go, ret_cells, sizeof(*ret_cells));
}
