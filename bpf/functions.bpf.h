/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Group functions: calls of functions of Go programs as interactions. One begins when its goroutine
 * enters the function, and ends when that call returns. Calls inside of it, by the same goroutine,
 * are part of it.
 *
 * A call is told from those inside of it by its depth: bytes between the upper end of the
 * goroutine's stack and the stack pointer, which stay the same when the stack moves. One that a
 * panic passed, or whose goroutine has ended, never returns. It is over, unfinished, as soon as
 * that is seen: when its goroutine enters or leaves a function no deeper, or when one of the
 * process's next calls looks after it.
 *
 * A probe may be preempted (from 6.0 on, on preemptible kernels) in the middle of what it changes
 * in its thread's cell. Then the switch is left out, as one that the kernel does not report:
 * sched.bpf.h charges what it was about at the next one.
 */
#ifndef SKYOBSERVE_FUNCTIONS_BPF_H
#define SKYOBSERVE_FUNCTIONS_BPF_H

#include "interactions.bpf.h"

/* runtime.g begins with its stack: lo, hi (assembly of the runtime relies on it, in all versions).
 */
#define GO_STACK_HI 8
/* runtime._Gdead, and the bit that the collector sets beside; the same since Go 1.4. */
#define GO_STATUS_DEAD 6
#define GO_STATUS_SCAN 0x1000

/* So many interactions in flight are looked after at each entry. */
#define FUNCTION_LOOKS 2

/* Numbers of their own for calls: slot and time, which come again after 13 days. */
#define FUNCTION_TIME_BITS 50

/* How deep in the stack of the current thread's goroutine @sp is; 0: it is not there. */
static __always_inline u64 function_depth(const struct thread_cell *t, u64 sp)
{
	u64 lo = user_word(t->owner), hi = user_word(t->owner + GO_STACK_HI);

	return t->owner && sp >= lo && sp < hi ? hi - sp : 0;
}

/* 1 + the call in flight of the current thread's goroutine; 0: none. */
static __always_inline u32 function_flow(const struct thread_cell *t)
{
	struct owner_key key = { .owner = t->owner, .tgid = t->tgid };
	u32 *slot = bpf_map_lookup_elem(&owner_flows, &key);
	struct flow *f = flow_at(slot ? *slot + 1 : 0);

	return f && f->owner == t->owner && f->tgid == t->tgid && flow_is_open(f) ? *slot + 1 : 0;
}

/*
 * The call @inode on @slot1 is over. Threads that find that out at the same time take its number
 * out of the map, which only one of them can. The goroutine's entry is left: only the goroutine
 * itself may take it out or use it for another call.
 */
__noinline int function_is_over(u32 slot1, u64 inode, u32 code, u64 now)
{
	struct flow *f = flow_at(slot1);
	u32 slot = slot1 - 1;

	if (!f || !inode || bpf_map_delete_elem(&flow_slots, &inode))
		return 0;
	current_ends(slot1, now, code, now);
	f->inode = 0;
	bpf_map_push_elem(&free_flows, &slot, BPF_ANY);
	return 0;
}

/* The same for the goroutine of the current thread. */
static __always_inline void function_ends(const struct thread_cell *t, u32 slot1, u64 inode,
					  u32 code, u64 now)
{
	struct owner_key key = { .owner = t->owner, .tgid = t->tgid };

	bpf_map_delete_elem(&owner_flows, &key);
	function_is_over(slot1, inode, code, now);
}

/* Whether the goroutine of @f still is the one that entered the function. */
static __always_inline bool function_goroutine_lives(const struct flow *f,
						     const struct process_cell *p)
{
	u64 g = f->owner, status = user_word(g + p->owner.g_status);

	return (status & 0xffffffff & ~GO_STATUS_SCAN) != GO_STATUS_DEAD &&
	       user_word(g + p->owner.g_goid) == f->goid;
}

/* Look after the next calls in flight. Slots were used from the lowest on. */
__noinline int functions_look_after(u64 now)
{
	struct thread_cell *t = thread_of_current();
	struct process_cell *p = t ? process_of(t) : NULL;
	struct flow *f;
	u64 inode;
	u32 slot1;

	for (u32 i = 0; p && i < FUNCTION_LOOKS; i++) {
		slot1 = p->look_flow + 1;
		f = flow_at(slot1);
		p->look_flow = f && f->begin_ns ? slot1 : 0;
		inode = f ? *(const volatile u64 *)&f->inode : 0; /* before what it is about */
		if (!inode || f->process != t->process || !flow_is_open(f) ||
		    f->owner == t->owner || function_goroutine_lives(f, p))
			continue;
		function_is_over(slot1, inode, INTERACTION_UNFINISHED, now);
	}
	return 0;
}

