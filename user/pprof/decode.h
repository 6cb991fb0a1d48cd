/* SPDX-License-Identifier: MIT */
/* The messages of profile.proto, after the file has been unpacked. */
#ifndef SKYOBSERVE_PPROF_DECODE_H
#define SKYOBSERVE_PPROF_DECODE_H

#include "user/base/span.h"
#include "user/model/profile.h"

/* As pprof_parse, for bytes that are not packed. */
int decode_profile(struct span bytes, struct profile *ret_profile, struct err *err);

#endif /* SKYOBSERVE_PPROF_DECODE_H */
