/* SPDX-License-Identifier: MIT */
/* What is written as a record is read as the same; what is damaged is refused. */
#include "tests/lib/check.h"

#include <errno.h>

#include "user/record/record_file.h"

static struct sample *add(struct family_set *set, enum family_id id, enum value_kind kind, u64 u,
			  const char *name, const char *value)
{
	struct sample *s = family_add(set, id);

	s->kind = kind;
	s->u = u;
	sample_label(set, s, "process", "app\n\xff");
	if (name)
		sample_label(set, s, name, value);
	return s;
}

static void fill(struct record *r, u64 t)
{
	struct record_frame *f = record_frame_add(r);
	struct hist *hist = arena_zalloc(&f->set.arena, sizeof(*hist));

	f->begin_ns = t * NS_PER_SEC;
	f->end_ns = f->begin_ns + 1000;
	f->wall_ns = 1767225600123456789ULL + f->begin_ns;
	(void)add(&f->set, FAM_CPU, VALUE_NS, t * 7, "mode", "user");
	(void)add(&f->set, FAM_CPU, VALUE_NS, t * 11, "mode", "system");
	if (t > 1) /* an open set: it began in the window */
		(void)add(&f->set, FAM_SYSCALLS, VALUE_COUNT, ~0ULL, "syscall", "fsync");
	add(&f->set, FAM_IDENTITY_RESIDUAL, VALUE_REAL, 0, "identity", "cpu")->real = -0.125;
	hist->sum = t * 100;
	hist->counts[0] = t;
	hist->counts[NR_HIST_BUCKETS - 1] = 3;
	add(&f->set, FAM_FSYNC_DURATION, VALUE_NS, 0, "call", "fsync")->hist = hist;
}

static void make(struct record *r)
{
	*r = (struct record){ .version = "1.2",
			      .interval_ns = 5,
			      .wanted_ns = 6,
			      .end = RECORD_END_SIGNAL,
			      .program_status = 137 };
	record_fact_set(r, "machine.kernel", "6.0", NULL);
	record_fact_setf(r, "machine.kernel", "6.%u", 1);
	record_fact_set(r, "edge.steal", "10", "14");
	fill(r, 1);
	fill(r, 2);
	fill(r, 4);
}

static void write_made(struct buf *out)
{
	struct record r;

	make(&r);
	CHECK_EQ_U64(record_write(&r, out), 0);
	record_done(&r);
}

static int parse(const struct buf *b, size_t n, struct record *r)
{
	return record_parse((struct span){ (const u8 *)b->bytes, n }, r, NULL);
}

TEST(what_is_written_is_read_and_written_again_as_the_same_bytes)
{
	struct buf one = { 0 }, two = { 0 };
	struct record r;

	write_made(&one);
	CHECK(!parse(&one, one.len, &r));
	CHECK(r.end == RECORD_END_SIGNAL && r.program_status == 137 && r.nr_frames == 3);
	CHECK(!record_write(&r, &two));
	CHECK(one.len == two.len && !memcmp(one.bytes, two.bytes, one.len));
	record_done(&r);
	buf_done(&one);
	buf_done(&two);
}

TEST(deltas_are_exact_between_the_edges)
{
	const struct label user = { "mode", "user" };
	struct buf b = { 0 };
	struct hist hist;
	struct record r;
	u64 delta = 0;

	write_made(&b);
	CHECK(!parse(&b, b.len, &r));
	CHECK(!record_delta(&r, FAM_CPU, &user, 1, &delta));
	CHECK_EQ_U64(delta, 21);
	CHECK(!record_delta(&r, FAM_CPU, NULL, 0, &delta));
	CHECK_EQ_U64(delta, 54);
	CHECK(!record_delta(&r, FAM_SYSCALLS, NULL, 0, &delta));
	CHECK_EQ_U64(delta, ~0ULL);
	CHECK(record_delta(&r, FAM_FSYNCS, NULL, 0, &delta) == -ENOENT);
	CHECK(!record_delta_hist(&r, FAM_FSYNC_DURATION,
				 &record_end(&r)->families[FAM_FSYNC_DURATION].samples[0], &hist));
	CHECK(hist.sum == 300 && hist.counts[0] == 3 && !hist.counts[NR_HIST_BUCKETS - 1]);
	CHECK(record_fact_delta(&r, "edge.steal", &delta));
	CHECK_EQ_U64(delta, 4);
	CHECK_EQ_U64(record_window_ns(&r), 3 * NS_PER_SEC);
	record_done(&r);
	buf_done(&b);
}

