/* SPDX-License-Identifier: MIT */
/* Opens, loads and attaches the hooks. Knows no metric and no process name. */
#include "user/bpf/session.h"

#include <bpf/btf.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "user/bpf/config.h"
#include "user/bpf/embedded.h"
#include "user/bpf/session_impl.h"

const struct bpf_bounds bpf_bounds_default = {
	.max_details = 64,
	.max_processes = 1024,
	.max_threads = 16384, /* 3 MB of cells */
	.max_rows = 3072,     /* 48 calls of each process with details; 1.4 MB a lane */
	.max_errors = 4096,
	.max_kinds = 64,
	.max_flows = 8192, /* 7 MB */
	.max_go = 64,
	.max_leaves = 16384,
	.max_lanes = 8, /* beyond that, memory grows faster than contention falls */
	.max_pid = 4194304,
};

struct hook_row {
	const char *name;
	u32 groups;
};

static const struct hook_row hook_rows[] = {
#define HOOK_OBJECT(name, groups) { #name, groups },
#include "user/bpf/hooks.def"
#undef HOOK_OBJECT
};

#define NR_HOOKS (sizeof(hook_rows) / sizeof(hook_rows[0]))
_Static_assert(NR_HOOKS <= MAX_SESSION_OBJECTS, "a place for each hook");

static int quiet_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level <= LIBBPF_WARN && getenv("SKYOBSERVE_DEBUG_LIBBPF"))
		return vfprintf(stderr, fmt, ap);
	return 0;
}

static void group_set(struct bpf_session *s, u32 groups, bool up, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void group_set(struct bpf_session *s, u32 groups, bool up, const char *fmt, ...)
{
	for (u32 g = 0; g < NR_GROUPS; g++) {
		va_list ap;

		if (!(groups & (1u << g)))
			continue;
		s->groups[g].up = up;
		va_start(ap, fmt);
		vsnprintf(s->groups[g].reason, sizeof(s->groups[g].reason), fmt, ap);
		va_end(ap);
	}
}

static const struct bpf_embedded *find_embedded(const char *hook, const char *variant)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s", hook, variant);
	for (size_t i = 0; i < nr_bpf_embedded; i++) {
		if (!strcmp(bpf_embedded[i].name, name))
			return &bpf_embedded[i];
	}
	return NULL;
}

/* Put @cfg where the object's `cfg` variable is in its read-only section. */
static int set_config(struct bpf_object *obj, const struct bpf_config *cfg, struct err *err)
{
	const struct btf *btf = bpf_object__btf(obj);
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata");
	s32 id = btf ? btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC) : -1;
	const struct btf_type *sec;
	size_t bytes = 0;
	char *image;

	if (!map)
		return 0; /* a hook that asks for no configuration */
	/* bpf_map__initial_value is const only by its type; libbpf documents writing it before
	 * load. */
	image = (char *)bpf_map__initial_value(map, &bytes);
	if (id < 0 || !image)
		return err_set(err, -EINVAL,
			       "the BPF object has no description of its configuration");
	sec = btf__type_by_id(btf, (u32)id);
	for (u32 i = 0; i < btf_vlen(sec); i++) {
		const struct btf_var_secinfo *v = &btf_var_secinfos(sec)[i];
		const struct btf_type *var = btf__type_by_id(btf, v->type);

		if (strcmp(btf__name_by_offset(btf, var->name_off), "cfg"))
			continue;
		if (v->size != sizeof(*cfg) || v->offset + v->size > bytes)
			return err_set(err, -EINVAL,
				       "the BPF object was built with another layout");
		memcpy(image + v->offset, cfg, sizeof(*cfg));
		return 0;
	}
	return 0;
}

/* Each entry is verified by itself, which takes long: those that no function has are left out. */
static void leave_out_functions(struct bpf_object *obj, u32 nr_functions)
{
	for (u32 i = nr_functions; i < MAX_FUNCTIONS; i++) {
		struct bpf_program *prog;
		char name[32];

		snprintf(name, sizeof(name), "function_entry_%u", i);
		prog = bpf_object__find_program_by_name(obj, name);
		if (prog)
			(void)bpf_program__set_autoload(prog, false);
	}
}

