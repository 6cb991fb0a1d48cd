#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Interactions: requests are counted one by one, and what they cost is charged to their kind.

The truth comes from three sides: what the client sent, what the server says it did (the sample counts its
own work), and how many calls a request makes by construction.
"""

import sys

sys.dont_write_bytecode = True

import concurrent.futures
import shutil
import signal
import subprocess
import time

import lib
from web import SERVER, Client, Sample, Server, await_requests, get, requests_of

def connections(case):
    """Each request is counted once, whatever the number of connections and of Ps."""
    for max_procs in (1, 2, 8):
        sample = Sample(case, max_procs=max_procs)
        total = 0
        for n in (1, 8, 64, 512):
            said = sample.load("-kind", "healthz", "-connections", str(n), "-requests", "1500", "-sessions", "0")
            total += said["requests"]["healthz"]["200"]
            metrics = await_requests(sample.observer, "GET /healthz", total)
            case.equal(f"requests, {n} connections, GOMAXPROCS {max_procs}", requests_of(metrics),
                       {("GET /healthz", "200"): total})
            case.equal("in flight", metrics.sum("skyobserve_interactions_in_flight"), 0)
            case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)
        case.equal("requests that the sample served", sample.truth()["healthz"], total)
        sample.observer.stop()


def costs(case):
    """T27, T28: R requests of s calls, f fsyncs, c us each are R s, R f, at least R c, beside background work."""
    sample = Sample(case, "-background", "1", "-ticker", "20ms")
    said = sample.load("-kind", "event", "-connections", "8", "-requests", "600", "-sessions", "3", "-calls", "7",
                       "-fsyncs", "2", "-spin-us", "500")
    event = "POST /_sky/event"
    requests = said["requests"]["event"]["200"]
    metrics = await_requests(sample.observer, event, requests)
    case.equal("events", metrics.sum("skyobserve_interactions_total", interaction=event, code="200"), requests)
    case.same_table("getppid of", metrics.by("skyobserve_syscalls_total", "interaction", syscall="getppid"),
                    {event: 7 * requests})
    case.same_table("fsyncs of", metrics.by("skyobserve_fsyncs_total", "interaction", call="fsync"),
                    {event: 2 * requests})
    case.equal("interactions by their fsyncs",
               metrics.value("skyobserve_interaction_fsyncs_bucket", interaction=event, le="2") -
               metrics.value("skyobserve_interaction_fsyncs_bucket", interaction=event, le="1"), requests)
    case.equal("sum of their fsyncs", metrics.value("skyobserve_interaction_fsyncs_sum", interaction=event),
               2 * requests)
    cpu = metrics.by("skyobserve_cpu_seconds_total", "interaction")
    case.at_least("CPU of the events", cpu[event], requests * 500e-6)
    for resource, name in (("cpu", "cpu_seconds_total"), ("syscalls", "syscalls_total"), ("fsyncs", "fsyncs_total")):
        all_of_it = metrics.sum(f"skyobserve_{name}")
        background = metrics.sum(f"skyobserve_{name}", interaction="background")
        case.between(f"unattributed {resource}", metrics.value("skyobserve_unattributed_ratio", resource=resource),
                     background / all_of_it - 1e-6, background / all_of_it + 1e-6)
    case.equal("unattributed fsyncs", metrics.value("skyobserve_unattributed_ratio", resource="fsyncs"), 0)
    # Two Ps: one burns all the time in the background, beside the events.
    case.at_least("CPU of the background", cpu["background"], 0.2 * sum(cpu.values()))
    wall = metrics.value("skyobserve_interaction_duration_seconds_sum", interaction=event)
    parts = [metrics.value(f"skyobserve_interaction_{part}_seconds_sum", interaction=event)
             for part in ("cpu", "off_cpu")]
    parts.append(metrics.value("skyobserve_off_cpu_seconds_total", interaction=event, reason="go_scheduler"))
    case.at_most("CPU between two owners", metrics.value("skyobserve_interaction_split_cpu_seconds_total"),
                 sum(cpu.values()))
    # A part that is more than the wall time of its interaction is not made up for by another.
    case.between("parts of the wall time", sum(parts), 0.999 * wall, 1.05 * wall)
    truth = sample.truth()
    case.equal("the sample's own counts", (truth["events"], truth["getppids"], truth["fsyncs"]),
               (requests, 7 * requests, 2 * requests))


def sessions(case):
    """Event streams are sessions, for as long as they are open, and no interactions."""
    sample = Sample(case)
    load = case.popen([str(lib.WORKLOADS / "sampleload"), "-url", f"http://{sample.address}", "-gentle", "-sessions",
                       "5"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lib.poll("five sessions", lambda: sample.observer.scrape().value("skyobserve_sessions") == 5)
    metrics = sample.observer.scrape()
    case.equal("streams that count as requests", metrics.sum("skyobserve_interactions_total",
                                                             interaction="GET /_sky/sse"), 0)
    case.equal("streams in flight", metrics.sum("skyobserve_interactions_in_flight", interaction="GET /_sky/sse"), 0)
    load.send_signal(signal.SIGTERM)
    lib.poll("no session", lambda: sample.observer.scrape().value("skyobserve_sessions") == 0)


def pieces(case):
    """A request that comes byte by byte is one; garbage and halves are none and change nothing else."""
    sample = Sample(case)
    slow, whole = Client(sample.address), Client(sample.address)
    for i in range(20):
        request = get(b"/healthz?secret=1", b"Cookie: c=%d\r\n" % i)
        for k in range(len(request)):
            slow.send(request[k:k + 1])
            if k % 16 == 0:  # a server that is slow to read gets several at once
                case.equal("status beside it", whole.ask(get(b"/healthz")), 200)
        case.equal("status", slow.answer(), 200)
    garbage = Client(sample.address)
    garbage.send(b"GEX / HTTP/1.1\r\n\r\n" + bytes(range(256)) * 20)
    half = Client(sample.address)
    half.send(b"GET /heal")
    client = Client(sample.address)
    for _ in range(50):
        case.equal("status", client.ask(get(b"/healthz")), 200)
    half.socket.close()
    n = 20 + 50 + 20 * len(range(0, len(get(b"/healthz?secret=1", b"Cookie: c=1\r\n")), 16)) 
    extra = sum(1 for i in range(10, 20) if len(get(b"/healthz?secret=1", b"Cookie: c=%d\r\n" % i)) % 16 == 1)
    metrics = await_requests(sample.observer, "GET /healthz", n + extra)
    case.equal("requests", requests_of(metrics), {("GET /healthz", "200"): n + extra})
    case.true("a query is shown", b"secret" not in sample.observer.fetch().body)
    case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)


def older_connections(case):
    """A connection that was open before counts from its next request."""
    sample = Sample(case, observe=False)
    clients = [Client(sample.address) for _ in range(5)]
    for client in clients:
        case.equal("status before", client.ask(get(b"/healthz")), 200)
    sample.observe()
    for client in clients:
        for _ in range(40):
            case.equal("status", client.ask(get(b"/healthz")), 200)
    metrics = await_requests(sample.observer, "GET /healthz", 200)
    case.equal("requests", requests_of(metrics), {("GET /healthz", "200"): 200})


def paths(case):
    """Ten thousand paths are counted, all of them, in a bounded number of kinds."""
    sample = Sample(case)
    clients = [Client(sample.address) for _ in range(4)]
    for i in range(10000):
        word = "".join(chr(97 + i // 26 ** k % 26) for k in range(3))
        clients[i % 4].send(get(f"/{word}".encode()))
        clients[i % 4].answer()
    for i in range(100):
        clients[0].ask(get(f"/metadata/{i:08}".encode()))
    metrics = await_requests(sample.observer, "GET /metadata/:id", 0)
    lib.poll("all of them", lambda: sample.observer.scrape().sum("skyobserve_interactions_total") == 10100)
    metrics = sample.observer.scrape()
    kinds = metrics.by("skyobserve_interactions_in_flight", "interaction")
    case.at_most("kinds", len(kinds), 128)
    case.at_least("requests of kinds beyond the bound", metrics.sum("skyobserve_interactions_total",
                                                                    interaction="other"), 9000)
    case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)


def threads(case):
    """Another runtime: the thread that serves is charged, with and without keep-alive."""
    for protocol, per_connection in (("HTTP/1.1", 50), ("HTTP/1.0", 1)):
        server = Server(case, protocol, 9)
        for i in range(200):
            if i % per_connection == 0:
                client = Client(server.address)
            case.equal("status", client.ask(get(b"/a" if i % 2 else b"/none")), 200 if i % 2 else 404)
        lib.poll("the requests", lambda: server.observer.scrape().sum("skyobserve_interactions_total") >= 200)
        metrics = server.observer.scrape()
        case.equal(f"requests of {protocol}", requests_of(metrics), {("GET /a", "200"): 100, ("GET /none", "404"): 100})
        case.same_table(f"getppid of {protocol}",
                        metrics.by("skyobserve_syscalls_total", "interaction", syscall="getppid"),
                        {"GET /a": 900, "GET /none": 900})
        # No goroutine: nothing waits in Go's scheduler, and nothing lies between two of them.
        case.equal("waits in Go's scheduler", metrics.select("skyobserve_off_cpu_seconds_total", reason="go_scheduler"),
                   [])
        case.equal("split", metrics.select("skyobserve_interaction_split_cpu_seconds_total"), [])
        case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)
        server.observer.stop()


def beside_neighbours(case):
    """T29: two that are observed and one that is not, all under load: each has what is its own in every scrape."""
    samples = [Sample(case, observe=False) for _ in range(3)]
    pids = [sample.process.pid for sample in samples[:2]]
    observer = case.observe("--interaction", "http", "--label-pid", pids=pids)
    rows = ((3, 1, 400), (5, 2, 300), (9, 3, 400))  # getppids, fsyncs, requests of each
    with concurrent.futures.ThreadPoolExecutor(len(rows)) as pool:
        loads = [pool.submit(sample.load, "-kind", "event", "-connections", "8", "-requests", str(n), "-sessions", "2",
                             "-calls", str(calls), "-fsyncs", str(fsyncs))
                 for sample, (calls, fsyncs, n) in zip(samples, rows)]
        scrapes = 0
        while not all(load.done() for load in loads):
            case.wrong += lib.scrape_wrong(observer.scrape())
            scrapes += 1
        said = [load.result()["requests"]["event"]["200"] for load in loads]
    case.at_least("scrapes under load", scrapes, 3)
    event = "POST /_sky/event"
    for pid, n, (calls, fsyncs, _) in zip(map(str, pids), said, rows):
        metrics = lib.poll("the last events", lambda pid=pid, n=n: (
            lambda m: m if m.sum("skyobserve_interactions_total", pid=pid, interaction=event) == n else None)(
                observer.scrape()))
        case.same_table(f"getppid of {pid}",
                        metrics.by("skyobserve_syscalls_total", "interaction", pid=pid, syscall="getppid"),
                        {event: calls * n})
        case.same_table(f"fsyncs of {pid}", metrics.by("skyobserve_fsyncs_total", "interaction", pid=pid, call="fsync"),
                        {event: fsyncs * n})
    case.equal("processes", {labels["pid"] for labels, _ in metrics.select("skyobserve_process_up")},
               set(map(str, pids)))
    case.wrong += lib.identities_wrong(metrics, lib.ALL_IDENTITIES)


def killed(case):
    """What is under way when the process is killed is aborted, and its sessions are over."""
    sample = Sample(case)
    load = case.popen([str(lib.WORKLOADS / "sampleload"), "-url", f"http://{sample.address}", "-gentle", "-sessions",
                       "3"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lib.poll("three sessions", lambda: sample.observer.scrape().value("skyobserve_sessions") == 3)
    load.kill()
    waiting = Client(sample.address)
    sent_s = time.monotonic()
    waiting.send(b"POST /_sky/event HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
    flying = {"interaction": "POST /_sky/event"}
    name = "skyobserve_interactions_in_flight"
    first = lib.poll("it to be in flight", lambda: (
        lambda m: m if m.sum(name, **flying) == 1 else None)(sample.observer.scrape()))
    seen_s = time.monotonic()
    oldest = "skyobserve_interactions_in_flight_oldest_seconds"
    case.at_most("its age", first.value(oldest, **flying), seen_s - sent_s)
    time.sleep(0.3)
    case.at_least("its age later", sample.observer.scrape().value(oldest, **flying),
                  first.value(oldest, **flying) + 0.3)
    case.equal("age where nothing is in flight",
               {kind: age for kind, age in first.by(oldest, "interaction").items() if kind != flying["interaction"]
                and not first.sum(name, interaction=kind) and age}, {})
    sample.process.kill()
    last = lib.poll("its end", lambda: (
        lambda m: m if m.value("skyobserve_process_up") == 0 else None)(sample.observer.scrape()))
    case.equal("in flight", last.sum(name), 0)
    case.equal("age", last.sum(oldest), 0)
    case.equal("aborted", last.value("skyobserve_interactions_total", code="aborted", **flying), 1)
    case.equal("sessions", last.value("skyobserve_sessions"), 0)


def later(case):
    """One that begins later is told apart as soon as its file was read; until then it is background, under the
    same names."""
    observer = case.observe("--comm", "skylater", "--comm", "skysample")
    programs = {"skylater": case.path("skylater"), "skysample": case.path("skysample")}
    shutil.copy(sys.executable, programs["skylater"])
    shutil.copy(lib.WORKLOADS / "sampleapp", programs["skysample"])
    server = case.popen([programs["skylater"], "-c", SERVER, "HTTP/1.1", "9"], stdout=subprocess.PIPE)
    port_file = case.path("later-port")
    case.popen([programs["skysample"], "-port-file", port_file, "-data", case.path("data")], stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL)
    clients = {"skylater": (Client(f"127.0.0.1:{int(server.stdout.readline())}"), "/a"),
               "skysample": (Client(lib.poll("the port", lambda: lib.read_proc(port_file)).strip()), "/healthz")}
    for name, (client, path) in clients.items():
        def known(name=name, client=client, path=path):
            client.ask(get(path.encode()))
            return observer.scrape().sum("skyobserve_interactions_total", process=name)
        lib.poll(f"interactions of {name}", known)
        before = observer.scrape().sum("skyobserve_interactions_total", process=name)
        for _ in range(10):
            case.equal("status", client.ask(get(path.encode())), 200)
        lib.poll(f"ten more of {name}", lambda name=name, before=before: observer.scrape().sum(
            "skyobserve_interactions_total", process=name) == before + 10)
    case.equal("whether goroutines were told apart", [labels["process"] for labels, _ in observer.scrape().select(
        "skyobserve_interaction_split_cpu_seconds_total")], ["skysample"])


CASES = [(case.__name__, case) for case in (connections, costs, sessions, pieces, older_connections, paths, threads,
                                           beside_neighbours, killed, later)]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
