/* SPDX-License-Identifier: MIT */
/*
 * From a snapshot to what Prometheus reads, whole: tests/golden/publish_*; and the rule that what
 * is not measured is absent, and what is measured and did not happen is 0 from the first scrape on.
 *
 * With GOLDEN_UPDATE=1 in the environment the files are written instead; read the difference before
 * it is committed.
 */
#include "tests/lib/check.h"

#include <errno.h>

#include "user/model/identities.h"
#include "user/model/publish.h"
#include "user/model/syscall_names.h"
#include "user/render/prom.h"

#define SECOND	NS_PER_SEC
#define MICRO	1000ULL
#define WALL_NS 1767225600000000000ULL /* when the machine booted */

#define MAX_PROCS 4

/* Three processes, two of one name, and room for their parts. */
struct scene {
	struct snapshot snap;
	struct process_snap procs[MAX_PROCS];
	struct process_totals totals[MAX_PROCS];
	struct kind_snap kinds[3];
	struct call_hist call_hists[2];
	struct error_count errors[5];
	struct foreign_count foreign[2];
	struct task_record threads[4];
	struct map_fill maps[2];
	struct program_stats programs[2];
	struct exporter_facts facts;
	struct family_set set;
};

/* Large; each case begins it anew. */
static struct scene scene;

/* The number of a call on this machine: the golden files hold names, in the order of numbers. */
static u32 nr_of(const char *name)
{
	int nr = syscall_nr(SYSCALL_ARCH_NATIVE, name);

	CHECK(nr >= 0);
	return (u32)nr;
}

static void observe(struct hist *h, u64 ns, u64 times)
{
	h->sum += ns * times;
	h->counts[hist_bucket(ns)] += times;
}

static void begin_scene(void)
{
	struct snapshot *snap = &scene.snap;

	memset(&scene, 0, sizeof(scene));
	snap->processes = scene.procs;
	snap->begin_ns = 100 * SECOND;
	snap->end_ns = 100 * SECOND + 250 * MICRO;
	snap->wall_minus_mono_ns = WALL_NS;
	snap->machine.tick_hz = 100;
	snap->machine.online_cpus = 2;
	snap->machine.switches = 12345;
	scene.facts = (struct exporter_facts){ .version = "1.2.3",
					       .libbpf_version = "1.1",
					       .arch = "x86_64" };
	for (u32 i = 0; i < NR_GROUPS; i++) {
		snap->groups[i].up = true;
		snprintf(snap->groups[i].reason, sizeof(snap->groups[i].reason), "%s", "tp_btf");
	}
}

/* A process without a single event. */
static struct process_snap *add_process(const char *name, pid_t pid)
{
	struct process_snap *p = &scene.procs[scene.snap.nr_processes++];

	scene.snap.nr_counted++;
	p->id.pid = pid;
	p->id.start_wall_ns = WALL_NS + 10 * SECOND + 500000000;
	snprintf(p->id.name, sizeof(p->id.name), "%s", name);
	snprintf(p->id.comm, sizeof(p->id.comm), "%s", "app");
	snprintf(p->id.exe, sizeof(p->id.exe), "%s", "/usr/bin/app");
	p->alive = true;
	p->details = true;
	p->incarnations = 1;
	p->begin_ns = 90 * SECOND;
	p->read_ns = 100 * SECOND;
	return p;
}

static void publish_scene(void)
{
	for (size_t i = 0; i < scene.snap.nr_processes; i++)
		totals_of(&scene.procs[i], &scene.totals[i]);
	publish(&scene.snap, scene.totals, &scene.facts, &scene.set);
	CHECK(!scene.set.failed);
}

static void end_scene(void)
{
	family_set_done(&scene.set);
}

/* --- comparing with the golden files --- */

/* The texts of the table are not what is tested here: they may change without these files. */
static void without_texts(const struct buf *all, struct buf *ret_rest)
{
	for (const char *line = all->bytes; *line;) {
		size_t n = strcspn(line, "\n") + 1;

		if (strncmp(line, "# HELP ", 7) != 0 &&
		    strncmp(line, "skyobserve_method_info{", 23) != 0)
			buf_add(ret_rest, line, n);
		line += n;
	}
}

static void read_file(const char *path, struct buf *ret_text)
{
	char chunk[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		FAIL("%s: %s; run from the top of the tree, GOLDEN_UPDATE=1 writes it", path,
		     strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)))
		buf_add(ret_text, chunk, n);
	fclose(f);
}

