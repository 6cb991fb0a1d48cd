/* SPDX-License-Identifier: MIT */
/*
 * The serving process's end: starts the broker and asks it. No call waits longer than is said here,
 * whatever the broker does; a reply that comes later is thrown away.
 *
 * A client may be NULL, and the broker may have ended: what is read of /proc is then read by this
 * process itself, as far as it may.
 */
#ifndef SKYOBSERVE_BROKER_CLIENT_H
#define SKYOBSERVE_BROKER_CLIENT_H

#include <errno.h>

#include "user/broker/broker.h"

struct broker_client;

/* A broker that has not answered by then is left alone until it does. */
#define BROKER_DEADLINE_NS (1 * NS_PER_SEC)

/*
 * Fork the broker. For a process that has one thread and nothing open yet that the broker should
 * not have. @config must live as long as the broker. Returns 0 or a negative errno with @err.
 */
int broker_start(const struct broker_config *config, struct broker_client **ret_client,
		 struct err *err);

/* Let the broker end, and wait for it at most BROKER_DEADLINE_NS. NULL is fine. */
void broker_client_free(struct broker_client *client);

/* Its process id; 0 without one. */
pid_t broker_client_pid(const struct broker_client *client);

/* What it kept. */
const struct broker_hello *broker_client_hello(const struct broker_client *client);

/* A descriptor that is readable when it has ended: then call broker_client_reap. */
int broker_client_fd(const struct broker_client *client);

/* Take note that it has ended, if it has; afterwards broker_client_trouble says how. */
void broker_client_reap(struct broker_client *client);

/* Why it cannot be asked any more; NULL while it can. */
const char *broker_client_trouble(const struct broker_client *client);

/*
 * Ask, and wait until @deadline_ns (monotonic) at most. *ret_reply belongs to the client and is
 * valid until the next request. Returns what the broker found (0, or its negative errno), or
 * -ETIMEDOUT: no reply in time; -EBUSY: it still owes an earlier one; -EPIPE: there is no broker;
 * these three with @err.
 */
int broker_ask(struct broker_client *client, const struct broker_request *request, u64 deadline_ns,
	       const struct broker_reply **ret_reply, struct err *err);

/* Whether that is one of these three: the broker has said nothing. */
static inline bool broker_is_silent(int result)
{
	return result == -EPIPE || result == -ETIMEDOUT || result == -EBUSY;
}

/* As look_identity. */
int broker_identify(struct broker_client *client, pid_t pid, struct broker_identity *ret_identity);

/* As procfs_thread_calls. */
int broker_thread_calls(struct broker_client *client, pid_t pid, struct thread_calls *ret_calls);

/* As procfs_books, but by the broker only if /proc does not show the process to us. */
void broker_read_books(struct broker_client *client, pid_t pid, u64 now_ns,
		       struct proc_books *ret_books);

/* As procfs_store_files, of the file that the broker was started with. */
int broker_store(struct broker_client *client, pid_t pid, struct store_files *ret_files);

/* As procfs_sockets. */
int broker_sockets(struct broker_client *client, pid_t pid, struct socket_ends *ret_ends);
/*
 * How the work of process @pid is told apart: see BROKER_OWNER. Never waits for its file.
 * *ret_owner is set if 0 is returned; -EAGAIN: ask again.
 */
int broker_owner(struct broker_client *client, pid_t pid, struct broker_owner *ret_owner);

/* As look_find; @wanted is what the broker was started with. */
int broker_find(struct broker_client *client, const struct look_wanted *wanted,
		struct pid_list *ret_list);

/* As look_files; @wanted is what the broker was started with. */
u32 broker_files(struct broker_client *client, const struct look_wanted *wanted,
		 struct broker_file ret_files[MAX_WANTED]);

#endif /* SKYOBSERVE_BROKER_CLIENT_H */
