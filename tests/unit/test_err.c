/* SPDX-License-Identifier: MIT */
/* An error is one line that names the object, whatever bytes it was made of. */
#include "tests/lib/check.h"

#include <errno.h>

#include "user/base/err.h"

#define TEXT_BYTES sizeof(((struct err *)0)->text)

TEST(err_set_returns_its_code)
{
	struct err err = { { 0 } };

	CHECK_EQ_INT(err_set(&err, -EINVAL, "%s %d", "wrong", 7), -EINVAL);
	CHECK_STR(err.text, "wrong 7");
	CHECK_EQ_INT(err_set(&err, 0, "new"), 0);
	CHECK_STR(err.text, "new");
}

TEST(err_may_be_null)
{
	CHECK_EQ_INT(err_set(NULL, -ENOENT, "%s", "unheard"), -ENOENT);
	CHECK_EQ_INT(err_prefix(NULL, -EPERM, "%s", "unheard"), -EPERM);
}

TEST(err_prefix_goes_in_front)
{
	struct err err = { { 0 } };

	err_set(&err, -EBADMSG, "bad section");
	CHECK_EQ_INT(err_prefix(&err, -EBADMSG, "%s: ", "/bin/app"), -EBADMSG);
	CHECK_EQ_INT(err_prefix(&err, -EBADMSG, "pid %d: ", 12), -EBADMSG);
	CHECK_STR(err.text, "pid 12: /bin/app: bad section");
}

TEST(err_prefix_of_nothing_stands_alone)
{
	struct err err = { { 0 } };

	err_prefix(&err, -EIO, "pid %d", 3);
	CHECK_STR(err.text, "pid 3");
}

TEST(err_shows_control_bytes_as_question_marks)
{
	struct err err = { { 0 } };

	err_set(&err, -EINVAL, "name `%s`", "a\nb\033[31m\tc\177\001");
	CHECK_STR(err.text, "name `a?b?[31m?c??`");
	err_prefix(&err, -EINVAL, "x\r\n");
	CHECK_STR(err.text, "x??name `a?b?[31m?c??`");
}

TEST(err_keeps_text_beyond_ascii)
{
	struct err err = { { 0 } };

	err_set(&err, -EINVAL, "%s", "gr\xc3\xbc\xc3\x9f");
	CHECK_STR(err.text, "gr\xc3\xbc\xc3\x9f");
}

TEST(err_text_is_cut_to_its_room)
{
	struct err err;
	char long_name[2 * TEXT_BYTES];

	memset(long_name, 'n', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	err_set(&err, -EINVAL, "%s", long_name);
	CHECK_EQ_U64(strlen(err.text), TEXT_BYTES - 1);

	err_prefix(&err, -EINVAL, "front: ");
	CHECK_EQ_U64(strlen(err.text), TEXT_BYTES - 1);
	CHECK(!strncmp(err.text, "front: nnn", 10));

	err_prefix(&err, -EINVAL, "%s", long_name);
	CHECK_EQ_U64(strlen(err.text), TEXT_BYTES - 1);
	CHECK(!strchr(err.text, 'f'));
}
