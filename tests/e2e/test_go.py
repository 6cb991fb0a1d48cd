#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the runtime of a Go program says of itself, read from outside, beside what it says inside: exactly equal."""

import sys

sys.dont_write_bytecode = True

import os
import shutil

import lib

sys.path.insert(0, str(lib.ROOT / "tests/go"))

import build
import fetch
import vmlib

SOURCE = "../workloads/gostats"
OTHER_UID = 4244  # of nobody on any machine that runs this

# How it can be built: what changes where things are, and how they are found.
VARIANTS = {
    "stats": build.Variant(SOURCE, build.STATIC, []),
    "stats-stripped": build.Variant(SOURCE, build.STATIC, build.STRIP),
    "stats-pie": build.Variant(SOURCE, build.STATIC, ["-buildmode=pie"]),
    "stats-pie-stripped": build.Variant(SOURCE, build.STATIC, ["-buildmode=pie", *build.STRIP]),
}

# The test's name of a number, its series, and its name in what the program says of itself.
COUNTERS = (
    ("allocated objects", "skyobserve_go_allocated_objects_total", {}, lambda t: t["mallocs"]),
    ("allocated bytes", "skyobserve_go_allocated_bytes_total", {}, lambda t: t["total_alloc"]),
    ("freed objects", "skyobserve_go_freed_objects_total", {}, lambda t: t["frees"]),
    ("freed bytes", "skyobserve_go_freed_bytes_total", {}, lambda t: t["total_alloc"] - t["heap_alloc"]),
    ("forced cycles", "skyobserve_go_gc_cycles_total", {"kind": "forced"}, lambda t: t["num_forced_gc"]),
    ("automatic cycles", "skyobserve_go_gc_cycles_total", {"kind": "automatic"},
     lambda t: t["num_gc"] - t["num_forced_gc"]),
)
CLASSES = {
    "live": lambda t: t["heap_inuse"],
    "free": lambda t: t["heap_idle"] - t["heap_released"],
    "released": lambda t: t["heap_released"],
    "stacks": lambda t: t["stack_sys"],
    "metadata": lambda t: t["metadata"],
    "other": lambda t: t["other_sys"],
}
GAUGES = (
    ("goroutines", "skyobserve_go_goroutines", {}, lambda t: t["goroutines"]),
    ("GOMAXPROCS", "skyobserve_go_max_procs", {}, lambda t: t["max_procs"]),
    ("heap goal", "skyobserve_go_heap_goal_bytes", {}, lambda t: t["next_gc"]),
)
MEMORY = tuple(
    (f"memory, {name}", "skyobserve_go_memory_bytes", {"class": name}, of) for name, of in CLASSES.items()
)

TRIES = 5

NO_LIMIT = 2**63 - 1


def toolchains():
    """{version: GOROOT}, and which of them a package installed."""
    return fetch.toolchains(), fetch.system_toolchains()


def program(version, goroot, name):
    with vmlib.lock("go"):
        return build.build(version, goroot, name, VARIANTS[name])


def ask(workload, line):
    workload.say(line)
    truth = workload.take_truth()
    lib.poll(f"{workload.name} to wait", lambda: lib.waits_for_us(workload.pid))
    workload.settle()
    return truth


def compare(case, when, metrics, truth, rows):
    for what, name, labels, of in rows:
        case.equal(f"{when}: {what}", metrics.value(name, **labels), of(truth))


def check(case, when, observer, workload, memory=MEMORY):
    """What is seen from outside, and then what is said inside."""
    for _ in range(TRIES):
        metrics = observer.scrape()
        truth = ask(workload, "stats")
        later = observer.scrape()
        again = ask(workload, "stats")
        # The runtime may take memory by itself at any moment: it has to be the same on both sides.
        if all(of(truth) == of(again) for *_, of in GAUGES + MEMORY):
            break
    compare(case, when, metrics, truth, COUNTERS + GAUGES)
    # To say it, the runtime empties its caches, and that can take memory of another class.
    compare(case, f"{when}, later", later, truth, COUNTERS + GAUGES + memory)
    case.equal(f"{when}: memory", later.sum("skyobserve_go_memory_bytes"), truth["sys"])
    return metrics, truth


