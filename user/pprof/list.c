/* SPDX-License-Identifier: MIT */
/* Rows that become more, up to a limit. */
#include "user/pprof/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_ROWS 16

void *list_add(struct list *list, int *ret_code)
{
	void *row;

	if (list->n == list->max) {
		*ret_code = -EFBIG;
		return NULL;
	}
	if (list->n == list->cap) {
		u32 cap = list->cap ? list->cap * 2 : FIRST_ROWS;
		void *grown = realloc(list->rows, (size_t)cap * list->row_bytes);

		if (!grown) {
			*ret_code = -ENOMEM;
			return NULL;
		}
		list->rows = grown;
		list->cap = cap;
	}
	row = (char *)list->rows + (size_t)list->n++ * list->row_bytes;
	memset(row, 0, list->row_bytes);
	return row;
}
