/* SPDX-License-Identifier: MIT */
/* The reader of pprof files: what it reads, what it refuses, and that it never reads too far. */
#include "tests/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <zlib.h>

#include "tests/unit/pprof_writer.h"
#include "user/http/gzip.h"
#include "user/pprof/gunzip.h"
#include "user/pprof/pprof.h"

/* Texts by their place: "" is 0. */
static const char *const texts[] = { "",	  "cpu",  "nanoseconds", "samples",  "count",
				     "main.work", "a.go", "main.main",	 "/bin/app", "b1d",
				     "kind",	  "x",	  "bytes" };

enum {
	NONE,
	CPU,
	NANOSECONDS,
	SAMPLES,
	COUNT,
	WORK,
	FILE_A,
	MAIN,
	APP,
	BUILD_ID,
	KIND,
	X,
	BYTES
};

static void put_texts(struct buf *b)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		put_text(b, 6, texts[i]);
}

/* Location 7: main.work inlined in main.main; location 3: main.main. */
static void put_tables(struct buf *b)
{
	struct buf l = { 0 };

	put_message(b, 3, 1, 0x400000, 0x500000, 0x1000, APP, BUILD_ID, 1, 1, 1, 1);
	put_message(b, 5, 9, WORK, WORK, FILE_A, 10);
	put_message(b, 5, 4, MAIN, MAIN, FILE_A, 20);
	put_number(&l, 1, 7);
	put_number(&l, 2, 1);
	put_number(&l, 3, 0x401234);
	put_message(&l, 4, 9, 12);
	put_message(&l, 4, 4, 22);
	put_bytes(b, 4, l.bytes, l.len);
	buf_clear(&l);
	put_number(&l, 1, 3);
	put_number(&l, 3, 0x401300);
	put_message(&l, 4, 4, 23);
	put_bytes(b, 4, l.bytes, l.len);
	buf_done(&l);
}

static void put_samples(struct buf *b)
{
	struct buf s = { 0 };

	put_packed(&s, 1, 7, 3);
	put_packed(&s, 2, 5, 50000000);
	put_message(&s, 3, KIND, X);
	put_message(&s, 3, BYTES, 0, 4096, BYTES);
	put_bytes(b, 2, s.bytes, s.len);
	buf_clear(&s);
	/* Not packed, as old writers do. */
	put_number(&s, 1, 3);
	put_number(&s, 2, 1);
	put_number(&s, 2, 10000000);
	put_bytes(b, 2, s.bytes, s.len);
	buf_done(&s);
}

static void put_head(struct buf *b)
{
	put_message(b, 1, SAMPLES, COUNT);
	put_message(b, 1, CPU, NANOSECONDS);
	put_number(b, 9, 1700000000123456789);
	put_number(b, 10, 1500000000);
	put_message(b, 11, CPU, NANOSECONDS);
	put_number(b, 12, 10000000);
	put_packed(b, 13, X, KIND);
	put_number(b, 14, SAMPLES);
}

static void put_profile(struct buf *b)
{
	put_head(b);
	put_samples(b);
	put_tables(b);
	put_texts(b);
}

static void check_profile(const struct profile *p)
{
	CHECK_EQ_U64(p->nr_types, 2);
	CHECK_STR(p->types[1].type, "cpu");
	CHECK_STR(p->types[1].unit, "nanoseconds");
	CHECK_EQ_U64(p->nr_samples, 2);
	CHECK_EQ_INT(profile_value(p, 0, 1), 50000000);
	CHECK_EQ_INT(profile_value(p, 1, 0), 1);
	CHECK_EQ_U64(p->samples[0].nr_frames, 2);
	CHECK_EQ_U64(p->locations[p->frames[0]].id, 7);
	CHECK_EQ_U64(p->locations[p->frames[0]].address, 0x401234);
	CHECK_EQ_U64(p->locations[p->frames[0]].mapping, 0);
	CHECK_EQ_U64(p->locations[p->frames[1]].mapping, PROFILE_NONE);
	CHECK_EQ_U64(p->locations[p->frames[0]].nr_lines, 2);
	CHECK_STR(p->functions[p->lines[0].function].name, "main.work");
	CHECK_EQ_INT(p->lines[0].line, 12);
	CHECK_STR(p->functions[p->lines[1].function].name, "main.main");
	CHECK_EQ_INT(p->functions[p->lines[1].function].start_line, 20);
	CHECK_EQ_U64(p->samples[0].nr_labels, 2);
	CHECK_STR(p->labels[0].key, "kind");
	CHECK_STR(p->labels[0].text, "x");
	CHECK_STR(p->labels[1].text, NULL);
	CHECK_EQ_INT(p->labels[1].number, 4096);
	CHECK_STR(p->labels[1].unit, "bytes");
	CHECK_STR(p->mappings[0].file, "/bin/app");
	CHECK_STR(p->mappings[0].build_id, "b1d");
	CHECK(p->mappings[0].has_inline_frames);
	CHECK_EQ_INT(p->wall_ns, 1700000000123456789);
	CHECK_EQ_INT(p->duration_ns, 1500000000);
	CHECK_EQ_INT(p->period, 10000000);
	CHECK_STR(p->period_type.type, "cpu");
	CHECK_EQ_U64(p->nr_comments, 2);
	CHECK_STR(p->comments[1], "kind");
	CHECK_EQ_U64(p->default_type, 0);
	CHECK_EQ_U64(profile_depth(p, 0), 3);
	CHECK_EQ_INT(profile_kind(p), PROFILE_CPU);
}