def begin(case, path):
    workload = case.workload("gostats", program=path)
    ask(workload, "stats")  # what is made at the first time is made
    observer = case.observe(pids=[workload.pid])
    return workload, observer


def exactly(path, version=None, variant=""):
    """Each kind of object, cycles, settings: what changes, changes by as much, and everything is equal."""
    def run(case):
        workload, observer = begin(case, path() if callable(path) else path)
        before, _ = check(case, "at first", observer, workload)
        case.equal("group go", before.value("skyobserve_probe_group_up", group="go"), 1)
        case.equal("percent", before.value("skyobserve_go_gc_percent"), -1)
        case.equal("limit", before.value("skyobserve_go_memory_limit_bytes"), NO_LIMIT)
        for verb, n, objects, size in (("small", 100_000, 100_000, 48), ("tiny", 100_000, 100_000, None),
                                       ("empty", 100_000, 0, 0), ("large", 20, 20, 106_496)):
            ask(workload, f"{verb} {n}")
            after, _ = check(case, verb, observer, workload)
            name = "skyobserve_go_allocated_objects_total"
            case.equal(f"{verb}: more objects", after.value(name) - before.value(name), objects)
            if size is not None:
                name = "skyobserve_go_allocated_bytes_total"
                case.equal(f"{verb}: more bytes", after.value(name) - before.value(name), objects * size)
            before = after
        ask(workload, "gc 20")
        after, _ = check(case, "collected", observer, workload)
        name, forced = "skyobserve_go_gc_cycles_total", {"kind": "forced"}
        case.equal("cycles", after.value(name, **forced) - before.value(name, **forced), 20)
        same_times(case, observer, workload)
        same_pauses(case, observer, workload)
        if version:
            identified(case, observer, version(), variant)
        for line, name, value in (("percent 50", "skyobserve_go_gc_percent", 50),
                                  ("limit 1000000000", "skyobserve_go_memory_limit_bytes", 10**9),
                                  ("procs 5", "skyobserve_go_max_procs", 5), ("procs 1", "skyobserve_go_max_procs", 1)):
            ask(workload, line)
            metrics, _ = check(case, line, observer, workload)
            case.equal(line, metrics.value(name), value)
        ask(workload, "park 100")
        check(case, "parked", observer, workload)
    return run


def same_times(case, observer, workload):
    """The collector's time by the runtime itself, to the ns; runtimes before Go 1.20 have none, on both sides."""
    name, metrics = "skyobserve_go_runtime_cpu_seconds_total", observer.scrape()
    truth = ask(workload, "times")
    case.equal("classes of time", len(metrics.select(name)), 8 if truth else 0)
    for what, value in truth.items():
        case.equal(what, round(metrics.value(name, **{"class": what.removeprefix("cpu_")}) * 1e9), value)
    if truth:
        case.at_least("time in pauses, ns", truth["cpu_gc_pause"], 1)


def same_pauses(case, observer, workload):
    """The times that the world stood still: their sum to the ns, and how many of each length."""
    metrics, name = observer.scrape(), "skyobserve_go_gc_pause_seconds"
    truth = ask(workload, "pauses")
    case.equal("time of all pauses, ns", round(metrics.value(name + "_sum") * 1e9), truth.pop("pause_total_ns"))
    case.equal("pauses", metrics.value(name + "_count"), sum(truth.values()))
    for labels, n in metrics.select(name + "_bucket"):
        bound_ns = float(labels["le"]) * 1e9 - 0.5
        case.equal(f"pauses up to {labels['le']} s", n,
                   sum(m for length, m in truth.items() if bound_ns > int(length.removeprefix("from_"))))


def identified(case, observer, version, name):
    """Which program it is, on its identity."""
    have = observer.scrape().select("skyobserve_process_info")[0][0]
    case.equal("runtime", have["runtime"], "go")
    case.equal("version", have["runtime_version"], version)
    case.equal("stripped", have["stripped"], "true" if "stripped" in name else "false")


