#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the observer may still do once it serves, that it works with it, and what it needs to begin."""

import sys

sys.dont_write_bytecode = True

import os
import re
import shutil
import signal
import subprocess

import lib

UID, GID = 4242, 4243  # of nobody on any machine that runs this
NOBODY = 65534
CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_BPF = 1 << 2, 1 << 19, 1 << 39

AS_SUDO = ("env", f"SUDO_UID={UID}", f"SUDO_GID={GID}")
AS_ROOT = ("env", "-u", "SUDO_UID", "-u", "SUDO_GID")
OTHER_USER = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
SAME_USER = ("setpriv", f"--reuid={UID}", f"--regid={GID}", "--clear-groups")

GROUPS = [re.match(r'GROUP\(\w+, "(\w+)"', line)[1]
          for line in (lib.ROOT / "include/groups.def").read_text().splitlines() if line.startswith("GROUP(")]
TRACE = "import ctypes,sys; libc=ctypes.CDLL(None,use_errno=True); " \
        "sys.exit(ctypes.get_errno() if libc.ptrace(0x4206,int(sys.argv[1]),0,0) else 0)"


def status_of(pid):
    return dict(line.split(":\t", 1) for line in lib.read_proc(f"/proc/{pid}/status").splitlines() if ":\t" in line)


def bpf_needs_a_capability():
    """Kernels before 5.19 ask for it at each bpf(2) while unprivileged BPF is off."""
    version = tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups()))
    return version < (5, 19) and lib.read_proc("/proc/sys/kernel/unprivileged_bpf_disabled") != "0\n"


def check_dropped(case, observer, uid, gid, broker=CAP_SYS_PTRACE | CAP_DAC_READ_SEARCH):
    """The kernel's own words about the serving process, which keeps nothing, and its broker, which keeps @broker."""
    check_process(case, observer.pid, uid, gid, CAP_BPF if bpf_needs_a_capability() else 0)
    case.true(f"it does not say it: {observer.stderr()}",
              re.search(rf"^skyobserve: privileges dropped: user id {uid}, capabilities", observer.stderr(), re.M))
    if "landlock" in (lib.read_proc("/sys/kernel/security/lsm") or ""):
        case.true("files are not limited", "files: only /proc and /sys" in observer.stderr())
    pid = lib.broker_of(observer)
    if broker is None:
        case.equal("broker", pid, None)
        return
    check_process(case, pid, uid, gid, broker)
    words = "".join(f" {name}" for cap, name in ((CAP_SYS_PTRACE, "CAP_SYS_PTRACE"),
                                                 (CAP_DAC_READ_SEARCH, "CAP_DAC_READ_SEARCH")) if broker & cap)
    case.true(f"it does not say what its broker keeps: {observer.stderr()}",
              f"skyobserve: broker: process {pid}, user id {uid}, capabilities{words}\n" in observer.stderr())


def check_process(case, pid, uid, gid, keeps):
    status = status_of(pid)
    case.equal("user ids", status["Uid"].split(), [str(uid)] * 4)
    case.equal("group ids", status["Gid"].split(), [str(gid)] * 4)
    case.equal("groups", status["Groups"].split(), [])
    for name, want in (("CapEff", keeps), ("CapPrm", keeps), ("CapInh", 0), ("CapBnd", 0), ("CapAmb", 0)):
        case.equal(name, int(status[name], 16), want)
    case.equal("no_new_privs", status["NoNewPrivs"], "1")
    case.equal("seccomp", status["Seccomp"], "2")
    # A process that is not dumpable belongs to root in /proc.
    case.equal("owner of its /proc", os.stat(f"/proc/{pid}/fd").st_uid, 0)


def calls(metrics, name, **labels):
    return metrics.sum("skyobserve_syscalls_total", syscall=name, **labels)


def wait_ended(observer):
    return lib.poll("the end to be seen", lambda: (
        lambda m: m if m.sum("skyobserve_process_up") == 0 else None)(observer.scrape()))


# ---- what is left ---------------------------------------------------------------------------------------


def pid_alone_keeps_nothing(case):
    """And counts exactly, keeps the books, sees the end, and sums up."""
    target = case.workload("syscalls", "--n", 321)
    observer = case.observe(pids=[target.pid], prefix=("setpriv", "--groups=10,20", *AS_SUDO))
    check_dropped(case, observer, UID, GID)
    target.run()
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid"), 321)
    case.equal("identities", lib.identities_wrong(metrics), [])
    case.true("no books of /proc", metrics.value("skyobserve_resident_memory_bytes") > 0)
    case.at_least("descriptors of ourselves", metrics.value("process_open_fds"), 10)
    target.finish()
    wait_ended(observer)
    lib.poll("it to be said", lambda: f"process {target.pid} (syscalls) has ended" in observer.stderr())
    observer.scrape(openmetrics=True)
    observer.stop(signal.SIGINT)
    summary = observer.stderr().partition("Totals of the observation")[2]
    case.true(f"getppid is not in the summary: {summary}", re.search(r"^ +getppid +321 ", summary, re.M))


