/* SPDX-License-Identifier: MIT */
/*
 * The C test framework: one program per file, one line per case on standard output.
 *
 *	#include "tests/lib/check.h"
 *
 *	TEST(hist_bound_is_inclusive)
 *	{
 *		CHECK_EQ_U64(hist_bucket(1024), 0);
 *	}
 *
 * There is no main to write. A case prints `ok NAME`, `not ok NAME: why` or `skip NAME: why`; the
 * first check that fails ends its case and the next case runs. The program's status is 0 unless a
 * case failed. Arguments are names (or beginnings, with a '*' at the end) of the cases to run.
 *
 * Every macro evaluates its arguments once. A check may stand in any function that a case calls,
 * but only in the thread that runs the case: it leaves by longjmp, so what the case had allocated
 * is then not freed. It is a header with code in it because each test is one file and one program.
 */
#ifndef SKYOBSERVE_TESTS_CHECK_H
#define SKYOBSERVE_TESTS_CHECK_H

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct check_case {
	const char *name;
	void (*run)(void);
	struct check_case *next;
};

enum check_result {
	CHECK_OK,
	CHECK_FAILED,
	CHECK_SKIPPED
};

static struct check_case *check_first, **check_last = &check_first;
static const char *volatile check_name; /* of the running case, for the signal handler */
static jmp_buf check_leave;
static char check_why[1024];

