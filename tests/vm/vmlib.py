# SPDX-License-Identifier: MIT
"""What the scripts of tests/vm share: folders, the table of kernel series, names, building the
small C programs of this folder. Knows nothing of apt, QEMU or test protocols.
"""

import collections
import fcntl
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BUILD = Path(os.environ.get("BUILD", ROOT / "build")).absolute()
CACHE = Path(os.environ.get("VM_CACHE", BUILD / "vm")).absolute()

# The kernels that a plain run boots: the oldest that is supported and Debian 12's own.
DEFAULT_KERNELS = ["5.10", "6.1"]

# name:   what is asked for on the command line and what stands in the names of the cases
# suites: Debian suites that are searched; the newest version found in any of them is taken
# qemu:   lowest QEMU major version that boots it without random guest panics (see README.md)
Series = collections.namedtuple("Series", "name suites qemu")

SERIES = (
    Series("5.10", ("bullseye-security", "bullseye"), 0),
    Series("6.1", ("bookworm-security", "bookworm"), 0),
    Series("6.12", ("trixie-security", "trixie", "bookworm-backports"), 10),
)

# Every other name N.M (or N.x: the newest of that major version) is looked for in unstable.
UNSTABLE_SUITES = ("sid",)

ARCHES = ("amd64", "arm64")


class VmError(Exception):
    """A fault that the user can act on: one line, printed without a traceback."""


def series(name):
    for row in SERIES:
        if row.name == name:
            return row
    if not re.fullmatch(r"\d+\.(\d+|x)", name):
        known = " ".join(row.name for row in SERIES)
        raise VmError(f"kernel '{name}': want one of {known}, or N.M or N.x from unstable")
    return Series(name, UNSTABLE_SUITES, 10)


def kernel_dir(name, arch="amd64"):
    return CACHE / "kernels" / arch / name


def cached_kernels(arch="amd64"):
    """Names of the series in the cache, oldest first."""
    folder = CACHE / "kernels" / arch
    names = [p.name for p in folder.iterdir() if (p / "release").exists()] if folder.exists() else []
    return sorted(names, key=lambda n: version_key((folder / n / "release").read_text()))


def version_key(text):
    """Orders kernel releases: 6.12.90+deb13.1 after 6.12.90+deb13, 5.10.0-46 after 5.10.0-9."""
    return [int(n) for n in re.findall(r"\d+", text)]


def wanted_kernels(arguments):
    """The kernels of a test run: the command line, else $KERNELS, else the default."""
    return arguments or os.environ.get("KERNELS", "").split() or DEFAULT_KERNELS


def note(text):
    """A remark for people; the protocol on standard output stays clean."""
    print(f"# {text}", file=sys.stderr, flush=True)


def run(argv, **kwargs):
    """Runs a program, quiet when it works; its last words become the error when it does not."""
    try:
        done = subprocess.run([str(a) for a in argv], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **kwargs)
    except FileNotFoundError:
        raise VmError(f"{argv[0]} is not installed (tests/vm/packages.txt lists what is needed)")
    except subprocess.TimeoutExpired as e:
        raise VmError(f"{argv[0]}: no end within {e.timeout:.0f} s")
    text = done.stdout.decode(errors="replace")
    if done.returncode:
        lines = [line for line in text.splitlines() if line.strip()]
        # Compilers and apt say the cause on a line with "error" or "E:"; the last line is often a summary.
        cause = [line for line in lines if re.search(r"\berror\b|^E: ", line)] or lines[-1:] or ["no output"]
        raise VmError(f"{Path(str(argv[0])).name}: {cause[0].strip()} (exit {done.returncode})")
    return text


class lock:
    """One writer at a time for a part of the cache; released when the process ends, whatever happens."""

    def __init__(self, name):
        CACHE.mkdir(parents=True, exist_ok=True)
        self.path = CACHE / f".{name}.lock"

    def __enter__(self):
        self.file = open(self.path, "w")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"waiting for another run that holds {self.path}")
            fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def is_older(product, *sources):
    return not product.exists() or any(s.stat().st_mtime > product.stat().st_mtime for s in sources)


def pkg_config(*arguments):
    return run(["pkg-config", *arguments]).split()


def build_c(name, sources, flags=(), inputs=()):
    """Builds build/tests/vm/NAME from C files of this folder, when it is older than they are."""
    out = BUILD / "tests" / "vm" / name
    sources = [HERE / s for s in sources]
    with lock("build"):
        if is_older(out, *sources, *HERE.glob("*.h"), *inputs):
            out.parent.mkdir(parents=True, exist_ok=True)
            run([os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-g", "-Wall", "-Wextra", "-Werror", *flags,
                 *pkg_config("--cflags", "libbpf"), "-o", out, *sources, *pkg_config("--libs", "libbpf")])
    return out


def build_bpf(name, source, flags=()):
    """Builds build/tests/vm/NAME.bpf.o. The probe has its own types, so no vmlinux.h is needed."""
    out = BUILD / "tests" / "vm" / f"{name}.bpf.o"
    with lock("build"):
        if is_older(out, HERE / source):
            out.parent.mkdir(parents=True, exist_ok=True)
            run([os.environ.get("CLANG", "clang"), "-target", "bpf", "-O2", "-g", "-Wall", "-Werror", *flags,
                 f"-I/usr/include/{os.uname().machine}-linux-gnu", *pkg_config("--cflags", "libbpf"),
                 "-c", HERE / source, "-o", out])
    return out


def main(body):
    """Runs a script's body: VmError ends it with one line, signals with nothing; temporary files are removed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    try:
        sys.exit(body())
    except VmError as e:
        print(f"{Path(sys.argv[0]).name}: {e}", file=sys.stderr)
        sys.exit(1)
    except PermissionError as e:
        print(f"{Path(sys.argv[0]).name}: {e.filename}: not permitted (a file that root made?)", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
