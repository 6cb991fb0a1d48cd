#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls of functions as interactions (--interaction uprobe:FUNCTION): each is counted once, with what it cost,
whatever its goroutine does; and where that cannot be, one line says why."""

import sys

sys.dont_write_bytecode = True

import os
import subprocess

import lib
import test_go
from test_go import ask, build, fetch
from web import Client, Sample, await_requests, get, requests_of

SERVE = "net/http.serverHandler.ServeHTTP"
GETPPIDS = 3  # of one call of main.handle


def options(*functions):
    return [word for name in functions for word in ("--interaction", f"uprobe:{name}")]


def sums(case, metrics, kind):
    """The parts are the whole: interactions and background, of what the books of the process say."""
    case.equal("identities that do not hold", lib.identities_wrong(metrics), [])
    case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)
    wall = metrics.value("skyobserve_interaction_duration_seconds_sum", interaction=kind)
    parts = [metrics.value(f"skyobserve_interaction_{part}_seconds_sum", interaction=kind)
             for part in ("cpu", "off_cpu")]
    parts.append(metrics.value("skyobserve_off_cpu_seconds_total", interaction=kind, reason="go_scheduler"))
    case.between("parts of the wall time", sum(parts), 0.999 * wall, 1.05 * wall)


def agree(case):
    """T29: both boundaries count the same requests, with the same durable writes and calls."""
    seen = {}
    for boundary in ("http", "uprobe"):
        sample = Sample(case, "-background", "1", "-ticker", "20ms", observe=False)
        if boundary == "http":
            sample.observe("--route", "POST /*all", "--route", "GET /*all")
        else:
            sample.observer = case.observe(*options(SERVE), pids=[sample.process.pid])
        kind = "POST /*all" if boundary == "http" else SERVE
        said = sample.load("-kind", "event", "-connections", "8", "-requests", "400", "-sessions", "0", "-calls", "7",
                           "-fsyncs", "2")
        requests = said["requests"]["event"]["200"]
        others = sum(said["requests"].get("page", {}).values())
        if boundary == "uprobe":
            others += said["streams"]  # which are sessions for HTTP, and calls all the same
        metrics = await_requests(sample.observer, kind, requests + (others if boundary == "uprobe" else 0))
        case.equal(f"requests by {boundary}", metrics.sum("skyobserve_interactions_total"), requests + others)
        case.equal("in flight", metrics.sum("skyobserve_interactions_in_flight"), 0)
        # Of functions no connection is looked at: then it is not known how many are sessions.
        case.equal("sessions are known", bool(metrics.select("skyobserve_sessions")), boundary == "http")
        seen[boundary] = [metrics.sum(name, **labels) - metrics.sum(name, interaction="background", **labels)
                          for name, labels in (("skyobserve_fsyncs_total", {}),
                                               ("skyobserve_syscalls_total", {"syscall": "getppid"}))]
        case.equal(f"fsyncs and getppids by {boundary}", seen[boundary], [2 * requests, 7 * requests])
        sums(case, metrics, kind)
        truth = sample.truth()
        case.equal("the sample's own counts", (truth["events"], truth["fsyncs"]), (requests, 2 * requests))
        sample.observer.stop()
    case.equal("uprobe", seen["uprobe"], seen["http"])


def codes(observer, **want):
    """The last of them may just be on their way."""
    def look():
        metrics = observer.scrape()
        return metrics if sum(requests_of(metrics).values()) >= sum(want.values()) else None
    return lib.poll(f"{want}", look)


def goroutines(path):
    """Whatever a goroutine does while the function runs: threads that change, stacks that move, calls inside."""
    def run(case):
        workload = case.workload("gofunctions", program=path())
        observer = case.observe(*options("main.handle", "main.again"), pids=[workload.pid])
        plain = ask(workload, "calls 400 2")
        inside = ask(workload, "again 100 5")
        metrics = codes(observer, returned=500)
        case.equal("calls", requests_of(metrics), {("main.handle", "returned"): plain["calls"],
                                                   ("main.again", "returned"): inside["calls"]})
        for name, labels, key in (("skyobserve_fsyncs_total", {"call": "fsync"}, "fsyncs"),
                                  ("skyobserve_syscalls_total", {"syscall": "getppid"}, "getppids")):
            have = metrics.by(name, "interaction", **labels)
            case.same_table(key, {kind: n for kind, n in have.items() if n},
                            {"main.handle": plain[key], "main.again": inside[key]})
        case.equal("in flight", metrics.sum("skyobserve_interactions_in_flight"), 0)
        sums(case, metrics, "main.handle")
        case.equal("group", metrics.select("skyobserve_probe_group_info", group="functions")[0][0]["reason"],
                   "uprobes in 1 process")
        observer.stop()
        case.equal("status of the program", workload.finish(), 0)
    return run


def unfinished(path):
    """Calls that a panic passes or whose goroutine ends are over, and are nobody's any more."""
    def run(case):
        workload = case.workload("gofunctions", program=path())
        observer = case.observe(*options("main.fails", "main.handle"), pids=[workload.pid])
        lost = ask(workload, "panics 60")["calls"] + ask(workload, "exits 40")["calls"]
        done = ask(workload, "calls 300 1")  # which look after those that were left
        metrics = codes(observer, unfinished=lost, returned=done["calls"])
        case.equal("calls", requests_of(metrics), {("main.fails", "unfinished"): lost,
                                                   ("main.handle", "returned"): done["calls"]})
        case.equal("in flight", metrics.sum("skyobserve_interactions_in_flight"), 0)
        case.same_table("fsyncs", metrics.by("skyobserve_fsyncs_total", "interaction", call="fsync"),
                        {"main.fails": 0, "main.handle": done["fsyncs"], "background": 0})
        case.equal("getppids of what failed", metrics.value("skyobserve_syscalls_total", syscall="getppid",
                                                            interaction="main.fails"), lost)
        case.equal("durations of what failed",
                   metrics.value("skyobserve_interaction_duration_seconds_count", interaction="main.fails"), 0)
        case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)
        observer.stop()
        case.equal("status of the program", workload.finish(), 0)
    return run


