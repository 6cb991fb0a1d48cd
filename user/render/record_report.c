/* SPDX-License-Identifier: MIT */
/* The report on a record: its head, conditions and processes. Interactions are beside it. */
#include "user/render/record_report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "user/model/gates.h"
#include "user/render/json.h"
#include "user/render/number.h"
#include "user/render/paper.h"
#include "user/render/record_kinds.h"
#include "user/render/record_series.h"
#include "user/render/table.h"
#include "user/render/table_process.h"

#define LABEL_COLUMN 16

/* Processes that are shown one by one; of more it is said how many. */
#define MAX_PROCESSES 64

/* --- head --- */

static void wall_time(u64 wall_ns, char *ret_text, size_t n)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_SEC);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(ret_text, n, "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(ret_text, n, "unknown");
}

static void print_head(const struct record *r, const char *path, struct paper *p)
{
	char window[HUMAN_WIDTH], begin[64], interval[HUMAN_WIDTH];

	human_duration(record_window_ns(r), window);
	human_duration(r->interval_ns, interval);
	wall_time(r->frames[0].wall_ns, begin, sizeof(begin));
	paper_title(p, "RECORD");
	paper_row(p, LABEL_COLUMN, "file", "%s", path);
	paper_row(p, LABEL_COLUMN, "written by", "skyobserve %s", r->version);
	paper_row(p, LABEL_COLUMN, "window", "%s from %s on, ended by %s", window, begin,
		  record_end_words[r->end]);
	if (r->program_status >= 0)
		paper_row(p, LABEL_COLUMN, "program", "%s ended with status %d",
			  record_fact_text(r, "asked.program"), (int)r->program_status);
	paper_row(p, LABEL_COLUMN, "snapshots", "%zu, one every %s", r->nr_frames, interval);
	if (r->unknown_families)
		paper_row(p, LABEL_COLUMN, "left out",
			  "%u metrics of a newer skyobserve, which this one does not know",
			  r->unknown_families);
}

static void print_gates(const struct record *r, struct paper *p)
{
	static const struct {
		const char *word;
		enum paper_style style;
	} states[] = {
		[GATE_UNKNOWN] = { "not judged", PAPER_FAINT },
		[GATE_HOLDS] = { "ok", PAPER_GOOD },
		[GATE_WARNS] = { "warning", PAPER_STRONG },
		[GATE_INVALID] = { "INVALID", PAPER_BAD },
	};
	struct gate gates[NR_GATES];
	u32 invalid;

	gates_of(r, gates);
	invalid = gates_invalid(gates);
	paper_title(p, "VALIDITY");
	paper_begin(p, LABEL_COLUMN, PAPER_PLAIN, "  this record");
	paper_item(p, invalid ? PAPER_BAD : PAPER_GOOD, "%s", invalid ? "INVALID" : "valid");
	paper_end(p);
	for (u32 i = 0; i < NR_GATES; i++) {
		char label[32];

		snprintf(label, sizeof(label), "  %s", gate_names[i]);
		paper_begin(p, LABEL_COLUMN, PAPER_PLAIN, label);
		paper_item(p, states[gates[i].state].style, "%s", states[gates[i].state].word);
		paper_text(p, PAPER_PLAIN, gates[i].text);
		paper_end(p);
	}
}

/* --- conditions --- */

static void print_fact(const struct record *r, const char *label, const char *name, struct paper *p)
{
	const struct record_fact *fact = record_fact(r, name);

	if (!fact || !fact->begin[0])
		return;
	if (fact->end && strcmp(fact->begin, fact->end) != 0)
		paper_row(p, LABEL_COLUMN, label, "%s at the beginning, %s at the end", fact->begin,
			  fact->end);
	else
		paper_row(p, LABEL_COLUMN, label, "%s", fact->begin);
}

static void print_memory(const struct record *r, struct paper *p)
{
	char all[HUMAN_WIDTH], begin[HUMAN_WIDTH], end[HUMAN_WIDTH];
	u64 total, before, after;

	if (!record_fact_number(r, "machine.memory_kib", &total) ||
	    !record_fact_number(r, "memory.available_kib", &before) ||
	    !record_fact_number_at_end(r, "memory.available_kib", &after))
		return;
	human_bytes((double)total * 1024, all);
	human_bytes((double)before * 1024, begin);
	human_bytes((double)after * 1024, end);
	paper_row(p, LABEL_COLUMN, "memory", "%s, available %s at the beginning, %s at the end",
		  all, begin, end);
}

static void print_conditions(const struct record *r, struct paper *p)
{
	static const struct {
		const char *label, *name;
	} rows[] = {
		{ "kernel", "machine.kernel" },
		{ "build", "machine.kernel_build" },
		{ "CPU", "machine.cpu_model" },
		{ "CPUs online", "cpu.online" },
		{ "virtual", "machine.virtual" },
		{ "clock", "clock.source" },
		{ "load", "load.average" },
		{ "isolated", "asked.isolated" },
		{ "interactions", "asked.interaction" },
		{ "expected store", "asked.store" },
		{ "profile", "profile.file" },
	};

	paper_title(p, "CONDITIONS");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		print_fact(r, rows[i].label, rows[i].name, p);
	print_memory(r, p);
}

