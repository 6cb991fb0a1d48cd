#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`skyobserve selftest`: all rows hold, with and without privilege, with groups refused, and nothing stays."""

import sys

sys.dont_write_bytecode = True

import collections
import os
import re
import resource
import shutil
import signal
import subprocess
import time

import lib

WIDTH = 80
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
LOADS = ("durable", "io_uring", "calls", "sleep", "threads", "pipe", "pages", "spin")
# Rows whose quantity is a time or has an edge; all others are compared with =.
BOUNDED = {("sleep", "off the CPU, asleep"), ("threads", "CPU time, mostly of dead threads"),
           ("pages", "page faults, 500 first touches"), ("spin", "CPU time"), ("spin", "CPU time in user mode")}

Row = collections.namedtuple("Row", "wanted got verdict why")
Result = collections.namedtuple("Result", "status rows text stderr seconds cpu_s")


def parse(text):
    """{(load, what): Row}; the columns are those of the head line."""
    lines = text.split("\n\n")[0].splitlines()
    if not lines:
        return {}
    wanted_at, got_at = lines[0].index("WANTED") + len("WANTED"), lines[0].index("GOT") + len("GOT")
    rows, why = {}, ""
    for line in lines[1:]:
        if line.startswith(" "):
            rows[last] = rows[last]._replace(why=f"{rows[last].why} {line.strip()}".strip())
            why = rows[last].why
            continue
        last = (line[:9].strip(), line[9:42].strip())
        verdict = line[got_at:].strip()
        rows[last] = Row(line[42:wanted_at].strip(), line[wanted_at:got_at].strip(), verdict,
                         why if verdict == "skip" else "")
        why = why if verdict == "skip" else ""
    return rows


def program_of(case):
    """A copy that the user nobody can reach."""
    program = case.path("skyobserve")
    if not os.path.exists(program):
        os.chmod(case.dir, 0o755)
        shutil.copy(lib.SKYOBSERVE, program)
        os.chmod(program, 0o755)
    return program


def folder_of(case):
    folder = case.path("tmp")
    os.makedirs(folder, exist_ok=True)
    os.chmod(folder, 0o1777)
    return folder


