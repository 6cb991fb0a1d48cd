#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the test programs of the tree and adds up what they say.

    tests/run.py                       every stage
    tests/run.py --user | --root       the stages that need no root, those that do
    tests/run.py unit sim              these stages
    tests/run.py --only 'unit/test_hist*'

A stage is a folder of tests/. Its programs are found by their sources, so that one which was not built
fails instead of being forgotten: test_*.c is BUILD/tests/STAGE/test_*, test_*.py and test_*.sh run as they
are. A program prints one line per case, `ok NAME`, `not ok NAME: why` or `skip NAME: why`, and ends with
another status than 0 if a case failed. Dying, printing no case at all, or passing its deadline is one
failure more. A skip must be listed in tests/skips.txt; with CI=true one that is not listed is a failure.

The last line is `N passed, N failed, N skipped`; the status is 1 if anything failed.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import collections
import fnmatch
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKIPS = ROOT / "tests" / "skips.txt"

# needs_root: without root its programs are skipped.
# deadline_s: of one program; it is killed then.
# budget_s:   of the whole stage on a machine with 2 cores. Passing it is reported, not a failure: a slow
#             machine is no fault of the code.
Stage = collections.namedtuple("Stage", "name needs_root deadline_s budget_s")

STAGES = (
    Stage("unit", False, 60, 30),
    Stage("golden", False, 60, 30),
    Stage("sim", False, 120, 120),
    Stage("dashboards", False, 120, 60),
    Stage("bpf", True, 120, 180),
    Stage("e2e", True, 300, 800),
    Stage("vm", True, 900, 900),
)

CASE_LINE = re.compile(r"(ok|not ok|skip) ([^\s:][^:]*?)(?:: (.*))?")

# Of the output of a program that failed. Its end says most.
MAX_LINES_SHOWN = 200

Program = collections.namedtuple("Program", "name argv missing")


def programs(stage, build):
    """The programs of a stage, in the order of their names."""
    found = []
    for source in sorted((ROOT / "tests" / stage.name).glob("test_*")):
        name = f"{stage.name}/{source.stem}"
        if source.suffix == ".py":
            found.append(Program(name, [sys.executable, str(source)], None))
        elif source.suffix == ".sh":
            found.append(Program(name, ["sh", str(source)], None))
        elif source.suffix == ".c" and not source.name.endswith(".bpf.c"):
            built = build / "tests" / stage.name / source.stem
            stale = not built.exists() or built.stat().st_mtime < source.stat().st_mtime
            found.append(Program(name, [str(built)], f"{built} is not built" if stale else None))
    return found


class Skips:
    """tests/skips.txt: PROGRAM/CASE (patterns), then the reason."""

    def __init__(self):
        self.rows = []
        for number, line in enumerate(SKIPS.read_text().splitlines() if SKIPS.exists() else [], 1):
            if not line.strip() or line.startswith("#"):
                continue
            words = line.split(None, 1)
            if len(words) != 2:
                sys.exit(f"{SKIPS}:{number}: want PROGRAM/CASE and a reason")
            self.rows.append(words[0])

    def allow(self, name):
        return any(fnmatch.fnmatchcase(name, row) for row in self.rows)


class Totals:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.failures = []
        self.skips = []


def stop_group(pid):
    """Whatever a program left running in its group must not disturb the next one."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def invoking_user():
    """Under sudo, who called it: stages that need no root run as that user."""
    uid, gid = (os.environ.get(name, "") for name in ("SUDO_UID", "SUDO_GID"))
    if os.geteuid() or not uid.isdigit() or not gid.isdigit() or uid == "0":
        return {}
    return {"user": int(uid), "group": int(gid), "extra_groups": []}


def run_program(argv, deadline_s, environment, identity):
    """Returns (status or None at the deadline, output, seconds). Output is standard output and error, mixed."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="skyobserve-test-") as folder:
        if identity:
            os.chown(folder, identity["user"], identity["group"])
        child = subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, start_new_session=True,
                                 env={**environment, "TEST_TMPDIR": folder}, **identity)
        chunks = []
        # A descendant may hold the pipe open after the program ended, so its end is not waited for.
        reader = threading.Thread(target=lambda: chunks.extend(iter(lambda: os.read(child.stdout.fileno(), 65536), b"")),
                                  daemon=True)
        reader.start()
        try:
            status = child.wait(deadline_s)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            # At the deadline, or when this run is stopped: time to remove what it made.
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(5)
                except subprocess.TimeoutExpired:
                    pass
            stop_group(child.pid)
            child.wait()
        reader.join(5)
        text = b"".join(chunks).decode(errors="replace")
    return status, text, time.monotonic() - begin