def bracketed(path):
    """While it allocates and collects, what it says lies between what was seen before and after."""
    def run(case):
        workload, observer = begin(case, path() if callable(path) else path)
        ask(workload, "percent 50")
        workload.say("load 3")
        workload.take_truth()
        for i in range(20):
            before = observer.scrape()
            workload.say("stats")
            truth = workload.take_truth()
            after = observer.scrape()
            for what, name, labels, of in COUNTERS:
                case.between(f"{i}: {what}", of(truth), before.value(name, **labels), after.value(name, **labels))
        case.at_least("cycles", after.value("skyobserve_go_gc_cycles_total", kind="automatic"), 1)
        workload.say("rest 0")
        workload.take_truth()
        lib.poll("the workload to wait", lambda: lib.waits_for_us(workload.pid))
        workload.settle()
        # What it used is given back to the kernel little by little, from now on: only the sum stands still.
        check(case, "at rest", observer, workload, memory=())
    return run


def other_program(case):
    """What is not Go has none of it, and the group says so."""
    workload = case.workload("blocked")
    metrics = case.observe(pids=[workload.pid]).scrape()
    case.equal("series of Go", [key for key in metrics.series if "_go_" in key[0]], [])
    case.equal("why", metrics.select("skyobserve_probe_group_info", group="go")[0][0]["reason"],
               "no Go program is observed")
    have = metrics.select("skyobserve_process_info")[0][0]
    case.equal("runtime", have.get("runtime"), None)
    case.equal("stripped", have["stripped"], "false")


def later(case):
    """Another user's, that is not there yet when privileges are given up, and then executes itself anew."""
    os.chmod(case.dir, 0o755)
    copy = case.own_program("gostats")
    os.chmod(copy, 0o700)  # nobody but its user may read it
    shutil.chown(copy, OTHER_UID, OTHER_UID)
    wrapper = case.path("wrapper")
    with open(wrapper, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\nexec setpriv --reuid={OTHER_UID} --regid={OTHER_UID} --clear-groups {copy}\n")
    os.chmod(wrapper, 0o755)
    name = os.path.basename(copy)
    observer = case.observe("--comm", name)
    case.equal("why", observer.scrape().select("skyobserve_probe_group_info", group="go")[0][0]["reason"],
               "no Go program is observed")
    workload = case.workload("gostats", program=wrapper)
    ask(workload, "stats")
    lib.poll("it to be observed", lambda: observer.scrape().select("skyobserve_go_goroutines", process=name))
    first, truth = check(case, "at first", observer, workload)
    case.equal("executable", [labels["exe"] for labels, _ in first.select("skyobserve_process_info")], [copy])
    workload.say("exec 0")
    case.equal("what it says", workload.lines.next().split(), [b"ready", str(workload.pid).encode()])
    lib.poll("it to wait", lambda: lib.waits_for_us(workload.pid))
    again = ask(workload, "stats")
    objects = "skyobserve_go_allocated_objects_total"
    lib.poll("both programs to be counted", lambda: observer.scrape().value(objects) >= truth["mallocs"] + again["mallocs"])
    after = observer.scrape()
    case.equal("objects of both", after.value(objects), truth["mallocs"] + again["mallocs"])
    case.equal("goroutines of the second", after.value("skyobserve_go_goroutines"), again["goroutines"])


def ended(case):
    """Counters outlive the program; what it is now does not."""
    workload, observer = begin(case, lib.WORKLOADS / "gostats")
    before, truth = check(case, "at first", observer, workload)
    workload.finish()
    lib.poll("its end to be seen", lambda: observer.scrape().sum("skyobserve_process_up") == 0)
    after = observer.scrape()
    compare(case, "after its end", after, truth, COUNTERS)
    case.equal("goroutines", after.select("skyobserve_go_goroutines"), [])
    case.equal("memory", after.select("skyobserve_go_memory_bytes"), [])


def cases():
    found = [("of_another_language", other_program), ("after_its_end", ended), ("that_comes_later", later),
             ("exactly", exactly(lib.WORKLOADS / "gostats")), ("under_load", bracketed(lib.WORKLOADS / "gostats"))]
    every, system = toolchains()
    for version, goroot in every.items():
        names = VARIANTS if version in system else ("stats", "stats-stripped")
        for name in names:
            def path(version=version, goroot=goroot, name=name):
                return program(version, goroot, name)
            found.append((f"exactly_{version}_{name}", exactly(path, lambda root=goroot: fetch.version_of(root), name)))
        found.append((f"under_load_{version}", bracketed(path)))
    return found


if __name__ == "__main__":
    sys.exit(lib.main(cases()))
