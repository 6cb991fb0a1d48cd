/* SPDX-License-Identifier: MIT */
/*
 * Two sides that wait for each other N times: processes over two pipes (T5), or with --futex two
 * threads over one word (T6).
 *
 * The truth: over pipes each side reads N times and writes N times; its blocks are bounded by that,
 * since a reader that finds its byte does not block. Over a futex each side wakes N times; how
 * often it must wait in the kernel is luck, so what happened is counted where it happened.
 *
 * The second side is inside its first wait when "ready" is printed (its pid follows the first one's
 * there), and inside one more wait from the end of its work on.
 */
#include "workload.h"

enum {
	SIDE_DONE = 1
};

struct side {
	pid_t id;
	int step;
	int in_fd;
	int out_fd;
	int schedstat_fd;
	struct wl_tally tally;
	struct wl_tally entered_before;
	struct wl_times begin;
	struct wl_times used;
	uint64_t wakes;
	uint64_t waits;
};

struct game {
	uint64_t rounds;
	int turn; /* the index of the side whose turn it is */
	int over; /* never woken: where the second thread stays at the end */
	struct side sides[2];
};

static void side_begin(struct side *me)
{
	wl_times_take(&me->tally, me->schedstat_fd, &me->begin);
}

static void side_end(struct side *me)
{
	struct wl_times end;

	wl_times_take(&me->tally, me->schedstat_fd, &end);
	me->used = wl_times_diff(&end, &me->begin);
	wl_step_set(&me->step, SIDE_DONE);
}

static void pass_ball(struct side *me)
{
	WL_OK(&me->tally, write, me->out_fd, "b", 1);
}

static void catch_ball(struct side *me)
{
	char ball;

	if (WL_OK(&me->tally, read, me->in_fd, &ball, 1) != 1)
		_exit(0); /* the other side is gone */
}

/* The child's life: answer, and stay until the parent is gone. */
static WL_NORETURN void serve_pipes(struct game *game)
{
	struct side *me = &game->sides[1];
	uint64_t i;
	char ball;

	me->schedstat_fd = wl_schedstat_open();
	for (i = 0; i < game->rounds; i++) {
		catch_ball(me);
		if (i == 0)
			side_begin(me);
		pass_ball(me);
	}
	side_end(me);
	(void)!read(me->in_fd, &ball, 1);
	_exit(0);
}

static void run_pipes(struct wl *w, struct game *game)
{
	struct side *me = &game->sides[0], *other = &game->sides[1];
	int there[2], back[2];
	uint64_t i;
	pid_t pid;

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		wl_die("pipe2: %s", strerror(errno));
	*me = (struct side){ .id = getpid(), .in_fd = back[0], .out_fd = there[1] };
	*other = (struct side){ .in_fd = there[0], .out_fd = back[1] };
	other->entered_before.calls[WL_CALL_read] = 1;
	pid = fork();
	if (pid < 0)
		wl_die("fork: %s", strerror(errno));
	if (!pid) {
		close(there[1]); /* or the end of the parent would not be the end of the file */
		close(back[0]);
		serve_pipes(game);
	}
	other->id = pid;
	close(there[0]);
	close(back[1]);
	me->schedstat_fd = wl_schedstat_open();
	wl_wait_state(pid, pid, 'S');

	wl_ready_with(w, &pid, 1);
	side_begin(me);
	for (i = 0; i < game->rounds; i++) {
		pass_ball(me);
		catch_ball(me);
	}
	side_end(me);
	wl_step_await(&other->step, SIDE_DONE);
}

/* Wait until it is the turn of side @mine, then give it to the other one. */
static void futex_turn(struct game *game, int mine)
{
	struct side *me = &game->sides[mine];

	while (__atomic_load_n(&game->turn, __ATOMIC_ACQUIRE) != mine) {
		me->waits++;
		(void)wl_futex_wait(&me->tally, &game->turn, !mine); /* EAGAIN: the turn came */
	}
}

static void futex_give(struct game *game, int mine)
{
	struct side *me = &game->sides[mine];

	__atomic_store_n(&game->turn, !mine, __ATOMIC_RELEASE);
	me->wakes++;
	(void)wl_futex_wake(&me->tally, &game->turn, 1);
}

static void serve_futex(struct wl_thread *th)
{
	struct game *game = th->arg;
	struct side *me = &game->sides[1];
	struct wl_tally after = { 0 };
	uint64_t i;

	me->schedstat_fd = wl_schedstat_open();
	for (i = 0; i < game->rounds; i++) {
		futex_turn(game, 1);
		if (i == 0)
			side_begin(me);
		futex_give(game, 1);
	}
	side_end(me);
	for (;;)
		(void)wl_futex_wait(&after, &game->over, 0);
}

static void run_futex(struct wl *w, struct game *game)
{
	struct side *me = &game->sides[0], *other = &game->sides[1];
	struct wl_tally before = { 0 };
	struct wl_thread *th;
	uint64_t i;

	me->id = getpid();
	other->entered_before.calls[WL_CALL_futex] = 1;
	th = wl_threads_alloc(1, serve_futex, game);
	wl_thread_start(&before, th);
	other->id = th->tid;
	me->schedstat_fd = wl_schedstat_open();
	wl_wait_state(getpid(), th->tid, 'S');

	wl_ready(w);
	side_begin(me);
	for (i = 0; i < game->rounds; i++) {
		futex_give(game, 0);
		futex_turn(game, 0);
	}
	side_end(me);
	wl_step_await(&other->step, SIDE_DONE);
}

static void tell_side(struct wl *w, const char *role, const struct side *side, bool futex)
{
	wl_json_open(w, NULL, '{');
	wl_json_task(w, role, side->id, &side->tally, &side->entered_before);
	if (futex) {
		wl_json_u64(w, "wakes", side->wakes);
		wl_json_u64(w, "waits", side->waits);
		wl_json_u64(w, "waits_eagain",
			    wl_tally_errors(&side->tally, WL_CALL_futex, EAGAIN));
	}
	wl_json_times_object(w, &side->used);
	wl_json_close(w, '}');
}

static void tell(struct wl *w, const struct game *game, bool futex)
{
	/* The head of the truth is for the first pid: both threads, but one of the processes. */
	w->tally = game->sides[0].tally;
	if (futex) {
		wl_tally_add(&w->tally, &game->sides[1].tally);
		w->entered_before = game->sides[1].entered_before;
	}
	wl_json_begin(w);
	wl_json_u64(w, "rounds", game->rounds);
	wl_json_open(w, "sides", '[');
	tell_side(w, "first", &game->sides[0], futex);
	tell_side(w, "second", &game->sides[1], futex);
	wl_json_close(w, ']');
	wl_json_end(w);
}

int main(int argc, char **argv)
{
	struct game *game = wl_shared(sizeof(*game));
	uint64_t cpu = UINT64_MAX;
	bool futex = false;
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &game->rounds, "round trips (10000)"),
		WL_FLAG("futex", &futex, "two threads and a futex, not two processes and pipes"),
		WL_NUMBER("cpu", &cpu, "both sides on this CPU, so that each wait blocks"),
	};
	struct wl w;

	(void)argc;
	game->rounds = 10000;
	wl_init(&w, "pingpong", argv, opts, WL_N(opts));
	if (!game->rounds)
		wl_quit(64, "--n is at least 1");
	if (cpu != UINT64_MAX)
		wl_pin(cpu);
	if (futex)
		run_futex(&w, game);
	else
		run_pipes(&w, game);
	tell(&w, game, futex);
	wl_finish(&w);
}
