/* SPDX-License-Identifier: MIT */
/* Processes of one name are summed, and a fault of one is not hidden by another. */
#include "tests/lib/check.h"

#include "user/model/merge.h"

/* Too large for the stack of every machine. */
static struct merged m;

static struct process_snap procs[2];
static u64 calls[2][NR_CALL_SLOTS];
static struct process_hists hists[2];
static struct process_totals totals[2];
static struct snapshot snap;

/* Two processes of one name without anything in them. */
static void begin(void)
{
	merged_clear(&m);
	memset(procs, 0, sizeof(procs));
	memset(totals, 0, sizeof(totals));
	memset(calls, 0, sizeof(calls));
	memset(hists, 0, sizeof(hists));
	snap = (struct snapshot){ .processes = procs, .nr_processes = 2, .nr_counted = 2 };
	snap.wall_minus_mono_ns = 1000000;
	snap.groups[GROUP_SCHED].up = snap.groups[GROUP_SYSCALLS].up = true;
	for (int i = 0; i < 2; i++) {
		snprintf(procs[i].id.name, sizeof(procs[i].id.name), "%s", "app");
		procs[i].id.pid = 10 + i;
		procs[i].calls = calls[i];
		procs[i].hists = &hists[i];
		procs[i].alive = true;
		procs[i].incarnations = 1;
		procs[i].begin_ns = 500 - 100 * (u64)i;
	}
}

static void merge_both(void)
{
	CHECK_EQ_INT(merged_add(&m, &snap, 0, &totals[0]), 0);
	CHECK_EQ_INT(merged_add(&m, &snap, 1, &totals[1]), 0);
}

TEST(merge_adds_every_cell_and_call)
{
	begin();
	for (u32 i = 0; i < NR_CELLS; i++) {
		totals[0].cells[i] = i;
		totals[1].cells[i] = 1000000 * i;
		procs[0].cells[i] = 77; /* the totals count, not these */
	}
	for (u32 i = 0; i < NR_CALL_SLOTS; i++) {
		procs[0].calls[i] = i;
		procs[1].calls[i] = 3 * i;
	}
	merge_both();
	for (u32 i = 0; i < NR_CELLS; i++)
		CHECK_EQ_U64(m.cells[i], 1000001ULL * i);
	for (u32 i = 0; i < NR_CALL_SLOTS; i++)
		CHECK_EQ_U64(m.calls[i], 4ULL * i);
	merged_clear(&m);
}

TEST(merge_counts_processes_and_threads)
{
	begin();
	procs[1].alive = false;
	totals[0].threads = 3;
	totals[1].threads = 4;
	merge_both();
	CHECK_STR(m.name, "app");
	CHECK_EQ_INT(m.pid, 10);
	CHECK_EQ_U64(m.nr_processes, 2);
	CHECK_EQ_U64(m.nr_alive, 1);
	CHECK_EQ_U64(m.nr_threads, 7);
	CHECK_EQ_U64(m.begin_wall_ns, 1000400); /* of the earlier one */
	merged_clear(&m);
}

TEST(merge_adds_histograms)
{
	struct call_hist first[2] = { { .nr = 3 }, { .nr = 7 } };
	struct call_hist second[2] = { { .nr = 7 }, { .nr = NR_CALL_SLOTS } };

	begin();
	hists[0].off_cpu[REASON_FUTEX] = (struct hist){ .sum = 10, .counts = { [5] = 2 } };
	hists[1].off_cpu[REASON_FUTEX] =
		(struct hist){ .sum = 5, .counts = { [5] = 1, [NR_HIST_BUCKETS - 1] = 4 } };
	hists[1].durable[DURABLE_URING_FSYNC] = (struct hist){ .sum = 9, .counts = { 1 } };
	first[0].hist = (struct hist){ .sum = 1, .counts = { [1] = 1 } };
	first[1].hist = (struct hist){ .sum = 2, .counts = { [2] = 2 } };
	second[0].hist = (struct hist){ .sum = 4, .counts = { [2] = 1, [3] = 1 } };
	procs[0].call_hists = first;
	procs[0].nr_call_hists = 2;
	procs[1].call_hists = second;
	procs[1].nr_call_hists = 2;
	merge_both();
	CHECK_EQ_U64(m.hists.off_cpu[REASON_FUTEX].sum, 15);
	CHECK_EQ_U64(m.hists.off_cpu[REASON_FUTEX].counts[5], 3);
	CHECK_EQ_U64(m.hists.off_cpu[REASON_FUTEX].counts[NR_HIST_BUCKETS - 1], 4);
	CHECK_EQ_U64(m.hists.off_cpu[REASON_POLL].sum, 0);
	CHECK_EQ_U64(m.hists.durable[DURABLE_URING_FSYNC].counts[0], 1);
	for (u32 nr = 0; nr < NR_CALL_SLOTS; nr++)
		CHECK_EQ_INT(m.has_call_hist[nr], nr == 3 || nr == 7);
	CHECK_EQ_U64(m.call_hists[7].sum, 6);
	CHECK_EQ_U64(m.call_hists[7].counts[2], 3);
	CHECK_EQ_U64(m.call_hists[7].counts[3], 1);
	CHECK_EQ_U64(m.call_hists[3].sum, 1);
	merged_clear(&m);
}

