/* SPDX-License-Identifier: MIT */
/* Go's function table, on one of two functions written by hand. */
#include "tests/lib/check.h"

#include <errno.h>

#include "user/runtime/go_pclntab.h"

#define TEXT 0x401000

/*
 * main.f at 0x401000, 0x20 bytes, in a.go; its line is 10 up to +8, then 20. main.g is inlined at
 * +8 to +16, called at +4. main.h at 0x401020, 0x10 bytes, without lines.
 */
struct table {
	u32 magic;
	u8 zero[2], quantum, pointer;
	u64 functions, files, text_start, names, units, file_names, pcs, records;
	char name_bytes[24]; /* 0 main.f, 7 main.g, 14 main.h */
	u32 unit_bytes[2];
	char file_bytes[16];
	u8 pc_bytes[32];
	u32 entries[5]; /* entry, record; entry, record; end */
	u32 f[18];
	u32 h[12];
};

static struct table table_good(void)
{
	struct table t = {
		.magic = 0xfffffff1,
		.quantum = 1,
		.pointer = 8,
		.functions = 2,
		.files = 1,
		.text_start = TEXT,
		.names = offsetof(struct table, name_bytes),
		.units = offsetof(struct table, unit_bytes),
		.file_names = offsetof(struct table, file_bytes),
		.pcs = offsetof(struct table, pc_bytes),
		.records = offsetof(struct table, entries),
		.name_bytes = "main.f\0main.g\0main.h",
		.unit_bytes = { 0xffffffff, 1 },
		.file_bytes = "\0a.go",
		.pc_bytes = {
			0,
			2, 0x20, 0,	       /* 1: value 0 (file) for 0x20 bytes */
			22, 8, 20, 0x18, 0,    /* 4: line 10 for 8, 20 for the rest */
			0, 8, 2, 8, 1, 0x10, 0 /* 9: -1 for 8, 0 for 8, -1 for the rest */
		},
	};
	u32 record_f = offsetof(struct table, f) - offsetof(struct table, entries);
	u32 record_h = offsetof(struct table, h) - offsetof(struct table, entries);
	/* entry, name, args, deferreturn, pcsp, pcfile, pcln, npcdata, unit, line, id.., pcdata,
	 * funcdata */
	u32 f[18] = { 0, 0, 0, 0, 0, 1, 4, 3, 1, 1, 4u << 24, 0, 0, 9, ~0u, ~0u, ~0u, 0 };
	u32 h[12] = { 0x20, 14, 0, 0, 0, 0, 0, 0, 0, 1, 0 };

	t.entries[0] = 0;
	t.entries[1] = record_f;
	t.entries[2] = 0x20;
	t.entries[3] = record_h;
	t.entries[4] = 0x30;
	memcpy(t.f, f, sizeof(f));
	memcpy(t.h, h, sizeof(h));
	return t;
}

static int parse(const void *bytes, size_t n, struct go_pclntab *ret_tab)
{
	struct span s = { bytes, n };
	struct err err = { { 0 } };

	return go_pclntab_parse(s, ret_tab, &err);
}

TEST(pclntab_functions_by_address)
{
	static const struct {
		u64 pc;
		const char *name; /* NULL: in none */
	} cases[] = {
		{ TEXT - 1, NULL },
		{ TEXT, "main.f" },
		{ TEXT + 0x1f, "main.f" },
		{ TEXT + 0x20, "main.h" },
		{ TEXT + 0x2f, "main.h" },
		{ TEXT + 0x30, NULL },
		{ 0, NULL },
		{ ~0ull, NULL },
	};
	struct table t = table_good();
	struct go_pclntab tab;
	struct go_function f;

	CHECK_EQ_INT(parse(&t, sizeof(t), &tab), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_EQ_INT(go_pclntab_find_pc(&tab, cases[i].pc, &f),
			     cases[i].name ? 0 : -ENOENT);
		if (cases[i].name)
			CHECK_STR(f.name, cases[i].name);
	}
}

TEST(pclntab_functions_by_name)
{
	struct table t = table_good();
	struct go_pclntab tab;
	struct go_function f;

	CHECK_EQ_INT(parse(&t, sizeof(t), &tab), 0);
	CHECK_EQ_INT(go_pclntab_find_name(&tab, "main.h", &f), 0);
	CHECK_EQ_U64(f.vaddr, TEXT + 0x20);
	CHECK_EQ_U64(f.n_bytes, 0x10);
	CHECK_EQ_INT(go_pclntab_find_name(&tab, "main.g", &f), -ENOENT);
}

