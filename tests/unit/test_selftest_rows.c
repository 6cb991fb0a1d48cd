/* SPDX-License-Identifier: MIT */
/* The comparisons of the selftest: that it can fail, and for what. */
#include "user/cmd/selftest_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/lib/check.h"

/* One process that lives, with all groups up; nothing has happened. */
struct scene {
	struct snapshot snap;
	struct process_snap process;
	struct process_totals totals;
	struct load_shared shared;
	struct selftest_result result;
};

static struct scene *new_scene(void)
{
	static struct scene s;
	static u64 calls[NR_CALL_SLOTS];
	static struct process_hists hists;

	memset(&s, 0, sizeof(s));
	for (size_t i = 0; i < NR_GROUPS; i++)
		s.snap.groups[i].up = true;
	s.process.alive = true;
	memset(calls, 0, sizeof(calls));
	memset(&hists, 0, sizeof(hists));
	s.process.details = true;
	s.process.calls = calls;
	s.process.hists = &hists;
	s.snap.processes = &s.process;
	s.snap.nr_processes = 1;
	s.snap.nr_counted = 1;
	s.snap.machine.tick_hz = 100;
	s.snap.machine.online_cpus = 1;
	return &s;
}

static void claim(struct scene *s, enum load_quantity quantity, u32 id, u64 low, u64 high)
{
	s->shared.claims[s->shared.nr_claims++] = (struct load_claim){
		.quantity = quantity, .id = id, .low = low, .high = high, .what = "it"
	};
}

static const struct selftest_row *compared(struct scene *s)
{
	rows_cut(&s->result, 0);
	rows_claims(&s->result, "load", &s->shared, &s->snap, 0, &s->totals);
	return s->result.rows;
}

TEST(exact_claim_fails_by_one)
{
	struct scene *s = new_scene();
	const struct selftest_row *row;

	claim(s, QUANTITY_CALLS, SYS_fsync, 10, 10);
	for (u64 calls = 9; calls <= 11; calls++) {
		s->process.calls[SYS_fsync] = calls;
		row = compared(s);
		CHECK_EQ_INT(row->verdict, calls == 10 ? SELFTEST_OK : SELFTEST_FAILED);
		CHECK_EQ_U64(row->got, calls);
		CHECK_EQ_U64(row->low, 10);
		CHECK_EQ_U64(row->high, 10);
		CHECK_EQ_U64(s->result.nr_rows, 1);
		CHECK_EQ_U64(s->result.verdicts[SELFTEST_OK], calls == 10);
		CHECK_EQ_U64(s->result.verdicts[SELFTEST_FAILED], calls != 10);
	}
}

TEST(bounded_claim_includes_its_bounds)
{
	struct scene *s = new_scene();
	static const struct {
		u64 ns;
		enum selftest_verdict verdict;
	} cases[] = {
		{ 99, SELFTEST_FAILED },
		{ 100, SELFTEST_OK },
		{ 200, SELFTEST_OK },
		{ 201, SELFTEST_FAILED },
	};

	claim(s, QUANTITY_NS, CELL_OFF_CPU + REASON_SLEEP, 100, 200);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s->totals.cells[CELL_OFF_CPU + REASON_SLEEP] = cases[i].ns;
		CHECK_EQ_INT(compared(s)->verdict, cases[i].verdict);
		CHECK_EQ_INT(s->result.rows[0].unit, SELFTEST_NS);
	}
}

/* Each kind of claim is compared with its own number: all others are 0 here. */
TEST(each_quantity_has_its_source)
{
	struct scene *s = new_scene();
	struct error_count errors[] = { { ERROR_SYSCALL, SYS_close, EBADF, 3 },
					{ ERROR_DURABLE, DURABLE_FSYNC, EINVAL, 4 } };
	struct foreign_count foreign = { ABI_COMPAT, 1, 5 };

	s->process.errors = errors;
	s->process.nr_errors = 2;
	s->process.foreign = &foreign;
	s->process.nr_foreign = 1;
	s->process.calls[SYS_close] = 7;
	s->process.calls[SYS_fsync] = 8;
	s->process.hists->durable[DURABLE_FSYNC].counts[3] = 6;
	s->process.hists->durable[DURABLE_FSYNC].counts[4] = 1;
	s->totals.cells[CELL_CPU + MODE_USER] = 20;
	s->totals.cells[CELL_CPU + MODE_SYSTEM] = 30;
	s->totals.cells[CELL_READ_BYTES] = 40;
	claim(s, QUANTITY_ALL_CALLS, 0, 20, 20);
	claim(s, QUANTITY_ERRORS, SYS_close, 3, 3);
	s->shared.claims[1].code = EBADF;
	claim(s, QUANTITY_ERRORS, SYS_close, 0, 0);
	s->shared.claims[2].code = EINVAL;
	claim(s, QUANTITY_DURABLE_ERRORS, DURABLE_FSYNC, 4, 4);
	s->shared.claims[3].code = EINVAL;
	claim(s, QUANTITY_DURABLE_TIMES, DURABLE_FSYNC, 7, 7);
	claim(s, QUANTITY_CPU, 0, 50, 50);
	claim(s, QUANTITY_BYTES, CELL_READ_BYTES, 40, 40);
	(void)compared(s);
	CHECK_EQ_U64(s->result.nr_rows, 7);
	for (size_t i = 0; i < s->result.nr_rows; i++) {
		if (s->result.rows[i].verdict != SELFTEST_OK)
			FAIL("claim %zu: got %llu", i, (unsigned long long)s->result.rows[i].got);
	}
}

