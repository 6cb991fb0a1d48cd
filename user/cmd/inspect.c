/* SPDX-License-Identifier: MIT */
/* What is known of a program from its file, for people. It is read in a confined process. */
#include "user/cmd/inspect.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/print.h"
#include "user/cmd/targets.h"
#include "user/elf/file.h"
#include "user/proc/procfs.h"
#include "user/render/paper.h"
#include "user/runtime/worker.h"

#define WIDTH	     80
#define LABEL_COLUMN 16
#define POINT_COLUMN 18

static const char *machine_name(u16 machine)
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_AARCH64:
		return "arm64";
	default:
		return "another machine";
	}
}

/* What a file is that no program can be started from, or NULL. */
static const char *other_kind(const struct target_file *f)
{
	switch (f->type) {
	case ET_EXEC:
	case ET_DYN:
		return f->library ? "shared library" : NULL;
	case ET_REL:
		return "object file, not linked yet";
	case ET_CORE:
		return "core dump";
	default:
		return "ELF file of another type";
	}
}

static bool is_cut(const struct target_file *f)
{
	return f->whole_bytes > f->n_bytes;
}

static void print_file(struct paper *p, const char *path, const struct target_file *f)
{
	paper_title(p, "FILE");
	paper_row(p, LABEL_COLUMN, "path", "%s", path);
	paper_row(p, LABEL_COLUMN, "size", "%llu bytes", f->n_bytes);
	if (is_cut(f))
		paper_row(p, LABEL_COLUMN, "cut off", "its headers speak of %llu bytes",
			  f->whole_bytes);
	if (other_kind(f))
		paper_row(p, LABEL_COLUMN, "kind", "%s, %s", machine_name(f->machine),
			  other_kind(f));
	else
		paper_row(p, LABEL_COLUMN, "kind", "%s, %s, %s", machine_name(f->machine),
			  f->dynamic ? "dynamically linked" : "statically linked",
			  f->pie ? "position-independent" : "at a fixed address");
	paper_row(p, LABEL_COLUMN, "symbols", "%s",
		  f->symtab   ? "yes"
		  : is_cut(f) ? "none found"
			      : "stripped");
	paper_row(p, LABEL_COLUMN, "DWARF", "%s",
		  f->dwarf    ? "yes"
		  : is_cut(f) ? "none found"
			      : "none");
	if (*f->build_id)
		paper_row(p, LABEL_COLUMN, "build id", "%s", f->build_id);
	if (f->type == ET_EXEC || f->type == ET_DYN)
		paper_row(p, LABEL_COLUMN, "base address", "0x%llx", f->base_vaddr);
}

/* Why nothing more is said of a file. */
static const char *no_runtime(const struct target_file *f)
{
	if (is_cut(f))
		return "what is left of the file does not tell; inspect the whole file";
	if (f->type != ET_EXEC && f->type != ET_DYN)
		return "it is not a program; inspect what is linked or was run";
	return "it is not a Go program, the only kind that is known more of";
}

static void print_settings(struct paper *p, const char *settings)
{
	const char *label = "settings";

	while (*settings) {
		size_t n = strcspn(settings, "\n");

		paper_row(p, LABEL_COLUMN, label, "%.*s", (int)n, settings);
		label = "";
		settings += n + (settings[n] == '\n');
	}
}

static void print_go(struct paper *p, const struct go_target *go)
{
	paper_title(p, "GO PROGRAM");
	if (*go->info_why) {
		paper_row(p, LABEL_COLUMN, "version", "unknown: %s", go->info_why);
	} else {
		paper_row(p, LABEL_COLUMN, "version", "%s", go->version_text);
		paper_row(p, LABEL_COLUMN, "package", "%s", *go->path ? go->path : "unknown");
		if (*go->module)
			paper_row(p, LABEL_COLUMN, "module", "%s %s", go->module,
				  go->module_version);
		paper_row(p, LABEL_COLUMN, "cgo", "%s", go->cgo ? "yes" : "no");
		print_settings(p, go->settings);
	}
	if (*go->build_id)
		paper_row(p, LABEL_COLUMN, "Go build id", "%s", go->build_id);
}

