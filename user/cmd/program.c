/* SPDX-License-Identifier: MIT */
/* A program that is started to be observed. */
#define _GNU_SOURCE /* pipe2, setresuid, F_SETSIG */
#include "user/cmd/program.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Whose program it is, and NULL for ourselves. */
static int find_user(const char *user, struct passwd **ret_pw, struct err *err)
{
	const char *sudo = getenv("SUDO_UID");

	*ret_pw = NULL;
	if (user) {
		*ret_pw = getpwnam(user);
		if (!*ret_pw)
			return err_set(err, -EINVAL, "--user %s: there is no such user", user);
	} else if (sudo && !geteuid() && strcmp(sudo, "0") != 0) {
		*ret_pw = getpwuid((uid_t)strtoul(sudo, NULL, 10));
	}
	return 0;
}

static int become(const struct passwd *pw)
{
	if (!pw)
		return 0;
	if (initgroups(pw->pw_name, pw->pw_gid) || setresgid(pw->pw_gid, pw->pw_gid, pw->pw_gid) ||
	    setresuid(pw->pw_uid, pw->pw_uid, pw->pw_uid))
		return -errno;
	(void)setenv("HOME", pw->pw_dir, 1); /* an unset variable only inconveniences */
	(void)setenv("USER", pw->pw_name, 1);
	(void)setenv("LOGNAME", pw->pw_name, 1);
	return 0;
}

/* In the child, up to the first instruction of the program. Does not return. */
static void run_child(char **argv, const struct passwd *pw, int go, int failed)
{
	const char *slash = strrchr(argv[0], '/');
	sigset_t none;
	char c;
	int e;

	prctl(PR_SET_NAME, slash ? slash + 1 : argv[0]);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	e = -become(pw);
	if (write(failed, &e, sizeof(e)) != sizeof(e)) /* ready, if it is 0 */
		_exit(PROGRAM_NOT_FOUND);
	if (!e && read(go, &c, 1) != 1)
		_exit(PROGRAM_NOT_FOUND); /* whoever was to observe it is gone */
	if (!e) {
		execvp(argv[0], argv);
		e = errno;
	}
	(void)!write(failed, &e, sizeof(e)); /* nobody is left to tell */
	_exit(PROGRAM_NOT_FOUND);
}

/* An errno that the child sends; end of file is 0. */
static int read_errno(int fd)
{
	int e = 0;
	ssize_t n;

	do {
		n = read(fd, &e, sizeof(e));
	} while (n < 0 && errno == EINTR);
	return n == sizeof(e) ? e : 0;
}

/*
 * A pipe whose reading end signals its owner, the program, when something is written. The kernel
 * judges whether we may by what we were when the owner was set, not by what we are then (sigio_perm
 * in fs/fcntl.c): serving can give up CAP_KILL and kill(2). A number that is used again is no
 * danger, since the owner is kept as a process.
 */
