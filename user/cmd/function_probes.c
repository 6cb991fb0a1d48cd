/* SPDX-License-Identifier: MIT */
/* Which programs have probes in the functions of --interaction, and which do not, and why. */
#include "user/cmd/function_probes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/elf/file.h"
#include "user/runtime/go_function.h"
#include "user/runtime/owner.h"
#include "user/runtime/worker.h"

#define MAX_PLACES (1 + TARGET_MAX_RETURNS)

_Static_assert(MAX_PLACES <= BPF_MAX_PROBES, "room for each place");
_Static_assert(MAX_FUNCTIONS <= TARGET_MAX_WANTED, "all can be asked for at once");

/* Programs of bpf/hooks/uprobe_functions.bpf.c. */
static const char *const entry_programs[MAX_FUNCTIONS] = {
	"function_entry_0", "function_entry_1", "function_entry_2", "function_entry_3",
	"function_entry_4", "function_entry_5", "function_entry_6", "function_entry_7",
};

struct function_file {
	struct stat st;
	int result; /* of reading it */
	struct go_function_places places[MAX_FUNCTIONS];
	struct owner_how how;
	struct err err;
};

void function_file_free(struct function_file *file)
{
	free(file);
}

static int find_places(const struct target *target, const struct function_list *functions,
		       struct function_file *ret_file, struct err *err)
{
	int r = 0;

	for (u32 i = 0; i < functions->n && !r; i++)
		r = go_function_find_places(target, i, functions->names[i], &ret_file->places[i],
					    err);
	return r ? r : owner_of_target(target, &ret_file->how, err);
}

static int read_places(int fd, const struct function_list *functions,
		       struct function_file *ret_file, struct err *err)
{
	struct target_request *request = calloc(1, sizeof(*request));
	struct target *target = calloc(1, sizeof(*target));
	int r;

	if (request && target) {
		for (u32 i = 0; i < functions->n; i++)
			snprintf(request->wanted[i], sizeof(request->wanted[i]), "%s",
				 functions->names[i]);
		r = target_read_confined(fd, request, target, err);
		r = r ? r : find_places(target, functions, ret_file, err);
	} else {
		r = err_set(err, -ENOMEM, "no memory to read a program");
	}
	free(request);
	free(target);
	return r;
}

int function_probes_check(struct function_file **file, int fd,
			  const struct function_list *functions, struct err *err)
{
	struct function_file *f = *file;
	struct stat st;

	if (fstat(fd, &st))
		return err_set(err, -errno, "cannot look at its file: %s", strerror(errno));
	if (!f || !elf_file_is_same(&f->st, &st)) {
		f = f ? f : calloc(1, sizeof(*f));
		if (!f)
			return err_set(err, -ENOMEM, "no memory to read a program");
		*file = f;
		f->st = st;
		f->result = read_places(fd, functions, f, &f->err);
	}
	*err = f->err;
	return f->result;
}

/* In @process, whose places are not set. The returns first: an end is seen before the begin that it
 * belongs to. */
static int attach_one(struct bpf_session *s, const struct probe_target *process, u32 i,
		      const struct go_function_places *places, struct bpf_probes **ret_probes,
		      struct err *err)
{
	struct probe_place at[MAX_PLACES];
	const struct probe_target target = { process->pid, process->fd, at,
					     places->nr_returns + 1 };

	for (u32 k = 0; k < places->nr_returns; k++)
		at[k] = (struct probe_place){ "function_return", places->returns[k] };
	at[places->nr_returns] = (struct probe_place){ entry_programs[i], places->entry };
	return bpf_session_probe(s, &target, ret_probes, err);
}

void function_probes_attach(struct bpf_session *s, struct function_file **file, pid_t pid, u32 slot,
			    const struct function_list *functions,
			    struct function_probed *ret_probed)
{
	struct function_probed probed = { 0 };
	struct err err = { { 0 } };
	int fd = elf_open_pid(pid, &err);
	int r = fd < 0 ? fd : function_probes_check(file, fd, functions, &err);
	const struct probe_target process = { .pid = pid, .fd = fd };

	if (!r)
		r = bpf_session_set_owner(s, slot, &(*file)->how, &err);
	/* One that has ended is no failure. */
	if (r && r != -ENOENT && r != -ESRCH)
		snprintf(probed.why, sizeof(probed.why), "%.250s", err.text);
	probed.unfit = r == -ENOTSUP;
	for (u32 i = 0; i < functions->n && !r; i++) {
		r = attach_one(s, &process, i, &(*file)->places[i], &probed.probes[i], &err);
		if (r && r != -ESRCH)
			snprintf(probed.why, sizeof(probed.why), "%.100s: %.140s",
				 functions->names[i], err.text);
	}
	probed.all = !r;
	if (r)
		function_probes_detach(&probed);
	if (fd >= 0)
		close(fd);
	*ret_probed = probed;
}

void function_probes_detach(struct function_probed *probed)
{
	for (u32 i = 0; i < MAX_FUNCTIONS; i++) {
		bpf_probes_free(probed->probes[i]);
		probed->probes[i] = NULL;
	}
	probed->all = false;
}

void function_probes_note(const struct function_probed *probed, pid_t pid,
			  struct gc_probes_sum *sum)
{
	sum->probed += probed->all;
	if (*probed->why && !sum->missing++)
		snprintf(sum->why, sizeof(sum->why), "process %d: %.130s", (int)pid, probed->why);
}
