#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds the test programs with every Go toolchain at hand, in every way that changes what is in the file.

    tests/go/build.py [VERSION...]      default: all of fetch.py's toolchains

The products are build/go/bin/VERSION/VARIANT; what is newer than its sources is left alone.
"""

import sys

sys.dont_write_bytecode = True

import collections
import os
import subprocess
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import fetch
import vmlib

HERE = Path(__file__).resolve().parent

# program, environment, arguments of `go build`.
Variant = collections.namedtuple("Variant", "program environment arguments")

STATIC, CGO = {"CGO_ENABLED": "0"}, {"CGO_ENABLED": "1"}
STRIP = ["-ldflags=-s -w"]
VARIANTS = {
    "static": Variant("small", STATIC, []),
    "static-stripped": Variant("small", STATIC, STRIP),
    "pie": Variant("small", STATIC, ["-buildmode=pie"]),
    "pie-stripped": Variant("small", STATIC, ["-buildmode=pie", *STRIP]),
    "cgo": Variant("small", CGO, []),
    "cgo-stripped": Variant("small", CGO, STRIP),
    "cgo-pie": Variant("small", CGO, ["-buildmode=pie"]),
    "cgo-pie-stripped": Variant("small", CGO, ["-buildmode=pie", *STRIP]),
    "arm64": Variant("small", {**STATIC, "GOARCH": "arm64"}, []),
    "arm64-stripped": Variant("small", {**STATIC, "GOARCH": "arm64"}, STRIP),
    "web": Variant("web", STATIC, []),
    "web-stripped": Variant("web", STATIC, STRIP),
}


def binary(version, variant):
    return fetch.CACHE / "bin" / version / variant


def go_environment(goroot, extra=None):
    """Nothing is fetched, and the user's own settings do not matter."""
    return {**os.environ, "GOROOT": str(goroot), "GOENV": "off", "GOFLAGS": "-mod=mod", "GOPROXY": "off",
            "GOTOOLCHAIN": "local", "GOCACHE": str(fetch.CACHE / "cache"), "GOPATH": str(fetch.CACHE / "path"),
            "GOTELEMETRY": "off", **(extra or {})}


def build(version, goroot, name, row=None):
    """Path of the program, made if it is not there. Other programs than those of VARIANTS have a row of their own."""
    row, product = row or VARIANTS[name], binary(version, name)
    sources = [p for p in (HERE / row.program).iterdir()]
    if vmlib.is_older(product, *sources):
        product.parent.mkdir(parents=True, exist_ok=True)
        vmlib.run([fetch.go_command(goroot), "build", "-buildvcs=false", *row.arguments, "-o", product, "."],
                  cwd=HERE / row.program, env=go_environment(goroot, row.environment), timeout=900)
    return product


def main():
    wanted = sys.argv[1:]
    with vmlib.lock("go"):
        # All versions of a variant, then the next: an early end leaves something of each version.
        for name in VARIANTS:
            for version, goroot in fetch.toolchains().items():
                if not wanted or version in wanted:
                    print(build(version, goroot, name), flush=True)


if __name__ == "__main__":
    vmlib.main(main)
