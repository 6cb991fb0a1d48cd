/* SPDX-License-Identifier: MIT */
/* What the kernel allows: capabilities, BPF, lockdown, limits, tracepoints. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "user/bpf/libbpf_version.h"
#include "user/cmd/doctor_impl.h"
#include "user/cmd/version.h"

static void check_user(struct report *r)
{
	struct utsname uts = { 0 };

	(void)uname(&uts); /* fails only for a bad address */
	report_row(r, HEALTH_OK, "program", NULL, "skyobserve %s, libbpf %s", SKYOBSERVE_VERSION,
		   libbpf_version_text());
	report_row(r, HEALTH_OK, "kernel", NULL, "%s %s, %s", uts.sysname, uts.release,
		   uts.machine);
	if (!geteuid())
		report_row(r, HEALTH_OK, "user", NULL, "root");
	else
		report_row(r, r->bpf_refused ? HEALTH_MISSING : HEALTH_OK, "user", PRIVILEGE_REMEDY,
			   "user id %u%s", (unsigned int)geteuid(),
			   r->bpf_refused ? "" : ", with the capabilities that are needed");
	if (r->privilege.pid_namespace)
		report_row(
			r, HEALTH_LIMITED, "process ids",
			"run it in the machine's own PID namespace (docker: --pid=host)",
			"this is a PID namespace of a container: the numbers of processes are not "
			"those "
			"that the kernel reports to BPF programs");
	else
		report_row(r, HEALTH_OK, "process ids", NULL,
			   "the machine's own (first PID namespace)");
}

struct capability_row {
	u32 number;
	enum health without;
	const char *name, *purpose, *remedy;
};

static void check_capability(struct report *r, const struct capability_row *c)
{
	bool own = sysinfo_capable(&r->privilege, c->number);
	bool admin = sysinfo_capable(&r->privilege, CAP_SYS_ADMIN) &&
		     (c->number == CAP_BPF || c->number == CAP_PERFMON);

	if ((own || admin) && r->privilege.user_namespace)
		report_row(r, c->without, c->name,
			   "run it outside of the container's user namespace",
			   "held only inside a user namespace, where it does not count");
	else if (own || admin)
		report_row(r, HEALTH_OK, c->name, NULL, "%s: %s",
			   own ? "held" : "held as CAP_SYS_ADMIN", c->purpose);
	else if (c->number == CAP_SYS_RESOURCE && r->features.charged_memory == -ENOENT)
		report_row(r, HEALTH_OK, c->name, NULL,
			   "not held, not needed: this kernel does not count "
			   "maps against the memlock limit");
	else
		report_row(r, c->without, c->name, c->remedy, "not held: %s", c->purpose);
}

