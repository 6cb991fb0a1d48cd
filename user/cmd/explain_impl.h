/* SPDX-License-Identifier: MIT */
/* Inside of explain, shared by its files only: words for facts. */
#ifndef SKYOBSERVE_CMD_EXPLAIN_IMPL_H
#define SKYOBSERVE_CMD_EXPLAIN_IMPL_H

#include "user/base/buf.h"
#include "user/cmd/explain_facts.h"

#define METRIC_NAME_BYTES 128

extern const char *const explain_group_names[NR_GROUPS];

/* The name as it is queried: with _total for a counter; a histogram without its endings. */
void explain_name(enum family_id id, char ret_name[METRIC_NAME_BYTES]);

/* "counter", "gauge", "histogram", or "info": a gauge whose value is 1. */
const char *explain_type(enum family_id id);
const char *explain_method(enum family_id id);

/*
 * Lists of words with @separator between them. @quote is put around each name ("`" for Markdown,
 * "" for a terminal).
 */
void explain_labels(const struct metric_facts *f, const char *quote, struct buf *out);
void explain_groups(u32 groups, const char *quote, struct buf *out);
void explain_identities(u32 identities, const char *quote, struct buf *out);

/* The whole of docs/METRICS.md. */
void explain_markdown(const struct metric_book *book, struct buf *out);

#endif /* SKYOBSERVE_CMD_EXPLAIN_IMPL_H */
