#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`skyobserve profile` beside `go tool pprof`, on the same files: numbers, byte by byte, of every kind of profile."""

import sys

sys.dont_write_bytecode = True

import collections
import gzip
import json
import os
import re
import subprocess
from pathlib import Path

import lib

sys.path.insert(0, str(lib.ROOT / "tests/go"))

import build
import fetch
import vmlib

KINDS = ("cpu", "heap", "allocs", "block", "mutex", "goroutine")


def pprof(*arguments):
    """Its output; the time zone is the one that ours is in."""
    found = fetch.system_toolchains()
    if not found:
        raise lib.Skip("no Go is installed")
    goroot = found[min(found, key=vmlib.version_key)]
    done = subprocess.run([fetch.go_command(goroot), "tool", "pprof", "-symbolize=none", *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**build.go_environment(goroot), "TZ": "UTC"})
    if done.returncode:
        raise lib.Failed(f"pprof {arguments}: {lib.one_line(done.stderr)}")
    return done.stdout


def ours(*arguments, status=0):
    done = subprocess.run([lib.SKYOBSERVE, "profile", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != status:
        raise lib.Failed(f"profile {arguments} ends with {done.returncode}, want {status}: {lib.one_line(done.stderr)}")
    return done.stderr if status else done.stdout


def written(case):
    """Profiles of all kinds, by a program of the distribution's Go; and what it says of itself."""
    folder = case.path("profiles")
    os.mkdir(folder)
    done = subprocess.run([lib.WORKLOADS / "profiles", folder], stdout=subprocess.PIPE, check=True, text=True)
    return Path(folder), json.loads(done.stdout)


def without_columns(text):
    """Newer ones print the column of a line, which Go does not fill in."""
    return re.sub(r":(\d+):0 s=", r":\1 s=", text)


def stacks(text):
    """A raw text as (head, {(functions by line, labels): sums of values}, the program's mapping)."""
    head, rest = text.split("Locations\n")
    head, samples = head.split("\nSamples:\n")
    types, samples = samples.split("\n", 1)
    locations, mappings = rest.split("Mappings\n")
    of, known = {}, None
    for line in locations.splitlines():
        found = re.match(r" *(\d+): (.*)", line)
        known = found[1] if found else known
        of.setdefault(known, []).append(found[2] if found else line.strip())
    sums = collections.defaultdict(list)
    for sample in re.findall(r"^ +.*: .*\n(?: {16}\S.*\n)*", samples, re.M):
        first, *labels = sample.splitlines()
        values, ids = first.split(":")
        key = (tuple(tuple(of[i]) for i in ids.split()), tuple(labels))
        sums[key] = [int(v) + (sums[key][i] if sums[key] else 0) for i, v in enumerate(values.split())]
    return (head, types), {k: v for k, v in sums.items() if any(v)}, mappings.splitlines()[0]


def raw_of_merged(case):
    """What pprof itself has written (it merges what it reads): the same text, to the last byte."""
    folder, _ = written(case)
    for kind in KINDS:
        merged = folder / f"{kind}.merged.pb.gz"
        pprof("-proto", f"-output={merged}", folder / f"{kind}.pb.gz")
        case.equal(kind, ours("--raw", merged).splitlines(), without_columns(pprof("-raw", merged)).splitlines())


def raw_of_written(case):
    """What the program has written. pprof merges: equal stacks are summed, mappings without one are gone."""
    folder, _ = written(case)
    for kind in KINDS:
        path = folder / f"{kind}.pb.gz"
        mine, theirs = stacks(ours("--raw", path)), stacks(without_columns(pprof("-raw", path)))
        case.true(f"{kind} has samples", bool(theirs[1]))
        for what, a, b in zip(("head", "samples", "mapping"), mine, theirs):
            case.equal(f"{kind}: {what}", a, b)


def top_rows(text, unit):
    """[(flat, flat%, sum%, cum, cum%, function)] of pprof's table."""
    rows = []
    for line in text.split("cum%\n", 1)[1].splitlines():
        words = line.split(None, 5)
        if len(words) == 6:
            name = re.sub(r" \((partial-)?inline\)$", "", words[5])
            rows.append((words[0].removesuffix(unit), words[1], words[2], words[3].removesuffix(unit), words[4], name))
    return rows


def our_rows(text):
    size = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1, "KiB": 1 << 10, "MiB": 1 << 20, "B": 1, "count": 1}[
        re.search(r"^TOP .* in (\S+)$", text, re.M)[1]]
    rows = []
    for line in text.split("cum%  function\n", 1)[1].split("cum counts each stack", 1)[0].splitlines():
        words = line.split(None, 5)
        rows.append((str(int(words[0]) * size), words[1], words[2], str(int(words[3]) * size), words[4], words[5]))
    return rows


def top(case):
    """Every type of values of every kind: the same rows with the same percents in the same order."""
    folder, _ = written(case)
    for kind in KINDS:
        path = folder / f"{kind}.pb.gz"
        types = re.search(r"^Samples:\n(.*)$", ours("--raw", path), re.M)[1].split()
        for name, unit in (t.removesuffix("[dflt]").split("/") for t in types):
            short = {"nanoseconds": "ns", "bytes": "B"}.get(unit, "")
            theirs = pprof("-top", f"-sample_index={name}", "-nodefraction=0", "-nodecount=100000",
                           f"-unit={short or 'minimum'}", path)
            mine = ours("--rows", 100000, "--sample-type", name, path)
            case.equal(f"{kind}/{name}", our_rows(mine), top_rows(theirs, short))


def cut(case):
    """The recursion is deeper than is kept: its stacks are said to be cut, with their share."""
    folder, truth = written(case)
    text = ours(folder / "cpu.pb.gz")
    n, of, share = re.search(r"cut +(\d+) of (\d+) stacks, ([\d.]+)% of the values, have 64", text).groups()
    case.true(f"{n} of {of} stacks are cut", 0 < int(n) < int(of))
    case.true(f"about half of the CPU is spent in cut stacks: {share} %", 10 < float(share) < 90)
    heap = ours(folder / "heap.pb.gz")
    case.at_least("cut stacks of the heap", int(re.search(r"cut +(\d+) of \d+ stacks", heap)[1]), 1)
    case.equal("parked goroutines", sum(int(line.split()[0]) for line in ours(
        "--rows", 10000, folder / "goroutine.pb.gz").splitlines() if line.endswith("  runtime.gopark")) >= truth["parked"],
        True)


def buckets(case):
    """A bucket of one function is that function's flat value; the partition sums to the total; sums and overlaps do not."""
    folder, _ = written(case)
    rules = Path(case.path("rules.conf"))
    for kind, name in (("cpu", "cpu"), ("heap", "alloc_space"), ("goroutine", "goroutine"), ("mutex", "delay")):
        path = folder / f"{kind}.pb.gz"
        unit = {"cpu": "ns", "delay": "ns", "alloc_space": "B"}.get(name, "")
        theirs = {r[5]: (int(r[0]), int(r[3])) for r in top_rows(pprof(
            "-top", f"-sample_index={name}", "-nodefraction=0", "-nodecount=100000", f"-unit={unit or 'minimum'}", path), unit)}
        functions = sorted(theirs, key=lambda f: -theirs[f][0])[:20]
        rules.write_text("version 1\n" + "".join(f"bucket f{i} self {f}\n" for i, f in enumerate(functions)) + "bucket rest any\n"
                         + "sum all = " + " ".join(f"f{i}" for i in range(len(functions))) + " rest\n"
                         + "".join(f"overlap c{i} stack {f}\n" for i, f in enumerate(functions)))
        text = ours("--rules", rules, "--sample-type", name, path)
        mine = {m[2]: int(m[1]) for m in re.finditer(r"^ +(\d+) +[\d.e-]+%.* (\S+)$", text[text.index("BUCKETS"):text.index("TOP")],
                                                     re.M)}
        for i, f in enumerate(functions):
            case.equal(f"{kind}: {f}", (mine[f"f{i}"], mine[f"c{i}"]), theirs[f])
        case.equal(f"{kind}: the partition", sum(v for k, v in mine.items() if k[0] == "f" or k == "rest"), mine["all"])


def rules_mistakes(case):
    folder, _ = written(case)
    bad = Path(case.path("bad.conf"))
    bad.write_text("version 1\nbucket a self /(/\n")
    error = ours("--rules", bad, folder / "cpu.pb.gz", status=1)
    case.true(f"file, line and reason: {error}", f"{bad}: line 2: `(`: " in error and error.count("\n") == 1)
    error = ours("--rules", case.path("nothing"), folder / "cpu.pb.gz", status=1)
    case.true(f"what else there is: {error}", "`go` or `sky`" in error and "No such file" in error)
    for shipped in ("go", "sky"):
        case.true(shipped, f"BUCKETS by the rules {shipped}, of cpu" in ours("--rules", shipped, folder / "cpu.pb.gz"))


def mistakes(case):
    folder, _ = written(case)
    packed = (folder / "cpu.pb.gz").read_bytes()
    plain = gzip.decompress(packed)
    for name, content, words in (
            ("cut", packed[:len(packed) // 2], "damaged or cut off"), ("half", plain[:len(plain) // 2], "is damaged"),
            ("text", b"heap profile: 0: 0 [0: 0] @ heap/1048576\n", "without `debug`"), ("empty", b"", "empty"),
            ("bomb", gzip.compress(bytes(300 << 20), 9), "more than 256 MiB")):
        path = Path(case.path(name))
        path.write_bytes(content)
        error = ours(path, status=1)
        case.true(f"{name}: one line with `{words}`: {error}", error.count("\n") == 1 and words in error)
    case.true("usage", "one pprof file" in ours(status=lib.STATUS_USAGE))
    case.true("no file", "No such file" in ours(case.path("nothing"), status=1))
    case.true("no such type", "no values of type `x`" in ours("--sample-type", "x", folder / "cpu.pb.gz", status=1))


CASES = [
    ("raw_of_merged", raw_of_merged),
    ("raw_of_written", raw_of_written),
    ("top", top),
    ("cut", cut),
    ("buckets", buckets),
    ("rules_mistakes", rules_mistakes),
    ("mistakes", mistakes),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
