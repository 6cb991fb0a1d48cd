/* SPDX-License-Identifier: MIT */
/*
 * From a snapshot to families.
 *
 * What is not measured is left out; what is measured and did not happen is 0, for every closed set
 * of labels. Open sets (calls by name, errno) appear with their first event.
 */
#include "user/model/publish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/errno_names.h"
#include "user/model/name_groups.h"
#include "user/model/publish_impl.h"
#include "user/model/syscall_names.h"

static const char *const mode_names[NR_MODES] = { "user", "system" };
static const char *const switch_names[NR_SWITCH_KINDS] = { "voluntary", "involuntary" };
static const char *const abi_names[NR_ABIS] = { "native", "compat", "x32" };

static const char *const reason_names[NR_REASONS] = {
#define REASON(id, label, help) label,
#include "reasons.def"
#undef REASON
};

static const struct {
	const char *call, *via;
} durable_names[NR_DURABLES] = {
#define DURABLE(id, call, via) { call, via },
#include "durable.def"
#undef DURABLE
};

static const char *const drop_names[NR_DROPS] = {
#define DROP(id, label, help) label,
#include "drops.def"
#undef DROP
};

const char *const publish_group_names[NR_GROUPS] = {
#define GROUP(id, label, help) label,
#include "groups.def"
#undef GROUP
};

static const char *const outcome_names[NR_OUTCOMES] = {
	[OUTCOME_GOOD] = "good",
	[OUTCOME_EMPTY] = "empty",
	[OUTCOME_UNKNOWN] = "unknown",
};

/* A sample of an account of a process. */
static struct sample *add_account(struct publication *pub, enum family_id id, enum value_kind kind,
				  u64 value)
{
	struct sample *s = add_process(pub, id, kind, value);

	if (pub->interaction)
		sample_label(pub->set, s, "interaction", pub->interaction);
	return s;
}

static void label_syscall(struct publication *pub, struct sample *s, u32 abi, u32 nr)
{
	const char *name = abi == ABI_NATIVE ? syscall_name(SYSCALL_ARCH_NATIVE, nr) : NULL;
	char number[24];

	snprintf(number, sizeof(number), "nr_%u", nr);
	if (name)
		label(pub, s, "syscall", name);
	else
		label_copy(pub, s, "syscall", number);
	if (abi != ABI_NATIVE && abi < NR_ABIS)
		label(pub, s, "abi", abi_names[abi]);
}

static void label_errno(struct publication *pub, struct sample *s, u32 code)
{
	const char *name = code == ERRNO_RESTART ? "restart" : errno_name(code);
	char number[24];

	snprintf(number, sizeof(number), "errno_%u", code);
	if (name)
		label(pub, s, "errno", name);
	else
		label_copy(pub, s, "errno", number);
}

/* --- groups of families --- */

static void publish_cpu(struct publication *pub)
{
	const u64 *c = pub->cells;
	bool split = pub->snap->groups[GROUP_SYSCALLS].up;

	/* Without the syscalls group it is not known where the CPU time was spent. */
	if (!split) {
		(void)add_account(pub, FAM_CPU, VALUE_NS,
				  c[CELL_CPU + MODE_USER] + c[CELL_CPU + MODE_SYSTEM]);
		return;
	}
	for (u32 i = 0; i < NR_MODES; i++)
		label(pub, add_account(pub, FAM_CPU, VALUE_NS, c[CELL_CPU + i]), "mode",
		      mode_names[i]);
}

static void publish_steal(struct publication *pub)
{
	if (pub->snap->machine.steal_ticks)
		(void)add_process(pub, FAM_STEAL, VALUE_NS, pub->m->cells[CELL_STEAL]);
}

/* What block_reason of bpf/waits.bpf.h can tell apart when it does not know the thread's call. */
static bool reason_is_known(const struct publication *pub, u32 reason)
{
	return pub->snap->groups[GROUP_SYSCALLS].up || reason == REASON_RUN_QUEUE ||
	       reason == REASON_PREEMPTED || reason == REASON_BLOCK_IO || reason == REASON_OTHER;
}

