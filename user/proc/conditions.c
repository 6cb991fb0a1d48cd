/* SPDX-License-Identifier: MIT */
/* Conditions of a measurement, from /proc and /sys. Knows only files. */
#include "user/proc/conditions.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/proc/sysinfo.h"
#include "user/proc/text.h"

/* As many CPUs are asked for their frequency; a machine has it on all of them or on none. */
#define MAX_CPUS 1024

/* The kernel gives no more than a page of arguments' and environment's memory at a time. */
#define MAX_ENVIRONMENT (256u << 10)

/* Settings of runtimes and allocators; nothing that usually holds a secret. */
static const char *const variables[] = {
	"GOMAXPROCS",
	"GOGC",
	"GOMEMLIMIT",
	"GODEBUG",
	"OMP_NUM_THREADS",
	"UV_THREADPOOL_SIZE",
	"MALLOC_ARENA_MAX",
	"MALLOC_TRIM_THRESHOLD_",
	"MALLOC_MMAP_THRESHOLD_",
	"GLIBC_TUNABLES",
	"LD_PRELOAD",
	"LD_BIND_NOW",
};

static ssize_t read_file(const char *root, const char *path, char *ret_text, size_t n)
{
	char name[4096];

	if (snprintf(name, sizeof(name), "%s/%s", root, path) >= (int)sizeof(name))
		return -ENAMETOOLONG;
	return proc_read_text(name, ret_text, n);
}

/* What stands behind @key, up to the end of its line, in "KEY: value" or "key value". */
static bool field(const char *text, const char *key, char *ret_value, size_t n)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, len) != 0 || !strchr(": \t", line[len]))
			continue;
		line += len + strspn(line + len, ": \t");
		snprintf(ret_value, n, "%.*s", (int)strcspn(line, "\n"), line);
		return true;
	}
	return false;
}

static void set_field(const char *text, const char *key, const char *name, struct record *r)
{
	char value[1024];

	if (field(text, key, value, sizeof(value)))
		record_fact_set(r, name, value, NULL);
}

/* The first line of a file. */
static void set_line(const char *root, const char *path, const char *name, struct record *r)
{
	char text[1024];

	if (read_file(root, path, text, sizeof(text)) <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	if (text[0])
		record_fact_set(r, name, text, NULL);
}

/* The number that a field such as "MemTotal:  16 kB" begins with. */
static void set_number(const char *text, const char *key, const char *name, struct record *r)
{
	char value[64], *end;
	unsigned long long n;

	if (!field(text, key, value, sizeof(value)) || !isdigit((unsigned char)value[0]))
		return;
	n = strtoull(value, &end, 10);
	record_fact_setf(r, name, "%llu", n);
}

void conditions_machine(const char *root, struct record *r)
{
	char text[8192];

	set_line(root, "proc/sys/kernel/osrelease", "machine.kernel", r);
	set_line(root, "proc/sys/kernel/version", "machine.kernel_build", r);
	set_line(root, "proc/sys/kernel/random/boot_id", "machine.boot_id", r);
	if (read_file(root, "proc/cpuinfo", text, sizeof(text)) > 0)
		set_field(text, "model name\t", "machine.cpu_model", r);
	if (read_file(root, "proc/meminfo", text, sizeof(text)) > 0)
		set_number(text, "MemTotal", "machine.memory_kib", r);
	record_fact_set(r, "machine.virtual", sysinfo_hypervisor(root) ? "yes" : "not known to be",
			NULL);
	record_fact_setf(r, "machine.tick_hz", "%ld", sysconf(_SC_CLK_TCK));
}

/* "cpu  user nice system idle iowait irq softirq steal guest guest_nice"; user holds guest. */
static void set_cpu_ticks(const char *root, struct record *r)
{
	enum {
		USER,
		NICE,
		SYSTEM,
		IDLE,
		IOWAIT,
		IRQ,
		SOFTIRQ,
		STEAL,
		NR_STATES
	};
	unsigned long long t[NR_STATES];
	char text[1024];
	char *at = text + 4, *end;

	if (read_file(root, "proc/stat", text, sizeof(text)) <= 0 || strncmp(text, "cpu ", 4) != 0)
		return;
	for (u32 i = 0; i < NR_STATES; i++) {
		t[i] = strtoull(at, &end, 10);
		if (end == at)
			return;
		at = end;
	}
	record_fact_setf(r, "cpu.busy_ticks", "%llu",
			 t[USER] + t[NICE] + t[SYSTEM] + t[IRQ] + t[SOFTIRQ]);
	record_fact_setf(r, "cpu.idle_ticks", "%llu", t[IDLE] + t[IOWAIT]);
	record_fact_setf(r, "cpu.steal_ticks", "%llu", t[STEAL]);
}

/* "some avg10=… total=MICROSECONDS" of proc/pressure/. */
static void set_pressure(const char *root, const char *path, const char *name, struct record *r)
{
	char text[512];
	const char *total;

	if (read_file(root, path, text, sizeof(text)) <= 0)
		return;
	text[strcspn(text, "\n")] = '\0';
	total = strstr(text, "total=");
	if (!strncmp(text, "some ", 5) && total && isdigit((unsigned char)total[6]))
		record_fact_setf(r, name, "%llu", strtoull(total + 6, NULL, 10));
}

static void set_frequencies(const char *root, struct record *r)
{
	s64 lowest = 0, highest = 0;

	for (u32 cpu = 0; cpu < MAX_CPUS; cpu++) {
		char path[96];
		s64 khz;

		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
		if (sysinfo_number(root, path, &khz))
			break;
		if (!cpu || khz < lowest)
			lowest = khz;
		if (!cpu || khz > highest)
			highest = khz;
	}
	if (!highest)
		return;
	record_fact_setf(r, "cpu.lowest_khz", "%lld", lowest);
	record_fact_setf(r, "cpu.highest_khz", "%lld", highest);
}

void conditions_now(const char *root, struct record *r)
{
	char text[8192];

	set_cpu_ticks(root, r);
	set_line(root, "proc/loadavg", "load.average", r);
	set_line(root, "sys/devices/system/cpu/online", "cpu.online", r);
	set_line(root, "sys/devices/system/clocksource/clocksource0/current_clocksource",
		 "clock.source", r);
	set_pressure(root, "proc/pressure/cpu", "pressure.cpu_us", r);
	set_pressure(root, "proc/pressure/io", "pressure.io_us", r);
	set_pressure(root, "proc/pressure/memory", "pressure.memory_us", r);
	if (read_file(root, "proc/meminfo", text, sizeof(text)) > 0) {
		set_number(text, "MemAvailable", "memory.available_kib", r);
		set_number(text, "SwapFree", "memory.swap_free_kib", r);
	}
	set_frequencies(root, r);
}

/* --- a process --- */

static void set_of(struct record *r, u32 i, const char *what, const char *value)
{
	char name[96];

	snprintf(name, sizeof(name), "target.%u.%s", i, what);
	record_fact_set(r, name, value, NULL);
}

/* The path of cgroup v2 in "0::/path"; of v1 that of the cpu controller. */
static void set_cgroup(const char *text, u32 i, struct record *r)
{
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		char path[4096];

		line += *line == '\n';
		if (strncmp(line, "0::/", 4) != 0)
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(line + 3, "\n"), line + 3);
		set_of(r, i, "cgroup", path);
		return;
	}
}

