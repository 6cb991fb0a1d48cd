#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Check the truth of the workloads against ptrace: every call, by name and by errno, in the window.

The workloads count what they do themselves. This runs each of them under strace, which sees the same
calls by another way, and compares. The observer has no part in it.

usage: strace_check.py BUILD_DIR [RUNS] [NAME...]     BUILD_DIR holds the built workloads
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

# NAME, options. One row per way of work; small numbers, because strace is slow.
CASES = [
    ("fsync", "--n 40 --dirty --other-errors 2 --no-sync --dir {dir}"),
    ("fsync", "--n 10 --dir {dir}"),
    ("syscalls", "--n 2000"),
    ("syscalls", "--noop"),
    ("syscalls", "--loop 1"),
    ("syscalls", "--batch 1000 --call read"),
    ("compat32", "--only x32 --n 50"),
    ("vdso", "--n 100000"),
    ("sleep", "--n 3 --ms 20"),
    ("sleep", "--n 3 --ms 20 --call nanosleep"),
    ("pingpong", "--n 300"),
    ("pingpong", "--n 300 --cpu 0"),
    ("pingpong", "--n 300 --futex"),
    ("spin", "--ms 100"),
    ("spin", "--ms 50 --threads 3"),
    ("spin", "--ms 100 --threads 2 --cpu 0 --wall"),
    ("threads", "--ms 5"),
    ("threads", "--ms 0 --threads 10 --waves 10"),
    ("blocked", ""),
    ("blocked", "--hold 30"),
    ("signals", "--n 200 --eintr 10 --restarts 5"),
    ("syncwrite", "--dir {dir}"),
    ("iouring", "--dir {dir}"),
    ("faults", "--n 1000"),
    ("faults", "--rss --mib 8"),
    ("forkexec", "--dir {dir}"),
    ("forkexec", "--vfork --dir {dir}"),
    ("forkexec", "--exec-from-thread"),
    # Not "stopped": under ptrace the state of a stopped process is another one.
    ("reasons", "--n 3 --ms 5 --dir {dir} --kinds futex,poll,sleep,pipe,socket,fsync,page_fault,block_io"),
    ("noise", "--dir {dir}"),
    ("life", "--mode exit --after 5"),
    ("life", "--mode kill"),
    ("life", "--mode prctl-rename --name utf8"),
    ("life", "--mode execrename --after 5 --dir {dir}"),
    ("life", "--mode leader-exit --after 5"),
]

LINE = re.compile(r"^(\d+\.\d+) (?:<\.\.\. )?(\w+)(.*)$")
READY, RELEASE = '(1, "ready ', '(0, "go\\n"'
RESTART = re.compile(r"= \? ERESTART")


def run(build, name, options, trace_prefix):
    """Play the test's part; returns the lines of JSON."""
    command = ["strace", "-ff", "-qq", "-ttt", "-T", "-s", "16", "-e", "signal=none", "-o", trace_prefix,
               os.path.join(build, name)] + options
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ready = child.stdout.readline().split()
    if not ready:
        return child.wait(), []
    child.stdin.write(b"go\n")
    child.stdin.flush()
    if name == "noise":
        time.sleep(0.2)
        child.stdin.write(b"enough\n")
        child.stdin.flush()
    truths = [json.loads(child.stdout.readline())]
    if "--rss" in options:
        child.stdin.write(b"more\n")
        child.stdin.flush()
        truths.append(json.loads(child.stdout.readline()))
    child.stdin.close()
    return child.wait(), truths


def calls_of(path):
    """(entry time, exit time, name, errno or None, text) of each call in one thread's trace."""
    with open(path, errors="replace") as lines:
        for line in lines:
            found = LINE.match(line)
            if not found or line.rstrip().endswith("+++") or "--- SIG" in line or "<pid changed" in line:
                continue
            begin, name, rest = float(found.group(1)), found.group(2), found.group(3)
            took = re.search(r"<(\d+\.\d+)>$", rest)
            failed = re.search(r"= -1 (E\w+)", rest)
            # strace stamps the entry, and the exit where it had to write another line in between.
            resumed = line.split(" ", 1)[1].startswith("<... ")
            end = begin + float(took.group(1)) if took and not resumed else begin
            if name.startswith("syscall_"):
                name = "nr_%d" % int(name[len("syscall_"):], 16)
            yield begin, end, name, failed.group(1) if failed else None, rest


