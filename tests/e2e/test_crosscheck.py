#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`skyobserve crosscheck`: honest profiles of several Go versions, and profiles with a fault each."""

import sys

sys.dont_write_bytecode = True

import gzip
import json
import os
import re
import subprocess
import xml.etree.ElementTree
from pathlib import Path

import lib

sys.path.insert(0, str(lib.ROOT / "tests/go"))

import build
import fetch
import vmlib

HOUR_NS = 3600 * 10**9
GOOD, REFUTED, UNRESOLVED, INVALID = 0, 1, 2, 3


# --- profile.proto, as far as faults are made in it: a message is [field, wire type, value] ---

def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def take_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def parse(data):
    fields, at = [], 0
    while at < len(data):
        key, at = take_varint(data, at)
        value, at = take_varint(data, at)
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        fields.append([key >> 3, key & 7, value])
    return fields


def write(fields):
    return b"".join(varint(f << 3 | wire) + (varint(len(v)) + v if wire == 2 else varint(v)) for f, wire, v in fields)


def packed(numbers):
    return b"".join(map(varint, numbers))


def unpacked(data):
    numbers, at = [], 0
    while at < len(data):
        number, at = take_varint(data, at)
        numbers.append(number)
    return numbers


SAMPLE, STRINGS, TIME = 2, 6, 9
LOCATIONS, VALUES = 1, 2


class Profile:
    """A profile whose samples and texts can be changed."""

    def __init__(self, path):
        self.fields = parse(gzip.decompress(Path(path).read_bytes()))

    def samples(self):
        """[(field of the profile, {location ids, values})]"""
        for field in self.fields:
            if field[0] == SAMPLE:
                parts = {LOCATIONS: [], VALUES: []}
                for f, wire, v in parse(field[2]):  # Go packs only what has more than two
                    if f in parts:
                        parts[f] += unpacked(v) if wire == 2 else [v]
                yield field, parts[LOCATIONS], parts[VALUES]

    @staticmethod
    def set(field, locations, values):
        rest = [f for f in parse(field[2]) if f[0] not in (LOCATIONS, VALUES)]
        field[2] = write([[LOCATIONS, 2, packed(locations)], [VALUES, 2, packed(values)]] + rest)

    def replace_text(self, old, new):
        found = [f for f in self.fields if f[0] == STRINGS and f[2] == old.encode()]
        for field in found:
            field[2] = new.encode()
        return len(found)

    def save(self, path):
        Path(path).write_bytes(gzip.compress(write(self.fields)))
        return path


# --- runs ---