static void publish_account_sched(struct publication *pub)
{
	const u64 *c = pub->cells;

	if (!pub->snap->groups[GROUP_SCHED].up)
		return;
	publish_cpu(pub);
	for (u32 i = 0; i < NR_REASONS; i++) {
		if (reason_is_known(pub, i))
			label(pub, add_account(pub, FAM_OFF_CPU, VALUE_NS, c[CELL_OFF_CPU + i]),
			      "reason", reason_names[i]);
	}
	for (u32 i = 0; i < NR_SWITCH_KINDS; i++)
		label(pub, add_account(pub, FAM_SWITCHES, VALUE_COUNT, c[CELL_SWITCHES + i]),
		      "kind", switch_names[i]);
	(void)add_account(pub, FAM_PAGE_FAULTS, VALUE_COUNT, c[CELL_PAGE_FAULTS]);
}

static void publish_sched(struct publication *pub)
{
	const struct merged *m = pub->m;

	if (!pub->snap->groups[GROUP_SCHED].up)
		return;
	publish_steal(pub);
	for (u32 i = 0; i < NR_REASONS && m->has_details; i++) {
		struct sample *s;

		if (!reason_is_known(pub, i))
			continue;
		s = add_process(pub, FAM_OFF_CPU_DURATION, VALUE_NS, 0);

		label(pub, s, "reason", reason_names[i]);
		add_hist_sample(pub, s, &m->hists.off_cpu[i]);
	}
}

static void publish_flights(struct publication *pub)
{
	const struct merged *m = pub->m;

	for (size_t i = 0; i < m->nr_flights; i++) {
		const struct flight *f = &m->flights[i];

		label_syscall(pub, add_process(pub, FAM_SYSCALLS_IN_FLIGHT, VALUE_COUNT, f->n),
			      f->abi, f->nr);
		label_syscall(pub, add_process(pub, FAM_SYSCALLS_OLDEST, VALUE_NS, f->oldest_ns),
			      f->abi, f->nr);
	}
}

static void publish_account_syscalls(struct publication *pub)
{
	const u64 *c = pub->cells;

	if (!pub->snap->groups[GROUP_SYSCALLS].up)
		return;
	/* Of some only their number is known: a sample without the label. */
	if (!pub->m->has_names || c[CELL_SMALL_SYSCALLS])
		(void)add_account(pub, FAM_SYSCALLS, VALUE_COUNT, c[CELL_SMALL_SYSCALLS]);
	for (u32 nr = 0; nr < NR_CALL_SLOTS; nr++) {
		if (pub->calls[nr])
			label_syscall(pub,
				      add_account(pub, FAM_SYSCALLS, VALUE_COUNT, pub->calls[nr]),
				      ABI_NATIVE, nr);
	}
	(void)add_account(pub, FAM_READ_BYTES, VALUE_COUNT, c[CELL_READ_BYTES]);
	(void)add_account(pub, FAM_WRITTEN_BYTES, VALUE_COUNT, c[CELL_WRITTEN_BYTES]);
}

static void publish_syscalls(struct publication *pub)
{
	const struct merged *m = pub->m;

	if (!pub->snap->groups[GROUP_SYSCALLS].up)
		return;
	for (u32 nr = 0; nr < NR_CALL_SLOTS; nr++) {
		struct sample *s;

		if (!m->has_call_hist[nr])
			continue;
		s = add_process(pub, FAM_SYSCALL_DURATION, VALUE_NS, 0);
		label_syscall(pub, s, ABI_NATIVE, nr);
		add_hist_sample(pub, s, &m->call_hists[nr]);
	}
	for (size_t i = 0; i < m->nr_foreign; i++)
		label_syscall(pub, add_process(pub, FAM_SYSCALLS, VALUE_COUNT, m->foreign[i].n),
			      m->foreign[i].abi, m->foreign[i].nr);
	for (size_t i = 0; i < m->nr_errors; i++) {
		const struct error_count *e = &m->errors[i];
		struct sample *s;

		if (e->kind != ERROR_SYSCALL)
			continue;
		s = add_process(pub, FAM_SYSCALL_ERRORS, VALUE_COUNT, e->n);
		label_syscall(pub, s, ABI_NATIVE, e->id);
		label_errno(pub, s, e->code);
	}
	publish_flights(pub);
}

