#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Time: CPU time, waits, reasons, switches, faults and memory, against the kernel's own account.

All threads of a workload sleep when the observer comes and when the last scrape is made, so the kernel's
counters in /proc stand still at both edges, and what the observer read from the scheduler must be equal to
them to the nanosecond. What only the workload or our stamps know is compared one-sided: a neighbour can add
to a sleep, never take from it. Every case also asks that all identities hold. No case is tried again.

Some kernels do not report every context switch (T8b). A spell whose end was not reported is missing in the
histogram, so spells are compared with `=` less the breaks of the chain in the same scrapes; those are the
machine's, and mostly 0.
"""

import sys

sys.dont_write_bytecode = True

import os
import re

import lib

NS = 1e-9
NS_PER_MS = 1000000


def ns(metrics, name, **labels):
    """Seconds as whole nanoseconds: the text has them all."""
    return round(metrics.sum(name, **labels) * 1e9)


def cpu_ns(metrics, **labels):
    return ns(metrics, "skyobserve_cpu_seconds_total", **labels)


def waited_ns(metrics, **labels):
    return sum(ns(metrics, "skyobserve_off_cpu_seconds_total", reason=reason, **labels)
               for reason in ("run_queue", "preempted"))


def switched(metrics, kind, **labels):
    return metrics.sum("skyobserve_context_switches_total", kind=kind, **labels)


def machine_steal_ns():
    """What the hypervisor took so far, of all CPUs: in steps of a tick of /proc."""
    return int(lib.read_proc("/proc/stat").split()[8]) * 1000 * NS_PER_MS // os.sysconf("SC_CLK_TCK")


def all_identities(case, metrics):
    case.wrong += lib.identities_wrong(metrics, lib.ALL_IDENTITIES)


def breaks(first, last):
    """Switches that the kernel did not report between two scrapes, on the whole machine."""
    name = "skyobserve_sched_chain_breaks_total"
    return last.value(name) - first.value(name)


def same_as_books(case, metrics, workload, of=None, **labels):
    """Scheduler's own numbers of living threads (of the second process, if @of is its pid): equal."""
    pid = of or workload.pid
    begin, end = workload.begin[pid], lib.books_of(pid)
    case.equal("CPU time, ns", cpu_ns(metrics, **labels), end.on_ns - begin.on_ns)
    case.equal("wait for a CPU, ns", waited_ns(metrics, **labels), end.run_delay_ns - begin.run_delay_ns)
    case.equal("voluntary switches", switched(metrics, "voluntary", **labels), end.voluntary - begin.voluntary)
    case.equal("involuntary switches", switched(metrics, "involuntary", **labels),
               end.involuntary - begin.involuntary)
    case.equal("page faults", metrics.sum("skyobserve_page_faults_total", **labels), end.faults - begin.faults)


def same_as_wall(case, first, last, threads):
    """on + waiting + blocked = wall x threads (I-8), with our own clock around it."""
    spent = [cpu_ns(m) + ns(m, "skyobserve_off_cpu_seconds_total") for m in (first, last)]
    switches = sum(switched(last, kind) for kind in ("voluntary", "involuntary"))
    # Scheduler's clock and our stamps part by a few us a switch (user/model/identities.c).
    blur_ns = 5000 * switches + 0.0005 * spent[1] + 20 * NS_PER_MS
    case.between("on + waiting + blocked, s", (spent[1] - spent[0]) * NS,
                 threads * (last.asked_s - first.there_s) - blur_ns * NS,
                 threads * (last.there_s - first.asked_s) + blur_ns * NS)


def observe(case, name, *options):
    """A workload and its observer, and the first scrape."""
    workload = case.workload(name, *options)
    observer = case.observe(pids=[workload.pid])
    return workload, observer, observer.scrape()


# ---- sleeping -------------------------------------------------------------------------------------------


def sleeps(call):
    """T4: ten sleeps are ten spells; none is shorter than asked, none longer than the call that it was in."""
    def run(case):
        sleep, observer, first = observe(case, "sleep", "--n", 10, "--ms", 100, "--call", call)
        truth = sleep.run()
        last = observer.scrape()
        blocked = ns(last, "skyobserve_off_cpu_seconds_total", reason="sleep")
        lost = breaks(first, last)
        case.between("spells", last.value("skyobserve_off_cpu_duration_seconds_count", reason="sleep"), 10 - lost, 10)
        case.between("asleep, ns", blocked, truth["min_blocked_ns"] * (10 - lost) / 10, truth["slept_ns"])
        case.between("the same by the histogram, ns",
                     ns(last, "skyobserve_off_cpu_duration_seconds_sum", reason="sleep"),
                     blocked * (10 - lost) / 10, blocked)
        short = last.value("skyobserve_off_cpu_duration_seconds_bucket", reason="sleep", le=str(2 ** 26 * NS))
        case.equal("spells under 67 ms", short, 0)
        calls = ns(last, "skyobserve_syscall_duration_seconds_sum", syscall=call)
        case.between("in the call, ns", calls, blocked, truth["slept_ns"])
        same_as_books(case, last, sleep)
        same_as_wall(case, first, last, threads=1)
        all_identities(case, last)
    return run


