/* SPDX-License-Identifier: MIT */
/* Symbolic names of errno values. */
#ifndef SKYOBSERVE_MODEL_ERRNO_NAMES_H
#define SKYOBSERVE_MODEL_ERRNO_NAMES_H

#include "types.h"

/* "ENOENT" for 2, or NULL. */
const char *errno_name(u32 code);

#endif /* SKYOBSERVE_MODEL_ERRNO_NAMES_H */
