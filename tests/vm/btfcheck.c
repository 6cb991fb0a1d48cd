/* SPDX-License-Identifier: MIT */
/*
 * Checks that BPF objects relocate against the type information of kernels that are not running.
 *
 * libbpf replaces an access to a field that a kernel lacks by an invalid instruction, and says so
 * only in its debug log. That is an error where the instruction can run, and intended where it lies
 * behind a bpf_core_field_exists() that is false on that kernel. So libbpf relocates each program
 * against the other kernel's BTF, the instructions are examined instead of loaded, and an empty
 * program is loaded in their place: nothing here depends on what the running kernel allows, except
 * that it has BPF (needs root).
 *
 * It says nothing of helpers, map types, attach points and the verifier: for that the kernel has to
 * be booted.
 */
#include <errno.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bpf.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "insn_reach.h"

/* bpf_core_poison_insn() in libbpf's relo_core.c: "0xbad2310 => bad relo". */
#define POISON 195896080

#define MAX_TEXT 256

/* A relocation that found no target: where it was, and what it was for. */
struct missing {
	char prog[MAX_TEXT];
	int insn; /* from the start of that function */
	char spec[MAX_TEXT];
	bool resized; /* it is there, but of another size, which libbpf only follows for unsigned
			 numbers */
};

struct check {
	struct missing *missing;
	size_t n_missing;
	char spec[MAX_TEXT];	  /* of the relocation that libbpf is at */
	bool resized;		  /* the same */
	char warning[MAX_TEXT];	  /* the first one */
	char fault[3 * MAX_TEXT]; /* the first reachable one */
	int n_faults;
	int n_progs;
	bool no_memory;
};

/* The one that runs: libbpf's log function has no context argument. */
static struct check *current;

static void remember_missing(struct check *check, const char *prog, int insn)
{
	struct missing *m = reallocarray(check->missing, check->n_missing + 1, sizeof(*m));

	if (!m) {
		check->no_memory = true;
		return;
	}
	check->missing = m;
	m += check->n_missing++;
	snprintf(m->prog, sizeof(m->prog), "%s", prog);
	snprintf(m->spec, sizeof(m->spec), "%s", check->spec);
	m->resized = check->resized;
	m->insn = insn;
}

/*
 * The lines that matter, as libbpf 1.1 to 1.6 write them:
 *   prog 'NAME': relo #1: <byte_off> [7] struct task_struct.__state (0:1 @ offset 4)
 *   prog 'NAME': relo #1: insn #5 (LDX/ST/STX) accesses field incorrectly. Make sure...
 *   prog 'NAME': relo #1: substituting insn #5 w/ invalid insn
 */
static int read_log(enum libbpf_print_level level, const char *format, va_list arguments)
{
	struct check *check = current;
	char line[1024], prog[MAX_TEXT], *text;
	int relo, insn, at = 0;

	if (!check)
		return 0;
	vsnprintf(line, sizeof(line), format, arguments);
	line[strcspn(line, "\n")] = '\0';
	text = strncmp(line, "libbpf: ", 8) ? line : line + 8;
	if (level == LIBBPF_WARN && !check->warning[0])
		snprintf(check->warning, sizeof(check->warning), "%.*s", MAX_TEXT - 1, text);
	if (sscanf(text, "prog '%255[^']': relo #%d: %n", prog, &relo, &at) != 2 || !at)
		return 0;
	if (text[at] == '<') {
		snprintf(check->spec, sizeof(check->spec), "%.*s", MAX_TEXT - 1, text + at);
		check->resized = false;
	} else if (strstr(text + at, "accesses field incorrectly"))
		check->resized = true;
	else if (sscanf(text + at, "substituting insn #%d w/ invalid insn", &insn) == 1)
		remember_missing(check, prog, insn);
	return 0;
}

/* What the invalid instruction @i of @prog was before, or NULL if the log did not say. */
static const struct missing *find_missing(const struct check *check, const struct bpf_program *prog,
					  size_t i)
{
	const struct bpf_insn *insns = bpf_program__insns(prog);
	size_t start = insn_reach_function(insns, bpf_program__insn_cnt(prog), i);

	for (size_t k = 0; k < check->n_missing; k++) {
		const struct missing *m = &check->missing[k];
		bool is_main = !strcmp(m->prog, bpf_program__name(prog));

		if (m->insn == (int)(i - start) && is_main == !start)
			return m;
	}
	return NULL;
}

static void describe(struct check *check, const struct bpf_program *prog, const struct missing *m)
{
	snprintf(check->fault, sizeof(check->fault), "%s uses %s, which %s there, without a guard",
		 bpf_program__name(prog), m ? m->spec : "something",
		 m && m->resized ? "is of another size" : "is not");
}