static void write_file(const char *path, const struct buf *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(text->bytes, 1, text->len, f) != text->len || fclose(f))
		FAIL("%s: cannot write", path);
}

static void check_golden(const char *name, enum prom_format format)
{
	struct buf all = { 0 }, got = { 0 }, want = { 0 };
	char path[128];
	const char *g, *w;
	size_t line = 1;

	CHECK_EQ_INT(prom_render(&scene.set, format, &all), 0);
	without_texts(&all, &got);
	buf_done(&all);
	snprintf(path, sizeof(path), "tests/golden/publish_%s", name);
	if (getenv("GOLDEN_UPDATE"))
		write_file(path, &got);
	read_file(path, &want);
	for (g = got.bytes, w = want.bytes; *g && *w; line++) {
		size_t gn = strcspn(g, "\n"), wn = strcspn(w, "\n");

		if (gn != wn || memcmp(g, w, gn) != 0)
			FAIL("%s:%zu: got \"%.*s\", want \"%.*s\"", path, line, (int)gn, g, (int)wn,
			     w);
		g += gn + (g[gn] == '\n');
		w += wn + (w[wn] == '\n');
	}
	CHECK_EQ_U64(got.len, want.len);
	buf_done(&got);
	buf_done(&want);
}

/* --- the scene of the golden files --- */

/* The first of two processes: much happened. */
static void fill_busy(struct process_snap *p)
{
	u64 *c = p->cells;

	c[CELL_CPU + MODE_USER] = 3 * SECOND + 1;
	c[CELL_CPU + MODE_SYSTEM] = 2 * SECOND;
	c[CELL_ENDED_RUNTIME] = 5 * SECOND + 1;
	for (u32 i = 0; i < NR_REASONS; i++) {
		c[CELL_OFF_CPU + i] = (i + 1) * SECOND / 10;
		observe(&p->off_cpu[i], MICRO << i, i + 1);
	}
	c[CELL_ON_STAMPS] = 5 * SECOND + 200 * 1000 * MICRO;
	c[CELL_SWITCHES + SWITCH_VOLUNTARY] = 500;
	c[CELL_SWITCHES + SWITCH_INVOLUNTARY] = 20;
	c[CELL_PAGE_FAULTS] = 77;
	c[CELL_READ_BYTES] = 123456789012;
	c[CELL_FSYNCS + DURABLE_FSYNC] = 4;
	c[CELL_FSYNCS + DURABLE_URING_FSYNC] = 5;
	observe(&p->durable[DURABLE_FSYNC], 1500 * MICRO, 4);
	observe(&p->durable[DURABLE_FSYNC], 90 * SECOND, 1);
	observe(&p->durable[DURABLE_URING_FSYNC], 2000 * MICRO, 5);
	c[CELL_ENTERS] = 1116;
	c[CELL_EXITS] = 1116;
	p->calls[nr_of("read")] = 1000;
	p->calls[nr_of("write")] = 100;
	p->calls[nr_of("fsync")] = 5;
	p->calls[NR_CALL_SLOTS - 1] = 4; /* newer than our table */
	scene.call_hists[0].nr = nr_of("read");
	observe(&scene.call_hists[0].hist, 900, 990);
	observe(&scene.call_hists[0].hist, 3 * SECOND, 10);
	p->call_hists = scene.call_hists;
	p->nr_call_hists = 1;
	scene.errors[0] = (struct error_count){ ERROR_SYSCALL, (u16)nr_of("read"), EAGAIN, 3 };
	scene.errors[1] =
		(struct error_count){ ERROR_SYSCALL, (u16)nr_of("read"), ERRNO_RESTART, 2 };
	scene.errors[2] = (struct error_count){ ERROR_SYSCALL, (u16)nr_of("write"), 3999, 1 };
	scene.errors[3] = (struct error_count){ ERROR_DURABLE, DURABLE_FSYNC, EIO, 1 };
	p->errors = scene.errors;
	p->nr_errors = 4;
	scene.foreign[0] = (struct foreign_count){ ABI_COMPAT, 4, 6 };
	scene.foreign[1] = (struct foreign_count){ ABI_X32, 1, 1 };
	p->foreign = scene.foreign;
	p->nr_foreign = 2;
	p->enters_before = p->enters_after = 1116;
	p->books_begin = (struct proc_books){ .valid = true, .read_ns = 90 * SECOND };
	p->books_now = (struct proc_books){ .valid = true,
					    .read_ns = 100 * SECOND,
					    .cpu_ticks = 500,
					    .resident_bytes = 4096 * 1000 };
}

