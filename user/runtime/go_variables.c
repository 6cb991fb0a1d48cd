/* SPDX-License-Identifier: MIT */
/*
 * Variables of Go's runtime: by symbols, or where those were stripped by the code of functions that
 * use them. Two functions must agree.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "user/elf/insn.h"
#include "user/runtime/go_impl.h"

static const char *const other_names[NR_GO_DATA] = {
#define GO_DATA(id, name, other) other,
#include "user/runtime/go_data.def"
#undef GO_DATA
};

static const struct reference {
	const char *function;
	s64 delta; /* of the address from the variable's */
	enum go_data variable;
	u32 first_minor, last_minor; /* versions for which it was tested */
	u32 ordinal;		     /* of the function's references to data, from 0 */
} references[] = {
#define GO_REF(variable, first, last, function, ordinal, delta) \
	{ function, delta, GO_DATA_##variable, first, last, ordinal },
#include "user/runtime/go_refs.def"
#undef GO_REF
};
#define NR_REFERENCES (sizeof(references) / sizeof(references[0]))

/* Of the functions in the table the longest has some 400. */
#define MAX_REFS 1024

#define NR_WITNESSES 2

static void by_symbols(const struct elf_file *file, struct go_target *go)
{
	struct elf_symbol symbol;
	u64 cursor = 0;

	while (elf_next_symbol(file, false, &cursor, &symbol)) {
		if (symbol.section == SHN_UNDEF || strncmp(symbol.name, "runtime.", 8) != 0)
			if (strncmp(symbol.name, "internal/runtime/", 17) != 0)
				continue;
		for (int i = 0; i < NR_GO_DATA; i++) {
			if (strcmp(symbol.name, go_data_names[i]) != 0 &&
			    (!other_names[i] || strcmp(symbol.name, other_names[i]) != 0))
				continue;
			go->variables[i].vaddr = symbol.vaddr;
			go->variables[i].found = TARGET_BY_SYMBOL;
		}
	}
}

/* The address that one reference leads to. */
static bool follow(const struct elf_file *file, const struct go_module *module,
		   const struct reference *ref, u64 *ret_vaddr)
{
	struct insn_ref found[MAX_REFS];
	struct go_function function;
	struct insn_code code;
	int n;

	if (go_pclntab_find_name(&module->functions, ref->function, &function) ||
	    !go_function_code(file, &function, &code))
		return false;
	n = insn_find_refs(&code, found, MAX_REFS, NULL);
	if (n < 0 || n > MAX_REFS || ref->ordinal >= (u32)n)
		return false;
	*ret_vaddr = found[ref->ordinal].vaddr - (u64)ref->delta;
	return true;
}

/* Data that the program can write are in memory, but not always in the file. */
static bool is_writable(const struct elf_file *file, u64 vaddr)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *s = &file->segments[i];

		if (s->type == PT_LOAD && s->flags & PF_W && vaddr >= s->vaddr &&
		    vaddr - s->vaddr < s->mem_bytes)
			return true;
	}
	return false;
}

static void by_code(const struct elf_file *file, const struct go_module *module, enum go_data which,
		    struct go_target *go)
{
	struct target_variable *v = &go->variables[which];
	u32 rows = 0, followed = 0;
	u64 vaddrs[NR_WITNESSES];

	for (size_t i = 0; i < NR_REFERENCES && rows < NR_WITNESSES; i++) {
		const struct reference *ref = &references[i];

		if (ref->variable != which || go->minor < ref->first_minor ||
		    go->minor > ref->last_minor)
			continue;
		rows++;
		if (follow(file, module, ref, &vaddrs[followed]))
			followed++;
	}
	if (rows < NR_WITNESSES)
		snprintf(v->why, sizeof(v->why),
			 "no symbols, and how this Go version's code leads to "
			 "it is not known");
	else if (followed < NR_WITNESSES)
		snprintf(v->why, sizeof(v->why),
			 "no symbols, and the functions that lead to it are "
			 "not as in the tested builds of this version");
	else if (vaddrs[0] != vaddrs[1] || !is_writable(file, vaddrs[0]))
		snprintf(v->why, sizeof(v->why),
			 "no symbols, and the functions that lead to it "
			 "disagree");
	else {
		v->vaddr = vaddrs[0];
		v->found = TARGET_BY_CODE;
	}
}

static const char *why_not_by_code(const struct elf_file *file, const struct go_module *module,
				   const struct go_target *go)
{
	struct go_version version;

	if (!module)
		return "no symbols, and no function table";
	if (file->machine != EM_X86_64)
		return "no symbols, and code is followed on x86-64 only";
	if (!go_version_parse(go->version_text, &version) ||
	    go_layout_tested(&version) == GO_UNTESTED)
		return "no symbols, and this Go version has not been tested";
	return NULL;
}

void go_find_variables(const struct elf_file *file, const struct target_request *request,
		       const struct go_module *module, struct go_target *go)
{
	const char *why;

	if (elf_has_symtab(file) && !request->ignore_symtab) {
		by_symbols(file, go);
		for (int i = 0; i < NR_GO_DATA; i++) {
			if (!go->variables[i].vaddr)
				snprintf(go->variables[i].why, sizeof(go->variables[i].why),
					 "there is no such symbol");
		}
		return;
	}
	why = why_not_by_code(file, module, go);
	for (int i = 0; i < NR_GO_DATA; i++) {
		if (why)
			snprintf(go->variables[i].why, sizeof(go->variables[i].why), "%s", why);
		else
			by_code(file, module, (enum go_data)i, go);
	}
}
