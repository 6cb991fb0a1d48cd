#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What is observed: children, commands, executables, control groups, the whole machine; and bounds."""

import sys

sys.dont_write_bytecode = True

import os
import shutil
import signal
import subprocess

import lib

STORM = 300
CROWD = 120
SHORT = 200


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
    name = os.path.basename(program)
    case.equal("processes", metrics.sum("skyobserve_process_incarnations_total"), STORM + 1)
    # Each goes by what it executed, however early it was seen.
    case.equal("processes of the name", metrics.sum("skyobserve_process_incarnations_total", process=name), STORM)
    case.equal("fsyncs", fsyncs(metrics, process=name), STORM)
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


def run_short(case, program, n, calls_each):
    """Processes one after the other, each for a moment."""
    script = (f'i=0; while [ $i -lt {n} ]; do echo go | "{program}" --n {calls_each} >/dev/null; '
              f'i=$((i + 1)); done')
    shell = case.popen(["sh", "-c", script])
    case.equal("status of the shell", shell.wait(60), 0)


def short_lives(option):
    """--comm, --exe: a process that lives shorter than any look is taken in at its exec, and counted."""
    def run(case):
        program = case.own_program("syscalls")
        name = os.path.basename(program)
        observer = case.observe(option, program if option == "--exe" else name)
        run_short(case, program, SHORT, 7)
        metrics = lib.poll("the last one to end", lambda: (
            lambda m: m if m.sum("skyobserve_process_up") == 0 else None)(observer.scrape()))
        case.equal("getppid", calls(metrics, "getppid", process=name), 7 * SHORT)
        case.equal("names", metrics.labels("process"), {name})
        case.equal("exit_group", calls(metrics, "exit_group"), SHORT)
        case.equal("incarnations", metrics.sum("skyobserve_process_incarnations_total"), SHORT)
        case.equal("drops", metrics.sum("skyobserve_dropped_events_total"), 0)
        case.equal("identities", lib.identities_wrong(metrics), [])
    return run


def exit_with_short_target(case):
    """--exit-with-target ends also when the target came and went between two looks."""
    program = case.own_program("syscalls")
    observer = case.observe("--comm", os.path.basename(program), "--exit-with-target")
    run_short(case, program, 1, 7)
    observer.wait_end(lib.STATUS_GONE)


def takes_the_name(case):
    """--comm: a process that calls itself so is observed from that moment."""
    observer = case.observe("--comm", "a name longer t", "--interval", 1)
    life = case.workload("life", "--mode", "prctl-rename", "--name", "long", "--n", 10)
    life.run()
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid"), 10)
    case.equal("drops", metrics.sum("skyobserve_dropped_events_total"), 0)


def file_replaced(case):
    """--exe: a file that is replaced, as by an update, is the file that is wanted from then on."""
    program = case.own_program("syscalls")
    name = os.path.basename(program)
    observer = case.observe("--exe", program)
    shutil.copy(program, program + ".new")
    os.rename(program + ".new", program)
    observer.scrape()  # it looks at the file, as it does 40 times a second
    seen = case.workload("syscalls", "--n", 5, program=program)
    lib.poll("the new one to be observed", lambda: observer.scrape().sum("skyobserve_process_up", process=name) == 1)
    seen.run()
    run_short(case, program, 20, 7)
    case.equal("getppid", calls(observer.scrape(), "getppid", process=name), 5 + 20 * 7)


def refused(case, what, *options, status=64):
    observer = case.observe(*options, wait=False)
    case.equal(f"status with {options}", observer.process.wait(lib.DEADLINE_S), status)
    observer.stopped = True
    case.true(f"{what!r} is not in {observer.stderr()!r}", what in observer.stderr())


def words_that_mean_nobody(case):
    """What nobody can be called is refused; a file that is not there is said, and waited for."""
    refused(case, "the value is empty", "--comm", "")
    refused(case, "the value is empty", "--exe", "")
    refused(case, "not a file that can be executed", "--exe", case.dir)
    refused(case, "at most 16", *(word for i in range(17) for word in ("--comm", f"c{i}")))
    program = case.own_program("syscalls")
    os.rename(program, program + ".away")
    observer = case.observe("--exe", program)
    case.true("it does not say that there is no such file", f"--exe {program}: No such file" in observer.stderr())
    os.rename(program + ".away", program)
    observer.scrape()
    later = case.workload("syscalls", "--n", 5, program=program)
    lib.poll("it to be observed", lambda: observer.scrape().sum("skyobserve_process_up") == 1)
    later.run()
    case.equal("getppid", calls(observer.scrape(), "getppid"), 5)