static struct task_record thread_in(const char *call, u64 since_ns)
{
	struct task_record rec = { .known = 1, .now_ns = 100 * SECOND };
	struct thread_cell *c = &rec.cell;

	c->begin_ns = 90 * SECOND;
	c->run_state = RUN_BLOCKED;
	c->reason = REASON_FUTEX;
	c->since_ns = since_ns;
	c->enter_ns = since_ns;
	c->nr = (s32)nr_of(call);
	c->enters = 1;
	return rec;
}

/* The second one: its threads wait. */
static void fill_waiting(struct process_snap *p)
{
	scene.threads[0] = thread_in("futex", 99 * SECOND);
	scene.threads[1] = thread_in("futex", 95 * SECOND);
	p->threads = scene.threads;
	p->nr_threads = 2;
	p->calls[nr_of("futex")] = 2;
	p->enters_before = p->enters_after = 2;
	p->begin_ns = 85 * SECOND; /* the name is observed since then */
	p->books_now = (struct proc_books){ .valid = true, .resident_bytes = 4096 };
}

/* One of the two of the name is over, and its counters stay. */
static void fill_go(void)
{
	scene.procs[0].go = (struct go_stats){
		.counted = true,
		.current = true,
		.begin_wall_ns = WALL_NS + 10 * SECOND,
		.counters = { .allocated_objects = 1000000,
			      .allocated_bytes = 48000000,
			      .freed_objects = 900000,
			      .freed_bytes = 43200000,
			      .gc_cycles = { [GO_GC_AUTOMATIC] = 40, [GO_GC_FORCED] = 2 },
			      .cpu_known = 1,
			      .cpu_ns = { 100 * NS_PER_MS, 2000 * NS_PER_MS, 30 * NS_PER_MS,
					  4 * NS_PER_MS, 5000, 6000, 70 * SECOND, 8 * SECOND } },
		.gauges = { .heap_live_bytes = 5000000,
			    .heap_goal_bytes = 10000000,
			    .goroutines = 12,
			    .max_procs = 2,
			    .memory_limit_bytes = ~0ULL >> 1,
			    .gc_percent = -1,
			    .memory_bytes = { 6000000, 1000000, 2000000, 500000, 400000, 100000 } },
	};
	scene.procs[2].go = (struct go_stats){ .counted = true,
					       .begin_wall_ns = WALL_NS + 20 * SECOND,
					       .counters = { .allocated_objects = 5 } };
}

static void fill_scene(void)
{
	struct process_snap *p;

	begin_scene();
	fill_busy(add_process("app", 4242));
	p = add_process("weird \"\\\n\xff\x1b[31m \xc3\xa9", 17);
	p->details = false; /* the small set */
	p->cells[CELL_SMALL_SYSCALLS] = 12;
	p->cells[CELL_ENTERS] = p->cells[CELL_EXITS] = 12;
	p->enters_before = p->enters_after = 12;
	p->alive = false;
	snprintf(p->id.comm, sizeof(p->id.comm), "%s", "\xc3\xa9\n");
	snprintf(p->id.exe, sizeof(p->id.exe), "%s", "/tmp/a \"b\" (deleted)");
	fill_waiting(add_process("app", 4243));
	fill_go();

	scene.snap.machine.steal_ticks = 5;
	scene.snap.drops[DROP_ROWS_FULL] = 2;
	scene.maps[0] = (struct map_fill){ "threads", 2, 16384 };
	scene.maps[1] = (struct map_fill){ "errors", 0, 4096 };
	scene.snap.maps = scene.maps;
	scene.snap.nr_maps = 2;
	scene.programs[0] = (struct program_stats){ "sys_enter", 123456, 789 };
	scene.programs[1] = (struct program_stats){ "sched_switch", 0, 0 };
	scene.snap.programs = scene.programs;
	scene.snap.nr_programs = 2;
	scene.snap.bpf_stats_on = true;
	scene.facts.scrape_ns = 420 * MICRO;
	scene.facts.start_wall_ns = WALL_NS + 80 * SECOND;
	scene.facts.broker_cpu_ticks = 7;
	scene.facts.broker_resident_bytes = 2048000;
	scene.facts.cpu_ticks = 12;
	scene.facts.open_fds = 30;
	scene.facts.max_fds = 1024;
	scene.facts.virtual_bytes = 1 << 30;
	scene.facts.max_virtual_bytes = ~0ULL;
	scene.facts.resident_bytes = 1 << 24;
}

