/* SPDX-License-Identifier: MIT */
/* Rules: what is written, what it takes, and what is refused. */
#include "tests/lib/check.h"

#include <errno.h>

#include "user/crosscheck/rules.h"

static struct span text_of(const char *text)
{
	return (struct span){ (const u8 *)text, strlen(text) };
}

/* The bucket of a stack of functions, the leaf first; "" if no rule takes it. */
static const char *bucket(const struct rules *rules, const char *const *functions, size_t n)
{
	struct rule_traits self = { { 0 } }, stack = { { 0 } }, one;
	u32 rule;

	for (size_t i = 0; i < n; i++) {
		rules_traits(rules, functions[i], "dir/file.go", &one);
		rule_traits_add(&stack, &one);
		if (!i)
			self = one;
	}
	rule = rules_first(rules, &self, &stack);
	return rule == RULES_NONE ? "" : rules->bucket_names[rules->rules[rule].name];
}

#define BUCKET(rules, ...)                                  \
	bucket(rules, (const char *const[]){ __VA_ARGS__ }, \
	       sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *))

static void parse(const char *text, struct rules *ret_rules)
{
	struct err err = { { 0 } };

	if (rules_parse(text_of(text), ret_rules, &err))
		FAIL("%s", err.text);
}

TEST(the_first_line_that_matches_takes_a_stack)
{
	struct rules rules;

	parse("version 1\n"
	      "bucket kernel self Syscall6\n"
	      "bucket gc stack runtime.gcDrain* # at any depth\n"
	      "bucket kernel self runtime.futex\n"
	      "bucket rest any\n",
	      &rules);
	CHECK_EQ_U64(rules.nr_buckets, 3);
	CHECK_STR(BUCKET(&rules, "Syscall6", "runtime.gcDrainN"), "kernel");
	CHECK_STR(BUCKET(&rules, "runtime.futex", "runtime.gcDrainN"), "gc");
	CHECK_STR(BUCKET(&rules, "runtime.futex"), "kernel");
	CHECK_STR(BUCKET(&rules, "main.main"), "rest");
	CHECK_STR(bucket(&rules, NULL, 0), "rest");
	rules_done(&rules);
}

TEST(conditions_join_and_alternate)
{
	struct rules rules;

	parse("version 1\n"
	      "bucket alloc stack runtime.mallocgc & !stack runtime.gcAssistAlloc* ; self x.y & "
	      "!self x.z\n",
	      &rules);
	CHECK_STR(BUCKET(&rules, "a", "runtime.mallocgc"), "alloc");
	CHECK_STR(BUCKET(&rules, "a", "runtime.gcAssistAlloc1", "runtime.mallocgc"), "");
	CHECK_STR(BUCKET(&rules, "x.y", "runtime.gcAssistAlloc"), "alloc");
	CHECK_STR(BUCKET(&rules, "a", "x.y"), "");
	rules_done(&rules);
}

TEST(a_star_counts_only_at_an_end)
{
	struct rules rules;

	parse("version 1\n"
	      "bucket method self runtime.(*sweepLocked).sweep\n"
	      "bucket begin self internal/sync.(*HashTrieMap*\n"
	      "bucket end self *.func1\n"
	      "bucket inside self *hash*\n",
	      &rules);
	CHECK_STR(BUCKET(&rules, "runtime.(*sweepLocked).sweep"), "method");
	CHECK_STR(BUCKET(&rules, "runtime.(*sweepLocked).sweep.func1"), "end");
	CHECK_STR(BUCKET(&rules, "internal/sync.(*HashTrieMap[int,int]).Load"), "begin");
	CHECK_STR(BUCKET(&rules, "a.strhashFallback"), "inside");
	CHECK_STR(BUCKET(&rules, "hash"), "inside");
	CHECK_STR(BUCKET(&rules, "has"), "");
	CHECK_STR(BUCKET(&rules, ""), "");
	rules_done(&rules);
}

TEST(a_plus_after_a_character_is_free)
{
	struct rules rules;

	parse("version 1\nbucket many self /^a+b+c+[de]+f+(g+h+)+$/\n", &rules);
	CHECK_STR(BUCKET(&rules, "abcdefghgh"), "many");
	CHECK_STR(BUCKET(&rules, "abcdef"), "");
	rules_done(&rules);
}

