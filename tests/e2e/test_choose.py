#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is observed: children, commands, executables, control groups, the whole machine; and bounds."""

import sys

sys.dont_write_bytecode = True

import os
import shutil
import signal

import lib

STORM = 300
CROWD = 120


def fsyncs(metrics, **labels):
    return metrics.sum("skyobserve_fsyncs_total", call="fsync", **labels)


def calls(metrics, name, **labels):
    return metrics.sum("skyobserve_syscalls_total", syscall=name, **labels)


def own_copy(case, program):
    path = case.own_program("fsync")
    shutil.copy(shutil.which(program), path)
    return path


def end_with_sleepers(observer):
    """The command ends when the observer is told to; its children go on, sleep, and are ended here."""
    sleepers = [int(pid) for pid in filter(str.isdigit, os.listdir("/proc"))
                if lib.read_proc(f"/proc/{pid}/cmdline") in (b"sleep\0003600\0", "sleep\0003600\0")]
    observer.stop(signal.SIGTERM, 128 + signal.SIGTERM)
    for pid in sleepers:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # it was the command


def children_are_followed(case):
    """T10: with --follow every fsync of a child is counted, under the child's name; without, none."""
    for follow, want in ((["--follow"], 100), ([], 0)):
        workload = case.workload("forkexec", "--n", 100)
        observer = case.observe(*follow, pids=[workload.pid])
        truth = workload.run()
        metrics = observer.scrape()
        case.equal(f"fsyncs of the child with {follow}", fsyncs(metrics), want)
        case.equal("the truth", truth["child"]["fsyncs"], 100)
        case.equal("identities", lib.identities_wrong(metrics), [])
        observer.stop()


def fork_storm(case):
    """Hundreds of processes that live for a moment: each is counted, none keeps a place."""
    program = own_copy(case, "sync")
    script = f"i=0; while [ $i -lt {STORM} ]; do {program} .; i=$((i + 1)); done; exec sleep 3600"
    observer = case.observe("--follow", "--", "sh", "-c", script)
    metrics = lib.poll("the storm to be over", lambda: (
        lambda m: m if m.sum("skyobserve_process_info", comm="sleep") and
        m.sum("skyobserve_process_up") == 1 else None)(observer.scrape()), seconds=60)
    # One that is seen before its exec goes by the name of the shell.
    case.equal("processes", metrics.sum("skyobserve_process_incarnations_total"), STORM + 1)
    case.equal("fsyncs", fsyncs(metrics), STORM)
    case.at_most("places in use", metrics.value("skyobserve_bpf_map_entries", map="processes"), 5)
    case.equal("drops", metrics.sum("skyobserve_dropped_events_total"), 0)
    end_with_sleepers(observer)


def a_command_from_its_first_instruction(case):
    """One exec, and everything after it."""
    program = own_copy(case, "sleep")
    observer = case.observe("--", program, "1000")
    name = os.path.basename(program)
    metrics = lib.poll("it to sleep", lambda: (
        lambda m: m if m.sum("skyobserve_syscalls_in_flight", syscall="clock_nanosleep") else None)(observer.scrape()))
    case.equal("execs", calls(metrics, "execve", process=name), 1)
    case.at_least("openat of its libraries", calls(metrics, "openat", process=name), 1)
    case.equal("identities", lib.identities_wrong(metrics), [])
    observer.stop(signal.SIGTERM, 128 + signal.SIGTERM)


def executables(case):
    """--exe: those that run the file now, and those that will."""
    program = case.own_program("syscalls")
    here = case.workload("syscalls", "--n", 30, program=program)
    observer = case.observe("--exe", program, "--interval", 1)
    later = case.workload("syscalls", "--n", 40, program=program)
    name = os.path.basename(program)
    lib.poll("both to be observed", lambda: observer.scrape().sum("skyobserve_process_up", process=name) == 2)
    here.run()
    later.run()
    case.equal("getppid", calls(observer.scrape(), "getppid", process=name), 70)


