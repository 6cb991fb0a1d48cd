/* SPDX-License-Identifier: MIT */
/* Prices of hits: the same loops with the probes and without. */
#include "user/cmd/calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/cmd/calibrate_loops.h"

/* From the end of a process to its last context switch. */
#define END_PATIENCE_NS (1 * NS_PER_SEC)

/* Rounds of a loop, each with and without, next to each other: the machine's speed drifts. */
#define NR_ROUNDS 5
#define ALL	  (~0u)

struct calibration {
	struct loops loops;
	struct bpf_session *s;
	bool details;
};

static int say_died(struct err *err)
{
	return err_set(err, -EPIPE, "the processes of the calibration died");
}

static int turn_ns(const struct calibration *c, enum loop_kind kind, double *ret_ns,
		   struct err *err)
{
	return loops_run(&c->loops, kind, ret_ns) ? say_died(err) : 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * What a turn of a loop costs more with the hooks than without: the median of rounds that begin
 * with the one and the other in turn. A first one is for the caches.
 */
static int more(const struct calibration *c, enum loop_kind kind, double *ret_ns, struct err *err)
{
	double differences[NR_ROUNDS] = { 0 }, ns[2] = { 0 };
	int r = turn_ns(c, kind, &ns[0], err);

	for (u32 i = 0; i < NR_ROUNDS && !r; i++) {
		for (u32 k = 0; k < 2 && !r; k++) {
			bool with = (i + k) & 1;

			r = bpf_session_attach_only(c->s, with ? ALL : 0, err);
			r = r ? r : turn_ns(c, kind, &ns[with], err);
		}
		differences[i] = ns[1] - ns[0];
	}
	qsort(differences, NR_ROUNDS, sizeof(differences[0]), compare);
	*ret_ns = differences[NR_ROUNDS / 2];
	return r;
}

/* Noise may make a price negative; nothing is for less than nothing. */
static double price(double ns)
{
	return ns > 0 ? ns : 0;
}

static int price_calls(const struct calibration *c, struct cost_prices *p, struct err *err)
{
	double calls = 0, switches = 0;
	int r = more(c, LOOP_CALLS, &calls, err);

	r = r ? r : more(c, LOOP_SWITCHES, &switches, err);
	if (r)
		return r;
	p->ns[COST_CALL] = price(calls);
	p->ns[COST_SWITCH] = price((switches - LOOP_CALLS_OF_SWITCHES * price(calls)) /
				   LOOP_SWITCHES_OF_SWITCHES);
	p->ns[COST_LIFE] = p->ns[COST_SWITCH];
	p->ns[COST_URING] = p->ns[COST_SIGNAL] = p->ns[COST_CALL];
	return 0;
}

static bool how_asked(struct owner_how *ret_how)
{
	struct loop_goroutine g;

	if (!loops_goroutine(&g))
		return false;
	*ret_how = (struct owner_how){ .mode = OWNER_GO,
				       .g_m = g.g_m,
				       .m_g0 = g.m_g0,
				       .m_curg = g.m_curg,
				       .g_goid = g.g_goid,
				       .g_status = g.g_status };
	return true;
}

/* At a call of @how's kind of process; it stays such a one. */
static int price_owner(const struct calibration *c, u32 slot, const struct owner_how *how,
		       double call_ns, double *ret_ns, struct err *err)
{
	double calls = 0;
	int r = bpf_session_set_owner(c->s, slot, how, err);

	r = r ? r : more(c, LOOP_CALLS, &calls, err);
	if (!r)
		*ret_ns = price(calls - call_ns);
	return r;
}

static int price_interactions(const struct calibration *c, u32 slot, struct cost_prices *p,
			      struct err *err)
{
	const struct owner_how threads = { .mode = OWNER_THREAD };
	struct owner_how goroutines;
	double requests = 0;
	int r = price_owner(c, slot, &threads, p->ns[COST_CALL], &p->ns[COST_OWNER_THREAD], err);