def long_name(case):
    """--comm: the kernel keeps 15 bytes of a name; so many are compared, and that is said."""
    program = case.path("a-name-of-more-than-15-bytes")
    shutil.copy(lib.WORKLOADS / "syscalls", program)
    observer = case.observe("--comm", os.path.basename(program))
    case.true("no note", "observing whatever is called a-name-of-more-\n" in observer.stderr())
    run_short(case, program, 3, 7)
    case.equal("getppid", calls(observer.scrape(), "getppid", process="a-name-of-more-"), 21)


def hidden_process(case):
    """A process that lives is not said to have ended, even where the kernel shows it to no BPF program."""
    observer = case.observe("--pid", 1, wait=False)
    lib.poll("a beginning or an end", lambda: "metrics at" in observer.stderr() or observer.process.poll() is not None)
    if observer.process.poll() is None:
        observer.wait_ready()
        case.equal("processes", observer.scrape().sum("skyobserve_process_up"), 1)
        return
    observer.stopped = True
    case.equal("status", observer.process.poll(), 69)
    case.true(f"no reason in {observer.stderr()}", "process 1 lives, but this kernel hides it" in observer.stderr())


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


def links_to(case, program, n):
    """That program under n names; returns the folder of them, d0 and so on."""
    folder = case.path("names")
    os.mkdir(folder)
    for i in range(n):
        os.symlink(shutil.which(program), f"{folder}/d{i}")
    return folder


def beyond_the_bound(case):
    """More names than --max-processes: the rest is `other`, and the sums are right."""
    folder = links_to(case, "dd", CROWD)
    out = case.path("out")
    script = f"""i=0; while [ $i -lt {CROWD} ]; do
        {folder}/d$i if=/dev/zero of={out} bs=1 count=1 conv=fsync 2>/dev/null; i=$((i + 1)); done; exec sleep 3600"""
    observer = case.observe("--follow", "--max-processes", 8, "--", "sh", "-c", script)
    observer.forgets = True
    metrics = lib.poll("the crowd to be through", lambda: (
        lambda m: m if fsyncs(m) >= CROWD else None)(observer.scrape()), seconds=60)
    case.equal("fsyncs", fsyncs(metrics), CROWD)
    case.true("nobody is in `other`", fsyncs(metrics, process="other") > 0)
    case.equal("drops", metrics.sum("skyobserve_dropped_events_total"), 0)
    case.at_most("names", len(metrics.labels("process")), 8 + 1)
    end_with_sleepers(observer)


def the_dearest_are_named(case):
    """A name that comes when there is no room for it gets its series when it has used more than others; what it
    did before stays in `other`, and with its end nothing goes."""
    busy = case.own_program("spin")
    name = os.path.basename(busy)
    observer = case.observe("--all", "--max-processes", 2)
    observer.forgets = True
    poor = [case.workload("fsync", "--n", 3, program=case.own_program("fsync")) for _ in range(4)]
    for workload in poor:
        workload.run()
    before = observer.scrape()
    case.at_most("names", len(before.labels("process") - {"other"}), 2)
    spin = case.workload("spin", "--ms", 1500, program=busy)
    spin.say()
    after = lib.poll("it to have a name", lambda: (
        lambda m: m if m.select("skyobserve_process_up", process=name) else None)(observer.scrape()))
    spin.take_truth()
    spin.finish()
    used = lambda m: m.sum("skyobserve_cpu_seconds_total", process=name)
    end = lib.poll("its end", lambda: (
        lambda m: m if m.sum("skyobserve_process_up", process=name) == 0 else None)(observer.scrape()))
    case.at_least("CPU time of its own", used(end), used(after))
    case.equal("identities that do not hold", [have for have, ok in end.select("skyobserve_identity_ok") if not ok], [])
    case.equal("drops", end.sum("skyobserve_dropped_events_total"), 0)