TEST(pclntab_lines)
{
	struct table t = table_good();
	struct go_frame frames[4];
	struct go_pclntab tab;
	u32 n;

	CHECK_EQ_INT(parse(&t, sizeof(t), &tab), 0);
	CHECK_EQ_INT(go_pclntab_frames(&tab, TEXT + 7, frames, 4, &n), 0);
	CHECK_EQ_U64(n, 1);
	CHECK_STR(frames[0].function, "main.f");
	CHECK_STR(frames[0].file, "a.go");
	CHECK_EQ_U64(frames[0].line, 10);
	CHECK_EQ_INT(go_pclntab_frames(&tab, TEXT + 8, frames, 4, &n), 0);
	CHECK_EQ_U64(frames[0].line, 20);
	CHECK_EQ_INT(go_pclntab_frames(&tab, TEXT + 0x20, frames, 4, &n), 0);
	CHECK_STR(frames[0].function, "main.h");
	CHECK_STR(frames[0].file, "");
}

TEST(pclntab_inlined_calls_come_first)
{
	static const u32 inline_tree[] = { 0, 7, 4, 1 }; /* id, name, pc of the call, first line */
	struct table t = table_good();
	struct go_frame frames[4];
	struct go_pclntab tab;
	u32 n;

	CHECK_EQ_INT(parse(&t, sizeof(t), &tab), 0);
	tab.gofunc = (struct span){ (const u8 *)inline_tree, sizeof(inline_tree) };
	CHECK_EQ_INT(go_pclntab_frames(&tab, TEXT + 8, frames, 4, &n), 0);
	CHECK_EQ_U64(n, 2);
	CHECK_STR(frames[0].function, "main.g");
	CHECK_EQ_U64(frames[0].line, 20);
	CHECK_STR(frames[1].function, "main.f");
	CHECK_EQ_U64(frames[1].line, 10);
	CHECK_EQ_INT(go_pclntab_frames(&tab, TEXT + 7, frames, 4, &n), 0);
	CHECK_EQ_U64(n, 1);
}

TEST(pclntab_a_call_inlined_into_itself_ends_where_the_room_ends)
{
	static const u32 inline_tree[] = { 0, 7, 8, 1 };
	struct table t = table_good();
	struct go_frame frames[4];
	struct go_pclntab tab;
	u32 n;

	CHECK_EQ_INT(parse(&t, sizeof(t), &tab), 0);
	tab.gofunc = (struct span){ (const u8 *)inline_tree, sizeof(inline_tree) };
	CHECK_EQ_INT(go_pclntab_frames(&tab, TEXT + 8, frames, 4, &n), 0);
	CHECK_EQ_U64(n, 4);
}

TEST(pclntab_of_other_kinds_is_refused)
{
	static const u32 magics[] = { 0xfffffffb, 0xfffffff2, 0xf1ffffff, 0 };
	struct go_pclntab tab;
	struct table t;

	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
		t = table_good();
		t.magic = magics[i];
		CHECK_EQ_INT(parse(&t, sizeof(t), &tab), -EBADMSG);
	}
	t = table_good();
	t.pointer = 4;
	CHECK_EQ_INT(parse(&t, sizeof(t), &tab), -EBADMSG);
	t = table_good();
	t.quantum = 0;
	CHECK_EQ_INT(parse(&t, sizeof(t), &tab), -EBADMSG);
}

TEST(pclntab_with_nonsense_is_refused)
{
	static const u64 bad[] = { 0, 1ull << 24, ~0ull };
	struct go_pclntab tab;
	struct table t;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		t = table_good();
		t.functions = bad[i];
		CHECK_EQ_INT(parse(&t, sizeof(t), &tab), -EBADMSG);
		t = table_good();
		t.records = bad[i] ? bad[i] : sizeof(t) + 1;
		CHECK_EQ_INT(parse(&t, sizeof(t), &tab), -EBADMSG);
	}
	/* Unsorted: an address is in no function, or the table contradicts itself. */
	t = table_good();
	t.entries[2] = 0x40;
	CHECK_EQ_INT(parse(&t, sizeof(t), &tab), 0);
	for (u64 pc = TEXT; pc < TEXT + 0x50; pc++) {
		struct go_function f;

		CHECK(go_pclntab_find_pc(&tab, pc, &f) ||
		      (pc >= f.vaddr && pc < f.vaddr + f.n_bytes));
	}
}

TEST(pclntab_cut_off_anywhere_is_read_or_refused)
{
	struct table t = table_good();
	struct go_frame frames[4];
	struct go_pclntab tab;
	struct go_function f;
	u32 found;

	for (size_t n = 0; n <= sizeof(t); n++) {
		u8 *copy = malloc(
			n ? n : 1); /* of exactly this size: the sanitizer sees a byte too far */

		CHECK(copy != NULL);
		memcpy(copy, &t, n);
		if (!parse(copy, n, &tab)) {
			for (u64 pc = TEXT; pc < TEXT + 0x30; pc += 4)
				(void)go_pclntab_frames(&tab, pc, frames, 4, &found);
			(void)go_pclntab_find_name(&tab, "main.h", &f);
		}
		free(copy);
	}
}
