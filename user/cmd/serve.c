/* SPDX-License-Identifier: MIT */
/*
 * One thread, one epoll loop: the HTTP server's descriptor, signals, a timer, and one pidfd per
 * target. Nothing else ever touches the observer, so there are no locks.
 */
#include "user/cmd/serve.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/kinds_choice.h"
#include "user/cmd/live.h"
#include "user/cmd/observer.h"
#include "user/cmd/program.h"
#include "user/cmd/recorder.h"
#include "user/cmd/serve_broker.h"
#include "user/cmd/serve_privilege.h"
#include "user/cmd/targets.h"
#include "user/cmd/version.h"
#include "user/elf/file.h"
#include "user/http/server.h"
#include "user/render/json.h"
#include "user/render/prom.h"

struct serve {
	const struct options *options;
	struct broker_client *broker; /* NULL: none is needed */
	struct observer *observer;
	struct http_server *http;
	struct live *live;	   /* NULL without a table */
	struct recorder *recorder; /* NULL: for scrapes; else there is no @http */
	enum record_end end;	   /* what ended a record */
	struct program program;
	struct kinds_choice kinds; /* until the observer is open */
	u64 rescanned_ns;
	struct pid_list found_once; /* see targets_rescan */
	bool look_again;	    /* soon */
	int epoll_fd, signal_fd, timer_fd, refresh_fd, duration_fd;
	bool stop;
	bool is_long_enough; /* a record */
	int status;
};

/* What an epoll event is about. */
enum {
	EVENT_HTTP,
	EVENT_SIGNAL,
	EVENT_TIMER,
	EVENT_REFRESH,
	EVENT_DURATION,
	EVENT_PROFILE,
	EVENT_BROKER,
	EVENT_ENDED
};

/*
 * How often the slots of ended children are given back, and the files of --exe are looked up. There
 * are 64 slots with details: that many processes may end in this time before one is counted without
 * them.
 */
#define REFRESH_NS (25 * NS_PER_MS)

/* To read the files of targets; 20 MB take 0.1 s. What takes longer is waited for while we serve.
 */
#define OWNERS_PATIENCE_NS (3 * NS_PER_SEC)

static int collect(void *ctx, enum http_body kind, struct buf *body)
{
	struct serve *s = ctx;
	struct family_set set = { 0 };
	struct err err = { { 0 } };
	int r;

	targets_want_files(s->observer, s->broker, s->options);
	r = observer_publish(s->observer, &set, &err);
	if (r)
		log_warn_once("a scrape failed: %s", err.text);
	else if (kind == HTTP_BODY_SNAPSHOT)
		r = json_render(&set, body);
	else
		r = prom_render(&set, kind == HTTP_BODY_OPENMETRICS ? PROM_OPENMETRICS : PROM_TEXT,
				body);
	family_set_done(&set);
	return r;
}

static int open_http(struct serve *s, struct err *err)
{
	const struct options *o = s->options;
	const struct http_config config = {
		.addresses = o->listen.word,
		.nr_addresses = o->listen.n,
		.telemetry_path = o->telemetry_path,
		.host_names = o->hosts.word,
		.nr_host_names = o->hosts.n,
		.max_requests = o->max_requests,
		.title = "skyobserve " SKYOBSERVE_VERSION,
	};

	return http_server_open(&config, collect, s, &s->http, err);
}

static int watch(struct serve *s, int fd, u64 what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u64 = what };

	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

/* The first time after @first_ns (0: not yet), then every @period_ns. */
static int set_timer(int fd, u64 first_ns, u64 period_ns)
{
	const struct itimerspec when = {
		.it_value = { (time_t)(first_ns / NS_PER_SEC), (long)(first_ns % NS_PER_SEC) },
		.it_interval = { (time_t)(period_ns / NS_PER_SEC), (long)(period_ns % NS_PER_SEC) },
	};

	return timerfd_settime(fd, 0, &when, NULL) ? -errno : 0;
}

/* A timer of the loop. */
static int open_timer(struct serve *s, u64 first_ns, u64 period_ns, u64 what, int *ret_fd)
{
	*ret_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (*ret_fd < 0 || set_timer(*ret_fd, first_ns, period_ns))
		return -errno;
	return watch(s, *ret_fd, what);
}

