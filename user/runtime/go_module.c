/* SPDX-License-Identifier: MIT */
/* Finding Go's function table and module data in a linked file, stripped or not. */
#include "user/runtime/go_module.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "user/elf/reloc.h"

const char *const go_text_source_names[NR_GO_TEXT_SOURCES] = {
	[GO_TEXT_ABSOLUTE] = "the table itself",
	[GO_TEXT_HEADER] = "the table's header",
	[GO_TEXT_MODULE] = "the module data",
	[GO_TEXT_SYMBOL] = "the symbol runtime.text",
};

/*
 * The begin of the module data (runtime.moduledata), the same from 1.16 to 1.27:
 *
 * OFFSET SIZE MEANING
 *      0    8 address of the function table's header
 *      8  144 six slices: names, units, files, pcs, functions, table of functions
 *    152    8 findfunctab
 *    160   16 lowest and highest pc
 *    176   16 text, end of text
 *
 * What follows differs between versions.
 */
#define MODULE_NAMES  8
#define MODULE_MIN_PC 160
#define MODULE_MAX_PC 168
#define MODULE_TEXT   176

/* Offset of the text start in the function table's header (go_pclntab.c). */
#define HEADER_TEXT_START 24

/* Candidates looked at. In a program there is one place that has the address and is the module
 * data. */
#define MAX_CANDIDATES 64
#define MAX_TABLES     256

static bool take_table(u64 vaddr, const struct span *bytes, struct go_module *m, struct err *err)
{
	if (go_pclntab_parse(*bytes, &m->functions, err))
		return false;
	m->pclntab_vaddr = vaddr;
	return true;
}

/* Without a section or a symbol: at a multiple of 8 in what is loaded. */
static bool search_table(const struct elf_file *file, struct go_module *m)
{
	static const u8 ends[] = { 0xfa, 0xf0, 0xf1 };
	u32 looked_at = 0;

	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];
		struct span at;

		if (s->type != PT_LOAD || s->flags & PF_X ||
		    !elf_read_from_vaddr(file, s->vaddr, &at))
			continue;
		for (u64 vaddr = s->vaddr; at.n > 8; vaddr += 8, (void)span_skip(&at, 8)) {
			/* Magic, two zero bytes, quantum, size of a pointer. */
			if (!memchr(ends, at.at[0], sizeof(ends)) ||
			    memcmp(at.at + 1, "\xff\xff\xff\0\0", 5) != 0 || at.at[7] != 8)
				continue;
			if (take_table(vaddr, &at, m, NULL))
				return true;
			if (++looked_at == MAX_TABLES)
				return false;
		}
	}
	return false;
}

static int find_table(const struct elf_file *file, bool symbols, struct go_module *m,
		      struct err *err)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	struct elf_symbol symbol;
	struct span bytes;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct elf_section *s = elf_find_section(file, names[i]);

		if (!s || !s->bytes.n)
			continue;
		m->found_by = i ? "section .data.rel.ro.gopclntab" : "section .gopclntab";
		return take_table(s->vaddr, &s->bytes, m, err) ? 0 : -EBADMSG;
	}
	if (symbols && elf_find_symbol(file, "runtime.pclntab", &symbol) &&
	    elf_read_from_vaddr(file, symbol.vaddr, &bytes)) {
		m->found_by = "symbol runtime.pclntab";
		return take_table(symbol.vaddr, &bytes, m, err) ? 0 : -EBADMSG;
	}
	m->found_by = "its first bytes";
	if (search_table(file, m))
		return 0;
	return err_set(err, -ENOENT, "there is no Go function table in it");
}

