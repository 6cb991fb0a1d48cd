#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Processes that end, execute, rename, come later, share a name, or have a name that breaks things."""

import sys

sys.dont_write_bytecode = True

import json
import os
import re
import shutil
import signal
import subprocess
import threading

import lib

WEIRD_NAMES = ("quotes", "newline", "backslash", "utf8", "cut", "empty", "braces", "long")


def label_of(raw):
    """How the bytes of a name appear: UTF-8, with U+FFFD for what is broken and for control bytes."""
    return re.sub(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", "\ufffd", raw.decode("utf-8", "replace"))


def calls(metrics, name, **labels):
    return metrics.sum("skyobserve_syscalls_total", syscall=name, **labels)


def ended(observer, **labels):
    """A scrape, once the observer knows that all processes of the name have ended."""
    def look():
        metrics = observer.scrape()
        return metrics if metrics.sum("skyobserve_process_up", **labels) == 0 else None
    return lib.poll("process_up to be 0", look)


def let_end(workload):
    """Let a workload end; returns its status and the CPU time of its whole life, ns, by the kernel."""
    workload.process.stdin.close()
    _, status, usage = os.wait4(workload.pid, 0)
    workload.process.returncode = os.waitstatus_to_exitcode(status)
    return workload.process.returncode, round((usage.ru_utime + usage.ru_stime) * 1e6) * 1000


def stand_still(case, before, after):
    """No counter of an observed process moved between two scrapes, nor is there a new one."""
    was, now = before.counters(), after.counters()
    moved = [f"{name}{dict(labels)} {was.get((name, labels))} -> {value}" for (name, labels), value in now.items()
             if dict(labels).get("process") and value != was.get((name, labels)) and not name.endswith("_bucket")]
    if moved:
        case.note(f"{len(moved)} counters moved, as {'; '.join(moved[:5])}")


# ---- the end --------------------------------------------------------------------------------------------


def death(mode, status):
    """Whatever it dies of, its counts are final and stay, and the exporter goes on."""
    def run(case):
        life = case.workload("life", "--mode", mode, "--status", 5)
        observer = case.observe(pids=[life.pid])
        before_ns = lib.process_cpu_ns(life.pid)
        life.say()
        truth = life.take_truth()
        got, life_ns = let_end(life)
        case.equal("status of the workload", got, status)
        first = ended(observer)
        lib.poll("the observer to say that it has ended",
                 lambda: f"process {life.pid} (life) has ended" in observer.stderr())
        want = {**truth["syscalls"], **truth["after"], "write": 1}
        case.same_table("calls", first.by("skyobserve_syscalls_total", "syscall"), want)
        case.equal("in flight", first.by("skyobserve_syscalls_in_flight", "syscall"), {})
        case.equal("threads", first.value("skyobserve_process_threads"), 0)
        case.equal("incarnations", first.value("skyobserve_process_incarnations_total"), 1)
        case.equal("memory of a dead process", first.select("skyobserve_resident_memory_bytes"), [])
        # rusage counts whole microseconds, and not what a thread does after it was released.
        cpu_ns = round(first.sum("skyobserve_cpu_seconds_total") * 1e9)
        case.between("CPU time, ns", cpu_ns, life_ns - before_ns - 2000, life_ns - before_ns + 1000000)
        second = observer.scrape()
        stand_still(case, first, second)
    return run


def exit_with_target(case):
    """--exit-with-target: 3 when the last one has ended, with the summary, and not before."""
    first, last = case.workload("life", "--mode", "exit"), case.workload("life", "--mode", "kill")
    observer = case.observe("--exit-with-target", pids=[first.pid, last.pid])
    first.say()
    first.take_truth()
    let_end(first)
    lib.poll("the first end to be seen", lambda: f"process {first.pid} (life) has ended" in observer.stderr())
    case.equal("processes left", observer.scrape().value("skyobserve_process_up"), 1)
    last.say()
    last.take_truth()
    let_end(last)
    observer.wait_end(lib.STATUS_GONE)


def leader_exits(case):
    """A process whose first thread has gone lives as long as another one does."""
    life = case.workload("life", "--mode", "leader-exit")
    observer = case.observe(pids=[life.pid])
    life.say()
    truth = life.take_truth()
    survivor = truth["survivor"]
    lib.poll("the survivor to wait", lambda: (lib.read_proc(f"/proc/{life.pid}/task/{survivor}/syscall") or "")
             .startswith(f"{lib.NR_READ} 0x0 "))
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid"), truth["syscalls"]["getppid"])
    case.equal("exit", calls(metrics, "exit"), 1)
    case.equal("processes", metrics.value("skyobserve_process_up"), 1)
    let_end(life)
    ended(observer)


def killed_observer(case):
    """Even SIGKILL leaves nothing attached, and does not harm the target."""
    sleep = case.workload("sleep", "--n", 1, "--ms", 1)
    observer = case.observe(pids=[sleep.pid])
    observer.stopped = True
    observer.kill()
    observer.nothing_is_left()
    sleep.run()


# ---- numbers that are used again ------------------------------------------------------------------------


def start_as(case, pid, *argv, **arguments):
    """A workload with this process id; the kernel gives numbers out in order."""
    for _ in range(200):
        try:
            with open("/proc/sys/kernel/ns_last_pid", "w") as last:
                last.write(str(pid - 1))
        except OSError as why:
            raise lib.Skip(f"cannot choose a process id: {why}") from None
        workload = case.workload(*argv, ready=False, **arguments)
        if workload.pid == pid:
            return workload.wait_ready()
        workload.kill()
        case.workloads.remove(workload)
    raise lib.Skip("another process was faster 200 times")


def busy_until(done, observer):
    """Give the observer no idle moment: the end of a process must be dealt with nevertheless."""
    while not done.is_set():
        observer.fetch("/-/healthy")


def reused_pid(case):
    """T51: a stranger who gets the number of a dead target at once is not observed, however busy we are."""
    life = case.workload("life", "--mode", "exit", "--n", 100)
    observer = case.observe(pids=[life.pid])
    done = threading.Event()
    asking = threading.Thread(target=busy_until, args=(done, observer))
    asking.start()
    try:
        life.say()
        life.take_truth()
        let_end(life)
        before = ended(observer)
        start_as(case, life.pid, "syscalls", "--n", 1000).run()
        stand_still(case, before, observer.scrape())
    finally:
        done.set()
        asking.join()


def reused_pid_by_comm(case):
    """T51: the next incarnation of the same name and number is another process, added to the first."""
    program = case.own_program("life")
    first = case.workload("life", "--mode", "exit", "--n", 100, program=program)
    observer = case.observe("--comm", os.path.basename(program), "--interval", 1)
    lib.poll("it to be observed", lambda: observer.scrape().sum("skyobserve_process_up"))
    first.say()
    first.take_truth()
    let_end(first)
    ended(observer)
    second = start_as(case, first.pid, "life", "--mode", "exit", "--n", 30, program=program)
    lib.poll("its successor to be observed", lambda: observer.scrape().sum("skyobserve_process_up"))
    second.say()
    second.take_truth()
    let_end(second)
    metrics = ended(observer)
    case.equal("incarnations", metrics.value("skyobserve_process_incarnations_total"), 2)
    case.equal("getppid", calls(metrics, "getppid"), 130)
    case.equal("exit_group", calls(metrics, "exit_group"), 2)


# ---- other programs, other names ------------------------------------------------------------------------


def exec_renames(case):
    """The counts go on through an exec; the series keep their name, the identity tells the new one."""
    life = case.workload("life", "--mode", "execrename", "--n", 500, "--dir", case.dir)
    observer = case.observe(pids=[life.pid])
    truth = life.run()
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid", process="life"), 1000)
    case.equal("execve", calls(metrics, "execve", process="life"), 1)
    case.equal("unlinkat", calls(metrics, "unlinkat", process="life"), 1)
    comm = label_of(bytes.fromhex(truth["comm_hex"])[:15])
    case.equal("identity", [(have["process"], have["comm"]) for have, _ in metrics.select("skyobserve_process_info")],
               [("life", comm)])
    case.equal("processes", metrics.value("skyobserve_process_up"), 1)


def exec_from_thread(case):
    """A thread that is not the leader takes over its number; no thread is counted twice or lost."""
    work = case.workload("forkexec", "--exec-from-thread", "--n", 300)
    observer = case.observe(pids=[work.pid])
    truth = work.run()
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid"), truth["syscalls"]["getppid"])
    case.equal("execve", calls(metrics, "execve"), 1)
    case.equal("threads", metrics.value("skyobserve_process_threads"), 1)
    case.equal("processes", metrics.value("skyobserve_process_up"), 1)
    case.equal("in flight", metrics.by("skyobserve_syscalls_in_flight", "syscall"), {"read": 1})


def start_named(case):
    """Workloads that have taken each of the weird names, and what bytes these are."""
    names = {}
    for name in WEIRD_NAMES:
        life = case.workload("life", "--mode", "prctl-rename", "--name", name, "--n", 10)
        names[life] = bytes.fromhex(life.run()["comm_hex"])
    return names


def promtool_finds_nothing(case, what, body):
    """`promtool check metrics` of the text format."""
    if not shutil.which("promtool"):
        raise lib.Skip("promtool is not installed")
    said = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True, timeout=lib.DEADLINE_S)
    text = (said.stdout + said.stderr).decode(errors="replace")
    if said.returncode or text.strip():
        case.note(f"promtool on {what}: {lib.one_line(text)} (status {said.returncode})")


