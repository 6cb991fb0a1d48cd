/* SPDX-License-Identifier: MIT */
/*
 * Whole outputs of the renderers, compared with tests/golden/render_*.
 *
 * With GOLDEN_UPDATE=1 in the environment the files are written instead; read the difference before
 * it is committed.
 */
#include "tests/lib/golden.h"

#include <math.h>

#include "user/render/json.h"
#include "user/render/prom.h"
#include "user/render/table.h"

#define SECOND NS_PER_SEC

/* A day in 2026, with a fraction that a double cannot hold. */
#define BEGIN_WALL_NS 1767225600123456789ULL

static struct sample *add(struct family_set *set, enum family_id id, enum value_kind kind, u64 u)
{
	struct sample *s = family_add(set, id);

	s->kind = kind;
	s->u = u;
	return s;
}

/* Pairs of label and value, ended by NULL. */
static struct sample *with(struct family_set *set, struct sample *s, const char *const *labels)
{
	for (; labels[0]; labels += 2)
		sample_label(set, s, labels[0], labels[1]);
	return s;
}

#define WITH(set, sample, ...) with(set, sample, (const char *const[]){ __VA_ARGS__, NULL })

static struct sample *began(struct sample *s)
{
	s->created_wall_ns = BEGIN_WALL_NS;
	return s;
}

/* A histogram of @n observations of each of the three durations. */
static struct sample *with_hist(struct family_set *set, struct sample *s, u64 n, u64 a, u64 b,
				u64 c)
{
	struct hist *hist = arena_zalloc(&set->arena, sizeof(*hist));

	hist->counts[hist_bucket(a)] += n;
	hist->counts[hist_bucket(b)] += n;
	hist->counts[hist_bucket(c)] += n;
	hist->sum = n * (a + b + c);
	s->hist = hist;
	return s;
}

static void fill_cpu(struct family_set *set, u64 t)
{
	static const char *const reasons[] = { "run_queue", "futex", "poll", "sleep", "fsync" };

	WITH(set, began(add(set, FAM_CPU, VALUE_NS, t * 201000001)), "process", "app", "mode",
	     "user");
	WITH(set, began(add(set, FAM_CPU, VALUE_NS, t * 140000000)), "process", "app", "mode",
	     "system");
	for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
		WITH(set, began(add(set, FAM_OFF_CPU, VALUE_NS, t * i * i * SECOND / 3)), "process",
		     "app", "reason", reasons[i]);
	with_hist(set,
		  WITH(set, began(add(set, FAM_OFF_CPU_DURATION, VALUE_NS, 0)), "process", "app",
		       "reason", "futex"),
		  t, 1024, 1025, 70 * SECOND);
	WITH(set, add(set, FAM_SWITCHES, VALUE_COUNT, t * 1234), "process", "app", "kind",
	     "voluntary");
	WITH(set, add(set, FAM_SWITCHES, VALUE_COUNT, t * 3), "process", "app", "kind",
	     "involuntary");
}

