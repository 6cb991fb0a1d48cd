#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`skyobserve doctor`: with and without privilege, with groups refused, in namespaces."""

import sys

sys.dont_write_bytecode = True

import collections
import os
import re
import shutil
import subprocess

import lib

WIDTH = 80
FOUND_COLUMN = 34
STATES = ("ok", "limited", "missing", "unchecked")
NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")
GROUPS = [re.match(r'GROUP\(\w+, "(\w+)"', line)[1]
          for line in (lib.ROOT / "include/groups.def").read_text().splitlines() if line.startswith("GROUP(")]

Report = collections.namedtuple("Report", "status rows verdict stderr text")
Row = collections.namedtuple("Row", "state found remedy")


def parse(text):
    """{what: Row} and the text below the table."""
    table, _, verdict = text.partition("\n\n")
    rows, what = {}, None
    for line in table.splitlines()[1:]:
        head, rest = line[:FOUND_COLUMN], line[FOUND_COLUMN:]
        if head.strip():
            what, state = head.rstrip().rsplit(None, 1)
            rows[what.strip()] = Row(state, rest, "")
            what = what.strip()
        else:
            row = rows[what]
            if rest.startswith("remedy: "):
                rows[what] = row._replace(remedy=rest[len("remedy: "):])
            elif row.remedy:
                rows[what] = row._replace(remedy=f"{row.remedy} {rest}")
            else:
                rows[what] = row._replace(found=f"{row.found} {rest}")
    return rows, verdict


def doctor(case, *options, prefix=()):
    # Where the user nobody may execute it, and away from the tree, which they may not be able to enter.
    program = case.path("skyobserve")
    if not os.path.exists(program):
        os.chmod(case.dir, 0o755)
        shutil.copy(lib.SKYOBSERVE, program)
        os.chmod(program, 0o755)
    done = subprocess.run([*prefix, program, "doctor", *options], cwd="/", capture_output=True, text=True,
                          timeout=lib.DEADLINE_S)
    rows, verdict = parse(done.stdout) if done.stdout else ({}, "")
    for line in done.stdout.splitlines():
        case.true(f"a line is wider than {WIDTH}: {line}", len(line) <= WIDTH)
    for what, row in rows.items():
        case.true(f"{what}: the state is {row.state}", row.state in STATES)
        case.true(f"{what}: nothing was found", bool(row.found.strip()))
        case.true(f"{what}: ok, but has a remedy", row.state != "ok" or not row.remedy)
        case.true(f"{what} is missing and no remedy is said", row.state != "missing" or bool(row.remedy))
    return Report(done.returncode, rows, verdict, done.stderr, done.stdout)


def state(report, what):
    return report.rows[what].state if what in report.rows else None


def with_privilege(case):
    """Root on a machine that runs the other tests: everything but the steal of the hypervisor is there."""
    report = doctor(case)
    case.equal("status", report.status, 0)
    case.equal("stderr", report.stderr, "")
    for what, row in report.rows.items():
        if what not in ("steal", "clock", "CAP_SYS_RESOURCE", "memlock limit", "switches reported"):
            case.equal(f"{what} ({row.found})", row.state, "ok")
    for group in GROUPS:
        case.true(f"no row for group {group}", f"group {group}" in report.rows)
    case.true("the cost of a stamp in BPF is not said",
              re.search(r"\d ns in a BPF program", report.rows["clock"].found))


def without_privilege(case):
    report = doctor(case, prefix=NOBODY)
    case.equal("status", report.status, 69)
    for what in ("user", "CAP_BPF", "CAP_PERFMON", "bpf(2)", "probe groups"):
        case.equal(what, state(report, what), "missing")
    for what in ("BPF JIT", "raw tracepoints", "typed tracepoints", "task iterator"):
        case.equal(what, state(report, what), "unchecked")
    # What needs no privilege is still answered.
    for what in ("kernel types (BTF)", "hook sched_switch", "hook sys_enter", "pidfd_open(2)", "run_delay"):
        case.equal(what, state(report, what), "ok")
    case.true("root is not the remedy", "sudo" in report.rows["bpf(2)"].remedy)
    case.true("the verdict is not said", "cannot be observed" in report.verdict)


def two_capabilities_are_enough(case):
    """Not root, with CAP_BPF and CAP_PERFMON alone."""
    report = doctor(case, prefix=(*NOBODY, "--inh-caps=+bpf,+perfmon", "--ambient-caps=+bpf,+perfmon"))
    case.equal("status", report.status, 0)
    case.equal("user", state(report, "user"), "ok")
    case.equal("CAP_SYS_PTRACE", state(report, "CAP_SYS_PTRACE"), "limited")
    for group in GROUPS:
        case.equal(group, state(report, f"group {group}"), "ok")


