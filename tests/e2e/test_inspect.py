#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`skyobserve inspect` on programs of the distribution's own Go, built in the ways that matter, beside Go's tools."""

import sys

sys.dont_write_bytecode = True

import os
import re
import subprocess
import tempfile
from pathlib import Path

import lib

sys.path.insert(0, str(lib.ROOT / "tests/go"))

import build
import fetch
import vmlib

COLUMNS = 80


def toolchain():
    """Version and GOROOT of the oldest that a package installed."""
    found = fetch.system_toolchains()
    if not found:
        raise lib.Skip("no Go is installed")
    return min(found.items(), key=lambda item: vmlib.version_key(item[0]))


def program(name):
    version, goroot = toolchain()
    with vmlib.lock("go"):
        return build.build(version, goroot, name)


def inspect(*arguments, status=0):
    done = subprocess.run([lib.SKYOBSERVE, "inspect", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True)
    if done.returncode != status:
        raise lib.Failed(f"inspect {arguments} ends with {done.returncode}, want {status}: {lib.one_line(done.stderr)}")
    return done.stderr if status else done.stdout


def value(text, label):
    found = re.search(rf"^  {re.escape(label)} +(.*)$", text, re.M)
    return found[1] if found else None


def go_tool(*arguments):
    version, goroot = toolchain()
    return subprocess.run([fetch.go_command(goroot), *map(str, arguments)], stdout=subprocess.PIPE, check=True, text=True,
                          env=build.go_environment(goroot)).stdout


def symbols(path):
    """{name: address} by `go tool nm`."""
    rows = (line.split(None, 2) for line in go_tool("tool", "nm", path).splitlines())
    return {r[2]: int(r[0], 16) for r in rows if len(r) == 3}


def variables(text):
    return {name: (int(a, 16), how) for name, a, how in re.findall(r"^  (runtime\.\w+) +0x([0-9a-f]+)  (.*)$", text, re.M)}


def points(text):
    return {f: int(a, 16) for f, a in re.findall(r"^  \S+ +(\S+)\n +at 0x([0-9a-f]+);", text, re.M)}


def static(case):
    path = program("static")
    text, want = inspect(path), symbols(path)
    case.equal("version", value(text, "version"), "go" + go_tool("version").split()[2][2:])
    case.equal("package", value(text, "package"), "example.org/small")
    case.equal("addresses of variables", {n: a for n, (a, _) in variables(text).items()},
               {n: want[n] for n in variables(text)})
    case.equal("addresses of points", points(text), {n: want[n] for n in points(text)})
    case.at_least("points", len(points(text)), 8)
    case.equal("source of the layout", value(text, "source"), "the program's own DWARF")
    case.equal("lines that are too long", [line for line in text.splitlines() if len(line) > COLUMNS], [])


def stripped_as_unstripped(name):
    """Without symbols, all that is found with them: at the same functions, as strip moves nothing."""
    def run(case):
        path, bare = program(name), case.path("bare")
        subprocess.run(["strip", "-s", "-o", bare, path], check=True)
        full, text = inspect(path), inspect(bare)
        case.equal("points", points(text), points(full))
        case.equal("variables", {n: a for n, (a, _) in variables(text).items()},
                   {n: a for n, (a, _) in variables(full).items()})
        case.equal("how", {how for _, how in variables(text).values()}, {"by the code that uses it"})
        case.equal("layout", text.split("LAYOUT")[1].split("\n")[2:7], full.split("LAYOUT")[1].split("\n")[2:7])
        case.equal("source of the layout", value(text, "source"), "the table of tested Go versions")
    return run


def process(case):
    """A process whose file has been deleted, by its id: the same as its file was."""
    path = Path(case.path("program"))
    path.write_bytes(Path(program("static")).read_bytes())
    path.chmod(0o755)
    before = inspect(path)
    running = case.popen([path, "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while running.stdout.readline() != "ready\n":
        if running.poll() is not None:
            raise lib.Failed("the program has ended")
    path.unlink()
    text = inspect("--pid", running.pid)
    case.equal("report", text.split("size", 1)[1], before.split("size", 1)[1])
    case.true("its path is said to be deleted", "(deleted)" in " ".join(text.split("size")[0].split()))
    running.stdin.close()
    running.wait()
    error = inspect("--pid", running.pid, status=lib.STATUS_GONE)
    case.true(f"one line about it: {error}", error.count("\n") == 1 and str(running.pid) in error)


def not_go(case):
    text = inspect("/bin/true")
    case.true("it says that it is not Go", "not a Go program" in " ".join(text.split()))


def mistakes(case):
    for arguments, status, word in (
            ([], lib.STATUS_USAGE, "--pid"), (["/bin/true", "/bin/false"], lib.STATUS_USAGE, "--pid"),
            ([case.path("nothing")], 1, "No such file"), ([__file__], 1, "not an ELF file"), (["/"], 1, "regular file"),
            (["/dev/null"], 1, "regular file"), (["--pid", "999999999"], lib.STATUS_GONE, "no such process")):
        error = inspect(*arguments, status=status)
        case.true(f"{arguments}: one line with `{word}`: {error}", error.count("\n") == 1 and word in error)


def cut_off(case):
    """A program that is cut off anywhere is read or refused, never a crash."""
    whole, path = Path(program("static-stripped")).read_bytes(), Path(case.path("cut"))
    for n in [1, 63, 64, 200, 4096] + [len(whole) * i // 12 for i in range(1, 12)]:
        path.write_bytes(whole[:n])
        done = subprocess.run([lib.SKYOBSERVE, "inspect", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode not in (0, 1) or "died of" in done.stderr:
            case.note(f"{n} bytes: status {done.returncode}, {done.stderr}")


def incomplete(case):
    """What is no whole program is called what it is."""
    path, cut = Path(case.path("whole.o")), Path(case.path("cut"))
    path.write_bytes((lib.BUILD / "user" / "main.o").read_bytes())
    text = inspect(path)
    case.equal("an object file", value(text, "kind").split(", ", 1)[1], "object file, not linked yet")
    case.true(f"a runtime of an object file: {text}", "it is not a program" in text and "linked at" not in text)
    for name in ("static-stripped", "pie"):
        whole = Path(program(name)).read_bytes()
        cut.write_bytes(whole[:4096])
        text = inspect(cut)
        said = int(value(text, "cut off").split()[-2])
        case.between(f"bytes of the whole of {name}", said, len(whole) * 0.9, len(whole))
        case.true(f"a runtime that nobody can know: {text}", "what is left of the file" in text)
    library = next(Path("/lib").glob("*-linux-gnu/libm.so.6"))
    case.true("a library", "shared library" in value(inspect(library), "kind"))
    case.true("a program", "dynamically linked" in value(inspect("/bin/true"), "kind"))
    case.equal("cut off", value(inspect("/bin/true"), "cut off"), None)


CASES = [
    ("static", static),
    ("static_stripped", stripped_as_unstripped("static")),
    ("pie_stripped", stripped_as_unstripped("pie")),
    ("process", process),
    ("not_go", not_go),
    ("incomplete", incomplete),
    ("mistakes", mistakes),
    ("cut_off", cut_off),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
