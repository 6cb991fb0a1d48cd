/* SPDX-License-Identifier: MIT */
/* /proc/PID/stat holds a name that a stranger chose: any bytes are parsed or refused. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/proc/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	char *text = malloc(n + 1); /* of exactly this size: a byte too far is seen */
	struct proc_stat stat, untouched;

	if (!text)
		return 0;
	memcpy(text, bytes, n);
	text[n] = '\0';
	memset(&stat, 0xa5, sizeof(stat));
	untouched = stat;
	if (!procfs_parse_stat(text, n, &stat)) {
		if (memcmp(&stat, &untouched, sizeof(stat)) != 0)
			abort();
	} else if (!memchr(stat.comm, '\0', sizeof(stat.comm)) || !memchr(text, '(', n)) {
		abort();
	}
	free(text);
	return 0;
}
