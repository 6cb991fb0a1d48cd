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

/* @plain, packed. */
static int pack(const struct buf *plain, struct buf *out)
{
	char chunk[16384];
	z_stream z = { 0 };
	int r;

	if (deflateInit(&z, Z_DEFAULT_COMPRESSION) != Z_OK)
		return -ENOMEM;
	z.next_in = (unsigned char *)(plain->bytes ? plain->bytes : "");
	z.avail_in = (uInt)plain->len;
	do {
		z.next_out = (unsigned char *)chunk;
		z.avail_out = sizeof(chunk);
		r = deflate(&z, Z_FINISH);
		buf_add(out, chunk, sizeof(chunk) - z.avail_out);
	} while (r == Z_OK);
	deflateEnd(&z);
	return r != Z_STREAM_END || out->failed ? -ENOMEM : 0;
}

#define BLOCK_HEAD_BYTES 16

/* Pack @plain into a block, if a reader would take it. */
static int put_block(struct record_writer *w, enum record_block type, const struct buf *plain,
		     struct buf *out)
{
	struct buf packed = { 0 };
	int r;

	if (plain->failed)
		return -ENOMEM;
	if (plain->len > RECORD_MAX_BLOCK_BYTES || plain->len > RECORD_MAX_BYTES - w->plain_bytes)
		return -EFBIG;
	r = pack(plain, &packed);
	if (!r && packed.len + BLOCK_HEAD_BYTES > RECORD_MAX_FILE_BYTES - w->file_bytes)
		r = -EFBIG;
	if (!r) {
		put_u32(out, type);
		put_u32(out, (u32)packed.len);
		put_u32(out, (u32)plain->len);
		put_u32(out, (u32)crc32(0, (const unsigned char *)plain->bytes, (uInt)plain->len));
		buf_add(out, packed.bytes, packed.len);
		r = out->failed ? -ENOMEM : 0;
	}
	if (!r) {
		w->nr_blocks++;
		w->plain_bytes += plain->len;
		w->file_bytes += packed.len + BLOCK_HEAD_BYTES;
	}
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

static void put_frame(struct buf *plain, const struct record_frame *f)
{
	u32 n = 0;

	for (u32 i = 0; i < NR_FAMILIES; i++)
		n += f->set.families[i].nr_samples != 0;
	put_varint(plain, f->begin_ns);
	put_varint(plain, f->end_ns);
	put_varint(plain, f->wall_ns);
	put_varint(plain, n);
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		if (f->set.families[i].nr_samples)
			put_family(plain, &family_descs[i], &f->set.families[i]);
	}
}

static u64 max(u64 a, u64 b)
{
	return a > b ? a : b;
}

int record_write_frame(struct record_writer *w, const struct record_frame *f, struct buf *out)
{
	u64 before = w->file_bytes, samples = 0;
	struct buf plain = { 0 };
	int r;

	if (f->set.failed)
		return -ENOMEM;
	for (u32 i = 0; i < NR_FAMILIES; i++)
		samples += f->set.families[i].nr_samples;
	if (w->nr_frames == RECORD_MAX_FRAMES || samples > RECORD_MAX_SAMPLES - w->nr_samples)
		return -EFBIG;
	put_frame(&plain, f);
	r = put_block(w, RECORD_BLOCK_FRAME, &plain, out);
	if (!r) {
		w->nr_frames++;
		w->nr_samples += samples;
		w->frame_samples = max(w->frame_samples, samples);
		w->frame_plain_bytes = max(w->frame_plain_bytes, plain.len);
		w->frame_file_bytes = max(w->frame_file_bytes, w->file_bytes - before);
	}
	buf_done(&plain);
	return r;
}

/* What facts may need at most at the end; they are some kilobytes. */
#define FACTS_BYTES (8u << 20)

bool record_writer_has_room(const struct record_writer *w)
{
	return w->nr_frames + 2 <= RECORD_MAX_FRAMES &&
	       w->nr_samples + 4 * w->frame_samples <= RECORD_MAX_SAMPLES &&
	       w->plain_bytes + 4 * w->frame_plain_bytes + FACTS_BYTES <= RECORD_MAX_BYTES &&
	       w->file_bytes + 4 * w->frame_file_bytes + FACTS_BYTES <= RECORD_MAX_FILE_BYTES;
}

int record_write_head(struct record_writer *w, const struct record *r, struct buf *out)
{
	struct buf plain = { 0 };
	int status;

	buf_add(out, RECORD_MAGIC, RECORD_MAGIC_BYTES);
	put_u32(out, RECORD_VERSION);
	w->file_bytes = RECORD_MAGIC_BYTES + 4;
	put_text(&plain, r->version ? r->version : "");
	put_varint(&plain, r->interval_ns);
	put_varint(&plain, r->wanted_ns);
	status = put_block(w, RECORD_BLOCK_HEAD, &plain, out);
	buf_done(&plain);
	return status;
}

int record_write_facts(struct record_writer *w, const struct record *r, struct buf *out)
{
	struct buf plain = { 0 };
	int status;

	if (r->failed)
		return -ENOMEM;
	if (r->nr_facts > RECORD_MAX_FACTS - w->nr_facts)
		return -EFBIG;
	put_varint(&plain, r->nr_facts);
	for (size_t i = 0; i < r->nr_facts; i++) {
		put_text(&plain, r->facts[i].name);
		put_varint(&plain, r->facts[i].end != NULL);
		put_text(&plain, r->facts[i].begin);
		if (r->facts[i].end)
			put_text(&plain, r->facts[i].end);
	}
	status = put_block(w, RECORD_BLOCK_FACTS, &plain, out);
	if (!status)
		w->nr_facts += (u32)r->nr_facts;
	buf_done(&plain);
	return status;
}

int record_write_end(struct record_writer *w, const struct record *r, struct buf *out)
{
	struct buf plain = { 0 };
	int status;

	put_varint(&plain, r->end);
	put_varint(&plain, (u32)(r->program_status + 1)); /* 0: none */
	put_varint(&plain, w->nr_blocks);
	status = put_block(w, RECORD_BLOCK_END, &plain, out);
	buf_done(&plain);
	return status;
}

int record_write(const struct record *r, struct buf *out)
{
	struct record_writer w = { 0 };
	int status = record_write_head(&w, r, out);

	if (!status)
		status = record_write_facts(&w, r, out);
	for (size_t i = 0; i < r->nr_frames && !status; i++)
		status = record_write_frame(&w, &r->frames[i], out);
	return status ? status : record_write_end(&w, r, out);
}
