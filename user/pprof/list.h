/* SPDX-License-Identifier: MIT */
/* Rows that become more while a file is read, up to a limit. */
#ifndef SKYOBSERVE_PPROF_LIST_H
#define SKYOBSERVE_PPROF_LIST_H

#include <stddef.h>

#include "types.h"

struct list {
	void *rows; /* the owner's to free */
	size_t row_bytes;
	u32 n, cap, max;
};

/* A zeroed row at the end, or NULL; then *ret_code is -EFBIG or -ENOMEM. Rows may move. */
void *list_add(struct list *list, int *ret_code);

#endif /* SKYOBSERVE_PPROF_LIST_H */
