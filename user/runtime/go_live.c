/* SPDX-License-Identifier: MIT */
/* Reading Go's statistics out of a process: what to copy, in which order, and when to believe it.
 */
#define _GNU_SOURCE /* usleep */
#include "user/runtime/go_live.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/runtime/go_live_impl.h"

/* What is between two tries. A refill is over in less, unless its thread is off the CPU. */
#define PAUSE_US 100

static u64 vaddr_of(const struct go_live *live, enum go_data variable)
{
	return live->plan.vaddrs[variable] + live->bias;
}

static s32 offset_of(const struct go_live *live, enum go_field field)
{
	return live->plan.offsets[field];
}

/* --- one try --- */

/* The heap's sums come first: what is flushed into them later is then missing, never there twice.
 */
static int read_globals(struct go_live *live, struct go_globals *g, struct err *err)
{
	u64 gc = vaddr_of(live, GO_DATA_GC_CONTROLLER), sched = vaddr_of(live, GO_DATA_SCHED);
	struct go_copy copies[] = {
		{ vaddr_of(live, GO_DATA_MEMSTATS), g->memstats, live->memstats_bytes },
		{ vaddr_of(live, GO_DATA_MHEAP) + (u64)offset_of(live, GO_FIELD_MHEAP_SWEEPGEN),
		  &g->sweepgen, sizeof(g->sweepgen) },
		{ gc, g->controller, live->controller_bytes },
		{ sched, g->sched, live->sched_bytes },
		{ vaddr_of(live, GO_DATA_ALLP), &g->allp, sizeof(g->allp) },
		{ vaddr_of(live, GO_DATA_ALLGLEN), &g->nr_all_gs, sizeof(g->nr_all_gs) },
		{ vaddr_of(live, GO_DATA_GOMAXPROCS), &g->max_procs, sizeof(g->max_procs) },
		/* The last one, as it may be missing. */
		{ vaddr_of(live, GO_DATA_WORK) + (u64)offset_of(live, GO_FIELD_WORK_TYPE_CPU_STATS),
		  g->cpu, live->cpu_bytes },
	};
	size_t n = sizeof(copies) / sizeof(copies[0]) - !live->cpu_bytes;
	int r = go_memory_read(&live->memory, copies, n, err);

	if (r)
		return r;
	if (!g->max_procs || g->max_procs > GO_LIVE_MAX_PROCS)
		return err_set(err, -EBADMSG, "it runs on %u threads (GOMAXPROCS), more than %d",
			       g->max_procs, GO_LIVE_MAX_PROCS);
	if (g->allp.n != g->max_procs || g->allp.cap < g->allp.n)
		return err_set(err, -EAGAIN, "its list of Ps does not fit GOMAXPROCS");
	return 0;
}

static int make_room(struct go_live *live, u32 nr_procs, struct err *err)
{
	size_t nr_spans = (size_t)nr_procs * GO_SPAN_CLASSES;

	if (nr_procs <= live->room)
		return 0;
	free(live->proc_vaddrs);
	free(live->procs);
	free(live->spans);
	free(live->copies);
	live->room = 0;
	live->proc_vaddrs = calloc(nr_procs, sizeof(*live->proc_vaddrs));
	live->procs = calloc(nr_procs, sizeof(*live->procs));
	live->spans = calloc(nr_spans, sizeof(*live->spans));
	live->copies = calloc(nr_spans, sizeof(*live->copies));
	if (!live->proc_vaddrs || !live->procs || !live->spans || !live->copies)
		return err_set(err, -ENOMEM, "no memory for %u Ps", nr_procs);
	live->room = nr_procs;
	return 0;
}

