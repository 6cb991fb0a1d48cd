/* SPDX-License-Identifier: MIT */
/* Which goroutine a thread runs is in members of Go's structures, whose places differ by release.
 */
#include "user/runtime/owner.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

static int go_owner(const struct target *target, struct owner_how *ret_how, struct err *err)
{
	const struct go_target *go = &target->go;
	const s32 *at = go->offsets;

	if (target->file.machine != EM_X86_64)
		return err_set(err, -ENOTSUP, "goroutines are only told apart on x86-64");
	if (go->layout == TARGET_LAYOUT_NONE)
		return err_set(err, -ENOTSUP, "%s: %.150s", go->version_text, go->layout_why);
	if (at[GO_FIELD_G_M] < 0 || at[GO_FIELD_M_G0] < 0 || at[GO_FIELD_M_CURG] < 0 ||
	    at[GO_FIELD_G_GOID] < 0 || at[GO_FIELD_G_ATOMICSTATUS] < 0)
		return err_set(err, -ENOTSUP, "%s: it is not known where a goroutine's thread is",
			       go->version_text);
	*ret_how = (struct owner_how){ .mode = OWNER_GO,
				       .g_m = (u32)at[GO_FIELD_G_M],
				       .m_g0 = (u32)at[GO_FIELD_M_G0],
				       .m_curg = (u32)at[GO_FIELD_M_CURG],
				       .g_goid = (u32)at[GO_FIELD_G_GOID],
				       .g_status = (u32)at[GO_FIELD_G_ATOMICSTATUS] };
	return 0;
}

int owner_of_target(const struct target *target, struct owner_how *ret_how, struct err *err)
{
	*ret_how = (struct owner_how){ .mode = OWNER_THREAD };
	return strcmp(target->runtime, runtime_go.name) ? 0 : go_owner(target, ret_how, err);
}
