#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts: what the observer says was done is what the workload knows it did, and with `=`.

Each workload runs alone, then each in its turn beside a neighbour that does the same things, then all at
once under one observer, by typed and by raw tracepoints: what leaks from one process into another shows as
a difference.

What the protocol of workload.h adds: the read that the release ended was entered before the observer came,
so it is no call of the observation; the write of the truth and the read that waits for the end are.
"""

import sys

sys.dont_write_bytecode = True

import collections

import lib

FSYNC_KEYS = [(call, "syscall") for call in ("fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "sync",
                                             "sync_write")] + \
             [(call, "io_uring") for call in ("fsync", "fdatasync", "sync_file_range")]

# name:    of the case
# argv:    workload and options; {dir} is a folder on disk
# extra:   calls that are under way when the truth was told, besides the final read
# bytes:   truth -> bytes read and written by the workload itself, or None if it does not know
# check:   what else must be true: function of (case, metrics, workload, labels)
# sides:   its second process is observed too, and has a tally of its own
Row = collections.namedtuple("Row", "name argv extra bytes check sides", defaults=({}, None, None, False))


def nothing_moved(truth):
    return 0, 0


def durable_writes(truth):
    """Workloads whose only bytes are one for each pwrite64."""
    return 0, truth["syscalls"].get("pwrite64", 0)


def check_twin(case, metrics, workload, labels):
    """T2: the twin that does nothing is seen to do nothing but the protocol."""
    case.equal("calls of the twin", metrics.by("skyobserve_syscalls_total", "syscall", **labels),
               {"read": 1, "write": 1})


def check_mixture(case, metrics, workload, labels):
    """T2 as it is written, besides the comparison with the truth."""
    calls = metrics.by("skyobserve_syscalls_total", "syscall", **labels)
    case.equal("getppid", calls["getppid"], 100000)
    case.equal("write without the protocol", calls["write"] - 1, 1000)
    case.equal("nr_510", calls["nr_510"], 3)
    case.equal("errors of nr_510", metrics.by("skyobserve_syscall_errors_total", "errno", syscall="nr_510",
                                              **labels), {"ENOSYS": 3})


def check_vdso(case, metrics, workload, labels):
    """T3: a million readings, and the few that the workload makes by a real call."""
    case.equal("readings", workload.truth["vdso_calls"], 1000000)
    case.at_most("clock_gettime", metrics.sum("skyobserve_syscalls_total", syscall="clock_gettime", **labels), 5)


def check_pingpong(case, metrics, workload, labels):
    """T5, one side: a read and a write for each round; a wait is no more than one switch."""
    rounds = workload.truth["rounds"]
    case.at_most("voluntary switches", metrics.sum("skyobserve_context_switches_total", kind="voluntary", **labels),
                 2 * rounds + 20)


def check_futex(case, metrics, workload, labels):
    """T6: wakes are exact, waits lie between those that were not refused and those that were made."""
    sides, rounds = workload.truth["sides"], workload.truth["rounds"]
    futexes = metrics.value("skyobserve_syscalls_total", syscall="futex", **labels)
    waits = sum(side["waits"] for side in sides)
    case.equal("wakes", [side["wakes"] for side in sides], [rounds, rounds])
    case.equal("futex calls", futexes, 2 * rounds + waits)  # one wait began before, one is under way
    case.at_most("waits that blocked", metrics.value("skyobserve_off_cpu_duration_seconds_count", reason="futex",
                                                     **labels), waits + 1)


def check_child(case, metrics, workload, labels):
    """T10 without --follow: the child's hundred fsyncs are not its parent's."""
    case.equal("fsyncs of the child, by its own count", workload.truth["child"]["fsyncs"], 100)
    case.equal("fsyncs", metrics.sum("skyobserve_fsyncs_total", **labels), 0)
    case.equal("processes", metrics.value("skyobserve_process_up", **labels), 1)


def check_signals(case, metrics, workload, labels):
    """T12; an rt_sigreturn is never an error, though its return value is anything."""
    calls = metrics.by("skyobserve_syscalls_total", "syscall", **labels)
    case.equal("tgkill", calls["tgkill"], 1000 + 10)
    case.equal("rt_sigreturn", calls["rt_sigreturn"], workload.truth["signals_handled"])
    case.equal("errors of rt_sigreturn", metrics.by("skyobserve_syscall_errors_total", "errno",
                                                    syscall="rt_sigreturn", **labels), {})


def check_sync_writes(case, metrics, workload, labels):
    """T13: no fsync, and the plain writes beside the durable ones are not durable."""
    case.equal("fsync calls", metrics.sum("skyobserve_syscalls_total", syscall="fsync", **labels), 0)
    case.equal("not durable, by its own count", workload.truth["not_durable"], {"write": 40, "pwritev2": 30})


def check_uring(case, metrics, workload, labels):
    """T14: requests without a system call of that name."""
    for call in ("fsync", "fdatasync"):
        case.equal(f"{call} calls", metrics.sum("skyobserve_syscalls_total", syscall=call, **labels), 0)
    case.equal("io_uring fsyncs", metrics.sum("skyobserve_fsyncs_total", via="io_uring", **labels), 100)


def check_foreign(case, metrics, workload, labels):
    """Foreign tables are never read with the native one, whatever the numbers would mean there."""
    for call in ("getpid", "writev", "sync", "nanosleep"):
        case.equal(f"native {call}", metrics.sum("skyobserve_syscalls_total", syscall=call, **labels), 0)


ROWS = [
    Row("T1_fsync", "fsync --n 1000 --other-errors 2 --dir {dir}", bytes=nothing_moved),
    Row("T1_fsync_dirty", "fsync --n 60 --dirty --no-sync --dir {dir}", bytes=durable_writes),
    Row("T2_noop_twin", "syscalls --noop", bytes=nothing_moved, check=check_twin),
    Row("T2_syscalls", "syscalls --n 100000 --writes 1000", check=check_mixture),
    Row("T3_vdso", "vdso --n 1000000", bytes=nothing_moved, check=check_vdso),
    Row("T5_pingpong", "pingpong --n 10000", check=check_pingpong, sides=True),
    Row("T6_futex", "pingpong --n 5000 --futex", extra={"futex": 1}, check=check_futex),
    Row("T10_fork_exec", "forkexec --n 100 --dir {dir}", check=check_child),
    Row("T10_vfork_exec", "forkexec --vfork --n 100 --dir {dir}", check=check_child),
    Row("T11_blocked", "blocked"),
    Row("T12_signals", "signals --n 1000 --eintr 10 --restarts 5", check=check_signals,
        bytes=lambda truth: (5, 5)),
    Row("T13_sync_writes", "syncwrite --dir {dir}", bytes=lambda truth: (0, 200 + 100 + 50 + 20 + 30 + 40),
        check=check_sync_writes),
    Row("T14_io_uring", "iouring --n 100 --errors 20 --dir {dir}", bytes=nothing_moved, check=check_uring),
    Row("foreign_i386", "compat32 --only i386", bytes=nothing_moved, check=check_foreign),
    Row("foreign_x32", "compat32 --only x32", bytes=nothing_moved, check=check_foreign),
]

# Numbers of the foreign tables (compat32.c), by which they are shown: names are the native table's alone.
FOREIGN = {("i386", "getpid"): ("nr_20", "compat"), ("i386", "nanosleep"): ("nr_162", "compat"),
           ("x32", "getppid"): ("nr_110", "x32")}


def wanted_calls(row, workload, tally, first):
    """Calls that the observer must have counted, by (name, abi). @first: of the process we talk to."""
    want = collections.Counter({(call, None): n for call, n in tally["syscalls"].items()})
    for call, n in tally["entered_before"].items():
        want[call, None] -= n
    for call, n in row.extra.items():
        want[call, None] += n
    want["read", None] += 1  # the one that waits now
    if first:
        want["read", None] += workload.truth["protocol"]["read"] - 1
        want["write", None] += workload.truth["protocol"]["write"]
    for abi, calls in workload.truth.get("foreign", {}).items():
        for call, n in calls.items():
            want[FOREIGN[abi, call]] += n
    return {key: n for key, n in want.items() if n}


def wanted_errors(tally, truth):
    want = collections.Counter({(call, errno, None): n for call, by in tally["errors"].items()
                                for errno, n in by.items()})
    for call, n in tally["interrupted"].items():
        # The return of a call whose entry was not seen counts as little as its entry.
        want[call, "restart", None] += n - tally["entered_before"].get(call, 0)
    for call, n in truth.get("restarted", {}).items():
        want[call, "restart", None] += n
    # Errors of foreign tables are not counted; above all they are none of a native call.
    return {key: n for key, n in want.items() if n}


def check_durable(case, metrics, truth, labels):
    """Every closed set is there, with 0 where nothing happened; each is counted once."""
    done, failed = dict.fromkeys(FSYNC_KEYS, 0), collections.Counter()
    for via, key in (("syscall", "durable"), ("io_uring", "durable_io_uring")):
        for call, how in truth.get(key, {}).items():
            done[call, via] += how["ok"]
            for errno, n in how["errors"].items():
                failed[call, via, errno] += n
    shown = {(have["call"], have["via"]): n for have, n in metrics.select("skyobserve_fsyncs_total", **labels)}
    case.equal("fsyncs", shown, done)
    case.same_table("failed fsyncs", metrics.by("skyobserve_fsync_errors_total", "call", "via", "errno", **labels),
                    failed)
    finished = collections.Counter(done)
    for (call, via, _), n in failed.items():
        finished[call, via] += n
    case.same_table("durations of fsyncs", metrics.by("skyobserve_fsync_duration_seconds_count", "call", "via",
                                                      **labels), finished)


def check_durations(case, metrics, tally, labels):
    """A call whose entry was seen has returned, is under way, or never returns."""
    calls = {have["syscall"]: n for have, n in metrics.select("skyobserve_syscalls_total", **labels)
             if "abi" not in have}
    finished = metrics.by("skyobserve_syscall_duration_seconds_count", "syscall", **labels)
    flying = metrics.by("skyobserve_syscalls_in_flight", "syscall", **labels)
    never = {call: tally["syscalls"].get(call, 0) for call in ("exit", "exit_group")}
    case.same_table("finished or in flight", {call: finished.get(call, 0) + flying.get(call, 0) + never.get(call, 0)
                                              for call in calls}, calls)


def check_workload(case, row, metrics, workload, name_of):
    """Everything about one workload. @name_of: pid -> labels that select its process."""
    tallies = {workload.pid: workload.truth}
    if row.sides:
        tallies = dict(zip(workload.pids, workload.truth["sides"]))
    for pid, tally in tallies.items():
        labels, first = name_of(pid), pid == workload.pid
        case.same_table(f"{row.name} calls", metrics.by("skyobserve_syscalls_total", "syscall", "abi", **labels),
                        wanted_calls(row, workload, tally, first))
        case.same_table(f"{row.name} errors",
                        metrics.by("skyobserve_syscall_errors_total", "syscall", "errno", "abi", **labels),
                        wanted_errors(tally, workload.truth))
        check_durable(case, metrics, workload.truth, labels)
        check_durations(case, metrics, tally, labels)
        if row.bytes:
            read, written = row.bytes(workload.truth)
            case.equal("bytes read", metrics.value("skyobserve_read_bytes_total", **labels), read)
            case.equal("bytes written", metrics.value("skyobserve_written_bytes_total", **labels),
                       written + workload.truth_bytes)
        if row.check:
            row.check(case, metrics, workload, labels)


def start(case, row):
    name, *options = row.argv.format(dir=case.dir).split()
    return case.workload(name, *options)


def start_noise(case):
    noise = case.workload("noise", "--ms", "2", "--dir", case.dir)
    noise.say()
    return noise


def end_noise(case, noise):
    """It did all the while what must not be seen elsewhere."""
    noise.say()
    noise.take_truth()
    case.at_least("rounds of the neighbour", noise.truth["rounds"], 10)


def by_pid(pid):
    return {"pid": str(pid)}


def alone(row):
    def run(case):
        workload = start(case, row)
        observer = case.observe("--label-pid", pids=workload.pids if row.sides else [workload.pid])
        workload.run()
        metrics = observer.scrape()
        check_workload(case, row, metrics, workload, by_pid)
        case.equal("processes", metrics.labels("process"), {workload.name})
    return run


def start_all(case):
    started = []
    for row in ROWS:
        try:
            started.append((row, start(case, row)))
        except lib.Skip:
            pass  # said by its own case
    return started


def observe_all(case, started, *options):
    return case.observe("--label-pid", *options,
                        pids=[pid for row, w in started for pid in (w.pids if row.sides else w.pids[:1])])


def each_beside_noise(case):
    """One after the other; when its turn is over, a workload's counts stand still."""
    started, noise = start_all(case), start_noise(case)
    observer = observe_all(case, started)
    for row, workload in started:
        workload.run()
        check_workload(case, row, observer.scrape(), workload, by_pid)
    end_noise(case, noise)
    metrics = observer.scrape()
    for row, workload in started:
        check_workload(case, row, metrics, workload, by_pid)