def web(case):
    """Handlers that panic, and connections that are hijacked, do not leak."""
    workload = case.workload("gofunctions")
    address = f"127.0.0.1:{ask(workload, 'serve')['port']}"
    observer = case.observe(*options(SERVE), pids=[workload.pid])
    client = Client(address)
    for _ in range(10):
        try:
            Client(address).ask(get(b"/panic"))
            case.note("a handler that panics has answered")
        except (lib.Failed, ConnectionError):
            pass
        case.equal("hijacked", Client(address).ask(get(b"/hijack")), 200)
        for _ in range(20):
            case.equal("status", client.ask(get(b"/fsync")), 200)

    def look():
        case.equal("status", client.ask(get(b"/fsync")), 200)
        metrics = observer.scrape()
        return metrics if requests_of(metrics).get((SERVE, "unfinished")) == 10 else None
    metrics = lib.poll("the panics to be seen", look)
    n = metrics.value("skyobserve_fsyncs_total", call="fsync", via="syscall", interaction=SERVE)
    lib.poll("the last to return", lambda: requests_of(observer.scrape())[(SERVE, "returned")] == n + 10)
    metrics = observer.scrape()
    case.equal("in flight", metrics.sum("skyobserve_interactions_in_flight"), 0)
    case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)
    workload.kill()


def says(case, arguments, status, *words):
    done = subprocess.run([str(lib.SKYOBSERVE), "--web.listen-address", "127.0.0.1:0", *arguments],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=lib.DEADLINE_S, check=False)
    said = done.stderr.decode()
    case.equal(f"status of {arguments}", done.returncode, status)
    last = said.splitlines()[-1] if said else ""
    case.true(f"what {arguments} said: {said!r}", all(word in last for word in words))
    case.true(f"{arguments} goes on", "metrics at" not in said)


