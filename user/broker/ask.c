/* SPDX-License-Identifier: MIT */
/* What is asked of the broker, or read here if it cannot answer. Knows no sockets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/clock.h"
#include "user/broker/client_impl.h"
#include "user/proc/sockets.h"

/* Lists do not grow without end, whatever the other side says: pid_max, and threads at most that.
 */
#define MAX_LIST (4 << 20)

static int ask(struct broker_client *client, enum broker_op op, pid_t pid, u64 deadline_ns,
	       const struct broker_reply **ret_reply)
{
	const struct broker_request request = { .op = op, .pid = pid };
	struct err err;

	return broker_ask(client, &request, deadline_ns, ret_reply, &err);
}

int broker_identify(struct broker_client *client, pid_t pid, struct broker_identity *ret_identity)
{
	const struct broker_reply *reply;
	int r = ask(client, BROKER_IDENTIFY, pid, clock_monotonic_ns() + BROKER_DEADLINE_NS,
		    &reply);

	if (broker_is_silent(r))
		return look_identity(pid, ret_identity);
	if (!r)
		*ret_identity = reply->identity;
	return r;
}

void broker_read_books(struct broker_client *client, pid_t pid, u64 now_ns,
		       struct proc_books *ret_books)
{
	const struct broker_reply *reply;

	procfs_books("/proc", pid, now_ns, ret_books);
	if (ret_books->valid || !client ||
	    ask(client, BROKER_BOOKS, pid, clock_monotonic_ns() + BROKER_DEADLINE_NS, &reply))
		return;
	*ret_books = (struct proc_books){ .valid = true,
					  .read_ns = now_ns,
					  .cpu_ticks = reply->books.cpu_ticks,
					  .children_ticks = reply->books.children_ticks,
					  .minflt = reply->books.minflt,
					  .majflt = reply->books.majflt,
					  .resident_bytes = reply->books.resident_bytes,
					  .nr_threads = reply->books.nr_threads };
}

int broker_sockets(struct broker_client *client, pid_t pid, struct socket_ends *ret_ends)
{
	const struct broker_reply *reply;
	int r = ask(client, BROKER_SOCKETS, pid, clock_monotonic_ns() + BROKER_DEADLINE_NS, &reply);

	if (broker_is_silent(r))
		return procfs_sockets("/proc", pid, -1, ret_ends);
	if (!r)
		*ret_ends = reply->sockets;
	return r;
}

int broker_store(struct broker_client *client, pid_t pid, struct store_files *ret_files)
{
	const struct broker_reply *reply;
	int r = ask(client, BROKER_STORE, pid, clock_monotonic_ns() + BROKER_DEADLINE_NS, &reply);

	if (!r)
		*ret_files = reply->store;
	return r;
}

/* An array that grows by the elements of a reply. */
static int append(void **at, size_t *n, size_t size, const void *more, size_t nr_more)
{
	void *grown;

	if (*n + nr_more > MAX_LIST)
		return -E2BIG;
	grown = realloc(*at, (*n + nr_more + 1) * size);
	if (!grown)
		return -ENOMEM;
	memcpy((char *)grown + *n * size, more, nr_more * size);
	*at = grown;
	*n += nr_more;
	return 0;
}

static int ask_list(struct broker_client *client, enum broker_op op, pid_t pid, size_t size,
		    void **ret_at, size_t *ret_n)
{
	u64 deadline_ns = clock_monotonic_ns() + BROKER_DEADLINE_NS;
	const struct broker_reply *reply;
	size_t n = 0;
	void *at = NULL;
	int r = ask(client, op, pid, deadline_ns, &reply);

	while (!r) {
		struct err err;

		r = append(&at, &n, size, reply->calls, reply->n); /* any list begins there */
		if (r || !reply->more)
			break;
		r = broker_next_reply(client, deadline_ns, &reply, &err);
	}
	if (r) {
		free(at);
		return r;
	}
	*ret_at = at;
	*ret_n = n;
	return 0;
}

int broker_thread_calls(struct broker_client *client, pid_t pid, struct thread_calls *ret_calls)
{
	struct thread_calls calls = { 0 };
	void *at;
	int r = ask_list(client, BROKER_CALLS, pid, sizeof(*calls.at), &at, &calls.n);

	if (broker_is_silent(r))
		return procfs_thread_calls("/proc", pid, ret_calls);
	if (r)
		return r;
	calls.at = at;
	calls.cap = calls.n;
	*ret_calls = calls;
	return 0;
}

int broker_owner(struct broker_client *client, pid_t pid, struct broker_owner *ret_owner)
{
	const struct broker_reply *reply;
	int r = ask(client, BROKER_OWNER, pid, clock_monotonic_ns() + BROKER_DEADLINE_NS, &reply);

	if (!r)
		*ret_owner = reply->owner;
	return r;
}

int broker_find(struct broker_client *client, const struct look_wanted *wanted,
		struct pid_list *ret_list)
{
	struct pid_list list = { 0 };
	void *at;
	int r = ask_list(client, BROKER_FIND, 0, sizeof(*list.pids), &at, &list.n);

	if (broker_is_silent(r))
		return look_find(wanted, ret_list);
	if (r)
		return r;
	list.pids = at;
	list.cap = list.n;
	*ret_list = list;
	return 0;
}

u32 broker_files(struct broker_client *client, const struct look_wanted *wanted,
		 struct broker_file ret_files[MAX_WANTED])
{
	const struct broker_reply *reply;

	if (ask(client, BROKER_FILES, 0, clock_monotonic_ns() + BROKER_DEADLINE_NS, &reply))
		return look_files(wanted, ret_files);
	memcpy(ret_files, reply->files, sizeof(reply->files));
	return reply->n;
}
