/* SPDX-License-Identifier: MIT */
/* Routes as one machine, and rules for responses (user/model/routes.h). */
#include <errno.h>
#include <string.h>

#include "tests/lib/check.h"
#include "user/model/routes.h"

/* What the machine says of a whole method and path: 1 + the route, 0 for none. */
static u32 walk(const struct routes *routes, const char *text)
{
	u32 state = ROUTE_BEGIN;

	for (; *text; text++) {
		u8 c = (u8)*text;

		state = routes->states[state].next[c < NR_ROUTE_SYMBOLS ? c : NR_ROUTE_SYMBOLS - 1];
		CHECK(state < routes->nr_states);
	}
	return routes->states[state].route1;
}

static void build(struct routes *routes, const char *const *words, size_t n)
{
	struct err err = { { 0 } };

	CHECK_EQ_INT(routes_build(words, n, routes, &err), 0);
	CHECK_STR(err.text, "");
}

TEST(routes_are_told_apart)
{
	static const char *const words[] = { "GET /metadata/:key", "GET /metadata",
					     "POST /_sky/event", "GET /a/:b/c/:d",
					     "GET /static/*" };
	struct routes r;

	build(&r, words, 5);
	CHECK_EQ_U64(walk(&r, "GET /metadata/x"), 1);
	CHECK_EQ_U64(walk(&r, "GET /metadata/%20\xff"), 1);
	CHECK_EQ_U64(walk(&r, "GET /metadata"), 2);
	CHECK_EQ_U64(walk(&r, "GET /metadata/"), 0); /* a variable is not empty */
	CHECK_EQ_U64(walk(&r, "GET /metadata/x/"), 0);
	CHECK_EQ_U64(walk(&r, "PUT /metadata/x"), 0);
	CHECK_EQ_U64(walk(&r, "POST /_sky/event"), 3);
	CHECK_EQ_U64(walk(&r, "POST /_sky/even"), 0);
	CHECK_EQ_U64(walk(&r, "POST /_sky/events"), 0);
	CHECK_EQ_U64(walk(&r, "GET /a/1/c/2"), 4);
	CHECK_EQ_U64(walk(&r, "GET /a//c/2"), 0);
	CHECK_EQ_U64(walk(&r, "GET /static/"), 5);
	CHECK_EQ_U64(walk(&r, "GET /static/css/x.css"), 5);
	CHECK_EQ_U64(walk(&r, "GET /static"), 0);
	CHECK_EQ_U64(walk(&r, ""), 0);
	CHECK_STR(r.names[3].name, "GET /a/:b/c/:d");
	routes_done(&r);
}

TEST(routes_the_first_that_fits_counts)
{
	static const char *const words[] = { "GET /m/list", "GET /m/:key", "GET /m/lost",
					     "GET /*all" };
	struct routes r;

	build(&r, words, 4);
	CHECK_EQ_U64(walk(&r, "GET /m/list"), 1);
	CHECK_EQ_U64(walk(&r, "GET /m/lis"), 2);
	CHECK_EQ_U64(walk(&r, "GET /m/lists"), 2);
	CHECK_EQ_U64(walk(&r, "GET /m/lost"), 2);
	CHECK_EQ_U64(walk(&r, "GET /m/a/b"), 4);
	CHECK_EQ_U64(walk(&r, "GET /"), 4);
	routes_done(&r);
}

TEST(routes_a_literal_may_have_what_marks_variables)
{
	static const char *const words[] = { "GET /a:b/x*", "GET /:a" };
	struct routes r;

	build(&r, words, 2);
	CHECK_EQ_U64(walk(&r, "GET /a:b/x*"), 1);
	CHECK_EQ_U64(walk(&r, "GET /a:b/xy"), 0);
	CHECK_EQ_U64(walk(&r, "GET /a:b"), 2);
	routes_done(&r);
}

TEST(routes_none_is_an_empty_machine)
{
	struct routes r;

	build(&r, NULL, 0);
	CHECK_EQ_U64(r.n, 0);
	CHECK_EQ_U64(r.nr_states, 0);
	routes_done(&r);
}