/* A place for a call of the function number @function; 0: there is none. */
__noinline int function_place(u32 function, u64 goid, u64 depth, u64 now)
{
	const struct route_name *name = bpf_map_lookup_elem(&function_names, &function);
	struct thread_cell *t = thread_of_current();
	struct flow *f;
	u32 slot = 0;
	u64 inode;

	if (!t || !name)
		return 0;
	f = flow_take(&slot);
	if (!f) {
		drop(DROP_FLOWS_FULL);
		return 0;
	}
	f->state = FLOW_IDLE;
	f->process = t->process;
	f->tgid = t->tgid;
	f->goid = goid;
	f->depth = depth;
	f->begin_ns = now;
	f->owner = 0; /* of the last user of the place, which is not to be forgotten for us */
	f->outcome = OUTCOME_NONE;
	f->cpu_ns = 0;
	f->off_cpu_ns = 0;
	f->enters = 0;
	f->fsyncs = 0;
	__builtin_memcpy(f->request.name, name->name, KIND_NAME_BYTES);
	f->account = kind_account(f);
	inode = FLOW_OF_FUNCTION | (u64)slot << FUNCTION_TIME_BITS |
		(now & ((1ULL << FUNCTION_TIME_BITS) - 1));
	flow_owned_by(f, slot, t->owner);
	if (!f->owner || bpf_map_update_elem(&flow_slots, &inode, &slot, BPF_NOEXIST)) {
		bpf_map_push_elem(&free_flows, &slot, BPF_ANY);
		return 0;
	}
	f->inode = inode;
	return slot + 1;
}

static __always_inline void function_begins(struct thread_cell *t, struct process_cell *p,
					    u32 function, u64 goid, u64 depth, u64 now)
{
	u32 slot1 = function_place(function, goid, depth, now);
	struct flow *f = flow_at(slot1);

	if (!f)
		return;
	*(volatile u8 *)&f->state = FLOW_OPEN; /* from here on it may be looked after */
	__sync_fetch_and_add(&p->open_flows, 1);
	charge(cells_of(f->account), CELL_BEGUN, 1);
	current_works_for(slot1, 0, now);
}

/* --- for the hooks --- */

/* The process of @t if calls of its functions are told apart. */
static __always_inline struct process_cell *functions_of(const struct thread_cell *t)
{
	struct process_cell *p = interactions_of(t);

	return p && p->owner.mode == OWNER_GO ? p : NULL;
}

/* The current thread enters function number @function: @sp is the stack pointer of the entry. */
__noinline int current_enters_function(u32 function, u64 sp, u64 now)
{
	struct thread_cell *t = thread_of_current();
	struct process_cell *p = t ? functions_of(t) : NULL;
	u64 goid, depth;
	struct flow *f;
	u32 slot1;

	if (!p)
		return 0;
	go_switch(t, p, now);
	depth = function_depth(t, sp);
	if (!depth) {
		drop(DROP_NO_GOROUTINE);
		return 0;
	}
	goid = user_word(t->owner + p->owner.g_goid);
	slot1 = function_flow(t);
	f = flow_at(slot1);
	if (f && f->goid == goid && depth > f->depth)
		return 0; /* inside of the call that counts */
	if (f)
		function_ends(t, slot1, f->inode, INTERACTION_UNFINISHED, now);
	functions_look_after(now);
	function_begins(t, p, function, goid, depth, now);
	return 0;
}

/* A function returns: @sp is where its return address is, the stack pointer of its entry. */
__noinline int current_leaves_function(u64 sp, u64 now)
{
	struct thread_cell *t = thread_of_current();
	struct process_cell *p = t ? functions_of(t) : NULL;
	struct flow *f;
	u64 depth;
	u32 slot1;

	if (!p)
		return 0;
	go_switch(t, p, now);
	depth = function_depth(t, sp);
	slot1 = function_flow(t);
	f = flow_at(slot1);
	if (!f || !depth || depth > f->depth || !go_still_owns(f, t, p))
		return 0; /* it began before observing did, or is inside of the call that counts */
	function_ends(t, slot1, f->inode,
		      depth == f->depth ? INTERACTION_RETURNED : INTERACTION_UNFINISHED, now);
	return 0;
}

#endif /* SKYOBSERVE_FUNCTIONS_BPF_H */
