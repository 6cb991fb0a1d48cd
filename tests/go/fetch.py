#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fetches Go toolchains from the Debian suites that the machine's archive serves, by name and newest match.

    tests/go/fetch.py [VERSION...]      1.22 1.26.10; without one: the newest of every minor version

Nothing is installed: a toolchain is unpacked into build/go/VERSION (GO_CACHE), next to the distribution's own
Go, which is used as it is. What is there already is left alone. Packages come and are checked as the kernels
of tests/vm do (tests/vm/fetch.py). Needs no root.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "vm"))

import fetch as debian
import vmlib

CACHE = Path(os.environ.get("GO_CACHE", vmlib.BUILD / "go")).absolute()

# From the oldest; the newest version of a package found in any of them is taken.
SUITES = ("bookworm", "bookworm-backports", "trixie", "trixie-backports", "sid")
PACKAGE = r"golang-(1\.\d+)-go"

# The oldest whose layouts are known. Older ones are in old suites; what is refused there is tested by units.
OLDEST = (1, 19)


def go_command(goroot):
    return Path(goroot) / "bin" / "go"


def version_of(goroot):
    """go1.24.4, or None if it does not run."""
    try:
        text = subprocess.run([go_command(goroot), "version"], env={**os.environ, "GOROOT": str(goroot),
                              "GOTOOLCHAIN": "local"}, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    except OSError:
        return None
    found = re.match(r"go version (go\S+)", text)
    return found[1] if found else None


def system_toolchains():
    """GOROOTs that packages installed, by version: {"1.19": path}."""
    return {p.name[3:]: p for p in sorted(Path("/usr/lib").glob("go-1.*")) if version_of(p)}


def series(name):
    """1.26 of 1.26 and of 1.26.10: what the package is called."""
    return ".".join(name.split(".")[:2])


def goroot_of(name, tree):
    return tree / "usr/lib" / f"go-{series(name)}"


def cached_toolchains():
    return {p.name: goroot_of(p.name, p) for p in CACHE.glob("1.*") if version_of(goroot_of(p.name, p))}


def toolchains():
    """All that can be used now, oldest first: {"1.19": GOROOT}."""
    found = {**cached_toolchains(), **system_toolchains()}
    return {v: found[v] for v in sorted(found, key=vmlib.version_key)}


def offered(suites):
    """{"1.24": (suite, version of the package)}, and the same under the full version: the newest of each."""
    best = {}
    for suite in suites:
        for package in suite.names(PACKAGE):
            short = re.fullmatch(PACKAGE, package)[1]
            version = suite.version(package)
            if not version or tuple(vmlib.version_key(short)) < OLDEST:
                continue
            for name in {short, re.match(r"[\d.]+", version)[0]}:
                held = best.get(name)
                if not held or vmlib.version_key(version) > vmlib.version_key(held[1]):
                    best[name] = (suite, version)
    return best


def unpack(name, suite, version):
    vmlib.note(f"fetching Go {name} ({version}) from {suite.name}")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE, prefix=".new-") as new:
        tree = Path(new) / "tree"
        for part in ("go", "src"):
            suite.download(f"golang-{series(name)}-{part}={version}", tree)
        if not version_of(goroot_of(name, tree)):
            raise vmlib.VmError(f"Go {name} of {suite.name} does not run here")
        shutil.rmtree(CACHE / name, ignore_errors=True)
        tree.rename(CACHE / name)


def main():
    parser = argparse.ArgumentParser(description="Fetch Go toolchains into build/go (or $GO_CACHE).")
    parser.add_argument("version", nargs="*", help="such as 1.24; default: all that the archive offers")
    options = parser.parse_args()
    wanted = options.version
    have = toolchains()
    if not wanted or any(v not in have for v in wanted):
        with vmlib.lock("fetch"):
            found = offered(debian.usable_suites(SUITES, "amd64", False))
            for name in wanted or sorted({series(n) for n in found}, key=vmlib.version_key):
                if name in have:
                    continue
                if name not in found:
                    raise vmlib.VmError(f"no suite of {' '.join(SUITES)} has Go {name}")
                unpack(name, *found[name])
    for name, goroot in toolchains().items():
        if not wanted or name in wanted:
            print(f"{name} {goroot} {version_of(goroot)}")


if __name__ == "__main__":
    vmlib.main(main)
