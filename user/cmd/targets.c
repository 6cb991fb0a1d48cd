/* SPDX-License-Identifier: MIT */
/* From the command line to processes that are observed. */
#include "user/cmd/targets.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/serve_broker.h"
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

/* What the kernel calls a program that is called @word. */
static void comm_of(const char *word, char ret_comm[COMM_BYTES])
{
	snprintf(ret_comm, COMM_BYTES, "%s", word);
}

/* Once for each word of --comm that the kernel cannot keep. */
static void say_cut(const char *word)
{
	char comm[COMM_BYTES];

	comm_of(word, comm);
	if (strcmp(word, comm) != 0)
		log_warn("--comm %s: the kernel keeps %d bytes of a name; observing whatever is "
			 "called %s",
			 word, COMM_BYTES - 1, comm);
}

static enum exit_status check_exe(const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st)) {
		log_warn("--exe %s: %s; waiting for it", path, strerror(errno));
		return EXIT_GOOD;
	}
	if (!S_ISREG(st.st_mode)) {
		(void)err_set(err, 0, "--exe %s: it is not a file that can be executed", path);
		return EXIT_USAGE;
	}
	return EXIT_GOOD;
}

static enum exit_status check_wanted(const struct options *options, struct err *err)
{
	enum exit_status status = EXIT_GOOD;

	if (options->comms.n > MAX_WANTED || options->exes.n > MAX_WANTED) {
		(void)err_set(err, 0, "%s: at most %d of them can be given",
			      options->comms.n > MAX_WANTED ? "--comm" : "--exe", MAX_WANTED);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < options->comms.n; i++)
		say_cut(options->comms.word[i]);
	for (size_t i = 0; i < options->exes.n && !status; i++)
		status = check_exe(options->exes.word[i], err);
	return status;
}

/* Targets that need not be there yet. */
static bool has_other_targets(const struct options *options)
{
	return options->comms.n || options->exes.n || options->cgroups.n || options->all ||
	       options->program;
}

enum exit_status targets_check(const struct options *options, struct err *err)
{
	if (options->pids_given && !options->pids.n && !has_other_targets(options)) {
		(void)err_set(err, 0,
			      "--pid: no process id given; if it came from pgrep, pgrep found no "
			      "such program: is it running, and under that name?");
		return EXIT_USAGE;
	}
	if (!options->pids.n && !has_other_targets(options)) {
		(void)err_set(err, 0,
			      "no target: give --pid PID, --comm NAME, --exe PATH, --cgroup PATH, "
			      "--all, or "
			      "-- COMMAND; see --help");
		return EXIT_USAGE;
	}
	if (options->all_syscalls && !options->all) {
		(void)err_set(err, 0,
			      "--all-syscalls is for the processes of --all: targets have their "
			      "system calls by name without it");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < options->pids.n; i++) {
		enum exit_status status = check_pid(options->pids.word[i], err);

		if (status)
			return status;
	}
	return check_wanted(options, err);
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
	char number[16];

	/* While we serve, no file with names can be opened. */
	snprintf(number, sizeof(number), "id %u", (unsigned int)id->uid);
	log_info("observing process %d: %s, %s, user %s", (int)id->pid, id->comm,
		 id->exe ? id->exe : "executable not readable", pw ? pw->pw_name : number);
}

static void warn_if_different(const struct observer *o)
{
	const struct process_identity *first = observer_identity(o, 0);
	const char *exe = first->exe ? first->exe : "";

	for (size_t i = 1; i < observer_processes(o); i++) {
		const struct process_identity *id = observer_identity(o, i);

		if (!strcmp(exe, id->exe ? id->exe : ""))
			continue;
		log_warn("the targets run different programs (%s and %s): are all of them meant?",
			 exe, id->exe ? id->exe : "");
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
			return r == -ENOENT || r == -ESRCH ? EXIT_INVALID
			       : r == -ENOSPC		   ? EXIT_USAGE
							   : EXIT_MISSING;
		say_target(observer_identity(o, observer_processes(o) - 1));
	}
	return EXIT_GOOD;
}

static bool add_found(struct observer *o, pid_t pid)
{
	struct err err = { { 0 } };
	int r = observer_add(o, pid, &err);

	if (r == -ENOSPC)
		log_warn_once("%s", err.text);
	if (!r)
		say_target(observer_identity(o, observer_processes(o) - 1));
	return !r;
}

/* It was forked by another target, changed its name among its threads, or its file was new. */
static void count_if_late(struct observer *o, size_t i)
{
	if (!observer_began_later(o, i))
		return;
	observer_count_late(o);
	log_warn_once(
		"process %d was found by looking for it, not at its exec: what it did before is "
		"not counted (once a second; dropped events, reason late_process); --follow "
		"takes forked processes in from their birth",
		(int)observer_identity(o, i)->pid);
}

void targets_want_files(struct observer *o, struct broker_client *broker,
			const struct options *options)
{
	struct broker_file files[MAX_WANTED];
	struct look_wanted wanted;
	u32 n;

	if (!options->exes.n)
		return;
	serve_wanted(options, &wanted);
	n = broker_files(broker, &wanted, files);
	for (u32 i = 0; i < n; i++)
		observer_want_file(o, i, files[i].inode, files[i].device);
}

void targets_say_come(struct observer *o)
{
	const struct process_identity *id;

	while ((id = observer_next_come(o)))
		say_target(id);
}

static bool contains(const struct pid_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->pids[i] == pid)
			return true;
	}
	return false;
}

/* Keep those of @list that are not observed: they are taken in if they are still there next time.
 */
static void keep_new(const struct observer *o, struct pid_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (!observer_observes(o, list->pids[i]))
			list->pids[n++] = list->pids[i];
	}
	list->n = n;
}

bool targets_rescan(struct observer *o, struct broker_client *broker, const struct options *options,
		    struct pid_list *seen)
{
	struct look_wanted wanted;
	struct pid_list list = { 0 };
	bool waits;
	int r;

	serve_wanted(options, &wanted);
	if (!wanted.comms.n && !wanted.exes.n && !wanted.cgroups.n)
		return false;
	/* Into a control group a process comes at any time of its life. */
	waits = seen && !wanted.cgroups.n;
	r = broker_find(broker, &wanted, &list);
	if (r)
		log_warn_once("%s: %s", wanted.cgroups.n ? "--cgroup" : "looking for processes",
			      strerror(-r));
	for (size_t i = 0; i < list.n; i++) {
		pid_t pid = list.pids[i];

		if (pid == getpid() || pid == broker_client_pid(broker) ||
		    (waits && !contains(seen, pid)) || !add_found(o, pid))
			continue;
		if (!wanted.cgroups.n)
			count_if_late(o, observer_processes(o) - 1);
	}
	if (!waits) {
		free(list.pids);
		return false;
	}
	keep_new(o, &list);
	free(seen->pids);
	*seen = list;
	return seen->n != 0;
}

enum exit_status targets_add(struct observer *o, struct broker_client *broker,
			     const struct options *options, struct err *err)
{
	enum exit_status status = add_pids(o, options, err);

	if (status)
		return status;
	if (options->all && observer_add_all(o, err))
		return EXIT_MISSING;
	targets_want_files(o, broker, options);
	(void)targets_rescan(o, broker, options, NULL);
	if (observer_processes(o)) {
		if (!options->all)
			warn_if_different(o);
		return EXIT_GOOD;
	}
	if (!has_other_targets(options)) {
		(void)err_set(err, 0, "nothing is left to observe");
		return EXIT_USAGE;
	}
	if (!options->program)
		log_info("no such process yet; waiting for one");
	return EXIT_GOOD;
}
