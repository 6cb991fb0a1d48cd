/* SPDX-License-Identifier: MIT */
/*
 * DWARF of any file, through libdw. A finding in the library is the library's; it costs one
 * target's offsets, as the worker that reads it may die.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/elf/dwarf.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct dwarf_member members[] = {
		{ .type = "s", .member = "b" },
		{ .type = "s", .member = "c[1].a" },
		{ .type = "runtime.g", .member = "goid" },
	};
	u8 *copy = malloc(n ? n : 1);
	struct elf_file f;

	if (!copy)
		return 0;
	memcpy(copy, bytes, n);
	if (!elf_file_parse(copy, n, &f, NULL))
		(void)dwarf_find_members(&f, members, 3, NULL);
	elf_file_done(&f);
	return 0;
}