static void check_read(const struct buf *b)
{
	struct profile p = { 0 };
	struct err err = { { 0 } };

	CHECK_EQ_INT(pprof_parse(as_span(b), &p, &err), 0);
	check_profile(&p);
	profile_done(&p);
}

TEST(pprof_reads_all_that_is_in_a_profile)
{
	struct buf b = { 0 };

	put_profile(&b);
	check_read(&b);
	buf_done(&b);
}

TEST(pprof_reads_fields_in_any_order)
{
	struct buf b = { 0 };

	put_texts(&b);
	put_tables(&b);
	put_samples(&b);
	put_head(&b);
	check_read(&b);
	buf_done(&b);
}

TEST(pprof_skips_fields_that_it_does_not_know)
{
	struct buf b = { 0 };

	put_profile(&b);
	put_number(&b, 15, 1);
	put_bytes(&b, 99, "later", 5);
	put_varint(&b, 1000 << 3 | 1);
	buf_add(&b, "eight...", 8);
	put_varint(&b, 1001 << 3 | 5);
	buf_add(&b, "four", 4);
	check_read(&b);
	buf_done(&b);
}

TEST(pprof_reads_gzip_of_one_member_or_more)
{
	struct buf b = { 0 }, packed = { 0 }, head = { 0 }, rest = { 0 };

	put_profile(&b);
	CHECK_EQ_INT(gzip_body(&b, &packed), 0);
	check_read(&packed);
	buf_add(&head, b.bytes, 40);
	buf_add(&rest, b.bytes + 40, b.len - 40);
	buf_clear(&packed);
	CHECK_EQ_INT(gzip_body(&head, &packed), 0);
	CHECK_EQ_INT(gzip_body(&rest, &packed), 0);
	check_read(&packed);
	buf_done(&b);
	buf_done(&packed);
	buf_done(&head);
	buf_done(&rest);
}

static void check_refused(const struct buf *b, int code, const char *words)
{
	struct profile p = { 0 };
	struct err err = { { 0 } };
	int r = pprof_parse(as_span(b), &p, &err);

	if (r != code || !strstr(err.text, words))
		FAIL("%d, %s: want %d, %s", r, err.text, code, words);
}

/* The whole is a profile; what is in front of its end is none, or one that lacks something. */
TEST(pprof_cut_off_anywhere_is_refused_or_whole)
{
	struct buf b = { 0 };
	u32 refused = 0;

	put_profile(&b);
	for (size_t n = 0; n < b.len; n++) {
		u8 *copy = malloc(n ? n : 1); /* of exactly this size: a byte too far is seen */
		struct profile p = { 0 };
		struct err err = { { 0 } };

		memcpy(copy, b.bytes, n);
		if (pprof_parse((struct span){ copy, n }, &p, &err)) {
			refused++;
			CHECK(*err.text);
		}
		profile_done(&p);
		free(copy);
	}
	CHECK(refused > b.len * 9 / 10);
	buf_done(&b);
}

TEST(pprof_refuses_what_contradicts_itself)
{
	/* One field more than a good profile, and the words about it. */
	static const struct {
		u32 field;
		u64 values[5];
		const char *words;
	} rows[] = {
		{ 5, { 9, WORK, WORK, FILE_A, 1 }, "function 9 is there twice" },
		{ 5, { 0, WORK, WORK, FILE_A, 1 }, "function has the id 0" },
		{ 4, { 7, 1, 1 }, "location 7 is there twice" },
		{ 4, { 0, 1, 1 }, "location has the id 0" },
		{ 4, { 8, 5, 1 }, "no known mapping" },
		{ 3, { 1, 1, 2 }, "mapping 1 is there twice" },
		{ 3, { 2, 1, 2, 0, 99 }, "a text is not in its table" },
		{ 5, { 5, 13, 1 }, "a text is not in its table" },
		{ 1, { 1, 99 }, "a text is not in its table" },
		{ 1, { CPU, COUNT }, "a sample has 2 values, of 3 types" },
		{ 2, { 7, 1, 0 }, "a sample has 1 values, of 2 types" },
		{ 2, { 99, 1, 0 }, "no known location" },
	};
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_clear(&b);
		put_profile(&b);
		put_varints(&b, rows[i].field, rows[i].values, 5);
		check_refused(&b, -EBADMSG, rows[i].words);
	}
	buf_done(&b);
}

static void put_line_of_unknown_function(struct buf *b)
{
	struct buf l = { 0 };

	put_number(&l, 1, 8);
	put_message(&l, 4, 77, 1);
	put_bytes(b, 4, l.bytes, l.len);
	buf_done(&l);
}

