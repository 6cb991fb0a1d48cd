#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Boots a kernel of the cache under QEMU, runs one command in the guest and returns its exit status.

Status 125 means that there is no status: the guest died, hung or never started. Needs no root.
"""

import sys

sys.dont_write_bytecode = True

import argparse
import os
import secrets
import select
import shlex
import subprocess
import tempfile
import time
from pathlib import Path

import fetch
import mkinitramfs
import vmlib
from vmlib import VmError, note

NO_STATUS = 125

# Boots take 2 to 6 s on a machine that is nearly idle, and took up to 33 s with 15 busy processes on two cores.
BOOT_TIMEOUT_S = 120

# Between QEMU closing its output and its end; only its status is wanted from that.
QEMU_EXIT_S = 5

DISK_MIB = 64


class Guest:
    """
    One boot. @command is a shell script that may take timeout_s. @on_line gets each line of its output (bytes,
    no line end) and the guest, whose extend() it may call.
    """

    def __init__(self, kernel, command, files, on_line, timeout_s, smp="2", mem=1024, disk=False):
        self.row = vmlib.series(kernel)
        self.command, self.files, self.smp, self.mem, self.disk = command, files, smp, mem, disk
        self.on_line, self.timeout_s = on_line, timeout_s
        self.nonce = secrets.token_hex(4)
        self.release = None     # the guest's uname -r, set when init runs
        self.status = None      # exit status of the command
        self.fault = None       # why there is no status
        self.hung = False       # the fault is that nothing came any more
        self.boot_s = None
        self.deadline = 0

    def extend(self, seconds):
        """The guest has so many seconds from now on."""
        self.deadline = time.monotonic() + seconds

    def initramfs(self, shell=False):
        env = (f"VM_NONCE={self.nonce}\nVM_DISK={int(self.disk)}\nVM_SHELL={int(shell)}\n"
               f"VM_PORT=/dev/{'ttyS0' if shell else 'ttyS1'}\n")
        extra = mkinitramfs.Cpio()
        extra.add("vm/env", 0o100644, env.encode())
        extra.add("vm/command", 0o100644, self.command.encode() + b"\n")
        # The kernel unpacks archives one after the other.
        return mkinitramfs.make(self.files) + extra.bytes()

    def qemu(self, folder, shell=False):
        (folder / "initramfs").write_bytes(self.initramfs(shell))
        argv = [*fetch.qemu_for(self.row), "-M", "pc", "-accel", os.environ.get("VM_ACCEL", "tcg,thread=multi"),
                "-cpu", "max,la57=off", "-smp", self.smp, "-m", str(self.mem), "-nodefaults", "-no-user-config",
                "-display", "none", "-no-reboot", "-kernel", str(vmlib.kernel_dir(self.row.name) / "vmlinux"),
                "-initrd", str(folder / "initramfs"),
                # An oops is a failed test, not something to go on from.
                "-append", "console=ttyS0 loglevel=5 panic=-1 oops=panic mitigations=off nokaslr"]
        if self.disk:
            image = folder / "disk"
            with open(image, "wb") as f:
                f.truncate(DISK_MIB << 20)
            vmlib.run(["/sbin/mkfs.ext4", "-qF", image])
            # Debian's 5.10 and 6.1 have NVMe and ext4 built in, but virtio as modules.
            argv += ["-drive", f"if=none,id=disk,format=raw,cache=unsafe,file={image}", "-device", "nvme,serial=1,drive=disk"]
        if shell:
            return argv + ["-serial", "mon:stdio"]
        return argv + ["-chardev", f"file,id=console,path={folder / 'console'}", "-serial", "chardev:console",
                       "-chardev", "stdio,id=output,signal=off", "-serial", "chardev:output", "-monitor", "none"]

    def run(self):
        """Boots, and fills in release, status or fault, and boot_s."""
        with tempfile.TemporaryDirectory(prefix="vm-") as tmp:
            folder = Path(tmp)
            argv = self.qemu(folder)
            start = time.monotonic()
            self.extend(BOOT_TIMEOUT_S)
            # Should this script be killed, the guest goes with it.
            child = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *argv], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=open(folder / "stderr", "wb"))
            try:
                ended = self.read_output(child.stdout, start)
                if ended and self.status is None:
                    child.wait(QEMU_EXIT_S)
            except subprocess.TimeoutExpired:
                pass
            finally:
                child.kill()
                child.wait()
            if self.status is None:
                self.hung = not ended
                self.fault = self.explain(folder, ended, child.returncode)

    def read_output(self, pipe, start):
        """Handles lines until the exit marker. False when the deadline came first."""
        rest = b""
        os.set_blocking(pipe.fileno(), False)
        while self.status is None:
            left = self.deadline - time.monotonic()
            if left <= 0:
                return False
            if not select.select([pipe], [], [], left)[0]:
                continue
            chunk = pipe.read(65536)
            if not chunk:
                # The guest died; what it said of its last line may matter.
                if rest:
                    self.on_line(rest, self)
                return True
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self.handle_line(line, start)
        return True

    def handle_line(self, line, start):
        """A marker ends its line, but a command whose last line has no end leaves that before the marker."""
        text, marker, value = line.partition(b"VM-INIT-" + self.nonce.encode() + b" ")
        if marker:
            self.release, self.boot_s = value.decode().strip(), time.monotonic() - start
            self.extend(self.timeout_s)
            return
        text, marker, value = line.partition(b"VM-EXIT-" + self.nonce.encode() + b" ")
        if marker:
            self.status = int(value)
        if text or not marker:
            self.on_line(text, self)

    def explain(self, folder, ended, returncode):
        """One line on why there is no exit status; the console's last lines go to standard error."""
        try:
            console = (folder / "console").read_text(errors="replace").splitlines()
        except FileNotFoundError:
            console = []
        for line in console[-30:]:
            note(f"console: {line.rstrip()}")
        errors = (folder / "stderr").read_text(errors="replace").strip()
        if errors:
            note(f"qemu: {errors}")
        when = "after init had started" if self.release else "before init started"
        if not ended:
            return f"no end within the time given, {when}"
        panics = [line.strip() for line in console if "Kernel panic" in line or "BUG:" in line or "Oops" in line]
        if panics:
            return f"the guest died {when}: {panics[0]}"
        return f"the guest died {when} (QEMU's status {returncode})" + (f": {errors.splitlines()[0]}" if errors else "")