static int load_variant(struct bpf_session *s, const struct bpf_embedded *e,
			const struct bpf_config *cfg, struct bpf_object **ret_obj, struct err *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = e->name);
	struct bpf_object *obj = NULL;
	int r;

	obj = bpf_object__open_mem(
		e->bytes_begin, (size_t)((const char *)e->bytes_end - (const char *)e->bytes_begin),
		&opts);
	if (!obj)
		return err_set(err, -errno, "cannot open: %s", strerror(errno));
	r = session_share_maps(s, obj, err);
	if (!r)
		r = set_config(obj, cfg, err);
	if (!r && !bpf_config_choose_programs(s->kernel_btf, obj))
		r = err_set(err, -ENOENT, "the kernel has no such tracepoint");
	leave_out_functions(obj, cfg->nr_functions);
	if (!r) {
		r = bpf_object__load(obj);
		if (r)
			(void)err_set(err, r, "the kernel refused it: %s", strerror(-r));
	}
	if (r) {
		bpf_object__close(obj);
		return r;
	}
	*ret_obj = obj;
	return 0;
}

static int attach_programs(struct bpf_session *s, struct bpf_object *obj, u32 groups,
			   struct err *err)
{
	struct bpf_program *prog;
	struct bpf_link *link;

	bpf_object__for_each_program(prog, obj)
	{
		/* Uprobes are attached to one process after the other: session_probes.c. */
		if (!bpf_program__autoload(prog) || bpf_program__type(prog) == BPF_PROG_TYPE_KPROBE)
			continue;
		if (s->nr_links == MAX_SESSION_LINKS)
			return err_set(err, -ENOSPC, "too many programs");
		if (bpf_program__type(prog) == BPF_PROG_TYPE_TRACING &&
		    bpf_program__expected_attach_type(prog) == BPF_TRACE_ITER)
			link = bpf_program__attach_iter(prog, NULL);
		else
			link = bpf_program__attach(prog);
		if (!link)
			return err_set(err, -errno, "cannot attach %s: %s", bpf_program__name(prog),
				       strerror(errno));
		if (bpf_program__expected_attach_type(prog) == BPF_TRACE_ITER)
			s->iter_link = link;
		else
			s->links[s->nr_links++] = (struct session_link){ link, prog, groups };
	}
	return 0;
}

/* Load a hook: typed if the kernel takes it, else untyped. Returns how, or NULL with @err. */
static const char *load_hook(struct bpf_session *s, size_t hook, const struct bpf_config *cfg,
			     bool force_raw_tp, struct err *err)
{
	static const struct {
		const char *suffix, *words;
	} variants[] = { { ".tp_btf", "typed tracepoint" },
			 { ".raw_tp", "raw tracepoint" },
			 { "", "loaded; no program is probed" } };

	(void)err_set(err, 0, "not built in");
	for (size_t i = 0; i < sizeof(variants) / sizeof(variants[0]); i++) {
		const struct bpf_embedded *e =
			find_embedded(hook_rows[hook].name, variants[i].suffix);

		if (!e || (force_raw_tp && i == 0))
			continue;
		if (!load_variant(s, e, cfg, &s->objects[hook], err))
			return variants[i].words;
	}
	return NULL;
}

static void hook_lost(struct bpf_session *s, size_t hook, const struct err *err)
{
	group_set(s, hook_rows[hook].groups & s->wanted, false, "%s: %.120s", hook_rows[hook].name,
		  err->text);
	s->wanted &= ~hook_rows[hook].groups;
	bpf_object__close(s->objects[hook]);
	s->objects[hook] = NULL;
}

/* Groups that have a hook; the others need no probe. */
static u32 hooked_groups(void)
{
	u32 groups = 1u << GROUP_PROCESS;

	for (size_t i = 0; i < NR_HOOKS; i++)
		groups |= hook_rows[i].groups;
	return groups;
}

/* The time that requests wait is of no use without requests. */
static void leave_out_queue(struct bpf_session *s)
{
	if (s->wanted & 1u << GROUP_INTERACTIONS)
		return;
	if (s->wanted & 1u << GROUP_QUEUE)
		group_set(s, 1u << GROUP_QUEUE, false, "requests are not looked for");
	s->wanted &= ~(1u << GROUP_QUEUE);
}