TEST(regular_expressions_may_hold_blanks_and_slashes)
{
	struct rules rules;

	parse("version 1\n"
	      "bucket a self /^internal\\/runtime\\/syscall(\\/linux)?\\.Syscall6$/\n"
	      "bucket b self pkg /^(net|net\\/http)$/\n"
	      "bucket c self /interface \\{\\}/\n"
	      "bucket d stack file /[.]s$/ ; self file dir/file.go & self n.m\n",
	      &rules);
	CHECK_STR(BUCKET(&rules, "internal/runtime/syscall/linux.Syscall6"), "a");
	CHECK_STR(BUCKET(&rules, "internal/runtime/syscall.Syscall6"), "a");
	CHECK_STR(BUCKET(&rules, "net/http.(*conn).serve"), "b");
	CHECK_STR(BUCKET(&rules, "net/http/pprof.Index"), "");
	CHECK_STR(BUCKET(&rules, "m.f[interface {}]"), "c");
	CHECK_STR(BUCKET(&rules, "n.m"), "d");
	rules_done(&rules);
}

TEST(packages_end_where_go_ends_them)
{
	static const struct {
		const char *function;
		const char *package;
	} cases[] = {
		{ "main.main", "main" },
		{ "main.(*app).serve.func1", "main" },
		{ "net/http.(*conn).serve", "net/http" },
		{ "gopkg.in/yaml%2ev3.Marshal", "gopkg.in/yaml%2ev3" },
		{ "maps.Keys[go.shape.map[string]a/b.T]", "maps" },
		{ "go.(*struct { a/b.T }).f", "go" },
		{ "memeqbody", "" },
		{ "type:.eq.[2]string", "type:" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n;

		rules_package(cases[i].function, &n);
		CHECK_MEM(cases[i].function, n, cases[i].package, strlen(cases[i].package));
	}
}

TEST(sums_name_buckets_of_lines_above)
{
	struct rules rules;

	parse("version 1\nbucket a self a\nbucket b self b\nbucket c any\nsum ab = a b\n"
	      "overlap o stack o ; stack p\n",
	      &rules);
	CHECK_EQ_U64(rules.nr_sums, 1);
	CHECK_EQ_U64(rules.sums[0].buckets, 3);
	CHECK_EQ_U64(rules.nr_overlap_names, 1);
	CHECK_EQ_U64(rules.nr_overlaps, 2);
	rules_done(&rules);
}

TEST(faults_name_the_line_and_the_word)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{ "", "there is no `bucket`" },
		{ "version 1\n", "there is no `bucket`" },
		{ "bucket a any\n",
		  "line 1: the first line of rules is `version 1`, not `bucket`" },
		{ "version 2\n", "knows version 1 of rules, not `2`" },
		{ "version 1 2\n", "more than a version: `2`" },
		{ "version\n", "the version is missing" },
		{ "version 1\nbucker a any\n",
		  "line 2: a line begins with bucket, overlap or sum" },
		{ "version 1\nbucket\n", "line 2: a name is missing" },
		{ "version 1\nbucket a\n", "line 2: a condition is missing" },
		{ "version 1\nbucket a leaf b\n",
		  "begins with self, stack or any, not with `leaf`" },
		{ "version 1\nbucket a self\n", "a pattern is missing" },
		{ "version 1\nbucket a self pkg\n", "a pattern is missing" },
		{ "version 1\nbucket a self b self c\n", "stands & or ;, not `self`" },
		{ "version 1\nbucket a self b &\n", "a condition is missing" },
		{ "version 1\nbucket a self b ;\n", "a condition is missing" },
		{ "version 1\nbucket a self /b\n", "ends with / and a blank: `/b`" },
		{ "version 1\nbucket a self /b/c\n", "ends with / and a blank" },
		{ "version 1\nbucket a self /b(/\n", "line 2: `b(`: " },
		{ "version 1\nbucket a self /(b)\\1/\n", "a reference back is refused" },
		{ "version 1\nbucket a self /b{9}/\n", "{} is refused" },
		{ "version 1\nbucket a self /((((b+)+)+)+)+/\n", "more than one + after a group" },
		{ "version 1\nbucket a self /b+++++/\n", "more than one + after a group" },
		{ "version 1\nbucket a any\nsum s a\n", "is written NAME = BUCKET..., not `a`" },
		{ "version 1\nbucket a any\nsum s =\n", "a bucket is missing" },
		{ "version 1\nbucket a any\nsum s = b\n", "no line above has a bucket `b`" },
		{ "version 1\nbucket a any\nsum s = a a\n", "twice in one sum: `a`" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct rules rules;
		struct err err = { { 0 } };

		CHECK_EQ_INT(rules_parse(text_of(cases[i].text), &rules, &err), -EINVAL);
		if (!strstr(err.text, cases[i].words))
			FAIL("`%s`: %s", cases[i].text, err.text);
		rules_done(&rules);
	}
}

