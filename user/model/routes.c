/* SPDX-License-Identifier: MIT */
/* Routes become one machine: sets of places in them are its states (subset construction). */
#include "user/model/routes.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands at one place of a route. */
enum element_kind {
	ELEMENT_BYTE,
	ELEMENT_VARIABLE, /* one or more bytes up to the next slash */
	ELEMENT_REST,	  /* any bytes, also none */
};

struct element {
	u8 kind; /* enum element_kind */
	u8 byte;
};

struct pattern {
	struct element at[KIND_NAME_BYTES];
	u32 n;
};

/* Places in which a route can be: bit i of word r is place i of route r. At most 60 places. */
struct places {
	u64 of[MAX_ROUTES];
};
_Static_assert(KIND_NAME_BYTES <= 64, "a place for each byte of a route, and one behind it");

struct machine {
	struct pattern patterns[MAX_ROUTES];
	u32 n;
	struct places *sets;		   /* of each state */
	u64 *hashes;			   /* of @sets */
	bool told_apart[NR_ROUTE_SYMBOLS]; /* bytes that routes have; for the rest the last one */
	struct routes *routes;
};

/* --- patterns --- */

static bool is_method(const char *word, size_t n)
{
	static const char *const methods[] = { "GET",	"PUT",	  "HEAD",    "POST",   "TRACE",
					       "PATCH", "DELETE", "CONNECT", "OPTIONS" };

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strlen(methods[i]) == n && !strncmp(methods[i], word, n))
			return true;
	}
	return false;
}

static int check_route(const char *word, struct err *err)
{
	const char *path = strchr(word, ' ');

	if (!path || path[1] != '/' || !is_method(word, (size_t)(path - word)))
		return err_set(err, -EINVAL,
			       "--route '%s': it is to be a method of HTTP, a space and a path: "
			       "'GET /metadata/:key'",
			       word);
	if (strlen(word) >= KIND_NAME_BYTES)
		return err_set(err, -EINVAL, "--route '%s': it has more than %d bytes", word,
			       KIND_NAME_BYTES - 1);
	for (const char *c = path + 1; *c; c++) {
		if (*c <= ' ' || *c >= 0x7f || strchr("?#\"\\", *c))
			return err_set(err, -EINVAL,
				       "--route '%s': a path has no spaces, queries, quotes or "
				       "bytes that are no ASCII text",
				       word);
	}
	return 0;
}

static int compile(const char *word, struct pattern *ret, struct err *err)
{
	const char *c = word;
	int r = check_route(word, err);

	if (r)
		return r;
	ret->n = 0;
	while (*c) {
		struct element *e = &ret->at[ret->n++];
		size_t name = strcspn(c, "/");

		*e = (struct element){ ELEMENT_BYTE, (u8)*c };
		if (c == word || c[-1] != '/' || (*c != ':' && *c != '*')) {
			c++;
			continue;
		}
		if (*c == ':' && name < 2)
			return err_set(err, -EINVAL, "--route '%s': a variable has a name: `:key`",
				       word);
		if (*c == '*' && c[name])
			return err_set(err, -EINVAL, "--route '%s': `*` stands only at the end",
				       word);
		e->kind = *c == ':' ? ELEMENT_VARIABLE : ELEMENT_REST;
		c += name;
	}
	return 0;
}

/* --- the machine --- */

static u64 step(const struct pattern *p, u64 places, u32 symbol)
{
	u64 next = 0;

	for (u32 i = 0; i <= p->n; i++) {
		const struct element *e = &p->at[i];
		bool inside = i && p->at[i - 1].kind == ELEMENT_VARIABLE;

		if (!(places & 1ULL << i))
			continue;
		if (inside && symbol != '/')
			next |= 1ULL << i;
		if (i == p->n)
			continue;
		if (e->kind == ELEMENT_REST)
			next |= 1ULL << i;
		else if (e->kind == ELEMENT_VARIABLE ? symbol != '/' : symbol == e->byte)
			next |= 1ULL << (i + 1);
	}
	return next;
}

static bool fits(const struct pattern *p, u64 places)
{
	bool rest = p->n && p->at[p->n - 1].kind == ELEMENT_REST;

	return places & 1ULL << p->n || (rest && places & 1ULL << (p->n - 1));
}

static u64 hash_of(const struct places *set)
{
	u64 hash = 0;

	for (u32 r = 0; r < MAX_ROUTES; r++)
		hash = (hash ^ set->of[r]) * 0x9e3779b97f4a7c15ULL + (hash >> 29);
	return hash;
}

/* The state of @set, a new one if there is none; 0 for the empty set. -ENOSPC. */
static int state_of(struct machine *m, const struct places *set)
{
	static const struct places none;
	u32 i = m->routes->nr_states;
	u64 hash;

	if (!memcmp(set, &none, sizeof(none)))
		return 0;
	hash = hash_of(set);
	for (u32 k = ROUTE_BEGIN; k < i; k++) {
		if (m->hashes[k] == hash && !memcmp(&m->sets[k], set, sizeof(*set)))
			return (int)k;
	}
	if (i == MAX_ROUTE_STATES)
		return -ENOSPC;
	m->sets[i] = *set;
	m->hashes[i] = hash;
	for (u32 r = m->n; r-- > 0;) {
		if (fits(&m->patterns[r], set->of[r]))
			m->routes->states[i].route1 = r + 1;
	}
	m->routes->nr_states++;
	return (int)i;
}

