/* SPDX-License-Identifier: MIT */
/*
 * Rules may be any text, and names of functions too: the input is rules, a NUL, and names that end
 * with newlines. Each stack is taken by the first rule that says so, or by none.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "user/crosscheck/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void decide(const struct rules *rules, const char *name)
{
	struct rule_traits traits, none = { { 0 } };
	u32 rule;

	rules_traits(rules, name, name, &traits);
	rule = rules_first(rules, &traits, &traits);
	if (rule != RULES_NONE &&
	    (rule >= rules->nr_rules || rules->rules[rule].name >= rules->nr_buckets ||
	     !rule_takes(rules, &rules->rules[rule], &traits, &traits)))
		abort();
	for (u32 i = 0; i < rule && i < rules->nr_rules; i++) {
		if (rule_takes(rules, &rules->rules[i], &traits, &traits))
			abort();
	}
	(void)rules_first(rules, &none, &traits);
	for (u32 i = 0; i < rules->nr_overlaps; i++)
		(void)rule_takes(rules, &rules->overlaps[i], &none, &traits);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const uint8_t *end = memchr(bytes, '\0', n);
	size_t rules_n = end ? (size_t)(end - bytes) : n;
	u8 *copy = malloc(rules_n ? rules_n : 1); /* of exactly this size: a byte too far is seen */
	struct rules rules;
	char name[256];

	if (!copy)
		return 0;
	memcpy(copy, bytes, rules_n);
	if (!rules_parse((struct span){ copy, rules_n }, &rules, NULL)) {
		for (size_t at = rules_n + 1, i; at < n; at += i + 1) {
			for (i = 0; at + i < n && bytes[at + i] != '\n' && i < sizeof(name) - 1;
			     i++)
				name[i] = bytes[at + i] ? (char)bytes[at + i] : '?';
			name[i] = '\0';
			decide(&rules, name);
		}
	}
	rules_done(&rules);
	free(copy);
	return 0;
}
