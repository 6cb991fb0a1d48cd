/* SPDX-License-Identifier: MIT */
/*
 * The two tables by which Go's runtime knows its own program: the function table, wherever the
 * linker put it, and the module data, which say where its parts are.
 */
#ifndef SKYOBSERVE_RUNTIME_GO_MODULE_H
#define SKYOBSERVE_RUNTIME_GO_MODULE_H

#include "user/elf/file.h"
#include "user/runtime/go_pclntab.h"

/* Who said where the text starts. */
enum go_text_source {
	GO_TEXT_ABSOLUTE, /* the table has addresses (up to 1.17) */
	GO_TEXT_HEADER,	  /* the table's header (1.18 to 1.25) */
	GO_TEXT_MODULE,	  /* the module data */
	GO_TEXT_SYMBOL,	  /* the symbol runtime.text */
	NR_GO_TEXT_SOURCES
};
extern const char *const go_text_source_names[NR_GO_TEXT_SOURCES];

struct go_module {
	u64 pclntab_vaddr;
	u64 moduledata_vaddr; /* 0: not found */
	struct go_pclntab functions;
	enum go_text_source text_source;
	const char *found_by; /* "section .gopclntab", ... */
};

/*
 * Find both. @gofunc_offset is the offset of moduledata.gofunc in this version, or -1 if unknown:
 * then the symbol go:func.* is tried, and inlined calls are unknown if there is none. @symbols:
 * whether to look at symbols at all.
 *
 * -ENOENT: there is no function table; -EBADMSG: there is one that cannot be read, or whose text
 * start cannot be found.
 */
int go_module_find(const struct elf_file *file, s64 gofunc_offset, bool symbols,
		   struct go_module *ret_module, struct err *err);

#endif /* SKYOBSERVE_RUNTIME_GO_MODULE_H */
