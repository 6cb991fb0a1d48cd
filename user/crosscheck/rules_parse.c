/* SPDX-License-Identifier: MIT */
/* Reading a file of rules. Knows nothing of stacks. */
#include <errno.h>
#include <string.h>

#include "user/crosscheck/rules.h"

/* Where a file is read. */
struct reading {
	struct rules *rules;
	struct err *err;
	u32 line;
	char text[RULES_MAX_LINE]; /* of the line; words are cut out of it */
	char *at;		   /* what of it has not been read */
	bool has_version;
	int code; /* of the fault that was found, with its text in err; 0: none */
};

static int fault(struct reading *r, const char *what, const char *word)
{
	r->code = err_set(r->err, -EINVAL, "line %u: %s%s%s%s", r->line, what, word ? " `" : "",
			  word ? word : "", word ? "`" : "");
	return r->code;
}

static int too_many(struct reading *r, u32 limit, const char *of)
{
	r->code = err_set(r->err, -E2BIG, "line %u: more than %u %s", r->line, limit, of);
	return r->code;
}

static int no_memory(struct reading *r)
{
	r->code = err_set(r->err, -ENOMEM, "no memory for the rules");
	return r->code;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* The end of /ERE/ with its slash, or NULL. \/ becomes /. */
static char *end_of_regex(char *word)
{
	char *to = word + 1;

	for (char *c = word + 1; *c; c++) {
		if (*c == '/') {
			*to = '\0';
			return c + 1;
		}
		if (*c == '\\' && c[1]) {
			if (c[1] != '/')
				*to++ = *c;
			c++;
		}
		*to++ = *c;
	}
	return NULL;
}

/*
 * The next word. NULL at the end of the line, at a comment, and after a fault. Of a regular
 * expression the first slash stays and the last one goes, with what it escapes.
 */
static char *next_word(struct reading *r)
{
	char *word = r->at, *end;

	while (is_blank(*word))
		word++;
	if (!*word || *word == '#') {
		r->at = word + strlen(word);
		return NULL;
	}
	if (*word == '/') {
		end = end_of_regex(word);
		if (!end || (*end && !is_blank(*end))) {
			(void)fault(r, "a regular expression ends with / and a blank:", word);
			return NULL;
		}
	} else {
		end = word + strcspn(word, " \t");
	}
	r->at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

/* The same where there must be one: NULL is a fault. */
static char *want_word(struct reading *r, const char *what)
{
	char *word = next_word(r);

	if (!word && !r->code)
		(void)fault(r, what, NULL);
	return word;
}

/*
 * Memory and time of the C library's matcher are bounded without them: {} and + are unrolled, one
 * in another to any size (each + of a group doubles it), sets of states grow with the square of the
 * length, and references back are tried in every way.
 */
static const char *refused_in_regex(const char *text)
{
	u32 doublings = 0;
	char before = 0;

	if (strlen(text) > RULES_MAX_REGEX_LEN)
		return "more than 256 bytes are refused in";
	for (; *text; before = *text++) {
		if (*text == '\\' && text[1]) {
			if (text[1] >= '1' && text[1] <= '9')
				return "a reference back is refused in";
			text++;
		} else if (*text == '{') {
			return "{} is refused in";
		} else if (*text == '+' && before && strchr(")+*?", before)) {
			if (++doublings > RULES_MAX_REGEX_DOUBLINGS)
				return "more than one + after a group or a repeat is refused in";
		}
	}
	return NULL;
}

static int compile(struct reading *r, struct rule_pattern *p)
{
	const char *refused = refused_in_regex(p->text);
	char why[128];
	int e;

	if (refused)
		return fault(r, refused, p->text);
	e = regcomp(&p->regex, p->text, REG_EXTENDED | REG_NOSUB);
	if (!e)
		return 0;
	p->way = RULE_EQUAL; /* nothing to free */
	regerror(e, &p->regex, why, sizeof(why));
	r->code = err_set(r->err, e == REG_ESPACE ? -ENOMEM : -EINVAL, "line %u: `%s`: %s", r->line,
			  p->text, why);
	return r->code;
}

/* The same pattern is held once. */
static int add_pattern(struct reading *r, enum rule_aspect aspect, char *word, u32 *ret_pattern)
{
	struct rules *rules = r->rules;
	struct rule_pattern p = { .aspect = aspect, .way = RULE_EQUAL, .text = word };
	size_t n = strlen(word);

	if (*word == '/') {
		p.way = RULE_REGEX;
		p.text = word + 1;
	} else if (n > 2 && word[0] == '*' && word[n - 1] == '*') {
		p.way = RULE_INSIDE;
		word[n - 1] = '\0';
		p.text = word + 1;
	} else if (n > 1 && word[0] == '*') {
		p.way = RULE_END;
		p.text = word + 1;
	} else if (n > 1 && word[n - 1] == '*') {
		p.way = RULE_BEGIN;
		word[n - 1] = '\0';
	}
	for (u32 i = 0; i < rules->nr_patterns; i++) {
		const struct rule_pattern *q = &rules->patterns[i];

		if (q->aspect == aspect && q->way == p.way && !strcmp(q->text, p.text)) {
			*ret_pattern = i;
			return 0;
		}
	}
	if (rules->nr_patterns == RULES_MAX_PATTERNS)
		return too_many(r, RULES_MAX_PATTERNS, "patterns");
	p.text = arena_strdup(&rules->arena, p.text);
	if (!p.text)
		return no_memory(r);
	*ret_pattern = rules->nr_patterns++;
	rules->patterns[*ret_pattern] = p;
	return p.way == RULE_REGEX ? compile(r, &rules->patterns[*ret_pattern]) : 0;
}

/* [func|pkg|file] PATTERN */
static int read_pattern(struct reading *r, u32 *ret_pattern)
{
	static const char *const aspects[NR_RULE_ASPECTS] = { "func", "pkg", "file" };
	static const char missing[] = "a pattern is missing at the end";
	char *word = want_word(r, missing);
	u32 aspect = NR_RULE_ASPECTS;

	while (word && aspect > 0 && strcmp(word, aspects[aspect - 1]) != 0)
		aspect--;
	if (aspect > 0)
		word = want_word(r, missing);
	if (!word)
		return r->code;
	return add_pattern(r, aspect ? (enum rule_aspect)(aspect - 1) : RULE_FUNC, word,
			   ret_pattern);
}

static int read_condition(struct reading *r, const char *word)
{
	struct rule_condition c = { .pattern = RULES_NONE };

	if (r->rules->nr_conditions == RULES_MAX_CONDITIONS)
		return too_many(r, RULES_MAX_CONDITIONS, "conditions");
	if (strcmp(word, "any") != 0) {
		c.not = *word == '!';
		word += c.not ;
		c.self = !strcmp(word, "self");
		if (!c.self && strcmp(word, "stack") != 0)
			return fault(r, "a condition begins with self, stack or any, not with",
				     word);
		if (read_pattern(r, &c.pattern))
			return r->code;
	}
	r->rules->conditions[r->rules->nr_conditions++] = c;
	return 0;
}

/* Conditions up to `;` or the end. *ret_more: there was a `;`. */
static int read_conjunction(struct reading *r, struct rule *rule, bool *ret_more)
{
	const char *word;

	rule->first_condition = r->rules->nr_conditions;
	*ret_more = false;
	do {
		word = want_word(r, "a condition is missing at the end");
		if (!word || read_condition(r, word))
			return r->code;
		word = next_word(r);
	} while (word && !strcmp(word, "&"));
	rule->nr_conditions = r->rules->nr_conditions - rule->first_condition;
	if (word && strcmp(word, ";") != 0)
		return fault(r, "between conditions stands & or ;, not", word);
	*ret_more = word;
	return r->code;
}

/* The index of a name in a table of RULES_MAX_NAMES; a new one is added. */
static int add_name(struct reading *r, const char *word, const char **names, u32 *n, u32 *ret_index)
{
	for (u32 i = 0; i < *n; i++) {
		if (!strcmp(names[i], word)) {
			*ret_index = i;
			return 0;
		}
	}
	if (*n == RULES_MAX_NAMES)
		return too_many(r, RULES_MAX_NAMES, "names");
	names[*n] = arena_strdup(&r->rules->arena, word);
	if (!names[*n])
		return no_memory(r);
	*ret_index = (*n)++;
	return 0;
}

/* The name and the alternatives of one line, to @list. */
static int read_rules(struct reading *r, struct rule *list, u32 *nr_list, const char **names,
		      u32 *nr_names)
{
	struct rule rule = { .line = r->line };
	const char *word = want_word(r, "a name is missing");
	bool more = true;

	if (!word || add_name(r, word, names, nr_names, &rule.name))
		return r->code;
	while (more) {
		if (*nr_list == RULES_MAX_RULES)
			return too_many(r, RULES_MAX_RULES, "rules");
		if (read_conjunction(r, &rule, &more))
			return r->code;
		list[(*nr_list)++] = rule;
	}
	return 0;
}

static int add_to_sum(struct reading *r, struct rule_sum *sum, const char *word)
{
	for (u32 i = 0; i < r->rules->nr_buckets; i++) {
		if (strcmp(r->rules->bucket_names[i], word) != 0)
			continue;
		if (sum->buckets >> i & 1)
			return fault(r, "twice in one sum:", word);
		sum->buckets |= 1ull << i;
		return 0;
	}
	return fault(r, "no line above has a bucket", word);
}

static int read_sum(struct reading *r)
{
	struct rules *rules = r->rules;
	struct rule_sum sum = { 0 };
	const char *name = want_word(r, "a name is missing");
	const char *word = name ? want_word(r, "= is missing") : NULL;

	if (!word)
		return r->code;
	if (strcmp(word, "=") != 0)
		return fault(r, "a sum is written NAME = BUCKET..., not", word);
	for (word = want_word(r, "a bucket is missing"); word; word = next_word(r)) {
		if (add_to_sum(r, &sum, word))
			return r->code;
	}
	if (r->code)
		return r->code;
	if (rules->nr_sums == RULES_MAX_NAMES)
		return too_many(r, RULES_MAX_NAMES, "sums");
	sum.name = arena_strdup(&rules->arena, name);
	if (!sum.name)
		return no_memory(r);
	rules->sums[rules->nr_sums++] = sum;
	return 0;
}

static int read_version(struct reading *r)
{
	const char *word = want_word(r, "the version is missing");

	if (!word)
		return r->code;
	if (strcmp(word, "1") != 0)
		return fault(r, "this skyobserve knows version 1 of rules, not", word);
	r->has_version = true;
	word = next_word(r);
	return word ? fault(r, "more than a version:", word) : r->code;
}

static int read_line(struct reading *r)
{
	struct rules *rules = r->rules;
	const char *word = next_word(r);

	if (!word)
		return r->code;
	if (!strcmp(word, "version"))
		return read_version(r);
	if (!r->has_version)
		return fault(r, "the first line of rules is `version 1`, not", word);
	if (!strcmp(word, "bucket"))
		return read_rules(r, rules->rules, &rules->nr_rules, rules->bucket_names,
				  &rules->nr_buckets);
	if (!strcmp(word, "overlap"))
		return read_rules(r, rules->overlaps, &rules->nr_overlaps, rules->overlap_names,
				  &rules->nr_overlap_names);
	if (!strcmp(word, "sum"))
		return read_sum(r);
	return fault(r, "a line begins with bucket, overlap or sum, not with", word);
}

/* Cut the next line off *@text. */
static int take_line(struct reading *r, struct span *text)
{
	const u8 *newline = memchr(text->at, '\n', text->n);
	size_t n = newline ? (size_t)(newline - text->at) : text->n;

	r->line++;
	if (n >= sizeof(r->text))
		return err_set(r->err, -E2BIG, "line %u: longer than %zu bytes", r->line,
			       sizeof(r->text) - 1);
	if (memchr(text->at, '\0', n))
		return fault(r, "rules are text; there is a byte 0 in it", NULL);
	memcpy(r->text, text->at, n);
	if (n && r->text[n - 1] == '\r')
		n--;
	r->text[n] = '\0';
	r->at = r->text;
	(void)span_skip(text, newline ? (u64)(newline - text->at) + 1 : text->n);
	return 0;
}

static bool make_tables(struct rules *rules)
{
	struct arena *a = &rules->arena;

	rules->patterns = arena_zalloc(a, RULES_MAX_PATTERNS * sizeof(*rules->patterns));
	rules->conditions = arena_zalloc(a, RULES_MAX_CONDITIONS * sizeof(*rules->conditions));
	rules->rules = arena_zalloc(a, RULES_MAX_RULES * sizeof(*rules->rules));
	rules->overlaps = arena_zalloc(a, RULES_MAX_RULES * sizeof(*rules->overlaps));
	rules->bucket_names = arena_zalloc(a, RULES_MAX_NAMES * sizeof(*rules->bucket_names));
	rules->overlap_names = arena_zalloc(a, RULES_MAX_NAMES * sizeof(*rules->overlap_names));
	rules->sums = arena_zalloc(a, RULES_MAX_NAMES * sizeof(*rules->sums));
	return rules->patterns && rules->conditions && rules->rules && rules->overlaps &&
	       rules->bucket_names && rules->overlap_names && rules->sums;
}

int rules_parse(struct span text, struct rules *ret_rules, struct err *err)
{
	struct reading r = { .rules = ret_rules, .err = err, .at = r.text };
	int e = 0;

	*ret_rules = (struct rules){ 0 };
	if (!make_tables(ret_rules))
		return err_set(err, -ENOMEM, "no memory for the rules");
	if (text.n > RULES_MAX_BYTES)
		return err_set(err, -E2BIG, "more than %u bytes", RULES_MAX_BYTES);
	while (text.n && !e) {
		e = take_line(&r, &text);
		if (!e)
			e = read_line(&r);
	}
	if (!e && !ret_rules->nr_rules)
		e = err_set(err, -EINVAL, "there is no `bucket` in it");
	return e;
}
