/* SPDX-License-Identifier: MIT */
/* What the files of gates share. */
#ifndef SKYOBSERVE_MODEL_GATES_IMPL_H
#define SKYOBSERVE_MODEL_GATES_IMPL_H

#include "user/model/gates.h"

/* Set a gate with its text. */
void gate_say(struct gate *g, enum gate_state state, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Append to the text, behind what is there. */
void gate_say_more(struct gate *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* gates_store.c */
void gate_store(const struct record *r, struct gate *g);

#endif /* SKYOBSERVE_MODEL_GATES_IMPL_H */
