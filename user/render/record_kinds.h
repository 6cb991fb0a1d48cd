/* SPDX-License-Identifier: MIT */
/* What an interaction cost, by kind: the part of a report on a record. Pure. */
#ifndef SKYOBSERVE_RENDER_RECORD_KINDS_H
#define SKYOBSERVE_RENDER_RECORD_KINDS_H

#include "user/model/record.h"
#include "user/render/paper.h"

/* Nothing, if interactions were not told apart. */
void record_kinds_print(const struct record *r, struct paper *p);

#endif /* SKYOBSERVE_RENDER_RECORD_KINDS_H */
