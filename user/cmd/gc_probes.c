/* SPDX-License-Identifier: MIT */
/* Which Go programs have probes in their collectors, and which do not, and why. */
#include "user/cmd/gc_probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/elf/file.h"
#include "user/runtime/go_gc.h"
#include "user/runtime/worker.h"

_Static_assert(GO_GC_MAX_PLACES <= BPF_MAX_PROBES, "room for each place");

/* Programs of bpf/hooks/uprobe_go_gc.bpf.c. */
static const char *const programs[NR_GO_GC_PROBES] = {
	[GO_GC_WORKER_STOP] = "gc_worker_stop",	    [GO_GC_WORKER_DRAIN] = "gc_worker_drain",
	[GO_GC_STARTED_WORLD] = "gc_started_world", [GO_GC_START_WORLD] = "gc_start_world",
	[GO_GC_STOP_WORLD] = "gc_stop_world",
};

struct gc_file {
	struct stat st;
	int result; /* of reading it */
	struct go_gc_places places;
	struct err err;
};

void gc_file_free(struct gc_file *file)
{
	free(file);
}

static int read_places(int fd, struct go_gc_places *ret_places, struct err *err)
{
	const struct target_request request = { 0 };
	struct target *target = calloc(1, sizeof(*target));
	int r;

	if (!target)
		return err_set(err, -ENOMEM, "no memory to read a program");
	r = target_read_confined(fd, &request, target, err);
	r = r ? r : go_gc_find_places(target, ret_places, err);
	free(target);
	return r;
}

static int find_places(int fd, struct gc_file **file, struct err *err)
{
	struct gc_file *f = *file;
	struct stat st;

	if (fstat(fd, &st))
		return err_set(err, -errno, "cannot look at its file: %s", strerror(errno));
	if (f && elf_file_is_same(&f->st, &st)) {
		*err = f->err;
		return f->result;
	}
	if (!f)
		f = calloc(1, sizeof(*f));
	if (!f)
		return err_set(err, -ENOMEM, "no memory to read a program");
	*file = f;
	f->st = st;
	f->result = read_places(fd, &f->places, &f->err);
	*err = f->err;
	return f->result;
}

static int attach(struct bpf_session *s, pid_t pid, int fd, const struct go_gc_places *places,
		  struct gc_probed *probed, struct err *err)
{
	struct probe_place at[GO_GC_MAX_PLACES];
	const struct probe_target target = { pid, fd, at, places->n };
	int r;

	for (u32 i = 0; i < places->n; i++)
		at[i] = (struct probe_place){ programs[places->at[i].probe], places->at[i].offset };
	r = bpf_session_probe(s, &target, &probed->probes, err);
	if (r)
		return r;
	probed->stops = places->stops;
	probed->workers = places->workers;
	snprintf(probed->why, sizeof(probed->why), "%s", places->why);
	return 0;
}

void gc_probes_attach(struct bpf_session *s, struct gc_file **file, pid_t pid, u32 slot,
		      struct gc_probed *ret_probed)
{
	struct gc_probed probed = { 0 };
	struct err err = { { 0 } };
	int fd = elf_open_pid(pid, &err);
	int r = fd < 0 ? fd : find_places(fd, file, &err);

	if (!r && !bpf_session_counts_go_gc(s, slot))
		r = err_set(&err, -ENOSPC, "too many processes are observed with details");
	r = r ? r : attach(s, pid, fd, &(*file)->places, &probed, &err);
	if (fd >= 0)
		close(fd);
	/* No Go program, no program of 64 bits, and one that has ended, are no failure. */
	if (r && r != -ENOENT && r != -EINVAL && r != -ESRCH)
		snprintf(probed.why, sizeof(probed.why), "%.150s", err.text);
	*ret_probed = probed;
}

void gc_probes_detach(struct gc_probed *probed)
{
	bpf_probes_free(probed->probes);
	probed->probes = NULL;
}

void gc_probes_note(const struct gc_probed *probed, pid_t pid, struct gc_probes_sum *sum)
{
	sum->probed += probed->probes != NULL;
	if (*probed->why && !sum->missing++)
		snprintf(sum->why, sizeof(sum->why), "process %d: %.130s", (int)pid, probed->why);
}

void gc_probes_state(const struct gc_probes_sum *sum, struct group_state *state)
{
	if (!state->up)
		return; /* the kernel refused it, and the reason is there */
	state->up = sum->probed || !sum->missing;
	if (sum->missing)
		snprintf(state->reason, sizeof(state->reason), "%s", sum->why);
	else if (sum->probed)
		snprintf(state->reason, sizeof(state->reason), "uprobes in %u process%s",
			 sum->probed, sum->probed == 1 ? "" : "es");
	else
		snprintf(state->reason, sizeof(state->reason), "%s",
			 "no Go program that ran when observing began");
}
