#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The second process that looks at others for the serving one: when it hangs, dies, or is left alone."""

import sys

sys.dont_write_bytecode = True

import os
import signal
import subprocess

import lib

# What a scrape may wait for Go (go_view.h), and some for a machine that is busy.
GO_DEADLINE_S, BUSY_S = 3, 5


def is_up(metrics, group="go"):
    return metrics.value("skyobserve_probe_group_up", group=group) == 1


def reason(metrics):
    return metrics.select("skyobserve_probe_group_info", group="go")[0][0]["reason"]


def stats(workload):
    workload.say("stats")
    truth = workload.take_truth()
    lib.poll(f"{workload.name} to wait", lambda: lib.waits_for_us(workload.pid))
    workload.settle()
    return truth


def begin(case, *options):
    workload = case.workload("gostats")
    observer = case.observe(*options, pids=[workload.pid])
    lib.poll("its numbers", lambda: observer.scrape().select("skyobserve_go_goroutines"))
    return workload, observer, lib.broker_of(observer)


def check_go(case, when, metrics, truth):
    case.equal(f"{when}: objects", metrics.value("skyobserve_go_allocated_objects_total"), truth["mallocs"])
    case.equal(f"{when}: goroutines", metrics.value("skyobserve_go_goroutines"), truth["goroutines"])


def has_gone(pid):
    """Ended, and waited for."""
    return not os.path.exists(f"/proc/{pid}")


def hangs(case):
    """A scrape waits a bounded time, says why, and later believes no reply that came too late."""
    workload, observer, broker = begin(case)
    truth = stats(workload)
    before = observer.scrape()
    check_go(case, "before", before, truth)
    os.kill(broker, signal.SIGSTOP)
    for i, deadline_s in enumerate((GO_DEADLINE_S + BUSY_S, BUSY_S)):
        metrics = observer.scrape()
        case.at_most(f"seconds of scrape {i}", metrics.there_s - metrics.asked_s, deadline_s)
        case.true(f"group go is up in scrape {i}", not is_up(metrics))
        case.true(f"reason {i}: {reason(metrics)}", reason(metrics).startswith("the broker "))
        case.true("another group is down", is_up(metrics, "syscalls"))
        case.equal("objects", metrics.value("skyobserve_go_allocated_objects_total"), truth["mallocs"])
        case.equal("goroutines", metrics.select("skyobserve_go_goroutines"), [])
    workload.say("small 1000")
    workload.take_truth()
    truth = stats(workload)
    os.kill(broker, signal.SIGCONT)
    check_go(case, "after", lib.poll("it to answer again", lambda: (
        lambda m: m if is_up(m) and m.select("skyobserve_go_goroutines") else None)(observer.scrape())), truth)


def dies(case):
    """It is said, the group is down, counters stay, and everything else goes on; also what comes later."""
    program = case.own_program("syscalls")
    workload, observer, broker = begin(case, "--comm", os.path.basename(program))
    truth = stats(workload)
    observer.scrape()
    observer.last = None  # the series of the broker itself go away with it
    os.kill(broker, signal.SIGKILL)
    lib.poll("it to be said", lambda: "warning: the broker: it has ended by signal 9" in observer.stderr())
    lib.poll("nothing to be left of it", lambda: has_gone(broker))
    metrics = observer.scrape()
    case.true("group go is up", not is_up(metrics))
    case.equal("reason", reason(metrics), "the broker: it has ended by signal 9")
    case.equal("objects", metrics.value("skyobserve_go_allocated_objects_total"), truth["mallocs"])
    case.equal("cost", metrics.select("skyobserve_broker_cpu_seconds_total"), [])
    later = case.workload("syscalls", "--n", 44, program=program)
    name = os.path.basename(program)
    lib.poll("the later one", lambda: observer.scrape().sum("skyobserve_process_up", process=name) == 1)
    later.run()
    case.equal("getppid", observer.scrape().sum("skyobserve_syscalls_total", syscall="getppid", process=name), 44)
    observer.stop()


def ends_with_the_observer(case):
    """Told to stop, or killed: no process is left, none waits to be waited for."""
    for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        _, observer, broker = begin(case)
        if sig == signal.SIGKILL:
            observer.stopped = True
            observer.kill()
        else:
            observer.stop(sig)
        # Whoever inherits it may take its time to wait for it.
        lib.poll(f"the broker to end after signal {sig}",
                 lambda: has_gone(broker) or " Z " in (lib.read_proc(f"/proc/{broker}/stat") or " Z "))
        if sig != signal.SIGKILL:
            case.true(f"the broker is left after signal {sig}", has_gone(broker))


def ctrl_c(case):
    """For the whole group of processes: the broker is there until the last summary is made."""
    workload = case.workload("gostats")
    observer = case.observe(pids=[workload.pid], prefix=("setsid",))
    lib.poll("its numbers", lambda: observer.scrape().select("skyobserve_go_goroutines"))
    broker = lib.broker_of(observer)
    case.equal("its group", os.getpgid(broker), os.getpgid(observer.pid))
    os.killpg(os.getpgid(observer.pid), signal.SIGINT)
    observer.wait_end(0)
    case.true(f"the broker died of it: {observer.stderr()}", "the broker" not in observer.stderr())


def cost_is_counted(case):
    _, observer, broker = begin(case)
    metrics = observer.scrape()
    pages = int(lib.read_proc(f"/proc/{broker}/statm").split()[1]) * os.sysconf("SC_PAGESIZE")
    case.between("resident", metrics.value("skyobserve_broker_resident_memory_bytes"), pages / 2, 2 * pages)
    seen = metrics.value("skyobserve_broker_cpu_seconds_total")
    fields = lib.read_proc(f"/proc/{broker}/stat").rpartition(")")[2].split()
    case.at_most("CPU", seen, sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK"))


def files_of_the_observer(case):
    """It has nothing open but the socket: no map, no program, no connection."""
    _, observer, broker = begin(case)
    listed = subprocess.run(["ls", "-l", f"/proc/{broker}/fd"], capture_output=True, text=True, check=True).stdout
    case.equal("BPF objects and sockets of the network", [line for line in listed.splitlines() if "bpf" in line], [])
    case.equal("sockets", listed.count("socket:"), 1)


if __name__ == "__main__":
    sys.exit(lib.main([(function.__name__, function) for function in (
        hangs, dies, ends_with_the_observer, ctrl_c, cost_is_counted, files_of_the_observer)]))
