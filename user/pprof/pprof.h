/* SPDX-License-Identifier: MIT */
/* Read a pprof file: profile.proto, plain or in gzip. */
#ifndef SKYOBSERVE_PPROF_PPROF_H
#define SKYOBSERVE_PPROF_PPROF_H

#include "user/base/span.h"
#include "user/model/profile.h"

/* The file; a heap profile of a program of a gigabyte is below one megabyte. */
#define PPROF_MAX_FILE_BYTES (64u << 20)
/* What it unpacks to. With the limits in pprof.c its tables are below 1 GiB. */
#define PPROF_MAX_BYTES (256u << 20)

/*
 * Parse the bytes of a profile. All of it is checked: each reference is to something that is there,
 * each id is there once and is not 0, each sample has a value of each type and locations that
 * exist. Unknown fields are skipped. In texts a NUL becomes '?'.
 *
 * 0: the caller frees *ret_profile (profile_done). -EBADMSG: it is no profile, or contradicts
 * itself; -EFBIG: it is larger than the limits; -ENOTSUP: another format, which @err names;
 * -ENOMEM.
 *
 * Source: github.com/google/pprof proto/profile.proto; what is refused beyond Go's own reader
 * (profile/encode.go): functions that a line names and that are not there, varints over 64 bits.
 */
int pprof_parse(struct span bytes, struct profile *ret_profile, struct err *err);

/* The same for an open file, which may be a pipe; it is read from where it stands to its end. */
int pprof_read(int fd, struct profile *ret_profile, struct err *err);

#endif /* SKYOBSERVE_PPROF_PPROF_H */
