/* SPDX-License-Identifier: MIT */
/* What the files of decode share: the tables that grow, and a function for each message. */
#ifndef SKYOBSERVE_PPROF_DECODE_IMPL_H
#define SKYOBSERVE_PPROF_DECODE_IMPL_H

#include "user/model/profile.h"
#include "user/pprof/ids.h"
#include "user/pprof/list.h"
#include "user/pprof/wire.h"

/* Numbers of the fields of Profile. */
enum {
	SAMPLE_TYPE = 1,
	SAMPLE,
	MAPPING,
	LOCATION,
	FUNCTION,
	STRING_TABLE,
	DROP_FRAMES,
	KEEP_FRAMES,
	TIME_NANOS,
	DURATION_NANOS,
	PERIOD_TYPE,
	PERIOD,
	COMMENT,
	DEFAULT_SAMPLE_TYPE,
};

struct decoder {
	struct list strings; /* struct span */
	const char **texts;
	char *bytes; /* what texts point into */
	struct list types, samples, values, frames, labels, locations, lines, functions, mappings,
		comments;
	struct list mapping_ids, function_ids, location_ids; /* struct id_row */
	struct profile head;				     /* all that is no table */
	u64 default_type;				     /* its text */
	struct err *err;
};

/* @what says where. */
int decode_bad(struct decoder *d, const char *what);
/* list_add, with the words of its failure. */
void *decode_add(struct decoder *d, struct list *list, const char *what, int *ret_code);
int decode_text(struct decoder *d, u64 index, const char **ret_text);
/* A row's id beside the row. */
int decode_add_id(struct decoder *d, struct list *ids, u64 id, u32 index);
/* When all are there, before the first look-up. @what is one of them, for messages. */
int decode_sort_ids(struct decoder *d, struct list *list, const char *what);

/* Fields of the top level: the texts; then, between copy_texts and sort_ids, what has only texts.
 */
int decode_on_string(struct decoder *d, struct wire_field *f);
int decode_copy_texts(struct decoder *d);
int decode_on_sample_type(struct decoder *d, struct wire_field *f);
int decode_on_period_type(struct decoder *d, struct wire_field *f);
int decode_on_comment(struct decoder *d, struct wire_field *f);
int decode_on_scalar(struct decoder *d, struct wire_field *f);
int decode_on_mapping(struct decoder *d, struct wire_field *f);
int decode_on_function(struct decoder *d, struct wire_field *f);
/* Then what refers to mappings and functions, then to locations. */
int decode_on_location(struct decoder *d, struct wire_field *f);
int decode_on_sample(struct decoder *d, struct wire_field *f);

#endif /* SKYOBSERVE_PPROF_DECODE_IMPL_H */
