/* SPDX-License-Identifier: MIT */
/*
 * Whole reports on made-up records, and a whole comparison, with tests/golden/record_*.
 *
 * With GOLDEN_UPDATE=1 in the environment the files are written instead; read the difference before
 * it is committed.
 */
#include "tests/lib/golden.h"

#include "user/render/compare_table.h"
#include "user/render/record_report.h"

#define KIND "POST /event"

static struct sample *add(struct family_set *set, enum family_id id, u64 u, const char *interaction,
			  const char *label, const char *value)
{
	bool seconds = !strcmp(family_descs[id].unit, "seconds");
	struct sample *s = family_add(set, id);

	s->kind = seconds ? VALUE_NS : VALUE_COUNT;
	s->u = u;
	sample_label(set, s, "process", "app\x1b[31m");
	if (interaction)
		sample_label(set, s, "interaction", interaction);
	if (label)
		sample_label(set, s, label, value);
	return s;
}

static void add_plain(struct family_set *set, enum family_id id, u64 u, const char *label,
		      const char *value)
{
	struct sample *s = family_add(set, id);

	s->kind = !strcmp(family_descs[id].unit, "seconds") ? VALUE_NS : VALUE_COUNT;
	s->u = u;
	if (label)
		sample_label(set, s, label, value);
}

/* @t seconds after the beginning, in which @each was done per second. */
static void fill_account(struct family_set *set, const char *interaction, u64 t, u64 each)
{
	(void)add(set, FAM_CPU, t * each * 600000, interaction, "mode", "user");
	(void)add(set, FAM_CPU, t * each * 400000, interaction, "mode", "system");
	(void)add(set, FAM_OFF_CPU, t * each * 2000000, interaction, "reason", "fsync");
	(void)add(set, FAM_OFF_CPU, t * each * 500000, interaction, "reason", "run_queue");
	(void)add(set, FAM_SYSCALLS, t * each * 9, interaction, "syscall", "write");
	(void)add(set, FAM_SYSCALLS, t * each, interaction, "syscall", "fsync");
	sample_label(set, add(set, FAM_FSYNCS, t * each, interaction, "call", "fsync"), "via",
		     "syscall");
	(void)add(set, FAM_PAGE_FAULTS, t, interaction, NULL, NULL);
}

static void fill(struct record *r, u64 t, u64 each)
{
	struct record_frame *f = record_frame_add(r);
	struct family_set *set = &f->set;
	struct hist *hist = arena_zalloc(&set->arena, sizeof(*hist));

	f->begin_ns = (1000 + t) * NS_PER_SEC;
	f->end_ns = f->begin_ns + 120000 + t;
	f->wall_ns = 1767225600123456789ULL + f->begin_ns;
	(void)add(set, FAM_PROCESS_UP, 1, NULL, NULL, NULL);
	(void)add(set, FAM_THREADS, 8, NULL, NULL, NULL);
	(void)add(set, FAM_RESIDENT, 40 << 20, NULL, NULL, NULL);
	fill_account(set, "background", t, 10);
	fill_account(set, KIND, t, each);
	(void)add(set, FAM_INTERACTIONS, t * each, KIND, "code", "200");
	(void)add(set, FAM_INTERACTIONS, t ? 3 : 0, KIND, "code", "500");
	hist->counts[hist_bucket(4000000)] = t * each;
	hist->sum = t * each * 4000000;
	add(set, FAM_INTERACTION_DURATION, 0, KIND, NULL, NULL)->hist = hist;
	(void)add(set, FAM_IDENTITY_OK, 1, NULL, "identity", "syscalls");
	(void)add(set, FAM_IDENTITY_OK, t < 8, NULL, "identity", "wall");
	add_plain(set, FAM_DROPPED, 0, "reason", "threads_full");
	add_plain(set, FAM_GROUP_UP, 1, "group", "sched");
	add_plain(set, FAM_GROUP_UP, 0, "group", "io_uring");
	add_plain(set, FAM_GROUP, 1, "group", "io_uring");
	sample_label(set, &set->families[FAM_GROUP].samples[0], "reason", "this kernel has none");
	add_plain(set, FAM_SWITCH_CHAIN, 5000 * t, NULL, NULL);
	add_plain(set, FAM_CHAIN_BREAKS, t, NULL, NULL);
	add_plain(set, FAM_STEAL_SUPPORTED, 0, NULL, NULL);
	add_plain(set, FAM_EXP_CPU, t * 10000000, NULL, NULL);
	add_plain(set, FAM_BROKER_CPU, t * 1000000, NULL, NULL);
}

