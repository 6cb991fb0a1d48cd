/* SPDX-License-Identifier: MIT */
/*
 * Whatever number of CPUs a machine may come to have: what any of them counts is read, and the maps
 * do not grow with them. tests/vm runs it with 128 possible CPUs and 2 online.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "user/cmd/observer.h"
#include "user/model/syscall_names.h"

#define NR_GETPPID     1000 /* from each CPU */
#define DEADLINE_S     60
#define MAX_MAP_ID     1000000
#define MAX_MAPS_BYTES (32ULL << 20)

/* From one CPU after the other; returns how many there were. */
static int call_everywhere(void)
{
	cpu_set_t all, one;
	int n = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return 0;
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			return 0;
		for (int i = 0; i < NR_GETPPID; i++)
			(void)syscall(SYS_getppid);
		n++;
	}
	return n;
}

/* Works when `go` can be read, says on `done` from how many CPUs, and stays. */
static void child(int go, int done)
{
	char c;
	int n;

	(void)!read(go, &c, 1);
	n = call_everywhere();
	(void)!write(done, &n, sizeof(n));
	for (;;)
		pause();
}

/* The number that stands behind @key in the kernel's description of a descriptor, or 0. */
static u64 fact_of(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* By the kernel's account; a map has a descriptor for each object that uses it. */
static u64 bytes_of_maps(u32 *ret_maps)
{
	bool seen[MAX_MAP_ID] = { false };
	DIR *dir = opendir("/proc/self/fdinfo");
	struct dirent *entry;
	u64 sum = 0, id;

	CHECK(dir != NULL);
	*ret_maps = 0;
	while ((entry = readdir(dir))) {
		char path[300], text[1024];
		size_t n = 0;
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", entry->d_name);
		f = fopen(path, "re");
		if (f) {
			n = fread(text, 1, sizeof(text) - 1, f);
			fclose(f);
		}
		text[n] = '\0';
		id = fact_of(text, "map_id:");
		CHECK(id < MAX_MAP_ID);
		if (!id || seen[id])
			continue;
		seen[id] = true;
		++*ret_maps;
		sum += fact_of(text, "memlock:");
	}
	closedir(dir);
	return sum;
}

/* As `serve --all` has it: with one place for a target. */
static struct observer *open_observer(void)
{
	struct observer_config config = { .bounds = bpf_bounds_default,
					  .keep_ended = true,
					  .all = true,
					  .groups = (1u << NR_GROUPS) - 1 };
	struct observer *o;
	struct err err = { { 0 } };

	config.bounds.max_details = 1;
	config.bounds.max_rows = 64;
	config.bounds.max_processes = 2048;
	config.groups &= ~(1u << GROUP_INTERACTIONS | 1u << GROUP_CENSUS);
	if (observer_open(&config, &o, &err))
		FAIL("%s", err.text);
	return o;
}

/* What the maps hold of a child that called from @cpus CPUs. */
static void check_counts(struct observer *o, int cpus)
{
	struct process_totals *totals;
	struct err err = { { 0 } };
	struct snapshot snap;

	if (observer_snapshot(o, &snap, &totals, &err))
		FAIL("%s", err.text);
	CHECK(snap.processes[0].calls != NULL);
	CHECK_EQ_U64(snap.processes[0].calls[syscall_nr(SYSCALL_ARCH_NATIVE, "getppid")],
		     (u64)cpus * NR_GETPPID);
	CHECK(snap.machine.switches > 0);
	CHECK_EQ_U64(snap.machine.chain_breaks, 0);
	for (size_t i = 0; i < NR_DROPS; i++)
		CHECK_EQ_U64(snap.drops[i], 0);
	snapshot_done(&snap);
	free(totals);
}

TEST(calls_from_every_cpu_are_counted_in_less_than_32_mib)
{
	int go[2], done[2], cpus = 0;
	struct err err = { { 0 } };
	struct observer *o;
	u64 bytes;
	u32 maps;
	pid_t pid;

	alarm(DEADLINE_S);
	CHECK(!pipe(go) && !pipe(done));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		child(go[0], done[1]);
	o = open_observer();
	bytes = bytes_of_maps(&maps);
	printf("# %u maps, %.1f MiB, %ld CPUs possible, %ld online\n", maps,
	       (double)bytes / 1048576, sysconf(_SC_NPROCESSORS_CONF),
	       sysconf(_SC_NPROCESSORS_ONLN));
	CHECK(maps >= 20);
	CHECK(bytes < MAX_MAPS_BYTES);
	if (observer_add(o, pid, &err))
		FAIL("%s", err.text);
	CHECK(write(go[1], "g", 1) == 1);
	CHECK(read(done[0], &cpus, sizeof(cpus)) == sizeof(cpus));
	CHECK(cpus > 0);
	check_counts(o, cpus);
	observer_free(o);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	alarm(0);
}