/* A process whose interactions are told apart: what was charged to each, and to the background. */
static void fill_served(struct process_snap *p)
{
	struct kind_snap *k = scene.kinds;

	p->details = false;
	p->goroutines = true;
	snprintf(k[1].name, sizeof(k[1].name), "%s", "other");
	snprintf(k[2].name, sizeof(k[2].name), "%s", "POST /user/:id");
	k[0].cells[CELL_CPU] = 3 * SECOND;
	k[0].cells[CELL_SMALL_SYSCALLS] = 20;
	k[2].cells[CELL_CPU] = SECOND;
	k[2].cells[CELL_CPU + MODE_SYSTEM] = 250 * NS_PER_MS;
	k[2].cells[CELL_SMALL_SYSCALLS] = 14;
	k[2].cells[CELL_FSYNCS] = 2;
	k[2].cells[CELL_BEGUN] = 5;
	k[2].cells[CELL_COMPLETED] = 4;
	k[2].cells[CELL_SESSIONS_OPENED] = 3;
	k[2].cells[CELL_SESSIONS_CLOSED] = 1;
	k[2].cells[CELL_UNOWNED_WALL] = 7 * NS_PER_MS;
	k[2].codes[k[2].nr_codes++] = (struct code_count){ 200, 2 };
	k[2].codes[k[2].nr_codes++] = (struct code_count){ INTERACTION_ABORTED, 1 };
	k[2].codes[k[2].nr_codes++] = (struct code_count){ CODE_OTHER, 1 };
	observe(&k[2].hists.duration, 3 * NS_PER_MS, 2);
	observe(&k[2].hists.enters, 7 * HIST_ONE, 2);
	observe(&k[2].hists.fsyncs, HIST_ONE, 2);
	p->kinds = k;
	p->nr_kinds = 3;
	for (size_t i = 0; i < 3; i++) {
		for (size_t c = 0; c < NR_CELLS; c++)
			p->cells[c] += k[i].cells[c];
	}
	p->enters_before = p->enters_after = 34;
	p->cells[CELL_ENTERS] = p->cells[CELL_EXITS] = 34;
}

TEST(publish_whole_scene)
{
	fill_scene();
	publish_scene();
	check_golden("scene.om", PROM_OPENMETRICS);
	end_scene();
}

TEST(publish_whole_scene_with_pids)
{
	fill_scene();
	/* Histograms are long, and the same: the small set of both. */
	scene.procs[0].details = scene.procs[2].details = false;
	scene.facts.label_pid = true;
	publish_scene();
	check_golden("pids.prom", PROM_TEXT);
	end_scene();
}

TEST(publish_what_is_charged_to_each_kind)
{
	begin_scene();
	fill_served(add_process("web", 80));
	publish_scene();
	check_golden("kinds.prom", PROM_TEXT);
	end_scene();
}

TEST(publish_without_groups_only_what_proc_says)
{
	fill_scene();
	for (u32 i = 0; i < NR_GROUPS; i++) {
		scene.snap.groups[i].up = false;
		snprintf(scene.snap.groups[i].reason, sizeof(scene.snap.groups[i].reason), "%s",
			 "no BTF");
	}
	for (size_t i = 0; i < scene.snap.nr_processes; i++)
		scene.procs[i].go = (struct go_stats){ 0 };
	publish_scene();
	check_golden("groups_down.prom", PROM_TEXT);
	end_scene();
}

TEST(publish_nothing_observed)
{
	begin_scene();
	publish_scene();
	check_golden("nothing.prom", PROM_TEXT);
	end_scene();
}

/* --- absent and 0 --- */

static const char *label_of(const struct sample *s, const char *name)
{
	for (u32 i = 0; i < s->nr_labels; i++) {
		if (!strcmp(s->labels[i].name, name))
			return s->labels[i].value;
	}
	return NULL;
}

/* The only sample of @id that has these labels (pairs, ended by NULL), or NULL. */
static const struct sample *find(enum family_id id, const char *const *labels)
{
	const struct family *f = &scene.set.families[id];
	const struct sample *found = NULL;

	for (size_t i = 0; i < f->nr_samples; i++) {
		bool fits = true;

		for (size_t k = 0; labels[k]; k += 2) {
			const char *value = label_of(&f->samples[i], labels[k]);

			fits &= value && !strcmp(value, labels[k + 1]);
		}
		if (fits && found)
			FAIL("%s has two samples of %s=%s", family_descs[id].name, labels[0],
			     labels[1]);
		if (fits)
			found = &f->samples[i];
	}
	return found;
}

