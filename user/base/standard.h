/* SPDX-License-Identifier: MIT */
/* Descriptors 0 to 2, as whoever started us left them. */
#ifndef SKYOBSERVE_BASE_STANDARD_H
#define SKYOBSERVE_BASE_STANDARD_H

#include "user/base/buf.h"

/*
 * For the first line of main. Descriptors 0 to 2 that are closed lead to /dev/null, so that no
 * socket or map gets their number and is written to as if it were the terminal; programs that we
 * execute find them closed as before. A reader that went away (`| head`) is an error of write(2)
 * from here on, and does not kill us.
 */
void standard_open(void);

/*
 * Write @out to standard output, at once. Returns 0 or a negative errno. A reader that went away is
 * no failure: it has what it wanted.
 */
int standard_print(const struct buf *out);

#endif /* SKYOBSERVE_BASE_STANDARD_H */