static void load_hooks(struct bpf_session *s, const struct bpf_session_config *config)
{
	struct bpf_config cfg;

	bpf_config_fill(s->kernel_btf, &s->bounds, s->lanes, s->wanted, &cfg);
	cfg.observe_all = config->observe_all;
	cfg.max_named = s->named;
	cfg.call_lane_mask = s->call_lanes - 1;
	cfg.nr_routes = config->routes ? config->routes->n : 0;
	cfg.nr_goods = config->nr_goods;
	cfg.nr_functions = config->nr_functions;
	cfg.nr_wanted_comms = config->nr_comms;
	cfg.nr_wanted_files = config->nr_files;
	cfg.wanted_flags = PROCESS_WANTED | (config->follow ? PROCESS_FOLLOW : 0);
	for (size_t i = 0; i < NR_HOOKS; i++) {
		struct err err = { { 0 } };
		const char *how;

		if (!(hook_rows[i].groups & s->wanted))
			continue;
		how = load_hook(s, i, &cfg, config->force_raw_tp, &err);
		if (!how)
			hook_lost(s, i, &err);
		else if (strncmp(hook_rows[i].name, "iter_", 5) !=
			 0) /* the tracepoints tell more */
			group_set(s, hook_rows[i].groups & s->wanted, true, "%s", how);
	}
}

/*
 * Who is lost when @hook cannot be attached: if descriptors are used up, the last one that others
 * can do without.
 */
static size_t who_gives_way(const struct bpf_session *s, size_t hook, int error)
{
	for (size_t i = NR_HOOKS; error == -EMFILE && i-- > hook;) {
		if (s->objects[i] && !(hook_rows[i].groups & 1u << GROUP_PROCESS))
			return i;
	}
	return hook;
}

/* Only when everything they need is in place: from here on the programs run. */
static void attach_hooks(struct bpf_session *s, const char *refused_hook)
{
	int r = 0;

	for (size_t i = 0; i < NR_HOOKS && r != -EMFILE; i++) {
		struct err err = { { 0 } };
		bool refused = refused_hook && !strcmp(refused_hook, hook_rows[i].name);

		if (!s->objects[i])
			continue;
		r = refused ? err_set(&err, -EPERM, "refused for a test")
			    : attach_programs(s, s->objects[i], hook_rows[i].groups, &err);
		if (r)
			hook_lost(s, who_gives_way(s, i, r), &err);
	}
}

/* Kernels before 5.11 charge maps to this limit; later ones do not need it. */
static void raise_memlock(void)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	(void)setrlimit(RLIMIT_MEMLOCK, &limit); /* map creation says it if it mattered */
}

static u32 choose_lanes(u32 cpus, u32 max_lanes)
{
	u32 lanes = 1;

	while (lanes < cpus && lanes < max_lanes)
		lanes *= 2;
	return lanes;
}

/* The shared slot for the processes that find no other; it never ends. */
static int set_up_other(struct bpf_session *s, struct err *err)
{
	u32 slot = bpf_session_other_slot(s);
	struct process_cell *p = session_element(s, MAP_processes, slot);

	if (!p)
		return err_set(err, -EINVAL, "the bounds leave no room for processes");
	*p = (struct process_cell){ .tgid = ~0u, .account = slot, .begin_ns = session_now() };
	return 0;
}

static int set_up_wanted(struct bpf_session *s, const struct bpf_session_config *config,
			 struct err *err)
{
	struct wanted *w = session_element(s, MAP_wanted, 0);

	if (!w || config->nr_comms > MAX_WANTED || config->nr_files > MAX_WANTED)
		return err_set(err, -EINVAL, "more than %d names or files are wanted", MAX_WANTED);
	for (u32 i = 0; i < config->nr_comms; i++)
		strncpy((char *)w->comm[i], config->comms[i], COMM_BYTES - 1);
	return 0;
}

/* Detach and unload everything. */
static void unload(struct bpf_session *s)
{
	while (s->nr_links)
		bpf_link__destroy(s->links[--s->nr_links].link); /* NULL is fine */
	bpf_link__destroy(s->iter_link);
	s->iter_link = NULL;
	for (size_t i = 0; i < MAX_SESSION_OBJECTS; i++) {
		bpf_object__close(s->objects[i]); /* NULL is fine */
		s->objects[i] = NULL;
	}
	session_maps_done(s);
}

