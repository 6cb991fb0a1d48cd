# SPDX-License-Identifier: MIT
"""The arms: what observes while a slice is measured. Each is started for a slice and taken away again."""

import contextlib
import re
import shutil
import signal
import subprocess
import tempfile
import time

import rig

# The floor: empty programs on the hooks that the observer uses and that a running target hits.
SYSCALL_HOOKS = ("sys_enter", "sys_exit")
SCHED_HOOKS = ("sched_switch", "sched_wakeup", "sched_wakeup_new")
ALL_HOOKS = SYSCALL_HOOKS + SCHED_HOOKS


class Arm:
    """Nothing at all. `dear` arms are measured in every second block only: they take long to start."""

    dear = False

    def __init__(self, key, label):
        self.key, self.label = key, label

    def start(self, bench, pids):
        pass

    def stop(self):
        pass

    def pids(self):
        """Our processes that hold BPF programs."""
        return []

    def tool_ns(self):
        """CPU time that the tool itself used since it was ready."""
        return 0

    def missing(self):
        """Why it cannot run here, or None."""
        return None

    @contextlib.contextmanager
    def running(self, bench, pids):
        try:
            self.start(bench, pids)
            yield
        finally:
            self.stop()


class Programs(Arm):
    """Programs of empty.bpf.c."""

    def __init__(self, key, label, kind, hooks):
        super().__init__(key, label)
        self.names = " ".join(f"{kind}_{hook}" for hook in hooks)

    def start(self, bench, pids):
        self.bench = bench
        answer = bench.probes.ask(f"attach {self.names}")
        if answer != "ok":
            raise rig.Failed(answer)

    def stop(self):
        self.bench.probes.ask("detach")


class Process(Arm):
    """A tool that is a process."""

    process = None
    begin_ns = 0

    def pids(self):
        return [self.process.pid] if self.process else []

    def tool_ns(self):
        return rig.cpu_of(self.pids()) - self.begin_ns


class Skyobserve(Process):
    def __init__(self, key, label, *options, other=False):
        super().__init__(key, label)
        self.options, self.other = options, other
        self.observer = self.bystander = None

    def start(self, bench, pids):
        if self.other:
            self.bystander = subprocess.Popen(["sleep", "1000"])
            pids = [self.bystander.pid]
        self.observer = rig.Observer(*self.options, pids=pids)
        self.process = self.observer.process
        self.begin_ns = rig.cpu_of(self.pids())

    def stop(self):
        if self.observer:
            self.observer.close()
        if self.bystander:
            rig.end_process(self.bystander, signal.SIGKILL)
        self.observer = self.bystander = self.process = None


class Peer(Process):
    """Another tool. `argv` is a function of the pids. It is ready when its descriptors of events stay as they
    are for a while (`ready` says which), and its last words must name the call that the slice made."""

    dear = True
    EVENTS = r"anon_inode:\[?(bpf|perf_event)"
    SETTLED_S = 0.15

    def __init__(self, key, label, argv, saw=None):
        super().__init__(key, label)
        self.argv, self.saw = argv, saw

    def missing(self):
        program = self.argv([1])[0]
        return None if shutil.which(program) else f"{program} is not installed"

    def is_ready(self):
        if self.process.poll() is not None:
            raise rig.Failed(f"{self.argv([0])[0]} ended: {self.words()[-300:]}")
        now = rig.descriptors(self.process.pid, self.EVENTS)
        if now != self.have:
            self.have, self.since = now, time.monotonic()
        return now and time.monotonic() - self.since > self.SETTLED_S

    def start(self, bench, pids):
        self.have = self.since = 0
        self.targets = pids
        # A file, not a pipe: what a tool says must not hold it up.
        self.out = tempfile.TemporaryFile()
        self.process = subprocess.Popen(self.argv(pids), stdin=subprocess.DEVNULL, stdout=self.out,
                                        stderr=subprocess.STDOUT)
        rig.poll(f"{self.argv(pids)[0]} to be ready", self.is_ready)
        self.begin_ns = rig.cpu_of(self.pids())

    def words(self):
        self.out.seek(0)
        return self.out.read().decode(errors="replace")

    def stop(self):
        if not self.process:
            return
        rig.end_process(self.process)
        self.process = None
        words = self.words()
        self.out.close()
        if self.saw and not re.search(self.saw, words, re.M):
            raise rig.Failed(f"{self.argv([0])[0]} did not see the work; it says: {words[-300:]!r}")


class Strace(Peer):
    def is_ready(self):
        if self.process.poll() is not None:
            raise rig.Failed(f"strace ended: {self.words()[-300:]}")
        tracers = []
        for pid in self.targets:
            with open(f"/proc/{pid}/status") as status:
                tracers.append(int(re.search(r"^TracerPid:\s*(\d+)", status.read(), re.M)[1]))
        return all(tracers)


def bpftrace(program):
    return lambda pids: ["bpftrace", "-e", program.replace("IS_TARGET", " || ".join(f"pid == {pid}" for pid in pids))]


BPFTRACE_COUNT = "tracepoint:raw_syscalls:sys_enter /IS_TARGET/ { @[args->id] = count(); }"
BPFTRACE_HIST = ("tracepoint:raw_syscalls:sys_enter /IS_TARGET/ { @begin[tid] = nsecs; } "
                 "tracepoint:raw_syscalls:sys_exit /@begin[tid]/ "
                 "{ @ns[args->id] = hist(nsecs - @begin[tid]); delete(@begin[tid]); }")
# What a one-liner for off-CPU time looks like: spells by thread, blocked or not.
BPFTRACE_OFF = ("tracepoint:sched:sched_switch { "
                "if (IS_TARGET) { @off[tid] = nsecs; } "
                "if (@off[args->next_pid]) { @ns[args->next_pid] = hist(nsecs - @off[args->next_pid]); "
                "delete(@off[args->next_pid]); } }")


def comma(pids):
    return ",".join(map(str, pids))


def bpftrace_count(saw=None):
    return Peer("bpftrace_count", "bpftrace: counts", bpftrace(BPFTRACE_COUNT), saw)


def bpftrace_hist(saw=None):
    return Peer("bpftrace_hist", "bpftrace: histograms", bpftrace(BPFTRACE_HIST), saw)


def syscount(saw=None):
    return Peer("syscount", "syscount: counts", lambda pids: ["syscount", "-p", str(pids[0])], saw)


def syscount_latency(saw=None):
    return Peer("syscount_latency", "syscount -L: counts, sums of times",
                lambda pids: ["syscount", "-L", "-p", str(pids[0])], saw)


def perf_trace(saw=None):
    return Peer("perf_trace", "perf trace -s", lambda pids: ["perf", "trace", "-s", "-p", comma(pids)], saw)


def strace(saw=None):
    return Strace("strace", "strace -c", lambda pids: ["strace", "-f", "-c", "-p", comma(pids)], saw)


def offcputime():
    # Its -p takes one process; without it, it does for both sides what we do.
    return Peer("offcputime", "offcputime: off-CPU time by stack", lambda pids: ["offcputime"])


def bpftrace_off():
    return Peer("bpftrace_off", "bpftrace: histograms of off-CPU spells", bpftrace(BPFTRACE_OFF))