static int fill_state(struct machine *m, u32 i)
{
	struct route_state *s = &m->routes->states[i];

	for (u32 symbol = NR_ROUTE_SYMBOLS; symbol-- > 0;) {
		struct places next = { { 0 } };
		int state;

		s->next[symbol] = s->next[NR_ROUTE_SYMBOLS - 1];
		if (!m->told_apart[symbol])
			continue;
		for (u32 r = 0; r < m->n; r++)
			next.of[r] = step(&m->patterns[r], m->sets[i].of[r], symbol);
		state = state_of(m, &next);
		if (state < 0)
			return state;
		s->next[symbol] = (u16)state;
	}
	return 0;
}

static int build(struct machine *m, struct err *err)
{
	struct places begin = { { 0 } };
	struct routes *routes = m->routes;
	int r;

	m->told_apart['/'] = m->told_apart[NR_ROUTE_SYMBOLS - 1] = true;
	for (u32 i = 0; i < m->n; i++) {
		begin.of[i] = 1;
		for (u32 k = 0; k < m->patterns[i].n; k++)
			m->told_apart[m->patterns[i].at[k].byte] = true;
	}
	routes->nr_states = ROUTE_BEGIN;
	r = state_of(m, &begin);
	for (u32 i = ROUTE_BEGIN; r >= 0 && i < routes->nr_states; i++)
		r = fill_state(m, i);
	if (r < 0)
		return err_set(err, -EINVAL, "--route: %u routes are too many to tell apart", m->n);
	return 0;
}

int routes_build(const char *const *words, size_t n, struct routes *ret_routes, struct err *err)
{
	struct machine *m;
	int r = 0;

	*ret_routes = (struct routes){ 0 };
	if (!n)
		return 0;
	if (n > MAX_ROUTES)
		return err_set(err, -EINVAL, "--route: at most %d routes", MAX_ROUTES);
	m = calloc(1, sizeof(*m));
	if (!m)
		return err_set(err, -ENOMEM, "no memory for routes");
	m->routes = ret_routes;
	m->sets = calloc(MAX_ROUTE_STATES, sizeof(*m->sets));
	m->hashes = calloc(MAX_ROUTE_STATES, sizeof(*m->hashes));
	ret_routes->states = calloc(MAX_ROUTE_STATES, sizeof(*ret_routes->states));
	if (!m->sets || !m->hashes || !ret_routes->states)
		r = err_set(err, -ENOMEM, "no memory for routes");
	for (; m->n < n && !r; m->n++) {
		r = compile(words[m->n], &m->patterns[m->n], err);
		if (!r)
			snprintf(ret_routes->names[m->n].name, KIND_NAME_BYTES, "%s", words[m->n]);
	}
	ret_routes->n = m->n;
	if (!r)
		r = build(m, err);
	free(m->sets);
	free(m->hashes);
	free(m);
	return r;
}

void routes_done(struct routes *routes)
{
	free(routes->states);
	*routes = (struct routes){ 0 };
}

/* --- good responses --- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that is written at *@c, which moves behind it; -1 for a wrong escape. */
static int take_byte(const char **c)
{
	static const char letters[] = "nrt\\", bytes[] = "\n\r\t\\";
	const char *letter;
	int high, low;

	if (**c != '\\')
		return (u8) * (*c)++;
	(*c)++;
	letter = **c ? strchr(letters, **c) : NULL;
	if (letter) {
		(*c)++;
		return bytes[letter - letters];
	}
	if (**c != 'x')
		return -1;
	high = hex_digit((*c)[1]);
	low = high < 0 ? -1 : hex_digit((*c)[2]);
	if (low < 0)
		return -1;
	*c += 3;
	return high * 16 + low;
}

static int parse_prefix(const char *word, const char *text, struct good_rule *ret, struct err *err)
{
	while (*text) {
		int byte = take_byte(&text);

		if (byte < 0)
			return err_set(err, -EINVAL,
				       "--good '%s': behind \\ stands n, r, t, \\ or xHH", word);
		if (ret->n == GOOD_PREFIX_BYTES)
			return err_set(err, -EINVAL,
				       "--good '%s': the prefix has more than %d "
				       "bytes",
				       word, GOOD_PREFIX_BYTES);
		ret->prefix[ret->n++] = (u8)byte;
	}
	if (!ret->n)
		return err_set(err, -EINVAL, "--good '%s': the prefix is empty", word);
	return 0;
}

static int parse_least(const char *word, const char *text, struct good_rule *ret, struct err *err)
{
	size_t digits = strspn(text, "0123456789");

	if (!digits || text[digits] || digits > 15)
		return err_set(err, -EINVAL, "--good '%s': `%s` is not a number of bytes", word,
			       text);
	ret->min_bytes = strtoull(text, NULL, 10);
	return 0;
}

int good_parse(const char *word, struct good_kind *ret_good, struct err *err)
{
	static const char prefix[] = "=prefix:", least[] = "=min-bytes:";
	const char *p = strstr(word, prefix), *l = strstr(word, least);
	const char *rule = p && (!l || p < l) ? p : l;

	*ret_good = (struct good_kind){ 0 };
	if (!rule || rule == word)
		return err_set(err, -EINVAL,
			       "--good '%s': it is to be KIND=prefix:TEXT or KIND=min-bytes:N, as "
			       "'POST /event=prefix:{\"patches\":[{'",
			       word);
	if (rule - word >= KIND_NAME_BYTES)
		return err_set(err, -EINVAL, "--good '%s': no kind has so long a name", word);
	memcpy(ret_good->kind.name, word, (size_t)(rule - word));
	return rule == p ? parse_prefix(word, rule + strlen(prefix), &ret_good->rule, err)
			 : parse_least(word, rule + strlen(least), &ret_good->rule, err);
}
