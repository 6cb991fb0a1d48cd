/* SPDX-License-Identifier: MIT */
/* From --pid and --comm to processes that are observed. */
#include "user/cmd/targets.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/proc/procfs.h"

#define PROC_ROOT "/proc"

static enum exit_status check_pid(const char *word, struct err *err)
{
	pid_t pid = (pid_t)strtol(word, NULL, 10);
	struct proc_status status;
	struct proc_stat stat;

	if (pid <= 0 || strlen(word) > 9 || procfs_stat(PROC_ROOT, pid, &stat) ||
	    procfs_status(PROC_ROOT, pid, &status)) {
		(void)err_set(err, 0, "--pid %s: there is no such process (any more)", word);
		return EXIT_INVALID;
	}
	if (status.tgid != pid) {
		(void)err_set(err, 0, "--pid %s: it is a thread of process %d; use --pid %d", word,
			      (int)status.tgid, (int)status.tgid);
		return EXIT_USAGE;
	}
	if (stat.flags & PROC_FLAG_KTHREAD) {
		(void)err_set(err, 0, "--pid %s: `%s` is a kernel thread, not a program", word,
			      stat.comm);
		return EXIT_USAGE;
	}
	if (stat.state == 'Z' || stat.state == 'X') {
		(void)err_set(err, 0, "--pid %s: `%s` has ended and waits for its parent", word,
			      stat.comm);
		return EXIT_INVALID;
	}
	return EXIT_GOOD;
}

enum exit_status targets_check(const struct options *options, struct err *err)
{
	if (options->pids_given && !options->pids.n && !options->comms.n) {
		(void)err_set(err, 0, "--pid: no process id given; if it came from pgrep, pgrep found no "
				      "such program: is it running, and under that name?");
		return EXIT_USAGE;
	}
	if (!options->pids.n && !options->comms.n) {
		(void)err_set(err, 0, "no target: give --pid PID or --comm NAME; see --help");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < options->pids.n; i++) {
		enum exit_status status = check_pid(options->pids.word[i], err);

		if (status)
			return status;
	}
	return EXIT_GOOD;
}

static bool is_sudo(pid_t pid)
{
	struct proc_stat stat;

	return !procfs_stat(PROC_ROOT, pid, &stat) && !strcmp(stat.comm, "sudo");
}

static bool is_parent_of_us(pid_t pid)
{
	struct proc_stat stat;
	pid_t at = getpid();

	for (int depth = 0; depth < 8 && !procfs_stat(PROC_ROOT, at, &stat); depth++) {
		at = stat.ppid;
		if (at == pid)
			return true;
	}
	return false;
}

/* Why a process that was named is left out, or NULL. */
static const char *left_out(const struct options *options, pid_t pid)
{
	if (pid == getpid())
		return "it is skyobserve itself";
	if (is_sudo(pid) && is_parent_of_us(pid))
		return "it is the sudo that runs skyobserve";
	if (options->pids.n > 1 && is_sudo(pid))
		return "it is a sudo wrapper, not the program";
	return NULL;
}

static void say_target(const struct process_identity *id)
{
	const struct passwd *pw = getpwuid(id->uid);

	log_info("observing process %d: %s, %s, user %s", (int)id->pid, id->comm,
		 id->exe[0] ? id->exe : "executable not readable", pw ? pw->pw_name : "unknown");
}

static void warn_if_different(const struct observer *o)
{
	const struct process_identity *first = observer_identity(o, 0);

	for (size_t i = 1; i < observer_processes(o); i++) {
		const struct process_identity *id = observer_identity(o, i);

		if (!strcmp(first->exe, id->exe))
			continue;
		log_warn("the targets run different programs (%s and %s): are all of them meant?",
			 first->exe, id->exe);
		return;
	}
}

static enum exit_status add_pids(struct observer *o, const struct options *options, struct err *err)
{
	for (size_t i = 0; i < options->pids.n; i++) {
		pid_t pid = (pid_t)strtol(options->pids.word[i], NULL, 10);
		const char *reason = left_out(options, pid);
		int r;

		if (reason) {
			log_info("process %d is left out: %s", (int)pid, reason);
			continue;
		}
		r = observer_add(o, pid, err);
		if (r == -EEXIST)
			continue;
		if (r)
			return r == -ENOENT || r == -ESRCH ? EXIT_INVALID :
			       r == -ENOSPC		    ? EXIT_USAGE :
							      EXIT_MISSING;
		say_target(observer_identity(o, observer_processes(o) - 1));
	}
	return EXIT_GOOD;
}

size_t targets_rescan(struct observer *o, const struct options *options)
{
	size_t added = 0;

	for (size_t i = 0; i < options->comms.n; i++) {
		pid_t *pids = NULL;
		size_t n = 0;

		if (procfs_find_comm(PROC_ROOT, options->comms.word[i], &pids, &n))
			continue;
		for (size_t k = 0; k < n; k++) {
			struct err err = { { 0 } };
			int r = pids[k] == getpid() ? -EEXIST : observer_add(o, pids[k], &err);

			if (!r) {
				say_target(observer_identity(o, observer_processes(o) - 1));
				added++;
			} else if (r == -ENOSPC) {
				log_warn_once("%s", err.text);
			}
		}
		free(pids);
	}
	return added;
}

enum exit_status targets_add(struct observer *o, const struct options *options, struct err *err)
{
	enum exit_status status = add_pids(o, options, err);

	if (status)
		return status;
	(void)targets_rescan(o, options);
	if (!observer_processes(o) && !options->comms.n) {
		(void)err_set(err, 0, "nothing is left to observe");
		return EXIT_USAGE;
	}
	if (!observer_processes(o))
		log_info("no process of that name yet; waiting for one");
	else
		warn_if_different(o);
	return EXIT_GOOD;
}