# ---- spinning -------------------------------------------------------------------------------------------


def shared_cpu(case):
    """T7: two spinners on one CPU; what one does not get it waits for. How they share is not asserted."""
    spin, observer, first = observe(case, "spin", "--threads", 2, "--cpu", os.cpu_count() - 1, "--wall",
                                    "--seconds", 2)
    stolen_ns = machine_steal_ns()
    truth = spin.run()
    stolen_ns = machine_steal_ns() - stolen_ns
    last = observer.scrape()
    same_as_books(case, last, spin)
    threads = truth["threads"]
    # The spinners' own windows are inside ours.
    case.at_least("CPU time, ns", cpu_ns(last), sum(t["thread_cpu_ns"] for t in threads))
    case.at_least("wait for a CPU, ns", waited_ns(last), sum(t["run_delay_ns"] for t in threads))
    case.at_least("wait for a CPU, ns: two want one", waited_ns(last), 2000 * NS_PER_MS * 0.95)
    for thread in threads:
        switches = thread["nvcsw"] + thread["nivcsw"]
        missing = thread["wall_ns"] - thread["on_ns"] - thread["run_delay_ns"]
        case.at_most("wall - on - wait of a spinner, ns", abs(missing),
                     20000 * switches + 0.001 * thread["wall_ns"] + 4 * NS_PER_MS + stolen_ns)
    same_as_wall(case, first, last, threads=2)
    all_identities(case, last)


def one_spinner(case):
    """T8: a second of CPU time by the thread's own clock is a second here."""
    spin, observer, first = observe(case, "spin", "--seconds", 1)
    truth = spin.run()
    last = observer.scrape()
    used = truth["threads"][0]["thread_cpu_ns"]
    case.between("CPU time, ns", cpu_ns(last), used, used + NS_PER_MS)
    same_as_books(case, last, spin)
    # Some twenty calls in a second.
    case.at_most("system part", ns(last, "skyobserve_cpu_seconds_total", mode="system"), 0.01 * cpu_ns(last))
    case.equal("modes", len(last.select("skyobserve_cpu_seconds_total")), 2)
    same_as_wall(case, first, last, threads=1)
    all_identities(case, last)


def calls_are_system_time(case):
    """A loop of calls spends its time in the system, by stamps at the border of each call."""
    calls, observer, _ = observe(case, "syscalls", "--batch", 300000)
    truth = calls.run()
    last = observer.scrape()
    system = ns(last, "skyobserve_cpu_seconds_total", mode="system")
    in_calls = ns(last, "skyobserve_syscall_duration_seconds_sum", syscall="getppid")
    case.at_least("system time, ns: some for each call", system, 300000 * 10)
    # The calls at the edges, whose entry or return was not seen, are in one of the two only.
    case.at_most("system time, ns", system, ns(last, "skyobserve_syscall_duration_seconds_sum") + NS_PER_MS)
    case.at_least("CPU time, ns", cpu_ns(last), truth["times"]["thread_cpu_ns"])
    case.at_least("time in getppid, ns", in_calls, 300000 * 10)
    case.equal("getppids", last.value("skyobserve_syscall_duration_seconds_count", syscall="getppid"), 300000)
    same_as_books(case, last, calls)
    all_identities(case, last)


def running_is_seen(case):
    """A thread that does not leave its CPU is charged meanwhile, at most a tick late."""
    spin, observer, _ = observe(case, "spin", "--ms", 500)
    spin.say()
    first = lib.poll("it to run", lambda: busy(observer, 0.05))
    second = lib.poll("it to run on", lambda: busy(observer, cpu_ns(first) * NS + 0.2))
    case.at_most("CPU time, s", (cpu_ns(second) - cpu_ns(first)) * NS, second.there_s - first.asked_s + 0.02)
    spin.take_truth()
    spin.settle()


