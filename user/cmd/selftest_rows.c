/* SPDX-License-Identifier: MIT */
/* Comparisons of the selftest. Pure. */
#include "user/cmd/selftest_rows.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "user/model/identities.h"

static const char *const group_names[NR_GROUPS] = {
#define GROUP(id, label, help) label,
#include "groups.def"
#undef GROUP
};

static const char *const drop_names[NR_DROPS] = {
#define DROP(id, label, help) label,
#include "drops.def"
#undef DROP
};

#define GROUP_BIT(id) (1u << GROUP_##id)

void rows_cut(struct selftest_result *result, size_t n)
{
	while (result->nr_rows > n)
		result->verdicts[result->rows[--result->nr_rows].verdict]--;
}

/* A row without a verdict yet; never NULL: the last one is written over when there are too many. */
static struct selftest_row *new_row(struct selftest_result *result, const char *load,
				    const char *what)
{
	struct selftest_row *row;

	if (result->nr_rows == MAX_SELFTEST_ROWS)
		rows_cut(result, MAX_SELFTEST_ROWS - 1);
	row = &result->rows[result->nr_rows];
	*row = (struct selftest_row){ .verdict = SELFTEST_SKIPPED };
	snprintf(row->load, sizeof(row->load), "%s", load);
	snprintf(row->what, sizeof(row->what), "%s", what);
	return row;
}

static void end_row(struct selftest_result *result, enum selftest_verdict verdict)
{
	result->rows[result->nr_rows++].verdict = verdict;
	result->verdicts[verdict]++;
}

static void judge(struct selftest_result *result, struct selftest_row *row, u64 low, u64 high,
		  u64 got)
{
	row->low = low;
	row->high = high;
	row->got = got;
	end_row(result, got >= low && got <= high ? SELFTEST_OK : SELFTEST_FAILED);
}

/* True if the groups @needed are up; otherwise the row says which one is not. */
static bool groups_up(const struct snapshot *snap, u32 needed, struct selftest_row *row)
{
	for (u32 g = 0; g < NR_GROUPS; g++) {
		if (!(needed & 1u << g) || snap->groups[g].up)
			continue;
		snprintf(row->why, sizeof(row->why), "probe group %s is off: %s", group_names[g],
			 snap->groups[g].reason);
		return false;
	}
	return true;
}

void rows_skip(struct selftest_result *result, const char *load, enum selftest_verdict verdict,
	       const char *why)
{
	struct selftest_row *row = new_row(result, load, "not observed");

	snprintf(row->why, sizeof(row->why), "%s", why);
	end_row(result, verdict);
}

/* --- claims --- */

static u64 sum(const u64 *counts, size_t n)
{
	u64 total = 0;

	for (size_t i = 0; i < n; i++)
		total += counts[i];
	return total;
}

static u64 errors_of(const struct process_snap *p, enum error_kind kind, const struct load_claim *c)
{
	for (size_t i = 0; i < p->nr_errors; i++) {
		const struct error_count *e = &p->errors[i];

		if (e->kind == kind && e->id == c->id && e->code == c->code)
			return e->n;
	}
	return 0;
}

static u64 foreign_calls(const struct process_snap *p)
{
	u64 total = 0;

	for (size_t i = 0; i < p->nr_foreign; i++)
		total += p->foreign[i].n;
	return total;
}

static u64 observed(const struct process_snap *p, const struct process_totals *t,
		    const struct load_claim *c)
{
	switch (c->quantity) {
	case QUANTITY_CALLS:
		return c->id < NR_CALL_SLOTS && p->calls ? p->calls[c->id] : 0;
	case QUANTITY_ALL_CALLS:
		return (p->calls ? sum(p->calls, NR_CALL_SLOTS) : 0) + foreign_calls(p);
	case QUANTITY_ERRORS:
		return errors_of(p, ERROR_SYSCALL, c);
	case QUANTITY_DURABLE_ERRORS:
		return errors_of(p, ERROR_DURABLE, c);
	case QUANTITY_DURABLE_TIMES:
		return c->id < NR_DURABLES && p->hists
			       ? sum(p->hists->durable[c->id].counts, NR_HIST_BUCKETS)
			       : 0;
	case QUANTITY_CPU:
		return sum(&t->cells[CELL_CPU], NR_MODES);
	default:
		return c->id < NR_CELLS ? t->cells[c->id] : 0;
	}
}

/* Which groups count a cell. */
static u32 cell_groups(u32 cell)
{
	static const struct {
		u32 first, last, groups;
	} rows[] = {
		{ CELL_FSYNCS, CELL_FSYNCS + NR_DURABLE_SYSCALLS - 1, GROUP_BIT(FSYNC) },
		{ CELL_FSYNCS + NR_DURABLE_SYSCALLS, CELL_FSYNCS_LAST, GROUP_BIT(IO_URING) },
		{ CELL_READ_BYTES, CELL_READ_BYTES, GROUP_BIT(SYSCALLS) },
		{ CELL_WRITTEN_BYTES, CELL_WRITTEN_BYTES, GROUP_BIT(SYSCALLS) },
		/* Which mode, and which reason, is known from the call in flight. */
		{ CELL_CPU, CELL_CPU_LAST, GROUP_BIT(SCHED) | GROUP_BIT(SYSCALLS) },
		{ CELL_OFF_CPU, CELL_OFF_CPU_LAST, GROUP_BIT(SCHED) | GROUP_BIT(SYSCALLS) },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (cell >= rows[i].first && cell <= rows[i].last)
			return rows[i].groups;
	}
	return GROUP_BIT(SCHED); /* the kernel's books, and the end of threads */
}

