/* SPDX-License-Identifier: MIT */
/* What the files that fill a struct go_target share. */
#ifndef SKYOBSERVE_RUNTIME_GO_IMPL_H
#define SKYOBSERVE_RUNTIME_GO_IMPL_H

#include "user/elf/file.h"
#include "user/elf/insn.h"
#include "user/runtime/go_buildinfo.h"
#include "user/runtime/go_module.h"
#include "user/runtime/runtime.h"

/* Whether a version is one that the tables were made from. */
enum go_tested {
	GO_UNTESTED,
	GO_TESTED_MINOR, /* another patch release of it is */
	GO_TESTED_RELEASE
};
enum go_tested go_layout_tested(const struct go_version *version);

/* struct runtime_ops.layout and .resolve of Go. */
void go_layout(const struct elf_file *file, const struct target_request *request,
	       struct target *target);
void go_resolve(const struct elf_file *file, const struct target_request *request,
		struct target *target);

/*
 * Addresses of the variables of target->go, by symbols, else by the code of functions of @module
 * (NULL: there is no function table).
 */
void go_find_variables(const struct elf_file *file, const struct target_request *request,
		       const struct go_module *module, struct go_target *go);

/* The code of a function, for the disassembler. False if it is not in the file. */
bool go_function_code(const struct elf_file *file, const struct go_function *function,
		      struct insn_code *ret_code);

#endif /* SKYOBSERVE_RUNTIME_GO_IMPL_H */
