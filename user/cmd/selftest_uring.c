/* SPDX-License-Identifier: MIT */
/*
 * The io_uring load: fsyncs that are no system calls. One request at a time, on a ring of one
 * entry, without a library (io_uring(7)): fill the entry, advance the tail, enter and wait, advance
 * the head.
 */
#include "user/cmd/selftest_loads_impl.h"

#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NR_URING_SYNCS 10

/* Addresses inside the memory that the kernel shares; lives as long as the child. */
struct load_uring {
	int fd, file;
	u32 *tail, *array; /* of submissions */
	u32 *head;	   /* of completions */
	u32 mask, completed_mask;
	struct io_uring_sqe *entries;
	struct io_uring_cqe *completed;
};

static char *map_ring(struct load *l, int fd, size_t bytes, long offset)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);

	if (p == MAP_FAILED)
		load_refuse(l, "io_uring", errno);
	return p;
}

void load_uring_prepare(struct load *l)
{
	struct io_uring_params params = { 0 };
	struct load_uring *u = calloc(1, sizeof(*u));
	char *sq, *cq;

	if (!u)
		load_refuse(l, "io_uring", ENOMEM);
	u->fd = (int)syscall(SYS_io_uring_setup, 1, &params);
	if (u->fd < 0)
		load_refuse(l, "io_uring_setup", errno);
	sq = map_ring(l, u->fd, params.sq_off.array + params.sq_entries * sizeof(u32),
		      IORING_OFF_SQ_RING);
	cq = map_ring(l, u->fd,
		      params.cq_off.cqes + params.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	u->entries = (struct io_uring_sqe *)map_ring(
		l, u->fd, params.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	u->tail = (u32 *)(sq + params.sq_off.tail);
	u->array = (u32 *)(sq + params.sq_off.array);
	u->mask = *(u32 *)(sq + params.sq_off.ring_mask);
	u->head = (u32 *)(cq + params.cq_off.head);
	u->completed = (struct io_uring_cqe *)(cq + params.cq_off.cqes);
	u->completed_mask = *(u32 *)(cq + params.cq_off.ring_mask);
	u->file = load_file(l, 4096);
	l->uring = u;
}

static void sync_once(struct load *l, struct load_uring *u)
{
	u32 tail = *u->tail, at = tail & u->mask;
	s32 result;

	u->entries[at] = (struct io_uring_sqe){ .opcode = IORING_OP_FSYNC, .fd = u->file };
	u->array[at] = at;
	__atomic_store_n(u->tail, tail + 1, __ATOMIC_RELEASE);
	load_must(l, SYS_io_uring_enter, u->fd, 1, 1, IORING_ENTER_GETEVENTS);
	result = u->completed[*u->head & u->completed_mask].res;
	__atomic_store_n(u->head, *u->head + 1, __ATOMIC_RELEASE);
	if (result < 0)
		load_refuse(l, "fsync by io_uring", -result);
}

void load_uring_run(struct load *l)
{
	u64 n = 0;

	for (; n < NR_URING_SYNCS && !load_stopped(l); n++)
		sync_once(l, l->uring);
	load_claim(l, QUANTITY_COUNT, CELL_FSYNCS + DURABLE_URING_FSYNC, n, n,
		   "durable writes by io_uring");
	load_claim(l, QUANTITY_COUNT, CELL_FSYNCS + DURABLE_FSYNC, 0, 0, "durable writes by fsync");
	load_claim_calls(l, SYS_io_uring_enter, "io_uring_enter");
}