/* Constructors of one file run in the order in which they are written, so cases do too. */
#define TEST(name_)                                                                  \
	static void test_##name_(void);                                              \
	__attribute__((constructor)) static void check_add_##name_(void)             \
	{                                                                            \
		static struct check_case this_case = { #name_, test_##name_, NULL }; \
		*check_last = &this_case;                                            \
		check_last = &this_case.next;                                        \
	}                                                                            \
	static void test_##name_(void)

__attribute__((noreturn, format(printf, 4, 5))) static inline void
check_end(enum check_result result, const char *file, int line, const char *fmt, ...)
{
	const char *base = strrchr(file, '/');
	va_list ap;
	int n = 0;

	if (result == CHECK_FAILED)
		n = snprintf(check_why, sizeof(check_why), "%s:%d: ", base ? base + 1 : file, line);
	va_start(ap, fmt);
	vsnprintf(check_why + n, sizeof(check_why) - (size_t)n, fmt, ap);
	va_end(ap);
	/* One line per case, whatever the compared strings contain. */
	for (char *p = check_why; *p; p++) {
		if ((unsigned char)*p < ' ')
			*p = *p == '\n' ? '|' : ' ';
	}
	longjmp(check_leave, (int)result);
}

#define FAIL(...) check_end(CHECK_FAILED, __FILE__, __LINE__, __VA_ARGS__)
/* The case cannot run here. Skips that are allowed are listed in tests/skips.txt. */
#define SKIP(...) check_end(CHECK_SKIPPED, __FILE__, __LINE__, __VA_ARGS__)

#define CHECK(condition)                                  \
	do {                                              \
		if (!(condition))                         \
			FAIL("not true: %s", #condition); \
	} while (0)

#define CHECK_EQ_U64(got, want) check_eq_u64(__FILE__, __LINE__, #got, #want, (got), (want))
#define CHECK_EQ_INT(got, want) check_eq_int(__FILE__, __LINE__, #got, #want, (got), (want))
/* Two strings; NULL equals only NULL. */
#define CHECK_STR(got, want) check_str(__FILE__, __LINE__, #got, #want, (got), (want))
#define CHECK_MEM(got, got_bytes, want, want_bytes) \
	check_mem(__FILE__, __LINE__, #got, (got), (got_bytes), (want), (want_bytes))
/* Two doubles that differ by at most @tolerance. A NaN is near nothing. */
#define CHECK_NEAR(got, want, tolerance) \
	check_near(__FILE__, __LINE__, #got, (got), (want), (tolerance))

static inline void check_eq_u64(const char *file, int line, const char *got_text,
				const char *want_text, unsigned long long got,
				unsigned long long want)
{
	if (got != want)
		check_end(CHECK_FAILED, file, line, "%s is %llu (0x%llx), want %s = %llu (0x%llx)",
			  got_text, got, got, want_text, want, want);
}

static inline void check_eq_int(const char *file, int line, const char *got_text,
				const char *want_text, long long got, long long want)
{
	if (got != want)
		check_end(CHECK_FAILED, file, line, "%s is %lld, want %s = %lld", got_text, got,
			  want_text, want);
}

static inline void check_str(const char *file, int line, const char *got_text,
			     const char *want_text, const char *got, const char *want)
{
	size_t same = 0;

	if (got == want || (got && want && !strcmp(got, want)))
		return;
	if (!got || !want)
		check_end(CHECK_FAILED, file, line, "%s is %s%s%s, want %s", got_text,
			  got ? "\"" : "", got ? got : "NULL", got ? "\"" : "",
			  want ? want_text : "NULL");
	while (got[same] == want[same])
		same++;
	/* Long texts: begin a little before the first difference, so that it is inside the line. */
	same = same > 60 ? same - 40 : 0;
	check_end(CHECK_FAILED, file, line, "%s is %s\"%.300s\", want %s\"%.300s\"", got_text,
		  same ? "..." : "", got + same, same ? "..." : "", want + same);
}

static inline void check_mem(const char *file, int line, const char *got_text, const void *got,
			     size_t got_bytes, const void *want, size_t want_bytes)
{
	const unsigned char *g = got, *w = want;

	for (size_t i = 0; i < got_bytes && i < want_bytes; i++) {
		if (g[i] != w[i])
			check_end(CHECK_FAILED, file, line, "%s[%zu] is 0x%02x, want 0x%02x",
				  got_text, i, g[i], w[i]);
	}
	if (got_bytes != want_bytes)
		check_end(CHECK_FAILED, file, line, "%s has %zu bytes, want %zu", got_text,
			  got_bytes, want_bytes);
}

static inline void check_near(const char *file, int line, const char *got_text, double got,
			      double want, double tolerance)
{
	double off = got > want ? got - want : want - got;

	if (!(off <= tolerance))
		check_end(CHECK_FAILED, file, line, "%s is %.17g, want %.17g +- %.3g", got_text,
			  got, want, tolerance);
}

/* A crash still names its case; the sanitizers have better handlers of their own. */
static inline void check_crashed(int sig)
{
	const char *name = check_name ? check_name : "(none)";
	char line[256];
	int n = snprintf(line, sizeof(line), "not ok %s: died of signal %d\n", name, sig);

	if (n > 0 && write(STDOUT_FILENO, line, (size_t)n) < 0)
		_exit(1);
	raise(sig); /* SA_RESETHAND: the default action now */
}

static inline bool check_wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		size_t n = strlen(argv[i]);

		if (n && argv[i][n - 1] == '*' ? !strncmp(name, argv[i], n - 1)
					       : !strcmp(name, argv[i]))
			return true;
	}
	return argc < 2;
}

static inline enum check_result check_run(const struct check_case *c)
{
	int left = setjmp(check_leave);

	if (!left) {
		c->run();
		return CHECK_OK;
	}
	return (enum check_result)left;
}

int main(int argc, char **argv)
{
	int failed = 0;
#ifndef __SANITIZE_ADDRESS__
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	struct sigaction act = { .sa_handler = check_crashed, .sa_flags = (int)SA_RESETHAND };

	for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
		sigaction(crashes[i], &act, NULL);
#endif
	/* What was printed before a crash must have been seen. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (const struct check_case *c = check_first; c; c = c->next) {
		enum check_result result;

		if (!check_wanted(c->name, argc, argv))
			continue;
		check_name = c->name;
		result = check_run(c);
		failed |= result == CHECK_FAILED;
		printf("%s %s%s%s\n",
		       result == CHECK_OK	? "ok"
		       : result == CHECK_FAILED ? "not ok"
						: "skip",
		       c->name, result == CHECK_OK ? "" : ": ",
		       result == CHECK_OK ? "" : check_why);
	}
	return failed;
}

#endif /* SKYOBSERVE_TESTS_CHECK_H */
