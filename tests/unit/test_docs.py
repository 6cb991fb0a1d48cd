#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`skyobserve explain`, and docs/METRICS.md, which it prints: they say what the tables of the tree say.

Needs no root: everything that explain says comes from tables and made-up snapshots.
"""

import sys

sys.dont_write_bytecode = True

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SKYOBSERVE = Path(os.environ.get("SKYOBSERVE", ROOT / "build" / "skyobserve"))
DOCS = ROOT / "docs" / "METRICS.md"
WIDTH = 80


def run(*options):
    done = subprocess.run([SKYOBSERVE, "explain", *options], capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout, done.stderr


def table_rows(name, macro):
    """First two strings of each row of an x-macro table, whatever stands between them and around."""
    text = (ROOT / "include" / name).read_text()
    return [re.findall(r'"((?:[^"\\]|\\.)*)"', line) for line in text.splitlines() if line.startswith(macro + "(")]


def families():
    """[(name with its ending, help)] of families.def."""
    found = []
    for line in (ROOT / "include" / "families.def").read_text().splitlines():
        words = re.match(r"(CELLS|FAMILY|EXPORTER)\((\w+), (.*)\)$", line)
        if not words:
            continue
        strings = re.findall(r'"((?:[^"\\]|\\.)*)"', words[3])
        name = strings[0]
        if words[1] != "EXPORTER":
            name = "skyobserve_" + name + ("_" + strings[1] if strings[1] else "")
        if words[1] == "CELLS" or ", COUNTER," in words[3]:
            name += "_total"
        elif ", INFO," in words[3]:
            name += "_info"
        found.append((name, strings[-1]))
    return found


def docs_are_what_explain_prints():
    status, text, _ = run("--markdown")
    wrong = [f"status {status}"] if status else []
    if not DOCS.exists():
        return wrong + ["docs/METRICS.md is missing"]
    if DOCS.read_text() != text:
        wrong.append("docs/METRICS.md is stale: build/skyobserve explain --markdown > docs/METRICS.md")
    return wrong


def every_metric_is_in_the_docs():
    text = run("--markdown")[1]
    return [f"{name} or its help text is missing" for name, help_text in families()
            if f"### `{name}`\n" not in text or help_text not in text]


def closed_sets_are_in_the_docs():
    text, wrong = run("--markdown")[1], []
    for name, macro in (("reasons.def", "REASON"), ("drops.def", "DROP"), ("groups.def", "GROUP")):
        for label, help_text in table_rows(name, macro):
            if f"| `{label}` | {help_text} |" not in text:
                wrong.append(f"{name}: {label} is missing")
    for call, via in table_rows("durable.def", "DURABLE"):
        if f"| `{call}` | `{via}` |" not in text:
            wrong.append(f"durable.def: {call} by {via} is missing")
    return wrong


def identities_are_those_of_the_header():
    header = (ROOT / "user/model/identities.h").read_text()
    want = [tuple(cell.strip() for cell in line.split("|")[1:4])
            for line in header.splitlines() if line.startswith(" * | ") and "identity   |" not in line]
    text = run("--markdown")[1].split("## Identities")[1].split("## Exit")[0]
    got = [tuple(cell.strip().strip("`") for cell in line.split("|")[1:4])
           for line in text.splitlines() if line.startswith("| `")]
    return [] if got == want and want else [f"want {want}, got {got}"]


def exit_statuses_are_those_of_the_header():
    header = (ROOT / "user/cmd/targets.h").read_text()
    want = re.findall(r"^\tEXIT_\w+ = (\d+)", header, re.M)
    got = re.findall(r"^\| (\d+) \|", run("--markdown")[1].split("## Exit status")[1], re.M)
    return [] if got == want and want else [f"want {want}, got {got}"]


def without_names_all_are_listed():
    status, text, stderr = run()
    got, want = [line.split()[0] for line in text.splitlines()], [name for name, _ in families()]
    return [] if (status, got, stderr) == (0, want, "") else [f"status {status}, {got}, not {want}"]


def each_metric_is_explained_by_any_of_its_names():
    wrong = []
    for name, help_text in families():
        for word in dict.fromkeys((name, re.sub("_total$", "", name))):
            status, text, _ = run(word)
            if status or not text.startswith(name + "\n") or help_text not in " ".join(text.split()):
                wrong.append(f"{word}: status {status}, {text[:60]!r}")
            wrong += [f"{word}: a line of {len(line)}" for line in text.splitlines() if len(line) > WIDTH]
    for word, name in (("cpu", "skyobserve_cpu_seconds_total"), ("fsyncs_total", "skyobserve_fsyncs_total"),
                       ("skyobserve_fsync_duration_seconds_bucket", "skyobserve_fsync_duration_seconds"),
                       ("off_cpu_duration_seconds_count", "skyobserve_off_cpu_duration_seconds"),
                       ("build_info", "skyobserve_build_info")):
        if not run(word)[1].startswith(name + "\n"):
            wrong.append(f"{word} is not taken as {name}")
    return wrong


def what_it_derives_is_right():
    """Some facts that are known, as samples of what is found by publishing made-up snapshots."""
    wants = {
        "skyobserve_cpu_seconds_total": ("labels process, interaction, mode = user | system", "probe groups sched, syscalls",
                                         "identities cpu, cpu_stamps, modes, wall"),
        "skyobserve_context_switches_total": ("kind = voluntary | involuntary", "identities switches", "probe groups sched"),
        "skyobserve_syscalls_total": ("labels process, interaction (not on every series), syscall, abi (not on", "identities syscalls",
                                      "probe groups syscalls"),
        "skyobserve_syscalls_in_flight": ("identities in_flight",),
        "skyobserve_fsyncs_total": ("via = syscall | io_uring", "probe groups fsync, io_uring", "also with --all"),
        "skyobserve_fsync_errors_total": ("call, via, errno",),
        "skyobserve_probe_group_up": ("labels group = process | sched | syscalls | fsync | io_uring",),
    }
    wrong = []
    for name, texts in wants.items():
        got = " ".join(run(name)[1].split())
        wrong += [f"{name}: no `{text}` in: {got}" for text in texts if text not in got]
    for name in ("skyobserve_syscall_duration_seconds", "skyobserve_build_info"):
        if "also with --all" in run(name)[1]:
            wrong.append(f"{name} is not kept for other processes")
    return wrong


def unknown_names_are_refused():
    wrong = []
    for word, near in (("skyobserve_cpu_second", "skyobserve_cpu_seconds_total"), ("fsync", "skyobserve_fsyncs_total"),
                       ("skyobserve_syscals_total", "skyobserve_syscalls_total"), ("x" * 5000, ""), ("", ""),
                       ("%s%n", "")):
        status, text, stderr = run(word)
        if status != 64 or text or stderr.count("\n") != 1 or near not in stderr:
            wrong.append(f"{word[:30]}: status {status}, {stderr[:200]!r}")
    status, _, stderr = run("--markdown", "cpu")
    if status != 64 or stderr.count("\n") != 1:
        wrong.append(f"--markdown with a name: status {status}")
    return wrong


def a_full_disk_is_a_failure():
    with open("/dev/full", "w") as full:
        done = subprocess.run([SKYOBSERVE, "explain"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    return [] if done.returncode == 1 else [f"status {done.returncode}"]


def main():
    failed = False
    for case in (docs_are_what_explain_prints, every_metric_is_in_the_docs, closed_sets_are_in_the_docs,
                 identities_are_those_of_the_header, exit_statuses_are_those_of_the_header,
                 without_names_all_are_listed, each_metric_is_explained_by_any_of_its_names, what_it_derives_is_right,
                 unknown_names_are_refused, a_full_disk_is_a_failure):
        wrong = case()
        failed |= bool(wrong)
        print(f"not ok {case.__name__}: {'; '.join(wrong)[:1500]}" if wrong else f"ok {case.__name__}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
