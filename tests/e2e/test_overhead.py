#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What observing costs, by the observer's own word: every hit is paid for at the price that was measured, and the
price is about what the target really pays."""

import sys

sys.dont_write_bytecode = True

import time

import lib

# A busy machine, neighbours on the same core, and the clock's own cost: of what is measured here and there.
AGREE = 4


def cpu_per_call(workload, n):
    """The least of some batches: what disturbs only makes it longer."""
    least = None
    for _ in range(8):
        begin = lib.process_cpu_ns(workload.pid)
        workload.say(f"calls {n}")
        workload.process.stdout.readline()
        took = (lib.process_cpu_ns(workload.pid) - begin) / n
        least = took if least is None else min(least, took)
    return least


class Caller:
    """A process that makes system calls when it is told to."""

    CODE = """
import os, sys
for line in sys.stdin:
    for _ in range(int(line.split()[1])):
        os.getppid()
    print("done", flush=True)
"""

    def __init__(self, case):
        self.process = case.popen([sys.executable, "-c", self.CODE], stdin=-1, stdout=-1, text=True, bufsize=1)
        self.pid = self.process.pid

    def say(self, line):
        self.process.stdin.write(line + "\n")


def predicted(case):
    """Hits times price, and the sum is the whole."""
    caller = Caller(case)
    cpu_per_call(caller, 1000)
    alone = cpu_per_call(caller, 20000)
    observer = case.observe("--interaction", "off", "--name", "caller", pids=[caller.pid])
    begin = observer.scrape()
    observed = cpu_per_call(caller, 20000)
    lib.poll("a window to be over", lambda: (time.sleep(0.1), cpu_per_call(caller, 20000),
                                             observer.scrape().select("skyobserve_overhead_ratio"))[-1])
    end = observer.scrape()
    price = end.value("skyobserve_probe_cost_seconds", event="syscall")
    paid, calls = (end.sum(name, **labels) - begin.sum(name, **labels)
                   for name, labels in (("skyobserve_overhead_seconds_total", {"group": "syscalls"}),
                                        ("skyobserve_syscalls_total", {})))
    case.between("paid for system calls, ns", paid * 1e9, calls * (price * 1e9), calls * (price * 1e9 + 1) + 1)
    case.between("price of a system call, of what it really costs", price * 1e9, (observed - alone) / AGREE,
                 (observed - alone) * AGREE)
    ratio = end.value("skyobserve_overhead_ratio", process="caller", method="predicted")
    cpu = end.sum("skyobserve_cpu_seconds_total")
    case.between("ratio", ratio, 0.2 * end.sum("skyobserve_overhead_seconds_total") / cpu,
                 5 * end.sum("skyobserve_overhead_seconds_total") / cpu)
    case.equal("identities that do not hold", lib.identities_wrong(end), [])
    case.equal("lost", end.sum("skyobserve_dropped_events_total"), 0)
    case.equal("processes", [labels["process"] for labels, *_ in end.select("skyobserve_process_up")], ["caller"])


if __name__ == "__main__":
    sys.exit(lib.main([("predicted", predicted)]))