def restarts(case):
    """A target that is started again is picked up, and no counter falls."""
    program = case.own_program("syscalls")
    name = os.path.basename(program)
    observer = case.observe("--comm", name, "--interval", 1)
    for i in range(1, 4):
        workload = case.workload("syscalls", "--n", 100, program=program)
        lib.poll("it to be observed", lambda: observer.scrape().sum("skyobserve_process_up", process=name) == 1)
        workload.run()
        workload.finish()
        metrics = lib.poll("its end to be seen", lambda: (
            lambda m: m if m.sum("skyobserve_process_up", process=name) == 0 else None)(observer.scrape()))
        case.equal("getppid", calls(metrics, "getppid", process=name), 100 * i)
        case.equal("incarnations", metrics.sum("skyobserve_process_incarnations_total", process=name), i)


def beyond_the_bound(case):
    """More processes than --max-processes: the rest is `other`, and the sums are right."""
    program = own_copy(case, "dd")
    out = case.path("out")
    one = f"{program} if=/dev/zero of={out}-$i bs=1 count=1 conv=fsync 2>/dev/null; exec sleep 3600"
    script = f"i=0; while [ $i -lt {CROWD} ]; do sh -c 'i='$i'; {one}' & i=$((i + 1)); done; wait"
    observer = case.observe("--follow", "--max-processes", 80, "--", "sh", "-c", script)
    metrics = lib.poll("the crowd to be there", lambda: (
        lambda m: m if fsyncs(m) >= CROWD and m.sum("skyobserve_process_up") and
        m.sum("skyobserve_syscalls_in_flight", syscall="clock_nanosleep") >= CROWD else None)(observer.scrape()),
        seconds=60)
    case.equal("fsyncs", fsyncs(metrics), CROWD)
    case.true("nobody is in `other`", "other" in metrics.labels("process"))
    case.equal("drops", metrics.sum("skyobserve_dropped_events_total"), 0)
    case.at_most("places", metrics.value("skyobserve_bpf_map_entries", map="processes"), 81)
    end_with_sleepers(observer)


def control_groups(case):
    """--cgroup: its processes, also those that come later."""
    roots = [p for p in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup")
             if os.path.exists(f"{p}/cgroup.procs")]
    folder = f"{roots[0]}/skyobserve-{os.getpid()}" if roots else ""
    try:
        os.mkdir(folder)
    except OSError as err:
        raise lib.Skip(f"no control group can be made: {err}") from err
    workload = case.workload("syscalls", "--n", 60)
    try:
        observer = case.observe("--cgroup", folder, "--interval", 1)
        with open(f"{folder}/cgroup.procs", "w", encoding="ascii") as f:
            f.write(str(workload.pid))
        lib.poll("it to be observed", lambda: observer.scrape().sum("skyobserve_process_up") == 1)
        workload.run()
        case.equal("getppid", calls(observer.scrape(), "getppid"), 60)
        observer.stop()
    finally:
        workload.kill()
        lib.poll("the group to be empty", lambda: not lib.read_proc(f"{folder}/cgroup.procs").strip())
        os.rmdir(folder)


def the_whole_machine(case):
    """--all: programs that run and programs that come, each with its own counts, and nothing lost."""
    here = case.own_program("fsync")
    later = case.own_program("fsync")
    first = case.workload("fsync", "--n", 50, program=here)
    observer = case.observe("--all")
    second = case.workload("fsync", "--n", 70, program=later)
    first.run()
    second.run()
    metrics = observer.scrape()
    case.equal("fsyncs of the first", fsyncs(metrics, process=os.path.basename(here)), 50)
    case.equal("fsyncs of the second", fsyncs(metrics, process=os.path.basename(later)), 70)
    case.equal("drops", metrics.sum("skyobserve_dropped_events_total"), 0)
    case.true("per-call histograms of the whole machine", not metrics.select("skyobserve_syscall_duration_seconds"))


CASES = [
    ("children_are_followed", children_are_followed),
    ("fork_storm", fork_storm),
    ("a_command_from_its_first_instruction", a_command_from_its_first_instruction),
    ("executables", executables),
    ("restarts", restarts),
    ("beyond_the_bound", beyond_the_bound),
    ("control_groups", control_groups),
    ("the_whole_machine", the_whole_machine),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
