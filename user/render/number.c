/* SPDX-License-Identifier: MIT */
/* Numbers as decimal text. */
#include "user/render/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A decimal of 15 digits survives the way into a double and back; 17 tell any two doubles apart. */
#define SAFE_DOUBLE_DIGITS 15
#define MAX_DOUBLE_DIGITS  17

/* Exponents from which Go's 'g' with the shortest precision writes an exponent. */
#define MIN_PLAIN_EXPONENT (-4)
#define MAX_PLAIN_EXPONENT 5

#define MAX_U64_DIGITS 20
#define SECOND_DIGITS  9 /* digits of a nanosecond behind the point */

void number_count(u64 count, struct buf *buf)
{
	char digits[MAX_U64_DIGITS];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + count % 10);
		count /= 10;
	} while (count);
	buf_add(buf, digits + at, sizeof(digits) - at);
}

void number_seconds(u64 ns, struct buf *buf)
{
	char fraction[1 + SECOND_DIGITS] = { '.' };
	u64 rest = ns % NS_PER_SEC;
	size_t n = 1 + SECOND_DIGITS;

	number_count(ns / NS_PER_SEC, buf);
	if (!rest)
		return;
	for (size_t i = SECOND_DIGITS; i > 0; i--, rest /= 10)
		fraction[i] = (char)('0' + rest % 10);
	while (fraction[n - 1] == '0')
		n--;
	buf_add(buf, fraction, n);
}

/* The shortest digits of finite @real >= 0, without point, and the exponent of the first one. */
static size_t shortest_digits(double real, char ret_digits[MAX_DOUBLE_DIGITS], int *ret_exponent)
{
	char text[40];
	size_t n = 0;

	/*
	 * If any number of digits up to 15 suffices, 15 digits show it, followed by zeros.
	 * Subnormal numbers have fewer digits than that.
	 */
	for (int digits = real < DBL_MIN ? 1 : SAFE_DOUBLE_DIGITS; digits <= MAX_DOUBLE_DIGITS;
	     digits++) {
		snprintf(text, sizeof(text), "%.*e", digits - 1, real);
		if (strtod(text, NULL) == real)
			break;
	}
	for (const char *c = text; *c != 'e'; c++) {
		if (*c != '.')
			ret_digits[n++] = *c;
	}
	while (n > 1 && ret_digits[n - 1] == '0')
		n--;
	*ret_exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	return n;
}

static void add_zeros(struct buf *buf, int n)
{
	for (int i = 0; i < n; i++)
		buf_char(buf, '0');
}

static void add_finite(double real, struct buf *buf)
{
	char digits[MAX_DOUBLE_DIGITS] = { 0 };
	int exponent, n;

	if (signbit(real))
		buf_char(buf, '-');
	n = (int)shortest_digits(fabs(real), digits, &exponent);

	if (exponent < MIN_PLAIN_EXPONENT || exponent > MAX_PLAIN_EXPONENT) {
		buf_char(buf, digits[0]);
		if (n > 1)
			buf_char(buf, '.');
		buf_add(buf, digits + 1, (size_t)n - 1);
		buf_printf(buf, "e%+03d", exponent);
	} else if (exponent < 0) {
		buf_str(buf, "0.");
		add_zeros(buf, -exponent - 1);
		buf_add(buf, digits, (size_t)n);
	} else if (n <= exponent + 1) {
		buf_add(buf, digits, (size_t)n);
		add_zeros(buf, exponent + 1 - n);
	} else {
		buf_add(buf, digits, (size_t)exponent + 1);
		buf_char(buf, '.');
		buf_add(buf, digits + exponent + 1, (size_t)(n - exponent - 1));
	}
}

void number_real(double real, struct buf *buf)
{
	if (isnan(real))
		buf_str(buf, "NaN");
	else if (isinf(real))
		buf_str(buf, real > 0 ? "+Inf" : "-Inf");
	else
		add_finite(real, buf);
}

void number_real_point(double real, struct buf *buf)
{
	size_t begin = buf->len;

	number_real(real, buf);
	if (!buf->failed && isfinite(real) && !strpbrk(buf->bytes + begin, ".e"))
		buf_str(buf, ".0");
}
