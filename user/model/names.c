/* SPDX-License-Identifier: MIT */
/* The dearest names. Pure. */
#include "user/model/names.h"

#include <stdlib.h>
#include <string.h>

/* A name that is let in has used so much more than twice what the other has. */
#define MARGIN_NS 100000000ULL

struct names {
	struct name_entry **at;
	size_t n, cap, shown, max_shown;
};

struct names *names_new(size_t max_shown)
{
	struct names *names = calloc(1, sizeof(*names));

	if (names)
		names->max_shown = max_shown;
	return names;
}

static void entry_free(struct name_entry *e)
{
	if (e)
		free(e->text);
	free(e);
}

void names_free(struct names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->n; i++)
		entry_free(names->at[i]);
	free(names->at);
	free(names);
}

static bool make_room(struct names *names)
{
	size_t cap = names->cap ? 2 * names->cap : 64;
	struct name_entry **grown;

	if (names->n < names->cap)
		return true;
	grown = realloc(names->at, cap * sizeof(struct name_entry *));
	if (!grown)
		return false;
	names->at = grown;
	names->cap = cap;
	return true;
}

struct name_entry *names_find(struct names *names, const char *text, pid_t pid)
{
	struct name_entry *e;

	for (size_t i = 0; i < names->n; i++) {
		if (names->at[i]->pid == pid && !strcmp(names->at[i]->text, text))
			return names->at[i];
	}
	if (!make_room(names))
		return NULL;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->text = strdup(text);
	if (!e->text) {
		entry_free(e);
		return NULL;
	}
	e->pid = pid;
	e->shown = names->shown < names->max_shown;
	names->shown += e->shown;
	names->at[names->n++] = e;
	return e;
}

void names_begin(struct names *names)
{
	for (size_t i = 0; i < names->n; i++) {
		names->at[i]->cpu_ns = names->at[i]->ended_ns;
		names->at[i]->pinned = false;
	}
}

/* Of those that are shown and not pinned the cheapest, or NULL. */
static struct name_entry *cheapest(const struct names *names)
{
	struct name_entry *found = NULL;

	for (size_t i = 0; i < names->n; i++) {
		struct name_entry *e = names->at[i];

		if (e->shown && !e->pinned && (!found || e->cpu_ns < found->cpu_ns))
			found = e;
	}
	return found;
}

/* Of those that are not shown one that is pinned, else the dearest, or NULL. */
static struct name_entry *dearest(const struct names *names)
{
	struct name_entry *found = NULL;

	for (size_t i = 0; i < names->n; i++) {
		struct name_entry *e = names->at[i];

		if (e->shown || (found && found->pinned))
			continue;
		if (!found || e->pinned || e->cpu_ns > found->cpu_ns)
			found = e;
	}
	return found;
}

bool names_exchange(struct names *names, struct name_entry **ret_in, struct name_entry **ret_out)
{
	struct name_entry *in = dearest(names), *out = NULL;

	if (!in)
		return false;
	if (names->shown >= names->max_shown) {
		out = cheapest(names);
		if (!out || (!in->pinned && (in->cpu_ns < MARGIN_NS ||
					     (in->cpu_ns - MARGIN_NS) / 2 <= out->cpu_ns)))
			return false;
		out->shown = false;
		names->shown--;
	}
	in->shown = true;
	names->shown++;
	*ret_in = in;
	*ret_out = out;
	return true;
}

static int by_cost(const void *a, const void *b)
{
	const struct name_entry *x = *(struct name_entry *const *)a;
	const struct name_entry *y = *(struct name_entry *const *)b;
	bool x_stays = x->shown || x->users, y_stays = y->shown || y->users;

	if (x_stays != y_stays)
		return x_stays ? -1 : 1;
	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns > y->cpu_ns ? -1 : 1;
	return 0;
}

void names_trim(struct names *names)
{
	size_t most = 3 * names->max_shown;

	if (names->n <= most)
		return;
	qsort(names->at, names->n, sizeof(struct name_entry *), by_cost);
	while (names->n > most) {
		struct name_entry *last = names->at[names->n - 1];

		if (last->shown || last->users)
			return;
		entry_free(last);
		names->n--;
	}
}

size_t names_shown(const struct names *names)
{
	return names->shown;
}