static int open_loop(struct serve *s, struct err *err)
{
	const struct options *o = s->options;
	bool come = o->follow || o->all || o->comms.n || o->exes.n || s->recorder;
	u64 refresh = come ? REFRESH_NS : NS_PER_SEC;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, NULL);

	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	s->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->epoll_fd < 0 || s->signal_fd < 0 ||
	    open_timer(s, NS_PER_SEC, o->interval_seconds * NS_PER_SEC, EVENT_TIMER,
		       &s->timer_fd) ||
	    open_timer(s, refresh, refresh, EVENT_REFRESH, &s->refresh_fd) ||
	    open_timer(s, 0, 0, EVENT_DURATION, &s->duration_fd) ||
	    (s->http && watch(s, http_server_fd(s->http), EVENT_HTTP)) ||
	    watch(s, s->signal_fd, EVENT_SIGNAL) ||
	    (s->broker && watch(s, broker_client_fd(s->broker), EVENT_BROKER)) ||
	    watch(s, observer_fd(s->observer), EVENT_ENDED))
		return err_set(err, -errno, "cannot set up the event loop: %s", strerror(errno));
	return 0;
}

static void on_signal(struct serve *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		/* A program that was started is told, and its end is ours. */
		if (s->program.pid && program_signal(&s->program, (int)info.ssi_signo,
						     info.ssi_code == SI_KERNEL, observer_now()))
			continue;
		if (s->program.pid)
			s->status = 128 + SIGKILL;
		if (info.ssi_signo == SIGHUP)
			continue; /* nothing to read again; must not end a long observation */
		s->stop = true;
		s->end = RECORD_END_SIGNAL;
	}
}

static bool timer_is_due(int fd)
{
	u64 expirations;

	return read(fd, &expirations, sizeof(expirations)) == sizeof(expirations);
}

static void end_with_targets(struct serve *s)
{
	const struct options *o = s->options;
	/* Nobody else is to come. */
	bool over = s->recorder && o->pids.n && !serve_targets_come(o);

	/* One that came and went between two looks has no descriptor to tell of its end. */
	if (!(o->exit_with_target || over) || !observer_age_ns(s->observer) ||
	    observer_alive(s->observer))
		return;
	s->stop = true;
	s->status = EXIT_INVALID;
	s->end = RECORD_END_TARGETS;
}

static void on_ended(struct serve *s)
{
	const struct options *o = s->options;
	/* One that is chosen by its number is no other when it is started again. */
	bool comes_again = o->comms.n || o->exes.n || o->cgroups.n || o->all || s->program.pid ||
			   o->exit_with_target;
	const struct process_identity *id;

	while ((id = observer_next_ended(s->observer)))
		log_info("process %d (%s) has ended; its totals stay%s%s", (int)id->pid, id->comm,
			 comes_again ? "" : "; to observe it when it is started again: --comm ",
			 comes_again ? "" : id->comm);
	if (s->program.pid) {
		int status = program_status(&s->program);

		s->stop |= status >= 0;
		s->status = status >= 0 ? status : 0;
		if (status >= 0)
			s->end = RECORD_END_PROGRAM;
		return;
	}
	end_with_targets(s);
}

static void on_refresh(struct serve *s)
{
	targets_want_files(s->observer, s->broker, s->options);
	if (s->recorder)
		recorder_refresh(s->recorder, s->observer);
	observer_tidy(s->observer);
	targets_say_come(s->observer);
	program_check(&s->program, observer_now());
	/* Looking through /proc is dearer than through our own slots: once a second. */
	if (s->look_again || observer_now() - s->rescanned_ns >= NS_PER_SEC) {
		bool fresh = targets_rescan(s->observer, s->broker, s->options, &s->found_once);

		/* Once: some that are found cannot be observed. */
		s->look_again = fresh && !s->look_again;
		s->rescanned_ns = observer_now();
	}
	/* A scrape that folds in who just ended takes the event of the end away. */
	on_ended(s);
}