def nobody_without_sudo(case):
    """Root itself, and root's sudo, become nobody."""
    target = case.workload("sleep")
    for prefix in (AS_ROOT, ("env", "SUDO_UID=0", "SUDO_GID=0"), ("env", "SUDO_UID=x", "SUDO_GID=1")):
        observer = case.observe(pids=[target.pid], prefix=prefix)
        check_dropped(case, observer, NOBODY, NOBODY)
        observer.stop()


def every_group_works_without(case):
    """All groups are up, and their numbers go on, also by raw tracepoints."""
    target = case.workload("noise", "--ms", "5")
    observer = case.observe("--raw-tracepoints", "--interaction", "http", pids=[target.pid], prefix=AS_SUDO)
    check_dropped(case, observer, UID, GID)
    target.say()
    lib.poll("fsyncs", lambda: observer.scrape().sum("skyobserve_fsyncs_total") > 20)
    target.say()
    truth = target.take_truth()
    lib.poll("it to wait for its end", lambda: lib.waits_for_us(target.pid))
    metrics = observer.scrape()
    case.equal("fsyncs", metrics.sum("skyobserve_fsyncs_total", call="fsync"), truth["fsyncs"])
    # The census is only taken for a record, and functions are probed if they are named.
    case.equal("groups", set(metrics.by("skyobserve_probe_group_up", "group")), set(GROUPS) - {"census", "functions"})


def without_a_broker(case):
    """Nothing comes, and nothing of Go is wanted: there is no second process."""
    target = case.workload("syscalls", "--n", 12)
    observer = case.observe("--groups", "process,sched,syscalls", pids=[target.pid], prefix=AS_SUDO)
    check_dropped(case, observer, UID, GID, broker=None)
    target.run()
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid"), 12)
    case.equal("cost of a broker", metrics.select("skyobserve_broker_cpu_seconds_total"), [])


def live_table(case):
    target = case.workload("sleep")
    observer = case.observe("--live", "--interval", 1, pids=[target.pid], prefix=AS_SUDO)
    check_dropped(case, observer, UID, GID)
    lib.poll("two pictures", lambda: lib.read_proc(case.path("stdout")).count("off CPU") >= 2)
    case.true("the target is not in it", "sleep  " in lib.read_proc(case.path("stdout")))


def a_command(case):
    """Nothing comes after it: nothing is kept, and its status is still ours."""
    os.chmod(case.dir, 0o755)
    observer = case.observe("--user", "nobody", "--", "sh", "-c", "sleep 3; exit 7", prefix=AS_ROOT)
    check_dropped(case, observer, NOBODY, NOBODY)
    observer.wait_end(7)


def same_user_cannot_trace(case):
    """A process of the user that we became can neither trace us nor open our descriptors."""
    target = case.workload("sleep")
    observer = case.observe(pids=[target.pid], prefix=AS_SUDO)
    traced = subprocess.run([*SAME_USER, sys.executable, "-c", TRACE, str(observer.pid)], cwd="/", check=False)
    case.equal("errno of ptrace", traced.returncode, 1)  # EPERM
    for what in ("fd", "map_files"):
        listed = subprocess.run([*SAME_USER, "ls", f"/proc/{observer.pid}/{what}"], cwd="/", capture_output=True,
                                check=False)
        case.true(f"{what} can be listed", listed.returncode != 0)


# ---- targets that come later ----------------------------------------------------------------------------


def later_targets(case):
    """By name: other users' processes are taken in by the broker, with their calls in flight."""
    os.chmod(case.dir, 0o755)
    program = case.own_program("syscalls")
    os.chmod(program, 0o755)
    name = os.path.basename(program)
    observer = case.observe("--comm", name, prefix=AS_SUDO)
    check_dropped(case, observer, UID, GID)
    wrapper = case.path("wrapper")
    with open(wrapper, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\nexec {' '.join(OTHER_USER)} {program} \"$@\"\n")
    os.chmod(wrapper, 0o755)
    target = case.workload("syscalls", "--n", 55, program=wrapper)
    lib.poll("it to be observed", lambda: observer.scrape().sum("skyobserve_process_up", process=name) == 1)
    case.equal("calls in flight", observer.scrape().sum("skyobserve_syscalls_in_flight", syscall="read"), 1)
    target.run()
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid", process=name), 55)
    case.equal("executables", [labels["exe"] for labels, _ in metrics.select("skyobserve_process_info")], [program])
    target.finish()
    wait_ended(observer)


