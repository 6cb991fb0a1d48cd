/* SPDX-License-Identifier: MIT */
/* What the files of go_pclntab share. */
#ifndef SKYOBSERVE_RUNTIME_GO_PCLNTAB_IMPL_H
#define SKYOBSERVE_RUNTIME_GO_PCLNTAB_IMPL_H

#include "user/runtime/go_pclntab.h"

/* Size of an entry of the table of functions, and of the first field of a function's record. */
u32 go_pclntab_entry_bytes(const struct go_pclntab *tab);

#endif /* SKYOBSERVE_RUNTIME_GO_PCLNTAB_IMPL_H */
