/* SPDX-License-Identifier: MIT */
/*
 * A record may be any bytes; one that is taken has its edges, and is written again.
 *
 * Sums and packing would stop a fuzzer at the door. So an input that does not begin as a record
 * does is what blocks hold, each behind a byte of type and two of length, and is packed here.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "user/model/summary.h"
#include "user/record/record_file.h"
#include "user/render/record_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void check(const struct record *r)
{
	struct buf out = { 0 };

	if (r->nr_frames < 2)
		abort();
	(void)record_window_ns(r);
	for (u32 id = 0; id < NR_FAMILIES; id++) {
		const struct family *f = &record_end(r)->families[id];
		u64 delta;

		(void)record_delta(r, id, NULL, 0, &delta);
		for (size_t i = 0; i < f->nr_samples; i++) {
			struct hist hist;

			(void)record_delta_hist(r, id, &f->samples[i], &hist);
		}
	}
	if (record_write(r, &out))
		abort();
	buf_done(&out);
}

/* What is said of it is harmless text, and its numbers are numbers. */
static void check_said(const struct record *r)
{
	static struct summary s;
	struct buf out = { 0 };

	record_report_render(r, "file", false, &out);
	for (size_t i = 0; i < out.len; i++) {
		if (out.bytes[i] != '\n' && (out.bytes[i] < 0x20 || out.bytes[i] == 0x7f))
			abort();
	}
	buf_clear(&out);
	if (record_report_json(r, "file", &out))
		abort();
	buf_done(&out);
	summary_of(r, &s);
	if (!summary_check(&s))
		abort();
}

static void put_u32(struct buf *out, u32 n)
{
	buf_add(out, (const char *)&n, sizeof(n)); /* little-endian, as what is observed */
}

static void pack(struct buf *out, u32 type, const uint8_t *plain, size_t n)
{
	uLongf packed_bytes = compressBound(n);
	unsigned char *packed = malloc(packed_bytes);

	if (!packed || compress(packed, &packed_bytes, plain, n) != Z_OK)
		abort();
	put_u32(out, type);
	put_u32(out, (u32)packed_bytes);
	put_u32(out, (u32)n);
	put_u32(out, (u32)crc32(0, plain, (uInt)n));
	buf_add(out, (const char *)packed, packed_bytes);
	free(packed);
}

static void pack_all(struct buf *out, const uint8_t *bytes, size_t n)
{
	buf_add(out, RECORD_MAGIC, RECORD_MAGIC_BYTES);
	put_u32(out, RECORD_VERSION);
	while (n >= 3) {
		size_t block = bytes[1] | (size_t)bytes[2] << 8;

		if (block > n - 3)
			block = n - 3;
		pack(out, bytes[0], bytes + 3, block);
		bytes += 3 + block;
		n -= 3 + block;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct record r = { 0 };
	struct buf file = { 0 };
	u8 *copy;

	if (n && bytes[0] != (uint8_t)RECORD_MAGIC[0])
		pack_all(&file, bytes, n);
	else
		buf_add(&file, (const char *)bytes, n);
	copy = malloc(file.len ? file.len : 1); /* of exactly this size: a byte too far is seen */
	if (!copy)
		return 0;
	if (file.len)
		memcpy(copy, file.bytes, file.len);
	if (!record_parse((struct span){ copy, file.len }, &r, NULL)) {
		check(&r);
		check_said(&r);
	}
	record_done(&r);
	free(copy);
	buf_done(&file);
	return 0;
}
