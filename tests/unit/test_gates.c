/* SPDX-License-Identifier: MIT */
/* Each gate fails where its rule says so, and only there; what was not measured is not judged. */
#include "tests/lib/check.h"

#include "user/model/gates.h"
#include "user/model/summary.h"

static struct sample *add(struct family_set *set, enum family_id id, u64 u, const char *label,
			  const char *value)
{
	struct sample *s = family_add(set, id);

	s->kind = family_descs[id].unit[0] == 's' ? VALUE_NS : VALUE_COUNT;
	s->u = u;
	if (label)
		sample_label(set, s, label, value);
	return s;
}

/* A window of 10 s in which nothing is wrong. */
static void make(struct record *r)
{
	*r = (struct record){ .version = "1", .program_status = -1 };
	for (u64 i = 0; i < 2; i++) {
		struct record_frame *f = record_frame_add(r);

		f->begin_ns = (1 + 10 * i) * NS_PER_SEC;
		f->end_ns = f->begin_ns + 1000;
		f->wall_ns = f->begin_ns + 1700000000 * NS_PER_SEC;
		(void)add(&f->set, FAM_PROCESS_UP, 1, "process", "app");
		(void)add(&f->set, FAM_CPU, i * 5 * NS_PER_SEC, "process", "app");
		(void)add(&f->set, FAM_DROPPED, 0, "reason", "threads_full");
		(void)add(&f->set, FAM_GROUP_UP, 1, "group", "sched");
		(void)add(&f->set, FAM_SWITCH_CHAIN, 1000 * i, NULL, NULL);
		(void)add(&f->set, FAM_CHAIN_BREAKS, 0, NULL, NULL);
		(void)add(&f->set, FAM_IDENTITY_OK, 1, "identity", "syscalls");
		(void)add(&f->set, FAM_IDENTITY_OK, 1, "identity", "wall");
	}
	record_fact_set(r, "target.0.state", "running", "running");
	record_fact_set(r, "target.0.comm", "app", NULL);
	record_fact_set(r, "target.0.pid", "17", NULL);
	record_fact_set(r, "machine.tick_hz", "100", NULL);
	record_fact_set(r, "cpu.busy_ticks", "1000", "1520");
	record_fact_set(r, "cpu.idle_ticks", "1000", "2480");
	record_fact_set(r, "cpu.steal_ticks", "0", "0");
	record_fact_set(r, "pressure.cpu_us", "0", "100000");
}

static struct sample *last(struct record *r, enum family_id id, size_t i)
{
	return &r->frames[1].set.families[id].samples[i];
}

static enum gate_state state(struct record *r, enum gate_id id)
{
	struct gate gates[NR_GATES];

	gates_of(r, gates);
	CHECK_EQ_U64(gates_invalid(gates), gates[id].state == GATE_INVALID);
	return gates[id].state;
}

TEST(a_good_window_holds_and_what_was_not_measured_is_not_judged)
{
	struct gate gates[NR_GATES];
	struct record r;

	make(&r);
	gates_of(&r, gates);
	for (u32 i = 0; i < NR_GATES; i++) {
		bool measured = i != GATE_SELFTEST && i != GATE_PROFILE && i != GATE_STORE &&
				i != GATE_CANARY && i != GATE_THROTTLE && i != GATE_FREQUENCY;

		CHECK_EQ_U64(gates[i].state, measured ? GATE_HOLDS : GATE_UNKNOWN);
	}
	record_done(&r);
}

