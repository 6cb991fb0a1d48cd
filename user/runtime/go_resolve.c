/* SPDX-License-Identifier: MIT */
/* Functions of a Go program, as probes want them. */
#define _GNU_SOURCE /* memmem */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/elf/insn.h"
#include "user/runtime/go_impl.h"

/* The largest function seen has 300 kB. */
#define MAX_CODE_BYTES (4u << 20)

static const char *const other_names[NR_GO_POINTS] = {
#define POINT(id, name, function, other) other,
#include "user/runtime/go_points.def"
#undef POINT
};

__attribute__((format(printf, 2, 3))) static void say_why(char *why, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, TARGET_TEXT, fmt, ap);
	va_end(ap);
}

bool go_function_code(const struct elf_file *file, const struct go_function *function,
		      struct insn_code *ret_code)
{
	struct span bytes;

	if (function->n_bytes > MAX_CODE_BYTES ||
	    !elf_read_vaddr(file, function->vaddr, function->n_bytes, &bytes))
		return false;
	*ret_code = (struct insn_code){ .machine = file->machine,
					.vaddr = function->vaddr,
					.bytes = bytes };
	return true;
}

static int fill_returns(const struct elf_file *file, const struct insn_code *code,
			struct target_function *f, struct err *err)
{
	u64 vaddrs[TARGET_MAX_RETURNS];
	int n = insn_find_returns(code, vaddrs, TARGET_MAX_RETURNS, err);

	if (n < 0)
		return n;
	if (n > TARGET_MAX_RETURNS)
		return err_set(err, -E2BIG, "it returns at %d places, more than %d", n,
			       TARGET_MAX_RETURNS);
	for (int i = 0; i < n; i++) {
		if (!elf_vaddr_to_offset(file, vaddrs[i], &f->return_offsets[i]))
			return err_set(err, -EBADMSG, "its code is not in the file");
	}
	f->nr_returns = (u32)n;
	return 0;
}

static int fill_probe(const struct elf_file *file, const struct insn_code *code,
		      struct target_function *f, struct err *err)
{
	struct insn_probe cheap, exact;
	int r = insn_find_probe(code, &cheap, &exact, err);

	if (r)
		return r;
	if (!elf_vaddr_to_offset(file, cheap.vaddr, &f->cheap_offset) ||
	    !elf_vaddr_to_offset(file, exact.vaddr, &f->exact_offset))
		return err_set(err, -EBADMSG, "its code is not in the file");
	f->cheap_emulated = cheap.emulated;
	f->cheap_exact = cheap.exact;
	f->exact_emulated = exact.emulated;
	f->exact_exact = exact.exact;
	return 0;
}

static void fill_function(const struct elf_file *file, const struct go_function *found,
			  struct target_function *f)
{
	struct err err = { { 0 } };
	struct insn_code code;
	u64 tail = 0;

	f->nr_found++;
	f->vaddr = found->vaddr;
	f->n_bytes = found->n_bytes;
	if (!go_function_code(file, found, &code)) {
		say_why(f->why, "its code is not in the file");
		return;
	}
	if (fill_probe(file, &code, f, &err) || fill_returns(file, &code, f, &err) ||
	    insn_find_tail(&code, &tail, &err))
		say_why(f->why, "%.200s", err.text);
	f->leaves = tail != 0;
}

/* Names of functions stand one behind the other, also those of inlined ones. */
static bool is_in_names(const struct go_module *m, const char *name)
{
	size_t n = strlen(name) + 1;
	const u8 *at = m->functions.names.at, *end = at + m->functions.names.n;

	while ((at = memmem(at, (size_t)(end - at), name, n))) {
		if (at > m->functions.names.at && !at[-1])
			return true;
		at++;
	}
	return false;
}

/* One walk for all names: the table has tens of thousands of functions. */
static void find_functions(const struct elf_file *file, const struct go_module *m,
			   const struct target_request *request, struct go_target *go)
{
	struct go_function found;

	for (u32 i = 0; i < m->functions.nr_functions; i++) {
		if (!go_pclntab_function(&m->functions, i, &found))
			continue;
		for (int p = 0; p < NR_GO_POINTS; p++) {
			if (!strcmp(found.name, go_point_functions[p]) ||
			    (other_names[p] && !strcmp(found.name, other_names[p])))
				fill_function(file, &found, &go->points[p]);
		}
		for (int w = 0; w < TARGET_MAX_WANTED; w++) {
			if (*request->wanted[w] && !strcmp(found.name, request->wanted[w]))
				fill_function(file, &found, &go->wanted[w]);
		}
	}
}

static void say_missing(struct target_function *f, const char *why)
{
	if (!f->vaddr && !*f->why)
		say_why(f->why, "%.200s", why);
}

static void fill_module(const struct go_module *m, struct go_target *go)
{
	static const char *const layouts[] = {
		[GO_PCLNTAB_1_16] = "Go 1.16",
		[GO_PCLNTAB_1_18] = "Go 1.18",
		[GO_PCLNTAB_1_20] = "Go 1.20",
	};

	go->nr_functions = m->functions.nr_functions;
	go->pclntab_vaddr = m->pclntab_vaddr;
	go->moduledata_vaddr = m->moduledata_vaddr;
	go->text_start = m->functions.text_start;
	go->inlined_known = m->functions.gofunc.n > 0;
	snprintf(go->pclntab_layout, sizeof(go->pclntab_layout), "%s",
		 layouts[m->functions.layout]);
	snprintf(go->pclntab_found_by, sizeof(go->pclntab_found_by), "%s", m->found_by);
	snprintf(go->text_source, sizeof(go->text_source), "%s",
		 go_text_source_names[m->text_source]);
}

void go_resolve(const struct elf_file *file, const struct target_request *request,
		struct target *target)
{
	struct go_target *go = &target->go;
	const char *missing = "the program has no function of this name";
	struct err err = { { 0 } };
	struct go_module m = { 0 };
	int r = go_module_find(file, go->offsets[GO_FIELD_MODULEDATA_GOFUNC],
			       !request->ignore_symtab, &m, &err);

	if (r) {
		say_why(go->functions_why, "%.200s", err.text);
		missing = go->functions_why;
	} else {
		fill_module(&m, go);
		find_functions(file, &m, request, go);
	}
	for (int p = 0; p < NR_GO_POINTS; p++)
		say_missing(&go->points[p], missing);
	for (int w = 0; w < TARGET_MAX_WANTED; w++) {
		if (!*request->wanted[w])
			continue;
		go->wanted[w].inlined =
			!r && !go->wanted[w].nr_found && is_in_names(&m, request->wanted[w]);
		say_missing(&go->wanted[w], missing);
	}
	go_find_variables(file, request, r ? NULL : &m, go);
}