static void print_functions(struct paper *p, const struct go_target *go)
{
	paper_title(p, "FUNCTION TABLE");
	if (*go->functions_why) {
		paper_row(p, LABEL_COLUMN, "refused", "%s", go->functions_why);
		return;
	}
	paper_row(p, LABEL_COLUMN, "functions", "%u", go->nr_functions);
	paper_row(p, LABEL_COLUMN, "layout", "%s and later", go->pclntab_layout);
	paper_row(p, LABEL_COLUMN, "table at", "0x%llx, found by %s", go->pclntab_vaddr,
		  go->pclntab_found_by);
	paper_row(p, LABEL_COLUMN, "text at", "0x%llx, by %s", go->text_start, go->text_source);
	if (go->moduledata_vaddr)
		paper_row(p, LABEL_COLUMN, "module data", "0x%llx", go->moduledata_vaddr);
	else
		paper_row(p, LABEL_COLUMN, "module data", "not found");
	paper_row(p, LABEL_COLUMN, "inlined calls", "%s", go->inlined_known ? "known" : "unknown");
}

static void print_place(struct paper *p, u64 offset, bool emulated, bool exact)
{
	paper_item(p, PAPER_PLAIN, "offset 0x%llx %s, %s;", offset,
		   emulated ? "emulated" : "single-stepped",
		   exact ? "once per call" : "again when the stack grows");
}

static void print_point(struct paper *p, const char *name, const char *function,
			const struct target_function *f)
{
	char head[64];

	snprintf(head, sizeof(head), "  %s", name);
	paper_begin(p, POINT_COLUMN, PAPER_PLAIN, head);
	paper_text(p, PAPER_PLAIN, function);
	paper_end(p);
	paper_begin(p, POINT_COLUMN, PAPER_PLAIN, "");
	if (f->vaddr)
		paper_item(p, PAPER_PLAIN, "at 0x%llx;", f->vaddr);
	if (*f->why) {
		paper_item(p, PAPER_STRONG, "refused:");
		paper_text(p, PAPER_PLAIN, f->why);
	} else {
		print_place(p, f->cheap_offset, f->cheap_emulated, f->cheap_exact);
		if (f->exact_offset != f->cheap_offset && f->exact_exact)
			print_place(p, f->exact_offset, f->exact_emulated, f->exact_exact);
		paper_item(p, PAPER_PLAIN, "returns at %u place%s", f->nr_returns,
			   f->nr_returns == 1 ? "" : "s");
	}
	paper_end(p);
}

static void print_points(struct paper *p, const struct go_target *go)
{
	paper_title(p, "PROBE POINTS");
	for (int i = 0; i < NR_GO_POINTS; i++)
		print_point(p, go_point_names[i], go_point_functions[i], &go->points[i]);
}

static void print_variables(struct paper *p, const struct go_target *go)
{
	static const char *const how[] = {
		[TARGET_NOT_FOUND] = "refused:",
		[TARGET_BY_SYMBOL] = "by its symbol",
		[TARGET_BY_CODE] = "by the code that uses it",
	};

	paper_title(p, "RUNTIME VARIABLES");
	for (int i = 0; i < NR_GO_DATA; i++) {
		const struct target_variable *v = &go->variables[i];
		char head[64];

		snprintf(head, sizeof(head), "  %s", go_data_names[i]);
		paper_begin(p, 30, PAPER_PLAIN, head);
		if (v->vaddr)
			paper_item(p, PAPER_PLAIN, "0x%llx", v->vaddr);
		paper_item(p, v->vaddr ? PAPER_PLAIN : PAPER_STRONG, "%s", how[v->found]);
		paper_text(p, PAPER_PLAIN, v->why);
		paper_end(p);
	}
}

/* The members of one type, one line or more; returns where the next type begins. */
static int print_type(struct paper *p, const struct go_target *go, int from)
{
	const char *type = go_field_names[from].type;
	bool known = false;
	char head[64];
	int i;

	for (i = from; i < NR_GO_FIELDS && !strcmp(go_field_names[i].type, type); i++)
		known |= go->offsets[i] >= 0;
	if (!known)
		return i;

	snprintf(head, sizeof(head), "  %s", type);
	paper_begin(p, 4, PAPER_STRONG, head);
	paper_end(p);
	paper_begin(p, 6, PAPER_PLAIN, "");
	for (i = from; i < NR_GO_FIELDS && !strcmp(go_field_names[i].type, type); i++) {
		if (go->offsets[i] < 0)
			continue;
		paper_item(p, PAPER_PLAIN, "%s %d",
			   *go_field_names[i].member ? go_field_names[i].member : "size",
			   go->offsets[i]);
	}
	paper_end(p);
	return i;
}

