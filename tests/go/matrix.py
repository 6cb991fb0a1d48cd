#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What our readers see in Go programs, beside what Go's own tools, objdump and LLVM see in them.

    tests/go/matrix.py [VERSION...] [--variant NAME]     default: every toolchain at hand, every variant

Needs build/libskyobserve.a. Prints `ok CASE`, `not ok CASE: why` or `skip CASE: why`.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import os
import random
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import build
import fetch
import vmlib

HERE = Path(__file__).resolve().parent
PACKAGES = ("libbpf", "libelf", "libdw", "capstone", "libmicrohttpd", "zlib")
DUMP = vmlib.BUILD / "tests/go/dump"

NR_PCS = 3000

# Go's own symbol table has the full names of generic functions, the function table has them shortened. A method
# value or wrapper, and an assembly function in its two calling conventions, share a name or an address.
SHORTENED = re.compile(r"\[[^\]]*\]+")


def build_dump():
    library, source = vmlib.BUILD / "libskyobserve.a", HERE / "dump.c"
    if vmlib.is_older(DUMP, library, source):
        DUMP.parent.mkdir(parents=True, exist_ok=True)
        root = HERE.parent.parent
        vmlib.run([os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", f"-I{root}",
                   f"-I{root / 'include'}", "-o", DUMP, source, library, *vmlib.pkg_config("--libs", *PACKAGES), "-lm"])


def output(*argv, **kwargs):
    return subprocess.run([str(a) for a in argv], stdout=subprocess.PIPE, check=True, text=True, **kwargs).stdout


def dump(mode, program, **kwargs):
    return output(DUMP, mode, program, **kwargs)


class Case:
    """A program and its toolchain."""

    def __init__(self, version, goroot, name, program):
        self.version, self.goroot, self.name, self.program = version, goroot, name, program

    def go(self, *arguments, **kwargs):
        return output(fetch.go_command(self.goroot), *arguments, env=build.go_environment(self.goroot), **kwargs)


class Wrong(Exception):
    pass


class Skip(Exception):
    pass


def same(what, got, want):
    """Two sets or sequences that must be equal."""
    if got == want:
        return
    if isinstance(got, (set, dict)):
        more, less = sorted(set(got) - set(want)), sorted(set(want) - set(got))
        raise Wrong(f"{what}: {len(more)} more than wanted, as {more[:3]}; {len(less)} missing, as {less[:3]}")
    for i, (g, w) in enumerate(zip(got, want)):
        if g != w:
            raise Wrong(f"{what}: row {i} is {g!r}, want {w!r}")
    raise Wrong(f"{what}: {len(got)} rows, want {len(want)}, as {(got[len(want):] or want[len(got):])[:3]}")


def shortened(name):
    return SHORTENED.sub("[...]", name.replace("·", "."))


def check_info(case):
    """Version and lines as `go version -m` prints them."""
    lines = case.go("version", "-m", case.program).splitlines()
    want = [re.sub(r"^.*: (?=go|devel)", "", lines[0])] + [line[1:] for line in lines[1:]]
    same("lines", [line.rstrip("\t") for line in dump("info", case.program).splitlines()],
         [line.rstrip("\t") for line in want])


def go_text(case):
    """{address: {name}} of the text symbols between runtime.text and runtime.etext."""
    found, bounds = {}, {}
    for line in case.go("tool", "nm", case.program).splitlines():
        words = line.split(None, 2)
        if len(words) == 3 and words[2] in ("runtime.text", "runtime.etext"):
            bounds[words[2]] = int(words[0], 16)
        elif len(words) == 3 and words[1] in "Tt":
            found.setdefault(int(words[0], 16), set()).add(words[2])
    return {a: names for a, names in found.items() if bounds["runtime.text"] <= a < bounds["runtime.etext"]}


def our_functions(program):
    return [(int(a, 16), name) for a, name in (line.split(" ", 1) for line in dump("functions", program).splitlines())]


def check_functions(case):
    """The same functions at the same addresses as `go tool nm`."""
    want, got = go_text(case), our_functions(case.program)
    same("addresses", {a for a, _ in got if a in want or not name_of_c(_)}, set(want) & {a for a, _ in got} |
         {a for a in want if not any(name_of_c(n) for n in want[a])})
    wrong = [(hex(a), name, sorted(want[a])) for a, name in got if a in want and
             shortened(name) not in {shortened(n).removesuffix(".abi0") for n in want[a]}]
    same("names", wrong, [])


def name_of_c(name):
    """Functions of C have no package; neither have the linker's own."""
    return "." not in name.split("(")[0].split("[")[0].strip("_") or name.startswith("runtime.text")