def boot(**arguments):
    """Runs a Guest; one that dies before its init is started once more, since QEMU's emulation is not perfect."""
    for attempt in (1, 2):
        guest = Guest(**arguments)
        guest.run()
        if guest.status is not None or guest.release or attempt == 2:
            return guest
        note(f"kernel {guest.row.name}: {guest.fault}; trying once more")


def main():
    parser = argparse.ArgumentParser(
        description="Run a command in a guest. COMMAND is a shell line when it is one word, otherwise a program "
                    "and its arguments. Exit status: the command's, or 125 when the guest died.")
    parser.add_argument("--kernel", required=True, metavar="SERIES", help="see fetch.py; fetched when not in the cache")
    parser.add_argument("--smp", default="2", metavar="CPUS", help="as for QEMU: 2,maxcpus=128 is 128 possible CPUs, 2 of them online")
    parser.add_argument("--mem", type=int, default=1024, metavar="MIB")
    parser.add_argument("--disk", action="store_true", help=f"an ext4 of {DISK_MIB} MiB on NVMe, mounted at /mnt")
    parser.add_argument("--file", action="append", default=[], metavar="HOST[=GUEST]",
                        help="a file or folder to take along with its libraries (default: to /usr/bin); repeatable")
    parser.add_argument("--timeout", type=float, default=120, metavar="S", help="for the command, from its start")
    parser.add_argument("--shell", action="store_true", help="a shell on this terminal instead of COMMAND; Ctrl-A x ends it")
    parser.add_argument("command", nargs="*")
    options = parser.parse_args()
    if bool(options.command) == options.shell:
        raise VmError("want either --shell or -- COMMAND")

    fetch.fetch([options.kernel])
    arguments = dict(kernel=options.kernel, files=[mkinitramfs.pair(f) for f in options.file], smp=options.smp,
                     mem=options.mem, disk=options.disk, timeout_s=options.timeout)
    if options.shell:
        with tempfile.TemporaryDirectory(prefix="vm-") as tmp:
            return subprocess.run(Guest(command="", on_line=None, **arguments).qemu(Path(tmp), shell=True)).returncode
    command = options.command[0] if len(options.command) == 1 else shlex.join(options.command)

    def on_line(line, _):
        sys.stdout.buffer.write(line + b"\n")
        sys.stdout.buffer.flush()

    guest = boot(command=command, on_line=on_line, **arguments)
    if guest.status is None:
        print(f"vmrun.py: kernel {options.kernel}: {guest.fault}", file=sys.stderr)
        return NO_STATUS
    return guest.status


if __name__ == "__main__":
    vmlib.main(main)