static void fill_calls(struct family_set *set, u64 t)
{
	WITH(set, began(add(set, FAM_SYSCALLS, VALUE_COUNT, t * 1234)), "process", "app", "syscall",
	     "futex");
	WITH(set, add(set, FAM_SYSCALLS, VALUE_COUNT, t * 98765), "process", "app", "syscall",
	     "epoll_pwait");
	WITH(set, add(set, FAM_SYSCALLS, VALUE_COUNT, t), "process", "app", "syscall", "nr_463",
	     "abi", "compat");
	WITH(set, add(set, FAM_SYSCALL_ERRORS, VALUE_COUNT, t * 5), "process", "app", "syscall",
	     "futex", "errno", "EAGAIN");
	WITH(set, add(set, FAM_SYSCALL_ERRORS, VALUE_COUNT, t), "process", "app", "syscall",
	     "futex", "errno", "ETIMEDOUT");
	with_hist(set,
		  WITH(set, add(set, FAM_SYSCALL_DURATION, VALUE_NS, 0), "process", "app",
		       "syscall", "futex"),
		  t, 500, 100000, 3000000);
	WITH(set, add(set, FAM_SYSCALLS_IN_FLIGHT, VALUE_COUNT, 12), "process", "app", "syscall",
	     "futex");
	WITH(set, add(set, FAM_SYSCALLS_OLDEST, VALUE_NS, 31 * SECOND), "process", "app", "syscall",
	     "futex");
	WITH(set, add(set, FAM_FSYNCS, VALUE_COUNT, t * 30), "process", "app", "call", "fsync",
	     "via", "syscall");
	WITH(set, add(set, FAM_FSYNCS, VALUE_COUNT, 0), "process", "app", "call", "msync", "via",
	     "syscall");
	WITH(set, add(set, FAM_FSYNCS, VALUE_COUNT, t * 2), "process", "app", "call", "fsync",
	     "via", "io_uring");
	WITH(set, add(set, FAM_FSYNC_ERRORS, VALUE_COUNT, t), "process", "app", "call", "fsync",
	     "via", "syscall", "errno", "EIO");
	with_hist(set,
		  WITH(set, add(set, FAM_FSYNC_DURATION, VALUE_NS, 0), "process", "app", "call",
		       "fsync", "via", "syscall"),
		  t * 10, 1200000, 1300000, 9000000);
	WITH(set, add(set, FAM_READ_BYTES, VALUE_COUNT, t * 1234567), "process", "app");
	WITH(set, add(set, FAM_WRITTEN_BYTES, VALUE_COUNT, t * 4096), "process", "app");
	WITH(set, add(set, FAM_PAGE_FAULTS, VALUE_COUNT, t * 24), "process", "app");
}

/* The machine after @t seconds: counters are multiples of @t. */
static void fill(struct family_set *set, u64 t)
{
	struct sample *s;

	WITH(set, add(set, FAM_BUILD, VALUE_COUNT, 1), "version", "0.1", "libbpf", "1.1", "arch",
	     "x86_64");
	WITH(set, add(set, FAM_PROCESS, VALUE_COUNT, 1), "process", "app", "pid", "4242", "exe",
	     "/usr/bin/app");
	WITH(set, add(set, FAM_PROCESS_UP, VALUE_COUNT, 1), "process", "app");
	WITH(set, add(set, FAM_PROCESS_UP, VALUE_COUNT, 0), "process", "gone");
	WITH(set, add(set, FAM_PROCESS_START, VALUE_NS, BEGIN_WALL_NS - SECOND), "process", "app",
	     "pid", "4242");
	WITH(set, add(set, FAM_THREADS, VALUE_COUNT, 12), "process", "app");
	fill_cpu(set, t);
	fill_calls(set, t);
	WITH(set, add(set, FAM_RESIDENT, VALUE_COUNT, 35861299), "process", "app");
	s = WITH(set, add(set, FAM_IDENTITY_RESIDUAL, VALUE_REAL, 0), "process", "app", "identity",
		 "cpu");
	s->real = -0.0031;
	WITH(set, add(set, FAM_IDENTITY_OK, VALUE_COUNT, 0), "process", "app", "identity", "cpu");
	s = WITH(set, add(set, FAM_IDENTITY_RESIDUAL, VALUE_REAL, 0), "process", "app", "identity",
		 "wall");
	s->real = 1e-9;
	WITH(set, add(set, FAM_IDENTITY_OK, VALUE_COUNT, 1), "process", "app", "identity", "wall");
	WITH(set, add(set, FAM_GROUP_UP, VALUE_COUNT, 1), "group", "sched");
	WITH(set, add(set, FAM_GROUP_UP, VALUE_COUNT, 0), "group", "io_uring");
	WITH(set, add(set, FAM_GROUP, VALUE_COUNT, 1), "group", "sched", "reason", "");
	WITH(set, add(set, FAM_GROUP, VALUE_COUNT, 1), "group", "io_uring", "reason",
	     "this kernel has no tracepoint io_uring_submit_sqe, which is in Linux 5.5 and later");
	WITH(set, add(set, FAM_DROPPED, VALUE_COUNT, 0), "reason", "rows_full");
	WITH(set, add(set, FAM_DROPPED, VALUE_COUNT, 17), "reason", "threads_full");
	WITH(set, add(set, FAM_QUALITY_OK, VALUE_COUNT, 0), "gate", "drops");
	WITH(set, add(set, FAM_QUALITY_OK, VALUE_COUNT, 1), "gate", "chain");
	(void)add(set, FAM_STEAL_SUPPORTED, VALUE_COUNT, 0);
	(void)add(set, FAM_SCRAPE_DURATION, VALUE_NS, 421337);
	(void)add(set, FAM_EXP_CPU, VALUE_NS, t * 12340000);
	(void)add(set, FAM_EXP_START, VALUE_NS, BEGIN_WALL_NS);
	CHECK(!set->failed);
}