#define FIND(id, ...) find(id, (const char *const[]){ __VA_ARGS__, NULL })

static void check_zero(enum family_id id, const char *const *labels)
{
	const struct sample *s = find(id, labels);

	if (!s)
		FAIL("%s{%s=\"%s\"} is absent", family_descs[id].name, labels[0], labels[1]);
	if (family_descs[id].type != FAMILY_HIST) {
		CHECK_EQ_U64(s->u, 0);
		return;
	}
	CHECK(s->hist != NULL);
	CHECK_EQ_U64(s->hist->sum, 0);
	for (u32 i = 0; i < NR_HIST_BUCKETS; i++)
		CHECK_EQ_U64(s->hist->counts[i], 0);
}

#define CHECK_ZERO(id, ...) check_zero(id, (const char *const[]){ __VA_ARGS__, NULL })

static u64 nr_samples(enum family_id id)
{
	return scene.set.families[id].nr_samples;
}

static const char *const reasons[] = {
#define REASON(id, label, help) label,
#include "reasons.def"
#undef REASON
};

static const struct {
	const char *call, *via;
} durables[] = {
#define DURABLE(id, call, via) { call, via },
#include "durable.def"
#undef DURABLE
};

static void begin_quiet(void)
{
	begin_scene();
	(void)add_process("app", 1);
	publish_scene();
}

TEST(publish_every_reason_is_there_at_0)
{
	begin_quiet();
	CHECK_EQ_U64(nr_samples(FAM_OFF_CPU), NR_REASONS);
	CHECK_EQ_U64(nr_samples(FAM_OFF_CPU_DURATION), NR_REASONS);
	for (u32 i = 0; i < NR_REASONS; i++) {
		CHECK_ZERO(FAM_OFF_CPU, "process", "app", "reason", reasons[i]);
		CHECK_ZERO(FAM_OFF_CPU_DURATION, "process", "app", "reason", reasons[i]);
	}
	end_scene();
}

TEST(publish_every_mode_and_kind_is_there_at_0)
{
	begin_quiet();
	CHECK_EQ_U64(nr_samples(FAM_CPU), NR_MODES);
	CHECK_ZERO(FAM_CPU, "process", "app", "mode", "user");
	CHECK_ZERO(FAM_CPU, "process", "app", "mode", "system");
	CHECK_EQ_U64(nr_samples(FAM_SWITCHES), NR_SWITCH_KINDS);
	CHECK_ZERO(FAM_SWITCHES, "process", "app", "kind", "voluntary");
	CHECK_ZERO(FAM_SWITCHES, "process", "app", "kind", "involuntary");
	CHECK_ZERO(FAM_PAGE_FAULTS, "process", "app");
	CHECK_ZERO(FAM_READ_BYTES, "process", "app");
	CHECK_ZERO(FAM_WRITTEN_BYTES, "process", "app");
	end_scene();
}

TEST(publish_every_durable_write_is_there_at_0)
{
	begin_quiet();
	CHECK_EQ_U64(nr_samples(FAM_FSYNCS), NR_DURABLES);
	CHECK_EQ_U64(nr_samples(FAM_FSYNC_DURATION), NR_DURABLES);
	for (u32 i = 0; i < NR_DURABLES; i++) {
		CHECK_ZERO(FAM_FSYNCS, "process", "app", "call", durables[i].call, "via",
			   durables[i].via);
		CHECK_ZERO(FAM_FSYNC_DURATION, "process", "app", "call", durables[i].call, "via",
			   durables[i].via);
	}
	end_scene();
}

TEST(publish_every_drop_and_group_is_there)
{
	begin_quiet();
#define DROP(id, label, help) CHECK_ZERO(FAM_DROPPED, "reason", label);
#include "drops.def"
#undef DROP
#define GROUP(id, label, help)                             \
	CHECK(FIND(FAM_GROUP_UP, "group", label)->u == 1); \
	CHECK_STR(label_of(FIND(FAM_GROUP, "group", label), "reason"), "tp_btf");
#include "groups.def"
#undef GROUP
	CHECK_EQ_U64(nr_samples(FAM_DROPPED), NR_DROPS);
	CHECK_EQ_U64(nr_samples(FAM_GROUP_UP), NR_GROUPS);
	CHECK_EQ_U64(FIND(FAM_QUALITY_OK, "gate", "drops")->u, 1);
	CHECK_EQ_U64(FIND(FAM_QUALITY_OK, "gate", "chain")->u, 1);
	end_scene();
}

