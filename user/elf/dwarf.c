/* SPDX-License-Identifier: MIT */
/* Members of structures by libdw. Knows nothing of Go. */
#include "user/elf/dwarf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <dwarf.h>
#include <elfutils/libdw.h>

/* Types that name each other in a circle, and paths that are longer than any. */
#define MAX_DEPTH 16
/* Units and top-level entries of the largest programs are a tenth of this; a loop in the data ends
 * here. */
#define MAX_ENTRIES (64u << 20)
#define MAX_MEMBERS 4096

/* The type of @die without typedefs and qualifiers. */
static bool bare_type(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	Dwarf_Die at = *die;

	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		Dwarf_Attribute attr;
		int tag;

		if (!dwarf_attr_integrate(&at, DW_AT_type, &attr) || !dwarf_formref_die(&attr, &at))
			return false;
		tag = dwarf_tag(&at);
		if (tag == DW_TAG_typedef || tag == DW_TAG_const_type ||
		    tag == DW_TAG_volatile_type)
			continue;
		*ret_type = at;
		return true;
	}
	return false;
}

static bool unsigned_attr(Dwarf_Die *die, unsigned int name, Dwarf_Word *ret_value)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, name, &attr) && !dwarf_formudata(&attr, ret_value);
}

static u64 type_bytes(Dwarf_Die *type)
{
	Dwarf_Word n;

	/* dwarf_aggregate_size multiplies arrays. */
	return dwarf_aggregate_size(type, &n) ? 0 : n;
}

static bool find_child(Dwarf_Die *structure, const char *name, size_t name_n, Dwarf_Die *ret_member)
{
	Dwarf_Die member;
	int r = dwarf_child(structure, &member);

	for (u32 i = 0; !r && i < MAX_MEMBERS; i++) {
		const char *found = dwarf_diename(&member);

		if (dwarf_tag(&member) == DW_TAG_member && found && strlen(found) == name_n &&
		    !strncasecmp(found, name, name_n)) {
			*ret_member = member;
			return true;
		}
		r = dwarf_siblingof(&member, &member);
	}
	return false;
}

/* "[3]" at *path: the type becomes the element's, its offset is added. */
static bool take_index(const char **path, Dwarf_Die *type, u64 *offset)
{
	char *end;
	unsigned long index = strtoul(*path + 1, &end, 10);
	u64 n;

	if (*end != ']' || dwarf_tag(type) != DW_TAG_array_type || !bare_type(type, type))
		return false;
	n = type_bytes(type);
	if (!n || index > 65535)
		return false;
	*offset += index * n;
	*path = end + 1;
	return true;
}

/* Follow the path from a structure. */
static bool find_member(Dwarf_Die *structure, const char *path, u64 *ret_offset, u64 *ret_n)
{
	Dwarf_Die type = *structure;
	u64 offset = 0;

	while (*path) {
		size_t n = strcspn(path, ".[");
		Dwarf_Word at = 0;
		Dwarf_Die member;

		if (*path == '[') {
			if (!take_index(&path, &type, &offset))
				return false;
			continue;
		}
		if (*path == '.') {
			path++;
			continue;
		}
		if (dwarf_tag(&type) != DW_TAG_structure_type ||
		    !find_child(&type, path, n, &member) || !bare_type(&member, &type))
			return false;
		/* No location: the member is the first, or the structure a union. */
		(void)unsigned_attr(&member, DW_AT_data_member_location, &at);
		offset += at;
		path += n;
	}
	*ret_offset = offset;
	*ret_n = type_bytes(&type);
	return true;
}

static void answer(Dwarf_Die *structure, struct dwarf_member *members, size_t n)
{
	const char *name = dwarf_diename(structure);

	if (!name || dwarf_hasattr(structure, DW_AT_declaration))
		return;
	for (size_t i = 0; i < n; i++) {
		struct dwarf_member *m = &members[i];

		if (m->state != DWARF_NO_TYPE || strcmp(m->type, name) != 0)
			continue;
		m->state = find_member(structure, m->member, &m->offset, &m->n_bytes)
				   ? DWARF_FOUND
				   : DWARF_NO_MEMBER;
	}
}

/* The structures at the top of a unit. Returns false when the bound on entries is reached. */
static bool walk_unit(Dwarf_Die *unit, struct dwarf_member *members, size_t n, u32 *entries)
{
	Dwarf_Die die;
	int r = dwarf_child(unit, &die);

	while (!r) {
		if (++*entries > MAX_ENTRIES)
			return false;
		if (dwarf_tag(&die) == DW_TAG_structure_type)
			answer(&die, members, n);
		r = dwarf_siblingof(&die, &die);
	}
	return true;
}

static int walk(Dwarf *dwarf, struct dwarf_member *members, size_t n, struct err *err)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	u32 entries = 0;

	for (;;) {
		int r = dwarf_get_units(dwarf, cu, &cu, NULL, NULL, &unit, NULL);

		if (r > 0)
			return 0;
		if (r < 0)
			return err_set(err, -EBADMSG, "its DWARF cannot be read: %s",
				       dwarf_errmsg(-1));
		if (!walk_unit(&unit, members, n, &entries))
			return err_set(err, -EBADMSG, "its DWARF has no end");
	}
}

int dwarf_find_members(const struct elf_file *file, struct dwarf_member *members, size_t n,
		       struct err *err)
{
	Dwarf *dwarf = NULL;
	Elf *elf = NULL;
	int r;

	for (size_t i = 0; i < n; i++)
		members[i].state = DWARF_NO_TYPE;
	if (!elf_has_dwarf(file))
		return err_set(err, -ENODATA, "it has no DWARF");
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)file->bytes, file->image.n);
	if (elf)
		dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (dwarf)
		r = walk(dwarf, members, n, err);
	else
		r = err_set(err, -EBADMSG, "its DWARF cannot be read: %s",
			    elf ? dwarf_errmsg(-1) : elf_errmsg(-1));
	dwarf_end(dwarf);
	elf_end(elf);
	return r;
}
