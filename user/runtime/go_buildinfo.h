/* SPDX-License-Identifier: MIT */
/* What a Go program says of its own making: version, module, settings. */
#ifndef SKYOBSERVE_RUNTIME_GO_BUILDINFO_H
#define SKYOBSERVE_RUNTIME_GO_BUILDINFO_H

#include <stdbool.h>

#include "user/base/err.h"
#include "user/base/span.h"
#include "user/elf/file.h"

/* A Go version as numbers. */
struct go_version {
	u32 major, minor, patch; /* 1, 24, 4 */
	u32 beta, rc;		 /* 0 if it is a release */
	bool devel;		 /* built from a source tree between releases */
	bool experiments;	 /* built with GOEXPERIMENT other than the default */
	bool modified;		 /* a vendor's: text follows that is not known */
};

/*
 * "go1.24", "go1.24.4", "go1.27rc1", "devel go1.28-6b2a 2026...", "go1.24.4 X:arenas",
 * "go1.22.9-fips", "go1.25.1 (Red Hat 1.25.1-2)". False if no version can be seen, as in
 * "devel +4b31 Mon ...".
 */
bool go_version_parse(const char *text, struct go_version *ret_version);

/* All texts point into the file's image and are not terminated; empty if not there. */
struct go_buildinfo {
	struct span version; /* "go1.24.4" */
	struct span modinfo; /* lines of path, mod, dep, build */
};

/*
 * Read the build information. -ENOENT: none, it is no Go program of 1.13 or later; -EBADMSG: it is
 * cut off or points outside the file.
 *
 * Source: Go src/debug/buildinfo/buildinfo.go.
 */
int go_buildinfo_read(const struct elf_file *file, struct go_buildinfo *ret_info, struct err *err);

/*
 * The value of a line: ("path", 0) is the main package, ("mod", 0) and ("mod", 1) are the module's
 * path and version. False if there is no such line.
 */
bool go_buildinfo_line(const struct go_buildinfo *info, const char *kind, u32 field,
		       struct span *ret_value);
/* The value of a build setting such as "-buildmode", "CGO_ENABLED", "GOARCH", as it is written. */
bool go_buildinfo_setting(const struct go_buildinfo *info, const char *key, struct span *ret_value);
/* Walk through the settings. *cursor begins as 0; false at the end. */
bool go_buildinfo_next_setting(const struct go_buildinfo *info, size_t *cursor,
			       struct span *ret_key, struct span *ret_value);

#endif /* SKYOBSERVE_RUNTIME_GO_BUILDINFO_H */
