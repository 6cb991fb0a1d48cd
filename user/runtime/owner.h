/* SPDX-License-Identifier: MIT */
/* From what the file of a program says to how its work is told apart. */
#ifndef SKYOBSERVE_RUNTIME_OWNER_H
#define SKYOBSERVE_RUNTIME_OWNER_H

#include "layout.h"
#include "user/runtime/runtime.h"

/*
 * By goroutine in a Go program, by thread in others. -ENOTSUP: it is a Go program, and @err says
 * why its goroutines cannot be told apart.
 */
int owner_of_target(const struct target *target, struct owner_how *ret_how, struct err *err);

#endif /* SKYOBSERVE_RUNTIME_OWNER_H */
