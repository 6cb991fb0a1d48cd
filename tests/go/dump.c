/* SPDX-License-Identifier: MIT */
/*
 * Prints what our readers see in a Go program, one fact per line, for comparison with other tools.
 *
 *	dump info FILE		the version, then the lines of the module
 *	dump functions FILE	ADDRESS NAME of every function
 *	dump frames FILE	for each hexadecimal address of the input: FUNCTION FILE:LINE,
 *innermost first, joined by " | " dump returns FILE	the address of every return instruction dump
 *probes FILE	ADDRESS CHEAP emulated exact EXACT emulated exact dump layout FILE	TYPE MEMBER
 *DWARF TABLE dump variables FILE	NAME SYMBOL CODE
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/runtime/go_impl.h"

#define MAX_FRAMES  64
#define MAX_RETURNS 4096

struct program {
	int fd;
	struct elf_file file;
	struct go_module module;
};

static int say(const char *what, int r, const struct err *err)
{
	fprintf(stderr, "dump: %s: %s (%d)\n", what, err->text, r);
	return 1;
}

static int dump_info(struct program *p)
{
	struct go_buildinfo info;
	struct err err = { { 0 } };
	int r = go_buildinfo_read(&p->file, &info, &err);

	if (r)
		return say("info", r, &err);
	printf("%.*s\n%.*s", (int)info.version.n, info.version.at, (int)info.modinfo.n,
	       info.modinfo.at);
	return 0;
}

static int dump_functions(struct program *p)
{
	struct go_function f;

	for (u32 i = 0; i < p->module.functions.nr_functions; i++) {
		if (go_pclntab_function(&p->module.functions, i, &f))
			printf("%llx %s\n", f.vaddr, f.name);
		else
			printf("function %u makes no sense\n", i);
	}
	return 0;
}

static int dump_frames(struct program *p)
{
	struct go_frame frames[MAX_FRAMES];
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		u64 pc = strtoull(line, NULL, 16);
		u32 n = 0;
		int r = go_pclntab_frames(&p->module.functions, pc, frames, MAX_FRAMES, &n);

		if (r)
			printf("error %d", r);
		for (u32 i = 0; i < n; i++)
			printf("%s%s %s:%u", i ? " | " : "", frames[i].function, frames[i].file,
			       frames[i].line);
		putchar('\n');
	}
	return 0;
}

static int dump_returns(struct program *p)
{
	static u64 vaddrs[MAX_RETURNS];
	struct go_function f;

	for (u32 i = 0; i < p->module.functions.nr_functions; i++) {
		struct err err = { { 0 } };
		struct insn_code code;
		int n = -ENOENT;

		if (go_pclntab_function(&p->module.functions, i, &f) &&
		    go_function_code(&p->file, &f, &code))
			n = insn_find_returns(&code, vaddrs, MAX_RETURNS, &err);
		if (n < 0 || n > MAX_RETURNS)
			printf("error %d in %s: %s\n", n, f.name, err.text);
		for (int k = 0; k < n && k < MAX_RETURNS; k++)
			printf("%llx\n", vaddrs[k]);
	}
	return 0;
}

static int dump_probes(struct program *p)
{
	struct go_function f;

	for (u32 i = 0; i < p->module.functions.nr_functions; i++) {
		struct err err = { { 0 } };
		struct insn_probe cheap, exact;
		struct insn_code code;
		int r = -ENOENT;

		if (go_pclntab_function(&p->module.functions, i, &f) &&
		    go_function_code(&p->file, &f, &code))
			r = insn_find_probe(&code, &cheap, &exact, &err);
		if (r)
			printf("error %d in %s: %s\n", r, f.name, err.text);
		else
			printf("%llx %llx %d %d %llx %d %d\n", f.vaddr, cheap.vaddr, cheap.emulated,
			       cheap.exact, exact.vaddr, exact.emulated, exact.exact);
	}
	return 0;
}

static int read_target(struct program *p, bool as_stripped, struct target *ret_target)
{
	struct target_request request = { .ignore_symtab = as_stripped,
					  .ignore_dwarf = as_stripped };
	struct err err = { { 0 } };
	int r = target_read(p->fd, &request, ret_target, &err);

	return r ? say("target", r, &err) : 0;
}

static int dump_target(struct program *p, bool layout)
{
	static struct target full, stripped;

	if (read_target(p, false, &full) || read_target(p, true, &stripped))
		return 1;
	for (int i = 0; layout && i < NR_GO_FIELDS; i++)
		printf("%s %s %d %d\n", go_field_names[i].type,
		       *go_field_names[i].member ? go_field_names[i].member : "_",
		       full.go.offsets[i], stripped.go.offsets[i]);
	for (int i = 0; !layout && i < NR_GO_DATA; i++)
		printf("%s %llx %llx\n", go_data_names[i], full.go.variables[i].vaddr,
		       stripped.go.variables[i].vaddr);
	return 0;
}

static int open_program(const char *path, struct program *p)
{
	/* moduledata.gofunc as the product finds it. */
	static struct target target;
	struct err err = { { 0 } };
	int r;

	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (p->fd < 0 || read_target(p, false, &target))
		return 1;
	r = elf_file_read(p->fd, &p->file, &err);
	if (!r)
		r = go_module_find(&p->file, target.go.offsets[GO_FIELD_MODULEDATA_GOFUNC], true,
				   &p->module, &err);
	return r ? say(path, r, &err) : 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct program *p);
	} modes[] = {
		{ "info", dump_info },	   { "functions", dump_functions },
		{ "frames", dump_frames }, { "returns", dump_returns },
		{ "probes", dump_probes },
	};
	struct program p = { .fd = -1 };
	int status = 2;

	if (argc != 3 || open_program(argv[2], &p))
		return 2;
	if (!strcmp(argv[1], "layout") || !strcmp(argv[1], "variables"))
		status = dump_target(&p, argv[1][0] == 'l');
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(argv[1], modes[i].name))
			status = modes[i].run(&p);
	}
	elf_file_done(&p.file);
	close(p.fd);
	return status;
}
