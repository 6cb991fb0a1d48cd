/* SPDX-License-Identifier: MIT */
/*
 * Readers of /proc against a folder of ordinary files: names that strangers chose, files that are
 * cut off, fields that are missing.
 */
#define _GNU_SOURCE /* nftw */
#include "tests/lib/check.h"

#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>

#include "user/proc/procfs.h"

static char root[256]; /* of the fake /proc */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static void remove_tree(void)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* An empty tree for this case. */
static void begin_tree(void)
{
	const char *tmp = getenv("TEST_TMPDIR");

	if (root[0])
		remove_tree();
	else
		atexit(remove_tree);
	snprintf(root, sizeof(root), "%s/procfs-XXXXXX", tmp ? tmp : "/tmp");
	CHECK(mkdtemp(root) != NULL);
}

/* Make the folders above @path, which is relative to the tree. */
static void full_path(const char *path, char ret_path[512])
{
	snprintf(ret_path, 512, "%s/%s", root, path);
	for (char *c = ret_path + strlen(root) + 1; *c; c++) {
		if (*c != '/')
			continue;
		*c = '\0';
		mkdir(ret_path, 0755);
		*c = '/';
	}
}

static void put_bytes(const char *path, const char *bytes, size_t n)
{
	char full[512];
	FILE *f;

	full_path(path, full);
	f = fopen(full, "w");
	CHECK(f != NULL);
	CHECK_EQ_U64(fwrite(bytes, 1, n, f), n);
	CHECK(!fclose(f));
}

static void put(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static void put_link(const char *path, const char *to)
{
	char full[512];

	full_path(path, full);
	CHECK(!symlink(to, full));
}

/* Fields 3 to 24 of proc(5), numbered so that a test sees which one was taken. */
#define STAT_REST "S 4 5 6 7 -1 900 1000 1100 1200 1300 1400 1500 16 17 18 19 20 21 2200 23 24\n"

static bool parse(const char *text, struct proc_stat *ret_stat)
{
	return procfs_parse_stat(text, strlen(text), ret_stat);
}

TEST(procfs_stat_takes_the_documented_fields)
{
	struct proc_stat s;

	CHECK(parse("1 (app) " STAT_REST, &s));
	CHECK_STR(s.comm, "app");
	CHECK_EQ_INT(s.state, 'S');
	CHECK_EQ_INT(s.ppid, 4);
	CHECK_EQ_U64(s.flags, 900);
	CHECK_EQ_U64(s.minflt, 1000);
	CHECK_EQ_U64(s.majflt, 1200);
	CHECK_EQ_U64(s.utime_ticks, 1400);
	CHECK_EQ_U64(s.stime_ticks, 1500);
	CHECK_EQ_U64(s.num_threads, 20);
	CHECK_EQ_U64(s.start_ticks, 2200);
}

TEST(procfs_stat_name_ends_at_the_last_parenthesis)
{
	static const char *const names[] = {
		"",
		" ",
		"(",
		")",
		"()",
		")(",
		"a b",
		"a) S 1 1 1",
		") S 4 5 6 7 -1 9 1 1 1 1 1 1 16 17 18 19 20 21 22 (",
		"line\nbreak",
		"tab\tbell\a",
		"\xff\xfe",
		"123456789012345",
		"kworker/u8:0-events_unbound and more",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct proc_stat s;
		char text[512];

		snprintf(text, sizeof(text), "77 (%s) " STAT_REST, names[i]);
		CHECK(parse(text, &s));
		CHECK_STR(s.comm, names[i]);
		CHECK_EQ_INT(s.state, 'S');
		CHECK_EQ_U64(s.start_ticks, 2200);
	}
}

TEST(procfs_stat_long_name_is_cut)
{
	struct proc_stat s;
	char name[200], text[512];

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), "1 (%s) " STAT_REST, name);
	CHECK(parse(text, &s));
	CHECK_EQ_U64(strlen(s.comm), sizeof(s.comm) - 1);
	CHECK_EQ_U64(s.start_ticks, 2200);
}