def busy(observer, seconds):
    metrics = observer.scrape()
    return metrics if cpu_ns(metrics) * NS >= seconds else None


# ---- the chain of switches ------------------------------------------------------------------------------


def machine_switches():
    return int(re.search(r"^ctxt (\d+)$", lib.read_proc("/proc/stat"), re.M).group(1))


def chain(case):
    """T8b: reports what part of the machine's switches the kernel did not show; it never shows too many."""
    sleep, observer, _ = observe(case, "sleep", "--n", 1, "--ms", 2000)
    outer = machine_switches()
    begin = observer.scrape()
    inner = machine_switches()
    sleep.say()
    sleep.take_truth()
    inner = machine_switches() - inner
    end = observer.scrape()
    outer = machine_switches() - outer
    name = "skyobserve_sched_switches_checked_total"
    seen, lost = end.value(name) - begin.value(name), breaks(begin, end)
    print(f"# chain: {lost} breaks in {seen} switches; the kernel counted between {inner} and {outer}")
    case.between("switches seen", seen, 1, outer)
    # How many are lost is the machine's; each break stands for at least one.
    case.at_least("switches seen, of those that the kernel counted", seen, 0.5 * inner)
    case.at_most("seen and lost", seen + lost, outer)
    holds = end.value("skyobserve_sched_chain_breaks_total") <= end.value(name) / 1000
    case.equal("the gate says so", end.value("skyobserve_quality_ok", gate="chain"), int(holds))


# ---- threads --------------------------------------------------------------------------------------------


def short_threads(threads, ms, waves, *options):
    """T9: what threads spent that are gone is not lost."""
    def run(case):
        work = case.workload("threads", "--threads", threads, "--ms", ms, "--waves", waves)
        observer = case.observe(*options, pids=[work.pid])
        begin_ns = lib.process_cpu_ns(work.pid)
        truth = work.run()
        lib.poll("the last thread to be gone", lambda: len(lib.thread_ids(work.pid)) == 1)
        last, clock_ns = observer.scrape(), lib.process_cpu_ns(work.pid) - begin_ns
        born = threads * waves
        case.equal("threads born", truth["threads_born"], born)
        case.equal("clone", last.value("skyobserve_syscalls_total", syscall="clone"), born)
        case.equal("exit", last.value("skyobserve_syscalls_total", syscall="exit"), born)
        case.equal("getppid", last.value("skyobserve_syscalls_total", syscall="getppid"), born)
        case.equal("threads now", last.value("skyobserve_process_threads"), 1)
        # One whose last switch the kernel did not report has given its place back as well.
        case.equal("places of threads", last.value("skyobserve_bpf_map_entries", map="threads"), 1)
        # The kernel's sum leaves out how a thread goes once it is released; each spends a little there.
        case.between("CPU time, ns", cpu_ns(last), clock_ns, clock_ns + born * 100000)
        case.at_least("CPU time, ns", cpu_ns(last), truth["threads_cpu_ns"])
        all_identities(case, last)
    return run


# ---- memory ---------------------------------------------------------------------------------------------


def faults(case):
    """T15: ten thousand pages touched for the first time."""
    work, observer, _ = observe(case, "faults", "--n", 10000)
    truth = work.run()
    last = observer.scrape()
    case.between("page faults", last.value("skyobserve_page_faults_total"), truth["times"]["minflt"],
                 truth["times"]["minflt"] + 100)
    case.at_least("page faults", last.value("skyobserve_page_faults_total"), 10000)
    same_as_books(case, last, work)
    all_identities(case, last)


def resident(case):
    """T16: 64 MiB come, half of them go. The kernel keeps a batch of pages per CPU apart (HELP says so)."""
    mib = 1 << 20
    slack = 64 * 1024 + 2 * os.cpu_count() * max(32, 2 * os.cpu_count()) * os.sysconf("SC_PAGE_SIZE")
    work, observer, first = observe(case, "faults", "--rss", "--mib", 64)
    at = [first.value("skyobserve_resident_memory_bytes")]
    for _ in ("touched", "freed"):
        work.say()
        work.take_truth()
        lib.poll("faults to wait", lambda: lib.waits_for_us(work.pid))
        at.append(observer.scrape().value("skyobserve_resident_memory_bytes"))
        case.equal("the same by /proc", at[-1], lib.statm_resident_bytes(work.pid))
    case.between("growth, MiB", (at[1] - at[0]) / mib, 64 - slack / mib, 64 + slack / mib)
    case.between("shrinking, MiB", (at[1] - at[2]) / mib, 32 - slack / mib, 32 + slack / mib)


