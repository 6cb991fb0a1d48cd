/* SPDX-License-Identifier: MIT */
/* Which functions of Go programs can be boundaries of interactions, and why others cannot. */
#include "tests/lib/check.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "user/runtime/go_function.h"

#define NAME "main.handle"

static struct target target;

static struct target_function *begin(void)
{
	memset(&target, 0, sizeof(target));
	target.file.machine = EM_X86_64;
	snprintf(target.runtime, sizeof(target.runtime), "%s", runtime_go.name);
	target.go.wanted[1] = (struct target_function){ .vaddr = 0x1000,
							.exact_offset = 100,
							.exact_exact = true,
							.cheap_offset = 7,
							.nr_found = 1,
							.nr_returns = 2,
							.return_offsets = { 200, 300 } };
	return &target.go.wanted[1];
}

static void refused(const char *why)
{
	struct go_function_places places;
	struct err err = { { 0 } };

	CHECK_EQ_INT(go_function_find_places(&target, 1, NAME, &places, &err), -ENOTSUP);
	if (!strstr(err.text, why))
		FAIL("`%s` does not say: %s", err.text, why);
}

TEST(go_function_has_an_entry_and_its_returns)
{
	struct go_function_places places;
	struct err err = { { 0 } };

	begin();
	CHECK_EQ_INT(go_function_find_places(&target, 1, NAME, &places, &err), 0);
	CHECK_EQ_U64(places.entry, 100);
	CHECK_EQ_U64(places.nr_returns, 2);
	CHECK_EQ_U64(places.returns[0], 200);
	CHECK_EQ_U64(places.returns[1], 300);
}

TEST(go_function_is_refused_with_reason_and_remedy)
{
	struct target_function *f = begin();

	*f = (struct target_function){ .why = "the program has no function of this name" };
	refused("no function of this name (names are as `go tool nm`");
	f->inlined = true;
	refused("//go:noinline");
	begin()->nr_found = 3;
	refused("3 functions have this name");
	begin()->exact_exact = false;
	refused("no place that is passed once a call");
	begin()->nr_returns = 0;
	refused("never returns");
	begin()->leaves = true;
	refused("ends by a jump");
	snprintf(begin()->why, TARGET_TEXT, "it returns at 33 places, more than 32");
	refused("more than 32");
	begin();
	target.file.machine = EM_AARCH64;
	refused("x86-64");
	target.runtime[0] = '\0';
	refused("no Go program");
}
