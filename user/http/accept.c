/* SPDX-License-Identifier: MIT */
/* Content negotiation. Knows nothing of sockets or bodies; its input is a stranger's. */
#include "user/http/accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "types.h"

#define MAX_ELEMENTS 32	  /* of a list; more is nobody's real header */
#define MAX_QUALITY  1000 /* qualities are in thousandths */

/* A piece of the header, not terminated. */
struct part {
	const char *at;
	size_t n;
};

/* One element of the list: what is asked for, and its parameters that matter. */
struct element {
	struct part value;
	struct part version; /* at is NULL: none */
	u32 quality;
};

static const struct {
	const char *type, *version, *content_type;
} formats[NR_ACCEPT_FORMATS] = {
	[ACCEPT_TEXT_0_0_4] = { "text/plain", "0.0.4", "text/plain; version=0.0.4; charset=utf-8" },
	[ACCEPT_OPENMETRICS_1_0_0] = { "application/openmetrics-text", "1.0.0",
				       "application/openmetrics-text; version=1.0.0; "
				       "charset=utf-8" },
	[ACCEPT_OPENMETRICS_0_0_1] = { "application/openmetrics-text", "0.0.1",
				       "application/openmetrics-text; version=0.0.1; "
				       "charset=utf-8" },
};

static struct part part_trim(struct part p)
{
	while (p.n && (p.at[0] == ' ' || p.at[0] == '\t')) {
		p.at++;
		p.n--;
	}
	while (p.n && (p.at[p.n - 1] == ' ' || p.at[p.n - 1] == '\t'))
		p.n--;
	return p;
}

static bool part_is(struct part p, const char *text)
{
	return p.n == strlen(text) && !strncasecmp(p.at, text, p.n);
}

/* Take what stands before the next @separator outside quotes off the front of @rest. */
static struct part part_take(struct part *rest, char separator)
{
	struct part first = { rest->at, 0 };
	bool quoted = false;

	while (first.n < rest->n && (quoted || rest->at[first.n] != separator)) {
		char c = rest->at[first.n];

		if (quoted && c == '\\' && first.n + 1 < rest->n)
			first.n++;
		else if (c == '"')
			quoted = !quoted;
		first.n++;
	}
	rest->at += first.n;
	rest->n -= first.n;
	if (rest->n) { /* the separator */
		rest->at++;
		rest->n--;
	}
	return part_trim(first);
}

/* A quality in thousandths: "0", "0.75", "1.000". False if it is none. */
static bool quality_parse(struct part p, u32 *ret_quality)
{
	u32 quality, weight = MAX_QUALITY;

	if (!p.n || (p.at[0] != '0' && p.at[0] != '1') || (p.n > 1 && p.at[1] != '.') || p.n > 5)
		return false;
	quality = p.at[0] == '1' ? MAX_QUALITY : 0;
	for (size_t i = 2; i < p.n; i++) {
		if (p.at[i] < '0' || p.at[i] > '9')
			return false;
		weight /= 10;
		quality += (u32)(p.at[i] - '0') * weight;
	}
	*ret_quality = quality;
	return quality <= MAX_QUALITY;
}

static struct part part_unquote(struct part p)
{
	if (p.n >= 2 && p.at[0] == '"' && p.at[p.n - 1] == '"') {
		p.at++;
		p.n -= 2;
	}
	return p;
}

/* Read one element; false if it is malformed or empty. Unknown parameters are passed over. */
static bool element_parse(struct part text, struct element *ret_element)
{
	struct element e = { .quality = MAX_QUALITY };

	e.value = part_take(&text, ';');
	if (!e.value.n)
		return false;
	while (text.n) {
		struct part parameter = part_take(&text, ';');
		struct part name = part_take(&parameter, '=');
		struct part value = part_unquote(part_trim(parameter));

		if (part_is(name, "q") && !quality_parse(value, &e.quality))
			return false;
		if (part_is(name, "version"))
			e.version = value;
	}
	*ret_element = e;
	return true;
}

/* How closely an element describes a format; 0: not at all. */
static u32 element_closeness(const struct element *e, enum accept_format f)
{
	/* The old version of OpenMetrics is for those who ask for it by number. */
	bool by_number = f == ACCEPT_OPENMETRICS_0_0_1;
	const char *slash = strchr(formats[f].type, '/');
	size_t major = (size_t)(slash - formats[f].type) + 1;

	if (part_is(e->value, formats[f].type)) {
		if (!e->version.at)
			return by_number ? 0 : 3;
		if (part_is(e->version, formats[f].version))
			return 4;
		return f == ACCEPT_TEXT_0_0_4 && part_is(e->version, "1.0.0") ? 4 : 0;
	}
	if (by_number)
		return 0;
	if (e->value.n == major + 1 && e->value.at[major] == '*' &&
	    !strncasecmp(e->value.at, formats[f].type, major))
		return 2;
	return part_is(e->value, "*/*") ? 1 : 0;
}

/* What the list says of one format, by its closest element. */
struct verdict {
	u32 quality, closeness;
	size_t order;
};

static bool verdict_better(const struct verdict *a, const struct verdict *b)
{
	if (a->quality != b->quality)
		return a->quality > b->quality;
	if (a->closeness != b->closeness)
		return a->closeness > b->closeness;
	return a->order < b->order;
}

enum accept_format accept_format(const char *accept)
{
	struct verdict verdicts[NR_ACCEPT_FORMATS] = { 0 };
	struct part rest = { accept, accept ? strlen(accept) : 0 };
	enum accept_format best = ACCEPT_TEXT_0_0_4;
	struct element e;

	for (size_t i = 0; rest.n && i < MAX_ELEMENTS; i++) {
		if (!element_parse(part_take(&rest, ','), &e))
			continue;
		for (int f = 0; f < NR_ACCEPT_FORMATS; f++) {
			struct verdict v = { e.quality, element_closeness(&e, f), i };
			struct verdict *old = &verdicts[f];

			if (v.closeness > old->closeness ||
			    (v.closeness && v.closeness == old->closeness &&
			     v.quality > old->quality))
				*old = v;
		}
	}
	for (int f = 0; f < NR_ACCEPT_FORMATS; f++) {
		if (verdicts[f].quality && verdict_better(&verdicts[f], &verdicts[best]))
			best = f;
	}
	return best;
}

const char *accept_content_type(enum accept_format format)
{
	return formats[format].content_type;
}

bool accept_gzip(const char *accept_encoding, bool plain_will_do)
{
	struct part rest = { accept_encoding, accept_encoding ? strlen(accept_encoding) : 0 };
	u32 gzip = 0, any = 0, identity = 0;
	bool named = false, identity_named = false, any_named = false;
	struct element e;

	for (size_t i = 0; rest.n && i < MAX_ELEMENTS; i++) {
		if (!element_parse(part_take(&rest, ','), &e))
			continue;
		if (part_is(e.value, "gzip") || part_is(e.value, "x-gzip")) {
			named = true;
			gzip = e.quality;
		} else if (part_is(e.value, "identity")) {
			identity = e.quality;
			identity_named = true;
		} else if (part_is(e.value, "*")) {
			any = e.quality;
			any_named = true;
		}
	}
	if (!named)
		gzip = any;
	/* What no element speaks of may be sent (RFC 9110, 12.5.3). */
	if (plain_will_do && (identity_named ? identity : !any_named || any))
		return false;
	return gzip && gzip >= identity;
}
