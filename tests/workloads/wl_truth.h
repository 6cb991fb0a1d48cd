/* SPDX-License-Identifier: MIT */
/*
 * What a workload says and is told: its options, the line of JSON that tells the truth, and the
 * protocol that workload.h describes.
 */
#ifndef SKYOBSERVE_TESTS_WORKLOADS_WL_TRUTH_H
#define SKYOBSERVE_TESTS_WORKLOADS_WL_TRUTH_H

#include "wl_call.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- the context of a workload, its options and its JSON ------------------------------------ */

enum wl_opt_kind {
	WL_OPT_NUMBER,
	WL_OPT_STRING,
	WL_OPT_FLAG
};

/* One option: --name VALUE, or --name alone for a flag. What it points to has the default. */
struct wl_opt {
	const char *name;
	enum wl_opt_kind kind;
	union {
		uint64_t *number;
		const char **string;
		bool *flag;
	};
	const char *help;
};

#define WL_NUMBER(opt, var, text)                                                     \
	{                                                                             \
		.name = (opt), .kind = WL_OPT_NUMBER, .number = (var), .help = (text) \
	}
#define WL_STRING(opt, var, text)                                                     \
	{                                                                             \
		.name = (opt), .kind = WL_OPT_STRING, .string = (var), .help = (text) \
	}
#define WL_FLAG(opt, var, text)                                                   \
	{                                                                         \
		.name = (opt), .kind = WL_OPT_FLAG, .flag = (var), .help = (text) \
	}

/* The longest truth is that of spin with 64 threads, about 20 KiB; a pipe takes 64 KiB at once. */
#define WL_MAX_JSON 65536

struct wl {
	const char *name;
	pid_t pid; /* libc's getpid() is a system call */
	bool exit_at_once;
	uint64_t protocol_reads;
	struct wl_tally tally; /* the main thread's; others have their own and are added */
	struct wl_tally entered_before;
	size_t json_len;
	char json[WL_MAX_JSON];
};

static inline bool wl_same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static inline void wl_usage_exit(const char *name, const struct wl_opt *opts, size_t n_opts,
				 int status)
{
	FILE *to = status ? stderr : stdout;
	size_t i;

	fprintf(to, "usage: %s [options]\n", name);
	for (i = 0; i < n_opts; i++)
		fprintf(to, "  --%-14s %s %s\n", opts[i].name,
			opts[i].kind == WL_OPT_FLAG ? "  " : "V ", opts[i].help);
	fprintf(to, "  --%-14s    exit right after the truth is printed\n", "exit");
	exit(status);
}

/* 0, or -EINVAL if @arg is no option of this workload or its value is not one. */
static inline int wl_opt_take(const struct wl_opt *opt, const char *val)
{
	char *end;

	switch (opt->kind) {
	case WL_OPT_FLAG:
		*opt->flag = true;
		return 0;
	case WL_OPT_STRING:
		if (!val)
			return -EINVAL;
		*opt->string = val;
		return 0;
	case WL_OPT_NUMBER:
		if (!val || *val < '0' || *val > '9')
			return -EINVAL;
		*opt->number = strtoull(val, &end, 10);
		return *end ? -EINVAL : 0;
	}
	return -EINVAL;
}

/* Start a workload: read the options. Prints and exits on --help (0) and on a wrong option (64). */
static inline void wl_init(struct wl *w, const char *name, char **argv, const struct wl_opt *opts,
			   size_t n_opts)
{
	size_t i;

	memset(w, 0, sizeof(*w));
	w->name = name;
	w->pid = getpid();
	for (argv++; *argv; argv++) {
		if (wl_same(*argv, "--help"))
			wl_usage_exit(name, opts, n_opts, 0);
		if (wl_same(*argv, "--exit")) {
			w->exit_at_once = true;
			continue;
		}
		for (i = 0; i < n_opts; i++)
			if (strncmp(*argv, "--", 2) == 0 && wl_same(*argv + 2, opts[i].name))
				break;
		if (i == n_opts || wl_opt_take(&opts[i], argv[1])) {
			fprintf(stderr, "%s: wrong option or value: %s\n", name, *argv);
			wl_usage_exit(name, opts, n_opts, 64);
		}
		if (opts[i].kind != WL_OPT_FLAG)
			argv++;
	}
}

