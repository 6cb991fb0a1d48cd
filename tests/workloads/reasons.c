/* SPDX-License-Identifier: MIT */
/*
 * A known number of spells off the CPU for each reason.
 *
 * The truth: the main thread, alone in its process, blocks K times for each kind in turn: a futex
 * that times out, poll, sleep, a pipe and a socket without data, being stopped; each for at least
 * MS milliseconds. A second process gives what is waited for (its pid follows the first one's after
 * "ready"): it begins its MS only when it has seen the main thread sleeping or stopped, so the
 * minimum holds. "nvcsw" is the kernel's own count of voluntary switches over the same stretch.
 *
 * fsync, a page fault on a cold file mapping and a read past the page cache block as often as the
 * machine likes: they are "exact":false and their "spells" are the kernel's count, not ours.
 */
#include "workload.h"

#include <sys/socket.h>

enum {
	COLD_STRIDE = 256 * 1024,
	BLOCK = 4096
};

enum order {
	ORDER_PIPE = 'p',
	ORDER_SOCKET = 's',
	ORDER_CONTINUE = 'c'
};

struct scene {
	pid_t pid;
	uint64_t n;
	struct timespec length;
	int word;
	int order_fd; /* what the helper shall do next */
	int pipe_fd;
	int socket_fd;
	int file_fd;
	int direct_fd; /* -1: the file system has no O_DIRECT */
	char *cold;
	char *block; /* aligned for O_DIRECT */
};

static void spell_futex(struct wl_tally *t, struct scene *scene, uint64_t i)
{
	(void)i;
	WL(t, futex, &scene->word, FUTEX_WAIT, 0, &scene->length);
}

static void spell_poll(struct wl_tally *t, struct scene *scene, uint64_t i)
{
	struct timespec left = scene->length; /* the kernel writes what is left of it */

	(void)i;
	WL_OK(t, ppoll, NULL, 0, &left, NULL, 0);
}

static void spell_sleep(struct wl_tally *t, struct scene *scene, uint64_t i)
{
	(void)i;
	WL_OK(t, clock_nanosleep, CLOCK_MONOTONIC, 0, &scene->length, NULL);
}

static void give_order(struct wl_tally *t, const struct scene *scene, enum order order)
{
	char byte = (char)order;

	WL_OK(t, write, scene->order_fd, &byte, 1);
}

static void spell_pipe(struct wl_tally *t, struct scene *scene, uint64_t i)
{
	char byte;

	(void)i;
	give_order(t, scene, ORDER_PIPE);
	WL_OK(t, read, scene->pipe_fd, &byte, 1);
}

static void spell_socket(struct wl_tally *t, struct scene *scene, uint64_t i)
{
	char byte;

	(void)i;
	give_order(t, scene, ORDER_SOCKET);
	WL_OK(t, recvfrom, scene->socket_fd, &byte, 1, 0, NULL, NULL);
}

static void spell_stopped(struct wl_tally *t, struct scene *scene, uint64_t i)
{
	(void)i;
	give_order(t, scene, ORDER_CONTINUE);
	WL_OK(t, kill, scene->pid, SIGSTOP);
}

static void spell_fsync(struct wl_tally *t, struct scene *scene, uint64_t i)
{
	WL_OK(t, pwrite64, scene->file_fd, "x", 1, i * BLOCK);
	WL_OK(t, fsync, scene->file_fd);
}

static void spell_page_fault(struct wl_tally *t, struct scene *scene, uint64_t i)
{
	(void)t;
	(void)*(volatile char *)(scene->cold + i * COLD_STRIDE);
}

static void spell_block_io(struct wl_tally *t, struct scene *scene, uint64_t i)
{
	if (scene->direct_fd >= 0)
		WL_OK(t, pread64, scene->direct_fd, scene->block, BLOCK, i * COLD_STRIDE);
}

static const struct kind {
	const char *reason;
	bool exact;
	void (*spell)(struct wl_tally *t, struct scene *scene, uint64_t i);
} kinds[] = {
	{ "futex", true, spell_futex },	       { "poll", true, spell_poll },
	{ "sleep", true, spell_sleep },	       { "pipe", true, spell_pipe },
	{ "socket", true, spell_socket },      { "stopped", true, spell_stopped },
	{ "fsync", false, spell_fsync },       { "page_fault", false, spell_page_fault },
	{ "block_io", false, spell_block_io },
};

/* The other process: see the main thread where the order says, let MS pass, end its wait. */
static WL_NORETURN void help(const struct scene *scene, int order_fd, int pipe_fd, int socket_fd)
{
	char order;

	while (read(order_fd, &order, 1) == 1) {
		/* Go on in any case: nobody else would let the main thread continue. */
		(void)wl_state_comes(scene->pid, scene->pid, order == ORDER_CONTINUE ? 'T' : 'S');
		nanosleep(&scene->length, NULL);
		if (order == ORDER_PIPE)
			(void)!write(pipe_fd, "x", 1);
		else if (order == ORDER_SOCKET)
			(void)!send(socket_fd, "x", 1, MSG_NOSIGNAL);
		else
			kill(scene->pid, SIGCONT);
	}
	_exit(0);
}

