/* SPDX-License-Identifier: MIT */
/* The numbers of the live table: differences of two sets for one process. */
#include "tests/lib/check.h"

#include "user/render/activity.h"

static struct sample *add(struct family_set *set, enum family_id id, u64 u, const char *process,
			  const char *label, const char *value)
{
	struct sample *s = family_add(set, id);

	s->u = u;
	sample_label(set, s, "process", process);
	if (label)
		sample_label(set, s, label, value);
	return s;
}

TEST(activity_is_the_difference_of_one_process)
{
	struct family_set prev = { 0 }, now = { 0 };
	struct activity a;

	add(&prev, FAM_SYSCALLS, 10, "app", "syscall", "read");
	add(&prev, FAM_SYSCALLS, 99, "other", "syscall", "read");
	add(&now, FAM_PROCESS_UP, 1, "app", NULL, NULL);
	add(&now, FAM_SYSCALLS, 50, "app", "syscall", "write");
	add(&now, FAM_SYSCALLS, 17, "app", "syscall", "read");
	add(&now, FAM_SYSCALLS, 999, "other", "syscall", "read");
	add(&now, FAM_SYSCALLS_IN_FLIGHT, 2, "app", "syscall", "poll");
	activity_measure(&prev, &now, &now.families[FAM_PROCESS_UP].samples[0], &a);
	CHECK_EQ_U64(a.nr_calls, 3);
	CHECK_STR(a.calls[0].name, "write");
	CHECK_EQ_U64(a.calls[0].calls, 50);
	CHECK_STR(a.calls[1].name, "read");
	CHECK_EQ_U64(a.calls[1].calls, 7);
	CHECK_STR(a.calls[2].name, "poll");
	CHECK_EQ_U64(a.calls[2].in_flight, 2);
	CHECK(!a.cpu_ns.known && !a.off_cpu_known && !a.faults.known);
	activity_done(&a);
	family_set_done(&prev);
	family_set_done(&now);
}

/* The parts of one call under several further labels are one row. */
TEST(activity_sums_over_labels_that_it_does_not_show)
{
	struct family_set now = { 0 };
	struct activity a;
	struct sample *s;

	add(&now, FAM_PROCESS_UP, 1, "app", NULL, NULL);
	s = add(&now, FAM_SYSCALLS, 3, "app", "syscall", "read");
	sample_label(&now, s, "interaction", "GET /");
	s = add(&now, FAM_SYSCALLS, 4, "app", "syscall", "read");
	sample_label(&now, s, "interaction", "background");
	s = add(&now, FAM_OFF_CPU, 5, "app", "reason", "futex");
	sample_label(&now, s, "interaction", "GET /");
	s = add(&now, FAM_OFF_CPU, 6, "app", "reason", "futex");
	sample_label(&now, s, "interaction", "background");
	activity_measure(NULL, &now, &now.families[FAM_PROCESS_UP].samples[0], &a);
	CHECK_EQ_U64(a.nr_calls, 1);
	CHECK_EQ_U64(a.calls[0].calls, 7);
	CHECK_EQ_U64(a.nr_off_cpu, 1);
	CHECK_EQ_U64(a.off_cpu[0].u, 11);
	activity_done(&a);
	family_set_done(&now);
}

static void add_kind(struct family_set *set, enum family_id id, const char *kind, u64 n, u64 sum)
{
	static struct hist hists[32];
	static size_t used;
	struct sample *s = add(set, id, 0, "app", "interaction", kind);

	hists[used] = (struct hist){ .sum = sum };
	hists[used].counts[3] = n;
	s->hist = &hists[used++];
}

/* Of each kind what was answered in the interval, dearest first. */
TEST(activity_has_what_interactions_cost)
{
	struct family_set prev = { 0 }, now = { 0 };
	struct activity a;

	add(&now, FAM_PROCESS_UP, 1, "app", NULL, NULL);
	add(&now, FAM_INTERACTIONS_IN_FLIGHT, 0, "app", "interaction", "GET /a");
	add(&now, FAM_INTERACTIONS_IN_FLIGHT, 2, "app", "interaction", "GET /b");
	add(&now, FAM_INTERACTIONS_IN_FLIGHT, 0, "app", "interaction", "GET /idle");
	add_kind(&prev, FAM_INTERACTION_DURATION, "GET /a", 4, 400);
	add_kind(&now, FAM_INTERACTION_DURATION, "GET /a", 6, 700);
	add_kind(&now, FAM_INTERACTION_DURATION, "GET /b", 3, 90);
	add_kind(&prev, FAM_INTERACTION_DURATION, "GET /idle", 3, 90);
	add_kind(&now, FAM_INTERACTION_DURATION, "GET /idle", 3, 90);
	add_kind(&prev, FAM_INTERACTION_CPU, "GET /a", 4, 40);
	add_kind(&now, FAM_INTERACTION_CPU, "GET /a", 6, 50);
	add_kind(&now, FAM_INTERACTION_CPU, "GET /b", 3, 80);
	add_kind(&now, FAM_INTERACTION_SYSCALLS, "GET /b", 3, 12 * HIST_ONE);
	activity_measure(&prev, &now, &now.families[FAM_PROCESS_UP].samples[0], &a);
	CHECK_EQ_U64(a.nr_kinds, 2);
	CHECK_STR(a.kinds[0].name, "GET /b");
	CHECK_EQ_U64(a.kinds[0].answered, 3);
	CHECK_EQ_U64(a.kinds[0].in_flight, 2);
	CHECK_EQ_U64(a.kinds[0].cpu_ns, 80);
	CHECK_EQ_U64(a.kinds[0].calls, 12 * HIST_ONE);
	CHECK_STR(a.kinds[1].name, "GET /a");
	CHECK_EQ_U64(a.kinds[1].answered, 2);
	CHECK_EQ_U64(a.kinds[1].wall_ns, 300);
	CHECK_EQ_U64(a.kinds[1].cpu_ns, 10);
	activity_done(&a);
	family_set_done(&prev);
	family_set_done(&now);
}

