/* SPDX-License-Identifier: MIT */
/*
 * Where Go's structures have their members: by the binary's DWARF, else by the table of tested
 * versions, else not at all.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/elf/dwarf.h"
#include "user/runtime/go_impl.h"

/* Defines GO_LAYOUT_RELEASES. */
#define GO_FIELD(id, type, member, ...)
#include "user/runtime/go_layouts.def"
#undef GO_FIELD

static const struct release {
	u32 minor, patch;
} releases[] = { GO_LAYOUT_RELEASES };
#define NR_RELEASES (sizeof(releases) / sizeof(releases[0]))

static const s32 table[NR_GO_FIELDS][NR_RELEASES] = {
#define GO_FIELD(id, type, member, ...) { __VA_ARGS__ },
#include "user/runtime/go_layouts.def"
#undef GO_FIELD
};

/* Members are within their structures, and those have at most some 100 kB (runtime.mheap). */
#define MAX_OFFSET (1u << 20)

enum go_tested go_layout_tested(const struct go_version *version)
{
	enum go_tested tested = GO_UNTESTED;

	if (version->major != 1 || version->devel || version->beta || version->rc ||
	    version->experiments)
		return GO_UNTESTED;
	for (size_t i = 0; i < NR_RELEASES; i++) {
		if (releases[i].minor != version->minor)
			continue;
		if (releases[i].patch == version->patch && !version->modified)
			return GO_TESTED_RELEASE;
		tested = GO_TESTED_MINOR;
	}
	return tested;
}

/*
 * Of another patch release only what all tested ones of its version agree about, and nothing of
 * net/http: 1.26.11 moved a member there. No patch release was seen to change the runtime's
 * structures.
 */
static s32 table_offset(enum go_field field, const struct go_version *version, bool exact)
{
	bool found = false;
	s32 offset = -1;

	if (!exact && !strncmp(go_field_names[field].type, "net/", 4))
		return -1;
	for (size_t i = 0; i < NR_RELEASES; i++) {
		if (releases[i].minor != version->minor ||
		    (exact && releases[i].patch != version->patch))
			continue;
		if (found && table[field][i] != offset)
			return -1;
		offset = table[field][i];
		found = true;
	}
	return offset;
}

/* False if DWARF has not even the type of a goroutine. */
static bool by_dwarf(const struct elf_file *file, struct go_target *go, struct err *err)
{
	struct dwarf_member members[NR_GO_FIELDS];

	for (int i = 0; i < NR_GO_FIELDS; i++)
		members[i] = (struct dwarf_member){ .type = go_field_names[i].type,
						    .member = go_field_names[i].member };
	if (dwarf_find_members(file, members, NR_GO_FIELDS, err))
		return false;
	if (members[GO_FIELD_G_GOID].state != DWARF_FOUND) {
		(void)err_set(err, -ENODATA, "its DWARF does not have the type runtime.g");
		return false;
	}
	for (int i = 0; i < NR_GO_FIELDS; i++) {
		bool of_type = !*members[i].member;
		u64 value = of_type ? members[i].n_bytes : members[i].offset;

		go->offsets[i] =
			members[i].state == DWARF_FOUND && value <= MAX_OFFSET ? (s32)value : -1;
	}
	return true;
}

static const char *why_no_column(const struct elf_file *file, const struct go_target *go,
				 const struct go_version *version)
{
	if (file->machine != EM_X86_64)
		return "layouts without DWARF are known for x86-64 only";
	if (!*go->version_text)
		return "its Go version is not known";
	if (version->devel || version->beta || version->rc)
		return "it was built by a Go between two releases";
	if (version->experiments)
		return "it was built with GOEXPERIMENT, which may change layouts";
	if (go_layout_tested(version) == GO_UNTESTED)
		return "this Go version has not been tested";
	return NULL;
}

void go_layout(const struct elf_file *file, const struct target_request *request,
	       struct target *target)
{
	struct go_target *go = &target->go;
	struct err err = { { 0 } };
	struct go_version version = { 0 };
	const char *why;
	bool exact;

	for (int i = 0; i < NR_GO_FIELDS; i++)
		go->offsets[i] = -1;
	if (request->ignore_dwarf)
		(void)err_set(&err, 0, "its DWARF is ignored, as asked");
	else if (by_dwarf(file, go, &err)) {
		go->layout = TARGET_LAYOUT_DWARF;
		return;
	}
	(void)go_version_parse(go->version_text,
			       &version); /* else it stays 0, and is in no column */
	why = why_no_column(file, go, &version);
	if (why) {
		snprintf(go->layout_why, sizeof(go->layout_why), "%.120s, and %s", err.text, why);
		return;
	}
	exact = go_layout_tested(&version) == GO_TESTED_RELEASE;
	if (!exact)
		snprintf(
			go->layout_why, sizeof(go->layout_why),
			"this patch release has not been tested: offsets of net/http are left out");
	go->layout = TARGET_LAYOUT_TABLE;
	for (int i = 0; i < NR_GO_FIELDS; i++)
		go->offsets[i] = table_offset((enum go_field)i, &version, exact);
}