def all_at_once(*options, words):
    """All workloads at the same time, with the neighbour: each has its own counts and nothing else."""
    def run(case):
        started, noise = start_all(case), start_noise(case)
        observer = observe_all(case, started, *options)
        for _, workload in started:
            workload.say()
        for _, workload in started:
            workload.take_truth()
            lib.poll(f"{workload.name} to wait for its end", lambda: lib.waits_for_us(workload.pid))
            workload.settle()
        metrics = observer.scrape()
        end_noise(case, noise)
        for row, workload in started:
            check_workload(case, row, metrics, workload, by_pid)
        for group in ("sched", "syscalls", "fsync"):
            case.equal(f"group {group}", metrics.value("skyobserve_probe_group_up", group=group), 1)
            case.equal(f"how {group} is attached",
                       metrics.select("skyobserve_probe_group_info", group=group)[0][0]["reason"], words)
    return run


# ---- calls under way ------------------------------------------------------------------------------------

WAITS = {"read": 2, "futex": 1, "poll": 1, "nanosleep": 1, "accept4": 1, "epoll_wait": 1}


def calls_in_flight(case):
    """T11: calls entered before the observer came are in flight, with an age that is a lower bound, and
    when they return no duration is invented for them."""
    blocked = case.workload("blocked")
    observer = case.observe(pids=[blocked.pid])
    first, second = observer.scrape(), observer.scrape()
    case.equal("in flight", first.by("skyobserve_syscalls_in_flight", "syscall"), WAITS)
    case.equal("calls", first.by("skyobserve_syscalls_total", "syscall"), {})
    for call in WAITS:
        check_age(case, call, first, second)
        case.at_most(f"age of {call}", second.value("skyobserve_syscalls_in_flight_oldest_seconds", syscall=call),
                     second.there_s - observer.started_s)
    blocked.run()
    # A thread that was joined may still be on its way out: in its last call, exit, and listed by the kernel.
    last = lib.poll("the threads to be gone", lambda: (
        lambda m: m if m.value("skyobserve_process_threads") == 1 else None)(observer.scrape()))
    finished = last.by("skyobserve_syscall_duration_seconds_count", "syscall")
    for call in ("poll", "nanosleep", "accept4", "epoll_wait"):
        case.equal(f"durations of {call}", finished.get(call, 0), 0)
    case.equal("in flight at the end", last.by("skyobserve_syscalls_in_flight", "syscall"), {"read": 1})


