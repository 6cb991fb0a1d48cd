/* SPDX-License-Identifier: MIT */
/* Opening the observer: the session by its configuration, and what hits cost on this machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/calibrate.h"
#include "user/cmd/observer_impl.h"
#include "user/proc/procfs.h"

static u64 boot_ticks(u32 tick_hz)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (u64)ts.tv_sec * tick_hz + (u64)ts.tv_nsec / (NS_PER_SEC / tick_hz);
}

static int open_session(struct observer *o, struct err *err)
{
	struct bpf_session_config config = {
		.bounds = o->config.bounds,
		.groups =
			o->config.all ? o->config.groups & ~(1u << GROUP_GO_GC) : o->config.groups,
		.force_raw_tp = o->config.force_raw_tp,
		.observe_all = o->config.all,
		.all_syscalls = o->config.all_syscalls,
		.comms = o->config.comms,
		.nr_comms = (u32)o->config.nr_comms,
		.nr_files = (u32)o->config.nr_files,
		.routes = o->config.routes,
		.goods = o->config.goods,
		.nr_goods = o->config.nr_goods,
		.functions = o->config.function_kinds,
		.nr_functions = o->config.nr_functions,
		.follow = o->config.follow || o->config.all,
	};
	u64 max_pid = procfs_max_pid(PROC_ROOT);

	if (max_pid && max_pid < config.bounds.max_pid)
		config.bounds.max_pid = (u32)max_pid;
	if (!o->config.max_names)
		o->config.max_names = config.bounds.max_processes;
	/* Room for `other`, and for at least one process without details. */
	if (config.bounds.max_processes < config.bounds.max_details + 2)
		config.bounds.max_processes = config.bounds.max_details + 2;
	o->config.bounds = config.bounds;
	return bpf_session_open(&config, &o->session, err);
}

/* What hits cost at the processes to be observed, if that is asked for; without it nothing is
 * predicted. */
static void ask_prices(struct observer *o)
{
	bool details = o->config.bounds.max_details > 1; /* 1 is the least: nobody has any */
	struct err err = { { 0 } };

	if (o->config.calibrate && calibrate(o->session, details, &o->prices, &err))
		log_warn("what observing costs is not predicted: %s", err.text);
}

bool observer_reads_go(const struct observer *o)
{
	return (o->config.groups & 1u << GROUP_GO) && !o->config.all && o->config.broker;
}

int observer_open(const struct observer_config *config, struct observer **ret_observer,
		  struct err *err)
{
	struct observer *o;
	u64 steal, boot;
	int r;

	if (procfs_is_nested(PROC_ROOT))
		return err_set(err, -EOPNOTSUPP,
			       "the observer runs inside a pid namespace, where processes have "
			       "other numbers than in the kernel; run it in the machine's own "
			       "(docker run --pid=host, hostPID: true); programs in namespaces "
			       "are observed from there");
	o = calloc(1, sizeof(*o));
	if (!o)
		return err_set(err, -ENOMEM, "no memory for an observer");
	o->config = *config;
	o->tick_hz = (u32)sysconf(_SC_CLK_TCK);
	procfs_machine(PROC_ROOT, &steal, &boot);
	o->boot_wall_ns = boot * NS_PER_SEC;
	o->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r = open_session(o, err);
	if (r)
		goto out;
	ask_prices(o);
	o->slots = calloc(o->config.bounds.max_processes, sizeof(*o->slots));
	o->at_slot = calloc(o->config.bounds.max_processes, sizeof(*o->at_slot));
	o->ended = ended_new(o->config.max_names + 1); /* and OTHER_NAME */
	o->names = names_new(o->config.max_names);
	if (!o->slots || !o->at_slot || !o->ended || !o->names || o->epoll_fd < 0) {
		r = err_set(err, -ENOMEM, "no memory for an observer");
		goto out;
	}
	snprintf(o->other.id.name, sizeof(o->other.id.name), "%s", OTHER_NAME);
	o->other.where.slot = bpf_session_other_slot(o->session);
	o->other.where.begin_ns = observer_now();
	o->other.pidfd = -1;
	o->open_ticks = boot_ticks(o->tick_hz);
	*ret_observer = o;
	return 0;
out:
	observer_free(o);
	return r;
}
