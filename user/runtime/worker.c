/* SPDX-License-Identifier: MIT */
/* Reading a stranger's program in a process that may die. Knows nothing of what a target is. */
#define _GNU_SOURCE /* pipe2 */
#include "user/runtime/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/runtime/confine.h"

struct target_answer {
	s32 result;
	struct err err;
	struct target target;
};

__attribute__((noreturn)) static void
work(int fd, int pipe_fd, const struct target_request *request, struct target_answer *answer)
{
	answer->result = confine_begin(fd, pipe_fd);
	if (answer->result)
		(void)err_set(&answer->err, 0,
			      "the process that reads it could not be confined: %s",
			      strerror(-answer->result));
	else
		answer->result = target_read(CONFINED_FILE, request, &answer->target, &answer->err);
	_exit(confine_answer(answer, sizeof(*answer)) ? 0 : 1);
}

int target_worker_start(int fd, const struct target_request *request, u64 now_ns,
			struct target_worker *ret_worker, struct err *err)
{
	struct target_worker w = { .fd = -1, .deadline_ns = now_ns + TARGET_WORKER_DEADLINE_NS };
	int pipe_fds[2];
	int r;

	*ret_worker = w;
	w.answer = calloc(1, sizeof(*w.answer));
	if (!w.answer)
		return err_set(err, -ENOMEM, "no memory for a worker");
	if (pipe2(pipe_fds, O_CLOEXEC)) {
		r = -errno;
		goto out;
	}
	w.pid = fork();
	if (!w.pid)
		work(fd, pipe_fds[1], request, w.answer);
	r = w.pid < 0 ? -errno : 0;
	close(pipe_fds[1]);
	w.fd = pipe_fds[0];
	if (w.pid < 0)
		w.pid = 0;
	else if (fcntl(w.fd, F_SETFL, O_NONBLOCK))
		r = -errno;
out:
	*ret_worker = w;
	return r ? err_set(err, r, "a process to read it in: %s", strerror(-r)) : 0;
}

/* What the end of the pipe means. */
static int finish(struct target_worker *w, struct target *ret_target, struct err *err)
{
	int status = 0;

	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	w->pid = 0;
	if (WIFSIGNALED(status))
		return err_set(err, -EBADMSG, "the process that read it died of signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (w->received != sizeof(*w->answer))
		return err_set(err, -EBADMSG, "the process that read it gave no answer");
	w->answer->err.text[sizeof(w->answer->err.text) - 1] = '\0';
	if (w->answer->result > 0 || w->answer->result < -4095)
		return err_set(err, -EBADMSG, "the process that read it answered nonsense");
	if (w->answer->result)
		return err_set(err, w->answer->result, "%s", w->answer->err.text);
	if (!target_check(&w->answer->target))
		return err_set(err, -EBADMSG, "the process that read it answered nonsense");
	*ret_target = w->answer->target;
	return 0;
}

int target_worker_step(struct target_worker *worker, u64 now_ns, struct target *ret_target,
		       struct err *err)
{
	for (;;) {
		size_t left = sizeof(*worker->answer) - worker->received;
		char excess;
		ssize_t r =
			read(worker->fd, left ? (char *)worker->answer + worker->received : &excess,
			     left ? left : 1);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && errno == EAGAIN && now_ns >= worker->deadline_ns)
			return err_set(err, -ETIMEDOUT, "reading it took longer than %llu s",
				       TARGET_WORKER_DEADLINE_NS / NS_PER_SEC);
		if (r < 0)
			return err_set(err, -errno, "the process that reads it: %s",
				       strerror(errno));
		if (!r)
			return finish(worker, ret_target, err);
		if (!left)
			return err_set(err, -EBADMSG, "the process that read it answered nonsense");
		worker->received += (size_t)r;
	}
}

void target_worker_done(struct target_worker *worker)
{
	if (worker->pid > 0) {
		kill(worker->pid, SIGKILL);
		while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	if (worker->answer && worker->fd >= 0)
		close(worker->fd);
	free(worker->answer);
	*worker = (struct target_worker){ 0 };
}

int target_read_confined(int fd, const struct target_request *request, struct target *ret_target,
			 struct err *err)
{
	struct target_worker w;
	int r = target_worker_start(fd, request, clock_monotonic_ns(), &w, err);

	while (!r) {
		struct pollfd p = { .fd = w.fd, .events = POLLIN };
		u64 now_ns = clock_monotonic_ns();

		if (now_ns < w.deadline_ns)
			(void)poll(&p, 1, (int)((w.deadline_ns - now_ns) / NS_PER_MS) + 1);
		r = target_worker_step(&w, clock_monotonic_ns(), ret_target, err);
		if (r != -EAGAIN)
			break;
		r = 0;
	}
	target_worker_done(&w);
	return r;
}

/* A text from another process: it ends, and has no control bytes but the ends of lines. */
static void check_text(char *text, size_t n)
{
	text[n - 1] = '\0';
	for (; *text; text++) {
		if (((unsigned char)*text < 0x20 && *text != '\n') || *text == 0x7f)
			*text = '?';
	}
}

static bool check_function(struct target_function *f)
{
	check_text(f->why, sizeof(f->why));
	return f->nr_returns <= TARGET_MAX_RETURNS;
}

bool target_check(struct target *target)
{
	struct go_target *go = &target->go;
	bool good = go->layout <= TARGET_LAYOUT_TABLE;

	check_text(target->runtime, sizeof(target->runtime));
	check_text(target->file.build_id, sizeof(target->file.build_id));
	check_text(go->version_text, sizeof(go->version_text));
	check_text(go->path, sizeof(go->path));
	check_text(go->module, sizeof(go->module));
	check_text(go->module_version, sizeof(go->module_version));
	check_text(go->build_id, sizeof(go->build_id));
	check_text(go->settings, sizeof(go->settings));
	check_text(go->info_why, sizeof(go->info_why));
	check_text(go->pclntab_layout, sizeof(go->pclntab_layout));
	check_text(go->pclntab_found_by, sizeof(go->pclntab_found_by));
	check_text(go->text_source, sizeof(go->text_source));
	check_text(go->functions_why, sizeof(go->functions_why));
	check_text(go->layout_why, sizeof(go->layout_why));
	for (int i = 0; i < NR_GO_POINTS; i++)
		good &= check_function(&go->points[i]);
	for (int i = 0; i < TARGET_MAX_WANTED; i++)
		good &= check_function(&go->wanted[i]);
	for (int i = 0; i < NR_GO_DATA; i++) {
		check_text(go->variables[i].why, sizeof(go->variables[i].why));
		good &= go->variables[i].found <= TARGET_BY_CODE;
	}
	for (int i = 0; i < NR_GO_FIELDS; i++)
		good &= go->offsets[i] >= -1 && go->offsets[i] <= 1 << 20;
	return good;
}