def weird_names(case):
    """Names with quotes, newlines, braces and broken UTF-8 break no output."""
    names = start_named(case)
    observer = case.observe("--label-pid", pids=[life.pid for life in names])
    text, openmetrics = observer.scrape(), observer.scrape(openmetrics=True)
    shown = json.loads(observer.fetch("/snapshot").body)
    for life, raw in names.items():
        want, pid = label_of(raw), str(life.pid)
        for metrics in (text, openmetrics):
            case.equal(f"process of {life.options[-3]}",
                       metrics.select("skyobserve_process_up", pid=pid)[0][0]["process"], want)
            case.equal("identity", metrics.select("skyobserve_process_info", pid=pid)[0][0]["comm"], want)
        in_json = [s["labels"] for s in shown["families"]["skyobserve_process_up"]["samples"]
                   if s["labels"]["pid"] == pid]
        case.equal("process in JSON", in_json[0]["process"], want)
    promtool_finds_nothing(case, "weird names", text.body)


def renamed_while_observed(case):
    """prctl(PR_SET_NAME): the series keep their name, the identity follows."""
    life = case.workload("life", "--mode", "prctl-rename", "--name", "newline", "--n", 10)
    observer = case.observe(pids=[life.pid])
    truth = life.run()
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid", process="life"), 20)
    case.equal("identity", [(have["process"], have["comm"]) for have, _ in metrics.select("skyobserve_process_info")],
               [("life", label_of(bytes.fromhex(truth["comm_hex"])))])