TEST(procfs_stat_of_a_kernel_thread)
{
	struct proc_stat s;

	CHECK(parse(
		"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0 "
		"18446744073709551615 0 0 0 0 0 0 0 2147483647 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
		&s));
	CHECK_EQ_INT(s.ppid, 0);
	CHECK_EQ_U64(s.flags, 2129984);
	CHECK_EQ_U64(s.num_threads, 1);
	CHECK_EQ_U64(s.start_ticks, 3);
}

TEST(procfs_stat_cut_anywhere_is_refused_and_leaves_the_result_alone)
{
	/* Up to the first digit of starttime; after it the number is there. */
	static const char whole[] = "1 (app) S 4 5 6 7 -1 9 10 11 12 13 14 15 16 17 18 19 20 21 ";

	for (size_t n = 0; n < sizeof(whole); n++) {
		struct proc_stat s = { .comm = "before", .start_ticks = 5 };
		char text[sizeof(whole)];

		memcpy(text, whole, n);
		text[n < sizeof(text) ? n : sizeof(text) - 1] = '\0';
		CHECK(!procfs_parse_stat(text, n < sizeof(whole) ? n : sizeof(whole) - 1, &s));
		CHECK_STR(s.comm, "before");
		CHECK_EQ_U64(s.start_ticks, 5);
	}
}

TEST(procfs_stat_that_is_none_is_refused)
{
	static const char *const texts[] = {
		"",
		"\n",
		"1",
		"1 app S 4 5",
		")(",
		"1 ) ( " STAT_REST,
		"1 (app)" STAT_REST,
		"1 (app) S x 5 6 7 -1 9 10 11 12 13 14 15 16 17 18 19 20 21 22\n",
		"1 (app) S 4 5 6 7 -1 9 ten 11 12 13 14 15 16 17 18 19 20 21 22\n",
		/* not a number of 64 bits */
		"1 (app) S 4 5 6 7 -1 9 18446744073709551616 11 12 13 14 15 16 17 18 19 20 21 22\n",
		/* counters are never below 0 */
		"1 (app) S 4 5 6 7 -1 9 -10 11 12 13 14 15 16 17 18 19 20 21 22\n",
		/* the fields must be on its line */
		"1 (app) S 4 5 6 7 -1 9 10\n11 12 13 14 15 16 17 18 19 20 21 22 23\n",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct proc_stat s;

		if (parse(texts[i], &s))
			FAIL("taken: %s", texts[i]);
	}
}

TEST(procfs_stat_takes_the_largest_numbers)
{
	struct proc_stat s;

	CHECK(parse("1 (a) S 4 5 6 7 -1 9 18446744073709551615 11 12 13 14 15 16 17 18 19 20 21 "
		    "18446744073709551615",
		    &s));
	CHECK_EQ_U64(s.minflt, ~0ULL);
	CHECK_EQ_U64(s.start_ticks, ~0ULL);
}

TEST(procfs_stat_file_says_what_is_wrong)
{
	struct proc_stat s;

	begin_tree();
	put("10/stat", "10 (app) " STAT_REST);
	put("11/stat", "11 (app");
	put("12/stat", "");
	CHECK_EQ_INT(procfs_stat(root, 10, &s), 0);
	CHECK_STR(s.comm, "app");
	CHECK_EQ_INT(procfs_stat(root, 11, &s), -EBADMSG);
	CHECK_EQ_INT(procfs_stat(root, 12, &s), -EBADMSG);
	CHECK_EQ_INT(procfs_stat(root, 13, &s), -ENOENT);
	CHECK_EQ_INT(procfs_stat("/nonexistent", 10, &s), -ENOENT);
}