TEST(merge_adds_errors_of_the_same_kind_call_and_errno)
{
	struct error_count first[] = { { ERROR_SYSCALL, 0, 4, 1 }, { ERROR_SYSCALL, 0, 11, 2 } };
	struct error_count second[] = { { ERROR_SYSCALL, 0, 4, 10 },
					{ ERROR_DURABLE, 0, 4, 20 },
					{ ERROR_SYSCALL, 1, 4, 40 } };
	static const struct error_count want[] = { { ERROR_SYSCALL, 0, 4, 11 },
						   { ERROR_SYSCALL, 0, 11, 2 },
						   { ERROR_DURABLE, 0, 4, 20 },
						   { ERROR_SYSCALL, 1, 4, 40 } };

	begin();
	procs[0].errors = first;
	procs[0].nr_errors = 2;
	procs[1].errors = second;
	procs[1].nr_errors = 3;
	merge_both();
	CHECK_EQ_U64(m.nr_errors, 4);
	for (size_t i = 0; i < 4; i++) {
		CHECK_EQ_U64(m.errors[i].kind, want[i].kind);
		CHECK_EQ_U64(m.errors[i].id, want[i].id);
		CHECK_EQ_U64(m.errors[i].code, want[i].code);
		CHECK_EQ_U64(m.errors[i].n, want[i].n);
	}
	merged_clear(&m);
}

TEST(merge_adds_calls_of_the_same_foreign_abi)
{
	struct foreign_count first[] = { { ABI_COMPAT, 4, 1 } };
	struct foreign_count second[] = { { ABI_COMPAT, 4, 2 },
					  { ABI_X32, 4, 5 },
					  { ABI_COMPAT, 5, 7 } };

	begin();
	procs[0].foreign = first;
	procs[0].nr_foreign = 1;
	procs[1].foreign = second;
	procs[1].nr_foreign = 3;
	merge_both();
	CHECK_EQ_U64(m.nr_foreign, 3);
	CHECK_EQ_U64(m.foreign[0].n, 3);
	CHECK_EQ_U64(m.foreign[1].n, 5);
	CHECK_EQ_U64(m.foreign[2].n, 7);
	merged_clear(&m);
}

static struct task_record in_call(s32 nr, u8 abi, u64 enter_ns)
{
	struct task_record rec = { .known = 1, .now_ns = 1000 };

	rec.cell.nr = nr;
	rec.cell.abi = abi;
	rec.cell.enter_ns = enter_ns;
	return rec;
}

TEST(merge_knows_the_oldest_call_in_flight_of_each_kind)
{
	struct task_record first[] = { in_call(202, ABI_NATIVE, 900), in_call(NO_CALL, 0, 0),
				       in_call(202, ABI_NATIVE, 400) };
	struct task_record second[] = { in_call(202, ABI_COMPAT, 100),
					in_call(202, ABI_NATIVE, 700),
					in_call(202, ABI_NATIVE, 1001),
					in_call(202, ABI_NATIVE, 1) };

	begin();
	second[3].known = 0;
	procs[0].threads = first;
	procs[0].nr_threads = 3;
	procs[1].threads = second;
	procs[1].nr_threads = 4;
	merge_both();
	CHECK_EQ_U64(m.nr_flights, 2);
	CHECK_EQ_U64(m.flights[0].abi, ABI_NATIVE);
	CHECK_EQ_U64(m.flights[0].nr, 202);
	CHECK_EQ_U64(m.flights[0].n, 4);
	CHECK_EQ_U64(m.flights[0].oldest_ns, 600);
	CHECK_EQ_U64(m.flights[1].abi, ABI_COMPAT);
	CHECK_EQ_U64(m.flights[1].n, 1);
	CHECK_EQ_U64(m.flights[1].oldest_ns, 900);
	merged_clear(&m);
}

