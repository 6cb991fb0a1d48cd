/* SPDX-License-Identifier: MIT */
/* Pointers in the data of an ELF file. Knows nothing of what they point to. */
#include "user/elf/reloc.h"

#include <elf.h>

#define RELA_BYTES 24 /* offset 8, info 8, addend 8 */
#define DYN_BYTES  16 /* tag 8, value 8 */
#define MAX_DYN	   256

static bool dynamic_value(const struct elf_file *file, u64 tag, u64 *ret_value)
{
	struct span table = { 0 };

	for (size_t i = 0; i < file->nr_segments; i++) {
		if (file->segments[i].type == PT_DYNAMIC)
			(void)span_slice(&file->image, file->segments[i].offset,
					 file->segments[i].file_bytes, &table); /* else empty */
	}
	for (int i = 0; i < MAX_DYN; i++) {
		u64 found, value;

		if (!span_u64(&table, &found) || !span_u64(&table, &value) || found == DT_NULL)
			return false;
		if (found != tag)
			continue;
		*ret_value = value;
		return true;
	}
	return false;
}

/* The relocations with an addend; empty if there are none. */
static struct span relocations(const struct elf_file *file)
{
	struct span table = { 0 };
	u64 vaddr, n;

	if (dynamic_value(file, DT_RELA, &vaddr) && dynamic_value(file, DT_RELASZ, &n))
		(void)elf_read_vaddr(file, vaddr, n, &table); /* else empty */
	return table;
}

static bool is_relative(const struct elf_file *file, u64 info)
{
	switch (file->machine) {
	case EM_X86_64:
		return info == R_X86_64_RELATIVE;
	case EM_AARCH64:
		return info == R_AARCH64_RELATIVE;
	default:
		return false;
	}
}

/* Read the next relative relocation. */
static bool next_relative(const struct elf_file *file, const struct span *table, u64 *cursor,
			  u64 *ret_offset, u64 *ret_addend)
{
	struct span at;
	u64 info;

	while (span_slice(table, *cursor * RELA_BYTES, RELA_BYTES, &at)) {
		u64 offset, addend;

		(*cursor)++;
		if (!span_u64(&at, &offset) || !span_u64(&at, &info) || !span_u64(&at, &addend) ||
		    !is_relative(file, info))
			continue;
		*ret_offset = offset;
		*ret_addend = addend;
		return true;
	}
	return false;
}

bool elf_read_pointer(const struct elf_file *file, u64 vaddr, u64 *ret_value)
{
	struct span table = relocations(file), word;
	u64 cursor = 0, offset, addend;

	while (next_relative(file, &table, &cursor, &offset, &addend)) {
		if (offset != vaddr)
			continue;
		*ret_value = addend;
		return true;
	}
	return elf_read_vaddr(file, vaddr, sizeof(u64), &word) && span_u64(&word, ret_value);
}

static bool next_in_place(const struct elf_file *file, u64 value, struct elf_pointer_cursor *cursor,
			  u64 *ret_vaddr)
{
	for (; cursor->segment < file->nr_segments; cursor->segment++, cursor->offset = 0) {
		const struct elf_segment *s = &file->segments[cursor->segment];
		struct span data;
		u64 word;

		if (s->type != PT_LOAD || !(s->flags & PF_W) || s->vaddr % sizeof(u64) ||
		    !elf_read_from_vaddr(file, s->vaddr, &data) ||
		    !span_skip(&data, cursor->offset))
			continue;
		while (span_u64(&data, &word)) {
			cursor->offset += sizeof(u64);
			if (word != value)
				continue;
			*ret_vaddr = s->vaddr + cursor->offset - sizeof(u64);
			return true;
		}
	}
	return false;
}

bool elf_next_pointer_to(const struct elf_file *file, u64 value, struct elf_pointer_cursor *cursor,
			 u64 *ret_vaddr)
{
	struct span table = relocations(file);
	u64 offset, addend;

	while (next_relative(file, &table, &cursor->reloc, &offset, &addend)) {
		if (addend != value)
			continue;
		*ret_vaddr = offset;
		return true;
	}
	return next_in_place(file, value, cursor, ret_vaddr);
}
