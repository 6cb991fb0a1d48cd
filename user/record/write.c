/* SPDX-License-Identifier: MIT */
/* From a record to the bytes of its file. Knows neither paths nor /proc. */
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "user/record/record_file.h"

static void put_varint(struct buf *out, u64 n)
{
	while (n >= 0x80) {
		buf_char(out, (char)(n | 0x80));
		n >>= 7;
	}
	buf_char(out, (char)n);
}

/* Cut where the reader would refuse it. */
static void put_text(struct buf *out, const char *text)
{
	size_t n = strlen(text);

	if (n > RECORD_MAX_TEXT)
		n = RECORD_MAX_TEXT;
	put_varint(out, n);
	buf_add(out, text, n);
}

static void put_u32(struct buf *out, u32 n)
{
	for (int i = 0; i < 4; i++)
		buf_char(out, (char)(n >> 8 * i));
}

static void put_u64(struct buf *out, u64 n)
{
	for (int i = 0; i < 8; i++)
		buf_char(out, (char)(n >> 8 * i));
}

/* Pack @plain into a block. */
static int put_block(enum record_block type, struct buf *plain, struct buf *out)
{
	struct buf packed = { 0 };
	char chunk[16384];
	z_stream z = { 0 };
	int r;

	if (plain->failed)
		return -ENOMEM;
	if (plain->len > RECORD_MAX_BLOCK_BYTES)
		return -EFBIG;
	if (deflateInit(&z, Z_DEFAULT_COMPRESSION) != Z_OK)
		return -ENOMEM;
	z.next_in = (unsigned char *)(plain->bytes ? plain->bytes : "");
	z.avail_in = (uInt)plain->len;
	do {
		z.next_out = (unsigned char *)chunk;
		z.avail_out = sizeof(chunk);
		r = deflate(&z, Z_FINISH);
		buf_add(&packed, chunk, sizeof(chunk) - z.avail_out);
	} while (r == Z_OK);
	deflateEnd(&z);
	put_u32(out, type);
	put_u32(out, (u32)packed.len);
	put_u32(out, (u32)plain->len);
	put_u32(out, (u32)crc32(0, (const unsigned char *)plain->bytes, (uInt)plain->len));
	buf_add(out, packed.bytes, packed.len);
	r = r != Z_STREAM_END || packed.failed || out->failed ? -ENOMEM : 0;
	buf_done(&packed);
	return r;
}

/* Only the buckets with something in them. */
static void put_hist(struct buf *out, const struct hist *hist)
{
	u32 n = 0;

	for (u32 i = 0; i < NR_HIST_BUCKETS; i++)
		n += hist->counts[i] != 0;
	put_varint(out, hist->sum);
	put_varint(out, n);
	for (u32 i = 0; i < NR_HIST_BUCKETS; i++) {
		if (!hist->counts[i])
			continue;
		put_varint(out, i);
		put_varint(out, hist->counts[i]);
	}
}

static void put_sample(struct buf *out, const struct sample *s)
{
	u64 bits;

	put_varint(out, s->nr_labels);
	for (u32 i = 0; i < s->nr_labels; i++) {
		put_text(out, s->labels[i].name);
		put_text(out, s->labels[i].value);
	}
	put_varint(out, s->kind);
	put_varint(out, s->created_wall_ns);
	if (s->hist) {
		put_hist(out, s->hist);
	} else if (s->kind == VALUE_REAL) {
		memcpy(&bits, &s->real, sizeof(bits));
		put_u64(out, bits);
	} else {
		put_varint(out, s->u);
	}
}

static bool is_written(const struct family_desc *d, const struct sample *s)
{
	return d->type != FAMILY_HIST || s->hist;
}

static void put_family(struct buf *out, const struct family_desc *d, const struct family *f)
{
	struct buf samples = { 0 };
	char name[128];
	size_t n = 0;

	for (size_t i = 0; i < f->nr_samples; i++) {
		if (!is_written(d, &f->samples[i]))
			continue;
		put_sample(&samples, &f->samples[i]);
		n++;
	}
	family_name(d, name, sizeof(name));
	put_text(out, name);
	put_varint(out, d->type);
	put_varint(out, n);
	put_varint(out, samples.len);
	buf_add(out, samples.bytes, samples.len);
	out->failed |= samples.failed;
	buf_done(&samples);
}

int record_write_frame(const struct record_frame *f, struct buf *out)
{
	struct buf plain = { 0 };
	u32 n = 0;
	int r;

	for (u32 i = 0; i < NR_FAMILIES; i++)
		n += f->set.families[i].nr_samples != 0;
	put_varint(&plain, f->begin_ns);
	put_varint(&plain, f->end_ns);
	put_varint(&plain, f->wall_ns);
	put_varint(&plain, n);
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		if (f->set.families[i].nr_samples)
			put_family(&plain, &family_descs[i], &f->set.families[i]);
	}
	r = f->set.failed ? -ENOMEM : put_block(RECORD_BLOCK_FRAME, &plain, out);
	buf_done(&plain);
	return r;
}

static int put_head(const struct record *r, struct buf *out)
{
	struct buf plain = { 0 };
	int status;

	put_text(&plain, r->version ? r->version : "");
	put_varint(&plain, r->interval_ns);
	put_varint(&plain, r->wanted_ns);
	put_varint(&plain, r->end);
	put_varint(&plain, (u64)(r->program_status + 1)); /* 0: none */
	status = put_block(RECORD_BLOCK_HEAD, &plain, out);
	buf_done(&plain);
	return status;
}

static int put_facts(const struct record *r, struct buf *out)
{
	size_t n = r->nr_facts < RECORD_MAX_FACTS ? r->nr_facts : RECORD_MAX_FACTS;
	struct buf plain = { 0 };
	int status;

	put_varint(&plain, n);
	for (size_t i = 0; i < n; i++) {
		put_text(&plain, r->facts[i].name);
		put_varint(&plain, r->facts[i].end != NULL);
		put_text(&plain, r->facts[i].begin);
		if (r->facts[i].end)
			put_text(&plain, r->facts[i].end);
	}
	status = put_block(RECORD_BLOCK_FACTS, &plain, out);
	buf_done(&plain);
	return status;
}

int record_write_begin(const struct record *r, struct buf *out)
{
	int status;

	buf_add(out, RECORD_MAGIC, RECORD_MAGIC_BYTES);
	put_u32(out, RECORD_VERSION);
	status = put_head(r, out);
	return status ? status : put_facts(r, out);
}

int record_write_end(u32 nr_frames, struct buf *out)
{
	struct buf plain = { 0 };
	int status;

	put_varint(&plain, 2 + nr_frames);
	status = put_block(RECORD_BLOCK_END, &plain, out);
	buf_done(&plain);
	return status;
}

int record_write(const struct record *r, struct buf *out)
{
	int status = r->failed ? -ENOMEM : record_write_begin(r, out);

	for (size_t i = 0; i < r->nr_frames && !status; i++)
		status = record_write_frame(&r->frames[i], out);
	return status ? status : record_write_end((u32)r->nr_frames, out);
}