static void check_capabilities(struct report *r)
{
	static const struct capability_row rows[] = {
		{ CAP_BPF, HEALTH_MISSING, "CAP_BPF", "loads BPF programs",
		  "run as root, or: setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep skyobserve" },
		{ CAP_PERFMON, HEALTH_MISSING, "CAP_PERFMON", "attaches them to the kernel",
		  "run as root, or: setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep skyobserve" },
		{ CAP_SYS_RESOURCE, HEALTH_LIMITED, "CAP_SYS_RESOURCE",
		  "raises the memlock limit (before Linux 5.11)",
		  "run as root, or raise the limit first: ulimit -l unlimited" },
		{ CAP_SYS_PTRACE, HEALTH_LIMITED, "CAP_SYS_PTRACE",
		  "reads executables of other users' processes in /proc, and their memory",
		  "run as root, or add cap_sys_ptrace" },
		{ CAP_DAC_READ_SEARCH, HEALTH_LIMITED, "CAP_DAC_READ_SEARCH",
		  "with CAP_SYS_PTRACE, reads calls in flight and Go programs of other users",
		  "run as root, or add cap_dac_read_search" },
	};

	if (!r->privilege.valid) {
		report_row(r, HEALTH_UNCHECKED, "capabilities", "mount /proc",
			   "/proc/self/status cannot be read");
		return;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_capability(r, &rows[i]);
}

void doctor_privilege(struct report *r)
{
	check_user(r);
	check_capabilities(r);
}

/* A row for a question to the kernel; @answer is 0 or a negative errno. */
static void answer_row(struct report *r, const char *what, int answer, enum health without,
		       const char *good, const char *remedy)
{
	if (!answer)
		report_row(r, HEALTH_OK, what, NULL, "%s", good);
	else if (r->bpf_refused)
		report_row(r, HEALTH_UNCHECKED, what, NULL, "cannot be asked: bpf(2) is refused");
	else
		report_row(r, without, what, remedy, "refused: %s", strerror(-answer));
}

static const char *bpf_remedy(const struct report *r, int answer)
{
	if (answer == -ENOSYS)
		return "a kernel with CONFIG_BPF_SYSCALL";
	if (!sysinfo_capable(&r->privilege, CAP_BPF) &&
	    !sysinfo_capable(&r->privilege, CAP_SYS_ADMIN))
		return PRIVILEGE_REMEDY;
	if (r->privilege.user_namespace)
		return "run it outside of the container's user namespace";
	if (r->privilege.seccomp)
		return "a seccomp filter is in force (container): let it allow bpf(2), or run "
		       "on the host";
	return "a security module may forbid it: see the kernel's log";
}

static void check_bpf(struct report *r)
{
	const struct bpf_features *f = &r->features;
	int refused = f->program ? f->program : f->map;

	if (f->kernel_types)
		report_row(r, HEALTH_MISSING, "kernel types (BTF)",
			   "a kernel with CONFIG_DEBUG_INFO_BTF=y (all kernels of Debian 11 and "
			   "later)",
			   "/sys/kernel/btf/vmlinux: %s", strerror(-f->kernel_types));
	else
		report_row(r, HEALTH_OK, "kernel types (BTF)", NULL, "%u types",
			   f->nr_kernel_types);
	if (refused)
		report_row(r, HEALTH_MISSING, "bpf(2)", bpf_remedy(r, refused), "refused: %s",
			   strerror(-refused));
	else
		report_row(r, HEALTH_OK, "bpf(2)", NULL, "creates maps, loads programs");
	answer_row(
		r, "BPF JIT", f->compiled, HEALTH_LIMITED, "programs become machine code",
		"sysctl net.core.bpf_jit_enable=1: interpreted programs cost several times more");
	answer_row(r, "kernel memory reads", f->kernel_read, HEALTH_MISSING, "allowed",
		   "lockdown in confidentiality mode forbids them: boot with lockdown=integrity");
	answer_row(r, "raw tracepoints", f->raw_tracepoint,
		   f->typed_tracepoint ? HEALTH_MISSING : HEALTH_LIMITED,
		   "attached to sched_switch", "a kernel with CONFIG_BPF_EVENTS");
	answer_row(r, "typed tracepoints", f->typed_tracepoint,
		   f->raw_tracepoint ? HEALTH_MISSING : HEALTH_LIMITED, "attached to sched_switch",
		   "none needed: raw tracepoints do the same, dearer");
	answer_row(r, "task iterator", f->task_iterator, HEALTH_MISSING, "ran over all tasks",
		   "a kernel from 5.8 on, with BTF: the books of threads are read through it");
}

static void check_lockdown(struct report *r)
{
	static const char *const modes[] = {
		[LOCKDOWN_ABSENT] = "not built in, or securityfs is not mounted",
		[LOCKDOWN_NONE] = "none",
		[LOCKDOWN_INTEGRITY] = "integrity: reading is allowed",
		[LOCKDOWN_CONFIDENTIALITY] = "confidentiality: BPF may not read the kernel",
		[LOCKDOWN_UNKNOWN] = "in a mode that is not known here",
	};
	enum sysinfo_lockdown mode = sysinfo_lockdown(DOCTOR_ROOT);
	enum health health = mode == LOCKDOWN_CONFIDENTIALITY ? HEALTH_MISSING
			     : mode == LOCKDOWN_UNKNOWN	      ? HEALTH_LIMITED
							      : HEALTH_OK;

	report_row(r, health, "lockdown", "boot with lockdown=integrity (or none)", "%s",
		   modes[mode]);
}

static void check_memlock(struct report *r)
{
	struct rlimit limit = { 0 };

	(void)getrlimit(RLIMIT_MEMLOCK, &limit); /* fails only for a bad address */
	if (r->features.charged_memory == -ENOENT)
		report_row(r, HEALTH_OK, "memlock limit", NULL, "does not matter on this kernel");
	else if (r->features.charged_memory)
		report_row(r, HEALTH_UNCHECKED, "memlock limit", NULL,
			   "cannot be asked: bpf(2) is refused");
	else if (limit.rlim_max == RLIM_INFINITY ||
		 sysinfo_capable(&r->privilege, CAP_SYS_RESOURCE))
		report_row(r, HEALTH_OK, "memlock limit", NULL, "can be raised as far as needed");
	else
		report_row(r, HEALTH_LIMITED, "memlock limit", "ulimit -l unlimited (as root)",
			   "%llu KiB, and BPF maps count against it on this kernel",
			   (unsigned long long)limit.rlim_max / 1024);
}

static void check_tracepoints(struct report *r)
{
	struct bpf_tracepoint *points;
	struct err err = { { 0 } };
	size_t n;

	if (bpf_features_tracepoints(&points, &n, &err)) {
		report_row(r, HEALTH_MISSING, "tracepoints", NULL, "%s", err.text);
		return;
	}
	/* The rows of one hook stand together. */
	for (size_t i = 0, end; i < n; i = end) {
		char have[160] = "", lack[160] = "";
		char what[64];

		for (end = i; end < n && points[end].hook == points[i].hook; end++) {
			char *list = points[end].present ? have : lack;
			size_t len = strlen(list);

			snprintf(list + len, sizeof(have) - len, "%s%s", len ? ", " : "",
				 points[end].name);
		}
		snprintf(what, sizeof(what), "hook %s", points[i].hook);
		if (!have[0])
			report_row(r,
				   points[i].groups == 1u << GROUP_QUEUE ? HEALTH_LIMITED
									 : HEALTH_MISSING,
				   what, "see the probe group below",
				   "this kernel has no tracepoint %s", lack);
		else
			report_row(r, HEALTH_OK, what, NULL, "%s%s%s%s", have,
				   lack[0] ? " (no " : "", lack, lack[0] ? ")" : "");
	}
	free(points);
}

void doctor_kernel(struct report *r)
{
	check_bpf(r);
	check_lockdown(r);
	check_memlock(r);
	check_tracepoints(r);
}