def crosscheck(case, profile, record, status, *options):
    """What it says in JSON; it must end with @status."""
    done = subprocess.run([lib.SKYOBSERVE, "crosscheck", "--profile", profile, "--record", record, "--json", *options],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    said = json.loads(done.stdout) if done.stdout else {"runs": [{"claims": [], "gates": []}]}
    run = said["runs"][0]
    wanted = status if isinstance(status, tuple) else (status,)
    if done.returncode not in wanted:
        case.note(f"{Path(profile).name}: status {done.returncode}, not {status}: {lib.one_line(done.stderr)} "
                  f"{[(c['id'], c['verdict'], c['reason'], c['text']) for c in run['claims']]} "
                  f"{[g for g in run['gates'] if g['state'] == 'invalid']}")
    return {c["id"]: c for c in run["claims"]}, {g["name"]: g for g in run["gates"]}


class Profiled:
    """A program that profiles itself when it is told to, and the record of that."""

    def __init__(self, case, *options, program=None, max_procs=2):
        self.case, self.profile, self.record = case, case.path("cpu.pb.gz"), case.path("run.sky")
        self.process = case.popen([program or lib.WORKLOADS / "profiled", *options, self.profile], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, env={**os.environ, "GOMAXPROCS": str(max_procs)})
        if self.process.stdout.readline() != "ready\n":
            raise lib.Failed("the program is not ready")

    def observe(self, pids=None):
        """Record until stopped; the window has begun."""
        self.recorder = self.case.popen([lib.SKYOBSERVE, "record", "-o", self.record, "--interval", "1", "--name", "profiled",
                                         "--pid", *map(str, pids or [self.process.pid])],
                                        stderr=open(self.case.path("record.err"), "w"))
        lib.poll("the record begins", lambda: os.path.exists(self.record) and os.path.getsize(self.record) > 1000)

    def run(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        truth = json.loads(self.process.stdout.readline())
        return truth

    def stop(self):
        self.recorder.send_signal(2)
        status = self.recorder.wait(timeout=60)
        if status:
            raise lib.Failed(f"record ends with {status}: {lib.one_line(Path(self.case.path('record.err')).read_text())}")

    def whole(self):
        self.observe()
        truth = self.run()
        self.stop()
        return truth


def honest(case, claims, gates):
    """
    One signal, one sample, at one place; the CPU time that was sampled is what was spent. Beside other work the kernel's
    tick comes too late for some of the profiler's timers: what that lost is counted, and nothing is confirmed that it could
    have changed.
    """
    case.equal("census", (claims["C1"]["verdict"], claims["C1"]["profiler"]), ("CONFIRMED", claims["C1"]["observer"][0]))
    case.at_least("samples", claims["C1"]["n"], 500)
    for name in ("C3", "C9"):
        case.true(f"{name} is {claims[name]}", claims[name]["verdict"] == "CONFIRMED")
    whole = claims["C2"]["verdict"] == "CONFIRMED"
    lost = claims["C2"]["reason"] in ("LOW_COVERAGE", "WINDOW_EDGES") and -0.2 < claims["C2"]["delta"] < -0.01
    case.true(f"C2 is {claims['C2']}", whole or lost)
    case.true(f"C5 is {claims['C5']}", claims["C5"]["verdict"] == "CONFIRMED" or (lost and claims["C5"]["verdict"] == "UNRESOLVED"))
    case.equal("the profile was seen", gates["profiler"]["state"], "holds")


def relabelled(profile, path):
    """40 % of the samples of user code become a system call that is there."""
    p = Profile(profile)
    text = subprocess.run([lib.SKYOBSERVE, "profile", "--raw", profile], stdout=subprocess.PIPE, text=True, check=True).stdout
    call = int(re.search(r"^ *(\d+): 0x[0-9a-f]+ M=\d+ (?:\S+/)?syscall(?:/linux)?\.Syscall6 ", text, re.M)[1])
    stack = next(locations for _, locations, _ in p.samples() if locations[0] == call)
    extra = []
    for field, locations, values in p.samples():
        n = values[0] * 2 // 5
        if locations[0] != call and n:
            extra.append([SAMPLE, 2, write([[LOCATIONS, 2, packed(stack)], [VALUES, 2, packed([n, n * values[1] // values[0]])]])])
            p.set(field, locations, [values[0] - n, values[1] - n * values[1] // values[0]])
    p.fields += extra
    return p.save(path)


def dropped(profile, path):
    """A sixth of the samples is gone."""
    p = Profile(profile)
    for field, locations, values in p.samples():
        n = values[0] // 6
        p.set(field, locations, [values[0] - n, values[1] - n * values[1] // values[0]])
    return p.save(path)


def faults(case):
    """An honest profile is confirmed; the same with a fault is not, and what is said names the fault."""
    run = Profiled(case)
    run.whole()
    claims, gates = crosscheck(case, run.profile, run.record, (GOOD, UNRESOLVED))
    honest(case, claims, gates)

    claims, _ = crosscheck(case, relabelled(run.profile, case.path("relabelled.gz")), run.record, REFUTED)
    case.equal("relabelled", [claims[c]["verdict"] for c in ("C1", "C3", "C5")], ["CONFIRMED", "REFUTED", "REFUTED"])
    claims, _ = crosscheck(case, dropped(run.profile, case.path("dropped.gz")), run.record, REFUTED)
    case.equal("dropped", [claims[c]["verdict"] for c in ("C1", "C2")], ["REFUTED", "REFUTED"])
    case.true("what is missing is said", "are not in it" in claims["C2"]["text"] and claims["C5"]["bounds"])

    program = Profile(run.profile)
    case.at_least("the program's name", program.replace_text(str(lib.WORKLOADS / "profiled"), "/usr/bin/other"), 1)
    for field in program.fields:  # and its build id, if it has one
        if field[0] == 3:
            field[2] = write([f for f in parse(field[2]) if f[0] != 6])
    _, gates = crosscheck(case, program.save(case.path("program.gz")), run.record, INVALID)
    case.equal("another program", gates["program"]["state"], "invalid")

    late = Profile(run.profile)
    for field in late.fields:
        if field[0] == TIME:
            field[2] += HOUR_NS
    _, gates = crosscheck(case, late.save(case.path("late.gz")), run.record, INVALID)
    case.equal("another hour", gates["window"]["state"], "invalid")

    foreign = Profile(run.profile)
    case.at_least("a function", foreign.replace_text("main.spin", "runtime.kevent"), 1)
    claims, _ = crosscheck(case, foreign.save(case.path("foreign.gz")), run.record, UNRESOLVED)
    case.equal("another system", (claims["C5"]["verdict"], claims["C5"]["reason"]), ("NOT_TESTABLE", "NOT_LINUX"))
    crosscheck(case, case.path("foreign.gz"), run.record, GOOD, "--unresolved-ok")

    junit = case.path("junit.xml")
    crosscheck(case, case.path("dropped.gz"), run.record, REFUTED, "--junit", junit)
    suites = xml.etree.ElementTree.parse(junit).getroot()
    failures = [c.get("name") for c in suites.iter("testcase") if c.find("failure") is not None]
    case.true(f"JUnit: {failures}", {"C1 census", "C2 coverage"} <= set(failures))


def marked(profile, path):
    """Four fifths of the samples of user code become the collector's."""
    p = Profile(profile)
    text = subprocess.run([lib.SKYOBSERVE, "profile", "--raw", profile], stdout=subprocess.PIPE, text=True, check=True).stdout
    worker, drain = ({int(n) for n in re.findall(rf"^ *(\d+): 0x[0-9a-f]+ M=\d+ runtime\.{name} ", text, re.M)}
                     for name in ("gcBgMarkWorker", "gcDrain"))
    stack = next(locations for _, locations, _ in p.samples() if worker & set(locations) and drain & set(locations))
    extra = []
    for field, locations, values in p.samples():
        n = values[0] * 4 // 5
        if not worker & set(locations) and n:
            extra.append([SAMPLE, 2, write([[LOCATIONS, 2, packed(stack)],
                                            [VALUES, 2, packed([n, n * values[1] // values[0]])]])])
            p.set(field, locations, [values[0] - n, values[1] - n * values[1] // values[0]])
    p.fields += extra
    return p.save(path)


def collector(case):
    """What background workers spent is between bounds that hold the honest profile's share, and not one with a fault."""
    run = Profiled(case, "-garbage", "-cpu", "12s")
    run.whole()
    claims, _ = crosscheck(case, run.profile, run.record, (GOOD, UNRESOLVED))
    c6 = claims["C6"]
    case.true(f"C6 is {c6}", c6["verdict"] == "CONFIRMED" or
              (c6["verdict"], c6["reason"]) in (("UNRESOLVED", "EXACT_SIDE_BOUNDED"), ("UNRESOLVED", "LOW_COVERAGE"),
                                                 ("UNRESOLVED", "STRADDLES_MARGIN")))
    case.at_least("marking in the profile", c6["profiler"], 0.03)
    error = 3 * (c6["profiler"] * (1 - c6["profiler"]) / c6["n"]) ** 0.5
    low, high = c6["observer"]
    case.true(f"{c6['profiler']} is not in {low} to {high}", low - error <= c6["profiler"] <= high + error)
    case.at_most("the upper bound", high, 0.9)
    claims, _ = crosscheck(case, marked(run.profile, case.path("marked.gz")), run.record, (GOOD, REFUTED, UNRESOLVED))
    case.equal("marked", claims["C6"]["verdict"], "REFUTED")


def few_samples(case):
    """A second of CPU, a part of it in calls: neither confirmed nor refuted, and how many samples it would take."""
    run = Profiled(case, "-cpu", "1s", "-reads", "8", "-depth", "200")
    run.whole()
    claims, _ = crosscheck(case, run.profile, run.record, UNRESOLVED)
    case.equal("calls", (claims["C5"]["verdict"], claims["C5"]["reason"]), ("UNRESOLVED", "TOO_FEW_SAMPLES"))
    case.at_least("samples needed", claims["C5"]["n_needed"], claims["C5"]["n"] + 1)
    case.true(f"cut stacks: {claims['C12']}", claims["C12"]["profiler"] > 0.5 and "64 calls" in claims["C12"]["text"])


def other_process(case):
    """The same program in two processes: a profile of the one is not taken for one of the other."""
    run = Profiled(case, "-cpu", "1s")
    other = case.popen([lib.WORKLOADS / "profiled", case.path("none")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    other.stdout.readline()
    run.observe([other.pid])
    run.run()
    run.stop()
    _, gates = crosscheck(case, run.profile, run.record, INVALID)
    case.equal("no profile was seen", gates["profiler"]["state"], "invalid")


def version_case(version, cgo):
    def run_version(case):
        goroot = fetch.toolchains()[version]
        row = build.Variant("../workloads/profiled", build.CGO if cgo else build.STATIC, [])
        with vmlib.lock("go"):
            program = build.build(version, goroot, "profiled-cgo" if cgo else "profiled", row)
        run = Profiled(case, "-cpu", "6s", program=program, max_procs=1)
        truth = run.whole()
        claims, gates = crosscheck(case, run.profile, run.record, (GOOD, UNRESOLVED))
        honest(case, claims, gates)
        case.true(f"{truth['go']} is go{version}", truth["go"].startswith("go" + fetch.series(version)))
    return run_version


def ci_example(case):
    """The script for CI, as it is, on the sample under load: its artifacts are there, and its runs are valid."""
    port, folder = case.path("port"), Path(case.path("artifacts"))
    app = case.popen([lib.WORKLOADS / "sampleapp", "-pprof", "-port-file", port], stdout=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL)
    lib.poll("the sample listens", lambda: os.path.exists(port))
    address = Path(port).read_text().strip()
    case.popen([lib.WORKLOADS / "sampleload", "-connections", "2", "-kind", "event", "-spin-us", "3000", "-url",
                f"http://{address}/"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    done = subprocess.run([lib.ROOT / "packaging/ci-example/crosscheck.sh", str(app.pid),
                           f"http://{address}/debug/pprof/profile", "3", "2", str(folder)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, env={**os.environ, "SKYOBSERVE": str(lib.SKYOBSERVE)})
    case.true(f"status {done.returncode}: {lib.one_line(done.stdout)}", done.returncode in (GOOD, REFUTED, UNRESOLVED))
    case.equal("artifacts", sorted(p.name for p in folder.iterdir()),
               sorted(["report.txt", "junit.xml", *(f"run-{i}.sky{s}" for i in (1, 2) for s in ("", ".pb.gz"))]))
    report = (folder / "report.txt").read_text()
    case.equal("each census is equal", len(re.findall(r"^C1  census .* \+0 +CONFIRMED", report, re.M)), 2)
    case.true(f"repeats are judged: {report}", "ALL RUNS" in report and "C10 repeats: calls" in report)


def mistakes(case):
    def say(*arguments):
        done = subprocess.run([lib.SKYOBSERVE, "crosscheck", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        case.true(f"one line: {done.stderr}", done.stderr.count("\n") == 1)
        return done.returncode, done.stderr

    nothing, junk = case.path("nothing"), case.path("junk")
    Path(junk).write_bytes(b"junk")
    for arguments, status, words in (
            ((), lib.STATUS_USAGE, "a record for each profile"),
            (("--profile", junk), lib.STATUS_USAGE, "a record for each profile"),
            (("--profile", nothing, "--record", junk), 1, nothing),
            (("--profile", junk, "--record", junk), 1, f"{junk}: ")):
        got, text = say(*arguments)
        case.true(f"{arguments}: {got} {text}", got == status and words in text)


def cases():
    found = list(fetch.toolchains())
    yield "faults", faults
    yield "collector", collector
    yield "few_samples", few_samples
    yield "other_process", other_process
    yield "mistakes", mistakes
    yield "ci_example", ci_example
    # The distribution's and the newest, and one with C in it.
    if len(found) > 1:
        yield f"newest_go_{found[-1]}", version_case(found[-1], False)
    yield f"cgo_{found[0]}", version_case(found[0], True)


if __name__ == "__main__":
    sys.exit(lib.main(list(cases())))
