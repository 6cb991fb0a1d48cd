#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What observing costs, measured on this machine: `sudo make bench`.

    tests/bench/run.py                       everything, about 12 minutes
    tests/bench/run.py --quick               a first look, under 2 minutes
    tests/bench/run.py --only calls,start    these sections: calls switches sample scrape start go
    tests/bench/run.py --json FILE           what was measured, every slice of it
    tests/bench/run.py --doc FILE            and the tables, between the marks in that document
    tests/bench/run.py --from FILE           measure nothing, show what --json wrote

Only ratios within one run are claimed. Each block holds every arm once in an order drawn anew; CPU time is that
of the target's threads, not of the clock on the wall; slices in which BPF programs of others were on the machine
are repeated.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import json
import os
import platform
import random
import re
import subprocess
import time
from pathlib import Path

import report
import rig
import sections

FULL = {"blocks": 20, "sample_blocks": 12, "slice_ms": 200, "sample_ms": 1000, "scrapes": 200, "starts": 10,
        "patience_s": 180}
QUICK = {"blocks": 2, "sample_blocks": 2, "slice_ms": 100, "sample_ms": 300, "scrapes": 40, "starts": 2,
         "patience_s": 20}


def first_line(*argv):
    try:
        done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=rig.DEADLINE_S)
        return done.stdout.decode(errors="replace").splitlines()[0].strip()
    except (OSError, IndexError, subprocess.SubprocessError):
        return None


def tools():
    lines = [("bpftrace", first_line("bpftrace", "--version")), ("syscount", first_line("syscount", "--version")),
             ("perf", first_line("perf", "--version")), ("strace", first_line("strace", "--version"))]
    for name, line in lines:
        found = re.search(r"\d+(\.\d+)+", line or "")
        if found:
            yield f"{'libbpf-tools' if name == 'syscount' else name} {found[0]}"


def conditions(plan, seed):
    clocksource = Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")
    cpuinfo = Path("/proc/cpuinfo").read_text()
    return {
        "cpus": len(os.sched_getaffinity(0)),
        "architecture": platform.machine(),
        "virtual": bool(re.search(r"^flags\s*:.*\bhypervisor\b", cpuinfo, re.M)),
        "kernel": ".".join(platform.release().split("-")[0].split(".")[:2]),
        "clocksource": clocksource.read_text().strip() if clocksource.exists() else "unknown",
        "skyobserve": first_line(rig.SKYOBSERVE, "--version") or "skyobserve",
        "tools": list(tools()),
        "load": [os.getloadavg()[0]],
        "seed": seed,
        "blocks": plan.blocks, "sample_blocks": plan.sample_blocks,
        "slice_ms": plan.slice_ms, "sample_ms": plan.sample_ms,
    }


def measure(args):
    sizes = dict(QUICK if args.quick else FULL)
    patience_s = sizes.pop("patience_s")
    if args.patience is not None:
        patience_s = args.patience
    if args.pairs:
        sizes["blocks"] = sizes["sample_blocks"] = args.pairs
    seed = args.seed if args.seed is not None else random.SystemRandom().randrange(1 << 32)
    plan = sections.Plan(args.quick, random.Random(seed), **sizes)
    plan.progress = lambda text: print(f"  {text}", file=sys.stderr, end="\033[K\r" if sys.stderr.isatty() else "\n")
    result = {"conditions": conditions(plan, seed), "sections": {}, "seconds": {}}
    bench = rig.Rig(patience_s)
    try:
        for name in args.only:
            begin = time.monotonic()
            result["sections"][name] = sections.SECTIONS[name](bench, plan)
            result["seconds"][name] = round(time.monotonic() - begin, 1)
    finally:
        bench.close()
    result["conditions"].update(repeated=bench.repeated, disturbed=bench.disturbed)
    result["conditions"]["load"].append(os.getloadavg()[0])
    return result


def arguments():
    parser = argparse.ArgumentParser(description="What observing costs, as ratios within one run.")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter slices, under 2 minutes")
    parser.add_argument("--only", default=",".join(sections.SECTIONS), metavar="NAME,...",
                        help=f"sections: {' '.join(sections.SECTIONS)}")
    parser.add_argument("--pairs", type=int, metavar="N", help="blocks of each section with arms")
    parser.add_argument("--seed", type=int, metavar="N", help="of the order of the arms; printed")
    parser.add_argument("--patience", type=float, metavar="S", help="time spent at most on waiting for others' BPF programs")
    parser.add_argument("--json", metavar="FILE", help="write every value")
    parser.add_argument("--doc", metavar="FILE", help="put the tables between the marks of this document")
    parser.add_argument("--from", dest="given", metavar="FILE", help="show what --json wrote, measure nothing")
    args = parser.parse_args()
    args.only = re.split(r"[,\s]+", args.only)
    unknown = [name for name in args.only if name not in sections.SECTIONS]
    if unknown or (args.pairs is not None and args.pairs < 1):
        parser.error(f"unknown section: {', '.join(unknown)}" if unknown else "--pairs is at least 1")
    return args


def main():
    args = arguments()
    if args.given:
        result = json.loads(Path(args.given).read_text())
    elif os.geteuid():
        print("bench: needs root: sudo make bench", file=sys.stderr)
        return 1
    else:
        try:
            result = measure(args)
        except rig.Failed as why:
            print(f"bench: {why}", file=sys.stderr)
            return 1
    if args.json:
        Path(args.json).write_text(json.dumps(result, indent=1) + "\n")
    print(report.text(result))
    spent = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in result["seconds"].items())
    print(f"seed {result['conditions']['seed']}; {spent}")
    if args.doc:
        path = Path(args.doc)
        path.write_text(report.fill_document(path.read_text(), result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