def weird_path(case):
    """A program whose file name is anything."""
    path = os.path.join(os.fsencode(case.dir), b'a "b"\\{\n\xff\xc3}')
    shutil.copy(lib.WORKLOADS / "life", path)
    life = case.workload("life", "--mode", "exit", program=os.fsdecode(path))
    observer = case.observe(pids=[life.pid])
    metrics = observer.scrape()
    have = metrics.select("skyobserve_process_info")[0][0]
    case.equal("exe", have["exe"], label_of(path))
    case.equal("process", have["process"], label_of(os.path.basename(path)[:15]))
    case.equal("one line on stderr for it", len(re.findall(r"^skyobserve: observing process.*$", observer.stderr(),
                                                           re.M)), 1)
    promtool_finds_nothing(case, "a weird path", metrics.body)
    observer.scrape(openmetrics=True)
    json.loads(observer.fetch("/snapshot").body)


# ---- which processes ------------------------------------------------------------------------------------


def one_name_twice(case):
    """Two processes of one name are one series, their sum; what one has done stays when it has gone."""
    first, second = (case.workload("syscalls", "--n", n, "--writes", 10) for n in (1000, 300))
    observer = case.observe(pids=[first.pid, second.pid])
    first.run()
    second.run()
    metrics = observer.scrape()
    case.equal("processes", metrics.select("skyobserve_process_up"), [({"process": "syscalls"}, 2)])
    case.equal("incarnations", metrics.value("skyobserve_process_incarnations_total"), 2)
    case.equal("getppid", metrics.value("skyobserve_syscalls_total", syscall="getppid"), 1300)
    case.equal("identities", {have["pid"] for have, _ in metrics.select("skyobserve_process_info")},
               {str(first.pid), str(second.pid)})
    let_end(first)

    def one_left():
        now = observer.scrape()
        return now if now.value("skyobserve_process_up") == 1 else None

    after = lib.poll("process_up to be 1", one_left)
    case.equal("getppid", after.value("skyobserve_syscalls_total", syscall="getppid"), 1300)
    case.equal("incarnations", after.value("skyobserve_process_incarnations_total"), 2)


