/* SPDX-License-Identifier: MIT */
/* Can the calls of a function be told apart, and where? */
#include "user/runtime/go_function.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "user/runtime/go_impl.h"

static int check_found(const struct target_function *f, const char *name, struct err *err)
{
	if (f->inlined)
		return err_set(err, -ENOTSUP,
			       "%.100s is inlined wherever it is called: mark it //go:noinline, or "
			       "name a function that calls it",
			       name);
	if (!f->nr_found && *f->why)
		return err_set(err, -ENOTSUP,
			       "%.100s: %.100s (names are as `go tool nm` prints them: "
			       "main.handle, net/http.serverHandler.ServeHTTP, main.(*app).event)",
			       name, f->why);
	if (f->nr_found > 1)
		return err_set(
			err, -ENOTSUP,
			"%.100s: %u functions have this name (a generic one has one for each "
			"shape of its types): name a function that calls it",
			name, f->nr_found);
	if (*f->why)
		return err_set(err, -ENOTSUP, "%.100s: %.100s", name, f->why);
	return 0;
}

int go_function_find_places(const struct target *target, u32 i, const char *name,
			    struct go_function_places *ret_places, struct err *err)
{
	const struct target_function *f = &target->go.wanted[i];
	int r;

	if (strcmp(target->runtime, runtime_go.name) != 0)
		return err_set(err, -ENOTSUP,
			       "it is no Go program, and functions are only known in those: use "
			       "--interaction http");
	if (target->file.machine != EM_X86_64)
		return err_set(err, -ENOTSUP, "functions are only probed on x86-64");
	r = check_found(f, name, err);
	if (r)
		return r;
	if (!f->exact_exact)
		return err_set(err, -ENOTSUP,
			       "%.100s has no place that is passed once a call: name a function "
			       "that calls it",
			       name);
	if (f->leaves || !f->nr_returns)
		return err_set(err, -ENOTSUP,
			       "%.100s %s: name the function that it calls, or one that calls it",
			       name,
			       f->leaves ? "ends by a jump to another function" : "never returns");
	ret_places->entry = f->exact_offset;
	ret_places->nr_returns = f->nr_returns;
	memcpy(ret_places->returns, f->return_offsets, sizeof(ret_places->returns));
	return 0;
}