/* What is wanted, as far as the kernel lets it: s->wanted is what remains. */
static int load_and_attach(struct bpf_session *s, const struct bpf_session_config *config,
			   struct err *err)
{
	int r;

	load_hooks(s, config);
	if (!s->groups[GROUP_PROCESS].up)
		return 0;
	r = session_maps_ready(s, err);
	if (!r)
		r = set_up_other(s, err);
	if (!r)
		r = set_up_wanted(s, config, err);
	if (!r && s->groups[GROUP_INTERACTIONS].up)
		r = session_set_up_kinds(s, config, err);
	if (!r)
		attach_hooks(s, config->refused_hook);
	return r;
}

/*
 * A group that is lost takes back what was attached of it, and the other programs' knowledge of it,
 * which is constant once they are loaded: so everything is loaded again without it.
 */
static int load_what_works(struct bpf_session *s, const struct bpf_session_config *config,
			   struct err *err)
{
	u32 before;
	int r;

	s->wanted = config->groups | 1u << GROUP_PROCESS;
	group_set(s, ~0u, false, "not asked for");
	group_set(s, s->wanted & ~hooked_groups(), true, "without a probe");
	for (;;) {
		leave_out_queue(s);
		before = s->wanted;
		r = load_and_attach(s, config, err);
		if (r || s->wanted == before || !s->groups[GROUP_PROCESS].up)
			return r;
		unload(s);
	}
}

int bpf_session_open(const struct bpf_session_config *config, struct bpf_session **ret_session,
		     struct err *err)
{
	struct bpf_session *s;
	int r;

	libbpf_set_print(quiet_print);
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, -ENOMEM, "no memory for a BPF session");
	for (int i = 0; i < NR_SESSION_MAPS; i++)
		s->maps[i].fd = -1;
	s->bounds = config->bounds;
	s->nr_route_states = config->routes && config->routes->n ? config->routes->nr_states : 1;
	s->nr_routes = config->routes && config->routes->n ? config->routes->n : 1;
	s->nr_goods = config->nr_goods ? config->nr_goods : 1;
	if (!(config->groups & 1u << GROUP_INTERACTIONS))
		s->bounds.max_kinds = s->bounds.max_flows = 1;
	if (!(config->groups & 1u << GROUP_GO_GC))
		s->bounds.max_go = 1;
	if (s->bounds.max_go > s->bounds.max_details)
		s->bounds.max_go = s->bounds.max_details;
	if (!(config->groups & 1u << GROUP_CENSUS))
		s->bounds.max_leaves = 1;
	s->cpus = (u32)libbpf_num_possible_cpus();
	s->lanes = choose_lanes(s->cpus, s->bounds.max_lanes);
	/* In one lane, which costs where many CPUs run threads of one process: 4 KiB a process. */
	s->call_lanes = config->all_syscalls ? 1 : s->lanes;
	s->named = config->all_syscalls ? s->bounds.max_processes : s->bounds.max_details;

	s->kernel_btf = btf__load_vmlinux_btf();
	if (!s->kernel_btf) {
		r = err_set(
			err, -EOPNOTSUPP,
			"this kernel has no type information (/sys/kernel/btf/vmlinux): a kernel "
			"with CONFIG_DEBUG_INFO_BTF is needed");
		goto out;
	}
	raise_memlock();
	r = load_what_works(s, config, err);
	btf__free(s->kernel_btf); /* 10 MB that nothing needs any more */
	s->kernel_btf = NULL;
	(void)malloc_trim(0); /* what libbpf needed for loading lies between what it keeps */
	if (r)
		goto out;
	if (!s->groups[GROUP_PROCESS].up) {
		r = geteuid() ? -EPERM : -EOPNOTSUPP;
		r = err_set(err, r, "cannot load the BPF programs: %s%s",
			    s->groups[GROUP_PROCESS].reason,
			    r == -EPERM ? "; run as root (sudo)" : "; see `skyobserve doctor`");
		goto out;
	}
	*ret_session = s;
	return 0;
out:
	bpf_session_free(s);
	return r;
}

void bpf_session_free(struct bpf_session *s)
{
	if (!s)
		return;
	unload(s);
	btf__free(s->kernel_btf);
	free(s);
}

const struct group_state *bpf_session_groups(const struct bpf_session *s)
{
	return s->groups;
}
