/* SPDX-License-Identifier: MIT */
/*
 * What is known of a program from its file: a plain table, without a pointer in it, so that it can
 * come out of another process (see worker.h) and be kept, compared and printed.
 *
 * Addresses are those of the file as linked. In the process they are higher by the bias: where the
 * mapping of file offset 0 begins, minus base_vaddr. A missing address is 0, and there is a reason
 * for it.
 */
#ifndef SKYOBSERVE_RUNTIME_RUNTIME_H
#define SKYOBSERVE_RUNTIME_RUNTIME_H

#include <stdbool.h>

#include "types.h"
#include "user/base/err.h"

struct elf_file;

#define TARGET_TEXT	    256
#define TARGET_SETTINGS	    2048
#define TARGET_MAX_RETURNS  32
#define TARGET_MAX_WANTED   16
#define TARGET_BUILD_ID_HEX 65

enum go_point {
#define POINT(id, name, function, other) GO_POINT_##id,
#include "user/runtime/go_points.def"
#undef POINT
	NR_GO_POINTS
};

enum go_data {
#define GO_DATA(id, name, other) GO_DATA_##id,
#include "user/runtime/go_data.def"
#undef GO_DATA
	NR_GO_DATA
};

enum go_field {
#define GO_FIELD(id, type, member, ...) GO_FIELD_##id,
#include "user/runtime/go_layouts.def"
#undef GO_FIELD
	NR_GO_FIELDS
};

/* The file. */
struct target_file {
	u64 n_bytes;
	u64 whole_bytes; /* more than @n_bytes if it was cut off */
	u16 type;	 /* ET_* */
	u16 machine;	 /* EM_* */
	bool library;	 /* it is loaded by programs, and is none itself */
	bool dynamic;	 /* it has an interpreter: a loader joins it with libraries */
	bool pie;
	bool symtab;
	bool dwarf;
	u64 base_vaddr;
	char build_id[TARGET_BUILD_ID_HEX]; /* GNU's, as hexadecimal digits; "" if it has none */
};

/* A function, as probes want it. */
struct target_function {
	u64 vaddr, n_bytes;
	/* Offsets in the file, for uprobes; see user/elf/insn.h for what they are. */
	u64 cheap_offset, exact_offset;
	bool cheap_emulated, cheap_exact;
	bool exact_emulated, exact_exact; /* exact_exact is false if there is no exact place */
	u64 return_offsets[TARGET_MAX_RETURNS];
	u32 nr_returns;
	u32 nr_found; /* functions of this name; the other members are of the last */
	bool leaves;  /* it ends by a jump to another function, which returns in its place */
	bool inlined; /* there is none, but the name is known: its code is in its callers only */
	char why[TARGET_TEXT]; /* "" if it is all there */
};

/* How an address of a variable was found. */
enum target_found {
	TARGET_NOT_FOUND,
	TARGET_BY_SYMBOL,
	TARGET_BY_CODE, /* two functions that use it agree */
	TARGET_BY_MODULE
};

struct target_variable {
	u64 vaddr;
	enum target_found found;
	char why[TARGET_TEXT]; /* "" if it was found */
};

enum target_layout {
	TARGET_LAYOUT_NONE,
	TARGET_LAYOUT_DWARF,
	TARGET_LAYOUT_TABLE
};

struct go_target {
	char version_text[TARGET_TEXT]; /* "go1.24.4" */
	u32 minor, patch;		/* 24, 4; 0 if the version cannot be read */
	char path[TARGET_TEXT];		/* the main package */
	char module[TARGET_TEXT], module_version[TARGET_TEXT];
	char build_id[TARGET_TEXT];
	char settings[TARGET_SETTINGS]; /* lines of key=value; the last may be cut off */
	bool cgo;
	char info_why[TARGET_TEXT]; /* why the build information is not there */

	u32 nr_functions; /* 0: no function table, see functions_why */
	u64 pclntab_vaddr, moduledata_vaddr, text_start;
	char pclntab_layout[16], pclntab_found_by[64], text_source[64];
	bool inlined_known;
	char functions_why[TARGET_TEXT];

	struct target_function points[NR_GO_POINTS];
	struct target_function wanted[TARGET_MAX_WANTED]; /* as in the request */
	struct target_variable variables[NR_GO_DATA];

	enum target_layout layout;
	s32 offsets[NR_GO_FIELDS];    /* -1: this version does not have it, or no layout */
	char layout_why[TARGET_TEXT]; /* why none, or why not all */
};

struct target {
	struct target_file file;
	char runtime[16]; /* "Go"; "" if none is known */
	struct go_target go;
};

/* What is asked for besides. */
struct target_request {
	char wanted[TARGET_MAX_WANTED][TARGET_TEXT]; /* names of functions; "" is none */
	bool ignore_symtab,
		ignore_dwarf; /* as if it were stripped: for tests of what then happens */
};

/* A language runtime. Each function fills its part of the target; what it cannot find has a reason
 * there. */
struct runtime_ops {
	const char *name;
	/* Is the file a program of this runtime? */
	bool (*match)(const struct elf_file *file, struct target *target);
	/* Where the runtime's structures have their members. */
	void (*layout)(const struct elf_file *file, const struct target_request *request,
		       struct target *target);
	/* Functions and variables. */
	void (*resolve)(const struct elf_file *file, const struct target_request *request,
			struct target *target);
};
extern const struct runtime_ops runtime_go;

/* Names of the tables' rows, by their enum. */
extern const char *const go_point_names[NR_GO_POINTS];
extern const char *const go_point_functions[NR_GO_POINTS];
extern const char *const go_data_names[NR_GO_DATA];
struct go_field_name {
	const char *type, *member;
};
extern const struct go_field_name go_field_names[NR_GO_FIELDS];

/*
 * Read a file that is open into *ret_target. Errors are those of elf_file_read; a program of no
 * known runtime is no error. In this process: see worker.h for one that may crash.
 */
int target_read(int fd, const struct target_request *request, struct target *ret_target,
		struct err *err);

#endif /* SKYOBSERVE_RUNTIME_RUNTIME_H */
