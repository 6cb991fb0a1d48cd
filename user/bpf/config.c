/* SPDX-License-Identifier: MIT */
/* The configuration of the BPF programs. Asks the kernel's BTF, never its version. */
#include "user/bpf/config.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>

#include "user/model/syscall_names.h"

/* The prototype of a tracepoint, or NULL: BTF has it as typedef btf_trace_<name>. */
static const struct btf_type *tracepoint_proto(const struct btf *btf, const char *name)
{
	const struct btf_type *t;
	s32 id = btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);

	if (id < 0)
		return NULL;
	t = btf__type_by_id(btf, btf__type_by_id(btf, (u32)id)->type);
	if (!t || !btf_is_ptr(t))
		return NULL;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? t : NULL;
}

/* Name of the structure that argument @i (0 is the first after the context) points to, or "". */
static const char *arg_struct(const struct btf *btf, const struct btf_type *proto, u32 i)
{
	const struct btf_type *t;

	if (!proto || btf_vlen(proto) <= i + 1)
		return "";
	t = btf__type_by_id(btf, btf_params(proto)[i + 1].type);
	if (!t || !btf_is_ptr(t))
		return "";
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_struct(t) ? btf__name_by_offset(btf, t->name_off) : "";
}

static bool arg_is_pointer(const struct btf *btf, const struct btf_type *proto, u32 i)
{
	const struct btf_type *t;

	if (!proto || btf_vlen(proto) <= i + 1)
		return false;
	t = btf__type_by_id(btf, btf_params(proto)[i + 1].type);
	return t && btf_is_ptr(t);
}

/*
 * Submission: io_uring_submit_sqe(ctx, opcode, ...) up to 5.18, (ctx, req, user_data, opcode, ...)
 * in 5.19 to 6.3, (req, ...) later as io_uring_submit_sqe, then io_uring_submit_req (6.4).
 */
static enum uring_submit_form submit_form(const struct btf *btf)
{
	const struct btf_type *proto = tracepoint_proto(btf, "btf_trace_io_uring_submit_req");

	if (!proto)
		proto = tracepoint_proto(btf, "btf_trace_io_uring_submit_sqe");
	if (!proto)
		return URING_SUBMIT_NONE;
	if (!strcmp(arg_struct(btf, proto, 0), "io_kiocb"))
		return URING_SUBMIT_REQ;
	return arg_is_pointer(btf, proto, 1) ? URING_SUBMIT_CTX_REQ : URING_SUBMIT_CTX_OP;
}

/* Completion: (ctx, user_data, res, ...), (ctx, req, user_data, res, ...), (ctx, req, cqe). */
static enum uring_complete_form complete_form(const struct btf *btf)
{
	const struct btf_type *proto = tracepoint_proto(btf, "btf_trace_io_uring_complete");

	if (!proto)
		return URING_COMPLETE_NONE;
	if (!strcmp(arg_struct(btf, proto, 2), "io_uring_cqe"))
		return URING_COMPLETE_CQE;
	return arg_is_pointer(btf, proto, 1) ? URING_COMPLETE_REQ : URING_COMPLETE_USER_DATA;
}

static void fill_calls(struct call_class *calls)
{
	static const struct {
		const char *name;
		struct call_class class;
	} table[] = {
#define CALL(name, wait, durable, io, buffer) \
	{ name, { WAIT_##wait, RULE_##durable, CALL_IO_##io, BUFFER_##buffer } },
#include "calls.def"
#undef CALL
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		int nr = syscall_nr(SYSCALL_ARCH_NATIVE, table[i].name);

		if (nr >= 0 && nr < NR_CALL_SLOTS)
			calls[nr] = table[i].class;
	}
}

void bpf_config_fill(const struct btf *kernel_btf, const struct bpf_bounds *bounds, u32 lanes,
		     u32 groups, struct bpf_config *ret_cfg)
{
	const struct btf_type *proto = tracepoint_proto(kernel_btf, "btf_trace_sched_switch");

	*ret_cfg = (struct bpf_config){
		.groups = groups,
		.lane_mask = lanes - 1,
		.max_details = bounds->max_details,
		.max_processes = bounds->max_processes,
		.max_accounts = bounds->max_processes + bounds->max_kinds,
		.max_kinds = bounds->max_kinds,
		.max_flows = bounds->max_flows,
		.max_go = bounds->max_go,
		.max_rows = bounds->max_rows,
		.switch_has_state = proto && btf_vlen(proto) == 5,
		.uring_submit_form = submit_form(kernel_btf),
		.uring_complete_form = complete_form(kernel_btf),
	};
	fill_calls(ret_cfg->calls);
}

int bpf_config_choose_programs(const struct btf *kernel_btf, struct bpf_object *obj)
{
	struct bpf_program *prog;
	int n = 0;

	bpf_object__for_each_program(prog, obj)
	{
		const char *section = bpf_program__section_name(prog);
		const char *name = strchr(section, '/');
		char typedef_name[80];

		snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name ? name + 1 : "");
		if (!strncmp(section, "iter/", 5) || !strncmp(section, "uprobe/", 7) ||
		    tracepoint_proto(kernel_btf, typedef_name))
			n++;
		else
			(void)bpf_program__set_autoload(prog, false); /* fails only after load */
	}
	return n;
}
