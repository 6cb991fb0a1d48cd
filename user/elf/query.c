/* SPDX-License-Identifier: MIT */
/* Questions to an ELF file that is in memory: sections, symbols, addresses, notes. */
#include "user/elf/file.h"

#include <elf.h>
#include <string.h>

#define MAX_NAME     65536 /* Go's symbols of generic types are long */
#define SYMBOL_BYTES 24
#define PAGE_BYTES   4096
#define MAX_NOTES    1024

const struct elf_section *elf_find_section(const struct elf_file *file, const char *name)
{
	for (size_t i = 0; i < file->nr_sections; i++) {
		if (file->sections[i].name && !strcmp(file->sections[i].name, name))
			return &file->sections[i];
	}
	return NULL;
}

static const struct elf_section *find_type(const struct elf_file *file, u32 type)
{
	for (size_t i = 0; i < file->nr_sections; i++) {
		if (file->sections[i].type == type)
			return &file->sections[i];
	}
	return NULL;
}

/* Elf64_Sym: name 4, info 1, other 1, section 2, value 8, size 8. */
static bool parse_symbol(struct span at, const struct span *strings, struct elf_symbol *ret)
{
	u8 info, other;
	u32 name;

	if (!span_u32(&at, &name) || !span_u8(&at, &info) || !span_u8(&at, &other) ||
	    !span_u16(&at, &ret->section) || !span_u64(&at, &ret->vaddr) ||
	    !span_u64(&at, &ret->n_bytes))
		return false;
	ret->type = ELF64_ST_TYPE(info);
	ret->bind = ELF64_ST_BIND(info);
	return span_cstring_at(strings, name, MAX_NAME, &ret->name);
}

bool elf_next_symbol(const struct elf_file *file, bool dynamic, u64 *cursor,
		     struct elf_symbol *ret_symbol)
{
	const struct elf_section *table = find_type(file, dynamic ? SHT_DYNSYM : SHT_SYMTAB);
	struct elf_symbol symbol;
	struct span at;

	if (!table || table->link >= file->nr_sections)
		return false;
	while (span_slice(&table->bytes, *cursor * SYMBOL_BYTES, SYMBOL_BYTES, &at)) {
		(*cursor)++;
		if (!parse_symbol(at, &file->sections[table->link].bytes, &symbol))
			continue;
		*ret_symbol = symbol;
		return true;
	}
	return false;
}

bool elf_find_symbol(const struct elf_file *file, const char *name, struct elf_symbol *ret_symbol)
{
	struct elf_symbol symbol;
	u64 cursor = 0;

	while (elf_next_symbol(file, false, &cursor, &symbol)) {
		if (symbol.section == SHN_UNDEF || strcmp(symbol.name, name) != 0)
			continue;
		*ret_symbol = symbol;
		return true;
	}
	return false;
}

static const struct elf_segment *segment_at(const struct elf_file *file, u64 vaddr)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (s->type == PT_LOAD && vaddr >= s->vaddr && vaddr - s->vaddr < s->file_bytes)
			return s;
	}
	return NULL;
}

bool elf_vaddr_to_offset(const struct elf_file *file, u64 vaddr, u64 *ret_offset)
{
	const struct elf_segment *s = segment_at(file, vaddr);

	if (!s || __builtin_add_overflow(s->offset, vaddr - s->vaddr, ret_offset))
		return false;
	return true;
}

bool elf_read_from_vaddr(const struct elf_file *file, u64 vaddr, struct span *ret_bytes)
{
	const struct elf_segment *s = segment_at(file, vaddr);
	struct span whole;
	u64 n;

	if (!s || s->offset > file->image.n)
		return false;
	n = file->image.n - s->offset;
	if (n > s->file_bytes)
		n = s->file_bytes;
	return span_slice(&file->image, s->offset, n, &whole) &&
	       span_from(&whole, vaddr - s->vaddr, ret_bytes);
}

bool elf_read_vaddr(const struct elf_file *file, u64 vaddr, u64 n, struct span *ret_bytes)
{
	struct span rest;

	return elf_read_from_vaddr(file, vaddr, &rest) && span_slice(&rest, 0, n, ret_bytes);
}

bool elf_base_vaddr(const struct elf_file *file, u64 *ret_vaddr)
{
	bool found = false;
	u64 base = 0;

	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (s->type != PT_LOAD || (found && s->vaddr - s->offset >= base))
			continue;
		base = s->vaddr - s->offset;
		found = true;
	}
	if (found)
		*ret_vaddr = base & ~(u64)(PAGE_BYTES - 1);
	return found;
}

/* Elf64_Nhdr: owner size 4, descriptor size 4, type 4; then both, each padded to 4. */
static bool find_in_notes(struct span notes, const char *owner, u32 type, struct span *ret_desc)
{
	for (int i = 0; i < MAX_NOTES; i++) {
		struct span name, desc;
		u32 name_n, desc_n, found_type;

		if (!span_u32(&notes, &name_n) || !span_u32(&notes, &desc_n) ||
		    !span_u32(&notes, &found_type) || !span_take(&notes, name_n, &name) ||
		    !span_skip(&notes, -name_n & 3u) || !span_take(&notes, desc_n, &desc))
			return false;
		if (found_type == type && name.n == strlen(owner) + 1 &&
		    !memcmp(name.at, owner, name.n)) {
			*ret_desc = desc;
			return true;
		}
		if (!span_skip(&notes, -desc_n & 3u))
			return false;
	}
	return false;
}

bool elf_find_note(const struct elf_file *file, const char *owner, u32 type, struct span *ret_desc)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];
		struct span notes;

		if (s->type == PT_NOTE &&
		    span_slice(&file->image, s->offset, s->file_bytes, &notes) &&
		    find_in_notes(notes, owner, type, ret_desc))
			return true;
	}
	return false;
}

static bool has_segment(const struct elf_file *file, u32 type)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		if (file->segments[i].type == type)
			return true;
	}
	return false;
}

bool elf_is_dynamic(const struct elf_file *file)
{
	return has_segment(file, PT_INTERP);
}

bool elf_is_pie(const struct elf_file *file)
{
	return file->type == ET_DYN;
}

/* DT_FLAGS_1 of the dynamic section: pairs of a tag and a value, 8 bytes each (gABI). */
static u64 dynamic_flags(const struct elf_file *file)
{
	struct span at = { 0 };
	u64 tag, value;

	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (s->type == PT_DYNAMIC)
			(void)span_slice(&file->image, s->offset, s->file_bytes,
					 &at); /* else none */
	}
	while (span_u64(&at, &tag) && span_u64(&at, &value) && tag != DT_NULL) {
		if (tag == DT_FLAGS_1)
			return value;
	}
	return 0;
}

bool elf_is_library(const struct elf_file *file)
{
	return file->type == ET_DYN && !elf_is_dynamic(file) && !(dynamic_flags(file) & DF_1_PIE);
}

bool elf_has_symtab(const struct elf_file *file)
{
	const struct elf_section *table = find_type(file, SHT_SYMTAB);

	return table && table->bytes.n;
}

bool elf_has_dwarf(const struct elf_file *file)
{
	return elf_find_section(file, ".debug_info") || elf_find_section(file, ".zdebug_info");
}