TEST(procfs_stat_file_longer_than_any_is_read_in_part)
{
	char text[20000];
	struct proc_stat s;

	begin_tree();
	memset(text, ' ', sizeof(text));
	memcpy(text, "10 (app) " STAT_REST, strlen("10 (app) " STAT_REST));
	put_bytes("10/stat", text, sizeof(text));
	CHECK_EQ_INT(procfs_stat(root, 10, &s), 0);
	memset(text, 'x', sizeof(text));
	put_bytes("10/stat", text, sizeof(text));
	CHECK_EQ_INT(procfs_stat(root, 10, &s), -EBADMSG);
}

TEST(procfs_status_takes_tgid_uid_and_namespaces)
{
	struct proc_status s;

	begin_tree();
	put("7/status", "Name:\tapp\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t42\nNgid:\t0\n"
			"Pid:\t7\nUid:\t1000\t0\t0\t0\nGid:\t5\t5\t5\t5\nNSpid:\t7\t3\t1\n"
			"NSpgid:\t9\t9\n");
	CHECK_EQ_INT(procfs_status(root, 7, &s), 0);
	CHECK_EQ_INT(s.tgid, 42);
	CHECK_EQ_U64(s.uid, 1000);
	CHECK_EQ_U64(s.nr_namespaces, 3);
}

TEST(procfs_status_without_namespaces_has_none)
{
	struct proc_status s = { .nr_namespaces = 9 };

	begin_tree();
	put("7/status", "Tgid:\t7\nUid:\t0\t0\t0\t0");
	CHECK_EQ_INT(procfs_status(root, 7, &s), 0);
	CHECK_EQ_U64(s.nr_namespaces, 0);
	put("7/status", "Tgid:\t7\nUid:\t0\t0\t0\t0\nNSpid:\t7");
	CHECK_EQ_INT(procfs_status(root, 7, &s), 0);
	CHECK_EQ_U64(s.nr_namespaces, 1);
}

TEST(procfs_status_name_cannot_pretend_to_be_a_field)
{
	struct proc_status s;

	begin_tree();
	/* The kernel writes a newline in a name as \n, so a line is a field. */
	put("7/status", "Name:\tTgid:\t1\\nTgid:\t1\nTgid:\t7\nUid:\t12\t0\t0\t0\n");
	CHECK_EQ_INT(procfs_status(root, 7, &s), 0);
	CHECK_EQ_INT(s.tgid, 7);
	CHECK_EQ_U64(s.uid, 12);
}

TEST(procfs_status_without_a_field_is_refused)
{
	static const char *const texts[] = { "",
					     "\n\n\n",
					     "Tgid:\t7\n",
					     "Uid:\t7\t7\t7\t7\n",
					     "Tgi:\t7\nUid:\t7\n",
					     "XTgid:\t7\nXUid:\t7\n" };
	struct proc_status s = { .tgid = 99 };

	begin_tree();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		put("7/status", texts[i]);
		CHECK_EQ_INT(procfs_status(root, 7, &s), -EBADMSG);
		CHECK_EQ_INT(s.tgid, 99);
	}
	CHECK_EQ_INT(procfs_status(root, 8, &s), -ENOENT);
}

TEST(procfs_exe_is_what_the_process_sees)
{
	char path[64];

	begin_tree();
	put_link("7/exe", "/usr/bin/app");
	put_link("8/exe", "/usr/bin/app (deleted)");
	procfs_exe(root, 7, path, sizeof(path));
	CHECK_STR(path, "/usr/bin/app");
	procfs_exe(root, 8, path, sizeof(path));
	CHECK_STR(path, "/usr/bin/app (deleted)");
	procfs_exe(root, 9, path, sizeof(path));
	CHECK_STR(path, "");
}

TEST(procfs_exe_is_cut_to_its_room)
{
	char path[8] = "xxxxxxx";

	begin_tree();
	put_link("7/exe", "/usr/bin/app");
	procfs_exe(root, 7, path, sizeof(path));
	CHECK_STR(path, "/usr/bi");
}

