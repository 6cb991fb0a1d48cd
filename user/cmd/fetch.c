/* SPDX-License-Identifier: MIT */
/*
 * curl(1) and not its library: that would load some thirty others into each of our processes,
 * root's included, for an option that few runs use.
 */
#define _GNU_SOURCE /* pipe2, dup3, execvpe, memrchr */
#include "user/cmd/fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/privilege.h"

#define MAX_URL 2048

struct fetch {
	pid_t pid;
	int go;	   /* a byte lets it begin */
	int words; /* what it says on stderr; its end is end of file */
	bool over;
	u64 begin_ns, end_ns;
	char state[256];
	char url[MAX_URL];
};

/* --- the child --- */

/* Of the child's descriptors: what it reads from, and waits for. */
#define GO 3

/* Nothing of what the parent has open. */
static void keep_only(int out_fd, int words, int go)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	/* Out of the way of each other first. */
	int out = fcntl(out_fd, F_DUPFD_CLOEXEC, 10), say = fcntl(words, F_DUPFD_CLOEXEC, 10);
	int wait = fcntl(go, F_DUPFD_CLOEXEC, 10);

	if (dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(say, STDERR_FILENO) < 0 || dup3(wait, GO, O_CLOEXEC) < 0 ||
	    syscall(SYS_close_range, GO + 1, ~0u, 0))
		_exit(126);
}

static void limit_file(void)
{
	const struct rlimit limit = { FETCH_MAX_BYTES, FETCH_MAX_BYTES };

	(void)setrlimit(RLIMIT_FSIZE, &limit);
}

static void give_up_privileges(void)
{
	struct privilege_user user;
	struct privilege_left left;
	struct err err;

	privilege_choose_user(getenv("SUDO_UID"), getenv("SUDO_GID"), &user);
	if (privilege_drop(&user, 0, &left, &err))
		_exit(126);
	/* Not before: becoming another user clears it. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

__attribute__((noreturn)) static void run(const char *url, u64 seconds, int out_fd, int go,
					  int words)
{
	char most_seconds[24], most_bytes[24], file[] = "curl";
	/* -q: no ~/.curlrc; no redirections, since -L is not there; the status goes to stderr. */
	const char *const argv[] = {
		file,
		"-q",
		"--silent",
		"--show-error",
		"--fail",
		"--globoff",
		"--proto",
		"=http,https",
		"--noproxy",
		"*",
		"--max-time",
		most_seconds,
		"--write-out",
		"%{stderr}%{http_code}",
		"--max-filesize",
		most_bytes,
		"--url",
		url,
		NULL,
	};
	char *const environment[] = { NULL };
	sigset_t none;
	char c;

	(void)snprintf(most_seconds, sizeof(most_seconds), "%llu", seconds + FETCH_GRACE_SECONDS);
	(void)snprintf(most_bytes, sizeof(most_bytes), "%u", FETCH_MAX_BYTES);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	keep_only(out_fd, words, go);
	give_up_privileges();
	limit_file();
	if (read(GO, &c, 1) != 1)
		_exit(0); /* there was no window */
	execvpe(file, (char *const *)argv, environment);
	(void)!write(STDERR_FILENO, "curl is not installed", 21);
	_exit(127);
}

/* --- its parent --- */

static bool is_harmless(const char *url)
{
	for (; *url; url++) {
		if (*url <= ' ' || *url >= 0x7f)
			return false;
	}
	return true;
}

/* @url with the seconds that are missing, in @ret_full. */
static int complete(const char *url, u64 seconds, char *ret_full, size_t n, struct err *err)
{
	const char *query = strchr(url, '?');
	int len;

	if ((strncmp(url, "http://", 7) != 0 && strncmp(url, "https://", 8) != 0) ||
	    strlen(url) > MAX_URL / 2 || !is_harmless(url))
		return err_set(err, -EINVAL,
			       "%.200s is no http:// or https:// address, as "
			       "http://127.0.0.1:6060/debug/pprof/profile is",
			       url);
	if (query && strstr(query, "seconds="))
		len = snprintf(ret_full, n, "%s", url);
	else
		len = snprintf(ret_full, n, "%s%cseconds=%llu", url, query ? '&' : '?', seconds);
	return len < (int)n ? 0 : err_set(err, -EINVAL, "the address is too long");
}