/* As many as there may be, as long as they may be, with variables where they hurt most. */
TEST(routes_the_largest_machine_is_built_or_refused)
{
	char text[MAX_ROUTES][KIND_NAME_BYTES];
	const char *words[MAX_ROUTES];
	struct err err = { { 0 } };
	struct routes r;

	for (u32 i = 0; i < MAX_ROUTES; i++) {
		snprintf(text[i], sizeof(text[i]),
			 "GET /%c%c/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/%c", 'a' + i % 26,
			 'a' + i / 26, 'a' + i % 26);
		words[i] = text[i];
	}
	build(&r, words, MAX_ROUTES);
	for (u32 i = 0; i < MAX_ROUTES; i++)
		CHECK_EQ_U64(walk(&r, text[i]), i + 1);
	routes_done(&r);
	/* Every mixture of `:x` and `a` in ten segments: sets multiply. */
	for (u32 i = 0; i < MAX_ROUTES; i++) {
		int n = snprintf(text[i], sizeof(text[i]), "GET ");

		for (u32 k = 0; k < 6; k++)
			n += snprintf(text[i] + n, sizeof(text[i]) - (size_t)n, "/%s",
				      i >> k & 1 ? ":x" : "aaa");
	}
	if (routes_build(words, MAX_ROUTES, &r, &err))
		CHECK(strstr(err.text, "too many to tell apart"));
	else
		CHECK_EQ_U64(walk(&r, "GET /aaa/b/aaa/aaa/aaa/aaa"), 3);
	routes_done(&r);
}

static void refused(const char *word, const char *why)
{
	struct err err = { { 0 } };
	struct routes r;

	CHECK_EQ_INT(routes_build(&word, 1, &r, &err), -EINVAL);
	CHECK(strstr(err.text, why));
	CHECK(strstr(err.text, "--route"));
	routes_done(&r);
}

TEST(routes_that_are_none_are_refused)
{
	refused("/metadata/:key", "a method of HTTP");
	refused("GETT /a", "a method of HTTP");
	refused("get /a", "a method of HTTP");
	refused("GET", "a method of HTTP");
	refused("GET a", "a method of HTTP");
	refused("GET  /a", "a method of HTTP");
	refused("GET /a b", "no spaces");
	refused("GET /a?b", "no spaces");
	refused("GET /\"", "no spaces");
	refused("GET /\x80", "no spaces");
	refused("GET /a/:", "has a name");
	refused("GET /:/a", "has a name");
	refused("GET /*a/b", "only at the end");
	refused("GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		"more than 59 bytes");
}

TEST(routes_are_limited)
{
	const char *words[MAX_ROUTES + 1];
	struct err err = { { 0 } };
	struct routes r;

	for (u32 i = 0; i <= MAX_ROUTES; i++)
		words[i] = "GET /a";
	CHECK_EQ_INT(routes_build(words, MAX_ROUTES + 1, &r, &err), -EINVAL);
	CHECK(strstr(err.text, "at most 64"));
	routes_done(&r);
}

TEST(good_rules_are_read)
{
	struct err err = { { 0 } };
	struct good_kind g;

	CHECK_EQ_INT(good_parse("POST /e=prefix:{\"patches\":[{", &g, &err), 0);
	CHECK_STR(g.kind.name, "POST /e");
	CHECK_EQ_U64(g.rule.n, 13);
	CHECK(!memcmp(g.rule.prefix, "{\"patches\":[{", 13));
	CHECK_EQ_INT(good_parse("GET /a=prefix:\\x00\\n\\\\=min-bytes:1", &g, &err), 0);
	CHECK_EQ_U64(g.rule.n, 15);
	CHECK(!memcmp(g.rule.prefix, "\0\n\\=min", 7));
	CHECK_EQ_INT(good_parse("GET /a=b=min-bytes:400", &g, &err), 0);
	CHECK_STR(g.kind.name, "GET /a=b");
	CHECK_EQ_U64(g.rule.n, 0);
	CHECK_EQ_U64(g.rule.min_bytes, 400);
}

static void bad_rule(const char *word, const char *why)
{
	struct err err = { { 0 } };
	struct good_kind g;

	CHECK_EQ_INT(good_parse(word, &g, &err), -EINVAL);
	CHECK(strstr(err.text, why));
}

TEST(good_rules_that_are_none_are_refused)
{
	bad_rule("GET /a", "KIND=prefix:TEXT");
	bad_rule("GET /a=400", "KIND=prefix:TEXT");
	bad_rule("=prefix:x", "KIND=prefix:TEXT");
	bad_rule("GET /a=prefix:", "is empty");
	bad_rule("GET /a=prefix:\\q", "behind \\");
	bad_rule("GET /a=prefix:\\x1", "behind \\");
	bad_rule("GET /a=prefix:\\", "behind \\");
	bad_rule("GET /a=min-bytes:", "not a number");
	bad_rule("GET /a=min-bytes:-1", "not a number");
	bad_rule("GET /a=min-bytes:4k", "not a number");
	bad_rule("GET /a=prefix:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
		 "more than 64");
	bad_rule("GET /aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=prefix:a",
		 "so long a name");
}