TEST(procfs_books_are_stat_and_statm)
{
	const u64 page = (u64)sysconf(_SC_PAGESIZE);
	struct proc_books b;

	begin_tree();
	put("7/stat", "7 (app) " STAT_REST);
	put("7/statm", "1000 250 100 10 0 300 0\n");
	procfs_books(root, 7, 12345, &b);
	CHECK(b.valid);
	CHECK_EQ_U64(b.read_ns, 12345);
	CHECK_EQ_U64(b.cpu_ticks, 2900);
	CHECK_EQ_U64(b.minflt, 1000);
	CHECK_EQ_U64(b.majflt, 1200);
	CHECK_EQ_U64(b.nr_threads, 20);
	CHECK_EQ_U64(b.resident_bytes, 250 * page);
}

TEST(procfs_books_of_nobody_are_not_valid)
{
	struct proc_books b = { .valid = true, .cpu_ticks = 7 };

	begin_tree();
	procfs_books(root, 7, 5, &b);
	CHECK(!b.valid);
	CHECK_EQ_U64(b.cpu_ticks, 0);
	put("7/stat", "7 (cut");
	put("7/statm", "1 2 3\n");
	procfs_books(root, 7, 5, &b);
	CHECK(!b.valid);
}

TEST(procfs_books_without_statm_have_no_memory)
{
	static const char *const texts[] = { "", "17", "17 ", "17 x", "\n", "17\n250\n" };
	struct proc_books b;

	begin_tree();
	put("7/stat", "7 (app) " STAT_REST);
	procfs_books(root, 7, 5, &b);
	CHECK(b.valid);
	CHECK_EQ_U64(b.resident_bytes, 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		put("7/statm", texts[i]);
		procfs_books(root, 7, 5, &b);
		CHECK(b.valid);
		CHECK_EQ_U64(b.resident_bytes, 0);
	}
}

TEST(procfs_thread_calls_takes_threads_inside_a_call)
{
	static const struct {
		const char *tid, *text;
		s32 nr, fd; /* nr -1: left out */
	} cases[] = {
		{ "101", "0 0x3 0x7f00 0x10 0x0 0x0 0x0 0x7ffc 0x7f12\n", 0, 3 },
		{ "102", "running\n", -1, 0 },
		{ "103", "-1 0x7ffd31a0 0x7f3a\n", -1, 0 },
		{ "104", "202 0x7f5500001000 0x80 0x0 0x0 0x0 0x0 0x7f 0x7f\n", 202, -1 },
		{ "105", "257 0xffffff9c 0x7f00 0x0 0x0 0x0 0x0 0x7f 0x7f\n", 257, -1 },
		{ "106", "1 0xffffffffffffffff 0x0\n", 1, -1 },
		{ "107", "", -1, 0 },
		{ "108", "\n", -1, 0 },
		{ "109", "35", 35, 0 },
		{ "110", "99999999999999999999 0x1\n", -1, 0 },
		{ "111", "2147483647 0x1\n", 2147483647, 1 },
		{ "112", "2147483648 0x1\n", -1, 0 },
		{ "113", "1 0xfffffffffffffffffffff\n", 1, -1 },
		{ "114", "junk 0x3\n", -1, 0 },
	};
	struct thread_calls calls;
	size_t want = 0;

	begin_tree();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[64];

		snprintf(path, sizeof(path), "100/task/%s/syscall", cases[i].tid);
		put(path, cases[i].text);
		want += cases[i].nr >= 0;
	}
	put("100/task/115/comm", "no syscall file\n");
	put("100/task/none/syscall", "0 0x3\n");
	put("100/task/0/syscall", "0 0x3\n");
	CHECK_EQ_INT(procfs_thread_calls(root, 100, &calls), 0);
	CHECK_EQ_U64(calls.n, want);
	for (size_t i = 0; i < calls.n; i++) {
		const struct thread_call *c = &calls.at[i];

		CHECK(c->tid >= 101 && c->tid <= 114);
		CHECK_EQ_INT(c->call.nr, cases[c->tid - 101].nr);
		CHECK_EQ_INT(c->call.fd, cases[c->tid - 101].fd);
	}
	free(calls.at);
}