TEST(claims_out_of_range_count_nothing)
{
	struct scene *s = new_scene();

	claim(s, QUANTITY_CALLS, NR_CALL_SLOTS, 0, 0);
	claim(s, QUANTITY_COUNT, NR_CELLS, 0, 0);
	claim(s, QUANTITY_DURABLE_TIMES, NR_DURABLES, 0, 0);
	(void)compared(s);
	CHECK_EQ_U64(s->result.verdicts[SELFTEST_OK], 3);
}

TEST(group_that_is_off_skips_its_claims)
{
	static const struct {
		enum load_quantity quantity;
		u32 id;
		enum probe_group group;
	} cases[] = {
		{ QUANTITY_CALLS, 1, GROUP_SYSCALLS },
		{ QUANTITY_ALL_CALLS, 0, GROUP_SYSCALLS },
		{ QUANTITY_ERRORS, 1, GROUP_SYSCALLS },
		{ QUANTITY_DURABLE_ERRORS, 0, GROUP_FSYNC },
		{ QUANTITY_DURABLE_TIMES, 0, GROUP_FSYNC },
		{ QUANTITY_COUNT, CELL_FSYNCS + DURABLE_SYNC_WRITE, GROUP_FSYNC },
		{ QUANTITY_COUNT, CELL_FSYNCS + DURABLE_URING_FSYNC, GROUP_IO_URING },
		{ QUANTITY_CPU, 0, GROUP_SCHED },
		{ QUANTITY_NS, CELL_CPU + MODE_USER, GROUP_SYSCALLS },
		{ QUANTITY_NS, CELL_OFF_CPU + REASON_SLEEP, GROUP_SCHED },
		{ QUANTITY_COUNT, CELL_SWITCHES, GROUP_SCHED },
		{ QUANTITY_COUNT, CELL_PAGE_FAULTS, GROUP_SCHED },
		{ QUANTITY_COUNT, CELL_THREADS_ENDED, GROUP_SCHED },
		{ QUANTITY_BYTES, CELL_READ_BYTES, GROUP_SYSCALLS },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scene *s = new_scene();

		claim(s, cases[i].quantity, cases[i].id, 1, 1);
		s->snap.groups[cases[i].group].up = false;
		strncpy(s->snap.groups[cases[i].group].reason, "no such thing", 20);
		if (compared(s)->verdict != SELFTEST_SKIPPED)
			FAIL("case %zu is not skipped", i);
		CHECK(strstr(s->result.rows[0].why, "no such thing"));
		s->snap.groups[cases[i].group].up = true;
		CHECK_EQ_INT(compared(s)->verdict, SELFTEST_FAILED);
	}
}

static const struct selftest_row *find(const struct selftest_result *result, const char *what)
{
	for (size_t i = 0; i < result->nr_rows; i++) {
		if (!strcmp(result->rows[i].what, what))
			return &result->rows[i];
	}
	FAIL("no row `%s`", what);
}

TEST(identity_that_does_not_hold_fails_and_says_who)
{
	struct scene *s = new_scene();
	const struct selftest_row *row;

	strncpy(s->process.id.comm, "sleep", COMM_BYTES);
	rows_identities(&s->result, &s->snap, &s->totals);
	CHECK_EQ_INT(find(&s->result, "identity syscalls holds")->verdict, SELFTEST_OK);
	rows_cut(&s->result, 0);
	s->process.calls[1] = 1; /* one call by name that no thread has made */
	rows_identities(&s->result, &s->snap, &s->totals);
	row = find(&s->result, "identity syscalls holds");
	CHECK_EQ_INT(row->verdict, SELFTEST_FAILED);
	CHECK_EQ_U64(row->low, 1);
	CHECK_EQ_U64(row->got, 0);
	CHECK(strstr(row->why, "sleep: residual 1"));
}

