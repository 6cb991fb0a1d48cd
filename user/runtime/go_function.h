/* SPDX-License-Identifier: MIT */
/* Where a function of a Go program begins and where it returns, for --interaction uprobe:FUNCTION.
 */
#ifndef SKYOBSERVE_RUNTIME_GO_FUNCTION_H
#define SKYOBSERVE_RUNTIME_GO_FUNCTION_H

#include "user/runtime/runtime.h"

/*
 * Offsets in the file. At each of them the stack pointer is that of the function's entry, so that a
 * return is told to belong to an entry, whatever was entered in between.
 */
struct go_function_places {
	u64 entry; /* passed once a call */
	u64 returns[TARGET_MAX_RETURNS];
	u32 nr_returns;
};

/*
 * Of number @i of the functions that @target was asked for, which is called @name. -ENOTSUP: @err
 * says why its calls cannot be told apart, and what to do: no Go program, no such function,
 * inlined, several of the name, ends otherwise than by a return.
 */
int go_function_find_places(const struct target *target, u32 i, const char *name,
			    struct go_function_places *ret_places, struct err *err);

#endif /* SKYOBSERVE_RUNTIME_GO_FUNCTION_H */