def two_names(case):
    """Two targets, two series; neither has anything of the other."""
    calls_of, sleep = case.workload("syscalls", "--n", 700), case.workload("sleep", "--n", 2, "--ms", 5)
    observer = case.observe(pids=[calls_of.pid, sleep.pid])
    calls_of.run()
    sleep.run()
    metrics = observer.scrape()
    case.equal("getppid", metrics.by("skyobserve_syscalls_total", "process", syscall="getppid"), {"syscalls": 700})
    case.equal("sleeps", metrics.by("skyobserve_syscalls_total", "process", syscall="clock_nanosleep"), {"sleep": 2})
    case.equal("processes", metrics.by("skyobserve_process_up", "process"), {"syscalls": 1, "sleep": 1})


def comm_later(case):
    """--comm: those that are there, and those that start later."""
    sleeper, caller = case.own_program("sleep"), case.own_program("syscalls")
    here_name, later_name = os.path.basename(sleeper), os.path.basename(caller)
    here = case.workload("sleep", "--n", 1, "--ms", 1, program=sleeper)
    observer = case.observe("--comm", here_name, "--comm", later_name, "--interval", 1)
    case.equal("processes", observer.scrape().by("skyobserve_process_up", "process"), {here_name: 1})
    later = case.workload("syscalls", "--n", 400, program=caller)
    lib.poll("it to be observed", lambda: observer.scrape().sum("skyobserve_process_up", process=later_name))
    later.run()
    here.run()
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid", process=later_name), 400)
    case.equal("sleeps", calls(metrics, "clock_nanosleep", process=here_name), 1)
    case.true("it is not listed", f"observing process {later.pid}: {later_name}, {caller}" in observer.stderr())


def comm_nobody_yet(case):
    """--comm of a name that nobody has is no error: it waits."""
    program = case.own_program("syscalls")
    observer = case.observe("--comm", os.path.basename(program), "--interval", 1)
    case.true(f"it does not say that it waits: {observer.stderr()}", "waiting for one" in observer.stderr())
    case.equal("processes", observer.scrape().select("skyobserve_process_up"), [])
    later = case.workload("syscalls", "--n", 50, program=program)
    lib.poll("it to be observed", lambda: observer.scrape().sum("skyobserve_process_up"))
    later.run()
    case.equal("getppid", calls(observer.scrape(), "getppid"), 50)


def name_and_pid_labels(case):
    """--name for all targets; --label-pid keeps them apart."""
    first, second = (case.workload("syscalls", "--n", n) for n in (20, 30))
    together = case.observe("--name", "my app", pids=[first.pid, second.pid])
    apart = case.observe("--name", "my app", "--label-pid", pids=[first.pid, second.pid])
    first.run()
    second.run()
    metrics = together.scrape()
    case.equal("processes", metrics.labels("process"), {"my app"})
    case.equal("getppid", metrics.value("skyobserve_syscalls_total", syscall="getppid"), 50)
    metrics = apart.scrape()
    case.equal("getppid by pid", metrics.by("skyobserve_syscalls_total", "pid", syscall="getppid"),
               {str(first.pid): 20, str(second.pid): 30})
    case.equal("processes", metrics.labels("process"), {"my app"})


CASES = [
    ("exit", death("exit", 5)),
    ("abort", death("abort", -signal.SIGABRT)),
    ("segv", death("segv", -signal.SIGSEGV)),
    ("kill", death("kill", -signal.SIGKILL)),
    ("exit_with_target", exit_with_target),
    ("leader_exits", leader_exits),
    ("killed_observer", killed_observer),
    ("T51_reused_pid", reused_pid),
    ("T51_reused_pid_by_comm", reused_pid_by_comm),
    ("exec_renames", exec_renames),
    ("exec_from_thread", exec_from_thread),
    ("weird_names", weird_names),
    ("renamed_while_observed", renamed_while_observed),
    ("weird_path", weird_path),
    ("one_name_twice", one_name_twice),
    ("two_names", two_names),
    ("comm_later", comm_later),
    ("comm_nobody_yet", comm_nobody_yet),
    ("name_and_pid_labels", name_and_pid_labels),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
