/* SPDX-License-Identifier: MIT */
/*
 * Sockets, by the inodes that descriptors lead to and the tables of the network namespace. Both may
 * be large; what is kept is bounded, and what is not understood is left out.
 *
 * A line of net/tcp and net/tcp6 (Documentation/networking/proc_net_tcp.rst):
 *
 *	sl: LOCAL:PORT REMOTE:PORT STATE tx:rx tr:tm retrnsmt uid timeout INODE …
 *
 * Addresses are hexadecimal words of 4 bytes in the machine's order, ports are numbers. A line of
 * net/unix: num: refcount protocol flags type state inode [path].
 */
#include "user/proc/sockets.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/proc/sock_diag.h"
#include "user/proc/text.h"

#define TCP_ESTABLISHED 1 /* include/net/tcp_states.h */
#define TCP_LISTEN	10
#define UNIX_LISTENING	0x10000 /* SO_ACCEPTCON, include/uapi/linux/net.h */
#define UNIX_CONNECTED	3	/* SS_CONNECTED */

/* Descriptors of the process, and of all others while the other ends are looked for. */
#define MAX_OWN	  65536
#define MAX_LOOKS 1000000

struct inodes {
	u64 *at;
	size_t n;
};

struct row {
	struct sock_diag_ends ends;
	u32 state;
};

/* One reading of a process. */
struct look {
	const char *root;
	pid_t pid;
	int diag;
	struct inodes own;
	struct socket_ends *ends;
	u64 others[MAX_SOCKET_ENDS]; /* the inode of the other end, if it is here; else 0 */
};

