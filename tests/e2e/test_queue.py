#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long requests waited in their sockets before anybody read them: the client knows for how long nobody could."""

import sys

sys.dont_write_bytecode = True

import os
import signal
import time

import lib
from web import Client, Sample, Server, await_requests, get

NAME = "skyobserve_interaction_queue_seconds"


def queue_is_known(observer):
    metrics = observer.scrape()
    if metrics.value("skyobserve_probe_group_up", group="queue"):
        return
    reason = metrics.select("skyobserve_probe_group_info", group="queue")[0][0]["reason"]
    raise lib.Skip(f"group queue: {reason}")


def stopped(pid):
    return lib.read_proc(f"/proc/{pid}/stat").rpartition(")")[2].split()[0] in "Tt"


def stops(case, server, path, kind):
    """Nobody can read while the server is stopped: of a request on a connection that it knows, and on one that it has
    not accepted yet."""
    queue_is_known(server.observer)
    pid = server.process.pid
    known = Client(server.address)
    for _ in range(10):
        case.equal("status", known.ask(get(path)), 200)
    before = await_requests(server.observer, kind, 10)
    case.equal("requests whose wait is known", before.value(f"{NAME}_count", interaction=kind), 10)
    os.kill(pid, signal.SIGSTOP)
    lib.poll("it to stop", lambda: stopped(pid))
    asked_s = time.monotonic()
    late = Client(server.address)
    for client in (known, late):
        client.send(get(path))
    sent_s = time.monotonic()
    time.sleep(0.4)
    freed_s = time.monotonic()
    os.kill(pid, signal.SIGCONT)
    for client in (known, late):
        case.equal("status", client.answer(), 200)
    there_s = time.monotonic()
    metrics = await_requests(server.observer, kind, 12)
    case.equal("requests", metrics.value(f"{NAME}_count", interaction=kind), 12)
    waited = metrics.value(f"{NAME}_sum", interaction=kind) - before.value(f"{NAME}_sum", interaction=kind)
    case.between("time that two of them waited", waited, 2 * (freed_s - sent_s), 2 * (there_s - asked_s))
    case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)


def goroutines(case):
    stops(case, Sample(case), b"/healthz", "GET /healthz")


def threads(case):
    stops(case, Server(case, "HTTP/1.1", 1), b"/a", "GET /a")


def load(case):
    """Every request of a busy server is in it, none with more than the client waited for it in all."""
    sample = Sample(case)
    queue_is_known(sample.observer)
    begin_s = time.monotonic()
    said = sample.load("-kind", "healthz", "-connections", "16", "-requests", "2000", "-sessions", "0")
    took_s = time.monotonic() - begin_s
    n, kind = said["requests"]["healthz"]["200"], "GET /healthz"
    metrics = await_requests(sample.observer, kind, n)
    case.equal("requests", metrics.value(f"{NAME}_count", interaction=kind), n)
    waited = metrics.value(f"{NAME}_sum", interaction=kind)
    case.at_least("time that they waited", waited, n * 1e-7)
    case.at_most("and took", waited + metrics.value("skyobserve_interaction_duration_seconds_sum", interaction=kind),
                 16 * took_s)


def not_asked(case):
    """Without requests there is nothing to wait, and no probe."""
    observer = case.observe("--interaction", "off", pids=[case.workload("blocked").pid])
    metrics = observer.scrape()
    case.equal("queue", metrics.value("skyobserve_probe_group_up", group="queue"), 0)
    case.equal("series", metrics.select(f"{NAME}_count"), [])


if __name__ == "__main__":
    sys.exit(lib.main([(case.__name__, case) for case in (goroutines, threads, load, not_asked)]))
