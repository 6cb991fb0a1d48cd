/* SPDX-License-Identifier: MIT */
/*
 * The rules of what is published: what is not measured is absent, what is measured and did not
 * happen is 0 from the first scrape on, and sums are what they are sums of.
 */
#include "tests/lib/check.h"

#include <errno.h>

#include "tests/golden/scene.h"

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
#define GROUP(id, label, help)                                                           \
	CHECK(FIND(FAM_GROUP_UP, "group", label)->u == (GROUP_##id != GROUP_FUNCTIONS)); \
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
		{ FAM_GO_GC_CPU, NULL, NULL },
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

/* Of each group, what its events cost. */
static const char *const group_labels[NR_GROUPS] = {
#define GROUP(id, label, help) label,
#include "groups.def"
#undef GROUP
};

static bool is_absent(enum probe_group group, enum family_id id, const struct sample *s)
{
	if (id == FAM_PROBE_COST && !strcmp(label_of(s, "group"), group_labels[group]))
		return true;
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

TEST(publish_time_of_runtimes_only_if_all_of_the_name_know_it)
{
	fill_scene();
	publish_scene();
	CHECK_EQ_U64(nr_samples(FAM_GO_RUNTIME_CPU), NR_GO_CPU_CLASSES);
	CHECK_EQ_U64(nr_samples(FAM_GO_GC_PAUSE), 1);
	end_scene();

	fill_scene();
	scene.procs[2].go.counters.programs = 1; /* of the same name, and too old */
	publish_scene();
	CHECK_EQ_U64(nr_samples(FAM_GO_RUNTIME_CPU), 0);
	CHECK_EQ_U64(nr_samples(FAM_GO_GC_PAUSE), 0);
	CHECK(nr_samples(FAM_GO_GC_CYCLES) > 0);
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
