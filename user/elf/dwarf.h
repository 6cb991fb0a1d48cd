/* SPDX-License-Identifier: MIT */
/*
 * Where members of structures are, by the debugging information of a file: DWARF 2 to 5, compressed
 * or not. libdw reads it, so call this only where a crash costs nothing (the parse worker).
 */
#ifndef SKYOBSERVE_ELF_DWARF_H
#define SKYOBSERVE_ELF_DWARF_H

#include "user/elf/file.h"

enum dwarf_state {
	DWARF_NO_TYPE,	 /* no structure of that name */
	DWARF_NO_MEMBER, /* it has no such member */
	DWARF_FOUND
};

/* A question and its answer. */
struct dwarf_member {
	const char *type;   /* "runtime.g" */
	const char *member; /* "goid", "stats[1].largeAlloc"; "" asks for the size of the type; case
			       does not matter */
	enum dwarf_state state;
	u64 offset;  /* from the begin of @type */
	u64 n_bytes; /* of the member; 0 if it is not said */
};

/*
 * Answer all questions in one walk. The first complete structure of a name counts.
 *
 * 0; -ENODATA: the file has no DWARF; -EBADMSG: libdw cannot read it. Questions without an answer
 * are no error.
 */
int dwarf_find_members(const struct elf_file *file, struct dwarf_member *members, size_t n,
		       struct err *err);

#endif /* SKYOBSERVE_ELF_DWARF_H */