static bool durable_is_known(const struct publication *pub, u32 durable)
{
	return pub->snap->groups[durable < NR_DURABLE_SYSCALLS ? GROUP_FSYNC : GROUP_IO_URING].up;
}

static void publish_account_durable(struct publication *pub)
{
	for (u32 i = 0; i < NR_DURABLES; i++) {
		struct sample *s;

		if (!durable_is_known(pub, i))
			continue;
		s = add_account(pub, FAM_FSYNCS, VALUE_COUNT, pub->cells[CELL_FSYNCS + i]);
		label(pub, s, "call", durable_names[i].call);
		label(pub, s, "via", durable_names[i].via);
	}
}

static void publish_durable(struct publication *pub)
{
	const struct merged *m = pub->m;

	for (u32 i = 0; i < NR_DURABLES; i++) {
		struct sample *s;

		if (!durable_is_known(pub, i) || !m->has_details)
			continue;
		s = add_process(pub, FAM_FSYNC_DURATION, VALUE_NS, 0);
		label(pub, s, "call", durable_names[i].call);
		label(pub, s, "via", durable_names[i].via);
		add_hist_sample(pub, s, &m->hists.durable[i]);
	}
	for (size_t i = 0; i < m->nr_errors; i++) {
		const struct error_count *e = &m->errors[i];
		struct sample *s;

		if (e->kind != ERROR_DURABLE || e->id >= NR_DURABLES ||
		    !durable_is_known(pub, e->id))
			continue;
		s = add_process(pub, FAM_FSYNC_ERRORS, VALUE_COUNT, e->n);
		label(pub, s, "call", durable_names[e->id].call);
		label(pub, s, "via", durable_names[e->id].via);
		label_errno(pub, s, e->code);
	}
}

static void publish_account(struct publication *pub, const char *interaction, const u64 *cells,
			    const u64 *calls)
{
	pub->interaction = interaction;
	pub->cells = cells;
	pub->calls = calls;
	publish_account_sched(pub);
	publish_account_syscalls(pub);
	publish_account_durable(pub);
	pub->interaction = NULL;
}

/* Accounts: one for each kind, whose sum is the process; or the process as a whole. */
static void publish_accounts(struct publication *pub)
{
	const struct kind_list *kinds = &pub->m->kinds;
	bool apart = kinds->n && pub->snap->groups[GROUP_INTERACTIONS].up;

	if (!apart)
		publish_account(pub, NULL, pub->m->cells, pub->m->calls);
	for (size_t i = 0; i < kinds->n && apart; i++)
		publish_account(pub, kind_label(&kinds->at[i]), kinds->at[i].cells,
				kinds->at[i].calls);
}

static void add_kind_hist(struct publication *pub, enum family_id id, enum value_kind kind,
			  const struct kind_snap *k, const struct hist *hist)
{
	struct sample *s = add_process(pub, id, kind, 0);

	label_copy(pub, s, "interaction", kind_label(k));
	add_hist_sample(pub, s, hist);
}

static const char *code_word(u32 code)
{
	switch (code) {
	case INTERACTION_ABORTED:
		return "aborted";
	case INTERACTION_RETURNED:
		return "returned";
	case INTERACTION_UNFINISHED:
		return "unfinished";
	default:
		return "other";
	}
}

static void publish_codes(struct publication *pub, const struct kind_snap *k)
{
	for (u32 i = 0; i < k->nr_codes; i++) {
		struct sample *s = add_process(pub, FAM_INTERACTIONS, VALUE_COUNT, k->codes[i].n);
		char code[16];

		if (k->codes[i].code >= HTTP_LEAST_CODE)
			snprintf(code, sizeof(code), "%u", k->codes[i].code);
		else
			snprintf(code, sizeof(code), "%s", code_word(k->codes[i].code));
		label_copy(pub, s, "interaction", kind_label(k));
		label_copy(pub, s, "code", code);
		if (outcome_names[k->codes[i].outcome])
			label(pub, s, "outcome", outcome_names[k->codes[i].outcome]);
	}
}