/* Each P, then the cache of each. */
static int read_procs(struct go_live *live, const struct go_globals *g, struct err *err)
{
	s32 free_at = offset_of(live, live->plan.minor < 25 ? GO_FIELD_P_G_FREE_N
							    : GO_FIELD_P_G_FREE_SIZE);
	struct go_copy list = { g->allp.vaddr, live->proc_vaddrs, g->allp.n * sizeof(u64) };
	size_t n = 0;
	int r = go_memory_read(&live->memory, &list, 1, err);

	for (u32 i = 0; i < g->allp.n && !r; i++) {
		struct go_proc *p = &live->procs[i];
		u64 at = live->proc_vaddrs[i];

		*p = (struct go_proc){ 0 };
		live->copies[n++] =
			(struct go_copy){ at + (u64)offset_of(live, GO_FIELD_P_ID), &p->id, 4 };
		live->copies[n++] = (struct go_copy){ at + (u64)free_at, &p->nr_free_gs, 4 };
		live->copies[n++] =
			(struct go_copy){ at + (u64)offset_of(live, GO_FIELD_P_STATS_SEQ), &p->seq,
					  4 };
		live->copies[n++] = (struct go_copy){ at + (u64)offset_of(live, GO_FIELD_P_MCACHE),
						      &p->cache, 8 };
	}
	r = r ? r : go_memory_read(&live->memory, live->copies, n, err);
	n = 0;
	for (u32 i = 0; i < g->allp.n && !r; i++) {
		struct go_proc *p = &live->procs[i];

		if (p->id != i)
			return err_set(err, -EBADMSG, "its P %u says that it is P %u", i, p->id);
		if (!p->cache)
			continue;
		live->copies[n++] = (struct go_copy){
			p->cache + (u64)offset_of(live, GO_FIELD_MCACHE_TINY_ALLOCS), &p->nr_tiny, 8
		};
		live->copies[n++] =
			(struct go_copy){ p->cache + (u64)offset_of(live, GO_FIELD_MCACHE_ALLOC),
					  p->spans, sizeof(p->spans) };
	}
	return r ? r : go_memory_read(&live->memory, live->copies, n, err);
}

/* The P that uncached a span may still hold it when another one has cached it: it counts once. */
static int compare_spans(const void *a, const void *b)
{
	const struct go_span_copy *x = a, *y = b;

	return x->vaddr < y->vaddr ? -1 : x->vaddr > y->vaddr;
}

static int list_spans(struct go_live *live, const struct go_globals *g, size_t *ret_n,
		      struct err *err)
{
	u64 empty = vaddr_of(live, GO_DATA_EMPTYMSPAN);
	size_t n = 0, kept = 0;

	for (u32 i = 0; i < g->allp.n; i++) {
		const struct go_proc *p = &live->procs[i];

		if (!p->cache)
			continue;
		/* Large objects are never cached. */
		if (p->spans[0] != empty || p->spans[1] != empty)
			return err_set(err, -EBADMSG,
				       "the cache of its P %u does not begin with the empty span",
				       i);
		for (u32 k = 2; k < GO_SPAN_CLASSES; k++) {
			if (p->spans[k] != empty)
				live->spans[n++] =
					(struct go_span_copy){ .vaddr = p->spans[k], .index = k };
		}
	}
	qsort(live->spans, n, sizeof(*live->spans), compare_spans);
	for (size_t i = 0; i < n; i++) {
		if (!kept || live->spans[kept - 1].vaddr != live->spans[i].vaddr)
			live->spans[kept++] = live->spans[i];
	}
	*ret_n = kept;
	return 0;
}

static int read_caches(struct go_live *live, const struct go_globals *g,
		       struct go_cache_sums *ret_sums, struct err *err)
{
	struct go_cache_sums sums = { 0 };
	size_t n = 0;
	int r = list_spans(live, g, &n, err);

	for (size_t i = 0; i < n && !r; i++)
		live->copies[i] =
			(struct go_copy){ live->spans[i].vaddr +
						  (u64)offset_of(live, GO_FIELD_MSPAN_SWEEPGEN),
					  live->spans[i].bytes, live->span_bytes };
	r = r ? r : go_memory_read(&live->memory, live->copies, n, err);
	if (r)
		return r;
	for (size_t i = 0; i < n; i++) {
		struct go_cached_span span;

		go_live_decode_span(live, &live->spans[i], &span);
		go_sums_add_span(&span, g->sweepgen, live->class_bytes, &sums);
	}
	for (u32 i = 0; i < g->allp.n; i++) {
		/* Odd: it is writing into the sums, perhaps just this number. */
		if (live->procs[i].seq & 1)
			sums.moving++;
		else
			sums.tiny_allocs += live->procs[i].nr_tiny;
	}
	*ret_sums = sums;
	return 0;
}

/* What one try found. */
struct attempt {
	struct go_heap_sums heap;
	struct go_cache_sums caches;
	u64 doubt; /* events that may be missing */
	struct go_stats stats;
};

