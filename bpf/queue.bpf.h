/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Group queue: since when the bytes that begin a request were in the socket.
 *
 * The kernel says of each stream socket that data have come (sk_data_ready). Noted is the first
 * time since the connection was last read from. Of a connection that is older than the observation,
 * nothing is known before its first read. Data that came before the connection was accepted: TCP
 * knows when it last got a packet.
 */
#ifndef SKYOBSERVE_QUEUE_BPF_H
#define SKYOBSERVE_QUEUE_BPF_H

#include "flows.bpf.h"

/* Not in BTF: include/linux/socket.h, include/uapi/linux/in.h, include/linux/net.h. */
#define SOCKET_INET    2
#define SOCKET_INET6   10
#define SOCKET_TCP     6
#define SOCKET_STREAM  1
#define NS_PER_MICRO_S 1000

/* When TCP got the last packet of the socket behind @file, if there is one to be read; else 0. */
static __always_inline u64 socket_last_packet(struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk = socket ? BPF_CORE_READ(socket, sk) : NULL;
	u16 family;

	if (!sk || BPF_CORE_READ(sk, sk_protocol) != SOCKET_TCP ||
	    !BPF_CORE_READ(sk, sk_receive_queue.qlen))
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (family != SOCKET_INET && family != SOCKET_INET6)
		return 0;
	return BPF_CORE_READ((struct tcp_sock *)sk, tcp_mstamp) * NS_PER_MICRO_S;
}

/*
 * The current thread has accepted a connection, as descriptor @fd. It gets a place at once, so that
 * it is known when its first request comes. One that is no stream of requests loses it at its first
 * read.
 */
__noinline int current_accepts(u32 fd)
{
	struct thread_cell *t = thread_of_current();
	struct file *file = compat_current_fd_file((s32)fd);
	u64 inode = file ? socket_inode((s32)fd) : 0;
	struct flow *f;

	if (!t || !inode || flow_find(inode))
		return 0;
	f = flow_at(flow_add(t, inode, false));
	if (f && !f->ready_ns)
		f->ready_ns = socket_last_packet(file);
	return 0;
}

/* Data have come for @sk. Of all sockets of the machine: those that are no connections are many. */
static __always_inline void queue_data_ready(const struct sock *sk)
{
	struct socket *socket = KREAD(sk, sk_socket);
	struct flow *f;
	u64 inode;

	if (!socket || KREAD(sk, sk_type) != SOCKET_STREAM)
		return;
	inode = BPF_CORE_READ((struct socket_alloc *)socket, vfs_inode.i_ino);
	f = flow_at(flow_find(inode));
	if (f && f->inode == inode && !f->ready_ns)
		f->ready_ns = bpf_ktime_get_ns();
}

/* Since when there was something to read on @f, which was read: 0 if that is not known. */
static __always_inline u64 queue_read(struct flow *f)
{
	u64 ready_ns = f->ready_ns;

	f->ready_ns = 0;
	return ready_ns;
}

#endif /* SKYOBSERVE_QUEUE_BPF_H */