/*
 * What is absent without a group, of a scene in which everything is there: whole families, or with
 * a label those series only. All the rest is there: a row that is missing here fails as well.
 */
#define MAX_ABSENCES 32 /* rows of the table below; the rest of it is zeros, which is FAM_BUILD */

struct absence {
	enum family_id family;
	const char *label, *value; /* NULL: all of it */
};

/* clang-format off */
static const struct absence absent_without[NR_GROUPS][MAX_ABSENCES] = {
	[GROUP_SCHED] = {
		{ FAM_CPU, NULL, NULL }, { FAM_STEAL, NULL, NULL }, { FAM_OFF_CPU, NULL, NULL },
		{ FAM_OFF_CPU_DURATION, NULL, NULL }, { FAM_SWITCHES, NULL, NULL },
		{ FAM_PAGE_FAULTS, NULL, NULL }, { FAM_SWITCH_CHAIN, NULL, NULL },
		{ FAM_CHAIN_BREAKS, NULL, NULL }, { FAM_QUALITY_OK, "gate", "chain" },
	},
	[GROUP_SYSCALLS] = {
		{ FAM_SYSCALLS, NULL, NULL }, { FAM_SYSCALL_ERRORS, NULL, NULL },
		{ FAM_SYSCALL_DURATION, NULL, NULL }, { FAM_SYSCALLS_IN_FLIGHT, NULL, NULL },
		{ FAM_SYSCALLS_OLDEST, NULL, NULL }, { FAM_READ_BYTES, NULL, NULL },
		{ FAM_WRITTEN_BYTES, NULL, NULL },
		{ FAM_CPU, "mode", "user" }, { FAM_CPU, "mode", "system" }, /* their sum is there */
#define NEEDS_CALLS(reason) \
		{ FAM_OFF_CPU, "reason", reason }, { FAM_OFF_CPU_DURATION, "reason", reason }
		NEEDS_CALLS("fsync"), NEEDS_CALLS("futex"), NEEDS_CALLS("poll"), NEEDS_CALLS("sleep"),
		NEEDS_CALLS("socket"), NEEDS_CALLS("pipe"), NEEDS_CALLS("page_fault"),
		NEEDS_CALLS("stopped"),
#undef NEEDS_CALLS
	},
	[GROUP_FSYNC] = {
		{ FAM_FSYNCS, "via", "syscall" }, { FAM_FSYNC_DURATION, "via", "syscall" },
		{ FAM_FSYNC_ERRORS, "via", "syscall" },
	},
	[GROUP_IO_URING] = {
		{ FAM_FSYNCS, "via", "io_uring" }, { FAM_FSYNC_DURATION, "via", "io_uring" },
		{ FAM_FSYNC_ERRORS, "via", "io_uring" },
	},
};
/* clang-format on */

static bool is_absent(enum probe_group group, enum family_id id, const struct sample *s)
{
	for (size_t i = 0; i < MAX_ABSENCES; i++) {
		const struct absence *a = &absent_without[group][i];
		const char *value = a->label ? label_of(s, a->label) : NULL;

		if (!a->family || a->family != id)
			continue;
		if (!a->label || (value && !strcmp(value, a->value)))
			return true;
	}
	return false;
}

static bool same_labels(const struct sample *a, const struct sample *b)
{
	if (a->nr_labels != b->nr_labels)
		return false;
	for (u32 i = 0; i < a->nr_labels; i++) {
		if (strcmp(a->labels[i].name, b->labels[i].name) != 0 ||
		    strcmp(a->labels[i].value, b->labels[i].value) != 0)
			return false;
	}
	return true;
}

static bool is_published(enum family_id id, const struct sample *like)
{
	const struct family *f = &scene.set.families[id];

	for (size_t i = 0; i < f->nr_samples; i++) {
		if (same_labels(&f->samples[i], like))
			return true;
	}
	return false;
}

/* The scene, with failed durable writes of both groups, and without @down if that is a group. */
static void publish_all_but(u32 down)
{
	fill_scene();
	scene.errors[4] = (struct error_count){ ERROR_DURABLE, DURABLE_URING_FSYNC, EIO, 1 };
	scene.procs[0].nr_errors = 5;
	if (down < NR_GROUPS)
		scene.snap.groups[down].up = false;
	publish_scene();
}