def check_age(case, call, first, second):
    """A call under way grows older exactly as the clock goes: between the scrapes' edges."""
    name = "skyobserve_syscalls_in_flight_oldest_seconds"
    grown = second.value(name, syscall=call) - first.value(name, syscall=call)
    case.between(f"growth of the age of {call}", grown, second.asked_s - first.there_s,
                 second.there_s - first.asked_s)


def long_call_is_seen(case):
    """A call that blocks is seen while it blocks: in flight, with its age, and its time off the CPU."""
    sleep = case.workload("sleep", "--n", "1", "--ms", "700")
    observer = case.observe(pids=[sleep.pid])
    released_s = lib.time.monotonic()
    sleep.say()
    first = lib.poll("the sleep to be in flight", lambda: flying(observer, "clock_nanosleep"))
    second = observer.scrape()
    case.true("the sleep ended too early for this test", second.select("skyobserve_syscalls_in_flight",
                                                                       syscall="clock_nanosleep"))
    check_age(case, "clock_nanosleep", first, second)
    case.at_most("age", second.value("skyobserve_syscalls_in_flight_oldest_seconds", syscall="clock_nanosleep"),
                 second.there_s - released_s)
    case.equal("entered", second.value("skyobserve_syscalls_total", syscall="clock_nanosleep"), 1)
    slept = [m.value("skyobserve_off_cpu_seconds_total", reason="sleep") for m in (first, second)]
    case.between("growth of the time asleep", slept[1] - slept[0], second.asked_s - first.there_s,
                 second.there_s - first.asked_s)
    case.equal("finished spells", second.value("skyobserve_off_cpu_duration_seconds_count", reason="sleep"), 0)
    sleep.take_truth()