TEST(procfs_thread_calls_of_nobody_are_none)
{
	struct thread_calls calls = { .at = (struct thread_call *)1, .n = 1 };

	begin_tree();
	CHECK_EQ_INT(procfs_thread_calls(root, 100, &calls), 0);
	CHECK_EQ_U64(calls.n, 0);
	CHECK(!calls.at);
}

TEST(procfs_thread_calls_has_room_for_many)
{
	struct thread_calls calls;
	u64 seen = 0;

	begin_tree();
	for (u32 i = 1; i <= 100; i++) {
		char path[64], text[64];

		snprintf(path, sizeof(path), "100/task/%u/syscall", i);
		snprintf(text, sizeof(text), "%u 0x1\n", i);
		put(path, text);
	}
	CHECK_EQ_INT(procfs_thread_calls(root, 100, &calls), 0);
	CHECK_EQ_U64(calls.n, 100);
	for (size_t i = 0; i < calls.n; i++) {
		CHECK_EQ_U64(calls.at[i].tid, (u32)calls.at[i].call.nr);
		seen += calls.at[i].tid;
	}
	CHECK_EQ_U64(seen, 5050);
	free(calls.at);
}

static void put_process(int pid, const char *comm)
{
	char path[64], text[256];

	snprintf(path, sizeof(path), "%d/stat", pid);
	snprintf(text, sizeof(text), "%d (%s) " STAT_REST, pid, comm);
	put(path, text);
}

static void check_pids(const struct pid_list *list, const pid_t *want, size_t nr_want)
{
	CHECK_EQ_U64(list->n, nr_want);
	for (size_t i = 0; i < list->n; i++)
		CHECK_EQ_INT(list->pids[i], want[i]);
}

TEST(procfs_list_has_programs_ascending)
{
	struct pid_list list = { 0 };

	begin_tree();
	put_process(300, "app");
	put_process(20, "app");
	put_process(1000, "with space");
	put("10/stat", "10 (app");
	put("11/comm", "app\n");
	put("12/stat", "12 (kworker) S 2 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0");
	put("sys/stat", "1 (app) " STAT_REST);
	put("stat", "cpu  1 2 3\n");
	CHECK_EQ_INT(procfs_list(root, &list), 0);
	check_pids(&list, (const pid_t[]){ 20, 300, 1000 }, 3);
	free(list.pids);
}

TEST(procfs_list_has_room_for_many)
{
	struct pid_list list = { 0 };
	pid_t want[70];

	begin_tree();
	for (int i = 0; i < 70; i++) {
		want[i] = 10 + 3 * i;
		put_process(want[i], "worker");
	}
	CHECK_EQ_INT(procfs_list(root, &list), 0);
	check_pids(&list, want, 70);
	free(list.pids);
}

TEST(procfs_list_says_that_there_is_no_proc)
{
	struct pid_list list = { 0 };

	CHECK_EQ_INT(procfs_list("/nonexistent", &list), -ENOENT);
}

TEST(procfs_has_comm_wants_the_whole_name)
{
	begin_tree();
	put_process(3, "app");
	put_process(4, "application");
	put_process(5, "ap");
	put_process(7, ") app");
	put_process(9, "new\nline");
	CHECK(procfs_has_comm(root, 3, "app"));
	CHECK(!procfs_has_comm(root, 4, "app"));
	CHECK(!procfs_has_comm(root, 5, "app"));
	CHECK(procfs_has_comm(root, 7, ") app"));
	CHECK(procfs_has_comm(root, 9, "new\nline"));
	CHECK(!procfs_has_comm(root, 3, ""));
	CHECK(!procfs_has_comm(root, 99, "app"));
}