/* Nine of ten responses are to be good ones: else the run was about something else. */
static void judge_outcomes(struct publication *pub, const struct kind_snap *k)
{
	u64 n[NR_OUTCOMES] = { 0 }, judged;

	for (u32 i = 0; i < k->nr_codes; i++)
		n[k->codes[i].outcome] += k->codes[i].n;
	judged = n[OUTCOME_GOOD] + n[OUTCOME_EMPTY] + n[OUTCOME_UNKNOWN];
	pub->outcomes_judged |= judged != 0;
	pub->outcomes_bad |= 10 * n[OUTCOME_GOOD] < 9 * judged;
}

static void publish_kind(struct publication *pub, const struct kind_snap *k)
{
	bool sched = pub->snap->groups[GROUP_SCHED].up;
	struct sample *s;

	publish_codes(pub, k);
	judge_outcomes(pub, k);
	s = add_process(pub, FAM_INTERACTIONS_IN_FLIGHT, VALUE_COUNT, kind_in_flight(k));
	label_copy(pub, s, "interaction", kind_label(k));
	s = add_process(pub, FAM_INTERACTIONS_OLDEST, VALUE_NS, k->oldest_ns);
	label_copy(pub, s, "interaction", kind_label(k));
	if (pub->snap->groups[GROUP_QUEUE].up)
		add_kind_hist(pub, FAM_INTERACTION_QUEUE, VALUE_NS, k, &k->hists.queue);
	add_kind_hist(pub, FAM_INTERACTION_DURATION, VALUE_NS, k, &k->hists.duration);
	add_kind_hist(pub, FAM_INTERACTION_SYSCALLS, VALUE_ONES, k, &k->hists.enters);
	if (pub->snap->groups[GROUP_FSYNC].up)
		add_kind_hist(pub, FAM_INTERACTION_FSYNCS, VALUE_ONES, k, &k->hists.fsyncs);
	if (!sched)
		return;
	add_kind_hist(pub, FAM_INTERACTION_CPU, VALUE_NS, k, &k->hists.cpu);
	add_kind_hist(pub, FAM_INTERACTION_OFF_CPU, VALUE_NS, k, &k->hists.off_cpu);
	if (!pub->m->goroutines)
		return;
	s = add_process(pub, FAM_OFF_CPU, VALUE_NS, k->cells[CELL_UNOWNED_WALL]);
	label_copy(pub, s, "interaction", kind_label(k));
	label(pub, s, "reason", "go_scheduler");
}

static void publish_unattributed(struct publication *pub, const char *resource, u64 background,
				 u64 all)
{
	struct sample *s;

	if (!all)
		return;
	s = add_process(pub, FAM_UNATTRIBUTED, VALUE_REAL, 0);
	s->real = (double)background / (double)all;
	label(pub, s, "resource", resource);
}

static u64 sum_cells(const u64 *cells, u32 n)
{
	u64 sum = 0;

	for (u32 i = 0; i < n; i++)
		sum += cells[i];
	return sum;
}

/* The background of a list of kinds is the one without a name. */
static void publish_background(struct publication *pub, const struct kind_list *kinds)
{
	u64 cpu[2] = { 0 }, calls[2] = { 0 }, fsyncs[2] = { 0 };

	for (size_t i = 0; i < kinds->n; i++) {
		const struct kind_snap *k = &kinds->at[i];
		u64 used[3] = { sum_cells(&k->cells[CELL_CPU], NR_MODES),
				sum_cells(k->calls, NR_CALL_SLOTS) + k->cells[CELL_SMALL_SYSCALLS],
				sum_cells(&k->cells[CELL_FSYNCS], NR_DURABLES) };

		cpu[1] += used[0];
		calls[1] += used[1];
		fsyncs[1] += used[2];
		if (k->name[0])
			continue;
		cpu[0] += used[0];
		calls[0] += used[1];
		fsyncs[0] += used[2];
	}
	if (pub->snap->groups[GROUP_SCHED].up)
		publish_unattributed(pub, "cpu", cpu[0], cpu[1]);
	if (pub->snap->groups[GROUP_SYSCALLS].up)
		publish_unattributed(pub, "syscalls", calls[0], calls[1]);
	if (pub->snap->groups[GROUP_FSYNC].up)
		publish_unattributed(pub, "fsyncs", fsyncs[0], fsyncs[1]);
}