def later_executables(case):
    """--exe below a folder that only root may enter."""
    program = case.own_program("syscalls")
    observer = case.observe("--exe", program, prefix=AS_SUDO)
    check_dropped(case, observer, UID, GID)
    target = case.workload("syscalls", "--n", 56, program=program)
    lib.poll("it to be observed", lambda: observer.scrape().sum("skyobserve_process_up") == 1)
    target.run()
    case.equal("getppid", calls(observer.scrape(), "getppid"), 56)


def whole_machine(case):
    """Those that are there, and those that come."""
    observer = case.observe("--all", prefix=AS_SUDO)
    check_dropped(case, observer, UID, GID)
    program = case.own_program("syscalls")
    target = case.workload("syscalls", "--n", 57, program=program)
    name = os.path.basename(program)
    lib.poll("it to be observed", lambda: observer.scrape().sum("skyobserve_process_up", process=name) == 1)
    before = observer.scrape().sum("skyobserve_syscalls_total", process=name)
    target.run()
    case.at_least("calls", observer.scrape().sum("skyobserve_syscalls_total", process=name) - before, 57)


def followed_children(case):
    target = case.workload("forkexec", "--n", 30)
    observer = case.observe("--follow", pids=[target.pid], prefix=AS_SUDO)
    check_dropped(case, observer, UID, GID)
    truth = target.run()
    case.equal("fsyncs of the child", observer.scrape().sum("skyobserve_fsyncs_total", call="fsync"),
               truth["child"]["fsyncs"])


# ---- what cannot be given up is said --------------------------------------------------------------------


def hidden_processes(case):
    """Where /proc hides other users' processes, the broker reads the books, and needs CAP_SYS_PTRACE for it."""
    target = case.workload("syscalls", "--n", 77)
    script = 'mount -t proc -o hidepid=2 proc /proc && exec "$@"'
    if subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", "true"], check=False).returncode:
        raise lib.Skip("a second /proc cannot be mounted")
    observer = case.observe("--groups", "process,sched,syscalls", pids=[target.pid],
                            prefix=(*AS_SUDO, "unshare", "--mount", "sh", "-c", script, "sh"))
    check_dropped(case, observer, UID, GID, CAP_SYS_PTRACE)
    target.run()
    metrics = observer.scrape()
    case.equal("getppid", calls(metrics, "getppid"), 77)
    case.true("no books of /proc", metrics.value("skyobserve_resident_memory_bytes") > 0)


def root_that_cannot_leave(case):
    """Without CAP_SETUID and CAP_SETGID, as in some containers, capabilities go all the same."""
    target = case.workload("sleep")
    observer = case.observe(pids=[target.pid],
                            prefix=(*AS_SUDO, "setpriv", "--groups=10", "--bounding-set=-setuid,-setgid"))
    status = status_of(observer.pid)
    case.equal("user ids", status["Uid"].split(), ["0"] * 4)
    case.equal("CapEff", int(status["CapEff"], 16), CAP_BPF if bpf_needs_a_capability() else 0)
    case.true(f"nothing about the user: {observer.stderr()}", "warning: still user id 0" in observer.stderr())
    case.true(f"nothing about groups: {observer.stderr()}", "warning: supplementary groups" in observer.stderr())
    observer.scrape()


# ---- what is needed to begin ----------------------------------------------------------------------------


def where_nobody_can_run_it(case):
    program = case.path("skyobserve")
    if not os.path.exists(program):
        os.chmod(case.dir, 0o755)
        shutil.copy(lib.SKYOBSERVE, program)
        os.chmod(program, 0o755)
    return program


def with_only(*names):
    """Not root, with these capabilities."""
    caps = ",".join(f"+{name}" for name in names) or "-all"
    return (*OTHER_USER, f"--inh-caps={caps}", f"--ambient-caps={caps}")


def try_serve(case, caps, *options):
    """Status of a serve that has nothing to do (127 in time), and what it says."""
    done = subprocess.run([*with_only(*caps), where_nobody_can_run_it(case), "serve", *options, "--web.listen-address",
                           "127.0.0.1:0", "--", "true"], cwd="/", capture_output=True, text=True, check=False,
                          timeout=lib.DEADLINE_S)
    return done.returncode, done.stderr


