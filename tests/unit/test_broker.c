/* SPDX-License-Identifier: MIT */
/* The broker: what passes for a request and a reply, what it answers, and how long it is waited
 * for.
 */
#include "tests/lib/check.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "user/base/clock.h"
#include "user/broker/go_view.h"

/* Longer than any machine is busy. */
#define LONG_NS (20 * NS_PER_SEC)

TEST(broker_takes_only_requests)
{
	static const struct broker_request good = { .seq = 1, .op = BROKER_IDENTIFY, .pid = 1 };
	struct broker_request r = good, got;
	static const struct {
		size_t at;
		u32 value;
	} wrong[] = {
		{ offsetof(struct broker_request, seq), 0 },
		{ offsetof(struct broker_request, op), BROKER_HELLO },
		{ offsetof(struct broker_request, op), NR_BROKER_OPS },
		{ offsetof(struct broker_request, op), BROKER_FIND }, /* of no pid */
		{ offsetof(struct broker_request, pid), 0 },
		{ offsetof(struct broker_request, pid), ~0u },
		{ offsetof(struct broker_request, pid), (4 << 20) + 1 },
		{ offsetof(struct broker_request, patience_ms), 60001 },
		{ offsetof(struct broker_request, zero), 1 },
	};

	CHECK(broker_request_check(&r, sizeof(r), &got));
	CHECK(!memcmp(&got, &good, sizeof(good)));
	CHECK(!broker_request_check(&r, sizeof(r) - 1, &got));
	CHECK(!broker_request_check(&r, sizeof(r) + 1, &got));
	CHECK(!broker_request_check(&r, 0, &got));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		r = good;
		memcpy((char *)&r + wrong[i].at, &wrong[i].value, sizeof(wrong[i].value));
		CHECK(!broker_request_check(&r, sizeof(r), &got));
	}
}

TEST(broker_reply_must_be_to_what_was_asked)
{
	static const struct broker_request asked = { .seq = 7, .op = BROKER_FIND };
	static const struct broker_reply good = {
		.seq = 7, .op = BROKER_FIND, .n = 1, .pids = { 5 }
	};
	static struct broker_reply r, got;
	static const struct {
		size_t at;
		u32 value;
	} wrong[] = {
		{ offsetof(struct broker_reply, seq), 6 },
		{ offsetof(struct broker_reply, seq), 8 },
		{ offsetof(struct broker_reply, op), BROKER_CALLS },
		{ offsetof(struct broker_reply, result), 1 },
		{ offsetof(struct broker_reply, result), (u32)-4096 },
		{ offsetof(struct broker_reply, more), 2 },
		{ offsetof(struct broker_reply, n), BROKER_BATCH + 1 },
		{ offsetof(struct broker_reply, pids), 0 },
		{ offsetof(struct broker_reply, pids), ~0u },
	};

	r = good;
	CHECK(broker_reply_check(&r, sizeof(r), &asked, &got));
	CHECK(!broker_reply_check(&r, sizeof(r) - 1, &asked, &got));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		r = good;
		memcpy((char *)&r + wrong[i].at, &wrong[i].value, sizeof(wrong[i].value));
		CHECK(!broker_reply_check(&r, sizeof(r), &asked, &got));
	}
}