def sample_pcs(case):
    text = dict(our_functions(case.program))
    begin, end = min(text), max(text)
    chosen = random.Random(1).sample(range(begin, end), NR_PCS)
    # And all of a function with inlined calls.
    chosen += [a + i for a, name in text.items() if name == "main.outer" for i in range(60)]
    return sorted(chosen)


def no_line(text):
    """Where there is no line, one tool says 0 and the other something below."""
    return re.sub(r" \??:-?\d+$", " no line", text)


def ask(case, pcs, prefix=""):
    return "".join(f"{prefix}{pc:x}\n" for pc in pcs)


def check_lines(case):
    """Function, file and line of thousands of addresses as `go tool addr2line`."""
    pcs = sample_pcs(case)
    answer = case.go("tool", "addr2line", case.program, input=ask(case, pcs)).splitlines()
    want = [f"{f} {line}" for f, line in zip(answer[::2], answer[1::2])]
    if all(w.startswith("?") for w in want):
        raise Skip("this go tool addr2line does not find the table of a position-independent program")
    got = []
    for line in dump("frames", case.program, input=ask(case, pcs)).splitlines():
        frames = line.split(" | ")
        where = frames[0].rsplit(" ", 1)[-1]
        got.append(f"{frames[-1].rsplit(' ', 1)[0]} {where}")
    pairs = [(hex(pc), g, w) for pc, g, w in zip(pcs, got, want)
             if shortened(no_line(g)) != shortened(no_line(w))]
    same("lines", pairs, [])


def check_inlined(case):
    """Inlined calls of every instruction of a function as LLVM reads them from DWARF."""
    start = next(a for a, name in our_functions(case.program) if name == "main.outer")
    code = instructions(case, start, start + 200)
    pcs = [a for a, _ in code[:next(i for i, (_, word) in enumerate(code) if word.startswith("ret"))]]
    answer = output("llvm-symbolizer", "--inlines", f"--obj={case.program}", input=ask(case, pcs, "0x"))
    want = []
    for block in answer.strip().split("\n\n"):
        lines = block.splitlines()
        want.append(" | ".join(f"{f} {re.sub(r':[0-9]+$', '', where)}" for f, where in zip(lines[::2], lines[1::2])))
    same("frames", dump("frames", case.program, input=ask(case, pcs)).splitlines(), want)
    if not any(w.count(" | ") == 2 for w in want):
        raise Wrong("the function has no call that is inlined twice: the test shows nothing")


def instructions(case, start=None, end=None):
    """[(address, "mnemonic operands")] by objdump."""
    bounds = [f"--start-address={start:#x}", f"--stop-address={end:#x}"] if start is not None else []
    text = output("objdump", "-d", "--no-show-raw-insn", *bounds, case.program)
    return [(int(a, 16), words.strip()) for a, words in re.findall(r"^ *([0-9a-f]+):\t(.*)$", text, re.M)]


def check_returns(case):
    """Every return instruction of every function as objdump. Functions that capstone does not know are left out."""
    text = dump("returns", case.program).splitlines()
    unknown = {re.match(r"error \S+ in (.*?): ", line)[1] for line in text if line.startswith("error")}
    # New vector instructions, in assembly of the runtime and of cryptography.
    odd = [n for n in unknown if not re.search(r"AVX512|avx512|runtime.asyncPreempt|internal/|crypto/|hash/|vendor/golang.org/x/crypto", n)]
    same("functions that are not understood", odd, [])
    functions = our_functions(case.program)
    skip = [(a, b) for (a, name), (b, _) in zip(functions, functions[1:]) if name in unknown]
    first, last = functions[0][0], functions[-1][0]
    want = {a for a, words in instructions(case) if re.match(r"(repz )?ret", words) and first <= a < last and
            not any(b <= a < e for b, e in skip)}
    same("returns", {int(line, 16) for line in text if not line.startswith("error") and int(line, 16) < last}, want)


def place_of(words):
    """What the place of a function is that begins with a stack check, by its first instructions; None: it has no such."""
    if len(words) < 3 or not words[0][1].startswith("cmp ") or not re.match(r"j(be|a) ", words[1][1]):
        return None
    if words[2][1].startswith("push "):
        return (words[2][0], 1, 1) * 2
    # Up to Go 1.20 frames have no push. A jump before anything else is changed is as good.
    for pc, word in words[2:]:
        if re.match(r"j\w+ |nop$", word):
            return (pc, 1, 1) * 2
        # The disassembler takes the short form of this test for a change of rax, which is on the safe side.
        if re.match(r"test +\$.*,%[er]?ax$", word):
            break
        if not re.match(r"(sub|add) .*,%rsp$|mov .*,%r12$|(mov|movups|movq|movl|movb|mov[sz]\w+) .*\(%rsp\)$|mov .*,%rbp$|lea .*,%rbp$|"
                        r"(cmp|test|nop)\w* |xchg +%ax,%ax|data16|cs nopw", word):
            break
    return (words[1][0], 1, 0, words[2][0], 0, 1)


