/* SPDX-License-Identifier: MIT */
/* Errors as one line of text. Knows nothing of logging. */
#include "user/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/base/utf8.h"

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	/* Names of processes and files come from strangers. */
	utf8_hide_controls(err->text);
	return code;
}

int err_prefix(struct err *err, int code, const char *fmt, ...)
{
	struct err rest;
	va_list ap;
	size_t len;

	if (!err)
		return code;
	rest = *err;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, "%s", rest.text);
	utf8_hide_controls(err->text);
	return code;
}
