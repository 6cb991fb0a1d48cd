#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The newcomer's path: `make run` shows a live, correct picture of the sample, and leaves nothing behind."""

import sys

sys.dont_write_bytecode = True

import os
import re
import shutil
import signal
import socket
import subprocess

import lib

SECONDS = 8
DEFAULT_PORT = 19435
# Installed packages are checked and the tree is built first.
START_S = 120


def port_is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


def descendants(pid):
    """All processes below one, by number and start time, so that a number used again is no remnant."""
    parents = {}
    for name in os.listdir("/proc"):
        stat = lib.read_proc(f"/proc/{name}/stat") if name.isdigit() else None
        if stat:
            fields = stat.rpartition(")")[2].split()
            parents[int(name)] = (int(fields[1]), fields[19])
    found, grew = {pid}, True
    while grew:
        more = {child for child, (parent, _) in parents.items() if parent in found} - found
        found |= more
        grew = bool(more)
    return {(child, parents[child][1]) for child in found - {pid} if child in parents}


def still_there(process):
    pid, start = process
    stat = lib.read_proc(f"/proc/{pid}/stat")
    fields = stat.rpartition(")")[2].split() if stat else None
    return bool(fields) and fields[19] == start and fields[0] not in "ZX"


class Run:
    """`make run` under way, in a session of its own like a terminal's."""

    def __init__(self, case, *words):
        if not shutil.which("go") and not (lib.WORKLOADS / "sampleapp").exists():
            raise lib.Skip("the sample is not built and there is no Go")
        self.case, self.output = case, case.path("output")
        self.temporary = case.path("tmp")
        os.mkdir(self.temporary)
        environment = {name: text for name, text in os.environ.items() if not name.startswith(("MAKE", "SUDO_"))}
        environment["TMPDIR"] = self.temporary
        if not port_is_free(DEFAULT_PORT):
            environment["RUN_FLAGS"] = "--web.listen-address 127.0.0.1:0"
        with open(self.output, "wb") as output:
            self.process = case.popen(["make", "run", *words], cwd=lib.ROOT, env=environment, stdout=output,
                                      stderr=subprocess.STDOUT, start_new_session=True)
        self.address = lib.poll("the address of the metrics", self.metrics_address, START_S)
        self.sample, self.sample_pid = self.said(r"the sample serves http://(\S+) \(pid (\d+)\)").groups()
        lib.poll("/-/ready", lambda: lib.fetch(self.address, "/-/ready").status == 200)
        self.processes = descendants(self.process.pid)
        self.bpf = {}
        for pid, _ in self.processes:
            if (lib.read_proc(f"/proc/{pid}/comm") or "") == "skyobserve\n":
                self.bpf = lib.bpf_ids_of(pid)

    def text(self):
        with open(self.output, errors="replace") as output:
            return output.read()

    def said(self, pattern):
        found = re.search(pattern, self.text())
        if not found and self.process.poll() is not None:
            raise lib.Failed(f"make run ended with {self.process.returncode}: {lib.one_line(self.text()[-1000:])}")
        return found

    def metrics_address(self):
        found = self.said(r"metrics at http://([^/\s]+)/metrics")
        return found and found.group(1)

    def scrape(self):
        metrics = lib.Metrics(lib.fetch(self.address, "/metrics").body)
        self.case.wrong += lib.scrape_wrong(metrics)
        return metrics

    def check_metrics(self):
        """What the sample does, gently: requests over sockets, and an fsync for each event."""
        def fsynced():
            metrics = self.scrape()
            enough = (metrics.sum("skyobserve_fsyncs_total", process="sampleapp") >= 2 and
                      metrics.sum("skyobserve_syscalls_total") >= 100)
            return metrics if enough else None

        case, metrics = self.case, lib.poll("fsyncs and a hundred calls of the sample", fsynced, SECONDS)
        case.equal("processes", metrics.by("skyobserve_process_up", "process"), {"sampleapp": 1})
        case.equal("its number", {have["pid"] for have, _ in metrics.select("skyobserve_process_info")},
                   {self.sample_pid})
        case.at_least("kinds of system call", len(metrics.select("skyobserve_syscalls_total")), 5)
        for name in ("skyobserve_cpu_seconds_total", "skyobserve_off_cpu_seconds_total",
                     "skyobserve_written_bytes_total", "skyobserve_read_bytes_total",
                     "skyobserve_context_switches_total", "skyobserve_resident_memory_bytes"):
            case.true(f"{name} is {metrics.sum(name)}", metrics.sum(name) > 0)
        for group in ("process", "sched", "syscalls", "fsync"):
            case.equal(f"group {group}", metrics.value("skyobserve_probe_group_up", group=group), 1)

    def nothing_is_left(self):
        case = self.case
        left = lib.poll("its processes to end", lambda: not any(map(still_there, self.processes)), 10)
        case.true("processes are left", left)
        for address in (self.address, self.sample):
            host, _, port = address.rpartition(":")
            with socket.socket() as probe:
                case.true(f"{address} is still served", probe.connect_ex((host, int(port))) != 0)
        case.equal("left in the folder for temporary files", os.listdir(self.temporary), [])
        lib.poll("BPF objects to go away", lambda: not lib.bpf_left(self.bpf), 10)
        case.true("no BPF object was seen", self.bpf.get("prog"))


def for_some_seconds(case):
    """RUN_SECONDS: what a machine without a person runs; it ends by itself, well."""
    run = Run(case, f"RUN_SECONDS={SECONDS}")
    run.check_metrics()
    case.equal("status", run.process.wait(lib.DEADLINE_S + SECONDS), 0)
    text = run.text()
    case.true(f"no live table: {lib.one_line(text[-600:])}", re.search(r"^sampleapp ", text, re.M))
    case.true("no last summary", "Totals of the observation" in text)
    run.nothing_is_left()


def until_interrupted(case):
    """Ctrl-C, which a terminal sends to all of the foreground: a last summary, and nothing left."""
    run = Run(case)
    run.check_metrics()
    os.killpg(run.process.pid, signal.SIGINT)
    run.process.wait(lib.DEADLINE_S)
    case.true("no last summary", "Totals of the observation" in run.text())
    run.nothing_is_left()


CASES = [("for_some_seconds", for_some_seconds), ("until_interrupted", until_interrupted)]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
