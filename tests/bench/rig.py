# SPDX-License-Identifier: MIT
"""What measures: the helper programs, clocks of processes, and whether somebody else's BPF programs run."""

import json
import os
import re
import select
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("BUILD", ROOT / "build"))
SKYOBSERVE = Path(os.environ.get("SKYOBSERVE", BUILD / "skyobserve"))
HELPERS = BUILD / "tests" / "bench"
WORKLOADS = BUILD / "tests" / "workloads"

DEADLINE_S = 30
POLL_S = 0.01

# Types of BPF programs that run on events of the kernel: kprobe, tracepoint, perf_event, raw_tracepoint,
# its writable form, tracing (include/uapi/linux/bpf.h).
TRACING_TYPES = (2, 5, 7, 17, 24, 26)


class Failed(Exception):
    """This cannot be measured here; the text says why."""


def poll(what, look, seconds=DEADLINE_S, step_s=POLL_S):
    """Call look() until it answers with something true; returns that."""
    end = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() > end:
            raise Failed(f"waited {seconds} s for {what}")
        time.sleep(step_s)


def process_cpu_ns(pid):
    """CPU time of a process, its ended threads included, by the kernel's clock for it."""
    return time.clock_gettime_ns((~pid << 3) | 2)  # CPUCLOCK_SCHED of a process (posix-timers_types.h)


def cpu_of(pids):
    total = 0
    for pid in pids:
        try:
            total += process_cpu_ns(pid)
        except OSError:
            pass  # it has ended; what it used before was taken
    return total


def descriptors(pid, pattern):
    """How many of a process's open files are of this kind."""
    n = 0
    for path in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            n += bool(re.search(pattern, os.readlink(path)))
        except OSError:
            pass
    return n


def bpf_ids_of(pid, kind):
    """Ids of the BPF programs ("prog") or maps ("map") that a process holds."""
    ids = set()
    for path in Path(f"/proc/{pid}/fdinfo").glob("*"):
        try:
            ids.update(int(value) for value in re.findall(rf"^{kind}_id:\s*(\d+)", path.read_text(), re.M))
        except OSError:
            pass
    return ids


def status_kib(pid, field):
    return int(re.search(rf"^{field}:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.M)[1])


def get(url):
    with urllib.request.urlopen(url, timeout=DEADLINE_S) as answer:
        return answer.read()


def end_process(process, sig=signal.SIGINT, seconds=10):
    """Let it end; kill it if it does not. Returns how long that took."""
    begin = time.monotonic()
    if process.poll() is None:
        process.send_signal(sig)
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return time.monotonic() - begin


class Helper:
    """A program of this folder, told what to do by lines; each is answered by one line."""

    def __init__(self, name, *arguments, stdin=subprocess.PIPE):
        path = HELPERS / name
        if not path.exists():
            raise Failed(f"{path} is not built: make benches")
        self.name = name
        self.process = subprocess.Popen([path, *map(str, arguments)], stdin=stdin, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid

    def answer(self, seconds=2 * DEADLINE_S):
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            raise Failed(f"{self.name} said nothing for {seconds} s")
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.name} ended: status {self.process.wait()}")
        return line.strip()

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        end_process(self.process, signal.SIGTERM)


class Rig:
    """Everything that lives as long as the run."""

    def __init__(self, patience_s):
        self.probes = Helper("probes", HELPERS / "empty.bpf.o")
        self.patience_s = patience_s  # time that is left to wait for others, or to measure again because of them
        self.repeated = 0  # slices that others disturbed
        self.disturbed = 0  # those that were so in every try, and do not count
        self.cpus = sorted(os.sched_getaffinity(0))

    def programs(self):
        return json.loads(self.probes.ask("programs"))

    def others(self, ours=()):
        """BPF programs on events that are neither the helper's nor held by one of our processes."""
        held = bpf_ids_of(self.probes.pid, "prog").union(*(bpf_ids_of(pid, "prog") for pid in ours))
        return {p["name"] for p in self.programs()
                if p["type"] in TRACING_TYPES and p["id"] not in held and not p["name"].startswith(("empty_", "clock_"))}

    def wait_until_alone(self):
        """Programs that were just let go stay for a moment; only what is longer costs patience."""
        begin = time.monotonic()
        while self.others() and time.monotonic() - begin < 1 + max(0, self.patience_s):
            time.sleep(0.05)
        self.patience_s -= max(0, time.monotonic() - begin - 1)

    def slice(self, arm, pids, measure):
        """Start an arm for the processes, call measure(), stop the arm. A slice during which BPF programs
        of others were on the machine is repeated while there is patience; None if that does not help."""
        while True:
            self.wait_until_alone()
            begin = time.monotonic()
            with arm.running(self, pids):
                before = self.others(arm.pids())
                values = measure()
                after = self.others(arm.pids())
                values["tool_ns"] = arm.tool_ns()
            if not before | after:
                return values
            self.patience_s -= time.monotonic() - begin
            if self.patience_s <= 0:
                self.disturbed += 1
                return None
            self.repeated += 1

    def close(self):
        self.probes.close()


class Observer:
    """build/skyobserve on a free port of loopback."""

    def __init__(self, *options, pids=()):
        targets = ["--pid", *map(str, pids)] if pids else []
        argv = [SKYOBSERVE, *targets, "--web.listen-address", "127.0.0.1:0", *options]
        begin = time.monotonic()
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE)
        self.pid = self.process.pid
        self.said = b""
        try:
            self.url = poll("the observer to say its address", self.find_url, step_s=0.001)
            poll("/-/ready", self.is_ready, step_s=0.001)
        except Failed:
            self.close()
            raise
        self.ready_s = time.monotonic() - begin

    def find_url(self):
        if select.select([self.process.stderr], [], [], 0)[0]:
            more = os.read(self.process.stderr.fileno(), 65536)
            if not more:
                raise Failed(f"the observer ended: {self.said.decode(errors='replace').strip()[-500:]}")
            self.said += more
        found = re.search(rb"^skyobserve: metrics at (http://\S+)\n", self.said, re.M)
        return found and found[1].decode()

    def is_ready(self):
        host = re.match(r"http://[^/]+", self.url)[0]
        try:
            get(host + "/-/ready")
            return True
        except OSError:
            return False

    def close(self):
        """Returns how long it took to end."""
        seconds = end_process(self.process)
        self.process.stderr.close()
        return seconds