static void on_profile(struct serve *s)
{
	int fd = recorder_profile_fd(s->recorder);

	if (!recorder_profile_step(s->recorder))
		return;
	(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	s->stop |= s->is_long_enough;
}

static void on_event(struct serve *s, u64 event)
{
	switch (event) {
	case EVENT_HTTP: /* it runs after every wait */
		break;
	case EVENT_SIGNAL:
		on_signal(s);
		break;
	case EVENT_TIMER:
		if (!timer_is_due(s->timer_fd))
			break;
		if (s->live)
			live_show(s->live, s->observer);
		if (s->recorder)
			recorder_step(s->recorder, s->observer);
		break;
	case EVENT_DURATION:
		s->is_long_enough |= timer_is_due(s->duration_fd);
		s->stop |= s->is_long_enough && recorder_may_end(s->recorder);
		break;
	case EVENT_PROFILE:
		on_profile(s);
		break;
	case EVENT_REFRESH:
		if (timer_is_due(s->refresh_fd))
			on_refresh(s);
		break;
	case EVENT_BROKER:
		serve_broker_ended(s->broker);
		(void)epoll_ctl(s->epoll_fd, EPOLL_CTL_DEL, broker_client_fd(s->broker), NULL);
		break;
	default:
		on_ended(s);
		break;
	}
}

static void run_loop(struct serve *s)
{
	struct epoll_event events[16];

	on_ended(s); /* during set-up */
	while (!s->stop) {
		int n = epoll_wait(s->epoll_fd, events, 16,
				   s->http ? http_server_timeout_ms(s->http) : -1);

		for (int i = 0; i < n; i++)
			on_event(s, events[i].data.u64);
		if (s->http)
			http_server_run(s->http);
	}
}

static void say_addresses(const struct serve *s)
{
	for (size_t i = 0; i < http_server_nr_addresses(s->http); i++) {
		struct buf url = { 0 };

		http_server_url(s->http, i, &url);
		log_info("metrics at %s", url.bytes ? url.bytes : "?");
		buf_done(&url);
	}
}

static void say_groups(const struct serve *s)
{
	static const char *const names[NR_GROUPS] = {
#define GROUP(id, label, help) label,
#include "groups.def"
#undef GROUP
	};
	const struct group_state *groups = observer_groups(s->observer);

	for (size_t i = 0; i < NR_GROUPS; i++) {
		if (groups[i].up || !strcmp(groups[i].reason, "not asked for"))
			continue;
		if (i == GROUP_QUEUE) /* kernels without it are in wide use, and it is one family */
			log_info("probe group %s is off: %s", names[i], groups[i].reason);
		else
			log_warn("probe group %s is off: %s", names[i], groups[i].reason);
	}
}

/* Functions that are asked for and missing are a wrong command line, not a smaller observation. */
static int check_functions(const struct serve *s, struct err *err)
{
	int r = observer_check_functions(s->observer, err);

	return !r ? EXIT_GOOD : r == -ENOTSUP ? EXIT_USAGE : EXIT_MISSING;
}

static int add_targets(struct serve *s, struct err *err)
{
	int status = targets_add(s->observer, s->broker, s->options, err);

	return status ? status : check_functions(s, err);
}

/* Before it runs: a program that does not fit is not to have done anything. */
static int check_program(const struct serve *s, struct err *err)
{
	char path[PATH_MAX];
	int r, fd;

	if (!program_file(s->options->program[0], path))
		return EXIT_GOOD; /* whoever executes it says why it cannot */
	fd = elf_open_path(path, err);
	if (fd < 0)
		return EXIT_GOOD;
	r = observer_check_program(s->observer, fd, err);
	close(fd);
	if (r)
		(void)err_prefix(err, r, "%s: ", path);
	return !r ? EXIT_GOOD : r == -ENOMEM ? EXIT_FAILED : EXIT_USAGE;
}

/* Observed before it executes, so from its first instruction. */
static int start_program(struct serve *s, struct err *err)
{
	char **argv = s->options->program;
	int status;
	int r = program_prepare(argv, s->options->user, &s->program, err);

	if (r)
		return r == -EINVAL ? EXIT_USAGE : r == -EPERM ? EXIT_MISSING : EXIT_FAILED;
	if (observer_add(s->observer, s->program.pid, err))
		return EXIT_MISSING;
	status = check_program(s, err); /* last: where its functions are is known when it runs */
	if (status)
		return status;
	if (s->recorder && recorder_begin(s->recorder, s->observer, err))
		return EXIT_FAILED;
	if (program_start(&s->program, argv[0], &status, err))
		return status;
	observer_refresh(s->observer); /* who it is by now, while its executable may be read */
	return check_functions(s, err);
}

/* A word that belongs to no option, and what was probably meant. */
static void say_stray_word(const char *word, struct err *err)
{
	if (strspn(word, "0123456789") == strlen(word))
		(void)err_set(err, -EINVAL, "`%s` belongs to no option; a process is --pid %s",
			      word, word);
	else
		(void)err_set(err, -EINVAL,
			      "`%s` belongs to no option; a program to start goes behind --, a "
			      "command of skyobserve before all options",
			      word);
}

/*
 * Processes that are counted one by one, so that it can be seen which are the dearest: 2 for each
 * name, of some 1.1 KB each with 2 lanes. Those that find no place are in `other` while they live.
 */
static u32 places_for(u32 names)
{
	const u32 least = 1024, most = 1 << 20;

	if (names > most)
		return names;
	return names < least / 2 ? least : 2 * names;
}

/* What the options say at once; groups and interactions are still to be read. */
static struct observer_config config_of(const struct options *o)
{
	struct observer_config config = {
		.bounds = bpf_bounds_default,
		.force_raw_tp = o->raw_tracepoints,
		.label_pid = o->label_pid,
		.follow = o->follow,
		.all = o->all,
		.all_syscalls = o->all_syscalls,
		.comms = o->comms.word,
		.nr_comms = o->comms.n,
		.nr_files = o->exes.n,
		.name = o->name,
		.calibrate = true,
	};

	/* Of the whole machine only those that were asked for one by one have details. */
	if (o->all && !o->pids.n && !o->program && !o->comms.n && !o->exes.n && !o->cgroups.n)
		config.bounds.max_details = config.bounds.max_rows = 1;
	config.max_names = o->max_processes;
	config.bounds.max_processes = places_for(o->max_processes);
	config.bounds.max_threads = o->max_threads;
	return config;
}

/* Returns an exit status. */
static int set_up(struct serve *s, struct err *err)
{
	const struct options *o = s->options;
	struct observer_config config = config_of(o);
	int status;

	if (o->rest.n) {
		say_stray_word(o->rest.word[0], err);
		return EXIT_USAGE;
	}
	if (options_groups(o->groups, &config.groups, err))
		return EXIT_USAGE;
	if (kinds_choose(o, &config, &s->kinds, err))
		return EXIT_USAGE;
	/* What it counts is in records only. */
	if (!s->recorder && !o->groups)
		config.groups &= ~(1u << GROUP_CENSUS);
	status = targets_check(o, err);
	if (status)
		return status;
	/* Before anything is open that it should not have. */
	if (serve_start_broker(o, config.groups, &s->broker, err))
		return EXIT_MISSING;
	config.broker = s->broker;
	/* The address is taken next: it fails more often, and costs nothing to give back. */
	status = s->recorder ? 0 : open_http(s, err);
	if (status)
		return status == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	if (observer_open(&config, &s->observer, err))
		return EXIT_MISSING;
	kinds_choice_done(&s->kinds);
	status = add_targets(s, err);
	if (status)
		return status;
	observer_await_owners(s->observer, OWNERS_PATIENCE_NS);
	if (open_loop(s, err))
		return EXIT_MISSING;
	status = o->program ? start_program(s, err) : EXIT_GOOD;
	if (status)
		return status;
	if (s->recorder && recorder_prepare(s->recorder, s->observer, s->broker, err))
		return EXIT_FAILED;
	observer_seal(s->observer);
	return serve_drop_privileges(o, s->observer, err) ? EXIT_MISSING : EXIT_GOOD;
}

static void serve_scrapes(struct serve *s, bool live)
{
	say_addresses(s);
	if (live)
		s->live = live_new(s->http);
	http_server_set_ready(s->http, true);
	run_loop(s);
	live_free(s->live);
	live_summary(s->observer);
}

static void record(struct serve *s)
{
	u64 duration_ns = recorder_duration_ns(s->recorder);
	struct err err = { { 0 } };
	int status;

	if (!s->options->program && recorder_begin(s->recorder, s->observer, &err)) {
		log_error("record: %s", err.text);
		s->status = EXIT_FAILED;
		return;
	}
	if (recorder_profile_fd(s->recorder) >= 0 &&
	    watch(s, recorder_profile_fd(s->recorder), EVENT_PROFILE))
		s->stop = true;
	if (duration_ns && set_timer(s->duration_fd, duration_ns, 0))
		s->stop = true; /* the record says that it is too short */
	run_loop(s);
	status = recorder_end(s->recorder, s->observer, s->end,
			      s->end == RECORD_END_PROGRAM ? s->status : -1);
	/* What the program returned is good to know where all else is good. */
	if (status || s->end != RECORD_END_PROGRAM)
		s->status = status;
}

static int serve(const struct options *options, bool live, struct recorder *recorder)
{
	struct serve s = { .options = options,
			   .recorder = recorder,
			   .epoll_fd = -1,
			   .signal_fd = -1,
			   .timer_fd = -1,
			   .refresh_fd = -1,
			   .duration_fd = -1 };
	struct err err = { { 0 } };

	s.status = set_up(&s, &err);
	if (s.status) {
		log_error("%s", err.text);
	} else {
		serve_say_broker(s.broker);
		say_groups(&s);
		if (recorder)
			record(&s);
		else
			serve_scrapes(&s, live);
	}
	program_done(&s.program);
	kinds_choice_done(&s.kinds);
	free(s.found_once.pids);
	http_server_free(s.http);
	observer_free(s.observer);
	broker_client_free(s.broker);
	for (size_t i = 0; i < 5; i++) {
		const int fds[] = { s.epoll_fd, s.signal_fd, s.timer_fd, s.refresh_fd,
				    s.duration_fd };

		if (fds[i] >= 0)
			close(fds[i]);
	}
	return s.status;
}

int cmd_serve(const struct options *options)
{
	return serve(options, options->live, NULL);
}

int cmd_top(const struct options *options)
{
	return serve(options, true, NULL);
}

int serve_record(const struct options *options, struct recorder *recorder)
{
	return serve(options, false, recorder);
}
