#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes syscall_names.def from the kernel's own headers, through the C preprocessor.

    user/model/syscall_names.gen.py > user/model/syscall_names.def
    user/model/syscall_names.gen.py --headers x86_64=DIR arm64=DIR > user/model/syscall_names.def

DIR is an include directory that holds asm/unistd.h of that architecture (and asm-generic/). Without
--headers the newest linux-libc-dev that the machine's own archive serves is fetched by apt into a
temporary directory, from the newer suites too, with lists of its own: nothing is installed.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Architecture: (Debian's name, what the compiler would predefine).
ARCHS = {
    "x86_64": ("amd64", ["-D__x86_64__=1", "-D__LP64__=1"]),
    "arm64": ("arm64", ["-D__aarch64__=1", "-D__LP64__=1"]),
}
SUITES = ("sid", "trixie", "bookworm-backports", "bookworm")

# Limits and markers in the headers, not calls.
NOT_CALLS = {"syscalls", "arch_specific_syscall", "arm_syscalls"}


def run(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


def archive():
    """The address and the keyring-checked suite style of the Debian archive this machine uses."""
    text = run("apt-get", "indextargets", "--format", "$(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages")
    for line in text.splitlines():
        uri, suite, component = line.split()
        if component == "main" and "-" not in suite and "/debian" in uri:
            return uri
    sys.exit("the apt sources of this machine name no Debian archive")


def fetch(debian_arch, top):
    """Unpack the newest linux-libc-dev; returns its version and its tree."""
    uri, work = archive(), top / debian_arch
    for name in ("lists/partial", "cache/archives/partial", "etc", "tree"):
        (work / name).mkdir(parents=True)
    (work / "status").touch()
    keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"
    rows = [f"deb [signed-by={keyring}] {uri} {suite} main\n" for suite in SUITES]
    (work / "etc/sources.list").write_text("".join(rows))
    options = [f"-oAPT::Architecture={debian_arch}", f"-oAPT::Architectures={debian_arch}", "-oAPT::Sandbox::User=root",
               f"-oDir::Etc::SourceList={work}/etc/sources.list", "-oDir::Etc::SourceParts=/dev/null",
               f"-oDir::State::Lists={work}/lists", f"-oDir::State::Status={work}/status",
               f"-oDir::Cache={work}/cache", "-oAcquire::Languages=none", "-oAcquire::Retries=3", "-q"]
    subprocess.run(["apt-get", *options, "update"], check=True, stdout=sys.stderr)
    subprocess.run(["apt-get", *options, "download", "linux-libc-dev"], check=True, stdout=sys.stderr, cwd=work)
    deb, = work.glob("linux-libc-dev*.deb")
    run("dpkg-deb", "-x", str(deb), str(work / "tree"))
    return run("dpkg-deb", "-f", str(deb), "Version").strip(), work / "tree"


def include_dirs(arch, tree):
    """Where a linux-libc-dev keeps the headers of one architecture: three layouts have been seen."""
    gnu = {"x86_64": "x86_64-linux-gnu", "arm64": "aarch64-linux-gnu"}[arch]
    uapi = {"x86_64": "x86", "arm64": "arm64"}[arch]
    candidates = [tree / "usr/include" / gnu, tree / "usr/lib/linux/uapi" / uapi, tree / "usr" / gnu / "include"]
    found = [d for d in candidates if (d / "asm/unistd.h").is_file()]
    if not found:
        sys.exit(f"no asm/unistd.h for {arch} in {tree}")
    return [found[0], tree / "usr/include"]


def preprocess(arch, dirs, source, *flags):
    includes = [word for d in dirs for word in ("-isystem", str(d))]
    plain = ["-undef", *ARCHS[arch][1]]
    return run("cc", "-E", "-P", "-nostdinc", *plain, *includes, *flags, "-x", "c", "-", input=source)


def calls(arch, dirs):
    """{number: name}: the macros that are defined, then their values as the preprocessor expands them."""
    defined = preprocess(arch, dirs, "#include <asm/unistd.h>\n", "-dM")
    names = sorted(set(re.findall(r"^#define __NR_(\w+) ", defined, re.M)) - NOT_CALLS)
    probe = "#include <asm/unistd.h>\n" + "".join(f'ROW "{n}" __NR_{n}\n' for n in names)
    table = {}
    for name, value in re.findall(r'^ROW "(\w+)" (.*)$', preprocess(arch, dirs, probe), re.M):
        if not re.fullmatch(r"[0-9 ()+]+", value):
            sys.exit(f"{arch}: __NR_{name} is {value!r}, no number")
        number = sum(int(n) for n in re.findall(r"\d+", value))
        if number in table:
            sys.exit(f"{arch}: {number} is both {table[number]} and {name}")
        table[number] = name
    if len(table) < 250:
        sys.exit(f"{arch}: only {len(table)} calls found")
    return table


def main():
    parser = argparse.ArgumentParser(description="Write the table of system calls to stdout.")
    parser.add_argument("--headers", nargs="*", default=[], metavar="ARCH=DIR")
    given = dict(word.split("=", 1) for word in parser.parse_args().headers)
    rows, sources = [], []
    with tempfile.TemporaryDirectory() as top:
        for arch, (debian_arch, _) in ARCHS.items():
            if arch in given:
                dirs, source = [given[arch]], "headers given by hand"
            else:
                version, tree = fetch(debian_arch, Path(top))
                dirs, source = include_dirs(arch, tree), f"linux-libc-dev {version}"
            table = calls(arch, dirs)
            sources.append(f" * {arch}: {len(table)} calls, {source}\n")
            rows += [f'SYSCALL({arch}, {nr}, "{name}")\n' for nr, name in sorted(table.items())]
    sys.stdout.write("/* SPDX-License-Identifier: MIT */\n/*\n"
                     " * System calls: SYSCALL(arch, number, name). Generated from the kernel's headers by\n"
                     " * user/model/syscall_names.gen.py; do not edit.\n *\n" + "".join(sources) + " */\n" + "".join(rows))


if __name__ == "__main__":
    main()