TEST(anything_dropped_fails_and_is_named)
{
	struct scene *s = new_scene();
	const struct selftest_row *row;

	s->process.calls[SYS_exit_group] = 1;
	rows_end(&s->result, &s->snap, &s->totals);
	CHECK_EQ_INT(find(&s->result, "events dropped")->verdict, SELFTEST_OK);
	CHECK_EQ_U64(s->result.verdicts[SELFTEST_FAILED], 0);
	rows_cut(&s->result, 0);
	s->snap.drops[DROP_ROWS_FULL] = 2;
	s->snap.drops[DROP_RECURSION] = 3;
	rows_end(&s->result, &s->snap, &s->totals);
	row = find(&s->result, "events dropped");
	CHECK_EQ_INT(row->verdict, SELFTEST_FAILED);
	CHECK_EQ_U64(row->got, 5);
	CHECK_STR(row->why, "rows_full 2, recursion 3");
}

TEST(process_that_did_not_exit_fails)
{
	struct scene *s = new_scene();

	s->totals.cells[CELL_THREADS_BORN] = 2;
	s->totals.cells[CELL_THREADS_ENDED] = 1;
	rows_end(&s->result, &s->snap, &s->totals);
	CHECK_EQ_INT(find(&s->result, "processes that called exit_group")->verdict,
		     SELFTEST_FAILED);
	CHECK_EQ_INT(find(&s->result, "threads that ended, of all")->verdict, SELFTEST_FAILED);
}

TEST(rows_beyond_the_room_replace_the_last)
{
	struct scene *s = new_scene();

	for (int i = 0; i < MAX_SELFTEST_ROWS + 5; i++)
		rows_skip(&s->result, "load", SELFTEST_SKIPPED, "why");
	CHECK_EQ_U64(s->result.nr_rows, MAX_SELFTEST_ROWS);
	CHECK_EQ_U64(s->result.verdicts[SELFTEST_SKIPPED], MAX_SELFTEST_ROWS);
	rows_cut(&s->result, 3);
	CHECK_EQ_U64(s->result.nr_rows, 3);
	CHECK_EQ_U64(s->result.verdicts[SELFTEST_SKIPPED], 3);
}

/* A whole table. */
TEST(table_says_wanted_and_got)
{
	struct scene *s = new_scene();
	struct buf out = { 0 };

	claim(s, QUANTITY_CALLS, SYS_fsync, 10, 10);
	claim(s, QUANTITY_NS, CELL_OFF_CPU + REASON_SLEEP, 360 * NS_PER_MS, 412 * NS_PER_MS);
	claim(s, QUANTITY_BYTES, CELL_READ_BYTES, 512, 512);
	claim(s, QUANTITY_COUNT, CELL_FSYNCS + DURABLE_URING_FSYNC, 1, 1);
	s->snap.groups[GROUP_IO_URING].up = false;
	strncpy(s->snap.groups[GROUP_IO_URING].reason, "not asked for", 20);
	s->process.calls[SYS_fsync] = 10;
	s->totals.cells[CELL_OFF_CPU + REASON_SLEEP] = 401 * NS_PER_MS;
	s->totals.cells[CELL_READ_BYTES] = 511;
	(void)compared(s);
	s->result.nr_loads = 1;
	s->result.nr_neighbours = 1;
	s->result.elapsed_ns = 2 * NS_PER_SEC;
	s->result.chain_holds = true;
	selftest_render(&s->result, false, &out);
	CHECK_STR(
		out.bytes,
		"LOAD     WHAT                                            WANTED        GOT\n"
		"load     it                                                  10         10  ok\n"
		"load     it                                    360 ms .. 412 ms     401 ms  ok\n"
		"load     it                                               512 B      511 B  FAIL\n"
		"load     it                                                                 skip\n"
		"         probe group io_uring is off: not asked for\n"
		"\n"
		"4 rows: 2 ok, 1 failed, 1 skipped, in 2.00 s\n"
		"1 loads were observed, beside 1 neighbours that did the same\n");
	/* Switches that the kernel did not report are said, and are no failure. */
	s->result.chain_holds = false;
	s->result.chain_breaks = 31;
	s->result.switches = 18199;
	buf_clear(&out);
	selftest_render(&s->result, false, &out);
	CHECK(strstr(out.bytes, "note: 31 of 18199 (0.17 %) context switches"));
	buf_done(&out);
}
