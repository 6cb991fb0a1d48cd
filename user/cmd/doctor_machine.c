/* SPDX-License-Identifier: MIT */
/* What else the machine has: the end of processes, the scheduler's books, the clock. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "user/bpf/collect.h"
#include "user/cmd/doctor_impl.h"
#include "user/model/identities.h"
#include "user/proc/procfs.h"

/* Two stamps a system call on top of about 1 us that the call itself takes. */
#define DEAR_STAMP_NS  100
#define CLOCK_READINGS 2000
/* Some thousand switches, in a quarter of a second. */
#define NR_NAPS 2000
#define NAP_NS	50000

static void check_pidfd(struct report *r)
{
	int fd = (int)syscall(SYS_pidfd_open, getpid(), 0);

	if (fd < 0)
		report_row(r, HEALTH_MISSING, "pidfd_open(2)", "a kernel from 5.3 on",
			   "refused: %s", strerror(errno));
	else
		report_row(r, HEALTH_OK, "pidfd_open(2)", NULL, "tells when a process ends");
	if (fd >= 0)
		close(fd);
}

static void check_books(struct report *r)
{
	struct sysinfo_schedstat schedstat = { 0 };
	u64 steal_ticks, boot;
	int e = sysinfo_schedstat(DOCTOR_ROOT, &schedstat);

	/* This process has got a CPU at least once; where the books are off, it reads 0. */
	if (e || !schedstat.runs)
		report_row(r, HEALTH_LIMITED, "run_delay",
			   "a kernel with CONFIG_SCHED_INFO, or boot with `delayacct`",
			   "the kernel does not count how long threads wait for a CPU: the reasons "
			   "run_queue and preempted stay 0");
	else
		report_row(r, HEALTH_OK, "run_delay", NULL, "the kernel counts waiting for a CPU");
	procfs_machine(DOCTOR_ROOT "/proc", &steal_ticks, &boot);
	if (steal_ticks)
		report_row(r, HEALTH_OK, "steal", NULL, "the kernel accounts for it");
	else if (sysinfo_hypervisor(DOCTOR_ROOT))
		report_row(r, HEALTH_LIMITED, "steal", NULL,
			   "none seen, in a virtual machine: its hypervisor reports none or took "
			   "none; "
			   "skyobserve_steal_seconds_total is left out until it does");
	else
		report_row(r, HEALTH_OK, "steal", NULL, "none seen, and not a virtual machine");
}

/* ns of one clock reading in a program such as this one, the fastest of some. */
static double reading_ns(void)
{
	struct timespec begin, end;
	double best = 0;

	for (int i = 0; i < 5; i++) {
		double ns;

		clock_gettime(CLOCK_MONOTONIC, &begin);
		for (int n = 0; n < CLOCK_READINGS; n++)
			clock_gettime(CLOCK_MONOTONIC, &end);
		ns = (double)(end.tv_sec - begin.tv_sec) * 1e9 +
		     (double)(end.tv_nsec - begin.tv_nsec);
		if (!i || ns / CLOCK_READINGS < best)
			best = ns / CLOCK_READINGS;
	}
	return best;
}

static void check_clock(struct report *r)
{
	const char *path = "sys/devices/system/clocksource/clocksource0/current_clocksource";
	double user_ns = reading_ns();
	double ns = r->features.stamp ? user_ns : r->features.stamp_ns;
	char source[32] = "of unknown source";
	char in_bpf[96] = "not checked in a BPF program";

	(void)sysinfo_word(DOCTOR_ROOT, path, source, sizeof(source)); /* keeps its text */
	if (!r->features.stamp)
		snprintf(in_bpf, sizeof(in_bpf),
			 "%.0f ns in a BPF program (two for each system call)", ns);
	report_row(r, ns > DEAR_STAMP_NS ? HEALTH_LIMITED : HEALTH_OK, "clock",
		   "a faster source if the machine has one: see available_clocksource in "
		   "/sys/devices/system/clocksource/clocksource0",
		   "%s; cost of a reading: %s, %.0f ns in user space", source, in_bpf, user_ns);
}

static void check_information(struct report *r)
{
	char where[256];
	s64 paranoid;

	if (sysinfo_number(DOCTOR_ROOT, "proc/sys/kernel/perf_event_paranoid", &paranoid))
		report_row(r, HEALTH_OK, "perf_event_paranoid", NULL,
			   "no perf events in this kernel; they are not needed");
	else
		report_row(r, HEALTH_OK, "perf_event_paranoid", NULL,
			   "%lld; perf events are not needed", (long long)paranoid);
	if (sysinfo_mount(DOCTOR_ROOT, "tracefs", where, sizeof(where)))
		report_row(r, HEALTH_OK, "tracefs", NULL, "not mounted, not needed");
	else
		report_row(r, HEALTH_OK, "tracefs", NULL, "at %s, not needed", where);
}

/*
 * It cannot be read anywhere: make some switches, and look whether each one begins with the task
 * that the one before it ended with.
 */
void doctor_chain(struct report *r, const struct bpf_session *session)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };
	const char *what = "switches reported";
	struct snapshot snap = { 0 };
	struct err err = { { 0 } };
	unsigned long long breaks, switches;

	for (int i = 0; i < NR_NAPS; i++)
		(void)nanosleep(&nap, NULL);
	if (collect_snapshot(session, &snap, &err)) {
		report_row(r, HEALTH_UNCHECKED, what, NULL, "%s", err.text);
		snapshot_done(&snap);
		return;
	}
	breaks = snap.machine.chain_breaks;
	switches = snap.machine.switches;
	if (chain_holds(&snap.machine))
		report_row(r, HEALTH_OK, what, NULL, "%llu of %llu are missing", breaks, switches);
	else
		report_row(r, HEALTH_LIMITED, what, "only another kernel",
			   "%llu of %llu are missing. %s", breaks, switches, chain_meaning);
	snapshot_done(&snap);
}

void doctor_machine(struct report *r)
{
	check_pidfd(r);
	check_books(r);
	check_clock(r);
	check_information(r);
}