static pid_t start_helper(struct scene *scene)
{
	int order[2], give[2], sockets[2];
	pid_t pid;

	if (pipe2(order, O_CLOEXEC) || pipe2(give, O_CLOEXEC) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		wl_die("no pipes or sockets: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		wl_die("fork: %s", strerror(errno));
	if (!pid) {
		close(order[1]); /* or our end would keep the parent's open */
		help(scene, order[0], give[1], sockets[1]);
	}
	close(order[0]);
	scene->order_fd = order[1];
	scene->pipe_fd = give[0];
	scene->socket_fd = sockets[0];
	return pid;
}

/* A file on disk whose pages are not in memory, as far as the file system lets us have that. */
static void make_cold_file(struct scene *scene, const char *dir)
{
	size_t bytes = scene->n * COLD_STRIDE, at;
	char path[64];

	scene->file_fd = wl_scratch_file(dir, 0);
	scene->block = aligned_alloc(BLOCK, BLOCK);
	if (!scene->block)
		wl_die("no memory");
	memset(scene->block, 'x', BLOCK);
	for (at = 0; at < bytes; at += BLOCK)
		if (write(scene->file_fd, scene->block, BLOCK) != BLOCK)
			wl_die("write: %s", strerror(errno));
	fsync(scene->file_fd);
	posix_fadvise(scene->file_fd, 0, 0, POSIX_FADV_DONTNEED);
	scene->cold = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, scene->file_fd, 0);
	if (scene->cold == MAP_FAILED)
		wl_die("mmap: %s", strerror(errno));
	madvise(scene->cold, bytes, MADV_RANDOM); /* no reading ahead */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", scene->file_fd);
	scene->direct_fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
}

static bool kind_is_wanted(const char *list, const char *reason)
{
	size_t len = strlen(reason);
	const char *at;

	if (wl_same(list, "all"))
		return true;
	for (at = strstr(list, reason); at; at = strstr(at + 1, reason))
		if ((at == list || at[-1] == ',') && (!at[len] || at[len] == ','))
			return true;
	return false;
}

static void tell(struct wl *w, const struct scene *scene, const struct wl_times *used,
		 const char *list)
{
	const uint64_t least_ns =
		(uint64_t)scene->length.tv_sec * WL_NS_PER_SEC + (uint64_t)scene->length.tv_nsec;
	size_t i;

	wl_json_begin(w);
	wl_json_open(w, "reasons", '{');
	for (i = 0; i < WL_N(kinds); i++) {
		if (!kind_is_wanted(list, kinds[i].reason))
			continue;
		wl_json_open(w, kinds[i].reason, '{');
		wl_json_bool(w, "exact", kinds[i].exact);
		wl_json_u64(w, "spells", kinds[i].exact ? scene->n : used[i].nvcsw);
		wl_json_u64(w, "min_blocked_ns", kinds[i].exact ? scene->n * least_ns : 0);
		wl_json_times(w, &used[i]);
		wl_json_close(w, '}');
	}
	wl_json_close(w, '}');
	wl_json_bool(w, "o_direct", scene->direct_fd >= 0);
	wl_json_end(w);
}

int main(int argc, char **argv)
{
	const char *list = "all", *dir = ".";
	struct wl_times begin, end, used[WL_N(kinds)];
	struct scene scene = { .n = 5 };
	uint64_t ms = 20, k;
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &scene.n, "spells of each kind (5)"),
		WL_NUMBER("ms", &ms, "milliseconds of each spell, at least (20)"),
		WL_STRING("kinds", &list,
			  "all, or some: "
			  "futex,poll,sleep,pipe,socket,stopped,fsync,page_fault,block_io"),
		WL_STRING("dir", &dir, "where the scratch file is made (.)"),
	};
	int schedstat_fd;
	pid_t helper;
	struct wl w;
	size_t i;

	(void)argc;
	wl_init(&w, "reasons", argv, opts, WL_N(opts));
	scene.pid = w.pid;
	scene.length = wl_timespec_ms(ms);
	make_cold_file(&scene, dir);
	helper = start_helper(&scene);
	schedstat_fd = wl_schedstat_open();

	wl_ready_with(&w, &helper, 1);
	for (i = 0; i < WL_N(kinds); i++) {
		if (!kind_is_wanted(list, kinds[i].reason))
			continue;
		wl_times_take(&w.tally, schedstat_fd, &begin);
		for (k = 0; k < scene.n; k++)
			kinds[i].spell(&w.tally, &scene, k);
		wl_times_take(&w.tally, schedstat_fd, &end);
		used[i] = wl_times_diff(&end, &begin);
	}
	tell(&w, &scene, used, list);
	wl_finish(&w);
}
