/* SPDX-License-Identifier: MIT */
/* Errors are published under the names that programmers know. */
#include "tests/lib/check.h"

#include <errno.h>

#include "layout.h"
#include "user/model/errno_names.h"

TEST(errno_names_are_symbolic)
{
	static const struct {
		u32 code;
		const char *name;
	} cases[] = {
		{ 1, "EPERM" },		{ 2, "ENOENT" },       { 4, "EINTR" },
		{ 5, "EIO" },		{ 9, "EBADF" },	       { 11, "EAGAIN" },
		{ 22, "EINVAL" },	{ 28, "ENOSPC" },      { 32, "EPIPE" },
		{ 38, "ENOSYS" },	{ 104, "ECONNRESET" }, { 110, "ETIMEDOUT" },
		{ 115, "EINPROGRESS" }, { 122, "EDQUOT" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_STR(errno_name(cases[i].code), cases[i].name);
}

TEST(errno_names_never_say_success)
{
	CHECK_STR(errno_name(0), NULL);
}

TEST(errno_names_of_unknown_codes_are_null)
{
	static const u32 unknown[] = { 41,   58,	 134,	     200,	4095,
				       4096, 0x7fffffff, 0x80000000, 0xffffffff };

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		CHECK_STR(errno_name(unknown[i]), NULL);
}

TEST(errno_names_leave_the_restart_code_to_its_own_label)
{
	CHECK_STR(errno_name(ERRNO_RESTART), NULL);
}

TEST(errno_names_are_distinct)
{
	for (u32 a = 1; a < 200; a++) {
		for (u32 b = a + 1; b < 200 && errno_name(a); b++) {
			if (errno_name(b) && !strcmp(errno_name(a), errno_name(b)))
				FAIL("%u and %u are both %s", a, b, errno_name(a));
		}
	}
}