TEST(a_fault_of_the_measurement_makes_it_invalid)
{
	struct record r;

	make(&r);
	record_fact_set(&r, "target.0.state", "running", "ended");
	CHECK(state(&r, GATE_TARGET) == GATE_INVALID);
	record_fact_set(&r, "target.0.state", "running", "running");
	r.end = RECORD_END_TARGETS;
	CHECK(state(&r, GATE_TARGET) == GATE_INVALID);
	r.end = RECORD_END_DURATION;
	last(&r, FAM_DROPPED, 0)->u = 1;
	CHECK(state(&r, GATE_DROPS) == GATE_INVALID);
	last(&r, FAM_DROPPED, 0)->u = 0;
	last(&r, FAM_IDENTITY_OK, 0)->u = 0;
	CHECK(state(&r, GATE_COUNTS) == GATE_INVALID);
	last(&r, FAM_IDENTITY_OK, 0)->u = 1;
	last(&r, FAM_GROUP_UP, 0)->u = 0;
	CHECK(state(&r, GATE_PROBES) == GATE_INVALID);
	last(&r, FAM_GROUP_UP, 0)->u = 1;
	record_fact_set(&r, "selftest.ok", "9", NULL);
	record_fact_set(&r, "selftest.failed", "1", NULL);
	CHECK(state(&r, GATE_SELFTEST) == GATE_INVALID);
	record_fact_set(&r, "selftest.failed", "0", NULL);
	record_fact_set(&r, "profile.state", "curl: (7) refused", NULL);
	CHECK(state(&r, GATE_PROFILE) == GATE_INVALID);
	record_fact_set(&r, "profile.state", "fetched", NULL);
	record_fact_set(&r, "profile.begin_ns", "2000000000", NULL);
	record_fact_set(&r, "profile.end_ns", "11000001001", NULL); /* a ns late */
	CHECK(state(&r, GATE_PROFILE) == GATE_INVALID);
	record_fact_set(&r, "profile.end_ns", "11000001000", NULL);
	CHECK(state(&r, GATE_PROFILE) == GATE_HOLDS);
	record_done(&r);
}

TEST(groups_that_look_into_targets_end_with_them)
{
	struct record r;

	make(&r);
	(void)add(&r.frames[0].set, FAM_GROUP_UP, 1, "group", "go_gc");
	(void)add(&r.frames[1].set, FAM_GROUP_UP, 0, "group", "go_gc");
	CHECK(state(&r, GATE_PROBES) == GATE_HOLDS);
	record_done(&r);
}

/* A target with a connection to a server on port 5432, to which 100 bytes were written. */
static void make_store(struct record *r, const char *asked)
{
	make(r);
	(void)add(&r->frames[0].set, FAM_WRITTEN_BYTES, 5, "process", "app");
	(void)add(&r->frames[1].set, FAM_WRITTEN_BYTES, 905, "process", "app");
	record_fact_set(r, "asked.store", asked, NULL);
	record_fact_set(r, "target.0.unix_streams", "0", "0");
	record_fact_set(r, "target.0.ends_left_out", "0", "0");
	record_fact_set(r, "target.0.connected.10.0.0.7:5432 (postgres)", "3", "4");
	record_fact_set(r, "target.0.sent.10.0.0.7:5432", "1000", "1100");
}

/* The gate's state, and whether its text has @words. */
static void check_store(struct record *r, enum gate_state want, const char *words)
{
	struct gate gates[NR_GATES];

	gates_of(r, gates);
	CHECK_EQ_U64(gates[GATE_STORE].state, want);
	if (!strstr(gates[GATE_STORE].text, words))
		CHECK_STR(gates[GATE_STORE].text, words);
	record_done(r);
}

TEST(a_store_is_what_was_connected_to_and_written_to)
{
	struct record r;

	make_store(&r, "postgres");
	check_store(&r, GATE_HOLDS, "100 bytes written to port 5432");
	make_store(&r, "redis"); /* a silent fallback looks like this */
	check_store(&r, GATE_INVALID, "no connection to port 6379 at either edge");
	make_store(&r, "redis:5432");
	check_store(&r, GATE_HOLDS, "100 bytes");
	make_store(&r, "postgres:432"); /* not the end of another number */
	check_store(&r, GATE_INVALID, "no connection to port 432 ");
	make_store(&r, "postgres");
	record_fact_set(&r, "target.0.sent.10.0.0.7:5432", "1000", "1000");
	check_store(&r, GATE_INVALID, "nothing was written");
	make_store(&r, "postgres");
	record_fact_set(&r, "target.0.connected.10.0.0.7:5432 (postgres)", "3", "0");
	record_fact_set(&r, "target.0.sent.10.0.0.7:5432", "1000", "");
	check_store(&r, GATE_INVALID, "at the beginning, not at the end");
	make_store(&r, "postgres");
	record_fact_set(&r, "target.0.connected.10.0.0.7:5432 (postgres)", "0", "1");
	check_store(&r, GATE_INVALID, "at the end, not at the beginning");
}

