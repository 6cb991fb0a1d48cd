/* SPDX-License-Identifier: MIT */
/* Protocol buffers as bytes. */
#include "user/pprof/wire.h"

#include <errno.h>

/* The largest field number that the format allows. */
#define MAX_NUMBER ((1u << 29) - 1)

static bool take_value(struct span *s, struct wire_field *f)
{
	u32 four;

	switch (f->type) {
	case WIRE_VARINT:
		return span_uvarint(s, &f->value);
	case WIRE_FIXED64:
		return span_u64(s, &f->value);
	case WIRE_BYTES:
		return span_uvarint(s, &f->value) && span_take(s, f->value, &f->bytes);
	case WIRE_FIXED32:
		if (!span_u32(s, &four))
			return false;
		f->value = four;
		return true;
	default:
		return false;
	}
}

int wire_next(struct span *message, struct wire_field *ret_field)
{
	struct wire_field f = { 0 };
	u64 key;

	if (!message->n)
		return 0;
	if (!span_uvarint(message, &key) || !(key >> 3) || key >> 3 > MAX_NUMBER)
		return -EBADMSG;
	f.number = (u32)(key >> 3);
	f.type = (enum wire_type)(key & 7);
	if (!take_value(message, &f))
		return -EBADMSG;
	*ret_field = f;
	return 1;
}

int wire_varints(struct span message, u64 *ret_values, u32 n)
{
	struct wire_field f;
	int r;

	while ((r = wire_next(&message, &f)) > 0) {
		if (f.number >= n)
			continue;
		if (f.type != WIRE_VARINT)
			return -EBADMSG;
		ret_values[f.number] = f.value;
	}
	return r;
}

int wire_repeated(struct wire_field *field, u64 *ret_value)
{
	if (field->type == WIRE_VARINT) {
		/* Used up: packed, with nothing in it. */
		field->type = WIRE_BYTES;
		*ret_value = field->value;
		return 1;
	}
	if (field->type != WIRE_BYTES)
		return -EBADMSG;
	if (!field->bytes.n)
		return 0;
	return span_uvarint(&field->bytes, ret_value) ? 1 : -EBADMSG;
}
