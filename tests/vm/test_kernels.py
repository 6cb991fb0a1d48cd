#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the programs of guest_tests.txt on Debian's kernels, one boot per kernel.

Prints one line per case, `ok NAME`, `not ok NAME: why` or `skip NAME: why`, and fails if any case failed.
Needs no root: the guest has its own.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import collections
import fnmatch
import re
import shlex
from pathlib import Path

import fetch
import vmlib
import vmrun
from vmlib import BUILD, HERE, ROOT, VmError, note

PROGRAM_TIMEOUT_S = 120

# Added to a program's time before the whole guest is given up: the guest's own `timeout` comes first, and
# this only matters when the guest hangs.
HANG_GRACE_S = 60

# Lines of a failed program that are shown.
MAX_LINES_SHOWN = 60

CASE_LINE = re.compile(r"(ok|not ok|skip) ([A-Za-z0-9_.:-]+)(?:: (.*))?")

Program = collections.namedtuple("Program", "path arguments disk files timeout_s possible kernel")

ONLINE_CPUS = 2


def table_lines(path):
    """Lines of a table without comments and blank ones, each with its place for messages."""
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            yield f"{Path(path).name}:{number}", line


def expand(path):
    """A pattern is expanded over the sources, so that what was not built is missed."""
    if not any(c in path for c in "*?["):
        return [path]
    return sorted(str(source.relative_to(ROOT).with_suffix("")) for source in ROOT.glob(f"{path}.c"))


def read_programs(table):
    programs = []
    for place, line in table_lines(table):
        path, needs, *arguments = shlex.split(line)
        disk, files, timeout_s, possible, kernel = False, [], PROGRAM_TIMEOUT_S, ONLINE_CPUS, None
        for need in needs.split(","):
            word, _, value = need.partition(":")
            if word == "disk":
                disk = True
            elif word == "file" and value:
                files += [p for p in sorted(BUILD.glob(value)) if p.is_file()]
            elif word == "timeout" and value.isdigit():
                timeout_s = int(value)
            elif word == "possible" and value.isdigit():
                possible = int(value)
            elif word == "kernel" and value:
                kernel = value
            elif word != "-":
                raise VmError(f"{place}: '{need}' is no need")
        programs += [Program(p, arguments, disk, files, timeout_s, possible, kernel) for p in expand(path)]
    return programs


class Skips:
    """The list of skips that are allowed, and which of them were used."""

    def __init__(self, path):
        self.rows, self.used = [], set()
        for place, line in table_lines(path):
            words = line.split(None, 2)
            if len(words) != 3:
                raise VmError(f"{place}: want KERNEL CASE REASON")
            self.rows.append((place, *words))

    def allows(self, kernel, case):
        matches = {(place, kernel) for place, kernels, pattern, _ in self.rows
                   if kernel in kernels.split(",") and fnmatch.fnmatch(case, pattern)}
        self.used |= matches
        return bool(matches)

    def unused(self, kernel):
        """Rows for a kernel that ran, but on which no skip needed them."""
        return [r for r in self.rows if kernel in r[1].split(",") and (r[0], kernel) not in self.used]


class Report:
    """Prints the cases and counts the failures."""

    def __init__(self, skips):
        self.failures = 0
        self.skips = skips

    def case(self, result, name, why=None):
        self.failures += result == "not ok"
        print(f"{result} {name}" + (f": {why}" if why else ""), flush=True)

    def guest_case(self, kernel, guest, result, name, why):
        if result == "skip" and not self.skips.allows(kernel, name):
            result, why = "not ok", f"skipped, which tests/vm/skips.txt does not allow: {why or 'no reason given'}"
        elif result == "not ok":
            why = why or "no reason given"
        self.case(result, f"vm_{guest}_{name}", why)


