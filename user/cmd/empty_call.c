/* SPDX-License-Identifier: MIT */
/* Measuring an empty system call. */
#include "user/cmd/empty_call.h"

#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Together some milliseconds. An interrupt falls into a few batches; the median is of the others.
 */
#define NR_BATCHES 15
#define NR_CALLS   1000

static u64 cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (u64)t.tv_sec * NS_PER_SEC + (u64)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

u64 empty_call_ns(void)
{
	u64 batches[NR_BATCHES];

	for (int i = 0; i < NR_BATCHES; i++) {
		u64 begin = cpu_ns();

		for (int k = 0; k < NR_CALLS; k++)
			(void)syscall(SYS_getppid); /* cannot fail */
		batches[i] = (cpu_ns() - begin) / NR_CALLS;
	}
	qsort(batches, NR_BATCHES, sizeof(batches[0]), compare);
	return batches[NR_BATCHES / 2];
}