/* Without user, password and query. */
static void keep_url(struct fetch *f, const char *url)
{
	size_t scheme = (size_t)(strstr(url, "://") - url) + 3;
	size_t host = strcspn(url + scheme, "/?#");
	const char *at = memrchr(url + scheme, '@', host);
	const char *rest = at ? at + 1 : url + scheme;

	snprintf(f->url, sizeof(f->url), "%.*s%.*s", (int)scheme, url, (int)strcspn(rest, "?#"),
		 rest);
}

static int start(struct fetch *f, const char *full, u64 seconds, int out_fd, struct err *err)
{
	int go[2], words[2];

	if (pipe2(go, O_CLOEXEC))
		return err_set(err, -errno, "fetching a profile: %s", strerror(errno));
	if (pipe2(words, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return err_set(err, -errno, "fetching a profile: %s", strerror(errno));
	}
	f->pid = fork();
	if (!f->pid) {
		close(go[1]);
		run(full, seconds, out_fd, go[0], words[1]);
	}
	close(go[0]);
	close(words[1]);
	f->go = go[1];
	f->words = words[0];
	if (f->pid < 0)
		return err_set(err, -errno, "fetching a profile: %s", strerror(errno));
	(void)fcntl(f->words, F_SETFL, O_NONBLOCK);
	return 0;
}

int fetch_prepare(const char *url, u64 seconds, int out_fd, struct fetch **ret_fetch,
		  struct err *err)
{
	char full[MAX_URL];
	struct fetch *f;
	int r = complete(url, seconds, full, sizeof(full), err);

	if (r)
		return r;
	f = calloc(1, sizeof(*f));
	if (!f)
		return err_set(err, -ENOMEM, "no memory to fetch a profile");
	f->go = f->words = -1;
	keep_url(f, url);
	r = start(f, full, seconds, out_fd, err);
	if (r) {
		fetch_free(f);
		return r;
	}
	*ret_fetch = f;
	return 0;
}

void fetch_go(struct fetch *f)
{
	char c = 0;

	f->begin_ns = clock_monotonic_ns();
	(void)!write(f->go, &c, 1); /* if it is gone, its end says so */
	close(f->go);
	f->go = -1;
}

int fetch_fd(const struct fetch *f)
{
	return f->words;
}

/* What curl said: the status of HTTP, and in front of it or behind it, an error. */
static void conclude(struct fetch *f)
{
	char said[sizeof(f->state)];
	const char *error;
	int status = 0;

	f->over = true;
	if (waitpid(f->pid, &status, 0) != f->pid)
		status = 126 << 8; /* somebody else took it */
	f->pid = 0;
	snprintf(said, sizeof(said), "%s", f->state);
	error = strstr(said, "curl");
	if (WIFSIGNALED(status))
		snprintf(f->state, sizeof(f->state), "curl died of signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) && error)
		snprintf(f->state, sizeof(f->state), "%.*s", (int)strcspn(error, "\r\n"), error);
	else if (WEXITSTATUS(status))
		snprintf(f->state, sizeof(f->state), "curl ended with status %d",
			 WEXITSTATUS(status));
	else if (strncmp(said, "200", 3) != 0)
		snprintf(f->state, sizeof(f->state), "the server answered with status %.3s", said);
	else
		snprintf(f->state, sizeof(f->state), "fetched");
	if (!strcmp(f->state, "fetched"))
		f->end_ns = clock_monotonic_ns();
}

bool fetch_step(struct fetch *f)
{
	char chunk[512];
	ssize_t n;

	while (!f->over) {
		size_t have = strlen(f->state);

		n = read(f->words, chunk, sizeof(chunk) - 1);
		if (n < 0 && errno == EAGAIN)
			return false;
		if (n <= 0) {
			conclude(f);
			break;
		}
		chunk[n] = '\0';
		snprintf(f->state + have, sizeof(f->state) - have, "%s", chunk);
	}
	return true;
}

bool fetch_is_over(const struct fetch *f)
{
	return f->over;
}

const char *fetch_state(const struct fetch *f)
{
	return f->over ? f->state : "the window ended before it was there";
}

const char *fetch_url(const struct fetch *f)
{
	return f->url;
}

u64 fetch_begin_ns(const struct fetch *f)
{
	return f->begin_ns;
}

u64 fetch_end_ns(const struct fetch *f)
{
	return f->end_ns;
}

void fetch_free(struct fetch *f)
{
	if (!f)
		return;
	if (f->go >= 0)
		close(f->go);
	if (f->words >= 0)
		close(f->words);
	/* One that still runs dies with us. */
	if (f->pid > 0)
		(void)waitpid(f->pid, NULL, WNOHANG);
	free(f);
}