class KernelRun:
    """
    All programs on one kernel, in guests with so many possible CPUs: normally one boot, one more after each
    program that killed the guest.

    When the whole guest hangs (its own `timeout` did not end the program either), that program is run once
    more, with a remark: emulated CPUs stall now and then on a busy machine, see README.md. Its cases are
    printed when it has ended, so that they are printed once.
    """

    def __init__(self, kernel, possible, programs, report):
        self.kernel, self.possible, self.programs, self.report = kernel, possible, programs, report
        self.name = kernel if possible == ONLINE_CPUS else f"{kernel}_{possible}_cpus"     # of the guest, in cases
        self.current = None         # index of the program that runs
        self.next = 0               # the first program that has not been started
        self.hung = set()           # programs during which the guest hung
        self.booted = False         # and said so

    def run(self):
        folder, = fetch.fetch([self.kernel])
        self.release = (folder / "release").read_text()
        while self.next < len(self.programs) or not self.booted:
            guest = vmrun.boot(kernel=self.kernel, command=self.script(), files=self.files(), on_line=self.on_line,
                               timeout_s=HANG_GRACE_S, smp=f"{ONLINE_CPUS},maxcpus={self.possible}",
                               disk=any(p.disk for p in self.programs))
            if guest.release != self.release:
                why = guest.fault or f"runs {guest.release}, want {self.release}"
                self.report.case("not ok", f"vm_{self.name}_boots", why)
                return
            if self.current is not None and guest.hung and self.current not in self.hung:
                self.hung.add(self.current)
                note(f"vm_{self.name}: the guest hung in {self.programs[self.current].path}, which is run once more")
                self.next, self.current = self.current, None
            elif self.current is not None:
                self.end(None, guest.fault or "the guest's script ended early")
            elif guest.status is None:
                # Between two programs, or after the last: links and processes were being torn down.
                left = len(self.programs) - self.next
                self.report.case("not ok", f"vm_{self.name}_ends", f"{guest.fault}; {left} programs were not run")
                return

    def files(self):
        wanted = {BUILD / p.path for p in self.programs} | {f for p in self.programs for f in p.files}
        return [(str(f), f"/build/{f.relative_to(BUILD)}") for f in sorted(wanted)]

    def script(self):
        lines = ["echo VM-BOOTED $(cat /sys/devices/system/cpu/possible)"]
        for i, p in enumerate(self.programs[self.next:], self.next):
            command = shlex.join([f"build/{p.path}", *p.arguments])
            lines.append(f"echo VM-BEGIN {i}; timeout -s KILL {p.timeout_s} {command}; echo VM-END {i} $?")
        return "\n".join(lines)

    def on_line(self, line, guest):
        text = line.decode(errors="replace")
        if text.startswith("VM-BOOTED ") and guest.release == self.release and not self.booted:
            self.booted = True
            possible = text.split()[1]
            if possible != f"0-{self.possible - 1}":
                self.report.case("not ok", f"vm_{self.name}_has_its_cpus", f"possible are {possible}")
            note(f"vm_{self.name}: {guest.release} booted in {guest.boot_s:.1f} s")
            self.report.case("ok", f"vm_{self.name}_boots")
        begin = re.fullmatch(r"VM-BEGIN (\d+)", text)
        # A program whose last line has no end leaves it before the marker.
        end = re.fullmatch(r"(.*)VM-END (\d+) (\d+)", text)
        if begin:
            self.begin(int(begin[1]), guest)
        elif end and self.current == int(end[2]):
            if end[1]:
                self.program_line(end[1])
            self.end(int(end[3]), None)
            guest.extend(HANG_GRACE_S)
        elif self.current is not None:
            self.program_line(text)

    def begin(self, index, guest):
        self.current, self.next = index, index + 1
        self.cases, self.lines = [], []
        guest.extend(self.programs[index].timeout_s + HANG_GRACE_S)

    def program_line(self, text):
        found = CASE_LINE.fullmatch(text)
        if found:
            self.cases.append(found.groups())
        else:
            self.lines.append(text)

    def end(self, status, fault):
        """The program ended with a status, or with the guest. Its exit status is a case only when it says more."""
        program = self.programs[self.current]
        failed = any(result == "not ok" for result, _, _ in self.cases)
        for case in self.cases:
            self.report.guest_case(self.kernel, self.name, *case)
        if fault is None and status == 128 + 9:
            fault = f"killed, or no end within {program.timeout_s} s"
        elif fault is None and status and not failed:
            fault = f"exit status {status}, but no case failed"
        elif fault is None and not self.cases:
            fault = "printed no case"
        if fault:
            self.report.case("not ok", f"vm_{self.name}_{Path(program.path).name}", fault)
        if fault or failed:
            for line in self.lines[-MAX_LINES_SHOWN:]:
                note(f"{Path(program.path).name}: {line}")
        self.current = None


def build_probe():
    probe_object = vmlib.build_bpf("probe", "probe.bpf.c")
    vmlib.build_c("probe", ["probe.c"], [f'-DPROBE_OBJECT="{probe_object}"'], [probe_object])


def main():
    parser = argparse.ArgumentParser(description="Run the guest tests on Debian's kernels.")
    parser.add_argument("kernels", nargs="*", help="series, see fetch.py; default: $KERNELS or 5.10 6.1")
    parser.add_argument("--only", metavar="GLOB", default="*", help="only programs whose name matches")
    parser.add_argument("--table", metavar="FILE", default=HERE / "guest_tests.txt", help="other programs")
    parser.add_argument("--skips", metavar="FILE", default=HERE / "skips.txt", help="other skips")
    options = parser.parse_args()

    build_probe()
    kernels, report = vmlib.wanted_kernels(options.kernels), Report(Skips(options.skips))
    programs = [p for p in read_programs(options.table) if fnmatch.fnmatch(Path(p.path).name, options.only)]
    if not programs:
        raise VmError(f"no program matches '{options.only}'")
    for missing in [p for p in programs if not (BUILD / p.path).exists()]:
        report.case("not ok", f"vm_{Path(missing.path).name}", f"build/{missing.path} is not built")
        programs.remove(missing)

    for kernel in kernels:
        try:
            mine = [p for p in programs if p.kernel in (None, kernel)]
            for possible in sorted({p.possible for p in mine}):
                KernelRun(kernel, possible, [p for p in mine if p.possible == possible], report).run()
        except VmError as e:
            report.case("not ok", f"vm_{kernel}_boots", str(e))
    # Only of a full run that went well: a program that died could not skip.
    for kernel in kernels if options.only == "*" and not report.failures else []:
        for place, _, pattern, _ in report.skips.unused(kernel):
            report.case("not ok", f"vm_{kernel}_skips_are_needed", f"{place}: nothing skipped '{pattern}'")
    return report.failures != 0


if __name__ == "__main__":
    vmlib.main(main)
