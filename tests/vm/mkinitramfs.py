#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the guest's root: busybox, /init, given files and the shared libraries they need, as an
uncompressed newc cpio archive. Needs no root, since device nodes are only entries of the archive.
"""

import sys

sys.dont_write_bytecode = True

import os
import re
import stat
import subprocess
from pathlib import Path

import vmlib
from vmlib import VmError

# As on a merged-/usr Debian. Libraries lie below /usr/lib only, which is where libbpf looks for the
# library named in SEC("uprobe/libc.so.6:malloc").
LINKS = (("bin", "usr/bin"), ("sbin", "usr/sbin"), ("lib", "usr/lib"), ("lib64", "usr/lib64"))

MOUNT_POINTS = ("proc", "sys", "dev", "mnt", "root", "run", "tmp", "var/tmp")

# The few names that C programs resolve.
ETC = {
    "etc/passwd": b"root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
    "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
    "etc/hosts": b"127.0.0.1 localhost\n",
}


class Cpio:
    """
    newc (Documentation/driver-api/early-userspace/buffer-format.rst): a header of "070701" and 13 numbers of
    8 hex digits (ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor,
    namesize, check), the name with its zero byte, the content; name and content each padded to 4 bytes.
    """

    def __init__(self):
        self.parts, self.names = [], set()

    def add(self, name, mode, content=b"", rdev=(0, 0)):
        """Adds an entry and the folders above it. The first entry of a name stays."""
        name = name.strip("/")
        if name in self.names:
            return
        parent = os.path.dirname(name)
        if parent:
            self.add(parent, stat.S_IFDIR | 0o755)
        self.names.add(name)
        self.append(name, mode, content, rdev)

    def append(self, name, mode, content, rdev):
        path = name.encode() + b"\0"
        numbers = (len(self.names), mode, 0, 0, 1, 0, len(content), 0, 0, *rdev, len(path), 0)
        header = b"070701" + b"".join(b"%08x" % n for n in numbers) + path
        for part in (header, content):
            self.parts += [part, b"\0" * (-len(part) % 4)]

    def file(self, name, host_path):
        mode = 0o755 if os.access(host_path, os.X_OK) else 0o644
        self.add(name, stat.S_IFREG | mode, Path(host_path).read_bytes())

    def bytes(self):
        self.append("TRAILER!!!", 0, b"", (0, 0))
        return b"".join(self.parts)


def busybox():
    for path in ("/bin/busybox", "/usr/bin/busybox"):
        if os.path.exists(path):
            return path
    raise VmError("busybox is not installed (package busybox-static)")


def libraries(path):
    """Shared libraries and the program interpreter that a file needs, or nothing for what is not dynamic."""
    with open(path, "rb") as f:
        if f.read(4) != b"\x7fELF":
            return []
    done = subprocess.run(["ldd", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = done.stdout.decode(errors="replace")
    missing = re.findall(r"(\S+) => not found", text)
    if missing:
        raise VmError(f"{path} needs {' '.join(missing)}, which is not here")
    return re.findall(r"(/\S+) \(0x", text)


def in_usr(path):
    """/lib/x -> /usr/lib/x: where a file lies when the links above are followed."""
    first = path.strip("/").split("/")[0]
    return f"/usr{path}" if first in dict(LINKS) else path


def make(files):
    """
    The archive's bytes. @files: pairs of a path on this machine and the path in the guest; a folder is
    copied with all that is in it.
    """
    cpio = Cpio()
    for name, to in LINKS:
        cpio.add(to, stat.S_IFDIR | 0o755)
        cpio.add(name, stat.S_IFLNK | 0o777, to.encode())
    for name in MOUNT_POINTS:
        cpio.add(name, stat.S_IFDIR | (0o1777 if name.endswith("tmp") else 0o755))
    for name, content in ETC.items():
        cpio.add(name, stat.S_IFREG | 0o644, content)
    cpio.add("dev/console", stat.S_IFCHR | 0o600, rdev=(5, 1))
    cpio.file("init", vmlib.HERE / "init")
    cpio.file("usr/bin/busybox", busybox())
    for applet in vmlib.run([busybox(), "--list"]).split():
        cpio.add(f"usr/bin/{applet}", stat.S_IFLNK | 0o777, b"busybox")
    for host, guest in files:
        for path, name in walk(host, guest):
            cpio.file(in_usr(name), path)
            for library in libraries(path):
                cpio.file(in_usr(library), library)
    return cpio.bytes()


def walk(host, guest):
    if not os.path.exists(host):
        raise VmError(f"{host} does not exist")
    if not os.path.isdir(host):
        return [(host, guest)]
    return [(path, os.path.join(guest, path.relative_to(host))) for path in Path(host).rglob("*") if path.is_file()]


def pair(argument):
    """HOST[=GUEST] of a command line; without GUEST a file goes to /usr/bin."""
    host, _, guest = argument.partition("=")
    return host, guest or "/usr/bin/" + os.path.basename(host)


def main():
    if len(sys.argv) < 2:
        raise VmError("usage: mkinitramfs.py OUT [HOST[=GUEST]]...")
    Path(sys.argv[1]).write_bytes(make([pair(a) for a in sys.argv[2:]]))


if __name__ == "__main__":
    vmlib.main(main)
