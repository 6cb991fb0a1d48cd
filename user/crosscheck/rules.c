/* SPDX-License-Identifier: MIT */
/* What rules decide. How they are written is in rules_parse.c. */
#include "user/crosscheck/rules.h"

#include <string.h>

void rules_done(struct rules *rules)
{
	for (u32 i = 0; i < rules->nr_patterns; i++) {
		if (rules->patterns[i].way == RULE_REGEX)
			regfree(&rules->patterns[i].regex);
	}
	arena_done(&rules->arena);
	*rules = (struct rules){ 0 };
}

/*
 * The path ends with its last slash before anything in brackets; the package with the first dot
 * behind that. Dots of the last element of a path are %2e in names of symbols.
 *
 * Source: Go cmd/internal/objabi/path.go (PathToPrefix).
 */
void rules_package(const char *function, size_t *ret_n)
{
	size_t path = 0, i;

	for (i = 0; function[i] && function[i] != '[' && function[i] != '('; i++) {
		if (function[i] == '/')
			path = i + 1;
	}
	for (i = path; function[i] && function[i] != '[' && function[i] != '('; i++) {
		if (function[i] == '.') {
			*ret_n = i;
			return;
		}
	}
	*ret_n = 0;
}

static bool begins_at(const char *text, size_t n, size_t at, const char *part, size_t part_n)
{
	return at <= n && n - at >= part_n && !memcmp(text + at, part, part_n);
}

/* @text has @n bytes, and a NUL somewhere behind them. */
static bool matches(const struct rule_pattern *p, const char *text, size_t n)
{
	size_t part_n = strlen(p->text);
	regmatch_t range = { .rm_so = 0, .rm_eo = (regoff_t)n };

	switch (p->way) {
	case RULE_EQUAL:
		return n == part_n && !memcmp(text, p->text, n);
	case RULE_BEGIN:
		return begins_at(text, n, 0, p->text, part_n);
	case RULE_END:
		return n >= part_n && begins_at(text, n, n - part_n, p->text, part_n);
	case RULE_INSIDE:
		for (size_t at = 0; at + part_n <= n; at++) {
			if (begins_at(text, n, at, p->text, part_n))
				return true;
		}
		return false;
	default:
		return !regexec(&p->regex, text, 1, &range, REG_STARTEND);
	}
}

void rules_traits(const struct rules *rules, const char *function, const char *file,
		  struct rule_traits *ret_traits)
{
	size_t bytes[NR_RULE_ASPECTS] = {
		[RULE_FUNC] = strlen(function), [RULE_FILE] = strlen(file)
	};

	rules_package(function, &bytes[RULE_PKG]);
	*ret_traits = (struct rule_traits){ { 0 } };
	for (u32 i = 0; i < rules->nr_patterns; i++) {
		const struct rule_pattern *p = &rules->patterns[i];

		if (matches(p, p->aspect == RULE_FILE ? file : function, bytes[p->aspect]))
			ret_traits->bits[i / 64] |= 1ull << i % 64;
	}
}

void rule_traits_add(struct rule_traits *sum, const struct rule_traits *more)
{
	for (size_t i = 0; i < sizeof(sum->bits) / sizeof(sum->bits[0]); i++)
		sum->bits[i] |= more->bits[i];
}

static bool has(const struct rule_traits *t, u32 pattern)
{
	return t->bits[pattern / 64] >> pattern % 64 & 1;
}

bool rule_takes(const struct rules *rules, const struct rule *rule, const struct rule_traits *self,
		const struct rule_traits *stack)
{
	for (u32 i = 0; i < rule->nr_conditions; i++) {
		const struct rule_condition *c = &rules->conditions[rule->first_condition + i];
		bool holds = c->pattern == RULES_NONE || has(c->self ? self : stack, c->pattern);

		if (holds == c->not )
			return false;
	}
	return true;
}

u32 rules_first(const struct rules *rules, const struct rule_traits *self,
		const struct rule_traits *stack)
{
	for (u32 i = 0; i < rules->nr_rules; i++) {
		if (rule_takes(rules, &rules->rules[i], self, stack))
			return i;
	}
	return RULES_NONE;
}
