#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fetches Debian's cloud kernels, by name and newest match, and a QEMU that boots them.

Nothing is installed: packages come through apt with private lists from the hosts that the machine's own
apt sources name, with the suite exchanged, are checked against the archive keys of debian-archive-keyring,
and are unpacked into build/vm (VM_CACHE). What is there already is left alone. Needs no root.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import extract_vmlinux
import vmlib
from vmlib import CACHE, VmError, note, run

# Suites that have left support keep the keys they were signed with; the second ring holds expired ones.
KEYRINGS = ("/usr/share/keyrings/debian-archive-keyring.gpg", "/usr/share/keyrings/debian-archive-removed-keys.gpg")

# Lists that are younger are not asked for again. Long enough for a day's work, short enough that
# packages named in them still exist.
LISTS_AGE_S = 12 * 3600

ATTEMPTS = 3


def codename():
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.split("=", 1)[1].strip('"')
    raise VmError("/etc/os-release has no VERSION_CODENAME: this is no Debian release")


def machine_archives():
    """Where this machine gets Debian from: {"": address of the archive, "-security": of the security archive}."""
    text = run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE) $(COMPONENT)", "Created-By: Packages"])
    release, found = codename(), {}
    for line in text.splitlines():
        uri, suite, component = line.split()
        if component == "main" and suite in (release, "stable"):
            found.setdefault("", uri)
        elif component == "main" and suite in (f"{release}-security", "stable-security"):
            found.setdefault("-security", uri)
    if "" not in found:
        raise VmError(f"the apt sources of this machine name no Debian archive for {release} main")
    return found


class Suite:
    """A Debian suite with apt lists of its own."""

    def __init__(self, name, arch):
        self.name, self.arch = name, arch
        self.dir = CACHE / "apt" / arch / name

    def apt(self, tool, *arguments, cwd=None):
        d = self.dir
        options = (f"APT::Architecture={self.arch}", f"APT::Architectures={self.arch}",
                   f"Dir::Etc::SourceList={d}/sources.list", "Dir::Etc::SourceParts=/dev/null",
                   "Dir::Etc::Preferences=/dev/null", "Dir::Etc::PreferencesParts=/dev/null",
                   f"Dir::State={d}/state", f"Dir::State::Lists={d}/lists", f"Dir::State::status={d}/status",
                   f"Dir::Cache={d}/cache", "APT::Sandbox::User=", "APT::Update::Error-Mode=any",
                   "Acquire::Languages=none", "Acquire::Retries=3")
        return run([tool, "-q", *(w for o in options for w in ("-o", o)), *arguments], cwd=cwd or d, timeout=900)

    def update(self, force=False):
        stamp = self.dir / "updated"
        if not force and stamp.exists() and time.time() - stamp.stat().st_mtime < LISTS_AGE_S:
            return
        archives = machine_archives()
        kind = "-security" if self.name.endswith("-security") else ""
        if kind not in archives:
            raise VmError("the apt sources of this machine name no security archive")
        for sub in ("state", "lists/partial", "cache/archives/partial"):
            (self.dir / sub).mkdir(parents=True, exist_ok=True)
        (self.dir / "status").touch()
        failure = None
        for keyring in (k for k in KEYRINGS if Path(k).exists()):
            # An old suite's Release file may have expired; its signature is what we rely on.
            (self.dir / "sources.list").write_text(
                f"deb [signed-by={keyring} check-valid-until=no] {archives[kind]} {self.name} main\n")
            try:
                self.apt("apt-get", "update")
                stamp.touch()
                return
            except VmError as e:
                failure = failure or e
        raise failure or VmError("no archive keys: install debian-archive-keyring")

    def names(self, pattern):
        """Packages whose whole name matches."""
        regex = re.compile(pattern)
        return [n for n in self.apt("apt-cache", "pkgnames").split() if regex.fullmatch(n)]

    def version(self, package):
        found = re.search(r"Candidate: (\S+)", self.apt("apt-cache", "policy", package))
        return None if not found or found[1] == "(none)" else found[1]

    def download(self, package, into):
        """Unpacks a package into a folder. When that fails the lists may be out of date: they are renewed."""
        for attempt in range(ATTEMPTS):
            with tempfile.TemporaryDirectory(dir=self.dir) as folder:
                try:
                    self.apt("apt-get", "download", package, cwd=folder)
                    deb, = Path(folder).glob("*.deb")
                    run(["dpkg", "-x", deb, into])
                    return
                except VmError:
                    if attempt == ATTEMPTS - 1:
                        raise
            time.sleep(attempt)
            self.update(force=True)


def usable_suites(names, arch, force):
    """Those suites of the list that the machine's archive serves. None at all is an error."""
    usable, failure = [], None
    for name in names:
        suite = Suite(name, arch)
        try:
            suite.update(force)
            usable.append(suite)
        except VmError as e:
            failure = e
            note(f"suite {name} is left out: {e}")
    if not usable:
        raise VmError(f"no suite of {' '.join(names)} can be read: {failure}")
    return usable


def newest_kernels(row, arch, suites):
    """
    Suite, package and release of the newest cloud kernel of a series in each suite, the newest first.

    Up to 6.12 the kernel is in linux-image-RELEASE; newer ones have it in linux-binary-RELEASE, and their
    linux-image-RELEASE is empty, so linux-binary wins where both exist.
    """
    version = re.escape(row.name).replace(r"\.x", r"\.\d+")
    pattern = rf"linux-(image|binary)-({version}\.\d+.*-cloud-{arch})"
    found = []
    for suite in suites:
        for package in suite.names(pattern):
            kind, release = re.fullmatch(pattern, package).groups()
            found.append((vmlib.version_key(release), kind == "binary", package, release, suite))
    if not found:
        others = [n for s in suites for n in s.names(rf"linux-(image|binary)-\d.*-cloud-{arch}")]
        newest = max(others, key=vmlib.version_key, default="none at all")
        raise VmError(f"no {row.name} cloud kernel for {arch} in {' '.join(s.name for s in suites)} "
                      f"(newest there: {newest})")
    best = {}
    for _, _, package, release, suite in sorted(found, key=lambda f: f[:2], reverse=True):
        best.setdefault(suite, (suite, package, release))
    return list(best.values())