static void publish_interactions(struct publication *pub)
{
	const struct kind_list *kinds = &pub->m->kinds;
	u64 sessions = 0;

	if (!pub->snap->groups[GROUP_INTERACTIONS].up)
		return;
	for (size_t i = 0; i < kinds->n; i++) {
		sessions += kind_sessions(&kinds->at[i]);
		if (kinds->at[i].name[0])
			publish_kind(pub, &kinds->at[i]);
	}
	/* Of functions there are none: connections are not looked at then. */
	if (kinds->n && !pub->snap->groups[GROUP_FUNCTIONS].up)
		(void)add_process(pub, FAM_SESSIONS, VALUE_COUNT, sessions);
	publish_background(pub, kinds);
	if (pub->m->goroutines && pub->snap->groups[GROUP_SCHED].up)
		(void)add_process(pub, FAM_INTERACTION_SPLIT, VALUE_NS,
				  pub->m->cells[CELL_SPLIT_CPU]);
}

static void add_identity(struct publication *pub, u32 i, const struct identity *identity,
			 bool holds)
{
	struct sample *s = add_value(pub, FAM_IDENTITY_RESIDUAL, VALUE_REAL, 0);

	if (pub->m)
		label_process(pub, s);
	s->real = identity_ratio(identity);
	label(pub, s, "identity", identity_names[i]);
	s = add_value(pub, FAM_IDENTITY_OK, VALUE_COUNT, holds);
	if (pub->m)
		label_process(pub, s);
	label(pub, s, "identity", identity_names[i]);
}

/* Names without details are many: only those whose books do not close have series of their own. */
static void publish_identities(struct publication *pub)
{
	const struct merged *m = pub->m;

	for (u32 i = 0; i < NR_IDENTITIES; i++) {
		if (!m->identities[i].checked)
			continue;
		if (m->has_details || !m->identities_hold[i])
			add_identity(pub, i, &m->identities[i], m->identities_hold[i]);
		if (m->has_details)
			continue;
		if (!pub->machine[i].checked)
			pub->machine_holds[i] = true;
		identity_add(&pub->machine[i], &m->identities[i]);
		pub->machine_holds[i] &= m->identities_hold[i];
	}
}

/* The sums over them, without a process. */
static void publish_machine(struct publication *pub)
{
	for (u32 i = 0; i < NR_IDENTITIES; i++) {
		if (pub->machine[i].checked)
			add_identity(pub, i, &pub->machine[i], pub->machine_holds[i]);
	}
}

static void publish_name(struct publication *pub)
{
	const struct merged *m = pub->m;

	(void)add_process(pub, FAM_PROCESS_UP, VALUE_COUNT, m->nr_alive);
	(void)add_process(pub, FAM_INCARNATIONS, VALUE_COUNT, m->nr_processes);
	(void)add_process(pub, FAM_THREADS, VALUE_COUNT, m->nr_threads);
	if (m->has_resident)
		(void)add_process(pub, FAM_RESIDENT, VALUE_COUNT, m->resident_bytes);
	publish_accounts(pub);
	publish_sched(pub);
	publish_syscalls(pub);
	publish_durable(pub);
	publish_interactions(pub);
	publish_go(pub);
	publish_cost(pub);
	publish_identities(pub);
}