TEST(broker_texts_must_end_and_show_no_control_bytes)
{
	struct broker_request asked = { .seq = 1, .op = BROKER_IDENTIFY, .pid = 1 };
	static struct broker_reply r, got;

	r = (struct broker_reply){ .seq = 1, .op = BROKER_IDENTIFY };
	memset(r.identity.exe, 'x', sizeof(r.identity.exe));
	CHECK(!broker_reply_check(&r, sizeof(r), &asked, &got));
	r.identity.exe[sizeof(r.identity.exe) - 1] = '\0';
	CHECK(broker_reply_check(&r, sizeof(r), &asked, &got));
	memset(r.identity.comm, 'x', sizeof(r.identity.comm));
	CHECK(!broker_reply_check(&r, sizeof(r), &asked, &got));

	asked.op = BROKER_GO_READ;
	r = (struct broker_reply){ .seq = 1, .op = BROKER_GO_READ, .go = { .why = "a\033[2J" } };
	CHECK(broker_reply_check(&r, sizeof(r), &asked, &got));
	CHECK_STR(got.go.why, "a?[2J");
	r.go.state = NR_BROKER_GO_STATES;
	CHECK(!broker_reply_check(&r, sizeof(r), &asked, &got));
	r.go.state = 0;
	memset(r.go.program.runtime_version, 'x', sizeof(r.go.program.runtime_version));
	CHECK(!broker_reply_check(&r, sizeof(r), &asked, &got));
	memset(&r.go.program, 0, sizeof(r.go.program));
	r.go.program.stripped = 2;
	CHECK(!broker_reply_check(&r, sizeof(r), &asked, &got));
	r.go.program.stripped = 0;
	r.more = 1; /* only lists have parts */
	CHECK(!broker_reply_check(&r, sizeof(r), &asked, &got));
}

static const char *own_name(void)
{
	static char name[32];
	struct broker_identity me;

	CHECK_EQ_INT(look_identity(getpid(), &me), 0);
	snprintf(name, sizeof(name), "%s", me.comm);
	return name;
}

static struct broker_client *start(const struct broker_config *config)
{
	struct broker_client *c;
	struct err err = { { 0 } };

	if (broker_start(config, &c, &err))
		FAIL("%s", err.text);
	return c;
}

static const struct broker_config plain = { .user = { 65534, 65534 }, .max_go = 1 };