TEST(a_store_that_is_not_known_is_never_valid)
{
	struct record r;

	make_store(&r, "postgres");
	record_fact_set(&r, "target.0.sent.10.0.0.7:5432", "1000", "?");
	check_store(&r, GATE_INVALID, "not known: connected to 10.0.0.7:5432");
	make_store(&r, "postgres");
	record_fact_set(&r, "target.0.sent.10.0.0.7:5432", "1000", "999");
	check_store(&r, GATE_INVALID, "not known: what was written");
	make_store(&r, "redis");
	record_fact_set(&r, "target.0.unix_streams", "0", "2");
	check_store(&r, GATE_INVALID, "not known: no connection to port 6379, and where 2 unix");
	make_store(&r, "redis");
	record_fact_set(&r, "target.0.ends_left_out", "0", "1");
	check_store(&r, GATE_INVALID, "not known: 1 sockets");
	make_store(&r, "redis");
	record_fact_set(&r, "target.1.pid", "18", NULL);
	check_store(&r, GATE_INVALID, "not known: the sockets of 1 of 2 targets");
	make_store(&r, "redis");
	record_fact_set(&r, "asked.program", "app", NULL);
	check_store(&r, GATE_INVALID, "not known: what a program");
	make_store(&r, "oracle");
	check_store(&r, GATE_INVALID, "not known: oracle is no store");
	make_store(&r, "memory"); /* durable writes were not counted */
	check_store(&r, GATE_INVALID, "not known: durable writes");
}

TEST(a_store_in_a_file_or_in_memory)
{
	struct record r;

	make_store(&r, "sqlite:/data/app.db");
	check_store(&r, GATE_INVALID, "not known: which files");
	make_store(&r, "sqlite:/data/app.db");
	record_fact_set(&r, "target.0.store.descriptors", "2", "2");
	record_fact_set(&r, "target.0.store.changed_ns", "7", "8");
	check_store(&r, GATE_HOLDS, "/data/app.db is open for writing at both edges");
	make_store(&r, "sqlite:/data/app.db");
	record_fact_set(&r, "target.0.store.descriptors", "2", "2");
	record_fact_set(&r, "target.0.store.changed_ns", "8", "8");
	check_store(&r, GATE_INVALID, "nothing was written to it");
	make_store(&r, "sqlite:/data/app.db");
	record_fact_set(&r, "target.0.store.descriptors", "0", "0");
	record_fact_set(&r, "target.0.store.changed_ns", "0", "0");
	check_store(&r, GATE_INVALID, "is not open for writing");
	make_store(&r, "memory");
	(void)add(&r.frames[0].set, FAM_FSYNCS, 3, "process", "app");
	(void)add(&r.frames[1].set, FAM_FSYNCS, 4, "process", "app");
	check_store(&r, GATE_INVALID, "1 durable writes");
	make_store(&r, "memory");
	(void)add(&r.frames[1].set, FAM_FSYNCS, 0, "process", "app");
	check_store(&r, GATE_INVALID, "not known: it may keep something behind 10.0.0.7:5432");
	make_store(&r, "memory");
	(void)add(&r.frames[1].set, FAM_FSYNCS, 0, "process", "app");
	record_fact_set(&r, "target.0.connected.10.0.0.7:5432 (postgres)", "x", "x");
	record_fact_set(&r, "target.0.sent.10.0.0.7:5432", "0", "0");
	check_store(&r, GATE_HOLDS, "no durable write");
}

