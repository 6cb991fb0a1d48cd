/* SPDX-License-Identifier: MIT */
/* Lines and inlined calls of Go's table of functions. */
#include "user/runtime/go_pclntab.h"

#include <errno.h>

#include "user/runtime/go_pclntab_impl.h"

/*
 * A function's record (_func; W is 8 bytes up to 1.17, then 4):
 *
 * SIZE MEANING
 *    W entry
 *    4 offset of the name
 *    4 bytes of arguments
 *    4 where deferred calls return to
 *    4 pc table of the stack pointer
 *    4 pc table of the file
 *    4 pc table of the line
 *    4 number of pcdata tables
 *    4 first index of its unit
 *    4 first line (from 1.20 on)
 *    1 function id
 *    1 flags
 *    1 zero
 *    1 number of funcdata
 *    4 pc table, for each pcdata
 *    4 offset from gofunc, or ~0, for each funcdata (up to 1.17 an aligned address)
 *
 * A pc table is a list of (uvarint value difference, zigzag; uvarint pc difference in quanta). It
 * begins with value -1 at the entry; each pair gives the value up to the pc that it leads to.
 *
 * Source: Go src/runtime/runtime2.go (_func), symtab.go (pcvalue), symtabinl.go (inlinedCall).
 */
#define PCDATA_INLINE_TREE_INDEX 2
#define FUNCDATA_INLINE_TREE	 3
#define NO_FUNCDATA		 0xffffffffu
#define MAX_FUNCDATA		 64
#define MAX_PCDATA		 64

#define MAX_FILE_NAME (16u << 10)

struct record {
	u64 entry;
	u32 pc_file, pc_line, pc_inline; /* offset of the pc table; 0 is none */
	u32 unit;
	struct span inline_tree; /* empty if there is none */
};

static bool read_record(const struct go_pclntab *tab, const struct go_function *f,
			struct record *ret_record)
{
	u32 args, deferreturn, pc_stack, nr_pcdata, start_line, offset = NO_FUNCDATA;
	struct record r = { .entry = f->vaddr };
	u8 id, flags, zero, nr_funcdata;
	struct span at, part;

	/* The entry, and the offset of the name. */
	if (!span_from(&tab->functions, f->offset, &at) ||
	    !span_skip(&at, go_pclntab_entry_bytes(tab) + 4) || !span_u32(&at, &args) ||
	    !span_u32(&at, &deferreturn) || !span_u32(&at, &pc_stack) ||
	    !span_u32(&at, &r.pc_file) || !span_u32(&at, &r.pc_line) ||
	    !span_u32(&at, &nr_pcdata) || !span_u32(&at, &r.unit) ||
	    (tab->layout >= GO_PCLNTAB_1_20 && !span_u32(&at, &start_line)) || !span_u8(&at, &id) ||
	    !span_u8(&at, &flags) || !span_u8(&at, &zero) || !span_u8(&at, &nr_funcdata) ||
	    nr_pcdata > MAX_PCDATA || nr_funcdata > MAX_FUNCDATA ||
	    !span_take(&at, 4ull * nr_pcdata, &part))
		return false;
	if (nr_pcdata > PCDATA_INLINE_TREE_INDEX)
		(void)span_u32_at(&part, 4ull * PCDATA_INLINE_TREE_INDEX,
				  &r.pc_inline); /* it is there */
	if (tab->layout >= GO_PCLNTAB_1_18 && nr_funcdata > FUNCDATA_INLINE_TREE &&
	    !span_u32_at(&at, 4ull * FUNCDATA_INLINE_TREE, &offset))
		return false;
	if (offset != NO_FUNCDATA)
		(void)span_from(&tab->gofunc, offset, &r.inline_tree); /* else empty */
	*ret_record = r;
	return true;
}

/* The value of a pc table at @pc. -1 if there is no table or it ends before, as for Go's runtime.
 */
static bool pc_value(const struct go_pclntab *tab, u32 table, u64 entry, u64 pc, s32 *ret_value)
{
	u32 value = (u32)-1; /* wraps, as in Go */
	struct span at;
	u64 upto = entry;

	*ret_value = -1;
	if (!table)
		return true;
	if (!span_from(&tab->pcs, table, &at))
		return false;
	for (;;) {
		u64 zigzag, quanta;

		if (!span_uvarint(&at, &zigzag))
			return false;
		if (!zigzag && upto != entry)
			return true;
		if (!span_uvarint(&at, &quanta) || quanta > 0xffffffff)
			return false;
		value += (u32)(zigzag & 1 ? ~(zigzag >> 1) : zigzag >> 1);
		upto += quanta * tab->quantum;
		if (pc < upto) {
			*ret_value = (s32)value;
			return true;
		}
	}
}

/* File and line at @pc; the innermost call's. */
static bool source_line(const struct go_pclntab *tab, const struct record *r, u64 pc,
			struct go_frame *frame)
{
	s32 file, line;
	u32 name;

	frame->file = "";
	frame->line = 0;
	if (!pc_value(tab, r->pc_file, r->entry, pc, &file) ||
	    !pc_value(tab, r->pc_line, r->entry, pc, &line))
		return false;
	if (file < 0 || line < 0)
		return true; /* the compiler made it */
	if (!span_u32_at(&tab->units, 4ull * (r->unit + (u64)file), &name))
		return false;
	if (name == NO_FUNCDATA)
		return true;
	frame->line = (u32)line;
	return span_cstring_at(&tab->files, name, MAX_FILE_NAME, &frame->file);
}

/*
 * An inlined call:
 *
 * 1.18  1.20  SIZE MEANING
 *    0     -     2 index of the call that it is inlined into
 *    2     0     1 function id
 *    -     4     4 offset of the name
 *    4     -     4 file
 *    8     -     4 line
 *   12     -     4 offset of the name
 *   16     8     4 pc of the call in its caller, from the entry
 *    -    12     4 first line
 */
static bool read_inlined(const struct go_pclntab *tab, const struct record *r, u32 index,
			 const char **ret_name, u64 *ret_parent_pc)
{
	bool old = tab->layout < GO_PCLNTAB_1_20;
	u64 at = (u64)index * (old ? 20 : 16);
	u32 name, parent_pc;

	if (!span_u32_at(&r->inline_tree, at + (old ? 12 : 4), &name) ||
	    !span_u32_at(&r->inline_tree, at + (old ? 16 : 8), &parent_pc) ||
	    !span_cstring_at(&tab->names, name, 64u << 10, ret_name))
		return false;
	*ret_parent_pc = r->entry + parent_pc;
	return true;
}

int go_pclntab_frames(const struct go_pclntab *tab, u64 pc, struct go_frame *frames, u32 max,
		      u32 *ret_n)
{
	struct go_function f;
	struct record record;
	u32 n = 0;
	int r = go_pclntab_find_pc(tab, pc, &f);

	if (r)
		return r;
	if (!read_record(tab, &f, &record))
		return -EBADMSG;
	while (n < max) {
		s32 index = -1;
		u64 parent_pc;

		if (!source_line(tab, &record, pc, &frames[n]))
			return -EBADMSG;
		frames[n].function = f.name;
		if (record.inline_tree.n &&
		    !pc_value(tab, record.pc_inline, record.entry, pc, &index))
			return -EBADMSG;
		if (index < 0) {
			n++;
			break;
		}
		if (!read_inlined(tab, &record, (u32)index, &frames[n].function, &parent_pc))
			return -EBADMSG;
		n++;
		pc = parent_pc;
	}
	*ret_n = n;
	return 0;
}
