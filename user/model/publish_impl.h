/* SPDX-License-Identifier: MIT */
/* Inside of the publication: publish.c, and publish_go.c (what Go's runtimes say),
 * publish_cost.c (what observing costs). */
#ifndef SKYOBSERVE_MODEL_PUBLISH_IMPL_H
#define SKYOBSERVE_MODEL_PUBLISH_IMPL_H

#include <stdio.h>

#include "user/model/merge.h"
#include "user/model/publish.h"

/* One publication under way. */
struct publication {
	const struct snapshot *snap;
	const struct exporter_facts *facts;
	struct family_set *set;
	const struct merged *m;
	const char *name;			/* of it, in the set */
	struct identity machine[NR_IDENTITIES]; /* of all names without details */
	bool machine_holds[NR_IDENTITIES];
	/* The account of @m under way, and its label; NULL: its processes' are not told apart. */
	const u64 *cells, *calls;
	const char *interaction;
	bool outcomes_judged, outcomes_bad; /* of all kinds that have a rule */
};

static inline struct sample *add_value(struct publication *pub, enum family_id id,
				       enum value_kind kind, u64 value)
{
	struct sample *s = family_add(pub->set, id);

	s->kind = kind;
	s->u = value;
	return s;
}

static inline void label_process(struct publication *pub, struct sample *s)
{
	char pid[16];

	sample_label_kept(pub->set, s, "process", pub->name);
	if (pub->facts->label_pid && pub->m->pid) { /* 0: processes that ended, or `other` */
		snprintf(pid, sizeof(pid), "%d", (int)pub->m->pid);
		sample_label(pub->set, s, "pid", pid);
	}
}

/* A sample of a process name, with its labels. */
static inline struct sample *add_process(struct publication *pub, enum family_id id,
					 enum value_kind kind, u64 value)
{
	struct sample *s = add_value(pub, id, kind, value);

	label_process(pub, s);
	s->created_wall_ns = pub->m->begin_wall_ns;
	return s;
}

static inline void add_hist_sample(struct publication *pub, struct sample *s,
				   const struct hist *hist)
{
	struct hist *copy = arena_zalloc(&pub->set->arena, sizeof(*copy));

	if (!copy) {
		pub->set->failed = true;
		return;
	}
	*copy = *hist;
	s->hist = copy;
}

/* @value is a constant, or lives as long as the set. */
static inline void label(struct publication *pub, struct sample *s, const char *name,
			 const char *value)
{
	sample_label_kept(pub->set, s, name, value);
}

static inline void label_copy(struct publication *pub, struct sample *s, const char *name,
			      const char *value)
{
	sample_label(pub->set, s, name, value);
}

/* Of a name: what the runtimes of its Go programs say. */
void publish_go(struct publication *pub);

/* Labels of the probe groups. */
extern const char *const publish_group_names[NR_GROUPS];

/* Of a name: what observing it costs. And what it is made of. */
void publish_cost(struct publication *pub);
void publish_prices(struct publication *pub);

#endif /* SKYOBSERVE_MODEL_PUBLISH_IMPL_H */