def window_of(trace_prefix):
    """
    From the beginning of the write of "ready" to that of the (last) write of the JSON. The window of the
    truth begins later, but nothing else returns in between, and strace's clocks (wall for the entry,
    monotonic for the duration) are not good enough to order two exits that are close together.
    """
    begin = end = None
    for path in glob.glob(trace_prefix + ".*"):
        for entry, _, name, _, rest in calls_of(path):
            if name == "write" and rest.startswith(READY):
                begin = entry
            if name == "write" and rest.startswith('(1, "{\\"workload'):
                end = max(end or 0, entry)
    return begin, end


def seen_in(paths, begin, end):
    """Tallies of the calls that ended inside the window; a call that never returned ends when it began."""
    calls, errors, restarts = collections.Counter(), collections.Counter(), collections.Counter()
    for path in paths:
        for entry, leave, name, errno, rest in calls_of(path):
            if leave <= begin or entry >= end or leave > end + 1e-6 and entry < end < leave:
                continue
            if rest.startswith(READY) or rest.startswith(RELEASE):
                continue
            if "= ?" in rest and name not in ("exit", "exit_group") and not RESTART.search(rest):
                continue  # killed inside it
            calls[name] += 1
            if RESTART.search(rest):
                restarts[name] += 1
            if errno and name != "rt_sigreturn":  # that is the interrupted code's register
                errors[name, errno] += 1
    return calls, errors, restarts


def flat(errors):
    return collections.Counter({(c, e): n for c, by in errors.items() for e, n in by.items()})


def compare(what, want, got, wrong, only=None):
    for key in sorted(set(want) | set(got), key=str):
        if only and key not in only:
            continue
        if want.get(key, 0) != got.get(key, 0):
            wrong.append("%s %s: truth %d, strace %d" % (what, key, want.get(key, 0), got.get(key, 0)))


def threads_of(trace_prefix, others):
    """The traces of one process: all files but those of other processes and of their threads."""
    return [p for p in glob.glob(trace_prefix + ".*") if int(p.rsplit(".", 1)[1]) not in others]


def check(build, name, options, directory):
    prefix = os.path.join(directory, "trace")
    status, truths = run(build, name, options, prefix)
    if status == 77 and not truths:
        return "skipped", []
    truth, wrong = truths[-1], []
    pid = truth["pid"]
    begin, end = window_of(prefix)
    # Processes that fork() made: they are not in the truth of the first, or have one of their own.
    tasks = {t["id"]: t for t in truth.get("sides", []) if t["id"] != pid}
    if "child" in truth:
        tasks[truth["child"]["id"]] = truth["child"]
    apart = set(tasks) if name != "pingpong" or "--futex" not in options else set()
    if name in ("signals", "reasons"):  # a helper of which nothing is claimed
        apart = {int(p.rsplit(".", 1)[1]) for p in glob.glob(prefix + ".*")} - {pid}
    only = None
    if truth.get("startup"):
        only = {"getppid", "fsync", "execve", "clone", "wait4", "prctl", "clock_nanosleep"}
    calls, errors, restarts = seen_in(threads_of(prefix, apart), begin, end)
    if name == "compat32":  # strace shows them under their native or x32 names
        for key in [k for k in calls if "getppid" in k]:
            del calls[key], errors[key, "ENOSYS"]
    compare("calls", truth["syscalls"], calls, wrong, only)
    compare("errors", flat(truth["errors"]), {k: n for k, n in errors.items() if not only or k[0] in only}, wrong)
    compare("restarts", collections.Counter(truth["interrupted"]) + collections.Counter(truth.get("restarted", {})),
            restarts, wrong)
    for task_pid, task in tasks.items():
        if task_pid not in apart:
            continue
        calls, errors, _ = seen_in(["%s.%d" % (prefix, task_pid)], begin, end)
        compare("calls of %s" % task["role"], task["syscalls"], calls, wrong, only)
    return "ok" if not wrong else "WRONG", wrong


def main():
    build, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1
    names = sys.argv[3:]
    bad = 0
    for name, options in CASES:
        if names and name not in names:
            continue
        results = collections.Counter()
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as directory:
                words = options.format(dir=directory).split()
                result, wrong = check(build, name, words, directory)
            results[result] += 1
            for line in wrong:
                print("    ", line)
        bad += results["WRONG"]
        print("%-10s %-55s %s" % (name, options, dict(results)), flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
