/* SPDX-License-Identifier: MIT */
/* One line on stderr. */
#include "user/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "user/base/utf8.h"

#define LINE_BYTES 1024

static void say(const char *level, const char *fmt, va_list ap)
{
	char line[LINE_BYTES];

	vsnprintf(line, sizeof(line), fmt, ap);
	utf8_hide_controls(line);
	fprintf(stderr, "skyobserve: %s%s\n", level, line);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("", fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("warning: ", fmt, ap);
	va_end(ap);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say("error: ", fmt, ap);
	va_end(ap);
}

void log_warn_once(const char *fmt, ...)
{
	static char last[LINE_BYTES]; /* so that a condition that lasts does not flood the log */
	char line[LINE_BYTES];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (!strcmp(line, last))
		return;
	snprintf(last, sizeof(last), "%s", line);
	log_warn("%s", line);
}
