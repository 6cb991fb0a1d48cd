/* SPDX-License-Identifier: MIT */
/*
 * From the bytes of a file to a record. Whoever wrote them is a stranger: each length is compared
 * with what is left, each number with a limit, before it is used. Runs in a confined process.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "user/record/record_file.h"

/* What was taken so far, against the limits. */
struct reading {
	struct record *r;
	u64 unpacked_bytes;
	u64 samples;
	u32 nr_blocks, nr_facts;
	bool ended;
};

static bool take_u32_below(struct span *s, u64 limit, u32 *ret)
{
	u64 n;

	if (!span_uvarint(s, &n) || n >= limit)
		return false;
	*ret = (u32)n;
	return true;
}

/* A text without NUL, copied into @arena. NULL: it is none, or *oom. */
static const char *take_text(struct span *s, struct arena *arena, bool *oom)
{
	struct span part;
	char *copy;
	u64 n;

	if (!span_uvarint(s, &n) || n > RECORD_MAX_TEXT || !span_take(s, n, &part) ||
	    memchr(part.at, '\0', part.n))
		return NULL;
	copy = arena_zalloc(arena, part.n + 1);
	if (!copy) {
		*oom = true;
		return NULL;
	}
	memcpy(copy, part.at, part.n);
	return copy;
}

static int bad(bool oom)
{
	return oom ? -ENOMEM : -EBADMSG;
}

static int take_hist(struct span *s, struct family_set *set, struct sample *sample)
{
	struct hist *hist = arena_zalloc(&set->arena, sizeof(*hist));
	u32 n, bucket, next = 0;

	if (!hist)
		return -ENOMEM;
	if (!span_uvarint(s, &hist->sum) || !take_u32_below(s, NR_HIST_BUCKETS + 1, &n))
		return -EBADMSG;
	for (u32 i = 0; i < n; i++) {
		/* Ascending, so none is there twice. */
		if (!take_u32_below(s, NR_HIST_BUCKETS, &bucket) || bucket < next ||
		    !span_uvarint(s, &hist->counts[bucket]))
			return -EBADMSG;
		next = bucket + 1;
	}
	sample->hist = hist;
	return 0;
}

static int take_value(struct span *s, enum family_type type, struct family_set *set,
		      struct sample *sample)
{
	u32 kind;
	u64 bits;

	if (!take_u32_below(s, VALUE_ONES + 1, &kind) || !span_uvarint(s, &sample->created_wall_ns))
		return -EBADMSG;
	sample->kind = kind;
	if (type == FAMILY_HIST)
		return kind == VALUE_REAL ? -EBADMSG : take_hist(s, set, sample);
	if (kind != VALUE_REAL)
		return span_uvarint(s, &sample->u) ? 0 : -EBADMSG;
	/* What counts is whole, so that differences are exact. */
	if (type == FAMILY_COUNTER || !span_u64(s, &bits))
		return -EBADMSG;
	memcpy(&sample->real, &bits, sizeof(bits));
	return 0;
}

static int take_sample(struct span *s, enum family_id id, struct family_set *set)
{
	struct sample *sample = family_add(set, id);
	bool oom = false;
	u32 n;

	if (set->failed)
		return -ENOMEM;
	if (!take_u32_below(s, MAX_SAMPLE_LABELS + 1, &n))
		return -EBADMSG;
	for (u32 i = 0; i < n; i++) {
		const char *name = take_text(s, &set->arena, &oom);
		const char *value = name ? take_text(s, &set->arena, &oom) : NULL;

		if (!value)
			return bad(oom);
		sample_label_kept(set, sample, name, value);
		if (set->failed)
			return -ENOMEM;
	}
	return take_value(s, family_descs[id].type, set, sample);
}

/* The family of that very name. */
static enum family_id family_called(const char *name)
{
	enum family_id id = record_family(name);
	char full[128];

	if (id == NR_FAMILIES)
		return id;
	family_name(&family_descs[id], full, sizeof(full));
	return strcmp(full, name) ? NR_FAMILIES : id;
}

