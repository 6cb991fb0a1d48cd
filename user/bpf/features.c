/* SPDX-License-Identifier: MIT */
/* Questions to the kernel about BPF. Knows nothing of what the answers are good for. */
#include "user/bpf/features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "families.h"
#include "user/bpf/embedded.h"

/* Any tracepoint that exists for sure on a kernel with the scheduler. */
#define PROBE_TRACEPOINT "sched_switch"
/* Some helpers are for programs that say so; these programs are under both licences. */
#define PROBE_LICENCE "Dual MIT/GPL"

/* Clock readings in a row, so that the call of the program itself does not count. */
#define STAMPS_PER_RUN 64
#define RUNS_PER_TRY   200
#define STAMP_TRIES    5

#define INSN_RETURN_0                                                            \
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 }, \
	{                                                                        \
		.code = BPF_JMP | BPF_EXIT                                       \
	}

static const struct bpf_insn return_0[] = { INSN_RETURN_0 };

/* bpf_probe_read_kernel(stack, 8, 0): lockdown in confidentiality mode refuses the call itself. */
static const struct bpf_insn read_kernel[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
	{ .code = BPF_ALU64 | BPF_K, .dst_reg = BPF_REG_1, .imm = -8 }, /* BPF_ADD is 0 */
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8 },
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = 0 },
	{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
	INSN_RETURN_0,
};

static int quiet(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	(void)level; /* a refusal is an answer here, not a fault to print */
	(void)fmt;
	(void)ap;
	return 0;
}

static int load(enum bpf_prog_type type, const struct bpf_insn *insns, size_t n,
		const struct bpf_prog_load_opts *opts)
{
	int fd = bpf_prog_load(type, "sky_probe", PROBE_LICENCE, insns, n, opts);

	return fd < 0 ? -errno : fd;
}

#define LOAD(type, insns, opts) load((type), (insns), sizeof(insns) / sizeof((insns)[0]), (opts))

static int ask_map(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "sky_probe", sizeof(u32), sizeof(u64), 1, NULL);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Whether a program that does nothing loads, and whether it was compiled. */
static void ask_program(struct bpf_features *f)
{
	struct bpf_prog_info facts = { 0 };
	u32 bytes = sizeof(facts);
	int fd = LOAD(BPF_PROG_TYPE_SOCKET_FILTER, return_0, NULL);

	f->program = fd < 0 ? fd : 0;
	f->compiled = f->program;
	if (fd < 0)
		return;
	if (bpf_obj_get_info_by_fd(fd, &facts, &bytes))
		f->compiled = -errno;
	else
		f->compiled = facts.jited_prog_len ? 0 : -ENOENT;
	close(fd);
}

static int ask_kernel_read(void)
{
	int fd = LOAD(BPF_PROG_TYPE_RAW_TRACEPOINT, read_kernel, NULL);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Attach the program @fd and let it go at once. @name is NULL for a typed one. */
static int attach_once(int fd, const char *name)
{
	int link, r = 0;

	if (fd < 0)
		return fd;
	link = bpf_raw_tracepoint_open(name, fd);
	if (link < 0)
		r = -errno;
	else
		close(link);
	close(fd);
	return r;
}

static int ask_raw_tracepoint(void)
{
	return attach_once(LOAD(BPF_PROG_TYPE_RAW_TRACEPOINT, return_0, NULL), PROBE_TRACEPOINT);
}

static int ask_typed_tracepoint(const struct btf *btf)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_RAW_TP);
	s32 id = btf__find_by_name_kind(btf, "btf_trace_" PROBE_TRACEPOINT, BTF_KIND_TYPEDEF);

	if (id < 0)
		return -ENOENT;
	opts.attach_btf_id = (u32)id;
	return attach_once(LOAD(BPF_PROG_TYPE_TRACING, return_0, &opts), NULL);
}

static int run_iterator(int link)
{
	int fd = bpf_iter_create(link), r = 0;
	ssize_t n;
	char byte;

	if (fd < 0)
		return -errno;
	/* The program writes nothing, so one read goes over every task. */
	do {
		n = read(fd, &byte, sizeof(byte));
	} while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	if (n < 0)
		r = -errno;
	close(fd);
	return r;
}

static int ask_task_iterator(const struct btf *btf)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_ITER);
	s32 id = btf__find_by_name_kind(btf, "bpf_iter_task", BTF_KIND_FUNC);
	int fd, link, r;

	if (id < 0)
		return -ENOENT;
	opts.attach_btf_id = (u32)id;
	fd = LOAD(BPF_PROG_TYPE_TRACING, return_0, &opts);
	if (fd < 0)
		return fd;
	link = bpf_link_create(fd, 0, BPF_TRACE_ITER, NULL);
	r = link < 0 ? -errno : run_iterator(link);
	if (link >= 0)
		close(link);
	close(fd);
	return r;
}

/*
 * Kernels before 5.11 (bpf: eliminate rlimit-based memory accounting) count maps against the
 * limit: with none left, creating one fails. The limit in force is put back.
 */
static int ask_charged_memory(void)
{
	struct rlimit had, none;
	int r;

	if (getrlimit(RLIMIT_MEMLOCK, &had))
		return -errno;
	none = had;
	none.rlim_cur = 0;
	if (setrlimit(RLIMIT_MEMLOCK, &none))
		return -errno;
	r = ask_map();
	(void)setrlimit(RLIMIT_MEMLOCK, &had); /* up to the hard limit, which is always allowed */
	return r ? 0 : -ENOENT;
}