/* What is not known of a program has no label. */
static void label_program(struct publication *pub, struct sample *s, const struct program_facts *p)
{
	if (!p->known)
		return;
	if (*p->build_id)
		label_copy(pub, s, "build_id", p->build_id);
	if (*p->runtime)
		label_copy(pub, s, "runtime", p->runtime);
	if (*p->runtime_version)
		label_copy(pub, s, "runtime_version", p->runtime_version);
	label(pub, s, "stripped", p->stripped ? "true" : "false");
}

/* Identity of each incarnation: the only place with a pid by default. */
static void publish_incarnation(struct publication *pub, const struct process_snap *p)
{
	struct sample *s = add_value(pub, FAM_PROCESS, VALUE_COUNT, 1);
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)p->id.pid);
	label_copy(pub, s, "process", p->id.name);
	label_copy(pub, s, "pid", pid);
	label_copy(pub, s, "comm", p->id.comm);
	label_copy(pub, s, "exe", p->id.exe ? p->id.exe : "");
	label_program(pub, s, &p->program);
	s = add_value(pub, FAM_PROCESS_START, VALUE_NS, p->id.start_wall_ns);
	label_copy(pub, s, "process", p->id.name);
	label_copy(pub, s, "pid", pid);
}

static void publish_ourselves(struct publication *pub)
{
	const struct snapshot *snap = pub->snap;
	bool no_drops = true;
	struct sample *s;

	for (u32 i = 0; i < NR_GROUPS; i++) {
		label(pub, add_value(pub, FAM_GROUP_UP, VALUE_COUNT, snap->groups[i].up), "group",
		      publish_group_names[i]);
		s = add_value(pub, FAM_GROUP, VALUE_COUNT, 1);
		label(pub, s, "group", publish_group_names[i]);
		label_copy(pub, s, "reason", snap->groups[i].reason);
	}
	for (u32 i = 0; i < NR_DROPS; i++) {
		label(pub, add_value(pub, FAM_DROPPED, VALUE_COUNT, snap->drops[i]), "reason",
		      drop_names[i]);
		no_drops &= !snap->drops[i];
	}
	label(pub, add_value(pub, FAM_QUALITY_OK, VALUE_COUNT, no_drops), "gate", "drops");
	if (pub->outcomes_judged)
		label(pub, add_value(pub, FAM_QUALITY_OK, VALUE_COUNT, !pub->outcomes_bad), "gate",
		      "outcome");
	if (snap->groups[GROUP_SCHED].up) {
		(void)add_value(pub, FAM_SWITCH_CHAIN, VALUE_COUNT, snap->machine.switches);
		(void)add_value(pub, FAM_CHAIN_BREAKS, VALUE_COUNT, snap->machine.chain_breaks);
		label(pub, add_value(pub, FAM_QUALITY_OK, VALUE_COUNT, chain_holds(&snap->machine)),
		      "gate", "chain");
	}
	(void)add_value(pub, FAM_STEAL_SUPPORTED, VALUE_COUNT, snap->machine.steal_ticks != 0);
	for (size_t i = 0; i < snap->nr_programs && snap->bpf_stats_on; i++) {
		label_copy(pub,
			   add_value(pub, FAM_BPF_RUN_SECONDS, VALUE_NS, snap->programs[i].run_ns),
			   "program", snap->programs[i].name);
		label_copy(pub, add_value(pub, FAM_BPF_RUNS, VALUE_COUNT, snap->programs[i].runs),
			   "program", snap->programs[i].name);
	}
	for (size_t i = 0; i < snap->nr_maps; i++) {
		label(pub, add_value(pub, FAM_BPF_MAP_ENTRIES, VALUE_COUNT, snap->maps[i].entries),
		      "map", snap->maps[i].name);
		label(pub, add_value(pub, FAM_BPF_MAP_MAX, VALUE_COUNT, snap->maps[i].max_entries),
		      "map", snap->maps[i].name);
	}
	publish_prices(pub);
	(void)add_value(pub, FAM_SNAPSHOT_EDGE, VALUE_NS, snap->end_ns - snap->begin_ns);
}