	r = r ? r : more(c, LOOP_REQUESTS, &requests, err);
	if (r)
		return r;
	p->ns[COST_REQUEST] = price(
		requests - LOOP_CALLS_OF_REQUESTS * (p->ns[COST_CALL] + p->ns[COST_OWNER_THREAD]));
	if (!how_asked(&goroutines))
		return 0;
	return price_owner(c, slot, &goroutines, p->ns[COST_CALL], &p->ns[COST_OWNER], err);
}

/* A turn with one or two of the function's places probed, less one without. */
static int price_places(const struct calibration *c, const struct probe_place *places, size_t n,
			double *ret_ns, struct err *err)
{
	struct probe_target target = { .pid = c->loops.worker, .places = places, .n = n };
	double with = 0, without = 0;
	struct bpf_probes *probes;
	int r;

	target.fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (target.fd < 0)
		return err_set(err, -errno, "cannot open our own file: %s", strerror(errno));
	r = turn_ns(c, LOOP_FUNCTION, &without, err);
	r = r ? r : bpf_session_probe(c->s, &target, &probes, err);
	if (!r) {
		r = turn_ns(c, LOOP_FUNCTION, &with, err);
		bpf_probes_free(probes);
	}
	close(target.fd);
	*ret_ns = price(with - without);
	return r;
}

/* Traps: where the instruction is emulated, and where it is stepped over. */
static int price_probes(const struct calibration *c, struct cost_prices *p, struct err *err)
{
	struct probe_place entry = { .program = "gc_worker_drain" }, end = entry;
	int r = loops_function(&entry.offset, &end.offset);

	if (r == -ENOTSUP || !bpf_session_groups(c->s)[GROUP_GO_GC].up)
		return 0;
	r = price_places(c, &entry, 1, &p->ns[COST_GC_ENTRY], err);
	return r ? r : price_places(c, &end, 1, &p->ns[COST_GC_RETURN], err);
}

/* A call of a function as an interaction: both probes with all that they do, halved between the
 * two. */
static int price_functions(const struct calibration *c, struct cost_prices *p, struct err *err)
{
	struct probe_place places[2] = { { .program = "function_return" },
					 { .program = "function_entry_0" } };
	double both = 0;
	int r = loops_function(&places[1].offset, &places[0].offset);

	if (r == -ENOTSUP || !bpf_session_groups(c->s)[GROUP_FUNCTIONS].up)
		return 0;
	r = price_places(c, places, 2, &both, err);
	if (!r)
		p->ns[COST_FUNCTION_ENTRY] = p->ns[COST_FUNCTION_RETURN] = both / 2;
	return r;
}

static int observe(const struct calibration *c, pid_t pid, u32 *ret_slot, struct err *err)
{
	const struct observe_how how = { .details = c->details };
	struct thread_calls calls = { 0 };
	struct observed_process where;
	int r = bpf_session_observe(c->s, (u32)pid, &how, &calls, &where, err);

	if (!r)
		*ret_slot = where.slot;
	return r;
}

static bool has_ended(const struct bpf_session *s, u32 slot)
{
	struct process_slot slots[2];
	size_t n = bpf_session_scan(s, slots, 2);

	for (size_t i = 0; i < n && i < 2; i++) {
		if (slots[i].slot == slot)
			return slots[i].end_ns != 0;
	}
	return true;
}

/* The programs have seen its last switch, or never will. */
static void forget(struct bpf_session *s, u32 slot)
{
	const struct timespec pause = { .tv_nsec = NS_PER_MS / 5 };
	u64 begin_ns = clock_monotonic_ns();

	while (!has_ended(s, slot) && clock_monotonic_ns() - begin_ns < END_PATIENCE_NS)
		(void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
	bpf_session_end(s, slot);
	bpf_session_release(s, slot);
}

static int price_all(const struct calibration *c, u32 worker, struct cost_prices *p,
		     struct err *err)
{
	int r = price_calls(c, p, err);

	if (!r && bpf_session_groups(c->s)[GROUP_INTERACTIONS].up)
		r = price_interactions(c, worker, p, err);
	r = r ? r : price_probes(c, p, err);
	return r ? r : price_functions(c, p, err);
}

int calibrate(struct bpf_session *s, bool details, struct cost_prices *ret_prices, struct err *err)
{
	struct cost_prices prices = { .known = true };
	struct calibration c = { .s = s, .details = details };
	struct err ignored;
	u32 worker, partner;
	int r = loops_start(&c.loops, err);

	*ret_prices = (struct cost_prices){ 0 };
	if (r)
		return r;
	r = observe(&c, c.loops.partner, &partner, err);
	if (r)
		goto out;
	r = observe(&c, c.loops.worker, &worker, err);
	if (!r) {
		r = price_all(&c, worker, &prices, err);
		(void)bpf_session_attach_only(s, ALL, r ? &ignored : err);
		loops_stop(&c.loops);
		forget(s, worker);
	}
	loops_stop(&c.loops);
	forget(s, partner);
out:
	loops_stop(&c.loops);
	if (!r)
		*ret_prices = prices;
	return r;
}