/* Is this the module data of the table? Then its text start is taken. */
static bool is_module(const struct elf_file *file, const struct go_module *m, u64 vaddr,
		      u64 *ret_text)
{
	u64 names, min_pc, max_pc, text;
	u64 first = 0, last = 0;
	u32 size = m->functions.layout >= GO_PCLNTAB_1_18 ? 4 : 8;
	struct span at = m->functions.functions;

	if (!elf_read_pointer(file, vaddr + MODULE_NAMES, &names) ||
	    !elf_read_pointer(file, vaddr + MODULE_MIN_PC, &min_pc) ||
	    !elf_read_pointer(file, vaddr + MODULE_MAX_PC, &max_pc) ||
	    !elf_read_pointer(file, vaddr + MODULE_TEXT, &text))
		return false;
	if (!span_uint(&at, size, &first) ||
	    !span_skip(&at, (2ull * m->functions.nr_functions - 1) * size) ||
	    !span_uint(&at, size, &last))
		return false;
	if (names != m->pclntab_vaddr + (u64)(m->functions.names.at - m->functions.table.at))
		return false;
	*ret_text = text;
	if (size == 8)
		return min_pc == first && max_pc == last;
	return min_pc == text + first && max_pc == text + last;
}

static bool find_module(const struct elf_file *file, struct go_module *m, u64 *ret_text)
{
	struct elf_pointer_cursor cursor = { 0 };
	u64 vaddr;

	for (int i = 0;
	     i < MAX_CANDIDATES && elf_next_pointer_to(file, m->pclntab_vaddr, &cursor, &vaddr);
	     i++) {
		if (!is_module(file, m, vaddr, ret_text))
			continue;
		m->moduledata_vaddr = vaddr;
		return true;
	}
	return false;
}

/*
 * Where function addresses count from. With a C linker it is not where .text begins: C code comes
 * first. So the section is never asked.
 */
static int find_text(const struct elf_file *file, bool symbols, struct go_module *m,
		     struct err *err)
{
	struct elf_symbol symbol;
	u64 header = 0, text = 0;
	bool have_module = find_module(file, m, &text);

	if (m->functions.layout < GO_PCLNTAB_1_18) {
		m->text_source = GO_TEXT_ABSOLUTE;
		return 0;
	}
	/* A relocation fills the header of a position-independent file. */
	if (elf_read_pointer(file, m->pclntab_vaddr + HEADER_TEXT_START, &header) && header) {
		if (have_module && header != text)
			return err_set(err, -EBADMSG,
				       "its Go function table and its module data "
				       "differ about where the text starts");
		m->functions.text_start = header;
		m->text_source = GO_TEXT_HEADER;
	} else if (have_module) {
		m->functions.text_start = text;
		m->text_source = GO_TEXT_MODULE;
	} else if (symbols && elf_find_symbol(file, "runtime.text", &symbol)) {
		m->functions.text_start = symbol.vaddr;
		m->text_source = GO_TEXT_SYMBOL;
	} else {
		return err_set(err, -EBADMSG,
			       "where its text starts is in none of the places known: "
			       "table header, module data, symbol runtime.text");
	}
	return 0;
}

static void find_gofunc(const struct elf_file *file, s64 gofunc_offset, bool symbols,
			struct go_module *m)
{
	struct elf_symbol symbol;
	u64 vaddr = 0;

	if (gofunc_offset >= 0 && m->moduledata_vaddr) {
		if (!elf_read_pointer(file, m->moduledata_vaddr + (u64)gofunc_offset, &vaddr))
			return;
	} else if (symbols && (elf_find_symbol(file, "go:func.*", &symbol) ||
			       elf_find_symbol(file, "go.func.*", &symbol))) {
		vaddr = symbol.vaddr;
	}
	(void)elf_read_from_vaddr(file, vaddr, &m->functions.gofunc); /* else it stays empty */
}

int go_module_find(const struct elf_file *file, s64 gofunc_offset, bool symbols,
		   struct go_module *ret_module, struct err *err)
{
	struct go_module m = { 0 };
	int r = find_table(file, symbols, &m, err);

	if (!r)
		r = find_text(file, symbols, &m, err);
	if (r)
		return r;
	find_gofunc(file, gofunc_offset, symbols, &m);
	*ret_module = m;
	return 0;
}