def beyond_all_places(case):
    """Processes that find no place (1,024 with few names) are counted in `other`: those that run when observing
    begins, and those that come."""
    def crowd(n):
        script = f"i=0; while [ $i -lt {n} ]; do sleep 3600 & i=$((i + 1)); done; echo there; wait"
        shell = case.popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
        case.equal("the crowd", lib.Lines(shell.stdout, "the crowd").next(60), b"there")
        return shell

    crowds = [crowd(1100)]
    observer = case.observe("--all", "--max-processes", 2)
    observer.forgets = True
    threads = lambda: observer.scrape().sum("skyobserve_process_threads")
    case.at_least("threads", threads(), 1100)
    crowds.append(crowd(100))
    lib.poll("all of them", lambda: threads() >= 1200)
    metrics = observer.scrape()
    case.true("nobody is in `other`", metrics.sum("skyobserve_process_threads", process="other") >= 1200 - 1024)
    case.equal("drops", metrics.sum("skyobserve_dropped_events_total"), 0)
    for shell in crowds:
        os.killpg(shell.pid, signal.SIGKILL)
    lib.poll("their end", lambda: threads() < 1000)
    case.equal("drops at the end", observer.scrape().sum("skyobserve_dropped_events_total"), 0)


def control_groups(case):
    """--cgroup: its processes, also those that come later; of version 1 and 2, whichever this machine has."""
    roots = [p for p in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup/pids", "/sys/fs/cgroup")
             if os.path.exists(f"{p}/cgroup.procs")]
    if not roots:
        raise lib.Skip("this machine has no control groups")
    for root in roots:
        one_control_group(case, f"{root}/skyobserve-{os.getpid()}")


def one_control_group(case, folder):
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


def calls_by_name(metrics, **labels):
    return {have.get("syscall"): n for have, n in metrics.select("skyobserve_syscalls_total", **labels) if n}


def all_syscalls(case):
    """--all-syscalls: every process has its calls by name, the same numbers as a target has; also one that comes, and
    one that has ended; and nothing else of what targets have."""
    here, later = case.own_program("syscalls"), case.own_program("syscalls")
    first = case.workload("syscalls", "--n", 300, program=here)
    machine = case.observe("--all", "--all-syscalls")
    single = case.observe(pids=[first.pid])
    first.run()
    second = case.workload("syscalls", "--n", 500, program=later)
    second.run()
    metrics, ours = machine.scrape(), os.path.basename(here)
    want = calls_by_name(single.scrape())
    case.equal("getppid of a target", want.get("getppid"), 300)
    case.equal("calls by name", calls_by_name(metrics, process=ours), want)
    case.equal("getppid of the second", calls(metrics, "getppid", process=os.path.basename(later)), 500)
    case.equal("calls without a name", [have for have, _ in metrics.select("skyobserve_syscalls_total")
                                        if "syscall" not in have], [])
    case.equal("errors and durations", (metrics.select("skyobserve_syscall_errors_total"),
                                        metrics.select("skyobserve_syscall_duration_seconds")), ([], []))
    case.equal("drops", metrics.sum("skyobserve_dropped_events_total"), 0)
    case.equal("identities that do not hold", [have for have, ok in metrics.select("skyobserve_identity_ok") if not ok], [])
    second.finish()
    ended = lib.poll("its end", lambda: (
        lambda m: m if not m.sum("skyobserve_process_up", process=os.path.basename(later)) else None)(machine.scrape()))
    case.equal("getppid of one that ended", calls(ended, "getppid", process=os.path.basename(later)), 500)


CASES = [
    ("children_are_followed", children_are_followed),
    ("fork_storm", fork_storm),
    ("a_command_from_its_first_instruction", a_command_from_its_first_instruction),
    ("executables", executables),
    ("short_lives_by_comm", short_lives("--comm")),
    ("short_lives_by_exe", short_lives("--exe")),
    ("exit_with_short_target", exit_with_short_target),
    ("takes_the_name", takes_the_name),
    ("file_replaced", file_replaced),
    ("words_that_mean_nobody", words_that_mean_nobody),
    ("long_name", long_name),
    ("hidden_process", hidden_process),
    ("restarts", restarts),
    ("beyond_the_bound", beyond_the_bound),
    ("the_dearest_are_named", the_dearest_are_named),
    ("beyond_all_places", beyond_all_places),
    ("control_groups", control_groups),
    ("the_whole_machine", the_whole_machine),
    ("all_syscalls", all_syscalls),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
