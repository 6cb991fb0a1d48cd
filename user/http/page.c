/* SPDX-License-Identifier: MIT */
/* The landing page: no script, no style from elsewhere. */
#include "user/http/page.h"

static void add_escaped(const char *text, struct buf *buf)
{
	for (; *text; text++) {
		switch (*text) {
		case '&':
			buf_str(buf, "&amp;");
			break;
		case '<':
			buf_str(buf, "&lt;");
			break;
		case '>':
			buf_str(buf, "&gt;");
			break;
		case '"':
			buf_str(buf, "&quot;");
			break;
		default:
			buf_char(buf, *text);
			break;
		}
	}
}

void page_landing(const char *title, const struct page_link *links, size_t n, struct buf *buf)
{
	buf_str(buf,
		"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
	add_escaped(title, buf);
	buf_str(buf, "</title>\n</head>\n<body>\n<h1>");
	add_escaped(title, buf);
	buf_str(buf, "</h1>\n<ul>\n");
	for (size_t i = 0; i < n; i++) {
		buf_str(buf, "<li><a href=\"");
		add_escaped(links[i].path, buf);
		buf_str(buf, "\">");
		add_escaped(links[i].path, buf);
		buf_str(buf, "</a>: ");
		add_escaped(links[i].what, buf);
		buf_str(buf, "</li>\n");
	}
	buf_str(buf, "</ul>\n</body>\n</html>\n");
}
