#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prometheus' own tools read what the golden files say that we print."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GOLDEN = Path(__file__).resolve().parent
STAMP = "1767225600"


def run(arguments, text=None):
    """The complaints of a command, or nothing."""
    done = subprocess.run(arguments, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", timeout=60)
    lint = done.stdout.strip()
    return f"status {done.returncode}: {lint}" if done.returncode else lint


def lint_text(path):
    """`promtool check metrics` finds nothing, not even a matter of taste."""
    return run(["promtool", "check", "metrics"], path.read_text(encoding="utf-8"))


def parse_openmetrics(path):
    """Prometheus' OpenMetrics parser takes every line; the back-filling that uses it needs timestamps."""
    lines = [line if line.startswith("#") else f"{line} {STAMP}"
             for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    with tempfile.TemporaryDirectory() as folder:
        stamped = Path(folder) / "stamped.om"
        stamped.write_text("\n".join(lines) + "\n", encoding="utf-8")
        done = subprocess.run(["promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet",
                               str(stamped), folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              encoding="utf-8", timeout=60)
        return done.stdout.strip() if done.returncode else ""


def parse_json(path):
    """Python's parser takes it, and no number lost a digit on the way."""
    text = path.read_text(encoding="utf-8")
    numbers = []
    json.loads(text, parse_int=numbers.append, parse_float=numbers.append)
    odd = [n for n in numbers if not re.fullmatch(r"-?\d+(\.\d+)?(e[-+]\d+)?", n)]
    return f"odd numbers: {odd}" if odd else ""


CHECKS = (
    ("*.prom", lint_text, "promtool"),
    ("*.om", parse_openmetrics, "promtool"),
    ("*.json", parse_json, None),
)


def main():
    failed = False
    for pattern, check, tool in CHECKS:
        for path in sorted(GOLDEN.glob("render_" + pattern)):
            name = f"{check.__name__}_{path.name}"
            if tool and not shutil.which(tool):
                print(f"skip {name}: there is no {tool} (Debian package prometheus)")
                continue
            why = check(path)
            failed |= bool(why)
            print(f"not ok {name}: {' | '.join(why.split(chr(10)))}" if why else f"ok {name}")
    return failed


sys.exit(main())