TEST(times_are_doubtful_and_not_invalid_where_the_kernel_lost_switches)
{
	struct record r;

	make(&r);
	last(&r, FAM_IDENTITY_OK, 1)->u = 0;
	CHECK(state(&r, GATE_TIMES) == GATE_INVALID);
	last(&r, FAM_CHAIN_BREAKS, 0)->u = 1;
	CHECK(state(&r, GATE_TIMES) == GATE_WARNS);
	CHECK(state(&r, GATE_CHAIN) == GATE_HOLDS); /* 1 of 1000 */
	last(&r, FAM_CHAIN_BREAKS, 0)->u = 2;
	CHECK(state(&r, GATE_CHAIN) == GATE_WARNS);
	record_done(&r);
}

static void check_machine(struct record *r, enum gate_id id)
{
	CHECK(state(r, id) == GATE_WARNS);
	record_fact_set(r, "asked.isolated", "yes", NULL);
	CHECK(state(r, id) == GATE_INVALID);
	record_done(r);
	make(r);
	CHECK(state(r, id) != GATE_WARNS);
}

TEST(a_busy_machine_warns_and_is_invalid_if_it_was_to_be_alone)
{
	struct record r;

	make(&r); /* 20 s of CPU time: 5 s the target's, 0.2 s the others' */
	record_fact_set(&r, "cpu.busy_ticks", "1000", "1610");
	check_machine(&r, GATE_NEIGHBOURS);
	record_fact_set(&r, "pressure.cpu_us", "0", "510000");
	check_machine(&r, GATE_PRESSURE);
	record_fact_set(&r, "target.3.throttled_us", "5", "6");
	check_machine(&r, GATE_THROTTLE);
	record_fact_set(&r, "cpu.lowest_khz", "960", "1000");
	record_fact_set(&r, "cpu.highest_khz", "1000", "1000");
	check_machine(&r, GATE_FREQUENCY);
	record_fact_set(&r, "canary.loops", "20", NULL);
	record_fact_set(&r, "canary.spread_permille", "10", NULL);
	record_fact_set(&r, "canary.drift_permille", "31", NULL);
	check_machine(&r, GATE_CANARY);
	record_fact_set(&r, "cpu.steal_ticks", "0", "30");
	check_machine(&r, GATE_STEAL);
	record_fact_set(&r, "cpu.steal_ticks", "0", "200");
	CHECK(state(&r, GATE_STEAL) == GATE_INVALID);
	record_done(&r);
}

TEST(numbers_of_a_stranger_that_wrap_are_not_judged)
{
	struct record r;

	make(&r);
	record_fact_set(&r, "cpu.idle_ticks", "0", "18446744073709551096"); /* with 520 it is 0 */
	CHECK(state(&r, GATE_STEAL) == GATE_UNKNOWN);
	record_fact_set(&r, "machine.tick_hz", "0", NULL);
	CHECK(state(&r, GATE_NEIGHBOURS) == GATE_UNKNOWN);
	record_done(&r);
}

TEST(a_summary_is_per_second_or_of_the_whole_program)
{
	static struct summary s;
	const struct quantity *q;
	struct record r;

	make(&r);
	record_fact_set(&r, "target.0.build_id", "abc", NULL);
	summary_of(&r, &s);
	q = summary_find(&s, "app, per second", "CPU");
	CHECK(q && q->value == 0.5 && q->unit == QUANTITY_SECONDS);
	CHECK(!strcmp(s.builds, "abc") && !s.invalid && summary_check(&s));
	r.end = RECORD_END_PROGRAM;
	summary_of(&r, &s);
	q = summary_find(&s, "app, in all", "CPU");
	CHECK(q && q->value == 5.0);
	s.at[0].value = -1;
	CHECK(!summary_check(&s));
	s.at[0].value = 1;
	s.n = MAX_QUANTITIES + 1;
	CHECK(!summary_check(&s));
	record_done(&r);
}
