/* SPDX-License-Identifier: MIT */
/*
 * What is true of each metric beyond the metric table: its labels, the probe groups it needs, the
 * identities that check it. None of it is written down a second time: snapshots that are made up
 * are published by the same code as real ones, with something taken away, and the difference says
 * it.
 */
#ifndef SKYOBSERVE_CMD_EXPLAIN_FACTS_H
#define SKYOBSERVE_CMD_EXPLAIN_FACTS_H

#include <stdbool.h>

#include "user/model/family.h"
#include "user/model/identities.h"

/* Longer lists of values are said to be open. */
#define MAX_LABEL_VALUES 16

struct metric_label {
	const char *name;
	bool always; /* on every series of the metric */
	/* The closed set of its values; none if it is open. */
	const char *values[MAX_LABEL_VALUES];
	u32 nr_values;
};

struct metric_facts {
	bool published; /* this version measures it */
	bool small_set; /* also for processes of --all that are no targets */
	u32 groups;	/* mask of enum probe_group: without it series are missing */
	u32 identities; /* mask of enum identity_id: they would notice if it were wrong */
	struct metric_label labels[MAX_SAMPLE_LABELS];
	u32 nr_labels;
};

/* Facts of all metrics, by enum family_id. A zeroed struct may be done. */
struct metric_book {
	struct metric_facts facts[NR_FAMILIES];
	struct family_set full; /* the strings live here */
	struct family_set quiet;
};

/* Returns 0 or -ENOMEM; metric_book_done in both cases. */
int metric_book_make(struct metric_book *ret_book);
void metric_book_done(struct metric_book *book);

#endif /* SKYOBSERVE_CMD_EXPLAIN_FACTS_H */