def fetch_kernel(name, arch, force):
    """Puts vmlinux (arm64: Image), btf, release and, if packaged along, config into the kernel's folder."""
    row = vmlib.series(name)
    folder = vmlib.kernel_dir(name, arch)
    if not force and (folder / "release").exists():
        return folder
    kernels = newest_kernels(row, arch, usable_suites(row.suites, arch, force))
    for i, (suite, package, release) in enumerate(kernels):
        if (folder / "release").exists() and (folder / "release").read_text() == release:
            return folder
        try:
            note(f"fetching {package} from {suite.name}")
            unpack_kernel(suite, package, release, arch, folder)
            return folder
        except VmError as e:
            # Archives were seen that list a package and do not have it.
            if i == len(kernels) - 1:
                raise
            note(f"trying an older one: {e}")


def unpack_kernel(suite, package, release, arch, folder):
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as new:
        tree, made = Path(new) / "tree", Path(new) / "made"
        suite.download(package, tree)
        images = [*tree.glob("boot/vmlinuz-*"), *tree.glob("usr/lib/modules/*/vmlinuz")]
        if len(images) != 1:
            raise VmError(f"{package} has {len(images)} files named vmlinuz, want 1")
        made.mkdir()
        kernel = extract_vmlinux.uncompressed_kernel(images[0])
        (made / ("vmlinux" if arch == "amd64" else "Image")).write_bytes(kernel)
        (made / "btf").write_bytes(extract_vmlinux.btf(kernel))
        for config in tree.glob("boot/config-*"):
            shutil.copyfile(config, made / "config")
        # Written last: a folder with this file is complete.
        (made / "release").write_text(release)
        shutil.rmtree(folder, ignore_errors=True)
        made.rename(folder)


def qemu_major(argv):
    """Major version of a QEMU, or 0 if it does not run."""
    try:
        text = subprocess.run([*argv, "--version"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
    except OSError:
        return 0
    found = re.search(r"version (\d+)\.", text)
    return int(found[1]) if found else 0


SYSTEM_QEMU = ["qemu-system-x86_64"]
PRIVATE_QEMU_DIR = CACHE / "qemu"
PRIVATE_QEMU = [str(PRIVATE_QEMU_DIR / "usr/bin/qemu-system-x86_64"), "-L", str(PRIVATE_QEMU_DIR / "usr/share/qemu"),
                "-L", "/usr/share/seabios", "-L", "/usr/share/qemu"]


def qemu_for(row):
    """The QEMU to boot a series with: the system's if it is new enough, else the private one, else the system's."""
    system = qemu_major(SYSTEM_QEMU)
    if not system:
        raise VmError("qemu-system-x86_64 is not installed (package qemu-system-x86)")
    if system >= row.qemu:
        return SYSTEM_QEMU
    if qemu_major(PRIVATE_QEMU) >= row.qemu:
        return PRIVATE_QEMU
    note(f"QEMU {system} is used for kernel {row.name}, which it crashes now and then; {row.qemu} would not")
    return SYSTEM_QEMU


def fetch_qemu(major):
    """Unpacks the QEMU of the machine's backports, when the system's is too old. Failing is no error."""
    if qemu_major(SYSTEM_QEMU) >= major or qemu_major(PRIVATE_QEMU) >= major:
        return
    try:
        suite, = usable_suites((f"{codename()}-backports",), "amd64", False)
        version = suite.version("qemu-system-x86")
        note(f"fetching QEMU {version} from {suite.name}")
        with tempfile.TemporaryDirectory(dir=CACHE, prefix=".new-") as new:
            tree = Path(new) / "tree"
            for package in ("qemu-system-x86", "qemu-system-common", "qemu-system-data"):
                suite.download(f"{package}={version}", tree)
            shutil.rmtree(PRIVATE_QEMU_DIR, ignore_errors=True)
            tree.rename(PRIVATE_QEMU_DIR)
        if qemu_major(PRIVATE_QEMU) < major:
            raise VmError(f"QEMU {version} does not run here or is older than {major}")
    except VmError as e:
        note(f"no private QEMU {major}, the system's will be used: {e}")


def fetch(names, arch="amd64", force=False):
    with vmlib.lock("fetch"):
        folders = [fetch_kernel(name, arch, force) for name in names]
        major = max((vmlib.series(name).qemu for name in names), default=0)
        if arch == "amd64" and major:
            fetch_qemu(major)
    return folders


def main():
    parser = argparse.ArgumentParser(description="Fetch Debian cloud kernels into build/vm (or $VM_CACHE).")
    parser.add_argument("series", nargs="*", help="5.10, 6.1, 6.12, or N.M or N.x from unstable; default: $KERNELS "
                                                  "or 5.10 6.1")
    parser.add_argument("--arch", choices=vmlib.ARCHES, default="amd64")
    parser.add_argument("--update", action="store_true", help="replace what is cached if the archive has newer")
    options = parser.parse_args()
    for folder in fetch(vmlib.wanted_kernels(options.series), options.arch, options.update):
        print(f"{folder}  {(folder / 'release').read_text()}")


if __name__ == "__main__":
    vmlib.main(main)
