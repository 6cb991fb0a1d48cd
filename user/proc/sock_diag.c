/* SPDX-License-Identifier: MIT */
/* One question and one answer over netlink (linux/inet_diag.h). The kernel answers before send(2)
 * returns, so nothing is waited for. */
#include "user/proc/sock_diag.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

int sock_diag_open(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	return fd < 0 ? -errno : fd;
}

static bool ask(int fd, const struct sock_diag_ends *ends, u32 seq)
{
	struct question q = {
		.head = { .nlmsg_len = sizeof(q),
			  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			  .nlmsg_flags = NLM_F_REQUEST,
			  .nlmsg_seq = seq },
		.body = { .sdiag_family = ends->v6 ? AF_INET6 : AF_INET,
			  .sdiag_protocol = IPPROTO_TCP,
			  .idiag_ext = 1 << (INET_DIAG_INFO - 1),
			  .idiag_states = ~0u,
			  .id = { .idiag_sport = htons((u16)ends->local_port),
				  .idiag_dport = htons((u16)ends->remote_port),
				  .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } },
	};

	memcpy(q.body.id.idiag_src, ends->local, sizeof(ends->local));
	memcpy(q.body.id.idiag_dst, ends->remote, sizeof(ends->remote));
	return send(fd, &q, sizeof(q), 0) == sizeof(q);
}

/* The counter in the attributes of an answer; kernels append to tcp_info, so its length counts. */
static bool find_acked(const char *at, size_t n, u64 *ret_bytes)
{
	size_t where = offsetof(struct tcp_info, tcpi_bytes_acked);

	while (n >= sizeof(struct rtattr)) {
		struct rtattr attr;

		memcpy(&attr, at, sizeof(attr));
		if (attr.rta_len < sizeof(attr) || attr.rta_len > n)
			return false;
		if (attr.rta_type == INET_DIAG_INFO) {
			if (attr.rta_len < sizeof(attr) + where + sizeof(*ret_bytes))
				return false;
			memcpy(ret_bytes, at + sizeof(attr) + where, sizeof(*ret_bytes));
			return true;
		}
		if (RTA_ALIGN(attr.rta_len) >= n)
			return false;
		at += RTA_ALIGN(attr.rta_len);
		n -= RTA_ALIGN(attr.rta_len);
	}
	return false;
}

bool sock_diag_acked(int fd, const struct sock_diag_ends *ends, u64 *ret_bytes)
{
	static u32 seq;
	struct inet_diag_msg body;
	struct nlmsghdr head;
	char answer[4096];
	ssize_t n;

	if (fd < 0 || !ask(fd, ends, ++seq))
		return false;
	do { /* an answer to an earlier question that was not waited for */
		n = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
		if (n < (ssize_t)sizeof(head))
			return false;
		memcpy(&head, answer, sizeof(head));
	} while (head.nlmsg_seq != seq);
	if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || head.nlmsg_len > (size_t)n ||
	    head.nlmsg_len < NLMSG_HDRLEN + sizeof(body))
		return false;
	memcpy(&body, answer + NLMSG_HDRLEN, sizeof(body));
	if (body.idiag_inode != (u32)ends->inode)
		return false;
	return find_acked(answer + NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(body)),
			  head.nlmsg_len - NLMSG_HDRLEN - NLMSG_ALIGN(sizeof(body)), ret_bytes);
}
