/* SPDX-License-Identifier: MIT */
/*
 * The harness's own check, run in every guest before anything else: this kernel has type
 * information, runs BPF programs that count exactly, and the disk is there. Knows nothing of
 * skyobserve.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "probe.h"

/* The object file, in this program's read-only data; PROBE_OBJECT is its path. */
asm(".pushsection .rodata\n"
    ".balign 8\n"
    "probe_object: .incbin \"" PROBE_OBJECT "\"\n"
    "probe_object_end:\n"
    ".popsection\n");
extern const char probe_object[];
extern const char probe_object_end[];

/* Enough that losing one in a thousand shows; 1 ms of work. */
#define CALLS 1000

static int failures;

static void result(const char *name, bool good, const char *why)
{
	if (good)
		printf("ok %s\n", name);
	else
		printf("not ok %s: %s\n", name, why);
	failures += !good;
}

/* Attaches one program, makes CALLS system calls that nothing else in this process makes, and
 * compares. */
static void check_counts(struct bpf_object *obj, const char *prog_name,
			 const volatile unsigned long long *count, const char *case_name)
{
	struct bpf_program *prog = bpf_object__find_program_by_name(obj, prog_name);
	struct bpf_link *link = prog ? bpf_program__attach(prog) : NULL;
	unsigned long long before, after;
	char why[128];

	if (!link) {
		snprintf(why, sizeof(why), "cannot attach %s: %s", prog_name, strerror(errno));
		result(case_name, false, why);
		return;
	}
	/* The counter is read through a mapping, so reading it is no system call. */
	before = *count;
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	after = *count;
	bpf_link__destroy(link);

	snprintf(why, sizeof(why), "want %d calls, got %llu", CALLS, after - before);
	result(case_name, after - before == CALLS, why);
}

static struct bpf_object *load(void)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "probe");
	struct bpf_object *obj;
	struct bpf_map *rodata;
	int tgid = getpid();

	obj = bpf_object__open_mem(probe_object, probe_object_end - probe_object, &opts);
	if (!obj)
		return NULL;
	rodata = bpf_object__find_map_by_name(obj, ".rodata");
	if (!rodata || bpf_map__set_initial_value(rodata, &tgid, sizeof(tgid)) ||
	    bpf_object__load(obj)) {
		bpf_object__close(obj);
		return NULL;
	}
	return obj;
}

static void check_bpf(void)
{
	struct bpf_object *obj = load();
	struct bpf_map *bss = obj ? bpf_object__find_map_by_name(obj, ".bss") : NULL;
	const volatile struct probe_counters *counters;

	/* libbpf has said on standard error what it was. */
	result("probe_loads", bss != NULL, "libbpf cannot load the programs");
	if (!bss)
		return;
	counters = mmap(NULL, sizeof(*counters), PROT_READ, MAP_SHARED, bpf_map__fd(bss), 0);
	if (counters == MAP_FAILED) {
		result("probe_maps_counters", false, strerror(errno));
		return;
	}
	check_counts(obj, "probe_raw_tp", &counters->raw_tp_calls, "probe_raw_tp_counts_exactly");
	check_counts(obj, "probe_tp_btf", &counters->tp_btf_calls, "probe_tp_btf_counts_exactly");
	result("probe_reads_task_by_core", counters->tp_btf_calls && !counters->wrong_tgids,
	       "tgid differs from the helper's");
}

/* fsync has to reach a real file system, where it takes the way that durable writes take. */
static void check_disk(void)
{
	/* linux/magic.h, EXT4_SUPER_MAGIC */
	const long ext4_magic = 0xef53;
	struct statfs fs = { 0 };
	int fd = open("/mnt/probe", O_CREAT | O_WRONLY, 0600);

	result("probe_disk_is_ext4", !statfs("/mnt", &fs) && fs.f_type == ext4_magic,
	       "/mnt is no ext4");
	result("probe_fsync", fd >= 0 && write(fd, "x", 1) == 1 && !fsync(fd), strerror(errno));
	(void)unlink("/mnt/probe"); /* the disk is thrown away with the guest */
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	result("probe_has_btf", !access("/sys/kernel/btf/vmlinux", R_OK), strerror(errno));
	check_bpf();
	check_disk();
	return failures != 0;
}