#define WL_N(array) (sizeof(array) / sizeof((array)[0]))

/* ---- JSON: one line, built in place --------------------------------------------------------- */

static inline WL_PRINTF(2, 3) void wl_json_put(struct wl *w, const char *fmt, ...)
{
	size_t room = sizeof(w->json) - w->json_len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->json + w->json_len, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room)
		wl_die("the truth does not fit its buffer");
	w->json_len += (size_t)n;
}

/* The comma, where one is due, and the key; NULL for an element of a list. */
static inline void wl_json_key(struct wl *w, const char *key)
{
	if (w->json_len && !strchr("{[", w->json[w->json_len - 1]))
		wl_json_put(w, ",");
	if (key)
		wl_json_put(w, "\"%s\":", key);
}

/* @bracket is { or [. */
static inline void wl_json_open(struct wl *w, const char *key, char bracket)
{
	wl_json_key(w, key);
	wl_json_put(w, "%c", bracket);
}

/* @bracket is } or ]. */
static inline void wl_json_close(struct wl *w, char bracket)
{
	wl_json_put(w, "%c", bracket);
}

static inline void wl_json_u64(struct wl *w, const char *key, uint64_t value)
{
	wl_json_key(w, key);
	wl_json_put(w, "%" PRIu64, value);
}

static inline void wl_json_long(struct wl *w, const char *key, long value)
{
	wl_json_key(w, key);
	wl_json_put(w, "%ld", value);
}

static inline void wl_json_double(struct wl *w, const char *key, double value)
{
	wl_json_key(w, key);
	wl_json_put(w, "%.2f", value);
}

static inline void wl_json_bool(struct wl *w, const char *key, bool value)
{
	wl_json_key(w, key);
	wl_json_put(w, "%s", value ? "true" : "false");
}

/* @value has nothing that JSON escapes. */
static inline void wl_json_text(struct wl *w, const char *key, const char *value)
{
	wl_json_key(w, key);
	wl_json_put(w, "\"%s\"", value);
}

static inline const char *wl_errno_name(int err)
{
	/* glibc has strerrorname_np() from 2.32 only, other libraries do not have it. */
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{ EAGAIN, "EAGAIN" },	    { EBADF, "EBADF" },	  { ECHILD, "ECHILD" },
		{ EFAULT, "EFAULT" },	    { EINVAL, "EINVAL" }, { EIO, "EIO" },
		{ ENOENT, "ENOENT" },	    { ENOMEM, "ENOMEM" }, { ENOSPC, "ENOSPC" },
		{ ENOSYS, "ENOSYS" },	    { EPERM, "EPERM" },	  { ESRCH, "ESRCH" },
		{ ETIMEDOUT, "ETIMEDOUT" },
	};
	size_t i;

	for (i = 0; i < WL_N(names); i++)
		if (names[i].err == err)
			return names[i].name;
	return "other";
}

/* "KEY":{"call":n,...} with the calls that were made. */
static inline void wl_json_calls(struct wl *w, const char *key, const struct wl_tally *t)
{
	size_t i;

	wl_json_open(w, key, '{');
	for (i = 0; i < WL_CALL_NR; i++)
		if (t->calls[i])
			wl_json_u64(w, wl_call_name(i), t->calls[i]);
	wl_json_close(w, '}');
}

/* "KEY":{"EBADF":n,...} of one call. */
static inline void wl_json_call_errors(struct wl *w, const char *key, const struct wl_tally *t,
				       enum wl_call call)
{
	size_t i;

