#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Go's collector by probes: stops of the world and workers equal to the ns to what the runtime says of itself, and a
program that does everything to its stacks survives all groups.

GO_CHURN_S is how long it does so (default 4 s; 30 s is the promise).
"""

import sys

sys.dont_write_bytecode = True

import os
import random

import lib
import test_go
from test_go import ask, build, fetch

CHURN_S = float(os.environ.get("GO_CHURN_S", 4))
WITH_STOPS = (1, 22)  # the first version whose stops have a reason

STOPS = "skyobserve_go_stop_the_world_seconds"
WORKERS = "skyobserve_go_gc_worker_seconds_total"
CPU = "skyobserve_go_gc_cpu_seconds_total"

GC_STOPS = ("mark_termination", "sweep_termination")
# What gostats is told to do, and the one stop that it makes.
SINGLE = (("stats", "read_mem_stats"), ("procs 3", "go_max_procs"), ("procs 2", "go_max_procs"))


def ns(seconds):
    return round(seconds * 1e9)


def has_stops(version):
    return tuple(int(n) for n in version.split(".")[:2]) >= WITH_STOPS


def look(workload, observer):
    """What it says of itself, and then what was seen: (pauses, classes of time, statistics, metrics)."""
    pauses, times, stats = ask(workload, "pauses"), ask(workload, "times"), ask(workload, "stats")
    return pauses, times, stats, observer.scrape()


def collect_much(workload, observer):
    ask(workload, "percent 20")
    before = observer.scrape().sum("skyobserve_go_gc_cycles_total")
    workload.say("load 3")
    workload.take_truth()
    lib.poll("cycles", lambda: observer.scrape().sum("skyobserve_go_gc_cycles_total") > before + 50)
    workload.say("rest 0")
    workload.take_truth()
    ask(workload, "percent -1")
    ask(workload, "gc 20")


def same_stops(case, before, after):
    """Their sum to the ns, and as many as the runtime counted; at least one of each kind a cycle."""
    cycles = after[2]["num_gc"] - before[2]["num_gc"]
    total = {}
    for ending in ("_sum", "_count"):
        total[ending] = sum(after[3].value(STOPS + ending, reason=reason) -
                            before[3].value(STOPS + ending, reason=reason) for reason in GC_STOPS)
    case.equal("time of the collector's stops, ns", ns(total["_sum"]),
               after[0].pop("pause_total_ns") - before[0].pop("pause_total_ns"))
    case.equal("the collector's stops", total["_count"], sum(after[0].values()) - sum(before[0].values()))
    for reason in GC_STOPS:
        case.at_least(reason, after[3].value(STOPS + "_count", reason=reason) -
                      before[3].value(STOPS + "_count", reason=reason), cycles)
    case.at_least("CPU time of stops, ns", ns(after[3].value(CPU, phase="stop_the_world")), 1)


def same_workers(case, before, after):
    """To the ns; the runtime adds dedicated and fractional up. And they cannot have had more CPU than wall time."""
    modes = ("dedicated", "fractional", "idle")
    wall = {mode: ns(after[3].value(WORKERS, mode=mode)) - ns(before[3].value(WORKERS, mode=mode)) for mode in modes}
    if after[1]:  # runtimes before Go 1.20 do not say
        case.equal("dedicated and fractional, ns", wall["dedicated"] + wall["fractional"],
                   after[1]["cpu_gc_mark_dedicated"] - before[1]["cpu_gc_mark_dedicated"])
        case.equal("idle, ns", wall["idle"], after[1]["cpu_gc_mark_idle"] - before[1]["cpu_gc_mark_idle"])
    case.at_least("time of workers, ns", sum(wall.values()), 1)
    cpu = {phase: ns(after[3].value(CPU, phase=phase)) for phase in ("mark", "mark_idle")}
    case.at_least("CPU time of workers, ns", sum(cpu.values()), 1)
    case.at_most("CPU time of workers, ns", sum(cpu.values()), sum(ns(after[3].value(WORKERS, mode=m)) for m in modes))


def reasons(case, workload, observer):
    for line, reason in SINGLE:
        before = observer.scrape()
        ask(workload, line)
        after = observer.scrape()
        for have, count in after.select(STOPS + "_count"):
            want = before.value(STOPS + "_count", reason=have["reason"]) + (have["reason"] == reason)
            case.equal(f"{line}: {have['reason']}", count, want)


def exactly(path, stops=True):
    def run(case):
        workload = case.workload("gostats", program=path())
        look_first = ("pauses", "times", "stats")
        for line in look_first:  # what is made at the first time is made
            ask(workload, line)
        observer = case.observe(pids=[workload.pid])
        before = look(workload, observer)
        collect_much(workload, observer)
        after = look(workload, observer)
        same_workers(case, before, after)
        info = after[3].select("skyobserve_probe_group_info", group="go_gc")[0][0]["reason"]
        if stops:
            case.equal("go_gc", info, "uprobes in 1 process")
            same_stops(case, before, after)
            reasons(case, workload, observer)
        else:
            case.true(f"why there are no stops: {info}", "Go before 1.22" in info)
            case.equal("stops", after[3].select(STOPS + "_count"), [])
        observer.stop()
        case.equal("status of the program", workload.finish(), 0)
    return run


def survives(path, stops=True):
    """Growing stacks, goroutines that come and go, and a busy collector, on more Ps than CPUs."""
    def run(case):
        workload = case.workload("gochurn", program=path())
        observer = case.observe("--interaction", "http", pids=[workload.pid])
        before = observer.scrape()
        workload.say(str(CHURN_S))
        for _ in range(5):
            observer.scrape()
        truth = None
        line = workload.lines.next(lib.DEADLINE_S + 20 * CHURN_S)
        if line is None:
            workload.end_without(ready=False)
        truth = lib.json.loads(line)
        workload.settle()
        after = observer.scrape()
        case.at_least("stacks that grew", truth["growths"], 1000)
        case.equal("cycles", after.sum("skyobserve_go_gc_cycles_total") - before.sum("skyobserve_go_gc_cycles_total"),
                   truth["cycles"])
        if stops:
            sums = [sum(ns(m.value(STOPS + "_sum", reason=reason)) for reason in GC_STOPS) for m in (before, after)]
            case.equal("time of the collector's stops, ns", sums[1] - sums[0], truth["pause_ns"])
        observer.stop()
        case.equal("status of the program", workload.finish(), 0)
    return run


def off_when_not_asked(case):
    """Without the group no program has a probe, and nothing of it is published."""
    workload = case.workload("gostats")
    metrics = case.observe("--groups", "process,sched,syscalls,go", pids=[workload.pid]).scrape()
    case.equal("stops", metrics.select(STOPS + "_count"), [])
    case.equal("workers", metrics.select(WORKERS), [])
    case.equal("up", metrics.value("skyobserve_probe_group_up", group="go_gc"), 0)


def of_another_language(case):
    workload = case.workload("blocked")
    metrics = case.observe(pids=[workload.pid]).scrape()
    case.equal("workers", metrics.select(WORKERS), [])
    case.equal("why", metrics.select("skyobserve_probe_group_info", group="go_gc")[0][0]["reason"],
               "no Go program that ran when observing began")


def two_of_one_file(case):
    """Each has probes of its own: none is counted twice, and the end of one is not that of the other's."""
    newest = max(fetch.toolchains(), key=lambda v: [int(n) for n in v.split(".")])
    if not has_stops(newest):
        raise lib.Skip("needs Go 1.22 or later")
    path = test_go.program(newest, fetch.toolchains()[newest], "stats")
    one, other = (case.workload("gostats", program=path) for _ in range(2))
    observer = case.observe(pids=[one.pid, other.pid])
    case.equal("go_gc", observer.scrape().select("skyobserve_probe_group_info", group="go_gc")[0][0]["reason"],
               "uprobes in 2 processes")
    ask(one, "gc 7")
    ask(other, "gc 3")
    metrics = observer.scrape()
    case.equal("stops", sum(metrics.value(STOPS + "_count", reason=r) for r in GC_STOPS), 20)
    other.kill()
    lib.poll("its end to be seen", lambda: observer.scrape().sum("skyobserve_process_up") == 1)
    ask(one, "gc 2")
    metrics = observer.scrape()
    case.equal("stops, with those of the one that ended",
               sum(metrics.value(STOPS + "_count", reason=r) for r in GC_STOPS), 24)