/* Time in which no thread waits is no time off the CPU of the process. */
TEST(activity_leaves_go_s_scheduler_out_of_the_threads)
{
	struct family_set now = { 0 };
	struct activity a;

	add(&now, FAM_PROCESS_UP, 1, "app", NULL, NULL);
	add(&now, FAM_OFF_CPU, 5, "app", "reason", "futex");
	add(&now, FAM_OFF_CPU, 700, "app", "reason", "go_scheduler");
	activity_measure(NULL, &now, &now.families[FAM_PROCESS_UP].samples[0], &a);
	CHECK_EQ_U64(a.nr_off_cpu, 1);
	CHECK_EQ_U64(a.off_cpu[0].u, 5);
	activity_done(&a);
	family_set_done(&now);
}

TEST(activity_tells_processes_of_one_name_apart_by_pid)
{
	struct family_set now = { 0 };
	struct activity a;

	sample_label(&now, add(&now, FAM_PROCESS_UP, 1, "app", NULL, NULL), "pid", "1");
	sample_label(&now, add(&now, FAM_PAGE_FAULTS, 5, "app", NULL, NULL), "pid", "1");
	sample_label(&now, add(&now, FAM_PAGE_FAULTS, 7, "app", NULL, NULL), "pid", "2");
	activity_measure(NULL, &now, &now.families[FAM_PROCESS_UP].samples[0], &a);
	CHECK_STR(a.pid, "1");
	CHECK_EQ_U64(a.faults.u, 5);
	activity_done(&a);
	family_set_done(&now);
}

TEST(activity_never_shows_less_than_nothing)
{
	struct family_set prev = { 0 }, now = { 0 };
	struct activity a;

	add(&now, FAM_PROCESS_UP, 1, "app", NULL, NULL);
	add(&prev, FAM_PAGE_FAULTS, 9, "app", NULL, NULL);
	add(&now, FAM_PAGE_FAULTS, 5, "app", NULL, NULL);
	add(&prev, FAM_SYSCALLS, 9, "app", "syscall", "read");
	add(&now, FAM_SYSCALLS, 5, "app", "syscall", "read");
	activity_measure(&prev, &now, &now.families[FAM_PROCESS_UP].samples[0], &a);
	CHECK(a.faults.known);
	CHECK_EQ_U64(a.faults.u, 0);
	CHECK_EQ_U64(a.nr_calls, 0);
	activity_done(&a);
	family_set_done(&prev);
	family_set_done(&now);
}

/* More rows than the first allocation holds, in another order in each family. */
TEST(activity_matches_many_calls)
{
	struct family_set prev = { 0 }, now = { 0 };
	struct activity a;
	char name[24];
	u64 sum = 0;

	add(&now, FAM_PROCESS_UP, 1, "app", NULL, NULL);
	for (int i = 0; i < 400; i++) {
		snprintf(name, sizeof(name), "call_%d", i);
		add(&now, FAM_SYSCALLS, 1000, "app", "syscall", name);
		snprintf(name, sizeof(name), "call_%d", i * 7 % 400);
		add(&prev, FAM_SYSCALLS, (u64)(i * 7 % 400), "app", "syscall", name);
	}
	activity_measure(&prev, &now, &now.families[FAM_PROCESS_UP].samples[0], &a);
	CHECK_EQ_U64(a.nr_calls, 400);
	CHECK_STR(a.calls[0].name, "call_0");
	CHECK_STR(a.calls[399].name, "call_399");
	for (size_t i = 0; i < a.nr_calls; i++)
		sum += a.calls[i].calls;
	CHECK_EQ_U64(sum, 400 * 1000 - 400 * 399 / 2);
	activity_done(&a);
	family_set_done(&prev);
	family_set_done(&now);
}

TEST(hist_quantile_bound_is_a_bound)
{
	struct hist hist = { 0 };

	CHECK_EQ_U64(hist_quantile_bound(&hist, 990), 0);
	hist.counts[hist_bucket(1000)] = 99;
	hist.counts[hist_bucket(1000000)] = 1;
	CHECK_EQ_U64(hist_quantile_bound(&hist, 990), 1024);
	CHECK_EQ_U64(hist_quantile_bound(&hist, 991), 1048576);
	CHECK_EQ_U64(hist_quantile_bound(&hist, 1000), 1048576);
	hist.counts[NR_HIST_BOUNDS] = 10;
	CHECK_EQ_U64(hist_quantile_bound(&hist, 990), (u64)-1);
	hist.counts[0] = 1ULL << 62;
	CHECK_EQ_U64(hist_quantile_bound(&hist, 990), 1024);
}