static void set_variable(const char *text, size_t n, const char *name, u32 i, struct record *r)
{
	size_t len = strlen(name);

	for (const char *at = text; at < text + n; at += strlen(at) + 1) {
		char what[64];

		if (strncmp(at, name, len) != 0 || at[len] != '=')
			continue;
		snprintf(what, sizeof(what), "environment.%s", name);
		set_of(r, i, what, at + len + 1);
		return;
	}
}

static void set_environment(const char *root, pid_t pid, u32 i, struct record *r)
{
	char *text = malloc(MAX_ENVIRONMENT);
	char path[64];
	ssize_t n;

	if (!text)
		return;
	snprintf(path, sizeof(path), "proc/%d/environ", (int)pid);
	n = read_file(root, path, text, MAX_ENVIRONMENT);
	for (size_t v = 0; n > 0 && v < sizeof(variables) / sizeof(variables[0]); v++)
		set_variable(text, (size_t)n, variables[v], i, r);
	free(text);
}

void conditions_process(const char *root, pid_t pid, u32 i, struct record *r)
{
	char text[8192], value[1024], path[64];

	snprintf(path, sizeof(path), "proc/%d/cgroup", (int)pid);
	if (read_file(root, path, text, sizeof(text)) > 0)
		set_cgroup(text, i, r);
	snprintf(path, sizeof(path), "proc/%d/status", (int)pid);
	if (read_file(root, path, text, sizeof(text)) > 0 &&
	    field(text, "Cpus_allowed_list", value, sizeof(value)))
		set_of(r, i, "cpus_allowed", value);
	set_environment(root, pid, i, r);
}

void conditions_throttled(const char *root, const char *cgroup, u32 i, struct record *r)
{
	char text[2048], path[4200], name[64];

	if (cgroup[0] != '/' || strstr(cgroup, "/../"))
		return;
	snprintf(path, sizeof(path), "sys/fs/cgroup%s/cpu.stat", cgroup);
	if (read_file(root, path, text, sizeof(text)) <= 0)
		return;
	snprintf(name, sizeof(name), "target.%u.throttled_us", i);
	set_number(text, "throttled_usec", name, r);
}