/* ns of one run of the program @fd on a packet that it does not look at, the fastest of some. */
static int time_program(int fd, u32 *ret_ns)
{
	char packet[64] = { 0 };
	u32 best = ~0u;

	for (int i = 0; i < STAMP_TRIES; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .data_in = packet,
			    .data_size_in = sizeof(packet), .repeat = RUNS_PER_TRY);

		if (bpf_prog_test_run_opts(fd, &opts))
			return -errno;
		if (opts.duration < best)
			best = opts.duration;
	}
	*ret_ns = best;
	return 0;
}

static int time_insns(const struct bpf_insn *insns, size_t n, u32 *ret_ns)
{
	int fd = load(BPF_PROG_TYPE_SOCKET_FILTER, insns, n, NULL);
	int r;

	if (fd < 0)
		return fd;
	r = time_program(fd, ret_ns);
	close(fd);
	return r;
}

/* A program that reads the clock many times against one that does not. */
static int ask_stamp(double *ret_ns)
{
	static const struct bpf_insn stamp = { .code = BPF_JMP | BPF_CALL,
					       .imm = BPF_FUNC_ktime_get_ns };
	struct bpf_insn insns[STAMPS_PER_RUN + 2];
	u32 empty_ns, ns;
	int r;

	for (int i = 0; i < STAMPS_PER_RUN; i++)
		insns[i] = stamp;
	memcpy(&insns[STAMPS_PER_RUN], return_0, sizeof(return_0));
	r = time_insns(return_0, 2, &empty_ns);
	if (!r)
		r = time_insns(insns, STAMPS_PER_RUN + 2, &ns);
	if (!r)
		*ret_ns = ns > empty_ns ? (double)(ns - empty_ns) / STAMPS_PER_RUN : 0;
	return r;
}

void bpf_features_ask(struct bpf_features *ret_features)
{
	struct bpf_features f = { 0 };
	struct btf *btf;

	libbpf_set_print(quiet);
	btf = btf__load_vmlinux_btf();
	f.kernel_types = btf ? 0 : -errno;
	f.nr_kernel_types = btf ? btf__type_cnt(btf) : 0;
	f.map = ask_map();
	ask_program(&f);
	f.kernel_read = ask_kernel_read();
	f.raw_tracepoint = ask_raw_tracepoint();
	f.typed_tracepoint = btf ? ask_typed_tracepoint(btf) : f.kernel_types;
	f.task_iterator = btf ? ask_task_iterator(btf) : f.kernel_types;
	f.charged_memory = f.map ? f.map : ask_charged_memory();
	f.stamp = ask_stamp(&f.stamp_ns);
	btf__free(btf);
	*ret_features = f;
}

/* --- the tracepoints of the hooks --- */

struct hook_name {
	const char *name;
	u32 groups;
};

static const struct hook_name hook_names[] = {
#define HOOK_OBJECT(name, groups) { #name, groups },
#include "user/bpf/hooks.def"
#undef HOOK_OBJECT
};

struct tracepoint_list {
	struct bpf_tracepoint *rows;
	size_t n;
};

static int add_tracepoint(struct tracepoint_list *list, const struct hook_name *hook,
			  const char *name, const struct btf *btf)
{
	struct bpf_tracepoint *grown = realloc(list->rows, (list->n + 1) * sizeof(*grown));
	char typedef_name[80];
	struct bpf_tracepoint *row;

	if (!grown)
		return -ENOMEM;
	list->rows = grown;
	row = &grown[list->n++];
	*row = (struct bpf_tracepoint){ .hook = hook->name, .groups = hook->groups };
	snprintf(row->name, sizeof(row->name), "%s", name);
	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", row->name);
	row->present = btf__find_by_name_kind(btf, typedef_name, BTF_KIND_TYPEDEF) >= 0;
	return 0;
}

/* The programs of an object say in their sections what they are for: "raw_tp/sched_switch". */
static int add_object(struct tracepoint_list *list, const struct hook_name *hook,
		      const struct bpf_embedded *e, const struct btf *btf)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = e->name);
	size_t bytes = (size_t)((const char *)e->bytes_end - (const char *)e->bytes_begin);
	struct bpf_object *obj = bpf_object__open_mem(e->bytes_begin, bytes, &opts);
	struct bpf_program *prog;
	int r = 0;

	if (!obj)
		return -errno;
	bpf_object__for_each_program(prog, obj)
	{
		const char *name = strchr(bpf_program__section_name(prog), '/');

		if (!r && name)
			r = add_tracepoint(list, hook, name + 1, btf);
	}
	bpf_object__close(obj);
	return r;
}

static const struct bpf_embedded *find_raw(const char *hook)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.raw_tp", hook);
	for (size_t i = 0; i < nr_bpf_embedded; i++) {
		if (!strcmp(bpf_embedded[i].name, name))
			return &bpf_embedded[i];
	}
	return NULL; /* a hook that is no tracepoint */
}

int bpf_features_tracepoints(struct bpf_tracepoint **ret_rows, size_t *ret_n, struct err *err)
{
	struct tracepoint_list list = { 0 };
	struct btf *btf;
	int r = 0;

	libbpf_set_print(quiet);
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return err_set(err, -ENOENT, "this kernel has no type information");
	for (size_t i = 0; i < sizeof(hook_names) / sizeof(hook_names[0]) && !r; i++) {
		const struct bpf_embedded *e = find_raw(hook_names[i].name);

		if (e)
			r = add_object(&list, &hook_names[i], e, btf);
	}
	btf__free(btf);
	if (r) {
		free(list.rows);
		return err_set(err, r, "cannot list the tracepoints: %s", strerror(-r));
	}
	*ret_rows = list.rows;
	*ret_n = list.n;
	return 0;
}