static void set_facts(struct record *r)
{
	static const struct {
		const char *name, *begin, *end;
	} facts[] = {
		{ "machine.kernel", "6.1.0-9-cloud-amd64", NULL },
		{ "machine.cpu_model", "A Processor @ 3.00GHz", NULL },
		{ "machine.memory_kib", "16777216", NULL },
		{ "memory.available_kib", "12582912", "8388608" },
		{ "machine.tick_hz", "100", NULL },
		{ "cpu.online", "0-3", "0-3" },
		{ "cpu.busy_ticks", "1000", "2600" },
		{ "cpu.idle_ticks", "1000", "2600" },
		{ "cpu.steal_ticks", "0", "0" },
		{ "pressure.cpu_us", "0", "100000" },
		{ "load.average", "0.50 0.40 0.30 1/200 4711", "2.50 0.60 0.40 3/200 4712" },
		{ "asked.interaction", "http", NULL },
		{ "target.0.pid", "4711", NULL },
		{ "target.0.comm", "app\x1b[31m", NULL },
		{ "target.0.exe", "/usr/bin/app", NULL },
		{ "target.0.build_id", "0123456789abcdef", NULL },
		{ "target.0.environment.GOGC", "50", NULL },
		{ "target.0.environment.GOMAXPROCS", "2", NULL },
		{ "target.0.listens.127.0.0.1:8080", "1", "1" },
		{ "target.0.connected.127.0.0.1:5432 (postgres)", "3", "5" },
		{ "target.0.state", "running", "running" },
		{ "canary.loops", "32", NULL },
		{ "canary.cpu_ns", "160000000", NULL },
		{ "canary.spread_permille", "12", NULL },
		{ "canary.drift_permille", "31", NULL },
	};

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		record_fact_set(r, facts[i].name, facts[i].begin, facts[i].end);
}

static void make(struct record *r, u64 each)
{
	*r = (struct record){ .version = "1.2.3",
			      .interval_ns = 2 * NS_PER_SEC,
			      .wanted_ns = 8 * NS_PER_SEC,
			      .program_status = -1 };
	set_facts(r);
	for (u64 t = 0; t <= 8; t += 2)
		fill(r, t, each);
}

TEST(record_report_is_as_it_was)
{
	struct buf out = { 0 };
	struct record r;

	make(&r, 100);
	record_report_render(&r, "run.sky", false, &out);
	golden_check("record_report.txt", &out);
	record_done(&r);
}

TEST(record_report_of_an_invalid_run_says_why)
{
	struct buf out = { 0 };
	struct record r;

	make(&r, 0); /* nothing was answered */
	r.end = RECORD_END_TARGETS;
	r.frames[4].set.families[FAM_DROPPED].samples[0].u = 7;
	record_fact_set(&r, "target.0.state", "running", "ended");
	record_fact_set(&r, "asked.isolated", "yes", NULL);
	record_report_render(&r, "run.sky", false, &out);
	golden_check("record_invalid.txt", &out);
	record_done(&r);
}

TEST(compare_table_is_as_it_was)
{
	static struct summary runs[6];
	struct compare_side a = { .n = 3 }, b = { .n = 3 };
	struct buf out = { 0 };

	for (u64 i = 0; i < 6; i++) {
		struct record r;

		make(&r, 100 + 10 * i);
		summary_of(&r, &runs[i]);
		record_done(&r);
		(i < 3 ? &a : &b)->runs[i % 3] = &runs[i];
	}
	CHECK_EQ_U64(compare_table_render(&a, &b, false, &out), 0);
	golden_check("record_compare.txt", &out);
}