static int try_once(struct go_live *live, struct attempt *ret, struct err *err)
{
	struct go_globals *before = &live->before, *after = &live->after;
	struct go_heap_sums heap_after;
	int r = read_globals(live, before, err);

	r = r ? r : make_room(live, before->max_procs, err);
	r = r ? r : read_procs(live, before, err);
	r = r ? r : read_caches(live, before, &ret->caches, err);
	r = r ? r : read_globals(live, after, err);
	if (r)
		return r;
	if (before->sweepgen != after->sweepgen ||
	    !go_sums_of_heap(go_live_memstats(live, before), live->plan.offsets, &ret->heap) ||
	    !go_sums_of_heap(go_live_memstats(live, after), live->plan.offsets, &heap_after))
		return err_set(err, -EAGAIN, "its sums were changing all the time");
	ret->doubt = go_sums_between(&ret->heap, &heap_after);
	if (ret->doubt == ~0ULL)
		return err_set(err, -EAGAIN, "its sums were changing all the time");
	ret->doubt += ret->caches.moving;
	go_sums_count(&ret->heap, &ret->caches, live->class_bytes, &ret->stats.counters);
	if (!go_live_decode(live, before, &ret->heap, &ret->stats.gauges, &ret->stats.counters))
		return err_set(err, -EAGAIN, "its totals did not agree with each other");
	return 0;
}

static bool is_transient(int r)
{
	/* An address that was followed may have been given up since. */
	return r == -EAGAIN || r == -EFAULT || r == -EBADMSG;
}

int go_live_read(struct go_live *live, struct go_stats *ret_stats, struct err *err)
{
	struct attempt best = { .doubt = ~0ULL };
	int r = -EAGAIN;

	for (int i = 0; i < GO_LIVE_TRIES && best.doubt; i++) {
		struct attempt now = { 0 };

		if (i)
			usleep(PAUSE_US);
		r = try_once(live, &now, err);
		if (!r && now.caches.wrong)
			r = err_set(err, -EBADMSG,
				    "%u spans in its caches are not what their place says",
				    now.caches.wrong);
		if (r && !is_transient(r))
			break;
		if (!r && now.doubt < best.doubt)
			best = now;
	}
	if (!go_memory_is_same(&live->memory, vaddr_of(live, GO_DATA_GOMAXPROCS)))
		return err_set(err, -ESTALE, "it executes another program now");
	if (best.doubt == ~0ULL)
		return r;
	best.stats.counted = best.stats.current = true;
	*ret_stats = best.stats;
	return 0;
}

/* --- beginning --- */

/* How far the program is from where it was linked. */
static int find_bias(struct go_live *live, struct err *err)
{
	Elf64_Ehdr head;
	struct go_copy copy = { .to = &head, .n = sizeof(head) };
	u64 phdr;
	int r = 0;

	live->bias = 0;
	if (live->plan.pie) {
		/* The program headers follow the header of the file, which is mapped first. */
		r = go_memory_phdr(live->memory.pid, &phdr, err);
		if (r)
			return r;
		live->bias = phdr - sizeof(head) - live->plan.base_vaddr;
	}
	copy.vaddr = live->plan.base_vaddr + live->bias;
	r = go_memory_read(&live->memory, &copy, 1, err);
	if (r)
		return r;
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_phoff != sizeof(head))
		return err_set(err, -EBADMSG, "its program is not where it should be in memory");
	return 0;
}

static int read_classes(struct go_live *live, struct err *err)
{
	struct go_copy copy = { vaddr_of(live, GO_DATA_CLASS_TO_SIZE), live->class_bytes,
				sizeof(live->class_bytes) };
	int r = go_memory_read(&live->memory, &copy, 1, err);

	if (!r && !go_sums_classes_good(live->class_bytes))
		r = err_set(err, -EBADMSG, "its size classes are not those of Go");
	return r;
}

int go_live_open(pid_t pid, const struct go_live_plan *plan, struct go_live **ret_live,
		 struct err *err)
{
	struct go_live *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return err_set(err, -ENOMEM, "no memory for a Go program");
	live->plan = *plan;
	r = go_memory_open(pid, &live->memory, err);
	r = r ? r : go_live_sizes(live, err);
	r = r ? r : find_bias(live, err);
	r = r ? r : read_classes(live, err);
	if (r) {
		go_live_free(live);
		return r;
	}
	*ret_live = live;
	return 0;
}

void go_live_free(struct go_live *live)
{
	if (!live)
		return;
	go_memory_done(&live->memory);
	free(live->before.memstats);
	free(live->before.controller);
	free(live->before.sched);
	free(live->after.memstats);
	free(live->after.controller);
	free(live->after.sched);
	free(live->proc_vaddrs);
	free(live->procs);
	free(live->spans);
	free(live->copies);
	free(live);
}