static int take_family(struct reading *in, struct span *s, struct family_set *set)
{
	struct span samples;
	enum family_id id;
	bool oom = false;
	const char *name = take_text(s, &set->arena, &oom);
	u64 type, n, bytes;

	if (!name)
		return bad(oom);
	if (!span_uvarint(s, &type) || !span_uvarint(s, &n) || !span_uvarint(s, &bytes) ||
	    !span_take(s, bytes, &samples))
		return -EBADMSG;
	id = family_called(name);
	if (id == NR_FAMILIES) {
		in->r->unknown_families++;
		return 0;
	}
	if (type != (u64)family_descs[id].type || set->families[id].nr_samples)
		return -EBADMSG;
	if (n > RECORD_MAX_SAMPLES - in->samples)
		return -EFBIG;
	in->samples += n;
	for (u64 i = 0; i < n; i++) {
		int r = take_sample(&samples, id, set);

		if (r)
			return r;
	}
	return samples.n ? -EBADMSG : 0;
}

static int take_frame(struct reading *in, struct span s)
{
	struct record *r = in->r;
	struct record_frame *f;
	u32 n;
	int status = 0;

	if (r->nr_frames == RECORD_MAX_FRAMES)
		return -EFBIG;
	f = record_frame_add(r);
	if (!f)
		return -ENOMEM;
	/* More families than fit into the block cannot be. */
	if (!span_uvarint(&s, &f->begin_ns) || !span_uvarint(&s, &f->end_ns) ||
	    !span_uvarint(&s, &f->wall_ns) || !take_u32_below(&s, 1u << 16, &n) ||
	    f->end_ns < f->begin_ns)
		return -EBADMSG;
	if (r->nr_frames > 1 && f->begin_ns < f[-1].end_ns)
		return -EBADMSG;
	for (u32 i = 0; i < n && !status; i++)
		status = take_family(in, &s, &f->set);
	return status ? status : s.n ? -EBADMSG : 0;
}

static int take_head(struct record *r, struct span s)
{
	bool oom = false;

	r->version = take_text(&s, &r->arena, &oom);
	if (!r->version)
		return bad(oom);
	if (!span_uvarint(&s, &r->interval_ns) || !span_uvarint(&s, &r->wanted_ns) || s.n)
		return -EBADMSG;
	return 0;
}

static int take_fact(struct record *r, struct span *s, struct arena *texts)
{
	const char *name, *begin = NULL, *end = NULL;
	bool oom = false;
	u32 edges = 0;

	name = take_text(s, texts, &oom);
	if (name && take_u32_below(s, 2, &edges))
		begin = take_text(s, texts, &oom);
	if (begin && edges)
		end = take_text(s, texts, &oom);
	if (!begin || (edges && !end))
		return bad(oom);
	record_fact_set(r, name, begin, end);
	return r->failed ? -ENOMEM : 0;
}

static int take_facts(struct reading *in, struct span s)
{
	struct arena texts = { 0 };
	int status = 0;
	u64 n;

	if (!span_uvarint(&s, &n))
		return -EBADMSG;
	if (n > RECORD_MAX_FACTS - in->nr_facts)
		return -EFBIG;
	in->nr_facts += (u32)n;
	for (u64 i = 0; i < n && !status; i++)
		status = take_fact(in->r, &s, &texts);
	arena_done(&texts);
	return status ? status : s.n ? -EBADMSG : 0;
}

static int take_end(struct reading *in, struct span s)
{
	u32 end, status;
	u64 n;

	if (!take_u32_below(&s, NR_RECORD_ENDS, &end) || !take_u32_below(&s, 1u << 16, &status) ||
	    !span_uvarint(&s, &n) || s.n || n != in->nr_blocks || in->r->nr_frames < 2)
		return -EBADMSG;
	in->r->end = end;
	in->r->program_status = (s32)status - 1;
	in->ended = true;
	return 0;
}

static int take_block(struct reading *in, u32 type, struct span plain)
{
	if (in->ended || (type == RECORD_BLOCK_HEAD) != (in->nr_blocks == 0))
		return -EBADMSG;
	switch (type) {
	case RECORD_BLOCK_HEAD:
		return take_head(in->r, plain);
	case RECORD_BLOCK_FACTS:
		return take_facts(in, plain);
	case RECORD_BLOCK_FRAME:
		return take_frame(in, plain);
	case RECORD_BLOCK_END:
		return take_end(in, plain);
	default:
		return -EBADMSG;
	}
}