def refused(case):
    """What cannot be probed is one line, with the object, the reason and what to do, and status 64."""
    workload, other = case.workload("gofunctions"), case.workload("blocked")
    here = ("--pid", str(workload.pid))
    who = f"process {workload.pid} (gofunctions)"
    for name, words in (("main.nothing", (who, "main.nothing", "no function of this name", "go tool nm")),
                        ("main.small", (who, "main.small is inlined", "//go:noinline")),
                        ("main.pick[...]", (who, "2 functions have this name", "name a function that calls it"))):
        says(case, (*here, *options(name)), 64, *words)
    says(case, ("--pid", str(other.pid), *options("main.main")), 64, f"process {other.pid} (blocked)", "no Go program",
         "--interaction http")
    says(case, (*here, *options(SERVE, "main.nothing")), 64, "main.nothing")
    says(case, (*here, *options("main.handle", "main.handle")), 64, "main.handle is there twice")
    says(case, (*here, *options("main.handle"), "--interaction", "http"), 64, "stand alone")
    says(case, (*here, *options("")), 64, "the name of a function is to follow")
    says(case, (*here, *options(*(f"main.f{i}" for i in range(9)))), 64, "at most 8 functions")
    says(case, ("--all", *options("main.handle")), 64, "instead of --all")
    says(case, (*here, *options("main.handle"), "--route", "GET /"), 64, "--route is about requests")
    says(case, (*here, "--interaction", "function"), 64, "uprobe:FUNCTION")


def of_a_command(case):
    """A program that we start is probed; one that does not have the function is not started."""
    path, fifo = str(lib.WORKLOADS / "gofunctions"), case.path("fifo")
    os.mkfifo(fifo)
    say = os.open(fifo, os.O_RDWR)
    observer = case.observe(*options("main.handle"), "--", path,
                            prefix=("sh", "-c", f'exec "$@" <{fifo}', "sh"))
    os.write(say, b"calls 50 1\n")
    metrics = codes(observer, returned=50)
    case.equal("calls", requests_of(metrics), {("main.handle", "returned"): 50})
    os.write(say, b"nonsense\n")  # which ends it
    observer.wait_end(2)
    os.close(say)
    mark = case.path("mark")
    says(case, (*options("main.handle"), "--", "/bin/sh", "-c", f"echo >{mark}"), 64, "sh: ", "no Go program")
    case.true("it was not started", not os.path.exists(mark))


def later(case):
    """What comes later is background as a whole, and that is said."""
    first = case.workload("gofunctions")
    observer = case.observe("--comm", "gofunctions", *options("main.handle"))
    ask(first, "calls 20 1")
    second = case.workload("gofunctions")
    lib.poll("it to be told", lambda: f"process {second.pid} (gofunctions): its interactions are not told apart"
             in observer.stderr())
    ask(second, "calls 30 1")
    metrics = codes(observer, returned=20)
    case.equal("calls", requests_of(metrics), {("main.handle", "returned"): 20})
    case.same_table("fsyncs", metrics.by("skyobserve_fsyncs_total", "interaction", call="fsync"),
                    {"main.handle": 20, "background": 30})
    case.true("why", "after observing began" in
              metrics.select("skyobserve_probe_group_info", group="functions")[0][0]["reason"])
    observer.stop()


def off(case):
    """Without the option there is no probe."""
    workload = case.workload("gofunctions")
    metrics = case.observe(pids=[workload.pid]).scrape()
    case.equal("functions", metrics.value("skyobserve_probe_group_up", group="functions"), 0)
    case.equal("why", metrics.select("skyobserve_probe_group_info", group="functions")[0][0]["reason"], "not asked for")


def cases():
    found = [(case.__name__, case) for case in (agree, web, refused, of_a_command, later, off)]
    for version, goroot in fetch.toolchains().items():
        def path(version=version, goroot=goroot):
            with test_go.vmlib.lock("go"):
                return build.build(version, goroot, "functions",
                                   build.Variant("../workloads/gofunctions", build.STATIC, []))
        found += [(f"goroutines_{version}", goroutines(path)), (f"unfinished_{version}", unfinished(path))]
    return found


if __name__ == "__main__":
    sys.exit(lib.main(cases()))