TEST(publish_groups_that_are_down_publish_nothing_and_the_others_all)
{
	struct family_set full;

	publish_all_but(NR_GROUPS);
	full = scene.set;
	for (u32 g = 0; g < NR_GROUPS; g++) {
		publish_all_but(g);
		for (u32 id = 0; id < NR_FAMILIES; id++) {
			const struct family *f = &full.families[id];

			/* These follow from the others; identities have tests of their own. */
			if (id == FAM_METHOD || id == FAM_IDENTITY_OK ||
			    id == FAM_IDENTITY_RESIDUAL)
				continue;
			for (size_t i = 0; i < f->nr_samples; i++) {
				bool want = !is_absent(g, id, &f->samples[i]);

				if (is_published(id, &f->samples[i]) != want)
					FAIL("group %u down: sample %zu of %s is %s", g, i,
					     family_descs[id].name, want ? "absent" : "there");
			}
		}
		end_scene();
	}
	family_set_done(&full);
}

TEST(publish_durable_writes_come_from_two_groups)
{
	for (u32 down = 0; down < 2; down++) {
		enum probe_group group = down ? GROUP_IO_URING : GROUP_FSYNC;

		begin_scene();
		(void)add_process("app", 1);
		scene.snap.groups[group].up = false;
		publish_scene();
		for (u32 i = 0; i < NR_DURABLES; i++) {
			bool is_down = (i >= NR_DURABLE_SYSCALLS) == (down == 1);

			CHECK_EQ_INT(FIND(FAM_FSYNCS, "call", durables[i].call, "via",
					  durables[i].via) == NULL,
				     is_down);
		}
		end_scene();
	}
}

TEST(publish_cpu_time_is_not_split_without_system_calls)
{
	begin_scene();
	add_process("app", 1)->cells[CELL_CPU + MODE_USER] = 3;
	scene.procs[0].cells[CELL_CPU + MODE_SYSTEM] = 4;
	scene.snap.groups[GROUP_SYSCALLS].up = false;
	publish_scene();
	CHECK_EQ_U64(nr_samples(FAM_CPU), 1);
	CHECK_EQ_U64(FIND(FAM_CPU, "process", "app")->u, 7);
	CHECK_STR(label_of(FIND(FAM_CPU, "process", "app"), "mode"), NULL);
	end_scene();
}

TEST(publish_open_sets_appear_with_their_first_event)
{
	begin_quiet();
	CHECK_EQ_U64(nr_samples(FAM_SYSCALLS), 0);
	CHECK_EQ_U64(nr_samples(FAM_SYSCALL_ERRORS), 0);
	CHECK_EQ_U64(nr_samples(FAM_SYSCALL_DURATION), 0);
	CHECK_EQ_U64(nr_samples(FAM_FSYNC_ERRORS), 0);
	CHECK_EQ_U64(nr_samples(FAM_SYSCALLS_IN_FLIGHT), 0);
	end_scene();
}

TEST(publish_what_is_not_known_is_absent)
{
	begin_quiet();
	CHECK_EQ_U64(nr_samples(FAM_RESIDENT), 0);
	CHECK_EQ_U64(nr_samples(FAM_STEAL), 0);
	CHECK_EQ_U64(FIND(FAM_STEAL_SUPPORTED, NULL)->u, 0);
	CHECK_EQ_U64(nr_samples(FAM_BPF_RUNS), 0);
	CHECK_EQ_U64(nr_samples(FAM_EXP_CPU), 0);
	CHECK_EQ_U64(nr_samples(FAM_SCRAPE_DURATION), 0);
	CHECK(!FIND(FAM_IDENTITY_OK, "identity", "cpu"));
	CHECK(!FIND(FAM_IDENTITY_OK, "identity", "switches"));
	CHECK(FIND(FAM_IDENTITY_OK, "identity", "wall") != NULL);
	end_scene();
}

TEST(publish_an_ended_process_keeps_its_counters)
{
	begin_scene();
	add_process("app", 1)->cells[CELL_CPU + MODE_USER] = 5;
	scene.procs[0].alive = false;
	publish_scene();
	CHECK_EQ_U64(FIND(FAM_PROCESS_UP, "process", "app")->u, 0);
	CHECK_EQ_U64(FIND(FAM_INCARNATIONS, "process", "app")->u, 1);
	CHECK_EQ_U64(FIND(FAM_CPU, "process", "app", "mode", "user")->u, 5);
	end_scene();
}