static void put_first_text(struct buf *b)
{
	buf_clear(b);
	put_text(b, 6, "not empty");
}

static void put_long_varint(struct buf *b)
{
	buf_add(b, "\x60\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11); /* period, of 65 bits */
}

static void put_wrong_type(struct buf *b)
{
	put_text(b, 9, "when");
}

static void put_group(struct buf *b)
{
	put_varint(b, 99 << 3 | 3);
}

static void put_field_0(struct buf *b)
{
	put_number(b, 0, 1);
}

static void put_no_types(struct buf *b)
{
	buf_clear(b);
	put_text(b, 6, "");
}

TEST(pprof_refuses_what_is_no_message)
{
	static const struct {
		void (*put)(struct buf *b);
		const char *words;
	} rows[] = {
		{ put_line_of_unknown_function, "no known function" },
		{ put_first_text, "first text is not empty" },
		{ put_long_varint, "or is no profile" },
		{ put_wrong_type, "another type" },
		{ put_group, "or is no profile" },
		{ put_field_0, "or is no profile" },
		{ put_no_types, "does not say what its values are" },
	};
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_clear(&b);
		put_profile(&b);
		rows[i].put(&b);
		check_refused(&b, -EBADMSG, rows[i].words);
	}
	buf_done(&b);
}

TEST(pprof_names_other_formats)
{
	static const struct {
		const char *bytes, *words;
		int code;
	} rows[] = {
		{ "", "empty", -EBADMSG },
		{ "heap profile: 1: 2 [3: 4] @ heap/1048576\n", "text profile", -ENOTSUP },
		{ "goroutine 1 [running]:\n", "text profile", -ENOTSUP },
		{ "--- contention:\n", "text profile", -ENOTSUP },
		{ "go 1.22 trace", "execution trace", -ENOTSUP },
		{ "\x7f"
		  "ELF\2\1\1",
		  "inspect", -ENOTSUP },
		{ "<html>404", "error page", -ENOTSUP },
		{ "{\"a\": 1}", "JSON", -ENOTSUP },
		{ "nothing known", "no profile", -EBADMSG },
	};
	struct buf b = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_clear(&b);
		buf_str(&b, rows[i].bytes);
		check_refused(&b, rows[i].code, rows[i].words);
	}
	buf_done(&b);
}

TEST(gunzip_has_a_limit)
{
	struct buf zeros = { 0 }, packed = { 0 }, out = { 0 };
	struct err err = { { 0 } };
	struct span s;

	for (int i = 0; i < 3 << 20; i++)
		buf_char(&zeros, '\0');
	CHECK_EQ_INT(gzip_body(&zeros, &packed), 0);
	s = as_span(&packed);
	CHECK_EQ_INT(gunzip(&s, 3 << 20, &out, &err), 0);
	CHECK_EQ_U64(out.len, 3 << 20);
	buf_clear(&out);
	CHECK_EQ_INT(gunzip(&s, (3 << 20) - 1, &out, &err), -EFBIG);
	CHECK_STR(err.text, "it unpacks to more than 2 MiB");
	CHECK(out.len < 3 << 20);
	buf_done(&zeros);
	buf_done(&packed);
	buf_done(&out);
}

TEST(gunzip_refuses_what_is_damaged)
{
	struct buf b = { 0 }, packed = { 0 }, out = { 0 };
	struct err err = { { 0 } };
	struct span s;

	put_profile(&b);
	CHECK_EQ_INT(gzip_body(&b, &packed), 0);
	for (size_t n = 0; n < packed.len; n++) {
		s = (struct span){ (const u8 *)packed.bytes, n };
		CHECK_EQ_INT(gunzip(&s, 1 << 20, &out, &err), -EBADMSG);
	}
	packed.bytes[packed.len - 6] ^= 1; /* the checksum */
	s = as_span(&packed);
	CHECK_EQ_INT(gunzip(&s, 1 << 20, &out, &err), -EBADMSG);
	packed.bytes[packed.len - 6] ^= 1;
	buf_str(&packed, "and more");
	s = as_span(&packed);
	CHECK_EQ_INT(gunzip(&s, 1 << 20, &out, &err), -EBADMSG);
	buf_done(&b);
	buf_done(&packed);
	buf_done(&out);
}

TEST(pprof_reads_a_pipe_to_its_end)
{
	struct profile p = { 0 };
	struct err err = { { 0 } };
	struct buf b = { 0 };
	int fds[2];

	put_profile(&b);
	CHECK_EQ_INT(pipe(fds), 0);
	CHECK_EQ_INT(write(fds[1], b.bytes, b.len), (long long)b.len);
	close(fds[1]);
	CHECK_EQ_INT(pprof_read(fds[0], &p, &err), 0);
	check_profile(&p);
	profile_done(&p);
	close(fds[0]);
	fds[0] = open("/", O_RDONLY | O_CLOEXEC);
	CHECK_EQ_INT(pprof_read(fds[0], &p, &err), -EISDIR);
	close(fds[0]);
	buf_done(&b);
}
