#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An observer that runs for long beside storms: nothing leaks, nothing drifts, no counter falls.

SOAK_SECONDS is how long (default 45; `make soak`: 20 minutes). For all of it there are storms of short-lived
processes, a target that is started again and again, three clients that scrape, clients that are slow, broken or
gone in the middle, and SIGHUP. Then everything rests, and the books must close and the counts be those of the target.
"""

import sys
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import threading
import time

import lib

SECONDS = int(os.environ.get("SOAK_SECONDS", "45"))
CALLS = 300  # getppid of each life of the target
MIB = 1 << 20
# What the allocator keeps of the largest scrape differs from one to the next.
MEMORY_SLACK = 6 * MIB


class Load:
    """A thread that does one thing over and over until it is told to stop."""

    def __init__(self, case, turn, pause_s=0.0):
        self.case, self.turn, self.pause_s = case, turn, pause_s
        self.turns, self.end = 0, threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.end.is_set():
            try:
                self.turn()
            except Exception as err:  # pylint: disable=broad-except
                self.case.note(f"{self.turn.__name__}: {type(err).__name__}: {err}")
                return
            self.turns += 1
            self.end.wait(self.pause_s)

    def stop(self):
        self.end.set()
        self.thread.join(lib.DEADLINE_S)
        self.case.true(f"{self.turn.__name__} does not end", not self.thread.is_alive())
        self.case.at_least(f"turns of {self.turn.__name__}", self.turns, 1)


def fork_storm():
    """A hundred processes that live for a moment, each a program of its own."""
    subprocess.run(["sh", "-c", "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i + 1)); done"], check=True,
                   timeout=lib.DEADLINE_S)


def burst():
    """Fifty at once."""
    subprocess.run(["sh", "-c", "i=0; while [ $i -lt 50 ]; do sleep 0.1 & i=$((i + 1)); done; wait"], check=True,
                   timeout=lib.DEADLINE_S)


def scraper(observers):
    kinds = itertools.cycle([lib.TEXT_TYPE, lib.OPENMETRICS_TYPE])

    def client():
        for observer in observers:
            answer = observer.fetch(headers={"Accept": next(kinds)})
            if answer.status not in (200, 503):  # 503: too many at once
                raise lib.Failed(f"status {answer.status}")
    return client


def bad_client(observers):
    """Connections that ask too slowly, ask for nonsense, or go in the middle of the answer."""
    held = []

    def nuisance():
        for observer in observers:
            host, _, port = observer.address.rpartition(":")
            for text in (b"GET /metr", b"\0\xff nonsense\r\n\r\n", b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"):
                client = socket.create_connection((host, int(port)), lib.DEADLINE_S)
                with contextlib.suppress(OSError):
                    client.sendall(text)
                held.append(client)
        while len(held) > 12:
            held.pop(0).close()
    return nuisance, held


def restarts(case, observer, program, lives):
    def restart():
        workload = lib.Workload("syscalls", "--n", CALLS, cwd=case.dir, program=program)
        try:
            workload.wait_ready()
            workload.run()
            workload.finish()
            lives.append(workload.pid)
        finally:
            workload.kill()
    return restart


def hang_up(observers):
    def sighup():
        for observer in observers:
            observer.process.send_signal(signal.SIGHUP)
    return sighup


def held_by(observer):
    """Open files and resident bytes of an observer."""
    return len(os.listdir(f"/proc/{observer.pid}/fd")), lib.statm_resident_bytes(observer.pid)


def watch(observers, seconds):
    """Scrape for so long, which checks what must always hold. The most that each held meanwhile."""
    end = time.monotonic() + seconds
    most = {observer: (0, 0) for observer in observers}
    while time.monotonic() < end:
        for observer in observers:
            observer.scrape()
            most[observer] = tuple(map(max, most[observer], held_by(observer)))
        time.sleep(0.2)
    return most


def all_hold(observer):
    wrong = [have for have, ok in observer.scrape().select("skyobserve_identity_ok") if ok != 1]
    return not wrong


def soak(case):
    program = case.own_program("syscalls")
    name = os.path.basename(program)
    machine = case.observe("--all", "--max-processes", 32)
    machine.forgets = True
    target = case.observe("--comm", name)
    observers, lives = [machine, target], []
    nuisance, held = bad_client(observers)
    loads = [Load(case, fork_storm), Load(case, burst, 1), Load(case, restarts(case, target, program, lives)),
             *(Load(case, scraper(observers), 0.3) for _ in range(3)), Load(case, nuisance, 0.5),
             Load(case, hang_up(observers), 1)]
    early = watch(observers, SECONDS / 3)
    late = watch(observers, SECONDS * 2 / 3)
    for load in loads:
        load.stop()
    for client in held:
        client.close()
    lib.poll("the machine's books to close", lambda: all_hold(machine))
    lib.poll("the target's books to close", lambda: all_hold(target))
    metrics = target.scrape()
    case.equal("getppid", metrics.sum("skyobserve_syscalls_total", syscall="getppid", process=name), CALLS * len(lives))
    case.equal("lives", metrics.sum("skyobserve_process_incarnations_total", process=name), len(lives))
    case.at_least("processes that came and went",
                  machine.scrape().sum("skyobserve_process_incarnations_total"), 100 * loads[0].turns)
    for observer in observers:
        case.at_most("files that are open", late[observer][0], early[observer][0] + 16)
        case.at_most("resident MiB", late[observer][1] / MIB, (early[observer][1] + MEMORY_SLACK) / MIB)
    for observer in observers:
        lib.poll("connections to be closed", lambda: held_by(observer)[0] <= early[observer][0])


def pressure(case):
    """Fewer places than there are threads: what is lost is counted and said, and everything goes on."""
    observer = case.observe("--all", "--max-threads", 8)
    loads = [Load(case, fork_storm), Load(case, scraper([observer]), 0.1)]
    for _ in range(30):
        metrics = observer.scrape_once(False)
    for load in loads:
        load.stop()
    case.at_least("losses", metrics.value("skyobserve_dropped_events_total", reason="threads_full"), 1)
    case.equal("gate", metrics.value("skyobserve_quality_ok", gate="drops"), 0)
    case.at_most("threads", metrics.value("skyobserve_bpf_map_entries", map="threads"), 8)


CASES = [
    ("soak", soak),
    ("pressure", pressure),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
