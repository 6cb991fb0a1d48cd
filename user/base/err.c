/* SPDX-License-Identifier: MIT */
/* Errors as one line of text. Knows nothing of logging. */
#include "user/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Names of processes and files come from strangers: a control byte must not reach a terminal. */
static void blank_control_bytes(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
	}
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	blank_control_bytes(err->text);
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
	blank_control_bytes(err->text);
	return code;
}
