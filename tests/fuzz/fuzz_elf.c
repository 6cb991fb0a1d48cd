/* SPDX-License-Identifier: MIT */
/* An ELF file may be anything: every question to it is answered inside of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/elf/file.h"
#include "user/elf/reloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check_inside(const struct elf_file *f, const struct span *part)
{
	if (part->n && (part->at < f->image.at || part->at + part->n > f->image.at + f->image.n))
		abort();
}

static void ask(const struct elf_file *f)
{
	struct elf_pointer_cursor pointer = { 0 };
	struct elf_symbol symbol;
	struct span part = { 0 };
	u64 cursor = 0, value, longest = 0;

	for (size_t i = 0; i < f->nr_sections; i++)
		check_inside(f, &f->sections[i].bytes);
	for (size_t i = 0; i < f->nr_segments; i++) {
		if (elf_read_from_vaddr(f, f->segments[i].vaddr, &part))
			check_inside(f, &part);
	}
	if (elf_find_note(f, "GNU", 3, &part))
		check_inside(f, &part);
	while (elf_next_symbol(f, false, &cursor, &symbol))
		longest += strlen(symbol.name);
	if (longest > f->image.n * (cursor + 1))
		abort();
	(void)elf_base_vaddr(f, &value);
	for (int i = 0; i < 16 && elf_next_pointer_to(f, f->entry, &pointer, &value); i++)
		(void)elf_read_pointer(f, value, &value);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	u8 *copy = malloc(n ? n : 1);
	struct elf_file f;

	if (!copy)
		return 0;
	memcpy(copy, bytes, n);
	if (!elf_file_parse(copy, n, &f, NULL))
		ask(&f);
	elf_file_done(&f);
	return 0;
}
