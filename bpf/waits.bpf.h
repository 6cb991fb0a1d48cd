/* SPDX-License-Identifier: GPL-2.0-only */
/* Why a task blocks: looks at what it is doing and on what, then asks sched_block_reason. */
#ifndef SKYOBSERVE_WAITS_BPF_H
#define SKYOBSERVE_WAITS_BPF_H

#include "ledger.bpf.h"
#include "sched.bpf.h"

/* include/uapi/linux/stat.h */
#define FILE_TYPE_MASK 0170000
#define FILE_TYPE_FIFO 0010000
#define FILE_TYPE_SOCK 0140000

/* S_IFMT bits of what a descriptor is open on, 0 if unknown. */
static __always_inline u32 fd_file_type(struct task_struct *task, s32 fd)
{
	struct file *file = compat_fd_file(task, fd);

	return file ? BPF_CORE_READ(file, f_inode, i_mode) & FILE_TYPE_MASK : 0;
}

/* PF_IO_WORKER (3bfe6106693b, 5.12): a thread that only runs io_uring, in the kernel. */
#define TASK_IO_WORKER 0x00000010

static __always_inline u8 block_reason(const struct thread_cell *t, struct task_struct *task,
				       bool in_iowait, long state)
{
	bool in_call = t->nr != NO_CALL;
	u8 wait = t->call_wait;
	u32 type = 0;

	/* Without the syscalls group it is not known what the thread is doing. */
	if (!group_on(GROUP_SYSCALLS))
		return in_iowait ? REASON_BLOCK_IO : REASON_OTHER;
	if (!in_call && BPF_CORE_READ(task, flags) & TASK_IO_WORKER)
		return in_iowait || state & COMPAT_TASK_UNINTERRUPTIBLE ? REASON_BLOCK_IO
									: REASON_OTHER;
	if (in_call && wait == WAIT_FILE) {
		type = fd_file_type(task, t->call_fd);
		if (type == FILE_TYPE_SOCK)
			wait = WAIT_SOCKET;
	}
	return sched_block_reason(in_call, wait, t->call_durable, type == FILE_TYPE_FIFO, in_iowait,
				  state);
}

#endif /* SKYOBSERVE_WAITS_BPF_H */