TEST(a_record_that_was_cut_or_changed_anywhere_is_refused)
{
	struct buf b = { 0 };
	struct record r;

	write_made(&b);
	for (size_t n = 0; n < b.len; n++)
		CHECK(parse(&b, n, &r) == (n < RECORD_MAGIC_BYTES ? -EBADMSG : -ENODATA));
	for (size_t i = 0; i < b.len; i++) {
		b.bytes[i] ^= 1;
		CHECK(parse(&b, b.len, &r) != 0);
		b.bytes[i] ^= 1;
	}
	buf_done(&b);
}

TEST(facts_of_a_later_block_replace_those_of_an_earlier_one)
{
	struct record_writer w = { 0 };
	struct buf b = { 0 };
	struct record r, back;

	make(&r);
	CHECK(!record_write_head(&w, &r, &b) && !record_write_facts(&w, &r, &b));
	record_fact_set(&r, "machine.kernel", "6.2", "6.3");
	for (size_t i = 0; i < r.nr_frames; i++)
		CHECK(!record_write_frame(&w, &r.frames[i], &b));
	CHECK(!record_write_facts(&w, &r, &b) && !record_write_end(&w, &r, &b));
	CHECK(!parse(&b, b.len, &back));
	CHECK_EQ_U64(back.nr_facts, 2);
	CHECK(!strcmp(record_fact_text(&back, "machine.kernel"), "6.2"));
	CHECK(!strcmp(record_fact(&back, "machine.kernel")->end, "6.3"));
	CHECK_EQ_U64(b.len, w.file_bytes);
	record_done(&back);
	record_done(&r);
	buf_done(&b);
}

TEST(the_writer_stops_where_the_reader_would)
{
	struct record_frame f = { .begin_ns = 1, .end_ns = 1 };
	struct record_writer w = { 0 };
	struct record r = { .program_status = -1 };
	struct record back;
	struct buf b = { 0 };
	u32 before = 0;

	CHECK(!record_write_head(&w, &r, &b));
	while (!record_write_frame(&w, &f, &b)) {
		before += record_writer_has_room(&w);
		f.begin_ns = ++f.end_ns;
	}
	CHECK_EQ_U64(w.nr_frames, RECORD_MAX_FRAMES);
	CHECK_EQ_U64(before, RECORD_MAX_FRAMES - 2);
	CHECK(!record_write_end(&w, &r, &b));
	CHECK(!parse(&b, b.len, &back));
	CHECK_EQ_U64(back.nr_frames, RECORD_MAX_FRAMES);
	record_done(&back);
	for (u32 i = 0; i <= RECORD_MAX_FACTS; i++)
		record_fact_setf(&r, "same", "%u", i);
	CHECK_EQ_U64(r.nr_facts, 1);
	for (u32 i = 0; i < RECORD_MAX_FACTS; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", i);
		record_fact_set(&r, name, "", NULL);
	}
	CHECK(record_write_facts(&w, &r, &b) == -EFBIG);
	record_done(&r);
	buf_done(&b);
}

TEST(samples_beyond_the_limit_are_neither_written_nor_read)
{
	struct record_writer w = { 0 };
	struct record_frame f = { .begin_ns = 1, .end_ns = 1 };
	struct record r = { .program_status = -1 };
	struct buf b = { 0 };

	for (u32 i = 0; i < RECORD_MAX_SAMPLES / 4; i++)
		(void)family_add(&f.set, FAM_CPU);
	CHECK(!record_write_head(&w, &r, &b));
	CHECK(!record_write_frame(&w, &f, &b));
	CHECK(!record_writer_has_room(&w));
	for (u32 i = 1; i < 4; i++) {
		f.begin_ns = ++f.end_ns;
		CHECK(!record_write_frame(&w, &f, &b));
	}
	f.begin_ns = ++f.end_ns;
	CHECK(record_write_frame(&w, &f, &b) == -EFBIG);
	w.nr_samples = 0; /* as a stranger's writer would */
	CHECK(!record_write_frame(&w, &f, &b));
	CHECK(!record_write_end(&w, &r, &b));
	CHECK(parse(&b, b.len, &r) == -EFBIG);
	family_set_done(&f.set);
	buf_done(&b);
}
