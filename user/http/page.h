/* SPDX-License-Identifier: MIT */
/* The landing page. Pure. */
#ifndef SKYOBSERVE_HTTP_PAGE_H
#define SKYOBSERVE_HTTP_PAGE_H

#include <stddef.h>

#include "user/base/buf.h"

struct page_link {
	const char *path;
	const char *what; /* plain text */
};

/* Append an HTML page with @title as its heading and a list of links. All texts are escaped. */
void page_landing(const char *title, const struct page_link *links, size_t n, struct buf *buf);

#endif /* SKYOBSERVE_HTTP_PAGE_H */
