/* SPDX-License-Identifier: MIT */
/* From an open file to what is known of it. Knows the list of runtimes and nothing true of one
 * alone. */
#include "user/runtime/runtime.h"

#include <stdio.h>
#include <string.h>

#include "user/elf/file.h"

#define NOTE_GNU_BUILD_ID 3

static const struct runtime_ops *const runtimes[] = { &runtime_go };

static void copy_build_id(const struct elf_file *file, struct target_file *f)
{
	struct span note;

	if (!elf_find_note(file, "GNU", NOTE_GNU_BUILD_ID, &note))
		return;
	for (size_t i = 0; i < note.n && 2 * i + 3 <= sizeof(f->build_id); i++)
		snprintf(f->build_id + 2 * i, 3, "%02x", note.at[i]);
}

static void describe(const struct elf_file *file, struct target_file *f)
{
	f->n_bytes = file->image.n;
	f->whole_bytes = file->whole_bytes;
	f->type = file->type;
	f->machine = file->machine;
	f->library = elf_is_library(file);
	f->dynamic = elf_is_dynamic(file);
	f->pie = elf_is_pie(file);
	f->symtab = elf_has_symtab(file);
	f->dwarf = elf_has_dwarf(file);
	(void)elf_base_vaddr(file, &f->base_vaddr); /* else it stays 0 */
	copy_build_id(file, f);
}

int target_read(int fd, const struct target_request *request, struct target *ret_target,
		struct err *err)
{
	struct elf_file file;
	int r = elf_file_read(fd, &file, err);

	if (r)
		goto out;
	*ret_target = (struct target){ 0 };
	describe(&file, &ret_target->file);
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++) {
		if (!runtimes[i]->match(&file, ret_target))
			continue;
		snprintf(ret_target->runtime, sizeof(ret_target->runtime), "%s", runtimes[i]->name);
		runtimes[i]->layout(&file, request, ret_target);
		runtimes[i]->resolve(&file, request, ret_target);
		break;
	}
out:
	elf_file_done(&file);
	return r;
}