/* Names of strangers, and values at the ends of their ranges. */
static void fill_weird(struct family_set *set)
{
	static const char *const names[] = {
		"",
		"quote\"back\\slash",
		"new\nline",
		"{process=\"fake\"} 1",
		"# HELP fake",
		"tab\tcr\resc\x1b[31mdel\x7f",
		"latin1 \xe9, cut \xe2\x82, overlong \xc0\xaf, surrogate \xed\xa0\x80",
		"good \xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x9d, C1 \xc2\x9b, line \xe2\x80\xa8",
	};
	static const double reals[] = { NAN, INFINITY, -INFINITY, 1e300, 0.1 };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		WITH(set, add(set, FAM_PROCESS_UP, VALUE_COUNT, 1), "process", names[i]);
		WITH(set, add(set, FAM_SYSCALLS, VALUE_COUNT, (u64)-1 - i), "process", names[i],
		     "syscall", "read");
	}
	WITH(set, began(add(set, FAM_CPU, VALUE_NS, (u64)-1)), "process", "huge", "mode", "user");
	WITH(set, add(set, FAM_CPU, VALUE_NS, 1), "process", "tiny", "mode", "user");
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++) {
		char name[8];

		snprintf(name, sizeof(name), "r%zu", i);
		WITH(set, add(set, FAM_IDENTITY_RESIDUAL, VALUE_REAL, 0), "process", name)->real =
			reals[i];
	}
	CHECK(!set->failed);
}

/* --- comparing --- */

/* The texts of the metric table are not what is tested here: they may change without these files.
 */
static void hide_help(struct buf *out)
{
	struct buf hidden = { 0 };

	for (const char *at = out->bytes; *at;) {
		size_t n = 0;

		for (size_t i = 0; i < NR_FAMILIES && !n; i++) {
			if (!strncmp(at, family_descs[i].help, strlen(family_descs[i].help)))
				n = strlen(family_descs[i].help);
		}
		if (n)
			buf_str(&hidden, "Help.");
		else
			buf_char(&hidden, *at);
		at += n ? n : 1;
	}
	buf_done(out);
	*out = hidden;
}

static void check_prom(const char *name, enum prom_format format,
		       void (*fill_set)(struct family_set *))
{
	struct family_set set = { 0 };
	struct buf out = { 0 };

	fill_set(&set);
	CHECK_EQ_INT(prom_render(&set, format, &out), 0);
	family_set_done(&set);
	hide_help(&out);
	golden_check(name, &out);
}

static void fill_7(struct family_set *set)
{
	fill(set, 7);
}

TEST(render_text)
{
	check_prom("render_text.prom", PROM_TEXT, fill_7);
}

TEST(render_openmetrics)
{
	check_prom("render_openmetrics.om", PROM_OPENMETRICS, fill_7);
}

TEST(render_weird_text)
{
	check_prom("render_weird.prom", PROM_TEXT, fill_weird);
}

TEST(render_weird_openmetrics)
{
	check_prom("render_weird.om", PROM_OPENMETRICS, fill_weird);
}

static void check_json(const char *name, void (*fill_set)(struct family_set *))
{
	struct family_set set = { 0 };
	struct buf out = { 0 };

	fill_set(&set);
	CHECK_EQ_INT(json_render(&set, &out), 0);
	family_set_done(&set);
	hide_help(&out);
	golden_check(name, &out);
}

TEST(render_json)
{
	check_json("render_snapshot.json", fill_7);
}

TEST(render_weird_json)
{
	check_json("render_weird.json", fill_weird);
}

static void check_lines_fit(const struct buf *out)
{
	for (const char *line = out->bytes; *line;) {
		size_t n = strcspn(line, "\n");

		if (n > TABLE_WIDTH)
			FAIL("%zu columns: %.*s", n, (int)n, line);
		if (n && line[n - 1] == ' ')
			FAIL("blank at the end: %.*s", (int)n, line);
		for (size_t i = 0; i < n; i++) {
			if (line[i] < 0x20 || line[i] > 0x7e)
				FAIL("byte 0x%02x: %.*s", (unsigned char)line[i], (int)n, line);
		}
		line += n + (line[n] == '\n');
	}
}

