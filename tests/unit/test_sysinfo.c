/* SPDX-License-Identifier: MIT */
/* Readers of the machine's settings, over a folder of ordinary files. */
#include "user/proc/sysinfo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lib/check.h"

#define CAP_NET_ADMIN_NR 12
#define CAP_BPF_NR	 39

/* A folder of its own for a case, so that none sees the files of another. */
static const char *new_root(void)
{
	static char root[512];
	const char *in = getenv("TEST_TMPDIR");

	snprintf(root, sizeof(root), "%s/sysinfo-XXXXXX", in ? in : "/tmp");
	CHECK(mkdtemp(root));
	return root;
}

/* Write @root/@path, with the folders on the way. */
static void put(const char *root, const char *path, const char *text)
{
	char name[1024];
	FILE *f;

	snprintf(name, sizeof(name), "%s/%s", root, path);
	for (char *slash = name + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		CHECK(!mkdir(name, 0700) || errno == EEXIST);
		*slash = '/';
	}
	f = fopen(name, "w");
	CHECK(f);
	CHECK(fputs(text, f) >= 0);
	CHECK(!fclose(f));
}

TEST(word_is_the_first_one_without_its_newline)
{
	const char *root = new_root();
	char word[16] = "untouched";

	put(root, "proc/a", "kvm-clock \n");
	put(root, "proc/two", "  tsc hpet\n");
	put(root, "proc/empty", "\n");
	put(root, "proc/long", "abcdefghijklmnopqrstuvwxyz\n");
	CHECK_EQ_INT(sysinfo_word(root, "proc/none", word, sizeof(word)), -ENOENT);
	CHECK_EQ_INT(sysinfo_word(root, "proc/empty", word, sizeof(word)), -ENODATA);
	CHECK_STR(word, "untouched");
	CHECK_EQ_INT(sysinfo_word(root, "proc/a", word, sizeof(word)), 0);
	CHECK_STR(word, "kvm-clock");
	CHECK_EQ_INT(sysinfo_word(root, "proc/two", word, sizeof(word)), 0);
	CHECK_STR(word, "tsc");
	CHECK_EQ_INT(sysinfo_word(root, "proc/long", word, sizeof(word)), 0);
	CHECK_STR(word, "abcdefghijklmno");
}

TEST(number_is_whole_or_refused)
{
	static const struct {
		const char *text;
		int r;
		s64 number;
	} cases[] = {
		{ "1\n", 0, 1 },
		{ "-1\n", 0, -1 },
		{ "0", 0, 0 },
		{ "2x\n", -EBADMSG, 7 },
		{ "yes\n", -EBADMSG, 7 },
		{ "", -ENODATA, 7 },
		{ "99999999999999999999999\n", -EBADMSG, 7 },
	};
	const char *root = new_root();

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s64 number = 7;

		put(root, "proc/n", cases[i].text);
		CHECK_EQ_INT(sysinfo_number(root, "proc/n", &number), cases[i].r);
		CHECK_EQ_INT(number, cases[i].number);
	}
}

TEST(lockdown_is_the_mode_in_brackets)
{
	static const struct {
		const char *text;
		enum sysinfo_lockdown mode;
	} cases[] = {
		{ "[none] integrity confidentiality\n", LOCKDOWN_NONE },
		{ "none [integrity] confidentiality\n", LOCKDOWN_INTEGRITY },
		{ "none integrity [confidentiality]\n", LOCKDOWN_CONFIDENTIALITY },
		{ "none integrity confidentiality [total]\n", LOCKDOWN_UNKNOWN },
		{ "", LOCKDOWN_UNKNOWN },
	};
	const char *root = new_root();

	CHECK_EQ_INT(sysinfo_lockdown(root), LOCKDOWN_ABSENT);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		put(root, "sys/kernel/security/lockdown", cases[i].text);
		CHECK_EQ_INT(sysinfo_lockdown(root), cases[i].mode);
	}
}

TEST(privilege_is_read_from_proc)
{
	const char *root = new_root();
	struct sysinfo_privilege p;
	char link[600];

	put(root, "proc/self/status",
	    "Name:\tx\nCapInh:\t0000000000000000\nCapEff:\t0000008000000000\nNoNewPrivs:\t0\n"
	    "Seccomp:\t2\nSeccomp_filters:\t1\n");
	put(root, "proc/self/uid_map", "         0          0 4294967295\n");
	put(root, "proc/self/ns/x", "");
	snprintf(link, sizeof(link), "%s/proc/self/ns/pid", root);
	CHECK(!symlink("pid:[4026531836]", link));
	sysinfo_privilege(root, &p);
	CHECK(p.valid);
	CHECK(sysinfo_capable(&p, CAP_BPF_NR));
	CHECK(!sysinfo_capable(&p, CAP_NET_ADMIN_NR));
	CHECK(!sysinfo_capable(&p, 64));
	CHECK(p.seccomp);
	CHECK(!p.user_namespace);
	CHECK(!p.pid_namespace);
}