static int by_inode(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static bool is_own(const struct look *l, u64 inode)
{
	return l->own.n && bsearch(&inode, l->own.at, l->own.n, sizeof(inode), by_inode);
}

/* The inode in "socket:[INODE]", 0 if the descriptor is no socket. */
static u64 inode_of(const char *folder, const char *name)
{
	char path[384], target[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	n = readlink(path, target, sizeof(target) - 1);
	if (n <= 0)
		return 0;
	target[n] = '\0';
	return strncmp(target, "socket:[", 8) != 0 ? 0 : strtoull(target + 8, NULL, 10);
}

static int list_own(struct look *l)
{
	struct dirent *d;
	char path[256];
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/fd", l->root, (int)l->pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	l->own.at = calloc(MAX_OWN, sizeof(*l->own.at));
	while (l->own.at && l->own.n < MAX_OWN && (d = readdir(dir))) {
		u64 inode = isdigit((unsigned char)d->d_name[0]) ? inode_of(path, d->d_name) : 0;

		if (inode)
			l->own.at[l->own.n++] = inode;
	}
	closedir(dir);
	if (!l->own.at)
		return -ENOMEM;
	qsort(l->own.at, l->own.n, sizeof(*l->own.at), by_inode);
	return 0;
}

/* --- tables --- */

/* @digits of hexadecimal, as words of 4 bytes of this machine. */
static bool parse_address(const char *text, size_t digits, u8 *ret_address)
{
	for (size_t i = 0; i < digits; i += 8) {
		char word[9];
		u32 value;
		char *end;

		memcpy(word, text + i, 8);
		word[8] = '\0';
		value = (u32)strtoul(word, &end, 16);
		if (*end)
			return false;
		memcpy(ret_address + i / 2, &value, sizeof(value));
	}
	return true;
}

/* "ADDRESS:PORT" */
static bool parse_end(const char *text, u8 *ret_address, u32 *ret_port, bool *ret_v6)
{
	size_t digits = strspn(text, "0123456789ABCDEFabcdef");

	if ((digits != 8 && digits != 32) || text[digits] != ':')
		return false;
	*ret_v6 = digits == 32;
	*ret_port = (u32)strtoul(text + digits + 1, NULL, 16) & 0xffff;
	return parse_address(text, digits, ret_address);
}

/* Split at blanks, in place. Returns how many words there are, at most @max. */
static size_t split(char *line, char **ret_words, size_t max)
{
	size_t n = 0;
	char *save = NULL;

	for (char *word = strtok_r(line, " \t\n", &save); word && n < max;
	     word = strtok_r(NULL, " \t\n", &save))
		ret_words[n++] = word;
	return n;
}

static bool parse_row(char *line, struct row *ret_row)
{
	char *words[10];
	struct row row = { 0 };
	bool v6;

	if (split(line, words, 10) != 10 ||
	    !parse_end(words[1], row.ends.local, &row.ends.local_port, &row.ends.v6) ||
	    !parse_end(words[2], row.ends.remote, &row.ends.remote_port, &v6) || v6 != row.ends.v6)
		return false;
	row.state = (u32)strtoul(words[3], NULL, 16);
	row.ends.inode = strtoull(words[9], NULL, 10);
	*ret_row = row;
	return true;
}

static bool same_address(const u8 *a, const u8 *b)
{
	return !memcmp(a, b, 16);
}

static struct socket_end *new_end(struct look *l, enum socket_kind kind)
{
	struct socket_end *end;

	if (l->ends->n == MAX_SOCKET_ENDS) {
		l->ends->left_out++;
		return NULL;
	}
	end = &l->ends->at[l->ends->n++];
	*end = (struct socket_end){ .kind = kind, .n = 1 };
	return end;
}

static bool is_client(const struct look *l, const struct row *row)
{
	for (u32 i = 0; i < l->ends->n; i++) {
		if (l->ends->at[i].kind == SOCKET_LISTENS && !l->ends->at[i].path[0] &&
		    l->ends->at[i].port == row->ends.local_port)
			return true;
	}
	return false;
}

/* The end that @row leads to, or NULL. */
static struct socket_end *find_end(struct look *l, const struct row *row)
{
	for (u32 i = 0; i < l->ends->n; i++) {
		struct socket_end *end = &l->ends->at[i];

		if (end->kind != SOCKET_CONNECTED || end->port != row->ends.remote_port ||
		    end->v6 != row->ends.v6 || !same_address(end->address, row->ends.remote))
			continue;
		return end;
	}
	return NULL;
}

static void take_listening(struct look *l, const struct row *row)
{
	struct socket_end *end;

	if (row->state != TCP_LISTEN || !is_own(l, row->ends.inode))
		return;
	end = new_end(l, SOCKET_LISTENS);
	if (!end)
		return;
	end->v6 = row->ends.v6;
	end->port = row->ends.local_port;
	memcpy(end->address, row->ends.local, sizeof(end->address));
}

static void take_connected(struct look *l, const struct row *row)
{
	struct socket_end *end;
	u64 sent;

	if (row->state != TCP_ESTABLISHED || !is_own(l, row->ends.inode))
		return;
	if (is_client(l, row)) {
		l->ends->clients++;
		return;
	}
	end = find_end(l, row); /* connections to one place are one end */
	if (end) {
		end->n++;
	} else {
		end = new_end(l, SOCKET_CONNECTED);
		if (!end)
			return;
		end->v6 = row->ends.v6;
		end->port = row->ends.remote_port;
		memcpy(end->address, row->ends.remote, sizeof(end->address));
	}
	if (sock_diag_acked(l->diag, &row->ends, &sent)) {
		end->sent += sent;
		end->sent_of++;
	}
}

/* Whether @row is the other end of a connection that was taken. */
static void take_other(struct look *l, const struct row *row)
{
	if (row->state != TCP_ESTABLISHED || is_own(l, row->ends.inode))
		return;
	for (u32 i = 0; i < l->ends->n; i++) {
		const struct socket_end *end = &l->ends->at[i];

		if (end->kind == SOCKET_CONNECTED && end->port == row->ends.local_port &&
		    end->v6 == row->ends.v6 && same_address(end->address, row->ends.local))
			l->others[i] = row->ends.inode;
	}
}

static void each_row(struct look *l, void (*take)(struct look *l, const struct row *row))
{
	static const char *const tables[] = { "tcp", "tcp6" };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		char path[256], line[512];
		struct row row;
		FILE *f;

		snprintf(path, sizeof(path), "%s/%d/net/%s", l->root, (int)l->pid, tables[i]);
		f = fopen(path, "re");
		while (f && fgets(line, sizeof(line), f)) {
			if (parse_row(line, &row))
				take(l, &row);
		}
		if (f)
			fclose(f);
	}
}

static void take_unix(struct look *l, char *line)
{
	char *words[8];
	size_t n = split(line, words, 8);
	struct socket_end *end;

	if (n < 7 || !is_own(l, strtoull(words[6], NULL, 10)))
		return;
	if (!(strtoul(words[3], NULL, 16) & UNIX_LISTENING)) {
		l->ends->unix_streams += strtoul(words[5], NULL, 16) == UNIX_CONNECTED;
		return;
	}
	end = n == 8 ? new_end(l, SOCKET_LISTENS) : NULL;
	if (end)
		snprintf(end->path, sizeof(end->path), "%s", words[7]);
}

static void each_unix(struct look *l)
{
	char path[256], line[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/net/unix", l->root, (int)l->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		take_unix(l, line);
	if (f)
		fclose(f);
}

/* --- who has the other ends --- */

static void name_other(struct look *l, const char *pid, u64 inode)
{
	char path[256], comm[64];

	for (u32 i = 0; i < l->ends->n; i++) {
		struct socket_end *end = &l->ends->at[i];

		if (!inode || l->others[i] != inode || end->comm[0])
			continue;
		snprintf(path, sizeof(path), "%s/%.20s/comm", l->root, pid);
		if (proc_read_text(path, comm, sizeof(comm)) > 0)
			snprintf(end->comm, sizeof(end->comm), "%.*s", (int)strcspn(comm, "\n"),
				 comm);
	}
}

/* Returns how many descriptors were looked at. */
static size_t look_through(struct look *l, const char *pid)
{
	struct dirent *d;
	char path[256];
	size_t n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%.20s/fd", l->root, pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)) && n < MAX_LOOKS) {
		n++;
		if (isdigit((unsigned char)d->d_name[0]))
			name_other(l, pid, inode_of(path, d->d_name));
	}
	if (dir)
		closedir(dir);
	return n;
}

static void name_others(struct look *l)
{
	struct dirent *d;
	bool any = false;
	size_t n = 0;
	DIR *dir;

	for (u32 i = 0; i < l->ends->n; i++)
		any |= l->others[i] != 0;
	if (!any)
		return;
	dir = opendir(l->root);
	while (dir && (d = readdir(dir)) && n < MAX_LOOKS) {
		if (isdigit((unsigned char)d->d_name[0]))
			n += look_through(l, d->d_name);
	}
	if (dir)
		closedir(dir);
}

int procfs_sockets(const char *root, pid_t pid, int diag, struct socket_ends *ret_ends)
{
	struct look l = { .root = root, .pid = pid, .diag = diag, .ends = ret_ends };
	int r;

	memset(ret_ends, 0, sizeof(*ret_ends));
	r = list_own(&l);
	if (!r) {
		each_row(&l, take_listening);
		each_row(&l, take_connected);
		each_row(&l, take_other);
		each_unix(&l);
		name_others(&l);
	}
	free(l.own.at);
	return r;
}