def refused_groups_are_said(case):
    """Few descriptors: the hooks that come last are lost, one more with each step down, never all at once."""
    down = []
    for files in range(600, 100, -20):
        report = doctor(case, prefix=("prlimit", f"--nofile={files}"))
        if report.status:  # not even the first one
            case.true(f"{files}: lost all with {len(down[-1])} groups down before", len(down[-1]) == len(GROUPS) - 2)
            break
        missing = [group for group in GROUPS if state(report, f"group {group}") == "missing"]
        for group in missing:
            row = report.rows[f"group {group}"]
            case.true(f"{group}: reason {row.found}", "Too many open files" in row.found)
            case.true(f"{group}: remedy {row.remedy}", "ulimit -n" in row.remedy)
        if missing:
            case.true("the verdict hides it", "without what is marked" in report.verdict)
        case.true(f"{files}: {set(missing)} after {down[-1:]}", not down or down[-1] <= set(missing))
        down.append(set(missing))
    case.equal("groups down with many descriptors", down[0], set())
    case.true("go_gc alone was never down", {"go_gc"} in down)
    case.true("io_uring, functions and go_gc alone were never down", {"io_uring", "functions", "go_gc"} in down)
    case.true("all that need hooks, but process, were never down", set(GROUPS) - {"process", "go"} in down)


def no_group_at_all(case):
    report = doctor(case, prefix=("prlimit", "--nofile=20"))
    case.equal("status", report.status, 69)
    case.equal("probe groups", state(report, "probe groups"), "missing")
    case.true("no remedy", "ulimit -n" in report.rows["probe groups"].remedy)


def the_chain_of_switches_is_measured(case):
    """How many this kernel leaves out is its own affair: the row says the number, and by it the state."""
    row = doctor(case).rows["switches reported"]
    numbers = [int(word) for word in re.findall(r"\b\d+\b", row.found)]
    breaks, switches = min(numbers), max(numbers)
    case.true(f"{switches} switches are too few to say", switches >= 2000)
    case.equal("state", row.state, "ok" if breaks <= switches / 1000 else "limited")
    case.equal("without the scheduler", state(doctor(case, "--groups", "fsync"), "switches reported"), None)


def chosen_groups(case):
    report = doctor(case, "--groups", "sched,fsync", "--raw-tracepoints")
    case.equal("status", report.status, 0)
    for group, want, word in (("sched", "ok", "raw tracepoint"), ("fsync", "ok", "raw tracepoint"),
                              ("syscalls", "unchecked", "not asked for"), ("io_uring", "unchecked", "not asked for")):
        row = report.rows[f"group {group}"]
        case.equal(group, (row.state, row.found), (want, word))


def typed_hooks(case):
    """Where the kernel has typed tracepoints, all of ours are: one that the verifier refuses is loaded untyped."""
    report = doctor(case)
    if state(report, "typed tracepoints") != "ok":
        raise lib.Skip("this kernel has no typed tracepoints")
    for group in sorted(set(GROUPS) - {"go", "go_gc", "functions"}):
        case.equal(group, report.rows[f"group {group}"].found, "typed tracepoint")


def namespaces_are_seen(case):
    report = doctor(case, prefix=("unshare", "--pid", "--fork", "--mount-proc"))
    case.equal("status in a PID namespace", report.status, 0)
    case.equal("process ids", state(report, "process ids"), "limited")
    report = doctor(case, prefix=("unshare", "--user", "--map-root-user"))
    case.equal("status in a user namespace", report.status, 69)
    case.equal("CAP_BPF", state(report, "CAP_BPF"), "missing")
    case.true("the namespace is not named", "user namespace" in report.rows["bpf(2)"].remedy)


def wrong_words(case):
    for options in (("now",), ("--groups", "nothing")):
        report = doctor(case, *options)
        case.equal(f"status of {options}", report.status, 64)
        case.true(f"{options}: no single line", report.stderr.count("\n") == 1 and options[-1] in report.stderr)


def a_full_disk_is_a_failure(case):
    with open("/dev/full", "w") as full:
        done = subprocess.run([lib.SKYOBSERVE, "doctor"], stdout=full, stderr=subprocess.PIPE, timeout=lib.DEADLINE_S)
    case.equal("status", done.returncode, 1)


def nothing_is_left(case):
    before = lib.pinned()
    doctor(case)
    case.equal("pinned", lib.pinned() - before, set())


if __name__ == "__main__":
    sys.exit(lib.main([(function.__name__, function) for function in (
        with_privilege, without_privilege, two_capabilities_are_enough, refused_groups_are_said, no_group_at_all,
        the_chain_of_switches_is_measured, chosen_groups, typed_hooks, namespaces_are_seen, wrong_words,
        a_full_disk_is_a_failure, nothing_is_left)]))
