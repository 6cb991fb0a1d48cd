#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the harness reports what goes wrong in a guest: a test that can only pass tests nothing.

Runs test_kernels.py on one kernel with programs that misbehave, each in its own way, and compares all that
it prints. Two boots more than the programs need, since one of them kills the guest.
"""

import sys

sys.dont_write_bytecode = True

import os
import subprocess
import tempfile
from pathlib import Path

import vmlib
from vmlib import CACHE, HERE

KERNEL = "5.10"

# Name of the program, its script, its timeout, and what test_kernels.py has to print for it. Where a guest
# dies the reason is the kernel's, so only its beginning is compared.
PROGRAMS = (
    ("passes", "echo ok passes_case; echo chatter", 20,
     ["ok vm_5.10_passes_case"]),
    ("fails", "echo 'not ok fails_case: want 1, got 2'; exit 1", 20,
     ["not ok vm_5.10_fails_case: want 1, got 2"]),
    ("fails_with_status_0", "echo 'not ok quiet_case: want 1, got 2'", 20,
     ["not ok vm_5.10_quiet_case: want 1, got 2"]),
    ("skips_listed", "echo 'skip listed_case: no such thing here'", 20,
     ["skip vm_5.10_listed_case: no such thing here"]),
    ("skips_unlisted", "echo 'skip unlisted_case: too tired'", 20,
     ["not ok vm_5.10_unlisted_case: skipped, which tests/vm/skips.txt does not allow: too tired"]),
    ("exits_with_3", "echo ok first_case; exit 3", 20,
     ["ok vm_5.10_first_case", "not ok vm_5.10_exits_with_3: exit status 3, but no case failed"]),
    ("says_nothing", "exit 0", 20,
     ["not ok vm_5.10_says_nothing: printed no case"]),
    ("hangs", "echo ok before_hanging; while :; do :; done", 3,
     ["ok vm_5.10_before_hanging", "not ok vm_5.10_hangs: killed, or no end within 3 s"]),
    ("kills_the_guest", "echo ok before_dying; echo c > /proc/sysrq-trigger; sleep 9", 20,
     ["ok vm_5.10_before_dying", "not ok vm_5.10_kills_the_guest: the guest died"]),
    ("runs_after_that", "printf 'ok case_after_death\\nno line end'", 20,
     ["ok vm_5.10_case_after_death"]),
    ("finds_its_disk", "touch /mnt/x && df /mnt | grep -q nvme && echo ok disk_case", 20,
     ["ok vm_5.10_disk_case"]),
    ("finds_its_files", "read x < build/tests/data/given && echo ok given_$x", 20,
     ["ok vm_5.10_given_file"]),
)


def run_kernels(build):
    """What test_kernels.py prints for PROGRAMS, and its status."""
    (build / "tests/data").mkdir(parents=True)
    (build / "tests/data/given").write_text("file\n")
    table = []
    for name, script, timeout_s, _ in PROGRAMS:
        program = build / "tests" / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        table.append(f"tests/{name} timeout:{timeout_s},disk,file:tests/data/*\n")
    (build / "table").write_text("".join(table) + "tests/not_built -\n")
    (build / "skips").write_text(f"{KERNEL} listed_* reason\n")
    # A build folder of its own, but the kernels of the real one.
    env = dict(os.environ, BUILD=str(build), VM_CACHE=str(CACHE))
    done = subprocess.run([HERE / "test_kernels.py", KERNEL, "--table", build / "table", "--skips", build / "skips"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
    if not done.stdout:
        sys.stderr.buffer.write(done.stderr)
    return done.stdout.decode().splitlines(), done.returncode


def main():
    with tempfile.TemporaryDirectory(prefix="vm-harness-") as build:
        lines, status = run_kernels(Path(build))
    failures = 0

    def case(name, good, why):
        nonlocal failures
        failures += not good
        print(f"ok vm_harness_{name}" if good else f"not ok vm_harness_{name}: {why}", flush=True)

    expected = [("misses_what_is_not_built", ["not ok vm_not_built: build/tests/not_built is not built"]),
                ("boots", [f"ok vm_{KERNEL}_boots"])]
    expected += [(name, want) for name, _, _, want in PROGRAMS]
    for name, want in expected:
        got, lines = lines[:len(want)], lines[len(want):]
        same = len(got) == len(want) and all(
            g == w or (w.endswith("the guest died") and g.startswith(w)) for g, w in zip(got, want))
        case(name, same, f"want {want}, got {got}")
    case("prints_nothing_else", not lines, f"got {lines}")
    case("exit_status_is_1", status == 1, f"got {status}")
    return failures != 0


if __name__ == "__main__":
    vmlib.main(main)
