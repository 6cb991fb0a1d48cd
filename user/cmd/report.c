/* SPDX-License-Identifier: MIT */
/* The end of each command that prints. */
#include "user/cmd/report.h"

#include <string.h>

#include "user/base/log.h"
#include "user/base/standard.h"
#include "user/cmd/targets.h"

int report_print(const struct buf *out, int status)
{
	int r = standard_print(out);

	if (!r)
		return status;
	log_error("cannot write to standard output: %s", strerror(-r));
	return status == EXIT_GOOD ? EXIT_FAILED : status;
}
