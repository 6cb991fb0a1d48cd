/* SPDX-License-Identifier: MIT */
/* From a file to the bytes of profile.proto, and what else a file may be. */
#include "user/pprof/pprof.h"

#include <errno.h>
#include <string.h>

#include "user/base/buf.h"
#include "user/base/input_file.h"
#include "user/pprof/decode.h"
#include "user/pprof/gunzip.h"

/*
 * What people have instead, by its first bytes.
 *
 * Source: Go src/runtime/pprof/pprof.go (debug=1, debug=2); github.com/google/pprof
 * profile/legacy_profile.go; Go src/internal/trace.
 */
#define TEXT_PROFILE "a text profile (made with debug=1 or debug=2); get it without `debug`"
static const struct {
	const char *begin;
	size_t n;
	const char *what;
} formats[] = {
#define FORMAT(begin, what)                    \
	{                                      \
		begin, sizeof(begin) - 1, what \
	}
	FORMAT("heap profile:", TEXT_PROFILE),
	FORMAT("goroutine profile:", TEXT_PROFILE),
	FORMAT("goroutine ", TEXT_PROFILE),
	FORMAT("threadcreate profile:", TEXT_PROFILE),
	FORMAT("--- contention", TEXT_PROFILE),
	FORMAT("--- mutex", TEXT_PROFILE),
	FORMAT("--- heapz", TEXT_PROFILE),
	FORMAT("--- symbol", "an old symbolized profile"),
	FORMAT("go 1.", "an execution trace of Go, not a profile"),
	FORMAT("\x7f"
	       "ELF",
	       "a program, not a profile; see `skyobserve inspect`"),
	FORMAT("\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", "an old binary CPU profile of gperftools"),
	FORMAT("PERFILE2", "a recording of perf"),
	FORMAT("<", "HTML or XML, perhaps an error page"),
	FORMAT("{", "JSON"),
#undef FORMAT
};

static int check_format(const struct span *s, struct err *err)
{
	if (!s->n)
		return err_set(err, -EBADMSG, "it is empty");
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (s->n >= formats[i].n && !memcmp(s->at, formats[i].begin, formats[i].n))
			return err_set(err, -ENOTSUP, "it is %s", formats[i].what);
	}
	return 0;
}

int pprof_parse(struct span bytes, struct profile *ret_profile, struct err *err)
{
	struct buf unpacked = { 0 };
	int r = 0;

	if (gunzip_is_gzip(&bytes)) {
		r = gunzip(&bytes, PPROF_MAX_BYTES, &unpacked, err);
		bytes = (struct span){ (const u8 *)unpacked.bytes, unpacked.len };
	}
	if (!r)
		r = check_format(&bytes, err);
	if (!r)
		r = decode_profile(bytes, ret_profile, err);
	buf_done(&unpacked);
	return r;
}

int pprof_read(int fd, struct profile *ret_profile, struct err *err)
{
	struct buf file = { 0 };
	int r = input_file_read(fd, PPROF_MAX_FILE_BYTES, &file, err);

	if (!r)
		r = pprof_parse((struct span){ (const u8 *)file.bytes, file.len }, ret_profile,
				err);
	buf_done(&file);
	return r;
}
