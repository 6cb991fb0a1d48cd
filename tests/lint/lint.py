#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules of the tree that no compiler checks: who may include what, licences, lengths, banned functions.

    tests/lint/lint.py [ROOT]

Prints `FILE:LINE: what is wrong` and ends with 1 if anything is. Each rule is a table at its head; to
allow something new, change the table.
"""

import sys

sys.dont_write_bytecode = True

import os
import re
import subprocess
from pathlib import Path

# Folders that are looked through; build/ and what others made are not ours to judge.
TOPS = ("include", "bpf", "user", "tests", "vmlinux", "packaging", "dashboards", ".ci")

# What the top level may hold besides; anything else got there by mistake.
TOP_FILES = ("Makefile", "README.md", "DEVELOPERS.md", "LICENSE", "LICENSES", "docs", "build", ".git", ".gitignore",
             ".gitattributes", ".clang-format", ".clang-tidy")

# Library headers, as a pattern of what stands between < and >, and the folders that may use them.
LIBRARIES = (
    ("libbpf", r"bpf/.*", ("bpf", "user/bpf", "tests")),
    ("libelf, libdw", r"(libelf|gelf|dwarf|nlist)\.h|elfutils/.*", ("user/elf", "tests")),
    ("capstone", r"capstone/.*", ("user/elf", "tests")),
    ("zlib", r"(zlib|zconf)\.h", ("user/http", "user/record", "user/pprof", "tests")),
    ("libmicrohttpd", r"microhttpd.*\.h", ("user/http",)),
    ("libyaml, libcrypt", r"(yaml|crypt)\.h", ("user/http",)),
)

# Every stage of user/ may include itself and these; cmd wires the stages, so it may include all.
SHARED_STAGES = ("base", "model")
# Those that may include something else: base nothing, model base, runtimes also the file that they read, the broker
# whatever it reads for the serving process, the cross-check and fits the statistics.
SHARED_MAY = {"base": (), "model": ("base",), "runtime": ("base", "model", "elf"),
             "broker": ("base", "model", "proc", "elf", "runtime"), "crosscheck": ("base", "model", "stats"),
             "fit": ("base", "model", "stats")}
WIRING = ("cmd", "main.c")

# First match wins. Headers of tests may be shared with the BPF programs of the tests.
LICENCES = (
    (r"vmlinux/.*\.h", ("GPL-2.0-only",)),
    (r"bpf/.*|.*\.bpf\.[ch]", ("GPL-2.0-only",)),
    (r"include/.*", ("GPL-2.0-only OR MIT",)),
    (r"tests/.*\.h", ("MIT", "GPL-2.0-only OR MIT")),
    (r".*", ("MIT",)),
)
# Files that must say their licence. Data (JSON, text, corpora) is covered by LICENSE.
LICENSED_SUFFIXES = (".c", ".h", ".def", ".py", ".sh", ".S", ".go", ".s")
LICENSED_NAMES = ("Makefile", "run", "init")

# Lines of a file, by pattern; first match wins. style.md says when to think about a split before that.
MAX_LINES = (
    (r"vmlinux/.*", None),
    (r".*\.bpf\.c", 200),
    (r"user/main\.c", 120),
    (r"user/.*\.c", 700),
)

BANNED = ("strcpy", "strcat", "sprintf", "vsprintf", "gets", "strtok", "system", "popen", "alloca")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def without_comments(text):
    """C text with comments and the insides of strings blanked, and every line still in its place."""
    def blank(found):
        word = found[0]
        return word[0] + word[-1] if word[0] in "\"'" else re.sub(r"[^\n]", " ", word)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', blank, text, flags=re.S)


def first_match(table, name):
    return next((value for pattern, value in table if re.fullmatch(pattern, name)), None)


def below(name, folder):
    return name.startswith(folder + "/")


def check_library(name, header):
    for library, pattern, folders in LIBRARIES:
        if re.fullmatch(pattern, header) and not any(below(name, f) for f in folders):
            yield f"<{header}> belongs to {library}, which only {', '.join(folders)} may use"


def check_own_include(name, header, root):
    """A quoted include: no stage of user/ sees another one, and the border sees neither side."""
    target = os.path.normpath(header if (root / header).exists() else Path(name).parent / header)
    if below(name, "include") and not below(target, "include"):
        yield f'"{header}": include/ includes only itself'
    if below(name, "bpf") and below(target, "user"):
        yield f'"{header}": the kernel side knows nothing of user/'
    if not below(name, "user") or not below(target, "user"):
        return
    stage, wanted = name.split("/")[1], target.split("/")[1]
    may = SHARED_MAY.get(stage, SHARED_STAGES)
    if stage not in WIRING and wanted != stage and wanted not in may:
        others = f"itself and {', '.join(may)}" if may else "only itself"
        yield f'"{header}": {stage} may include {others}; only cmd wires stages together'


def check_c(name, text, root):
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            rule = check_library(name, found[2]) if found[1] == "<" else check_own_include(name, found[2], root)
            yield from ((number, why) for why in rule)
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        for found in re.finditer(rf"\b({'|'.join(BANNED)})\s*\(", line):
            yield number, f"{found[1]} is not used here (style: banned functions)"


def check_guard(name, text):
    folder = Path(name).parts[0]
    if not name.endswith(".h") or name.endswith(".bpf.h") or folder not in ("user", "include"):
        return
    want = "SKYOBSERVE_" + re.sub(r"[^A-Z0-9]", "_", "/".join(Path(name).parts[1:]).upper())
    found = re.search(r"^#ifndef (\w+)\n#define (\w+)$", text, re.M)
    if not found or found[1] != want or found[2] != want:
        yield 1, f"the include guard should be {want}"


def check_licence(name, text):
    path = Path(name)
    if path.suffix not in LICENSED_SUFFIXES and path.name not in LICENSED_NAMES:
        return
    want = first_match(LICENCES, name)
    head = "\n".join(text.splitlines()[:3])
    found = re.search(r"SPDX-License-Identifier: (.*?)(?: \*/)?$", head, re.M)
    if not found:
        yield 1, f"no SPDX-License-Identifier in the first lines; want {want[0]}"
    elif found[1] not in want:
        yield 1, f"licence {found[1]}; here it is {want[0]}"


def check_length(name, text):
    limit, n = first_match(MAX_LINES, name), text.count("\n")
    if limit and n > limit:
        yield n, f"{n} lines, at most {limit}: split it"


def check_file(name, text, root):
    yield from check_licence(name, text)
    yield from check_length(name, text)
    if Path(name).suffix in (".c", ".h") and not below(name, "vmlinux"):
        yield from check_guard(name, text)
        yield from check_c(name, text, root)


def check_headers(root):
    """Each header of the border compiles alone under every compiler that includes it."""
    cc, clang = os.environ.get("CC") or "gcc", os.environ.get("CLANG") or "clang"
    flags = ["-x", "c", "-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Iinclude"]
    for header in sorted((root / "include").glob("*.h")):
        name = str(header.relative_to(root))
        for compiler in ([cc], [clang], [clang, "-target", "bpf"]):
            # Included, not compiled as the main file: a main file may not be a header.
            done = subprocess.run([*compiler, *flags, "-"], cwd=root, input=f'#include "{header.name}"\n', text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if done.returncode:
                yield name, 1, f"does not compile alone with {' '.join(compiler)}:\n{done.stdout.rstrip()}"


def check_top_level(root):
    for path in sorted(root.iterdir()):
        if path.name not in TOPS + TOP_FILES:
            yield repr(path.name), 1, "does not belong on the top level"


def source_files(root):
    yield from (p for p in [root / "Makefile"] if p.exists())
    for top in TOPS:
        for path in sorted((root / top).rglob("*")):
            if path.is_file() and not path.is_symlink() and "__pycache__" not in path.parts:
                yield path


def lint(root):
    """Every fault as (file, line, what is wrong)."""
    for path in source_files(root):
        name = str(path.relative_to(root))
        if path.suffix in LICENSED_SUFFIXES or path.name in LICENSED_NAMES:
            text = path.read_text(errors="replace")
            yield from ((name, number, why) for number, why in check_file(name, text, root))
    yield from check_top_level(root)
    yield from check_headers(root)


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent.parent).resolve()
    faults = list(lint(root))
    for name, number, why in faults:
        print(f"{name}:{number}: {why}")
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