TEST(render_table_of_rates)
{
	struct family_set prev = { 0 }, now = { 0 };
	struct buf out = { 0 };
	struct table_input in = { .prev = &prev,
				  .now = &now,
				  .interval_ns = 2 * SECOND,
				  .address = "http://127.0.0.1:19435/metrics" };

	fill(&prev, 5);
	fill(&now, 7);
	CHECK_EQ_INT(table_render(&in, &out), 0);
	check_lines_fit(&out);
	family_set_done(&prev);
	family_set_done(&now);
	golden_check("render_table_rates.txt", &out);
}

TEST(render_table_of_totals)
{
	struct family_set now = { 0 };
	struct buf out = { 0 };
	struct table_input in = { .now = &now,
				  .interval_ns = 7 * SECOND,
				  .totals = true,
				  .max_syscalls = 1,
				  .max_processes = 1 };

	fill(&now, 7);
	CHECK_EQ_INT(table_render(&in, &out), 0);
	check_lines_fit(&out);
	family_set_done(&now);
	golden_check("render_table_totals.txt", &out);
}

TEST(render_table_in_colour)
{
	struct family_set now = { 0 };
	struct buf out = { 0 };
	struct table_input in = { .now = &now, .interval_ns = SECOND, .colour = true };

	WITH(&now, add(&now, FAM_PROCESS_UP, VALUE_COUNT, 2), "process", "app");
	WITH(&now, add(&now, FAM_DROPPED, VALUE_COUNT, 0), "reason", "rows_full");
	CHECK_EQ_INT(table_render(&in, &out), 0);
	family_set_done(&now);
	golden_check("render_table_colour.txt", &out);
}

TEST(render_table_says_what_a_broken_chain_means)
{
	struct family_set now = { 0 };
	struct buf out = { 0 };
	struct table_input in = { .now = &now, .interval_ns = SECOND };

	WITH(&now, add(&now, FAM_QUALITY_OK, VALUE_COUNT, 0), "gate", "chain");
	(void)add(&now, FAM_SWITCH_CHAIN, VALUE_COUNT, 20000);
	(void)add(&now, FAM_CHAIN_BREAKS, VALUE_COUNT, 57);
	CHECK_EQ_INT(table_render(&in, &out), 0);
	check_lines_fit(&out);
	family_set_done(&now);
	golden_check("render_table_chain.txt", &out);
}

TEST(render_table_of_weird_names)
{
	struct family_set now = { 0 };
	struct buf out = { 0 };
	struct table_input in = { .now = &now, .interval_ns = SECOND, .max_processes = 20 };

	fill_weird(&now);
	CHECK_EQ_INT(table_render(&in, &out), 0);
	check_lines_fit(&out);
	family_set_done(&now);
	golden_check("render_table_weird.txt", &out);
}

TEST(render_nothing_from_an_empty_set)
{
	struct family_set set = { 0 };
	struct buf out = { 0 };

	CHECK_EQ_INT(prom_render(&set, PROM_TEXT, &out), 0);
	CHECK_EQ_U64(out.len, 0);
	CHECK_EQ_INT(prom_render(&set, PROM_OPENMETRICS, &out), 0);
	CHECK_STR(out.bytes, "# EOF\n");
	buf_clear(&out);
	CHECK_EQ_INT(json_render(&set, &out), 0);
	CHECK_STR(out.bytes, "{\"families\":{}}\n");
	buf_done(&out);
}

/* Half a scrape would look like processes that vanished. */
TEST(render_refuses_an_incomplete_set)
{
	struct family_set set = { .failed = true };
	struct table_input in = { .now = &set, .interval_ns = SECOND };
	struct buf out = { 0 };

	CHECK_EQ_INT(prom_render(&set, PROM_TEXT, &out), -ENOMEM);
	CHECK_EQ_INT(json_render(&set, &out), -ENOMEM);
	CHECK_EQ_INT(table_render(&in, &out), -ENOMEM);
	CHECK_EQ_U64(out.len, 0);
}