TEST(publish_sums_what_was_taken_over_into_its_name)
{
	struct process_snap *ended;

	begin_scene();
	add_process("app", 1)->cells[CELL_CPU + MODE_USER] = 5;
	ended = add_process("app", 0); /* 40 processes that ended, taken over */
	scene.snap.nr_counted = 1;
	ended->incarnations = 40;
	ended->alive = false;
	ended->cells[CELL_CPU + MODE_USER] = 1000;
	publish_scene();
	CHECK_EQ_U64(nr_samples(FAM_PROCESS), 1);
	CHECK_EQ_U64(FIND(FAM_INCARNATIONS, "process", "app")->u, 41);
	CHECK_EQ_U64(FIND(FAM_PROCESS_UP, "process", "app")->u, 1);
	CHECK_EQ_U64(FIND(FAM_CPU, "process", "app", "mode", "user")->u, 1005);
	end_scene();
}

TEST(publish_sums_of_the_calls_are_the_total)
{
	u64 sum = 0;

	fill_scene();
	publish_scene();
	for (u64 i = 0; i < nr_samples(FAM_SYSCALLS); i++)
		sum += scene.set.families[FAM_SYSCALLS].samples[i].u;
	CHECK_EQ_U64(sum, 1116 + 2 + 12);
	end_scene();
}

TEST(publish_sums_of_the_kinds_are_the_process)
{
	u64 ns = 0, calls = 0;

	begin_scene();
	fill_served(add_process("web", 80));
	publish_scene();
	for (u64 i = 0; i < nr_samples(FAM_CPU); i++)
		ns += scene.set.families[FAM_CPU].samples[i].u;
	for (u64 i = 0; i < nr_samples(FAM_SYSCALLS); i++)
		calls += scene.set.families[FAM_SYSCALLS].samples[i].u;
	CHECK_EQ_U64(ns, scene.totals[0].cells[CELL_CPU] + scene.totals[0].cells[CELL_CPU + 1]);
	CHECK_EQ_U64(ns, 4250 * NS_PER_MS);
	CHECK_EQ_U64(calls, 34);
	end_scene();
}

TEST(publish_waits_of_goroutines_only_where_goroutines_are_owners)
{
	struct process_snap *p;

	begin_scene();
	p = add_process("web", 80);
	fill_served(p);
	publish_scene();
	CHECK(FIND(FAM_OFF_CPU, "interaction", "POST /user/:id", "reason", "go_scheduler"));
	CHECK(nr_samples(FAM_INTERACTION_SPLIT) > 0);
	end_scene();

	begin_scene();
	p = add_process("web", 80);
	fill_served(p);
	p->goroutines = false;
	publish_scene();
	CHECK(!FIND(FAM_OFF_CPU, "interaction", "POST /user/:id", "reason", "go_scheduler"));
	CHECK_EQ_U64(nr_samples(FAM_INTERACTION_SPLIT), 0);
	CHECK(nr_samples(FAM_INTERACTIONS) > 0);
	end_scene();
}

TEST(publish_without_the_group_kinds_are_not_told_apart)
{
	begin_scene();
	fill_served(add_process("web", 80));
	scene.snap.groups[GROUP_INTERACTIONS].up = false;
	publish_scene();
	CHECK_EQ_U64(nr_samples(FAM_SYSCALLS), 1);
	CHECK_EQ_U64(nr_samples(FAM_INTERACTIONS), 0);
	CHECK_EQ_U64(nr_samples(FAM_SESSIONS), 0);
	end_scene();
}

TEST(publish_every_quantity_says_how_it_is_measured)
{
	fill_scene();
	publish_scene();
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		const struct family_desc *d = &family_descs[i];
		const struct sample *s;
		char name[128];

		if (d->exporter || d->type == FAMILY_INFO)
			continue;
		family_name(d, name, sizeof(name));
		s = FIND(FAM_METHOD, "quantity", name + strlen(FAMILY_PREFIX));
		CHECK_EQ_INT(s != NULL, nr_samples(i) != 0);
		if (s)
			CHECK(label_of(s, "method") && label_of(s, "error"));
	}
	end_scene();
}

TEST(publish_no_family_of_the_table_is_forgotten)
{
	/* The scene has everything: a row that is never published promises what nobody measures. */
	fill_scene();
	fill_served(add_process("web", 80));
	publish_scene();
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		if (!nr_samples(i))
			FAIL("%s is never published", family_descs[i].name);
	}
	end_scene();
}