def least_capabilities(case):
    """CAP_BPF and CAP_PERFMON together begin an observation, for every group; neither alone does."""
    for group in GROUPS:
        status, stderr = try_serve(case, ("bpf", "perfmon"), "--groups", group)
        case.equal(f"status with both for {group}", status, 0)
        case.true(f"{group} is off: {stderr}", f"group {group} is off" not in stderr)
        for caps in ((), ("bpf",), ("perfmon",)):
            status, stderr = try_serve(case, caps, "--groups", group)
            case.equal(f"status with {caps} for {group}", status, lib.STATUS_MISSING)
            case.true(f"{caps}, {group}: {stderr}", "root" in stderr)


def doctor_knows_them(case):
    program = where_nobody_can_run_it(case)
    for caps, missing in (((), {"CAP_BPF", "CAP_PERFMON"}), (("bpf",), {"CAP_PERFMON"}), (("perfmon",), {"CAP_BPF"}),
                          (("bpf", "perfmon"), set())):
        done = subprocess.run([*with_only(*caps), program, "doctor"], cwd="/", capture_output=True, text=True,
                              check=False, timeout=lib.DEADLINE_S)
        found = set(re.findall(r"^(CAP_\w+) +missing", done.stdout, re.M))
        case.equal(f"missing with {caps}", found, missing)
        case.equal(f"status with {caps}", done.returncode, lib.STATUS_MISSING if missing else 0)
    done = subprocess.run([*AS_SUDO, program, "doctor"], cwd="/", capture_output=True, text=True, check=False,
                          timeout=lib.DEADLINE_S)
    text = " ".join(done.stdout.split())
    kept = "keeps CAP_BPF" if bpf_needs_a_capability() else "needs no capability any more"
    case.true(f"it does not say what serving keeps: {text}", f"while serving ok {kept}" in text)
    case.true("nothing about the broker", "broker ok a second process, which answers no network, keeps" in text)
    case.true("it does not say as whom", f"user id {UID}" in text)
    case.true("nothing about seccomp", "seccomp ok system calls are limited" in text)


def not_root_from_the_start(case):
    """With the two capabilities, by a user: they are dropped too, and the user stays."""
    program = where_nobody_can_run_it(case)
    copy = case.own_program("syscalls")
    os.chmod(copy, 0o755)
    target = case.workload("syscalls", "--n", 88)
    observer = case.observe(pids=[target.pid], prefix=(*with_only("bpf", "perfmon"), "sh", "-c", f'shift; exec {program} "$@"', "sh"))
    status = status_of(observer.pid)
    case.equal("user ids", status["Uid"].split(), [str(NOBODY)] * 4)
    for name in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
        case.equal(name, int(status[name], 16), CAP_BPF if bpf_needs_a_capability() and name[3] in "EP" else 0)
    case.equal("no_new_privs", status["NoNewPrivs"], "1")
    target.run()
    case.equal("getppid", calls(observer.scrape(), "getppid"), 88)


# ---- strangers' bytes -----------------------------------------------------------------------------------


def control_bytes(case):
    """A name that controls terminals reaches neither the log, nor the table, nor a label."""
    program = os.path.join(os.fsencode(case.dir), b"\xc2\x9b2J\x9b\x1b[2J\x07")
    shutil.copy(lib.WORKLOADS / "sleep", program)
    target = case.workload("sleep", program=os.fsdecode(program))
    observer = case.observe("--live", "--interval", 1, pids=[target.pid])
    lib.poll("a picture", lambda: "off CPU" in lib.read_proc(case.path("stdout")))
    metrics = observer.scrape()
    observer.stop()
    for what, raw in (("the log", open(observer.stderr_path, "rb").read()), ("the scrape", metrics.body),
                      ("the table", open(case.path("stdout"), "rb").read())):
        try:
            bad = re.findall(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", raw.decode("utf-8"))
            case.true(f"control characters in {what}: {bad}", not bad)
        except UnicodeDecodeError as err:
            case.note(f"{what} is no UTF-8: {err}")
    case.true("the target is not named", f"observing process {target.pid}: ?2J??[2J?" in observer.stderr())


if __name__ == "__main__":
    sys.exit(lib.main([(function.__name__, function) for function in (
        pid_alone_keeps_nothing, nobody_without_sudo, every_group_works_without, without_a_broker, live_table, a_command,
        same_user_cannot_trace, later_targets, later_executables, whole_machine, followed_children, hidden_processes,
        root_that_cannot_leave, least_capabilities, doctor_knows_them, not_root_from_the_start, control_bytes)]))