static int hang_bell(struct program *p)
{
	int flags;

	if (pipe2(p->bell, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	flags = fcntl(p->bell[0], F_GETFL);
	if (fcntl(p->bell[0], F_SETOWN, p->pid) || fcntl(p->bell[0], F_SETFL, flags | O_ASYNC))
		return -errno;
	return 0;
}

static void ring(const struct program *p, int sig)
{
	char c = 0;

	/* Nothing can be done about a failure; the program then goes on. */
	if (!fcntl(p->bell[0], F_SETSIG, sig))
		(void)!write(p->bell[1], &c, 1);
	(void)!read(p->bell[0], &c, 1);
}

int program_prepare(char **argv, const char *user, struct program *ret_program, struct err *err)
{
	struct passwd *pw;
	int go[2], failed[2];
	pid_t pid;
	int r = find_user(user, &pw, err);

	if (r)
		return r;
	if (pipe2(go, O_CLOEXEC))
		return err_set(err, -errno, "cannot start %s: %s", argv[0], strerror(errno));
	if (pipe2(failed, O_CLOEXEC)) {
		r = -errno;
		close(go[0]);
		close(go[1]);
		return err_set(err, r, "cannot start %s: %s", argv[0], strerror(-r));
	}
	pid = fork();
	if (!pid) {
		close(go[1]);
		close(failed[0]);
		run_child(argv, pw, go[0], failed[1]);
	}
	r = pid < 0 ? -errno : 0;
	close(go[0]);
	close(failed[1]);
	*ret_program = (struct program){
		.pid = pid, .go = go[1], .failed = failed[0], .bell = { -1, -1 }
	};
	if (!r)
		r = hang_bell(ret_program);
	if (r && pid < 0) {
		ret_program->pid = 0;
		close(go[1]);
		close(failed[0]);
		return err_set(err, r, "cannot start %s: %s", argv[0], strerror(-r));
	}
	if (r)
		return err_set(err, r, "cannot start %s: %s", argv[0], strerror(-r));
	/* Its name and its user are what they will be before anybody looks at it. */
	r = read_errno(ret_program->failed);
	return r ? err_set(err, -r, "cannot start %s as that user: %s", argv[0], strerror(r)) : 0;
}

static bool is_program(const char *path, char ret_path[PATH_MAX])
{
	struct stat st;

	return realpath(path, ret_path) && !stat(ret_path, &st) && S_ISREG(st.st_mode) &&
	       !access(ret_path, X_OK);
}

bool program_file(const char *name, char ret_path[PATH_MAX])
{
	const char *dir = getenv("PATH");
	char path[PATH_MAX];

	if (strchr(name, '/') || !dir)
		return is_program(name, ret_path);
	while (*dir) {
		int n = (int)strcspn(dir, ":");

		snprintf(path, sizeof(path), "%.*s/%s", n ? n : 1, n ? dir : ".", name);
		if (is_program(path, ret_path))
			return true;
		dir += n + (dir[n] == ':');
	}
	return false;
}

/* Why exec refused, in words that say what to do. */
static const char *exec_reason(const char *name, int e)
{
	if (e == ENOENT && !strchr(name, '/'))
		return "there is no such program in PATH";
	if (e == ENOENT && !access(name, F_OK))
		return "the interpreter or loader that it asks for does not exist";
	if (e == ENOENT)
		return "there is no such file";
	if (e == EACCES)
		return "it is no file with permission to execute (chmod +x)";
	if (e == ENOEXEC)
		return "it is no program of this machine, and begins with no #! line";
	return strerror(e);
}

int program_start(struct program *p, const char *name, int *ret_status, struct err *err)
{
	char c = 0;
	int e = write(p->go, &c, 1) == 1 ? 0 : errno;

	close(p->go);
	p->go = -1;
	if (!e)
		e = read_errno(p->failed); /* end of file: exec closed the other end */
	close(p->failed);
	p->failed = -1;
	if (!e)
		return 0;
	waitpid(p->pid, NULL, 0);
	p->pid = 0;
	*ret_status =
		e == ENOENT && access(name, F_OK) ? PROGRAM_NOT_FOUND : PROGRAM_NOT_EXECUTABLE;
	return err_set(err, -e, "cannot execute %s: %s", name, exec_reason(name, e));
}

static void kill_program(struct program *p)
{
	ring(p, SIGKILL);
	p->killed = true;
}

bool program_signal(struct program *p, int sig, bool from_kernel, u64 now_ns)
{
	bool ends = sig == SIGINT || sig == SIGTERM;

	if (from_kernel && getpgid(p->pid) == getpgid(0))
		return true;
	if (p->killed)
		return !ends;
	if (ends && p->kill_ns) {
		kill_program(p);
		return true;
	}
	if (ends)
		p->kill_ns = now_ns + PROGRAM_GRACE_NS;
	ring(p, sig);
	return true;
}

void program_check(struct program *p, u64 now_ns)
{
	if (p->pid && p->kill_ns && now_ns >= p->kill_ns && !p->killed)
		kill_program(p);
}

int program_status(struct program *p)
{
	int status;

	if (!p->pid || waitpid(p->pid, &status, WNOHANG) != p->pid)
		return -1;
	p->pid = 0;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void program_done(struct program *p)
{
	if (p->pid && p->go > 0) { /* it was not released, and does not begin any more */
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	} else if (p->pid) {
		ring(p, SIGTERM);
	}
	if (p->go > 0)
		close(p->go);
	if (p->failed > 0)
		close(p->failed);
	for (int i = 0; i < 2; i++) {
		if (p->bell[i] > 0)
			close(p->bell[i]);
	}
	*p = (struct program){ 0 };
}