def judge(program, status, text, deadline_s, skips, is_ci):
    """The cases of one program: lists of names passed, of (name, why) failed, of (name, why) skipped."""
    passed, failed, skipped = [], [], []
    for line in text.splitlines():
        found = CASE_LINE.fullmatch(line)
        if not found:
            continue
        result, name, why = found[1], f"{program.name}/{found[2]}", found[3] or "no reason given"
        if result == "ok":
            passed.append(name)
        elif result == "not ok":
            failed.append((name, why))
        elif is_ci and not skips.allow(name):
            failed.append((name, f"a skip that tests/skips.txt does not list: {why}"))
        else:
            skipped.append((name, why))
    if status is None:
        failed.append((program.name, f"no end within {deadline_s} s"))
    elif status < 0:
        failed.append((program.name, f"died of {signal.Signals(-status).name}"))
    elif status and not any(CASE_LINE.fullmatch(l) and l.startswith("not ok ") for l in text.splitlines()):
        failed.append((program.name, f"ended with status {status} and no failed case"))
    elif not status and not passed and not failed and not skipped:
        failed.append((program.name, "printed no case"))
    return passed, failed, skipped


def show(text):
    lines = text.splitlines()
    if len(lines) > MAX_LINES_SHOWN:
        print(f"    | ... {len(lines) - MAX_LINES_SHOWN} lines before")
    for line in lines[-MAX_LINES_SHOWN:]:
        print(f"    | {line}")


def run_stage(stage, options, skips, totals):
    selected = [p for p in programs(stage, options.build)
                if not options.only or any(fnmatch.fnmatchcase(p.name, pattern) for pattern in options.only)]
    if not selected:
        return
    is_ci = os.environ.get("CI") == "true"
    environment = {**os.environ, "BUILD": str(options.build), "SKYOBSERVE": str(options.build / "skyobserve"),
                   "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8",
                   "ASAN_OPTIONS": "abort_on_error=0:detect_leaks=1", "UBSAN_OPTIONS": "print_stacktrace=1"}
    print(f"== {stage.name}", flush=True)
    begin = time.monotonic()
    for program in selected:
        if stage.needs_root and os.geteuid():
            status, text, seconds = 0, "skip all: needs root\n", 0.0
        elif program.missing:
            status, text, seconds = 1, f"not ok built: {program.missing}\n", 0.0
        else:
            status, text, seconds = run_program(program.argv, stage.deadline_s, environment,
                                                {} if stage.needs_root else invoking_user())
        passed, failed, skipped = judge(program, status, text, stage.deadline_s, skips, is_ci)
        totals.passed += len(passed)
        totals.failed += len(failed)
        totals.skipped += len(skipped)
        totals.failures += failed
        totals.skips += skipped
        counts = [f"{len(passed)} ok"] + [f"{len(failed)} FAILED"] * bool(failed) + \
                 [f"{len(skipped)} skipped"] * bool(skipped)
        print(f"  {program.name:<44} {seconds:7.2f} s  {', '.join(counts)}", flush=True)
        if failed or options.verbose:
            show(text)
    seconds = time.monotonic() - begin
    over = "  OVER BUDGET" if seconds > stage.budget_s else ""
    print(f"-- {stage.name}: {seconds:.1f} s of {stage.budget_s} s{over}", flush=True)


def heed_signals():
    """Who runs us in the background of a shell, or with nohup, ignores some, and so would what we test."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL),
                            (signal.SIGQUIT, signal.SIG_DFL)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)


def main():
    heed_signals()
    names = [s.name for s in STAGES]
    parser = argparse.ArgumentParser(description="Run the tests; see the top of this file.")
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=" ".join(names))
    parser.add_argument("--user", action="store_true", help="the stages that need no root")
    parser.add_argument("--root", action="store_true", help="the stages that need root")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="programs, as STAGE/NAME; repeatable")
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="folder of the built programs")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the output of all programs")
    options = parser.parse_args()
    options.build = options.build.absolute()
    for name in options.stages:
        if name not in names:
            parser.error(f"no stage '{name}'; want one of {' '.join(names)}")

    everything = not (options.stages or options.user or options.root)
    totals, skips = Totals(), Skips()
    # Signals end the run through the clean-up of the running program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    for stage in STAGES:
        if everything or stage.name in options.stages or (options.root if stage.needs_root else options.user):
            run_stage(stage, options, skips, totals)

    for name, why in totals.skips:
        print(f"skipped {name}: {why}" + ("" if skips.allow(name) else "  (not listed in tests/skips.txt)"))
    for name, why in totals.failures:
        print(f"FAILED {name}: {why}")
    print(f"{totals.passed} passed, {totals.failed} failed, {totals.skipped} skipped", flush=True)
    # A pattern that matches nothing must not look like success.
    return totals.failed > 0 or (bool(options.only) and totals.passed + totals.skipped == 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