/* Exactly @n bytes, no more, no fewer. */
static int unpack(struct span packed, u32 n, struct buf *out)
{
	unsigned char chunk[65536];
	z_stream z = { .next_in = (unsigned char *)packed.at, .avail_in = (uInt)packed.n };
	int r;

	if (inflateInit(&z) != Z_OK)
		return -ENOMEM;
	do {
		z.next_out = chunk;
		z.avail_out = sizeof(chunk);
		r = inflate(&z, Z_NO_FLUSH);
		if (sizeof(chunk) - z.avail_out > n - out->len)
			break;
		buf_add(out, chunk, sizeof(chunk) - z.avail_out);
	} while (r == Z_OK && !out->failed);
	r = r == Z_MEM_ERROR || out->failed			    ? -ENOMEM
	    : r == Z_STREAM_END && out->len == n && z.avail_in == 0 ? 0
								    : -EBADMSG;
	inflateEnd(&z);
	return r;
}

static int next_block(struct reading *in, struct span *s)
{
	u32 type, packed_bytes, n, crc;
	struct buf plain = { 0 };
	struct span packed;
	int r;

	if (!span_u32(s, &type) || !span_u32(s, &packed_bytes) || !span_u32(s, &n) ||
	    !span_u32(s, &crc) || !span_take(s, packed_bytes, &packed))
		return -ENODATA;
	if (n > RECORD_MAX_BLOCK_BYTES || n > RECORD_MAX_BYTES - in->unpacked_bytes)
		return -EFBIG;
	in->unpacked_bytes += n;
	r = unpack(packed, n, &plain);
	if (!r && crc32(0, (const unsigned char *)plain.bytes, (uInt)plain.len) != crc)
		r = -EBADMSG;
	if (!r)
		r = take_block(in, type, (struct span){ (const u8 *)plain.bytes, plain.len });
	in->nr_blocks++;
	buf_done(&plain);
	return r;
}

static int say(int r, size_t frames, struct err *err)
{
	switch (r) {
	case 0:
		return 0;
	case -EFBIG:
		return err_set(err, r, "it holds more than a record may (docs/RECORD.md, limits)");
	case -ENOMEM:
		return err_set(err, r, "no memory for it");
	case -ENODATA:
		return err_set(err, r,
			       "it is cut off: its end is missing, as when skyobserve is killed or "
			       "the disk is full (%zu whole snapshots are in it)",
			       frames);
	default:
		return err_set(err, r, "the record is damaged");
	}
}

int record_parse(struct span bytes, struct record *ret_record, struct err *err)
{
	struct record record = { .program_status = -1 };
	struct reading in = { .r = &record };
	struct span magic;
	u32 version;
	int r = 0;

	if (!span_take(&bytes, RECORD_MAGIC_BYTES, &magic) ||
	    memcmp(magic.at, RECORD_MAGIC, RECORD_MAGIC_BYTES) != 0)
		return err_set(err, -EBADMSG, "it is no record of skyobserve");
	if (!span_u32(&bytes, &version))
		return say(-ENODATA, 0, err);
	if (version != RECORD_VERSION)
		return err_set(err, -ENOTSUP, "its format is version %u, this program reads %u",
			       version, RECORD_VERSION);
	while (bytes.n && !r)
		r = next_block(&in, &bytes);
	if (!r && !in.ended)
		r = -ENODATA;
	if (r) {
		say(r, record.nr_frames, err);
		record_done(&record);
		return r;
	}
	*ret_record = record;
	return 0;
}

int record_read(int fd, struct record *ret_record, struct err *err)
{
	struct buf file = { 0 };
	char chunk[65536];
	ssize_t n;
	int r = 0;

	while (!r && (n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			r = err_set(err, -errno, "reading it: %s", strerror(errno));
			break;
		}
		buf_add(&file, chunk, (size_t)n);
		if (file.failed)
			r = say(-ENOMEM, 0, err);
		else if (file.len > RECORD_MAX_FILE_BYTES)
			r = say(-EFBIG, 0, err);
	}
	if (!r)
		r = record_parse((struct span){ (const u8 *)file.bytes, file.len }, ret_record,
				 err);
	buf_done(&file);
	return r;
}
