/* SPDX-License-Identifier: MIT */
/* From what the file of a program says to how its work is told apart. */
#include "user/cmd/owner.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/elf/file.h"
#include "user/runtime/worker.h"

static int go_owner(const struct target *target, struct owner_how *ret_how, struct err *err)
{
	const struct go_target *go = &target->go;
	const s32 *at = go->offsets;

	if (target->file.machine != EM_X86_64)
		return err_set(err, -ENOTSUP, "goroutines are only told apart on x86-64");
	if (go->layout == TARGET_LAYOUT_NONE)
		return err_set(err, -ENOTSUP, "%s: %.150s", go->version_text, go->layout_why);
	if (at[GO_FIELD_G_M] < 0 || at[GO_FIELD_M_G0] < 0 || at[GO_FIELD_M_CURG] < 0)
		return err_set(err, -ENOTSUP, "%s: it is not known where a goroutine's thread is",
			       go->version_text);
	*ret_how = (struct owner_how){ .mode = OWNER_GO,
				       .g_m = (u32)at[GO_FIELD_G_M],
				       .m_g0 = (u32)at[GO_FIELD_M_G0],
				       .m_curg = (u32)at[GO_FIELD_M_CURG] };
	return 0;
}

int owner_of(pid_t pid, struct owner_how *ret_how, struct err *err)
{
	const struct target_request request = { 0 };
	struct target *target;
	int fd, r;

	fd = elf_open_pid(pid, err);
	if (fd < 0)
		return fd;
	target = calloc(1, sizeof(*target));
	if (!target) {
		close(fd);
		return err_set(err, -ENOMEM, "no memory to read a program");
	}
	r = target_read_confined(fd, &request, target, err);
	close(fd);
	*ret_how = (struct owner_how){ .mode = OWNER_THREAD };
	if (!r && !strcmp(target->runtime, "Go"))
		r = go_owner(target, ret_how, err);
	free(target);
	return r;
}
