/* SPDX-License-Identifier: MIT */
/* The maps of a session: created once by their names, shared by all objects, mapped for reading. */
#include "user/bpf/session_impl.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const map_names[NR_SESSION_MAPS] = {
#define MAP(name, bound) [MAP_##name] = #name,
	SESSION_MAPS(MAP)
#undef MAP
};

/* Bounds of the maps in elements, by the words used in SESSION_MAPS. */
struct map_sizes {
	u32 pid_blocks, pids, hints, threads, details, processes, lane_details, lane_accounts;
	u32 rows, lane_rows, errors, lanes, cpus, one;
	u32 lane_calls, flows, kinds, lane_kinds, codes, lane_go, states, routes, goods, leaves,
		functions;
};

static u32 map_max_entries(const struct bpf_session *s, enum session_map map)
{
	const struct map_sizes n = {
		.pid_blocks = s->bounds.max_pid / PIDS_PER_BLOCK + 1,
		/* Processes beyond the bound are noted as belonging to `other`. */
		.pids = 4 * s->bounds.max_processes,
		.hints = NR_THREAD_HINTS,
		.threads = s->bounds.max_threads,
		.details = s->bounds.max_details,
		.processes = s->bounds.max_processes,
		.lane_details = s->lanes * s->bounds.max_details,
		/* One account per process, its background; then those of kinds. */
		.lane_accounts = s->lanes * session_accounts(s),
		.lane_calls = s->call_lanes * session_call_accounts(s),
		.flows = s->bounds.max_flows,
		.kinds = s->bounds.max_kinds,
		.lane_kinds = s->lanes * s->bounds.max_kinds,
		.codes = s->bounds.max_kinds * MAX_KIND_CODES,
		.states = s->nr_route_states,
		.routes = s->nr_routes,
		.goods = s->nr_goods,
		.functions = MAX_FUNCTIONS,
		.lane_go = s->lanes * s->bounds.max_go,
		.leaves = s->bounds.max_leaves,
		.rows = s->bounds.max_rows,
		.lane_rows = s->lanes * s->bounds.max_rows,
		.errors = s->bounds.max_errors,
		.lanes = s->lanes,
		.cpus = s->cpus,
		.one = 1,
	};
	const u32 sizes[NR_SESSION_MAPS] = {
#define MAP(name, bound) [MAP_##name] = n.bound,
		SESSION_MAPS(MAP)
#undef MAP
	};

	return sizes[map];
}

static size_t element_bytes(const struct session_map_state *m)
{
	return (m->value_size + 7u) & ~(size_t)7; /* array elements start at multiples of 8 */
}

void *session_element(const struct bpf_session *s, enum session_map map, u32 i)
{
	const struct session_map_state *m = &s->maps[map];

	if (!m->mapped || i >= m->max_entries)
		return NULL;
	return (char *)m->mapped + i * element_bytes(m);
}

static int create_map(struct bpf_session *s, enum session_map map, const struct bpf_map *def,
		      struct err *err)
{
	struct session_map_state *m = &s->maps[map];
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = bpf_map__map_flags(def));
	int fd;

	m->type = bpf_map__type(def);
	m->value_size = bpf_map__value_size(def);
	m->max_entries = map_max_entries(s, map);
	fd = bpf_map_create(m->type, map_names[map], bpf_map__key_size(def), m->value_size,
			    m->max_entries, &opts);
	if (fd < 0)
		return err_set(err, -errno, "cannot create the BPF map `%s` (%u x %u bytes): %s",
			       map_names[map], m->max_entries, m->value_size, strerror(errno));
	m->fd = fd;
	return 0;
}

static int find_map(const char *name)
{
	for (int i = 0; i < NR_SESSION_MAPS; i++) {
		if (!strcmp(map_names[i], name))
			return i;
	}
	return -1;
}

int session_share_maps(struct bpf_session *s, struct bpf_object *obj, struct err *err)
{
	struct bpf_map *def;
	int i, r;

	bpf_object__for_each_map(def, obj)
	{
		if (bpf_map__is_internal(def))
			continue;
		i = find_map(bpf_map__name(def));
		if (i < 0)
			return err_set(err, -EINVAL, "BPF map `%s` is not in the session's table",
				       bpf_map__name(def));
		if (s->maps[i].fd < 0) {
			r = create_map(s, (enum session_map)i, def, err);
			if (r)
				return r;
		}
		r = bpf_map__reuse_fd(def, s->maps[i].fd);
		if (r)
			return err_set(err, r, "cannot share the BPF map `%s`: %s", map_names[i],
				       strerror(-r));
	}
	return 0;
}

static int map_array(struct session_map_state *m, const char *name, struct err *err)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t bytes = element_bytes(m) * m->max_entries;
	void *mapped;

	bytes = (bytes + page - 1) / page * page;
	mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	if (mapped == MAP_FAILED)
		return err_set(err, -errno, "cannot map the BPF array `%s` (%zu bytes): %s", name,
			       bytes, strerror(errno));
	m->mapped = mapped;
	m->mapped_bytes = bytes;
	return 0;
}

/* Push @first..@end-1, so that the lowest is popped first. */
static int fill_free_list(const struct session_map_state *m, u32 first, u32 end, struct err *err)
{
	for (u32 i = end; i-- > first;) {
		if (bpf_map_update_elem(m->fd, NULL, &i, BPF_ANY))
			return err_set(err, -errno, "cannot fill a free list: %s", strerror(errno));
	}
	return 0;
}

int session_maps_ready(struct bpf_session *s, struct err *err)
{
	const struct {
		enum session_map map;
		u32 first, end;
	} lists[] = {
		{ MAP_free_threads, 0, s->bounds.max_threads },
		{ MAP_free_rows, 1, s->bounds.max_rows }, /* row 0 means "none yet" */
		{ MAP_free_flows, 0, s->bounds.max_flows },
		{ MAP_free_kinds, s->bounds.max_processes, session_accounts(s) },
		{ MAP_free_details, 0, s->bounds.max_details },
		/* The last slot is `other`. */
		{ MAP_free_processes, s->bounds.max_details, s->bounds.max_processes - 1 },
	};

	int r;

	for (int i = 0; i < NR_SESSION_MAPS; i++) {
		struct session_map_state *m = &s->maps[i];

		/* Whatever is mapped counts as our memory. */
		if (m->fd < 0 || m->type != BPF_MAP_TYPE_ARRAY || i == MAP_observed ||
		    i == MAP_thread_hints)
			continue;
		r = map_array(m, map_names[i], err);
		if (r)
			return r;
	}

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const struct session_map_state *m = &s->maps[lists[i].map];

		r = m->fd < 0 ? 0 : fill_free_list(m, lists[i].first, lists[i].end, err);
		if (r)
			return r;
	}
	return 0;
}

void session_maps_done(struct bpf_session *s)
{
	for (int i = 0; i < NR_SESSION_MAPS; i++) {
		struct session_map_state *m = &s->maps[i];

		if (m->mapped)
			munmap(m->mapped, m->mapped_bytes);
		if (m->fd >= 0)
			close(m->fd);
		m->mapped = NULL;
		m->fd = -1;
	}
}