def selftest(case, *options, prefix=(), folder=None):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run([*prefix, program_of(case), "selftest", *options], cwd="/", capture_output=True, text=True,
                          timeout=60, env={**os.environ, "TMPDIR": folder or folder_of(case)})
    seconds = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    for line in done.stdout.splitlines():
        case.true(f"a line is wider than {WIDTH}: {line}", len(line) <= WIDTH)
    rows = parse(done.stdout)
    counts = collections.Counter(row.verdict for row in rows.values())
    said = re.search(r"^(\d+) rows: (\d+) ok, (\d+) failed, (\d+) skipped", done.stdout, re.M)
    if rows:
        case.equal("the sums", tuple(map(int, said.groups())) if said else None,
                   (len(rows), counts["ok"], counts["FAIL"], counts["skip"]))
    return Result(done.returncode, rows, done.stdout, done.stderr, seconds,
                  after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def all_hold(case, result):
    case.equal("status", result.status, 0)
    case.equal("stderr", result.stderr, "")
    for (load, what), row in result.rows.items():
        if row.verdict != "ok":
            case.note(f"{load}, {what}: wanted {row.wanted}, got {row.got}, {row.verdict} {row.why}")
        elif (load, what) not in BOUNDED:
            case.equal(f"{load}, {what}", row.got, row.wanted)
    for load in LOADS:
        case.true(f"no row for {load}", any(key[0] == load for key in result.rows))


def every_row_holds(case):
    result = selftest(case)
    all_hold(case, result)
    # 10 s on a machine that is not overloaded; the CPU time says it for one that is.
    case.at_most("CPU seconds", result.cpu_s, 5)
    case.at_most("seconds", result.seconds, 30)
    case.equal("files that were left", os.listdir(folder_of(case)), [])


def every_row_holds_by_raw_tracepoints(case):
    all_hold(case, selftest(case, "--raw-tracepoints"))


def two_at_once_do_not_disturb(case):
    processes = [case.popen([program_of(case), "selftest"], stdout=subprocess.PIPE, text=True,
                            env={**os.environ, "TMPDIR": folder_of(case)}) for _ in range(2)]
    for process in processes:
        out, _ = process.communicate(timeout=90)
        wrong = [line for line in out.splitlines() if line.endswith("FAIL")]
        case.equal("failed rows", wrong, [])
        case.equal("status", process.returncode, 0)


def without_privilege(case):
    result = selftest(case, prefix=NOBODY)
    case.equal("status", result.status, 69)
    case.equal("output", result.text, "")
    case.true(f"not one clear line: {result.stderr}", result.stderr.count("\n") == 1 and "root" in result.stderr)


def two_capabilities_are_enough(case):
    all_hold(case, selftest(case, prefix=(*NOBODY, "--inh-caps=+bpf,+perfmon", "--ambient-caps=+bpf,+perfmon")))


def groups_that_are_off_are_skipped(case):
    result = selftest(case, "--groups", "sched")
    case.equal("status", result.status, 0)
    for (load, what), row in result.rows.items():
        case.true(f"{load}, {what}: {row.verdict}", row.verdict in ("ok", "skip"))
        case.true(f"{load}, {what}: no reason", row.verdict == "ok" or "probe group" in row.why)
    for key in (("spin", "CPU time"), ("pipe", "voluntary context switches"), ("threads", "threads that ended"),
                ("books", "identity wall holds"), ("books", "events dropped")):
        case.equal(str(key), result.rows[key].verdict, "ok")
    for key in (("calls", "getppid"), ("durable", "durable writes by fsync"), ("sleep", "off the CPU, asleep")):
        case.equal(str(key), result.rows[key].verdict, "skip")


def a_refused_group_is_skipped(case):
    """Few descriptors: io_uring is loaded last, and from some limit down not any more."""
    key = ("io_uring", "durable writes by io_uring")
    for files in range(400, 150, -5):
        result = selftest(case, prefix=("prlimit", f"--nofile={files}"))
        if not result.status and result.rows[key].verdict == "skip":
            break
    else:
        raise lib.Failed("no limit of descriptors at which only io_uring is refused")
    case.true(f"reason: {result.rows[key].why}", "Too many open files" in result.rows[key].why)
    case.equal("fsync", result.rows[("durable", "durable writes by fsync")].verdict, "ok")


def no_folder_for_files(case):
    result = selftest(case, folder="/nonexistent")
    case.equal("status", result.status, 0)
    for load in ("durable", "io_uring"):
        row = result.rows.get((load, "not observed"))
        case.true(f"{load}: {row}", row and row.verdict == "skip" and "/nonexistent" in row.why)
    case.equal("calls", result.rows[("calls", "getppid")].verdict, "ok")


def wrong_words(case):
    for options in (("now",), ("--groups", "nothing")):
        result = selftest(case, *options)
        case.equal(f"status of {options}", result.status, 64)
        case.true(f"{options}: no single line", result.stderr.count("\n") == 1 and options[-1] in result.stderr)


def children(pid):
    text = lib.read_proc(f"/proc/{pid}/task/{pid}/children")
    return [int(word) for word in text.split()] if text else []


def nothing_stays_when_it_is_killed(case):
    for sig in (signal.SIGINT, signal.SIGKILL):
        process = case.popen([program_of(case), "selftest"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env={**os.environ, "TMPDIR": folder_of(case)})
        loads = lib.poll("all loads to be there", lambda: children(process.pid)[15:] and children(process.pid))
        loads += [partner for pid in loads for partner in children(pid)]
        process.send_signal(sig)
        process.wait(lib.DEADLINE_S)
        lib.poll("the loads to end", lambda: not [pid for pid in loads if lib.task_state(pid, pid) not in (None, "Z")])
        case.equal("files that were left", os.listdir(folder_of(case)), [])


if __name__ == "__main__":
    sys.exit(lib.main([(function.__name__, function) for function in (
        every_row_holds, every_row_holds_by_raw_tracepoints, two_at_once_do_not_disturb, without_privilege,
        two_capabilities_are_enough, groups_that_are_off_are_skipped, a_refused_group_is_skipped, no_folder_for_files,
        wrong_words, nothing_stays_when_it_is_killed)]))
