/* SPDX-License-Identifier: MIT */
/* The sockets of a process, from a made-up /proc with lines that make no sense among the others. */
#include "tests/lib/check.h"

#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/proc/sock_diag.h"
#include "user/proc/sockets.h"
#include "user/proc/store_files.h"

static char root[256];

static void folder(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	CHECK(!mkdir(full, 0700));
}

static void file(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", root, path);
	f = fopen(full, "we");
	CHECK(f && fputs(text, f) >= 0 && !fclose(f));
}

static void descriptor(const char *path, const char *target)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	CHECK(!symlink(target, full));
}

#define TAIL " 00000000:00000000 00:00000000 00000000     0        0 "

static void make(void)
{
	const char *tmp = getenv("TEST_TMPDIR");

	snprintf(root, sizeof(root), "%s/sockets-XXXXXX", tmp ? tmp : "/tmp");
	CHECK(mkdtemp(root));
	folder("5");
	folder("5/fd");
	folder("5/net");
	folder("6");
	folder("6/fd");
	descriptor("5/fd/0", "/dev/null");
	descriptor("5/fd/3", "socket:[100]");
	descriptor("5/fd/4", "socket:[101]");
	descriptor("5/fd/5", "socket:[102]");
	descriptor("5/fd/6", "socket:[103]");
	descriptor("5/fd/7", "socket:[104]");
	descriptor("5/fd/8", "socket:[105]");
	descriptor("5/fd/9", "socket:[106]");
	descriptor("6/fd/1", "socket:[200]");
	file("6/comm", "postgres\n");
	file("5/net/tcp",
	     "  sl  local_address rem_address   st\n"
	     "   0: 0100007F:1F90 00000000:0000 0A" TAIL
	     "100 1 0 100 0 0 10 0\n"				   /* listens on 8080 */
	     "   1: 0100007F:1F90 0200007F:9999 01" TAIL "101 1\n" /* a client */
	     "   2: 0100007F:8000 0100007F:1538 01" TAIL "102 1\n" /* to 5432, twice */
	     "   3: 0100007F:8001 0100007F:1538 01" TAIL "103 1\n"
	     "   4: 0100007F:1538 0100007F:8000 01" TAIL "200 1\n" /* its other end */
	     "   5: 0100007F:0050 00000000:0000 0A" TAIL "300 1\n" /* somebody else's */
	     "   6: 0100007F:8002 0100007F:1538 06" TAIL "104 1\n" /* is closing */
	     "   7: nonsense\n\n   8: 01:1 02:2 01" TAIL "102\n"
	     "   9: 0100007F0100007F:1 0:2 01" TAIL "102\n");
	file("5/net/tcp6", "   0: 00000000000000000000000001000000:01BB "
			   "00000000000000000000000000000000:0000 0A" TAIL "105 1\n");
	file("5/net/unix", "Num       RefCount Protocol Flags    Type St Inode Path\n"
			   "0: 00000002 00000000 00010000 0001 01 106 /run/app\n"
			   "0: 00000003 00000000 00000000 0001 03 104\n"
			   "0: 00000003 00000000 00000000 0001 03 999\n"
			   "0: x\n");
}

static void check_text(const struct socket_end *end, const char *want)
{
	char text[160];

	socket_end_text(end, text, sizeof(text));
	CHECK(!strcmp(text, want));
}

TEST(sockets_are_what_the_descriptors_lead_to)
{
	struct socket_ends ends;

	make();
	CHECK_EQ_U64(procfs_sockets(root, 5, -1, &ends), 0);
	CHECK_EQ_U64(ends.n, 4);
	CHECK(ends.at[0].kind == SOCKET_LISTENS && ends.at[2].kind == SOCKET_CONNECTED);
	check_text(&ends.at[0], "127.0.0.1:8080");
	check_text(&ends.at[1], "[::1]:443");
	check_text(&ends.at[2], "127.0.0.1:5432 (postgres) 2 times");
	check_text(&ends.at[3], "unix:/run/app");
	CHECK_EQ_U64(ends.clients, 1);
	CHECK_EQ_U64(ends.unix_streams, 1);
	CHECK(socket_ends_check(&ends));
}

TEST(sockets_of_nobody_are_an_error)
{
	struct socket_ends ends;

	CHECK(procfs_sockets(root, 7, -1, &ends) < 0);
	CHECK_EQ_U64(ends.n, 0);
}

