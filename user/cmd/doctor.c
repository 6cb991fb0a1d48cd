/* SPDX-License-Identifier: MIT */
/*
 * The report: its rows come from doctor_kernel.c and doctor_machine.c; the probe groups are tried
 * here, as `serve` would.
 */
#include "user/cmd/doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/bpf/session.h"
#include "user/cmd/doctor_impl.h"
#include "user/cmd/print.h"
#include "user/cmd/targets.h"

#define REPORT_WIDTH 80
#define WHAT_COLUMNS 22
#define FOUND_COLUMN 34

static const struct {
	const char *word;
	enum paper_style style;
} health_rows[NR_HEALTHS] = {
	[HEALTH_OK] = { "ok", PAPER_PLAIN },
	[HEALTH_LIMITED] = { "limited", PAPER_STRONG },
	[HEALTH_MISSING] = { "missing", PAPER_BAD },
	[HEALTH_UNCHECKED] = { "unchecked", PAPER_FAINT },
};

void report_row(struct report *r, enum health health, const char *what, const char *remedy,
		const char *fmt, ...)
{
	char label[FOUND_COLUMN + 1], found[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(found, sizeof(found), fmt, ap);
	va_end(ap);
	snprintf(label, sizeof(label), "%-*.*s %-10s", WHAT_COLUMNS, WHAT_COLUMNS, what,
		 health_rows[health].word);
	paper_begin(&r->paper, FOUND_COLUMN, health_rows[health].style, label);
	paper_text(&r->paper, PAPER_PLAIN, found);
	paper_end(&r->paper);
	if (remedy && health != HEALTH_OK) {
		paper_begin(&r->paper, FOUND_COLUMN, PAPER_PLAIN, "");
		paper_text(&r->paper, PAPER_STRONG, "remedy:");
		paper_text(&r->paper, PAPER_PLAIN, remedy);
		paper_end(&r->paper);
	}
	r->healths[health]++;
}

/* One family, which many kernels in use do not have. */
#define NO_QUEUE "sk_data_ready: the kernel has no such tracepoint"

static const char *group_remedy(const struct report *r, const char *reason)
{
	static const struct {
		const char *word; /* in the reason */
		const char *remedy;
	} rows[] = {
		{ NO_QUEUE, "Linux 6.3 or later; everything else is known without it" },
		{ "no such tracepoint",
		  "a kernel with this tracepoint: sys_enter and sys_exit need "
		  "CONFIG_FTRACE_SYSCALLS, those of io_uring CONFIG_IO_URING" },
		{ "not built in", "build it again: this binary lacks the program" },
		{ "Too many open files", "raise the limit of open files: ulimit -n 1024" },
		{ "Cannot allocate memory", "free memory, or lower --max-processes and "
					    "--max-threads" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strstr(reason, rows[i].word))
			return rows[i].remedy;
	}
	return r->bpf_refused ? PRIVILEGE_REMEDY
			      : "see the rows above; the verifier's words: "
				"SKYOBSERVE_DEBUG_LIBBPF=1 skyobserve doctor";
}

static enum health group_health(const struct group_state *state)
{
	if (state->up)
		return HEALTH_OK;
	return strstr(state->reason, NO_QUEUE) ? HEALTH_LIMITED : HEALTH_MISSING;
}

/* Open a session as `serve` does, and say what became of each group. */
static int check_groups(struct report *r, const struct options *options, u32 groups)
{
	static const char *const names[NR_GROUPS] = {
#define GROUP(id, label, help) "group " label,
#include "groups.def"
#undef GROUP
	};
	struct bpf_session *session;
	const struct group_state *states;
	struct err err = { { 0 } };
	char *hint;
	const struct bpf_session_config config = { .bounds = bpf_bounds_default,
						   .groups = groups,
						   .force_raw_tp = options->raw_tracepoints };
	int e = bpf_session_open(&config, &session, &err);

	if (e) {
		/* What to do stands behind the last semicolon; here it is the remedy. */
		hint = strrchr(err.text, ';');
		if (hint)
			*hint = '\0';
		report_row(r, HEALTH_MISSING, "probe groups", group_remedy(r, err.text), "%s",
			   err.text);
		return e;
	}
	states = bpf_session_groups(session);
	for (u32 i = 0; i < NR_GROUPS; i++) {
		bool wanted = i == GROUP_PROCESS || groups & 1u << i;

		if (!wanted)
			report_row(r, HEALTH_UNCHECKED, names[i], NULL, "%s", states[i].reason);
		else
			report_row(r, group_health(&states[i]), names[i],
				   group_remedy(r, states[i].reason), "%s", states[i].reason);
	}
	if (states[GROUP_SCHED].up)
		doctor_chain(r, session);
	doctor_serving(r, session);
	bpf_session_free(session);
	return 0;
}

static void say_verdict(struct report *r, int groups)
{
	struct buf *out = r->paper.buf;

	buf_char(out, '\n');
	paper_begin(&r->paper, 0, PAPER_PLAIN, "");
	if (groups)
		paper_text(&r->paper, PAPER_BAD, "Processes cannot be observed here.");
	else if (r->healths[HEALTH_MISSING] || r->healths[HEALTH_LIMITED])
		paper_text(&r->paper, PAPER_STRONG,
			   "Processes can be observed here, without what is marked above.");
	else
		paper_text(&r->paper, PAPER_GOOD, "Everything that is needed is here.");
	if (r->healths[HEALTH_UNCHECKED])
		paper_text(&r->paper, PAPER_PLAIN,
			   r->bpf_refused ? "What is unchecked can be asked by root."
					  : "What is unchecked was not asked for.");
	paper_end(&r->paper);
}

int cmd_doctor(const struct options *options)
{
	struct report r = { .paper = { .width = REPORT_WIDTH } };
	struct err err = { { 0 } };
	struct buf out = { 0 };
	int status;
	u32 groups;

	if (options->rest.n) {
		log_error("doctor: `%s` is one word too many", options->rest.word[0]);
		return EXIT_USAGE;
	}
	if (options_groups(options->groups, &groups, &err)) {
		log_error("%s", err.text);
		return EXIT_USAGE;
	}
	r.paper.buf = &out;
	r.paper.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
	sysinfo_privilege(DOCTOR_ROOT, &r.privilege);
	bpf_features_ask(&r.features);
	r.bpf_refused = r.features.program || r.features.map;

	buf_printf(&out, "%-*.*s %-10s %s\n", WHAT_COLUMNS, WHAT_COLUMNS, "WHAT", "STATE", "FOUND");
	doctor_privilege(&r);
	doctor_kernel(&r);
	doctor_machine(&r);
	status = check_groups(&r, options, groups);
	say_verdict(&r, status);
	status = status ? EXIT_MISSING : EXIT_GOOD;
	status = print_whole(&out, status);
	buf_done(&out);
	return status;
}