	wl_json_open(w, key, '{');
	for (i = 0; i < t->n_errors; i++)
		if (t->errors[i].call == call && t->errors[i].err != EINTR)
			wl_json_u64(w, wl_errno_name(t->errors[i].err), t->errors[i].times);
	wl_json_close(w, '}');
}

/* Whether one of the call's errors is to be listed as such. */
static inline bool wl_call_failed(const struct wl_tally *t, enum wl_call call)
{
	size_t i;

	for (i = 0; i < t->n_errors; i++)
		if (t->errors[i].call == call && t->errors[i].err != EINTR)
			return true;
	return false;
}

/* "errors":{"close":{"EBADF":7},...},"interrupted":{"nanosleep":1} */
static inline void wl_json_errors(struct wl *w, const struct wl_tally *t)
{
	size_t call, i;

	wl_json_open(w, "errors", '{');
	for (call = 0; call < WL_CALL_NR; call++)
		if (wl_call_failed(t, call))
			wl_json_call_errors(w, wl_call_name(call), t, call);
	wl_json_close(w, '}');
	wl_json_open(w, "interrupted", '{');
	for (i = 0; i < t->n_errors; i++)
		if (t->errors[i].err == EINTR)
			wl_json_u64(w, wl_call_name(t->errors[i].call), t->errors[i].times);
	wl_json_close(w, '}');
}

/* The members that tell of another process or thread, inside an object of its own. */
static inline void wl_json_task(struct wl *w, const char *role, pid_t id, const struct wl_tally *t,
				const struct wl_tally *entered_before)
{
	wl_json_text(w, "role", role);
	wl_json_long(w, "id", id);
	wl_json_calls(w, "syscalls", t);
	wl_json_errors(w, t);
	wl_json_calls(w, "entered_before", entered_before);
}

/* ---- the protocol --------------------------------------------------------------------------- */

/* Read until a newline or the end of stdin. Returns how many reads that took. */
static inline uint64_t wl_read_line(void)
{
	uint64_t reads = 0;
	char line[256];
	ssize_t n;

	do {
		n = read(STDIN_FILENO, line, sizeof(line));
		reads++;
	} while (n > 0 && !memchr(line, '\n', (size_t)n));
	return reads;
}

static inline void wl_write_all(const char *text, size_t len)
{
	if (write(STDOUT_FILENO, text, len) != (ssize_t)len)
		_exit(1); /* nobody is there to be told */
}

/* Say that everything is set up, then wait to be released. @peers are pids that belong to it. */
static inline void wl_ready_with(struct wl *w, const pid_t *peers, size_t n_peers)
{
	char line[256];
	size_t i, len;

	len = (size_t)snprintf(line, sizeof(line), "ready %d", w->pid);
	for (i = 0; i < n_peers && len < sizeof(line) - 16; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, " %d", peers[i]);
	line[len++] = '\n';
	wl_write_all(line, len);
	w->protocol_reads = wl_read_line();
}

static inline void wl_ready(struct wl *w)
{
	wl_ready_with(w, NULL, 0);
}

/* Begin the truth; what the workload adds follows the head. */
static inline void wl_json_begin(struct wl *w)
{
	w->json_len = 0;
	wl_json_open(w, NULL, '{');
	wl_json_text(w, "workload", w->name);
	wl_json_long(w, "pid", w->pid);
	wl_json_open(w, "protocol", '{');
	wl_json_u64(w, "read", w->protocol_reads);
	wl_json_u64(w, "write", 1);
	wl_json_close(w, '}');
	wl_json_calls(w, "syscalls", &w->tally);
	wl_json_errors(w, &w->tally);
	wl_json_calls(w, "entered_before", &w->entered_before);
}

static inline void wl_json_end(struct wl *w)
{
	wl_json_put(w, "}\n");
	wl_write_all(w->json, w->json_len);
}

/* Stay until the test has taken its last snapshot, then go. */
static inline WL_NORETURN void wl_finish(struct wl *w)
{
	if (!w->exit_at_once)
		wl_read_line();
	_exit(0);
}

#endif