# ---- reasons --------------------------------------------------------------------------------------------


def check_reason(case, metrics, reason, kind, lost):
    """One kind of wait of which the number is known."""
    # The wait for the release is a spell in a pipe too; so is the wait for the end, but that is still open.
    want = kind["spells"] + (reason == "pipe")
    spells = metrics.value("skyobserve_off_cpu_duration_seconds_count", reason=reason)
    closed = ns(metrics, "skyobserve_off_cpu_duration_seconds_sum", reason=reason)
    spent = ns(metrics, "skyobserve_off_cpu_seconds_total", reason=reason)
    case.between(f"spells of {reason}", spells, want - lost, want)
    case.at_least(f"{reason}, ns", closed, kind["min_blocked_ns"] * (1 - lost / kind["spells"]))
    case.at_most(f"{reason} by its histogram, ns", closed, spent)
    if reason != "pipe":
        case.at_most(f"{reason}, ns", spent, kind["wall_ns"])
        case.true(f"{reason}: {spent} ns in all, {closed} in spells", lost or spent == closed)


def reasons(case):
    """Off the CPU by reason: exact numbers of spells, and no time without one."""
    work, observer, first = observe(case, "reasons", "--n", 5, "--ms", 20, "--dir", case.dir)
    truth = work.run()
    last = observer.scrape()
    lost = breaks(first, last)
    for reason, kind in truth["reasons"].items():
        if kind["exact"]:
            check_reason(case, last, reason, kind, lost)
    # What the machine makes of disk and cold pages is its own affair, but each switch has a reason.
    disk = [reason for reason, kind in truth["reasons"].items() if not kind["exact"]]
    spells = {reason: last.value("skyobserve_off_cpu_duration_seconds_count", reason=reason) for reason in disk}
    switches = sum(truth["reasons"][reason]["spells"] for reason in disk)
    print(f"# spells {spells}; the kernel counted {switches} switches")
    # A cold page of the workload itself may also be waited for between the phases: the kernel's total says so.
    exact = sum(kind["spells"] for kind in truth["reasons"].values() if kind["exact"])
    waits = 1  # for the end; into the one for the release it had switched before it was observed
    most = switched(last, "voluntary") - exact - waits
    case.between("spells of " + ", ".join(disk), sum(spells.values()), switches - lost, most)
    case.equal("other reasons", set(last.by("skyobserve_off_cpu_seconds_total", "reason")) - set(truth["reasons"]) -
               {"run_queue", "preempted"}, set())
    same_as_books(case, last, work)
    same_as_wall(case, first, last, threads=1)
    all_identities(case, last)


def all_the_time(case):
    """Four threads, two CPUs or one: on + waiting + blocked is the wall time of all four."""
    spin, observer, first = observe(case, "spin", "--threads", 4, "--ms", 150)
    spin.run()
    last = observer.scrape()
    same_as_books(case, last, spin)
    same_as_wall(case, first, last, threads=4)
    all_identities(case, last)


def pingpong_books(case):
    """Twenty thousand switches: each is charged, as the kernel counts them."""
    game = case.workload("pingpong", "--n", 5000, "--cpu", os.cpu_count() - 1)
    observer = case.observe("--label-pid", pids=game.pids)
    first = observer.scrape()
    truth = game.run()
    last = observer.scrape()
    for pid, side in zip(game.pids, truth["sides"]):
        same_as_books(case, last, game, of=pid, pid=str(pid))
        spells = last.value("skyobserve_off_cpu_duration_seconds_count", reason="pipe", pid=str(pid))
        # Each read waits once, the release's too; a writer may find the pipe's other end busy.
        case.at_least("spells in a pipe", spells, side["times"]["nvcsw"] - breaks(first, last) - 10)
    all_identities(case, last)


CASES = [
    ("T4_clock_nanosleep", sleeps("clock_nanosleep")),
    ("T4_nanosleep", sleeps("nanosleep")),
    ("T7_two_spinners_share", shared_cpu),
    ("T8_one_spinner", one_spinner),
    ("T8b_chain", chain),
    ("T9_threads", short_threads(8, 50, 1)),
    ("T9_waves", short_threads(2, 0, 10000, "--max-threads", 64)),
    ("T15_faults", faults),
    ("T16_resident_memory", resident),
    ("calls_are_system_time", calls_are_system_time),
    ("running_is_seen", running_is_seen),
    ("reasons", reasons),
    ("all_the_time", all_the_time),
    ("pingpong_books", pingpong_books),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