TEST(merge_adds_the_memory_of_those_that_live)
{
	begin();
	procs[0].books_now = (struct proc_books){ .valid = true, .resident_bytes = 4096 };
	procs[1].books_now = (struct proc_books){ .valid = true, .resident_bytes = 8192 };
	merge_both();
	CHECK(m.has_resident);
	CHECK_EQ_U64(m.resident_bytes, 12288);

	begin();
	procs[0].alive = false;
	procs[0].books_now = (struct proc_books){ .valid = true, .resident_bytes = 4096 };
	procs[1].books_now = (struct proc_books){ .valid = false, .resident_bytes = 8192 };
	merge_both();
	CHECK(!m.has_resident);
	CHECK_EQ_U64(m.resident_bytes, 0);
	merged_clear(&m);
}

TEST(merge_residuals_do_not_cancel)
{
	begin();
	procs[0].cells[CELL_ENDED_RUNTIME] = 1000;
	procs[0].cells[CELL_CPU] = 1040;
	procs[1].cells[CELL_ENDED_RUNTIME] = 2000;
	procs[1].cells[CELL_CPU] = 1970;
	procs[0].unsettled_ns = 50;
	procs[1].unsettled_ns = 60;
	merge_both();
	CHECK(m.identities[IDENTITY_MODES].checked);
	CHECK_EQ_INT(m.identities[IDENTITY_MODES].residual, 70);
	CHECK_EQ_U64(m.identities[IDENTITY_MODES].total, 3000);
	CHECK_EQ_U64(m.identities[IDENTITY_MODES].tolerance, 110);
	CHECK(m.identities_hold[IDENTITY_MODES]);
	merged_clear(&m);
}

TEST(merge_one_fault_is_a_fault_of_the_name)
{
	for (int broken = 0; broken < 2; broken++) {
		begin();
		procs[broken].cells[CELL_ENDED_RUNTIME] = 1;
		/* Room enough in the other one for both. */
		procs[!broken].unsettled_ns = 1000;
		merge_both();
		CHECK(m.identities[IDENTITY_MODES].residual <=
		      (s64)m.identities[IDENTITY_MODES].tolerance);
		CHECK(!m.identities_hold[IDENTITY_MODES]);
		CHECK(m.identities_hold[IDENTITY_STAMPS]);
	}
	merged_clear(&m);
}

TEST(merge_compares_the_books_and_not_what_is_published)
{
	begin();
	totals[0].cells[CELL_CPU] = 1000; /* a counter that was kept from going down */
	merge_both();
	CHECK_EQ_U64(m.cells[CELL_CPU], 1000);
	CHECK(m.identities_hold[IDENTITY_MODES]);
	CHECK_EQ_INT(m.identities[IDENTITY_MODES].residual, 0);
	merged_clear(&m);
}

TEST(merge_checks_an_identity_that_one_process_has)
{
	begin();
	procs[1].books_begin.valid = procs[1].books_now.valid = true;
	merge_both();
	CHECK(m.identities[IDENTITY_CPU].checked);
	CHECK(m.identities_hold[IDENTITY_CPU]);
	/* Neither has threads. */
	CHECK(!m.identities[IDENTITY_SWITCHES].checked);
	CHECK(!m.identities_hold[IDENTITY_SWITCHES]);
	merged_clear(&m);
}

TEST(merge_clear_forgets_everything)
{
	static const struct merged none;
	struct error_count error = { ERROR_SYSCALL, 0, 4, 1 };

	begin();
	procs[0].errors = &error;
	procs[0].nr_errors = 1;
	totals[0].cells[0] = 5;
	merge_both();
	merged_clear(&m);
	CHECK(!memcmp(&m, &none, offsetof(struct merged, call_hists)));
	merged_clear(&m);
	CHECK(!memcmp(&m, &none, offsetof(struct merged, call_hists)));
}
