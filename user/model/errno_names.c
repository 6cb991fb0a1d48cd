/* SPDX-License-Identifier: MIT */
/* Symbolic names of errno values, from the C library. */
#define _GNU_SOURCE /* strerrorname_np, glibc 2.32 */
#include "user/model/errno_names.h"

#include <string.h>

const char *errno_name(u32 code)
{
	return code && code < 4096 ? strerrorname_np((int)code) : NULL;
}
