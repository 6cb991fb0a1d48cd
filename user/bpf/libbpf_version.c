/* SPDX-License-Identifier: MIT */
/* Which libbpf this program runs with. */
#include "user/bpf/libbpf_version.h"

#include <bpf/libbpf.h>

const char *libbpf_version_text(void)
{
	return libbpf_version_string();
}
