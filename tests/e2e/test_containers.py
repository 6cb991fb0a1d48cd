#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Targets in pid namespaces, on overlays and without their files, seen from the machine's own namespace."""

import sys
import os
import shutil
import subprocess

import lib

# A root of its own on an overlay over ours, in namespaces of its own; what is executed is the copy in there.
CONTAINER = """set -e
mount -t tmpfs none {box}
mkdir {box}/upper {box}/work {box}/root
mount -t overlay overlay -o lowerdir=/,upperdir={box}/upper,workdir={box}/work {box}/root
mount --rbind /dev {box}/root/dev
mount -t proc proc {box}/root/proc
cp {program} {box}/root/usr/bin/{name}
exec chroot {box}/root /usr/bin/{name} {options}
"""


class Contained(lib.Workload):
    """A workload in a container; its process ids are those of the machine."""

    def __init__(self, case, name, program, *options):
        box = case.path("box")
        os.mkdir(box)
        script = CONTAINER.format(box=box, program=program, name=os.path.basename(program), options=" ".join(options))
        super().__init__("unshare", "--pid", "--fork", "--mount", "sh", "-c", script, cwd=case.dir,
                         program=shutil.which("unshare"))
        case.workloads.append(self)
        self.name = name
        self.outer = self.pid
        line = self.lines.next()
        if line is None:
            raise lib.Skip(f"no container can be made: {lib.one_line(self.process.stderr.read().decode(errors='replace'))}")
        children = lambda: (lib.read_proc(f"/proc/{self.outer}/task/{self.outer}/children") or "").split()
        self.pid = int(lib.poll("the process in the container", children)[0])
        self.pids = [self.pid]
        lib.poll("it to wait for its release", lambda: lib.waits_for_us(self.pid))
        self.settle()
        self.begin = {self.pid: lib.books_of(self.pid)}


def in_a_container(case):
    """By its number on the machine: every call is counted, and the file is named as the container has it."""
    program = case.own_program("syscalls")
    target = Contained(case, "syscalls", program, "--n", "250")
    status = lib.read_proc(f"/proc/{target.pid}/status")
    inner = [line.split() for line in status.splitlines() if line.startswith("NSpid:")][0]
    case.true(f"it is in no namespace of its own: {inner}", len(inner) == 3)
    observer = case.observe(pids=[target.pid])
    target.run()
    metrics = observer.scrape()
    case.equal("getppid", metrics.value("skyobserve_syscalls_total", syscall="getppid"), 250)
    case.equal("identities", lib.identities_wrong(metrics, lib.ALL_IDENTITIES), [])
    info = metrics.select("skyobserve_process_info")[0][0]
    case.equal("executable", info["exe"].endswith(f"/usr/bin/{os.path.basename(program)}"), True)
    target.finish()


def contained_by_comm(case):
    """By its name, also when it starts later: a container has no secrets from its machine."""
    program = case.own_program("syscalls")
    observer = case.observe("--comm", os.path.basename(program))
    target = Contained(case, "syscalls", program, "--n", "120")
    target.run()
    case.equal("getppid", observer.scrape().value("skyobserve_syscalls_total", syscall="getppid"), 120)
    target.finish()


def deleted_program(case):
    """A program whose file is gone, and another one at its place, is what was executed."""
    program = case.own_program("syscalls")
    target = case.workload("syscalls", "--n", 90, program=program)
    os.unlink(program)
    shutil.copy("/bin/true", program)
    inspected = subprocess.run([lib.SKYOBSERVE, "inspect", "--pid", str(target.pid)], capture_output=True, text=True,
                               timeout=lib.DEADLINE_S)
    case.equal("inspect", (inspected.returncode, inspected.stderr), (0, ""))
    case.true(f"inspect reads another file: {inspected.stdout}", str(os.stat(f"/proc/{target.pid}/exe").st_size) in
              inspected.stdout.replace(" ", "").replace(",", "") or "deleted" in inspected.stdout)
    observer = case.observe(pids=[target.pid])
    target.run()
    metrics = observer.scrape()
    case.equal("getppid", metrics.value("skyobserve_syscalls_total", syscall="getppid"), 90)
    info = metrics.select("skyobserve_process_info")[0][0]
    case.equal("executable", info["exe"], f"{program} (deleted)")


def observer_in_a_namespace(case):
    """Inside a pid namespace the numbers are not the kernel's: that is said, and nothing is counted wrong."""
    for command in (["--all"], ["selftest"], ["record", "-o", case.path("record"), "--all"]):
        run = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", lib.SKYOBSERVE, *command],
                             capture_output=True, text=True, timeout=lib.DEADLINE_S, cwd=case.dir)
        case.equal(f"status of {command[0]}", run.returncode, lib.STATUS_MISSING)
        case.true(f"{command[0]} does not say it: {run.stderr}", "runs inside a pid namespace" in run.stderr)


CASES = [
    ("in_a_container", in_a_container),
    ("contained_by_comm", contained_by_comm),
    ("deleted_program", deleted_program),
    ("observer_in_a_namespace", observer_in_a_namespace),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
