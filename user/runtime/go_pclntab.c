/* SPDX-License-Identifier: MIT */
/* Header and functions of Go's table of functions. Lines and inlined calls are in go_pcline.c. */
#include "user/runtime/go_pclntab.h"

#include <errno.h>
#include <string.h>

#include "user/runtime/go_pclntab_impl.h"

/*
 * The header (pcHeader; W is a pointer, 8 bytes):
 *
 * 1.16  1.18+  SIZE MEANING
 *    0      0     4 magic
 *    4      4     2 zero
 *    6      6     1 quantum: 1 on x86, 4 on arm64
 *    7      7     1 size of a pointer
 *    8      8     W number of functions
 *   16     16     W number of files
 *    -     24     W text start; 0 from 1.26 on, since it would need a relocation
 *   24     32     W offset of the names
 *   32     40     W offset of the compilation units' file indices
 *   40     48     W offset of the file names
 *   48     56     W offset of the pc tables
 *   56     64     W offset of the functions
 *
 * The functions begin with their table: pairs of entry and record offset, sorted, and the end of
 * the last function behind them. Up to 1.16 (1.17) both are pointers and the entry is an address;
 * then they have 4 bytes and the entry is relative to the text start.
 *
 * Source: Go src/cmd/link/internal/ld/pcln.go, writePcHeader and writeFuncTab.
 */
static const struct {
	u32 magic;
	enum go_pclntab_layout layout;
} magics[] = {
	{ 0xfffffffa, GO_PCLNTAB_1_16 },
	{ 0xfffffff0, GO_PCLNTAB_1_18 },
	{ 0xfffffff1, GO_PCLNTAB_1_20 },
};
#define MAGIC_1_2 0xfffffffb

/* No program comes near; more are refused before anything loops over them. */
#define MAX_FUNCTIONS (16u << 20)
#define MAX_NAME      (64u << 10)

static int parse_magic(struct span *at, struct go_pclntab *tab, struct err *err)
{
	u8 pointer;
	u16 zero;
	u32 magic;

	if (!span_u32(at, &magic) || !span_u16(at, &zero) || !span_u8(at, &tab->quantum) ||
	    !span_u8(at, &pointer))
		return err_set(err, -EBADMSG, "its Go function table is cut off");
	if (magic == MAGIC_1_2)
		return err_set(err, -EBADMSG, "its Go function table is of a version before 1.16");
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		if (magics[i].magic != magic)
			continue;
		if (zero || pointer != 8 || (tab->quantum != 1 && tab->quantum != 4))
			break;
		tab->layout = magics[i].layout;
		return 0;
	}
	return err_set(err, -EBADMSG, "its Go function table is of an unknown kind (magic 0x%08x)",
		       magic);
}

int go_pclntab_parse(struct span table, struct go_pclntab *ret_tab, struct err *err)
{
	struct go_pclntab tab = { .table = table };
	u64 functions, files, names, units, file_names, pcs, records, text_start = 0;
	struct span at = table, part;
	int r = parse_magic(&at, &tab, err);

	if (r)
		return r;
	if (!span_u64(&at, &functions) || !span_u64(&at, &files) ||
	    (tab.layout >= GO_PCLNTAB_1_18 && !span_u64(&at, &text_start)) ||
	    !span_u64(&at, &names) || !span_u64(&at, &units) || !span_u64(&at, &file_names) ||
	    !span_u64(&at, &pcs) || !span_u64(&at, &records))
		return err_set(err, -EBADMSG, "its Go function table is cut off");
	/* The parts follow each other; each ends at the latest where the table ends. */
	if (!span_from(&table, names, &tab.names) || !span_from(&table, units, &tab.units) ||
	    !span_from(&table, file_names, &tab.files) || !span_from(&table, pcs, &tab.pcs) ||
	    !span_from(&table, records, &tab.functions))
		return err_set(err, -EBADMSG, "its Go function table has parts outside of itself");
	if (!functions || functions > MAX_FUNCTIONS ||
	    !span_slice(&tab.functions, 0, (2 * functions + 1) * go_pclntab_entry_bytes(&tab),
			&part))
		return err_set(err, -EBADMSG, "its Go function table claims %llu functions",
			       functions);
	tab.nr_functions = (u32)functions;
	tab.text_start = text_start;
	*ret_tab = tab;
	return 0;
}

u32 go_pclntab_entry_bytes(const struct go_pclntab *tab)
{
	return tab->layout >= GO_PCLNTAB_1_18 ? 4 : 8;
}

/* Address of function number @index; of @nr_functions it is the end of the last one. */
static bool function_address(const struct go_pclntab *tab, u32 index, u64 *ret_vaddr)
{
	u32 size = go_pclntab_entry_bytes(tab);
	struct span at;
	u64 entry;

	if (index > tab->nr_functions || !span_from(&tab->functions, 2ull * index * size, &at) ||
	    !span_uint(&at, size, &entry))
		return false;
	*ret_vaddr = tab->layout >= GO_PCLNTAB_1_18 ? tab->text_start + entry : entry;
	return true;
}

bool go_pclntab_function(const struct go_pclntab *tab, u32 index, struct go_function *ret_function)
{
	u32 size = go_pclntab_entry_bytes(tab);
	struct go_function f = { .index = index };
	struct span at;
	u64 offset, end;
	u32 name;

	if (index >= tab->nr_functions || !function_address(tab, index, &f.vaddr) ||
	    !function_address(tab, index + 1, &end) || end < f.vaddr ||
	    !span_from(&tab->functions, (2ull * index + 1) * size, &at) ||
	    !span_uint(&at, size, &offset) || offset > (u32)-1)
		return false;
	f.n_bytes = end - f.vaddr;
	f.offset = (u32)offset;
	if (!span_from(&tab->functions, offset, &at) || !span_skip(&at, size) ||
	    !span_u32(&at, &name) || !span_cstring_at(&tab->names, name, MAX_NAME, &f.name))
		return false;
	*ret_function = f;
	return true;
}

int go_pclntab_find_pc(const struct go_pclntab *tab, u64 pc, struct go_function *ret_function)
{
	u32 low = 0,
	    high = tab->nr_functions; /* the last that begins at or before pc is in [low, high) */
	struct go_function f;
	u64 vaddr, end;

	if (!function_address(tab, 0, &vaddr) || !function_address(tab, high, &end))
		return -EBADMSG;
	if (pc < vaddr || pc >= end)
		return -ENOENT;
	while (high - low > 1) {
		u32 middle = low + (high - low) / 2;

		if (!function_address(tab, middle, &vaddr))
			return -EBADMSG;
		if (vaddr <= pc)
			low = middle;
		else
			high = middle;
	}
	/* Bounds of an unsorted table mean nothing. */
	if (!go_pclntab_function(tab, low, &f) || pc < f.vaddr || pc - f.vaddr >= f.n_bytes)
		return -EBADMSG;
	*ret_function = f;
	return 0;
}

int go_pclntab_find_name(const struct go_pclntab *tab, const char *name,
			 struct go_function *ret_function)
{
	struct go_function f;

	for (u32 i = 0; i < tab->nr_functions; i++) {
		if (!go_pclntab_function(tab, i, &f) || strcmp(f.name, name) != 0)
			continue;
		*ret_function = f;
		return 0;
	}
	return -ENOENT;
}