def threads_without_the_scheduler(case):
    """Where nobody looks at switches, the end of a thread is its freeing: its place is used again."""
    work = case.workload("threads", "--threads", 2, "--ms", 0, "--waves", 2000)
    observer = case.observe("--groups", "process,syscalls", "--max-threads", 64, pids=[work.pid])
    work.run()
    last = lib.poll("places to be given back", lambda: (
        lambda m: m if m.value("skyobserve_bpf_map_entries", map="threads") == 1 else None)(observer.scrape()))
    for call in ("clone", "getppid", "exit"):
        case.equal(call, last.value("skyobserve_syscalls_total", syscall=call), 4000)
    case.equal("lost", last.sum("skyobserve_dropped_events_total"), 0)


def flying(observer, call):
    metrics = observer.scrape()
    return metrics if metrics.select("skyobserve_syscalls_in_flight", syscall=call) else None


CASES = [(row.name, alone(row)) for row in ROWS] + [
            ("each_beside_noise", each_beside_noise),
            ("all_at_once_typed", all_at_once(words="typed tracepoint")),
            ("all_at_once_raw", all_at_once("--raw-tracepoints", words="raw tracepoint")),
            ("calls_in_flight", calls_in_flight),
            ("long_call_is_seen", long_call_is_seen),
            ("threads_without_the_scheduler", threads_without_the_scheduler),
        ]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
