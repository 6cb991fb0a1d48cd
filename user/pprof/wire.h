/* SPDX-License-Identifier: MIT */
/*
 * Protocol buffers as bytes: fields of a message, without a schema.
 *
 *	key	varint: field number << 3 | wire type
 *	value	type 0 varint; 1 eight bytes; 2 varint length, then so many bytes; 5 four bytes
 *
 * Types 3 and 4 (groups) are no longer written by anyone and are refused, as Go's pprof does.
 *
 * Source: protobuf.dev/programming-guides/encoding.
 */
#ifndef SKYOBSERVE_PPROF_WIRE_H
#define SKYOBSERVE_PPROF_WIRE_H

#include "user/base/span.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2,
	WIRE_FIXED32 = 5,
};

struct wire_field {
	u32 number;
	enum wire_type type;
	u64 value;	   /* of the types that are numbers */
	struct span bytes; /* of WIRE_BYTES */
};

/* Read the next field and move on. 1; 0 at the end; -EBADMSG if it is none. */
int wire_next(struct span *message, struct wire_field *ret_field);

/*
 * The fields 1 to @n - 1 of a message, all of them varints, into values[number]; what does not
 * occur is left as it is, of several the last counts, other numbers are skipped. 0 or -EBADMSG.
 */
int wire_varints(struct span message, u64 *ret_values, u32 n);

/*
 * Numbers of a repeated field, one per field or packed into bytes: call until 0. @field is used up.
 * 1: a number; 0: no more; -EBADMSG.
 */
int wire_repeated(struct wire_field *field, u64 *ret_value);

#endif /* SKYOBSERVE_PPROF_WIRE_H */