static void publish_methods(struct publication *pub)
{
	static const char *const methods[] = { "exact", "bounded", "sampled" };

	for (u32 i = 0; i < NR_FAMILIES; i++) {
		const struct family_desc *d = &family_descs[i];
		char name[128];
		struct sample *s;

		if (d->exporter || !pub->set->families[i].nr_samples || i == FAM_METHOD)
			continue;
		if (d->type == FAMILY_INFO)
			continue;
		s = add_value(pub, FAM_METHOD, VALUE_COUNT, 1);
		family_name(d, name, sizeof(name));
		label_copy(pub, s, "quantity", name + strlen(FAMILY_PREFIX));
		label(pub, s, "method", methods[d->method]);
		label(pub, s, "error", d->error);
	}
}

static void publish_exporter(struct publication *pub)
{
	const struct exporter_facts *f = pub->facts;
	struct sample *s;

	s = add_value(pub, FAM_BUILD, VALUE_COUNT, 1);
	label_copy(pub, s, "version", f->version ? f->version : "");
	label_copy(pub, s, "libbpf", f->libbpf_version ? f->libbpf_version : "");
	label_copy(pub, s, "arch", f->arch ? f->arch : "");
	if (f->scrape_ns)
		(void)add_value(pub, FAM_SCRAPE_DURATION, VALUE_NS, f->scrape_ns);
	if (f->broker_resident_bytes) {
		(void)add_value(pub, FAM_BROKER_CPU, VALUE_NS,
				f->broker_cpu_ticks * (NS_PER_SEC / 100));
		(void)add_value(pub, FAM_BROKER_RESIDENT, VALUE_COUNT, f->broker_resident_bytes);
	}
	if (!f->start_wall_ns)
		return;
	(void)add_value(pub, FAM_EXP_CPU, VALUE_NS, f->cpu_ticks * (NS_PER_SEC / 100));
	(void)add_value(pub, FAM_EXP_OPEN_FDS, VALUE_COUNT, f->open_fds);
	(void)add_value(pub, FAM_EXP_MAX_FDS, VALUE_COUNT, f->max_fds);
	(void)add_value(pub, FAM_EXP_VIRTUAL, VALUE_COUNT, f->virtual_bytes);
	(void)add_value(pub, FAM_EXP_VIRTUAL_MAX, VALUE_COUNT, f->max_virtual_bytes);
	(void)add_value(pub, FAM_EXP_RESIDENT, VALUE_COUNT, f->resident_bytes);
	(void)add_value(pub, FAM_EXP_START, VALUE_NS, f->start_wall_ns);
}

static void publish_group(struct publication *pub, const struct name_groups *groups, size_t first,
			  struct merged *m, const struct process_totals *totals)
{
	size_t i = first;

	do {
		if (merged_add(m, pub->snap, i, &totals[i]))
			pub->set->failed = true;
		i = groups->next[i];
	} while (i);
	pub->m = m;
	pub->name = arena_strdup(&pub->set->arena, m->name);
	if (pub->name)
		publish_name(pub);
	else
		pub->set->failed = true;
	pub->m = NULL;
	merged_clear(m);
}

static void publish_processes(struct publication *pub, const struct process_totals *totals)
{
	struct merged *m = calloc(1, sizeof(*m));
	struct name_groups groups;

	if (name_groups_find(pub->snap, pub->facts->label_pid, &groups) || !m) {
		pub->set->failed = true;
	} else {
		for (size_t i = 0; i < pub->snap->nr_processes; i++) {
			if (i < pub->snap->nr_counted && pub->snap->processes[i].id.pid)
				publish_incarnation(pub, &pub->snap->processes[i]);
			if (!groups.led[i])
				publish_group(pub, &groups, i, m, totals);
		}
	}
	name_groups_done(&groups);
	free(m);
	publish_machine(pub);
}

void publish(const struct snapshot *snap, const struct process_totals *totals,
	     const struct exporter_facts *facts, struct family_set *ret_set)
{
	struct publication pub = { .snap = snap, .facts = facts, .set = ret_set };

	publish_processes(&pub, totals);
	publish_ourselves(&pub);
	publish_exporter(&pub);
	publish_methods(&pub);
}