static void print_layout(struct paper *p, const struct go_target *go)
{
	paper_title(p, "LAYOUT");
	if (go->layout == TARGET_LAYOUT_NONE) {
		paper_row(p, LABEL_COLUMN, "refused", "%s", go->layout_why);
		return;
	}
	paper_row(p, LABEL_COLUMN, "source", "%s",
		  go->layout == TARGET_LAYOUT_DWARF ? "the program's own DWARF"
						    : "the table of tested Go versions");
	if (*go->layout_why)
		paper_row(p, LABEL_COLUMN, "but", "%s", go->layout_why);
	for (int i = 0; i < NR_GO_FIELDS;)
		i = print_type(p, go, i);
}

static int print(const char *path, const struct target *target)
{
	struct buf out = { 0 };
	struct paper p = { .buf = &out,
			   .width = WIDTH,
			   .colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR") };
	int status = EXIT_GOOD;

	print_file(&p, path, &target->file);
	if (!*target->runtime) {
		paper_title(&p, "RUNTIME");
		paper_row(&p, LABEL_COLUMN, "none known", "%s", no_runtime(&target->file));
	} else {
		print_go(&p, &target->go);
		print_functions(&p, &target->go);
		print_points(&p, &target->go);
		print_variables(&p, &target->go);
		print_layout(&p, &target->go);
	}
	status = print_whole(&out, status);
	buf_done(&out);
	return status;
}

/* The executable of a process; *ret_status says why there is none. */
static int open_pid(const char *word, char *ret_path, size_t n, int *ret_status)
{
	pid_t pid = strlen(word) < 10 ? (pid_t)strtol(word, NULL, 10) : 0;
	struct err err = { { 0 } };
	struct proc_stat stat;
	int fd;

	*ret_status = EXIT_INVALID;
	if (pid <= 0 || procfs_stat("/proc", pid, &stat)) {
		log_error("inspect: --pid %s: there is no such process (any more)", word);
		return -1;
	}
	if (stat.state == 'Z' || stat.state == 'X') {
		log_error("inspect: --pid %s: `%s` has ended", word, stat.comm);
		return -1;
	}
	*ret_status = EXIT_FAILED;
	procfs_exe("/proc", pid, ret_path, n);
	fd = elf_open_pid(pid, &err);
	if (fd == -ENOENT)
		log_error("inspect: --pid %s: `%s` is a kernel thread, or has just ended", word,
			  stat.comm);
	else if (fd < 0)
		log_error("inspect: --pid %s: %s", word, err.text);
	return fd;
}

static int open_target(const struct options *o, char *ret_path, size_t n, int *ret_status)
{
	struct err err = { { 0 } };
	int fd;

	if (o->pids.n)
		return open_pid(o->pids.word[0], ret_path, n, ret_status);
	snprintf(ret_path, n, "%s", o->rest.word[0]);
	fd = elf_open_path(ret_path, &err);
	if (fd < 0)
		log_error("inspect: %s: %s", ret_path, err.text);
	*ret_status = EXIT_FAILED;
	return fd;
}

int cmd_inspect(const struct options *options)
{
	struct target_request request = { 0 };
	struct err err = { { 0 } };
	struct target *target;
	char path[512] = "";
	int fd, status;

	if (options->pids.n + options->rest.n != 1) {
		log_error("inspect: give one program: skyobserve inspect --pid PID, or "
			  "skyobserve inspect FILE");
		return EXIT_USAGE;
	}
	fd = open_target(options, path, sizeof(path), &status);
	if (fd < 0)
		return status;
	target = calloc(1, sizeof(*target));
	if (!target || target_read_confined(fd, &request, target, &err)) {
		log_error("inspect: %s: %s", path, target ? err.text : "no memory");
		status = EXIT_FAILED;
	} else {
		status = print(path, target);
	}
	free(target);
	close(fd);
	return status;
}
