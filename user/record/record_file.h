/* SPDX-License-Identifier: MIT */
/*
 * The file of a record, as bytes. docs/RECORD.md describes it for others.
 *
 * | OFFSET | SIZE | MEANING                                                |
 * |--------|------|--------------------------------------------------------|
 * | 0      | 8    | 89 'S' 'K' 'Y' 'R' 'E' 'C' 0a                          |
 * | 8      | 4    | version of the format, RECORD_VERSION                  |
 * | 12     |      | blocks, up to the end of the file; the last one is END |
 *
 * A block:
 *
 * | OFFSET | SIZE | MEANING                                                |
 * |--------|------|--------------------------------------------------------|
 * | 0      | 4    | type                                                   |
 * | 4      | 4    | bytes that follow these 16                             |
 * | 8      | 4    | bytes that they unpack to                              |
 * | 12     | 4    | CRC-32 (zlib's) of what they unpack to                 |
 * | 16     |      | zlib (RFC 1950)                                        |
 *
 * All numbers are little-endian; inside of blocks they are unsigned LEB128 (varint), texts are a
 * varint of their length and so many bytes without NUL.
 */
#ifndef SKYOBSERVE_RECORD_RECORD_FILE_H
#define SKYOBSERVE_RECORD_RECORD_FILE_H

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/span.h"
#include "user/model/record.h"

#define RECORD_MAGIC	   "\x89SKYREC\n"
#define RECORD_MAGIC_BYTES 8
#define RECORD_VERSION	   1

enum record_block {
	RECORD_BLOCK_HEAD = 1, /* once, the first */
	RECORD_BLOCK_FACTS,    /* any number; a fact of a later one replaces that of an earlier */
	RECORD_BLOCK_FRAME,    /* at least two, ascending in time */
	RECORD_BLOCK_END,      /* once, the last: what ended it, and how many are in front of it */
};

/*
 * Limits, of the reader and of the writer. A sample takes some 200 bytes in memory and a histogram
 * 448, so that a record is below 1 GiB there, of the 2 GiB that a confined reader has.
 */
#define RECORD_MAX_FILE_BYTES  (64u << 20)
#define RECORD_MAX_BLOCK_BYTES (64u << 20)  /* unpacked */
#define RECORD_MAX_BYTES       (512u << 20) /* unpacked, all blocks */
#define RECORD_MAX_FRAMES      1024
#define RECORD_MAX_SAMPLES     (1u << 20) /* of all frames */
#define RECORD_MAX_FACTS       4096	  /* in the file, those that are replaced included */
#define RECORD_MAX_TEXT	       8192

/* --- writing: block by block, so that frames need not be kept, and what is written stays --- */

/* What was written so far, against the limits. Begins zeroed; its caller writes the bytes out. */
struct record_writer {
	u32 nr_blocks, nr_frames, nr_facts;
	u64 nr_samples, plain_bytes, file_bytes;
	/* Of the largest frame. */
	u64 frame_samples, frame_plain_bytes, frame_file_bytes;
};

/*
 * Append a packed block to @out: the beginning of the file (magic, version, HEAD), all facts of @r,
 * a frame, the end. 0; -EFBIG: it would be more than a reader takes, and nothing was appended;
 * -ENOMEM. Texts of more than RECORD_MAX_TEXT bytes are cut.
 */
int record_write_head(struct record_writer *w, const struct record *r, struct buf *out);
int record_write_facts(struct record_writer *w, const struct record *r, struct buf *out);
int record_write_frame(struct record_writer *w, const struct record_frame *f, struct buf *out);
int record_write_end(struct record_writer *w, const struct record *r, struct buf *out);

/*
 * Whether one more frame leaves room for the last one and for the facts: with frames up to twice as
 * large as the largest so far.
 */
bool record_writer_has_room(const struct record_writer *w);

/* The whole record. */
int record_write(const struct record *r, struct buf *out);

/* --- reading --- */

/*
 * Parse the bytes of a file. All of it is checked: sums, lengths, limits, types of samples as this
 * program knows them, at least two frames, and that time goes forward. Families that this program
 * does not know are left out and counted.
 *
 * 0: the caller frees *ret_record (record_done). -EBADMSG: no record, or damaged; -ENODATA: cut
 * off; -ENOTSUP: of another version; -EFBIG: beyond the limits; -ENOMEM.
 */
int record_parse(struct span bytes, struct record *ret_record, struct err *err);

/* The same for an open file, from where it stands to its end. */
int record_read(int fd, struct record *ret_record, struct err *err);

#endif /* SKYOBSERVE_RECORD_RECORD_FILE_H */