static int examine(struct check *check, const struct bpf_program *prog)
{
	const struct bpf_insn *insns = bpf_program__insns(prog);
	size_t n = bpf_program__insn_cnt(prog);
	bool *reached = calloc(n, sizeof(*reached));
	int r;

	if (!reached)
		return -ENOMEM;
	r = insn_reach_mark(insns, n, reached);
	for (size_t i = 0; !r && i < n; i++) {
		if (!reached[i] || insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].imm != POISON)
			continue;
		if (!check->n_faults++)
			describe(check, prog, find_missing(check, prog, i));
	}
	free(reached);
	return r;
}

/* libbpf calls this when a program has been relocated and is about to be loaded. */
static int examine_and_empty(struct bpf_program *prog, struct bpf_prog_load_opts *opts, long cookie)
{
	struct check *check = current;
	struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int r;

	(void)cookie;
	/* They describe the instructions that are taken out. */
	opts->prog_btf_fd = 0;
	opts->func_info_cnt = 0;
	opts->line_info_cnt = 0;
	check->n_progs++;
	r = examine(check, prog);
	return r ? r : bpf_program__set_insns(prog, empty, 2);
}

/*
 * Takes the place of libbpf's own handling of the object's sections, which would ask the running
 * kernel for attach points. It lasts, so a section may be registered several times: the first one
 * counts, and libbpf 1.1 frees its list twice when the last one is unregistered.
 */
static int take_over_sections(const char *path)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .prog_prepare_load_fn = examine_and_empty);
	struct bpf_object *obj = bpf_object__open(path);
	struct bpf_program *prog;
	int r = 0;

	if (!obj)
		return -errno;
	bpf_object__for_each_program(prog, obj)
	{
		r = libbpf_register_prog_handler(bpf_program__section_name(prog),
						 BPF_PROG_TYPE_RAW_TRACEPOINT, 0, &opts);
		if (r < 0)
			break;
	}
	bpf_object__close(obj);
	return r < 0 ? r : 0;
}

static int relocate(const char *path, const char *btf)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = btf);
	struct bpf_object *obj = bpf_object__open_file(path, &opts);
	struct bpf_program *prog;
	struct bpf_map *map;
	int r = 0;

	if (!obj)
		return -errno;
	bpf_object__for_each_program(prog, obj) r = r ? r : bpf_program__set_autoload(prog, true);
	/* No map is used, and the running kernel need not know their types. */
	bpf_object__for_each_map(map, obj) r = r ? r : bpf_map__set_autocreate(map, false);
	r = r ? r : bpf_object__load(obj);
	bpf_object__close(obj);
	return r;
}

/* Checks one object against one kernel, prints the case, and returns whether it failed. */
static bool check_object(const char *path, const char *kernel, const char *btf)
{
	struct check check = { 0 };
	char *copy = strdup(path);
	char *name = copy ? basename(copy) : "";
	const char *suffix;
	int r;

	current = &check;
	r = take_over_sections(path);
	r = r ? r : relocate(path, btf);
	current = NULL;
	if (!r && check.no_memory)
		r = -ENOMEM;
	if (!r && !check.n_progs)
		r = -ENOENT;

	suffix = strstr(name, ".bpf.o");
	printf("%s btf_%s_%.*s", r || check.n_faults ? "not ok" : "ok", kernel,
	       (int)(suffix ? (size_t)(suffix - name) : strlen(name)), name);
	if (r == -EPERM)
		printf(": BPF is not permitted; root is needed");
	else if (r)
		printf(": cannot relocate: %s", check.warning[0] ? check.warning : strerror(-r));
	else if (check.n_faults)
		printf(": %s%s", check.fault, check.n_faults > 1 ? " (and more)" : "");
	printf("\n");
	free(copy);
	free(check.missing);
	return r || check.n_faults;
}

int main(int argc, char **argv)
{
	int n_failures = 0, objects = 1;

	while (objects < argc && strcmp(argv[objects], "--"))
		objects++;
	if (objects >= argc - 1 || objects == 1) {
		fprintf(stderr, "usage: btfcheck KERNEL=BTF... -- OBJECT...\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	libbpf_set_print(read_log);
	for (int k = 1; k < objects; k++) {
		char *btf = strchr(argv[k], '=');

		if (!btf) {
			fprintf(stderr, "btfcheck: '%s': want KERNEL=BTF\n", argv[k]);
			return 2;
		}
		*btf++ = '\0';
		for (int i = objects + 1; i < argc; i++)
			n_failures += check_object(argv[i], argv[k], btf);
	}
	return n_failures != 0;
}