TEST(namespaces_of_containers_are_seen)
{
	static const char *const maps[] = { "0 1000 1\n", "0 100000 65536\n", "" };
	const char *root = new_root();
	struct sysinfo_privilege p;
	char link[600];

	put(root, "proc/self/ns/x", "");
	snprintf(link, sizeof(link), "%s/proc/self/ns/pid", root);
	CHECK(!symlink("pid:[4026532198]", link));
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		put(root, "proc/self/uid_map", maps[i]);
		sysinfo_privilege(root, &p);
		CHECK(p.user_namespace);
		CHECK(p.pid_namespace);
		CHECK(!p.valid);
	}
}

TEST(nothing_readable_is_no_privilege)
{
	struct sysinfo_privilege p;

	sysinfo_privilege(new_root(), &p);
	CHECK(!p.valid);
	CHECK_EQ_U64(p.capabilities, 0);
	CHECK(!p.seccomp && !p.user_namespace && !p.pid_namespace);
}

TEST(mount_is_found_by_its_type)
{
	const char *root = new_root();
	char where[64] = "untouched";

	CHECK_EQ_INT(sysinfo_mount(root, "tracefs", where, sizeof(where)), -ENOENT);
	put(root, "proc/self/mounts",
	    "proc /proc proc rw 0 0\n"
	    "tracefs /not/it debugfs rw 0 0\n"
	    "none /with\\040blank tracefsx rw 0 0\n"
	    "broken\n"
	    "tracefs /sys/kernel/tracing tracefs rw,nosuid 0 0\n"
	    "tracefs /later tracefs rw 0 0\n");
	CHECK_EQ_INT(sysinfo_mount(root, "bpf", where, sizeof(where)), -ENOENT);
	CHECK_STR(where, "untouched");
	CHECK_EQ_INT(sysinfo_mount(root, "tracefs", where, sizeof(where)), 0);
	CHECK_STR(where, "/sys/kernel/tracing");
}

TEST(proc_that_hides_is_seen)
{
	const char *root = new_root();

	CHECK(!sysinfo_proc_hides(root));
	put(root, "proc/self/mounts",
	    "proc /proc proc rw 0 0\n"
	    "other /hidepid=2 tmpfs rw,hidepid=2 0 0\n"
	    "hidepid=2 /hidepid=2 proc rw 0 0\n");
	CHECK(!sysinfo_proc_hides(root));
	put(root, "proc/self/mounts",
	    "proc /proc proc rw 0 0\n"
	    "proc /proc proc rw,nosuid,hidepid=invisible 0 0\n");
	CHECK(sysinfo_proc_hides(root));
}

TEST(schedstat_has_three_numbers)
{
	struct sysinfo_schedstat s = { 7, 7, 7 };
	const char *root = new_root();

	CHECK_EQ_INT(sysinfo_schedstat(root, &s), -ENOENT);
	put(root, "proc/self/schedstat", "6018597 1891560\n");
	CHECK_EQ_INT(sysinfo_schedstat(root, &s), -EBADMSG);
	CHECK_EQ_U64(s.runs, 7);
	put(root, "proc/self/schedstat", "6018597 1891560 5\n");
	CHECK_EQ_INT(sysinfo_schedstat(root, &s), 0);
	CHECK_EQ_U64(s.run_ns, 6018597);
	CHECK_EQ_U64(s.wait_ns, 1891560);
	CHECK_EQ_U64(s.runs, 5);
}

TEST(hypervisor_is_a_whole_flag_of_the_processor)
{
	const char *root = new_root();

	CHECK(!sysinfo_hypervisor(root));
	put(root, "proc/cpuinfo",
	    "processor\t: 0\nflags\t\t: fpu hypervisors tsc\nbugs\t\t: hypervisor\n");
	CHECK(!sysinfo_hypervisor(root));
	put(root, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc hypervisor\nbugs\t\t: x\n");
	CHECK(sysinfo_hypervisor(root));
	put(root, "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor lahf_lm\n");
	CHECK(sysinfo_hypervisor(root));
}

/* Longer than any buffer: read in part, never past its end. */
TEST(long_files_are_cut)
{
	const char *root = new_root();
	char *text = malloc(400000);
	struct sysinfo_privilege p;
	char word[8];

	CHECK(text);
	memset(text, 'a', 399999);
	text[399999] = '\0';
	put(root, "proc/self/status", text);
	put(root, "proc/self/mounts", text);
	put(root, "proc/cpuinfo", text);
	sysinfo_privilege(root, &p);
	CHECK(!p.valid);
	CHECK_EQ_INT(sysinfo_mount(root, "a", word, sizeof(word)), -ENOENT);
	CHECK(!sysinfo_hypervisor(root));
	CHECK_EQ_INT(sysinfo_word(root, "proc/cpuinfo", word, sizeof(word)), 0);
	CHECK_STR(word, "aaaaaaa");
	free(text);
}