TEST(procfs_machine_reads_steal_and_boot_time)
{
	static const struct {
		const char *text;
		u64 steal, boot;
	} cases[] = {
		{ "cpu  1 2 3 4 5 6 7 888 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 5 0 0\nctxt 9\n"
		  "btime 1700000000\nprocesses 5\n",
		  888, 1700000000 },
		{ "cpu  1 2 3 4 5 6 7 0 0 0\nbtime 5\n", 0, 5 },
		/* before Linux 2.6.11 there was no steal; cpu0's must not be taken for it */
		{ "cpu  1 2 3 4\ncpu0 1 2 3 4 5 6 7 8 9 10\nbtime 12\n", 0, 12 },
		{ "cpu0 1 2 3 4 5 6 7 8 9\n", 0, 0 },
		{ "cpu", 0, 0 },
		{ "cpu ", 0, 0 },
		{ "cpu  1 2 3 4 5 6 7", 0, 0 },
		{ "cpu  1 2 3 4 5 6 7 18446744073709551616 9\nbtime\n", 0, 0 },
		{ "cpu  1 2 3 4 5 6 7 8\nbtime x\n", 8, 0 },
		{ "", 0, 0 },
	};

	begin_tree();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u64 steal = 1, boot = 1;

		put("stat", cases[i].text);
		procfs_machine(root, &steal, &boot);
		CHECK_EQ_U64(steal, cases[i].steal);
		CHECK_EQ_U64(boot, cases[i].boot);
	}
}

TEST(procfs_machine_finds_boot_time_behind_a_long_interrupt_line)
{
	static char text[300000];
	u64 steal, boot;
	int n;

	begin_tree();
	n = snprintf(text, sizeof(text), "cpu  1 2 3 4 5 6 7 8 9 10\nintr 1");
	while (n < 250000)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " 0");
	snprintf(text + n, sizeof(text) - (size_t)n, "\nctxt 1\nbtime 77\n");
	put("stat", text);
	procfs_machine(root, &steal, &boot);
	CHECK_EQ_U64(steal, 8);
	CHECK_EQ_U64(boot, 77);
}

TEST(procfs_machine_without_proc_is_zero)
{
	u64 steal = 1, boot = 1;

	procfs_machine("/nonexistent", &steal, &boot);
	CHECK_EQ_U64(steal, 0);
	CHECK_EQ_U64(boot, 0);
}

TEST(procfs_self_reads_the_caller)
{
	const u64 page = (u64)sysconf(_SC_PAGESIZE);
	struct proc_self s;
	char path[64], text[256];

	begin_tree();
	snprintf(path, sizeof(path), "%d/stat", (int)getpid());
	snprintf(text, sizeof(text), "%d (x) " STAT_REST, (int)getpid());
	put(path, text);
	snprintf(path, sizeof(path), "%d/statm", (int)getpid());
	put(path, "1000 250 1 1 0 1 0\n");
	procfs_self(root, &s);
	CHECK_EQ_U64(s.cpu_ticks, 2900);
	CHECK_EQ_U64(s.start_ticks, 2200);
	CHECK_EQ_U64(s.virtual_bytes, 1000 * page);
	CHECK_EQ_U64(s.resident_bytes, 250 * page);
	CHECK_EQ_U64(s.open_fds, 0);
	CHECK(s.max_fds > 0);
}

TEST(procfs_self_agrees_with_the_real_proc)
{
	struct proc_self s, again;
	FILE *f;

	if (access("/proc/self/statm", R_OK))
		SKIP("no /proc here");
	procfs_self("/proc", &s);
	CHECK(s.start_ticks > 0);
	CHECK(s.resident_bytes > 0 && s.virtual_bytes >= s.resident_bytes);
	f = fopen("/dev/null", "r");
	CHECK(f != NULL);
	procfs_self("/proc", &again);
	fclose(f);
	CHECK_EQ_U64(again.open_fds, s.open_fds + 1);
	CHECK_EQ_U64(again.start_ticks, s.start_ticks);
}