/* As the serving process does: the last one to know of it, and no child is left. */
static void stop(struct broker_client *c)
{
	broker_client_free(c);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

TEST(broker_answers_as_one_would_see_it)
{
	const char *const names[] = { own_name() };
	struct broker_config config = plain;
	struct broker_identity here, there;
	struct thread_calls calls;
	struct broker_client *c;
	struct pid_list list;
	bool found = false;

	config.wanted.comms = (struct look_words){ names, 1 };
	c = start(&config);
	CHECK_EQ_INT(look_identity(getpid(), &here), 0);
	CHECK_EQ_INT(broker_identify(c, getpid(), &there), 0);
	CHECK_EQ_U64(there.start_ticks, here.start_ticks);
	CHECK_EQ_U64(there.uid, here.uid);
	CHECK_STR(there.comm, here.comm);
	CHECK_EQ_INT(broker_identify(c, 4 << 20, &there), -ENOENT);
	CHECK_EQ_INT(broker_thread_calls(c, getpid(), &calls), 0);
	free(calls.at);
	CHECK_EQ_INT(broker_find(c, &config.wanted, &list), 0);
	for (size_t i = 0; i < list.n; i++)
		found |= list.pids[i] == getpid();
	CHECK(found);
	free(list.pids);
	CHECK(!broker_client_trouble(c));
	stop(c);
}

/* Its answer comes when nobody waits for it any more, and is not taken for the next one. */
TEST(broker_that_is_late_is_not_believed)
{
	const struct broker_request request = { .op = BROKER_IDENTIFY, .pid = 1 };
	struct broker_client *c = start(&plain);
	const struct broker_reply *reply;
	struct broker_identity me;
	struct err err = { { 0 } };
	u64 begin_ns = clock_monotonic_ns();
	int r;

	kill(broker_client_pid(c), SIGSTOP);
	CHECK_EQ_INT(broker_ask(c, &request, begin_ns + 50 * NS_PER_MS, &reply, &err), -ETIMEDOUT);
	CHECK_STR(err.text, "the broker did not answer in time");
	CHECK_EQ_INT(broker_ask(c, &request, begin_ns + LONG_NS, &reply, &err), -EBUSY);
	CHECK(!strncmp(err.text, "the broker has not answered for ", 32));
	CHECK(clock_monotonic_ns() - begin_ns < LONG_NS / 2);
	kill(broker_client_pid(c), SIGCONT);
	do {
		const struct broker_request mine = { .op = BROKER_IDENTIFY, .pid = getpid() };

		r = broker_ask(c, &mine, clock_monotonic_ns() + LONG_NS, &reply, &err);
	} while (r == -EBUSY && clock_monotonic_ns() - begin_ns < LONG_NS);
	CHECK_EQ_INT(r, 0);
	CHECK_EQ_INT(look_identity(getpid(), &me), 0);
	CHECK_STR(reply->identity.comm, me.comm);
	CHECK_EQ_U64(reply->identity.start_ticks, me.start_ticks);
	stop(c);
}

static void wait_end(struct broker_client *c)
{
	struct pollfd end = { .fd = broker_client_fd(c), .events = POLLIN };

	CHECK_EQ_INT(poll(&end, 1, (int)(LONG_NS / NS_PER_MS)), 1);
	broker_client_reap(c);
}

/* Counters stay, the group says why, and what /proc shows to everyone is still read. */
TEST(broker_that_has_ended_is_done_without)
{
	struct process_identity id = { .pid = getpid() };
	struct go_view view = { .last = { .allocated_objects = 5 }, .counted = true };
	struct broker_client *c = start(&plain);
	struct go_view_sum sum = { 0 };
	struct broker_identity me;
	struct group_state state;
	struct go_stats stats;

	kill(broker_client_pid(c), SIGKILL);
	wait_end(c);
	CHECK_STR(broker_client_trouble(c), "it has ended by signal 9");
	CHECK_EQ_INT(broker_client_pid(c), 0);
	CHECK_EQ_INT(broker_identify(c, getpid(), &me), 0);
	CHECK_STR(me.comm, own_name());
	go_view_read(&view, c, &id, clock_monotonic_ns() + LONG_NS, &sum, &stats);
	CHECK(stats.counted && !stats.current);
	CHECK_EQ_U64(stats.counters.allocated_objects, 5);
	go_view_state(&sum, &state);
	CHECK(!state.up);
	CHECK_STR(state.reason, "the broker: it has ended by signal 9");
	stop(c);
}

TEST(broker_is_not_needed)
{
	struct thread_calls calls;
	struct broker_identity me;

	CHECK_EQ_INT(broker_identify(NULL, getpid(), &me), 0);
	CHECK_EQ_INT(broker_thread_calls(NULL, getpid(), &calls), 0);
	free(calls.at);
	CHECK_EQ_INT(broker_client_pid(NULL), 0);
	broker_client_free(NULL);
}

/* Ctrl-C in the terminal and a stop of the whole service reach it, and it goes on. */
TEST(broker_outlives_signals_for_the_group)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct broker_client *c = start(&plain);
	struct broker_identity me;

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		kill(broker_client_pid(c), signals[i]);
	CHECK_EQ_INT(broker_identify(c, getpid(), &me), 0);
	CHECK(!broker_client_trouble(c));
	stop(c);
}

/* Whoever asks for something else has been taken over. */
TEST(broker_ends_at_what_is_no_request)
{
	static const struct broker_request bad[] = { { .seq = 1, .op = NR_BROKER_OPS, .pid = 1 },
						     { .seq = 1, .op = BROKER_FIND, .pid = 1 } };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		static struct broker_reply reply;
		int fds[2], status = -1;
		pid_t pid;

		CHECK_EQ_INT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
		pid = fork();
		if (!pid)
			broker_run(&plain, fds[1]);
		close(fds[1]);
		CHECK_EQ_INT(recv(fds[0], &reply, sizeof(reply), 0), sizeof(reply));
		CHECK_EQ_INT(reply.result, 0);
		CHECK_EQ_INT(send(fds[0], &bad[i], sizeof(bad[i]), 0), sizeof(bad[i]));
		CHECK_EQ_INT(recv(fds[0], &reply, sizeof(reply), 0), 0);
		close(fds[0]);
		CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
		CHECK_EQ_INT(status, 0);
	}
}
