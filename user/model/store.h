/* SPDX-License-Identifier: MIT */
/*
 * The store that a program is to keep its state in, as --expect-store names it: "postgres",
 * "redis" (each with ":PORT" if it is not the usual one), "sqlite:/PATH", "memory".
 */
#ifndef SKYOBSERVE_MODEL_STORE_H
#define SKYOBSERVE_MODEL_STORE_H

#include <stdbool.h>

#include "types.h"

enum store_kind {
	STORE_SERVER, /* behind a TCP port */
	STORE_FILE,
	STORE_MEMORY,
};

struct store {
	enum store_kind kind;
	u32 port;	  /* of a server */
	const char *path; /* of a file, inside of the text that was parsed; absolute */
};

/* False: the text names no store. */
bool store_parse(const char *text, struct store *ret_store);

/* The descriptors of a process that may write to a store's file, its log or its journal. */
struct store_files {
	u32 descriptors;
	u32 unreadable; /* what could not be looked at, so more of them may exist */
	u64 changed_ns; /* when the youngest of the files was changed, Unix time; 0: there is none
			 */
};

#endif /* SKYOBSERVE_MODEL_STORE_H */