def check_probes(case):
    """Places of functions with a stack check, by objdump's words."""
    rows = {}
    for line in dump("probes", case.program).splitlines():
        if not line.startswith("error"):
            start, cheap, ce, cx, exact, ee, ex = line.split()
            rows[int(start, 16)] = (int(cheap, 16), int(ce), int(cx), int(exact, 16), int(ee), int(ex))
    wrong, seen, code = [], 0, dict(instructions(case))
    for start, name in our_functions(case.program):
        if start not in rows or not name.startswith("runtime."):
            continue
        want = place_of([(pc, code[pc]) for pc in range(start, start + 96) if pc in code])
        seen += want is not None
        if want and rows[start] != want:
            wrong.append((name, [hex(n) for n in rows[start]], [hex(n) for n in want]))
    same("probes", wrong, [])
    if seen < 100:
        raise Wrong(f"only {seen} functions with a stack check: the test shows nothing")


def check_layout(case):
    """Every offset of the table as the program's own DWARF has it, read by libdw."""
    rows = [line.split() for line in dump("layout", case.program).splitlines()]
    http = case.name.startswith("web")
    wrong = [r for r in rows if r[2] != r[3] and (http or not r[0].startswith("net/"))]
    same("offsets", wrong, [])
    if not any(r[0] == "runtime.g" and r[1] == "goid" and int(r[2]) > 0 for r in rows):
        raise Wrong("there is no offset of runtime.g.goid")


def check_variables(case):
    """Without symbols, code leads to the addresses that the symbols have."""
    rows = [line.split() for line in dump("variables", case.program).splitlines()]
    same("addresses", [r for r in rows if r[1] != r[2] or r[1] == "0"], [])


def check_stripped(case):
    """What strip leaves has the same functions, and leads to the same variables."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare"
        shutil.copyfile(case.program, bare)
        subprocess.run(["strip", "-s", bare], check=True)
        same("functions", our_functions(bare), our_functions(case.program))
        want = [line.split()[:2] for line in dump("variables", case.program).splitlines()]
        same("addresses", [line.split()[:2] for line in dump("variables", bare).splitlines()], want)


def check_built_stripped(case):
    """A program that was linked without symbols (-s -w) has all functions and variables of the other."""
    other = build.binary(case.version, case.name.removesuffix("-stripped"))
    same("functions", [name for _, name in our_functions(case.program)], [name for _, name in our_functions(other)])
    rows = [line.split() for line in dump("variables", case.program).splitlines()]
    same("variables", [r for r in rows if r[1] == "0"], [])


# Cases of programs with symbols, and of those without; what holds on x86-64 alone has its name.
FULL = ("info", "functions", "lines", "inlined", "returns", "probes", "layout", "variables", "stripped")
STRIPPED = ("info", "built_stripped")
NOT_ARM64 = ("returns", "probes", "layout", "variables", "stripped", "built_stripped", "inlined")
NOT_WEB = ("inlined",)


def checks_of(name):
    for check in STRIPPED if name.endswith("-stripped") else FULL:
        if name.startswith("arm64") and check in NOT_ARM64 or name.startswith("web") and check in NOT_WEB:
            continue
        yield check


def run_checks(version, goroot, name):
    """How many failed."""
    failed = 0
    with vmlib.lock("go"):
        program = build.build(version, goroot, name)
    for check in checks_of(name):
        title = f"go{version}_{name}_{check}"
        try:
            globals()[f"check_{check}"](Case(version, goroot, name, program))
            print(f"ok {title}", flush=True)
        except Skip as e:
            print(f"skip {title}: {e}", flush=True)
        except (Wrong, subprocess.CalledProcessError) as e:
            failed += 1
            print(f"not ok {title}: {' '.join(str(e).split())[:600]}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("version", nargs="*")
    parser.add_argument("--variant", action="append")
    options = parser.parse_args()
    build_dump()
    failed = 0
    for version, goroot in fetch.toolchains().items():
        for name in build.VARIANTS:
            if options.version and version not in options.version or \
                    options.variant and name not in options.variant:
                continue
            failed += run_checks(version, goroot, name)
    return failed > 0


if __name__ == "__main__":
    vmlib.main(main)
