/* SPDX-License-Identifier: MIT */
/* A profile as text, all of it. */
#ifndef SKYOBSERVE_RENDER_PROFILE_RAW_H
#define SKYOBSERVE_RENDER_PROFILE_RAW_H

#include "user/base/buf.h"
#include "user/model/profile.h"

/*
 * Append what `go tool pprof -raw` prints of it, the time in UTC: header, samples with values,
 * locations' ids and labels, locations with their lines, mappings. Texts of the profile are not
 * cleaned. 0 or -ENOMEM.
 *
 * Source: github.com/google/pprof profile/profile.go, String.
 */
int profile_raw(const struct profile *p, struct buf *out);

#endif /* SKYOBSERVE_RENDER_PROFILE_RAW_H */