static u32 claim_groups(const struct load_claim *c)
{
	switch (c->quantity) {
	case QUANTITY_CALLS:
	case QUANTITY_ALL_CALLS:
	case QUANTITY_ERRORS:
		return GROUP_BIT(SYSCALLS);
	case QUANTITY_DURABLE_ERRORS:
	case QUANTITY_DURABLE_TIMES:
		return GROUP_BIT(FSYNC);
	case QUANTITY_CPU:
		return GROUP_BIT(SCHED);
	default:
		return cell_groups(c->id);
	}
}

static enum selftest_unit claim_unit(const struct load_claim *c)
{
	switch (c->quantity) {
	case QUANTITY_NS:
	case QUANTITY_CPU:
		return SELFTEST_NS;
	case QUANTITY_BYTES:
		return SELFTEST_BYTES;
	default:
		return SELFTEST_COUNT;
	}
}

void rows_claims(struct selftest_result *result, const char *load, const struct load_shared *shared,
		 const struct snapshot *snap, size_t i, const struct process_totals *totals)
{
	for (u32 n = 0; n < shared->nr_claims && n < MAX_LOAD_CLAIMS; n++) {
		const struct load_claim *c = &shared->claims[n];
		struct selftest_row *row = new_row(result, load, c->what);

		row->unit = claim_unit(c);
		if (groups_up(snap, claim_groups(c), row))
			judge(result, row, c->low, c->high,
			      observed(&snap->processes[i], &totals[i], c));
		else
			end_row(result, SELFTEST_SKIPPED);
	}
}

/* --- the books --- */

void rows_identities(struct selftest_result *result, const struct snapshot *snap,
		     const struct process_totals *totals)
{
	u64 checked[NR_IDENTITIES] = { 0 }, holds[NR_IDENTITIES] = { 0 };
	char why[NR_IDENTITIES][96] = { { 0 } };

	for (size_t i = 0; i < snap->nr_processes; i++) {
		struct identity ids[NR_IDENTITIES];

		identities_of(snap, &snap->processes[i], &totals[i], ids);
		for (u32 k = 0; k < NR_IDENTITIES; k++) {
			checked[k] += ids[k].checked;
			holds[k] += ids[k].checked && identity_holds(&ids[k]);
			if (ids[k].checked && !identity_holds(&ids[k]))
				snprintf(why[k], sizeof(why[k]),
					 "%s: residual %lld of %llu, at most %llu",
					 snap->processes[i].id.comm, (long long)ids[k].residual,
					 (unsigned long long)ids[k].total,
					 (unsigned long long)ids[k].tolerance);
		}
	}
	for (u32 k = 0; k < NR_IDENTITIES; k++) {
		struct selftest_row *row;
		char what[64];

		snprintf(what, sizeof(what), "identity %s holds", identity_names[k]);
		row = new_row(result, "books", what);
		if (checked[k]) {
			memcpy(row->why, why[k], sizeof(why[k]));
			judge(result, row, checked[k], checked[k], holds[k]);
		} else {
			if (groups_up(snap, GROUP_BIT(SCHED) | GROUP_BIT(SYSCALLS), row))
				snprintf(row->why, sizeof(row->why),
					 "one of its sides was not there");
			end_row(result, SELFTEST_SKIPPED);
		}
	}
}

static void rows_drops(struct selftest_result *result, const struct snapshot *snap)
{
	struct selftest_row *row = new_row(result, "books", "events dropped");
	u64 drops = 0;

	for (u32 i = 0; i < NR_DROPS; i++) {
		size_t len = strlen(row->why);

		if (!snap->drops[i])
			continue;
		drops += snap->drops[i];
		snprintf(row->why + len, sizeof(row->why) - len, "%s%s %llu", len ? ", " : "",
			 drop_names[i], (unsigned long long)snap->drops[i]);
	}
	judge(result, row, 0, 0, drops);
}

void rows_end(struct selftest_result *result, const struct snapshot *snap,
	      const struct process_totals *totals)
{
	u64 exits = 0, born = 0, ended = 0;
	struct selftest_row *row;

	for (size_t i = 0; i < snap->nr_processes; i++) {
		const u64 *calls = snap->processes[i].calls;

		exits += calls ? calls[SYS_exit_group] : 0;
		born += totals[i].cells[CELL_THREADS_BORN];
		ended += totals[i].cells[CELL_THREADS_ENDED];
	}
	row = new_row(result, "end", "processes that called exit_group");
	if (groups_up(snap, GROUP_BIT(SYSCALLS), row))
		judge(result, row, snap->nr_processes, snap->nr_processes, exits);
	else
		end_row(result, SELFTEST_SKIPPED);
	row = new_row(result, "end", "threads that ended, of all");
	if (groups_up(snap, GROUP_BIT(SCHED), row))
		judge(result, row, born, born, ended);
	else
		end_row(result, SELFTEST_SKIPPED);
	result->switches = snap->machine.switches;
	result->chain_breaks = snap->machine.chain_breaks;
	result->chain_holds = chain_holds(&snap->machine);
	rows_drops(result, snap);
}
