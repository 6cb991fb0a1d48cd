/* SPDX-License-Identifier: MIT */
/*
 * Go's table of functions, which the runtime needs for its stack traces and which stripping
 * therefore leaves: function by address and by name, file and line, inlined calls.
 *
 * Addresses are those of the file as linked, not of the running process.
 */
#ifndef SKYOBSERVE_RUNTIME_GO_PCLNTAB_H
#define SKYOBSERVE_RUNTIME_GO_PCLNTAB_H

#include <stdbool.h>

#include "user/base/err.h"
#include "user/base/span.h"

/* Layouts; each began with the Go version of its name and the one after it ended it. */
enum go_pclntab_layout {
	GO_PCLNTAB_1_16,
	GO_PCLNTAB_1_18,
	GO_PCLNTAB_1_20, /* to 1.27 at least */
};

struct go_pclntab {
	enum go_pclntab_layout layout;
	struct span table; /* all of it */
	struct span names, units, files, pcs, functions;
	u64 text_start; /* 0 until it is known: up to 1.25 the header has it; then see
			   go_moduledata.h */
	u32 nr_functions;
	u8 quantum; /* smallest instruction */
	/* Base of funcdata (moduledata.gofunc), where the inline trees are; empty if not known. */
	struct span gofunc;
};

/*
 * Read the header. -EBADMSG: no table, one of an unknown layout, or one that contradicts itself.
 *
 * Source: Go src/runtime/symtab.go (pcHeader, _func), src/debug/gosym/pclntab.go.
 */
int go_pclntab_parse(struct span table, struct go_pclntab *ret_tab, struct err *err);

struct go_function {
	u64 vaddr, n_bytes; /* up to the next function: with its padding */
	const char *name;
	u32 index;
	u32 offset; /* of its record in tab->functions */
};

/* Function number @index, in the order of addresses. False beyond the last, or if it makes no
 * sense. */
bool go_pclntab_function(const struct go_pclntab *tab, u32 index, struct go_function *ret_function);
/* The function that contains an address. 0, -ENOENT or -EBADMSG. Cost: binary search. */
int go_pclntab_find_pc(const struct go_pclntab *tab, u64 pc, struct go_function *ret_function);
/* The first function of that name. 0 or -ENOENT. Cost: linear. */
int go_pclntab_find_name(const struct go_pclntab *tab, const char *name,
			 struct go_function *ret_function);

/* One call of a (possibly inlined) function; the innermost comes first. */
struct go_frame {
	const char *function;
	const char *file; /* "" if there is none */
	u32 line;
};

/*
 * What is executed at an address: at most @max frames, the innermost first. The address after a
 * call is where it returns to: subtract 1 to ask about the call. Without gofunc, and in the layout
 * of 1.16, inlined calls are not known: one frame, the function that the code is in, with the line
 * of the innermost call. 0, -ENOENT or -EBADMSG.
 */
int go_pclntab_frames(const struct go_pclntab *tab, u64 pc, struct go_frame *frames, u32 max,
		      u32 *ret_n);

#endif /* SKYOBSERVE_RUNTIME_GO_PCLNTAB_H */