/* Facts "target.@i.PREFIXNAME", as NAME=VALUE. */
static void print_variables(const struct record *r, u32 i, struct paper *p)
{
	char full[64];
	size_t n;
	bool begun = false;

	snprintf(full, sizeof(full), "target.%u.environment.", i);
	n = strlen(full);
	for (size_t k = 0; k < r->nr_facts; k++) {
		const struct record_fact *fact = &r->facts[k];

		if (strncmp(fact->name, full, n) != 0)
			continue;
		if (!begun)
			paper_begin(p, LABEL_COLUMN, PAPER_PLAIN, "  environment");
		begun = true;
		paper_item(p, PAPER_PLAIN, "%s=%s", fact->name + n, fact->begin);
	}
	if (begun)
		paper_end(p);
}

/* Sockets: how many of each there were at either edge. */
static void print_sockets(const struct record *r, u32 i, const char *label, const char *kind,
			  struct paper *p)
{
	char full[64];
	size_t n;

	snprintf(full, sizeof(full), "target.%u.%s.", i, kind);
	n = strlen(full);
	for (size_t k = 0; k < r->nr_facts; k++) {
		const struct record_fact *fact = &r->facts[k];
		const char *end = fact->end ? fact->end : "";

		if (strncmp(fact->name, full, n) != 0)
			continue;
		if (strcmp(fact->begin, end) != 0)
			paper_row(p, LABEL_COLUMN, label,
				  "%s, %s times at the beginning, %s at the end", fact->name + n,
				  fact->begin, end);
		else
			paper_row(p, LABEL_COLUMN, label, "%s%s%s%s", fact->name + n,
				  strcmp(end, "1") ? ", " : "", strcmp(end, "1") ? end : "",
				  strcmp(end, "1") ? " times" : "");
		label = "";
	}
}

static void print_target(const struct record *r, u32 i, struct paper *p)
{
	static const struct {
		const char *label, *what;
	} rows[] = {
		{ "executable", "exe" },
		{ "build id", "build_id" },
		{ "Go build id", "go_build_id" },
		{ "runtime", "runtime_version" },
		{ "control group", "cgroup" },
		{ "may use CPUs", "cpus_allowed" },
		{ "state", "state" },
		{ "clients", "clients" },
	};
	char name[64], pid[64];

	snprintf(pid, sizeof(pid), "target.%u.pid", i);
	snprintf(name, sizeof(name), "target.%u.comm", i);
	paper_end(p);
	paper_begin(p, LABEL_COLUMN, PAPER_STRONG, record_fact_text(r, name));
	paper_item(p, PAPER_PLAIN, "pid %s", record_fact_text(r, pid));
	paper_end(p);
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		snprintf(name, sizeof(name), "target.%u.%s", i, rows[k].what);
		print_fact(r, rows[k].label, name, p);
	}
	print_variables(r, i, p);
	print_sockets(r, i, "listens on", "listens", p);
	print_sockets(r, i, "connected to", "connected", p);
}

static void print_targets(const struct record *r, struct paper *p)
{
	paper_title(p, "TARGETS");
	print_fact(r, "at the begin", "targets.at_begin", p);
	for (u32 i = 0; i < r->nr_facts; i++) {
		char name[64];

		snprintf(name, sizeof(name), "target.%u.pid", i);
		if (!record_fact(r, name))
			break;
		print_target(r, i, p);
	}
}

/* --- what happened --- */

static void print_processes(const struct record *r, struct paper *p)
{
	const struct family *up = &record_end(r)->families[FAM_PROCESS_UP];
	struct table_input in = { .prev = record_begin(r),
				  .now = record_end(r),
				  .interval_ns = record_window_ns(r),
				  .totals = true,
				  .rates_too = true,
				  .max_syscalls = 100 };

	paper_title(p, "PROCESSES: TOTALS OF THE WINDOW");
	for (size_t i = 0; i < up->nr_samples && i < MAX_PROCESSES && in.interval_ns; i++) {
		struct activity a;

		if (i)
			paper_end(p);
		activity_measure(in.prev, in.now, &up->samples[i], &a);
		table_print_process(&in, &a, p);
		p->buf->failed |= a.failed;
		activity_done(&a);
	}
	if (up->nr_samples > MAX_PROCESSES)
		paper_row(p, LABEL_COLUMN, "not shown", "%zu more", up->nr_samples - MAX_PROCESSES);
}

static void print_cpu(struct paper *p, const char *who, u64 ns)
{
	char human[HUMAN_WIDTH];

	human_duration(ns, human);
	paper_item(p, PAPER_PLAIN, "%s %s", who, human);
}

