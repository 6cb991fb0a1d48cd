#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the relocations of all BPF objects against the type information of Debian's kernels, without booting.

Without arguments: every object of the build against every kernel in the cache and the default ones.
Prints `ok btf_KERNEL_OBJECT` lines and fails if any case failed. Needs root, since libbpf loads empty programs.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import os
import subprocess
from pathlib import Path

import fetch
import vmlib
from vmlib import BUILD, ROOT, VmError


# Where the build puts the objects for each architecture.
OBJECT_DIRS = {"amd64": BUILD / "bpf", "arm64": BUILD / "bpf-arm64"}


def built_objects(arch):
    return sorted(OBJECT_DIRS[arch].glob("*.bpf.o"))


def check(btfcheck, btfs, objects):
    """Runs btfcheck; its lines are ours. True when all went well."""
    arguments = [*(f"{kernel}={path}" for kernel, path in btfs), "--", *map(str, objects)]
    return subprocess.run([btfcheck, *arguments]).returncode == 0


def self_check(btfcheck, oldest):
    """A checker that finds nothing is worth nothing: __state came in 5.14, so 5.10 lacks it."""
    good = vmlib.build_bpf("probe", "probe.bpf.c")
    bad = vmlib.build_bpf("probe_unguarded", "probe.bpf.c", ["-DPROBE_UNGUARDED"])
    found = {}
    for path in (good, bad):
        done = subprocess.run([btfcheck, f"5.10={oldest}", "--", path], stdout=subprocess.PIPE)
        found[path] = done.stdout.decode().strip()
    cases = (("btf_check_accepts_a_guarded_field", found[good] == "ok btf_5.10_probe", found[good]),
             ("btf_check_refuses_an_unguarded_field",
              found[bad].startswith("not ok btf_5.10_probe_unguarded: probe_tp_btf uses <byte_off>")
              and "task_struct.__state" in found[bad], found[bad]))
    for name, passed, output in cases:
        print(f"ok {name}" if passed else f"not ok {name}: btfcheck said: {output}", flush=True)
    return all(passed for _, passed, _ in cases)


def main():
    parser = argparse.ArgumentParser(description="Check BPF objects against kernels' type information.")
    parser.add_argument("objects", nargs="*", type=Path, help="default: all of the build")
    parser.add_argument("--arch", choices=vmlib.ARCHES, default="amd64", help="of kernels and objects")
    options = parser.parse_args()
    if os.geteuid():
        raise VmError("root is needed: libbpf loads an empty program for each one that it relocates")

    fetch.fetch(vmlib.wanted_kernels([]), options.arch)
    oldest, = fetch.fetch(["5.10"])
    kernels = vmlib.cached_kernels(options.arch)
    suffix = "" if options.arch == "amd64" else f"-{options.arch}"
    btfs = [(f"{k}{suffix}", vmlib.kernel_dir(k, options.arch) / "btf") for k in kernels]
    btfcheck = vmlib.build_c("btfcheck", ["btfcheck.c", "insn_reach.c"])

    good = self_check(btfcheck, oldest / "btf")
    objects = options.objects or built_objects(options.arch)
    if not options.objects:
        names = {p.name.split(".")[0] for p in objects}
        for source in sorted((ROOT / "bpf").rglob("*.bpf.c")):
            if source.name.split(".")[0] not in names:
                print(f"not ok btf_{source.name.split('.')[0]}: {source.relative_to(ROOT)} is not built", flush=True)
                good = False
    if objects:
        good &= check(btfcheck, btfs, objects)
    return not good


if __name__ == "__main__":
    vmlib.main(main)