def of_a_command(case):
    """A program that we start has probes, too."""
    version, goroot = list(fetch.toolchains().items())[-1]
    if not has_stops(version):
        raise lib.Skip("needs Go 1.22 or later")
    path, fifo = test_go.program(version, goroot, "stats"), case.path("fifo")
    os.mkfifo(fifo)
    say = os.open(fifo, os.O_RDWR)
    observer = case.observe("--", path, prefix=("sh", "-c", f'exec "$@" <{fifo}', "sh"))
    case.equal("go_gc", observer.scrape().select("skyobserve_probe_group_info", group="go_gc")[0][0]["reason"],
               "uprobes in 1 process")
    before = observer.scrape()
    os.write(say, b"gc 5\n")
    lib.poll("its answer", lambda: b"{}" in lib.Path(case.path("stdout")).read_bytes())
    after = observer.scrape()
    case.equal("stops of 5 cycles", sum(after.value(STOPS + "_count", reason=r) - before.value(STOPS + "_count", reason=r)
                                        for r in GC_STOPS), 10)
    os.write(say, b"gc\nnonsense\n")  # which ends it
    observer.wait_end(2)
    os.close(say)


def garbage(case):
    """Of a program whose runtime's memory is garbage nothing is said but why; what was counted stays."""
    workload = case.workload("gostats")
    ask(workload, "gc 3")
    observer = case.observe(pids=[workload.pid])
    before = observer.scrape()
    names = {"runtime.memstats", "runtime.gcController", "runtime.sched", "runtime.allp", "runtime.mheap_",
             "runtime.gomaxprocs", "runtime.allglen", "runtime.work"}
    symbols = [line.split() for line in lib.subprocess.run(["nm", "-S", lib.WORKLOADS / "gostats"], stdout=lib.subprocess.PIPE, text=True, check=True).stdout.splitlines()]
    places = [(int(row[0], 16), min(int(row[1], 16), 1 << 16)) for row in symbols if len(row) == 4 and row[3] in names]
    case.equal("variables", len(places), len(names))
    os.kill(workload.pid, lib.signal.SIGSTOP)  # it is not to act upon it
    source = random.Random(1)
    with open(f"/proc/{workload.pid}/mem", "r+b", buffering=0) as memory:
        for _ in range(40):
            address, n = source.choice(places)
            memory.seek(address)
            memory.write(source.choice((source.randbytes(n), b"\xff" * n, b"\0" * n)))
            metrics = observer.scrape()
            for key, value in metrics.series.items():
                if "_go_" in key[0] and value != value:
                    case.note(f"{key} is no number")
    case.equal("group go", metrics.value("skyobserve_probe_group_up", group="go"), 0)
    case.equal("goroutines", metrics.select("skyobserve_go_goroutines"), [])
    name = "skyobserve_go_allocated_objects_total"
    case.equal("objects", metrics.value(name), before.value(name))
    workload.kill()


def cases():
    found = [("off_when_not_asked", off_when_not_asked), ("of_another_language", of_another_language),
             ("two_of_one_file", two_of_one_file), ("of_a_command", of_a_command), ("garbage", garbage)]
    every, system = test_go.toolchains()
    for version, goroot in every.items():
        for name in ("stats", "stats-stripped") + (("stats-pie-stripped",) if version in system else ()):
            def path(version=version, goroot=goroot, name=name):
                return test_go.program(version, goroot, name)
            found.append((f"exactly_{version}_{name}", exactly(path, has_stops(version))))

        def churn(version=version, goroot=goroot):
            with test_go.vmlib.lock("go"):
                return build.build(version, goroot, "churn", build.Variant("../workloads/gochurn", build.STATIC, []))
        found.append((f"survives_{version}", survives(churn, has_stops(version))))
    return found


if __name__ == "__main__":
    sys.exit(lib.main(cases()))