/* A connection of this process to itself; it stays open. */
static int connect_to_self(u32 *ret_port)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);

	CHECK(!bind(listener, (struct sockaddr *)&at, n) && !listen(listener, 1));
	CHECK(!getsockname(listener, (struct sockaddr *)&at, &n));
	CHECK(!connect(fd, (struct sockaddr *)&at, n) && accept(listener, NULL, NULL) >= 0);
	CHECK(!close(listener)); /* else its connections are those of clients */
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static const struct socket_end *end_of(const struct socket_ends *ends, u32 port)
{
	for (u32 i = 0; i < ends->n; i++) {
		if (ends->at[i].kind == SOCKET_CONNECTED && ends->at[i].port == port)
			return &ends->at[i];
	}
	CHECK(!"no such end");
	return NULL;
}

TEST(what_was_written_to_a_connection_is_what_the_kernel_says_was_confirmed)
{
	static const char bytes[10000];
	static struct socket_ends ends;
	const struct socket_end *end;
	int diag = sock_diag_open(), fd;
	u64 before;
	u32 port;

	CHECK(diag >= 0);
	fd = connect_to_self(&port);
	CHECK_EQ_U64(procfs_sockets("/proc", getpid(), diag, &ends), 0);
	end = end_of(&ends, port);
	if (!end->sent_of) {
		close(diag);
		return; /* a kernel without tcp_diag */
	}
	before = end->sent;
	CHECK_EQ_U64(send(fd, bytes, sizeof(bytes), 0), sizeof(bytes));
	/* The other end, in this process too, confirms it when its kernel thinks it is time. */
	for (u32 tries = 0; tries < 200; tries++) {
		CHECK_EQ_U64(procfs_sockets("/proc", getpid(), diag, &ends), 0);
		end = end_of(&ends, port);
		if (end->sent == before + sizeof(bytes))
			break;
		poll(NULL, 0, 10);
	}
	CHECK_EQ_U64(end->sent, before + sizeof(bytes));
	CHECK_EQ_U64(end->sent_of, end->n);
	/* Without anybody to ask it is not known, and not 0. */
	CHECK_EQ_U64(procfs_sockets("/proc", getpid(), -1, &ends), 0);
	CHECK_EQ_U64(end_of(&ends, port)->sent_of, 0);
	close(diag);
}

TEST(files_of_a_store_are_those_that_may_be_written)
{
	struct store_files files;
	char path[512];

	make();
	folder("5/fdinfo");
	file("app.db", "x");
	snprintf(path, sizeof(path), "%s/app.db", root);
	descriptor("5/fd/20", path);
	file("5/fdinfo/20", "pos:\t0\nflags:\t0100002\nmnt_id:\t1\n");
	CHECK_EQ_U64(procfs_store_files(root, 5, path, &files), 0);
	CHECK_EQ_U64(files.descriptors, 1);
	CHECK(files.changed_ns > 0);
	CHECK_EQ_U64(procfs_store_files(root, 5, "/elsewhere", &files), 0);
	CHECK_EQ_U64(files.descriptors, 0);
	file("5/fdinfo/20", "pos:\t0\nflags:\t0100000\nmnt_id:\t1\n"); /* for reading */
	CHECK_EQ_U64(procfs_store_files(root, 5, path, &files), 0);
	CHECK_EQ_U64(files.descriptors, 0);
	CHECK_EQ_U64(files.unreadable, 0);
	descriptor("5/fd/21", path); /* nobody says how that was opened */
	CHECK_EQ_U64(procfs_store_files(root, 5, path, &files), 0);
	CHECK_EQ_U64(files.unreadable, 1);
	CHECK(procfs_store_files(root, 7, path, &files) < 0);
}

TEST(ends_that_a_stranger_sent_are_checked)
{
	static struct socket_ends ends;

	memset(ends.at, 'x', sizeof(ends.at));
	ends.n = 1;
	CHECK(!socket_ends_check(&ends));
	ends.at[0].kind = SOCKET_LISTENS;
	ends.at[0].v6 = 1;
	ends.at[0].port = 65535;
	CHECK(socket_ends_check(&ends));
	CHECK(!ends.at[0].path[sizeof(ends.at[0].path) - 1]);
	ends.n = MAX_SOCKET_ENDS + 1;
	CHECK(!socket_ends_check(&ends));
}