/* What it cost to know this, beside what our programs cost in the target's own system calls. */
static void print_cost(const struct record *r, struct paper *p)
{
	u64 own, broker = 0, canary = 0, bpf = 0;

	if (record_delta(r, FAM_EXP_CPU, NULL, 0, &own))
		return;
	(void)record_delta(r, FAM_BROKER_CPU, NULL, 0, &broker);
	(void)record_fact_number(r, "canary.cpu_ns", &canary);
	paper_title(p, "COST OF OBSERVING, CPU TIME");
	paper_begin(p, LABEL_COLUMN, PAPER_PLAIN, "  outside");
	print_cpu(p, "observer", own);
	print_cpu(p, "broker", broker);
	print_cpu(p, "canary", canary);
	paper_end(p);
	paper_begin(p, LABEL_COLUMN, PAPER_PLAIN, "  inside");
	if (record_delta(r, FAM_BPF_RUN_SECONDS, NULL, 0, &bpf))
		paper_text(p, PAPER_PLAIN,
			   "of BPF programs, part of the tasks' own CPU time: not measured (sysctl "
			   "kernel.bpf_stats_enabled=1)");
	else
		print_cpu(p, "BPF programs, of the whole machine,", bpf);
	paper_end(p);
}

static void print_not_measured(const struct record *r, struct paper *p)
{
	const struct family *groups = &record_end(r)->families[FAM_GROUP_UP];
	const struct family *steal = &record_end(r)->families[FAM_STEAL_SUPPORTED];

	paper_title(p, "NOT MEASURED");
	for (size_t i = 0; i < groups->nr_samples; i++) {
		const char *group = record_label(&groups->samples[i], "group");
		const struct label label = { "group", group ? group : "" };
		const struct sample *why =
			record_find(record_end(r), FAM_GROUP, &label, group ? 1 : 0);
		const char *reason = why ? record_label(why, "reason") : NULL;

		if (groups->samples[i].u || !group)
			continue;
		paper_row(p, LABEL_COLUMN, group, "%s", reason ? reason : "");
	}
	if (!steal->nr_samples || !steal->samples[0].u)
		paper_row(p, LABEL_COLUMN, "steal", "this kernel has not accounted for any");
	if (!record_fact(r, "selftest.ok"))
		paper_row(p, LABEL_COLUMN, "selftest", "not asked for (--selftest)");
}

void record_report_render(const struct record *r, const char *path, bool colour, struct buf *buf)
{
	struct paper p = { .buf = buf, .width = TABLE_WIDTH, .colour = colour };

	print_head(r, path, &p);
	print_gates(r, &p);
	print_conditions(r, &p);
	print_targets(r, &p);
	print_processes(r, &p);
	record_kinds_print(r, &p);
	record_series_print(r, &p);
	print_cost(r, &p);
	print_not_measured(r, &p);
}

/* --- JSON --- */

static void json_pair(struct buf *buf, const char *name, const char *text)
{
	json_string(name, buf);
	buf_char(buf, ':');
	json_string(text, buf);
}

static void json_facts(const struct record *r, struct buf *buf)
{
	buf_str(buf, ",\"facts\":{");
	for (size_t i = 0; i < r->nr_facts; i++) {
		const struct record_fact *fact = &r->facts[i];

		if (i)
			buf_char(buf, ',');
		if (!fact->end) {
			json_pair(buf, fact->name, fact->begin);
			continue;
		}
		json_string(fact->name, buf);
		buf_str(buf, ":[");
		json_string(fact->begin, buf);
		buf_char(buf, ',');
		json_string(fact->end, buf);
		buf_char(buf, ']');
	}
	buf_char(buf, '}');
}

static void json_gates(const struct record *r, struct buf *buf)
{
	static const char *const states[] = { "unknown", "holds", "warns", "invalid" };
	struct gate gates[NR_GATES];

	gates_of(r, gates);
	buf_printf(buf, ",\"valid\":%s,\"gates\":[", gates_invalid(gates) ? "false" : "true");
	for (u32 i = 0; i < NR_GATES; i++) {
		buf_str(buf, i ? ",{" : "{");
		json_pair(buf, "gate", gate_names[i]);
		buf_char(buf, ',');
		json_pair(buf, "state", states[gates[i].state]);
		buf_char(buf, ',');
		json_pair(buf, "text", gates[i].text);
		buf_char(buf, '}');
	}
	buf_char(buf, ']');
}

int record_report_json(const struct record *r, const char *path, struct buf *buf)
{
	int status;

	buf_char(buf, '{');
	json_pair(buf, "file", path);
	buf_char(buf, ',');
	json_pair(buf, "version", r->version);
	buf_char(buf, ',');
	json_pair(buf, "ended_by", record_end_words[r->end]);
	buf_str(buf, ",\"window_seconds\":");
	number_seconds(record_window_ns(r), buf);
	if (r->program_status >= 0)
		buf_printf(buf, ",\"program_status\":%d", (int)r->program_status);
	json_gates(r, buf);
	json_facts(r, buf);
	buf_str(buf, ",\"begin\":");
	status = json_render(record_begin(r), buf);
	buf_str(buf, ",\"end\":");
	if (!status)
		status = json_render(record_end(r), buf);
	buf_str(buf, "}\n");
	return status ? status : buf->failed ? -ENOMEM : 0;
}