TEST(limits_are_said)
{
	static char text[RULES_MAX_BYTES + 2];
	struct rules rules;
	struct err err = { { 0 } };
	size_t n = 0;

	memset(text, '#', sizeof(text) - 1);
	CHECK_EQ_INT(rules_parse(text_of(text), &rules, &err), -E2BIG);
	rules_done(&rules);
	memset(text, 'b', RULES_MAX_REGEX_LEN + 40);
	memcpy(text, "version 1\nbucket a self /", 25);
	memcpy(text + 25 + RULES_MAX_REGEX_LEN + 1, "/\n", 3);
	CHECK_EQ_INT(rules_parse(text_of(text), &rules, &err), -EINVAL);
	CHECK(strstr(err.text, "more than 256 bytes are refused in"));
	rules_done(&rules);
	memcpy(text + 25 + RULES_MAX_REGEX_LEN, "/\n", 3);
	CHECK_EQ_INT(rules_parse(text_of(text), &rules, &err), 0);
	rules_done(&rules);
	memset(text, '#', sizeof(text) - 1);
	text[RULES_MAX_LINE] = '\0';
	CHECK_EQ_INT(rules_parse(text_of(text), &rules, &err), -E2BIG);
	CHECK(strstr(err.text, "line 1: longer than"));
	rules_done(&rules);
	CHECK_EQ_INT(rules_parse((struct span){ (const u8 *)"a\0b", 3 }, &rules, &err), -EINVAL);
	rules_done(&rules);

	n = (size_t)snprintf(text, sizeof(text), "version 1\n");
	for (u32 i = 0; i <= RULES_MAX_NAMES; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "bucket b%u self f%u\n", i, i);
	CHECK_EQ_INT(rules_parse(text_of(text), &rules, &err), -E2BIG);
	CHECK(strstr(err.text, "more than 64 names"));
	rules_done(&rules);
	n = (size_t)snprintf(text, sizeof(text), "version 1\n");
	for (u32 i = 0; i <= RULES_MAX_PATTERNS; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "bucket b self f%u\n", i);
	CHECK_EQ_INT(rules_parse(text_of(text), &rules, &err), -E2BIG);
	rules_done(&rules);
}

/* All spellings that Go has had, and what the users' own rule makes of them on Linux. */
TEST(shipped_rules_know_their_functions)
{
	static const struct {
		const char *function, *go, *sky;
	} cases[] = {
		{ "runtime/internal/syscall.Syscall6", "syscall", "scheduler_other" },
		{ "internal/runtime/syscall.Syscall6", "syscall", "scheduler_other" },
		{ "internal/runtime/syscall/linux.Syscall6", "syscall", "scheduler_other" },
		{ "syscall.rawSyscallNoError", "syscall", "write_syscall" },
		{ "runtime.futex", "syscall", "gc_alloc" },
		{ "runtime.epollwait", "syscall", "netpoll" },
		{ "runtime.usleep", "syscall", "netpoll" },
		{ "runtime.gcDrain", "gc.mark", "gc_alloc" },
		{ "runtime.gcAssistAlloc1", "gc.assist", "gc_alloc" },
		{ "internal/runtime/gc/scan.scanSpanPackedAVX512", "gc.mark", "scheduler_other" },
		{ "runtime.gcWriteBarrierCX", "gc.barrier", "gc_alloc" },
		{ "runtime.mallocgcSmallNoScanSC2", "alloc", "gc_alloc" },
		{ "runtime.memmove", "memory_copy", "memmove" },
		{ "memeqbody", "memory_copy", "scheduler_other" },
		{ "aeshashbody", "map_hash", "map_hash" },
		{ "runtime.mapassign_faststr", "map_hash", "gc_alloc" },
		{ "reflect.Value.call", "reflect", "reflection" },
		{ "runtime.schedule", "scheduler", "gc_alloc" },
		{ "runtime.nanotime", "runtime", "gc_alloc" },
		{ "main.view", "program", "compiled_sky" },
		{ "sky-app/rt.(*liveApp).handleEvent", "library", "sky_runtime" },
		{ "encoding/json.Marshal", "library", "scheduler_other" },
	};
	struct rules go, sky;
	struct span text;
	struct err err = { { 0 } };

	CHECK(rules_shipped("go", &text));
	if (rules_parse(text, &go, &err))
		FAIL("go: %s", err.text);
	CHECK(rules_shipped("sky", &text));
	if (rules_parse(text, &sky, &err))
		FAIL("sky: %s", err.text);
	CHECK(!rules_shipped("goo", &text));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_STR(BUCKET(&go, cases[i].function), cases[i].go);
		CHECK_STR(BUCKET(&sky, cases[i].function), cases[i].sky);
	}
	/* What the stack decides. */
	CHECK_STR(BUCKET(&go, "runtime.memmove", "runtime.gcDrain"), "gc.mark");
	CHECK_STR(BUCKET(&go, "runtime.heapSetType", "runtime.mallocgc", "main.f"), "alloc");
	CHECK_STR(BUCKET(&go, "runtime.futex", "runtime.schedule"), "syscall");
	CHECK_STR(BUCKET(&go, "runtime.lock2", "runtime._System"), "unwind_failed");
	rules_done(&go);
	rules_done(&sky);
}
