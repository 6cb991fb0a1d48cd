#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line: each mistake has one clear line and its status, and signals end it properly."""

import sys

sys.dont_write_bytecode = True

import collections
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import threading

import lib

USAGE, MISSING, GONE, FAILED = lib.STATUS_USAGE, lib.STATUS_MISSING, lib.STATUS_GONE, 1

# name:    of the case
# argv:    after the program's name; {pid} is a process of ours, the others are made by PLACES
# status:  that it must end with
# says:    patterns, each of which must be in the one line
Row = collections.namedtuple("Row", "name argv status says")

ROWS = [
    Row("no_target", [], USAGE, ["--pid", "--comm"]),
    Row("all_syscalls_of_what", ["--all-syscalls", "--pid", "1"], USAGE, ["--all-syscalls", "--all"]),
    Row("dead_pid", ["--pid", "{dead}"], GONE, ["{dead}", "no such process"]),
    Row("pid_beyond_all", ["--pid", "999999999"], GONE, ["999999999", "no such process"]),
    Row("pid_zero", ["--pid", "0"], GONE, ["no such process"]),
    Row("pid_too_long", ["--pid", "4294967297"], GONE, ["4294967297", "no such process"]),
    Row("zombie", ["--pid", "{zombie}"], GONE, ["{zombie}", "ended"]),
    Row("second_pid_dead", ["--pid", "{pid}", "{dead}"], GONE, ["{dead}", "no such process"]),
    Row("empty_pid_at_end", ["--pid"], USAGE, ["--pid", "pgrep"]),
    Row("empty_pid_before_option", ["--pid", "--label-pid"], USAGE, ["--pid", "pgrep"]),
    Row("empty_pid_word", ["--pid", ""], USAGE, ["--pid", "pgrep"]),
    Row("empty_pid_equals", ["--pid="], USAGE, ["--pid", "pgrep"]),
    Row("pid_no_number", ["--pid", "app"], USAGE, ["--pid", "`app`"]),
    Row("pid_negative", ["--pid", "-1"], USAGE, ["-1"]),
    Row("thread_id", ["--pid", "{thread}"], USAGE, ["{thread}", "thread", "--pid {threads_process}"]),
    Row("kernel_thread", ["--pid", "{kthread}"], USAGE, ["{kthread}", "kernel thread"]),
    Row("unknown_option", ["--pid", "{pid}", "--frobnicate"], USAGE, ["--frobnicate", "--help"]),
    Row("unknown_short_option", ["-x"], USAGE, ["-x", "--help"]),
    Row("unknown_command", ["frobnicate", "--pid", "{pid}"], USAGE, ["frobnicate", "--help"]),
    Row("stray_word", ["--pid", "{pid}", "--label-pid", "stray"], USAGE, ["stray", "behind --"]),
    Row("command_behind_options", ["--pid", "{pid}", "top"], USAGE, ["`top`", "command of skyobserve before all"]),
    Row("stray_pid", ["--comm", "app", "{pid}"], USAGE, ["--pid {pid}"]),
    Row("pid_as_a_command", ["{pid}"], USAGE, ["`{pid}`", "--pid"]),
    Row("program_without_dashes", ["--follow", "make", "test"], USAGE, ["`make`", "behind --"]),
    Row("unknown_user", ["--user", "no-such-user", "--", "true"], USAGE, ["--user no-such-user", "no such user"]),
    Row("unknown_group", ["--pid", "{pid}", "--groups", "sched,frobs"], USAGE, ["--groups", "frobs"]),
    Row("no_value", ["--pid", "{pid}", "--web.listen-address", "127.0.0.1:0", "--name"], USAGE, ["--name", "value"]),
    Row("value_for_a_flag", ["--pid", "{pid}", "--label-pid=yes"], USAGE, ["--label-pid", "value"]),
    Row("number_zero", ["--pid", "{pid}", "--interval", "0"], USAGE, ["--interval", "0"]),
    Row("number_no_number", ["--pid", "{pid}", "--max-processes", "many"], USAGE, ["--max-processes", "many"]),
    Row("number_too_large", ["--pid", "{pid}", "--max-threads", "99999999999"], USAGE, ["--max-threads"]),
    Row("bad_address", ["--pid", "{pid}", "--web.listen-address", "nonsense"], USAGE, ["nonsense"]),
    Row("bad_port", ["--pid", "{pid}", "--web.listen-address", "127.0.0.1:99999"], USAGE, ["99999"]),
    Row("bad_ipv6", ["--pid", "{pid}", "--web.listen-address", "::1:80"], USAGE, ["::1:80", r"\[::1\]"]),
    Row("short_address", ["--pid", "{pid}", "--web.listen-address", "999:1"], USAGE, ["999:1", "127.0.0.1:1"]),
    Row("foreign_address", ["--pid", "{pid}", "--web.listen-address", "192.0.2.1:0"], FAILED, ["192.0.2.1"]),
    Row("address_in_use", ["--pid", "{pid}", "--web.listen-address", "{taken}"], FAILED, ["{taken}", "in use"]),
    Row("bad_path", ["--pid", "{pid}", "--web.telemetry-path", "metrics"], USAGE, ["metrics", "begin with /"]),
    Row("reserved_path", ["--pid", "{pid}", "--web.telemetry-path", "/-/ready"], USAGE, ["/-/ready"]),
]


# ---- what the rows name ---------------------------------------------------------------------------------


def dead(case):
    process = case.popen(["true"])
    process.wait()
    return process.pid


def zombie(case):
    process = case.popen(["true"])
    lib.poll("it to be a zombie", lambda: lib.task_state(process.pid, process.pid) == "Z")
    return process.pid


def thread(case):
    spin = case.workload("spin", "--threads", 2)
    return next(tid for tid in lib.thread_ids(spin.pid) if tid != spin.pid)


def kthread(case):
    for name in os.listdir("/proc"):
        stat = lib.read_proc(f"/proc/{name}/stat") if name.isdigit() else None
        if stat and int(stat.rpartition(")")[2].split()[6]) & 0x00200000:  # PF_KTHREAD
            return int(name)
    raise lib.Skip("no kernel thread is visible here")


def taken(case):
    case.socket = socket.socket()
    case.socket.bind(("127.0.0.1", 0))
    case.socket.listen()
    return "127.0.0.1:%d" % case.socket.getsockname()[1]


PLACES = {
    "pid": lambda case: case.workload("sleep").pid,
    "other": lambda case: case.workload("sleep").pid,
    "threads_process": lambda case: next(w.pid for w in case.workloads if w.name == "spin"),
    "dead": dead, "zombie": zombie, "thread": thread, "kthread": kthread, "taken": taken,
}


def run_to_end(argv, **arguments):
    return subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          timeout=10, **arguments)


def one_clear_line(case, got, status, says):
    """It ended with this status, one line of error and nothing else."""
    case.equal("status", got.returncode, status)
    case.equal("stdout", got.stdout, "")
    lines = [line for line in got.stderr.splitlines() if not line.startswith("skyobserve: observing process")]
    case.equal("number of lines on stderr", len(lines), 1)
    text = lines[-1] if lines else ""
    case.true(f"does not begin as an error: {text!r}", text.startswith("skyobserve: error: "))
    for pattern in says:
        case.true(f"{text!r} does not say {pattern!r}", re.search(pattern, text))


def mistake(row):
    def run(case):
        places = {}
        for name in re.findall(r"\{(\w+)\}", " ".join(row.argv + row.says)):
            if name not in places:
                places[name] = PLACES[name](case)
        argv = [word.format(**places) for word in row.argv]
        if "--web.listen-address" not in argv:
            argv[:0] = ["--web.listen-address", "127.0.0.1:0"] if "--" in argv else []
        if "--web.listen-address" not in argv:
            argv += ["--web.listen-address", "127.0.0.1:0"] if row.name != "empty_pid_at_end" else []
        got = run_to_end([str(lib.SKYOBSERVE), *argv])
        one_clear_line(case, got, row.status, [re.escape(str(pattern.format(**places))) if "{" in pattern else pattern
                                               for pattern in row.says])
    return run


# ---- privilege ------------------------------------------------------------------------------------------


def no_privilege(case):
    """As nobody it says what is missing, and that root has it."""
    if not shutil.which("setpriv"):
        raise lib.Skip("setpriv is not installed")
    os.chmod(case.dir, 0o755)
    program = shutil.copy(lib.SKYOBSERVE, case.path("skyobserve"))
    os.chmod(program, 0o755)
    target = case.workload("sleep")
    got = run_to_end(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all",
                      "--bounding-set=-all", program, "--pid", str(target.pid), "--web.listen-address",
                      "127.0.0.1:0"])
    one_clear_line(case, got, MISSING, ["root|sudo"])


# ---- which targets --------------------------------------------------------------------------------------


def stderr_when_ready(case, *options, **arguments):
    observer = case.observe(*options, **arguments)
    return observer, observer.stderr()


def several_pids(case):
    """Each is listed with its program and user; different programs make a warning, equal ones do not."""
    first, second, third = case.workload("sleep"), case.workload("sleep"), case.workload("spin")
    _, text = stderr_when_ready(case, pids=[first.pid, second.pid])
    for target in (first, second):
        case.true(f"{target.pid} is not listed: {text}", re.search(
            rf"^skyobserve: observing process {target.pid}: sleep, {re.escape(str(lib.WORKLOADS))}/sleep, user root$",
            text, re.M))
    case.true(f"a warning without a reason: {text}", "warning: the targets run different" not in text)
    observer, text = stderr_when_ready(case, pids=[first.pid, third.pid])
    case.true(f"no warning: {text}", re.search(r"^skyobserve: warning: .*different programs", text, re.M))
    case.equal("processes", set(observer.scrape().by("skyobserve_process_up", "process")), {"sleep", "spin"})


def pids_in_one_word(case):
    """--pid "$(pgrep app)" in quotes, and the same number twice."""
    first, second = case.workload("sleep"), case.workload("sleep")
    observer = case.observe("--pid", f"{first.pid}\n{second.pid}\n{first.pid}", "--web.listen-address",
                            "127.0.0.1:0", address=None)
    case.equal("processes", observer.scrape().value("skyobserve_process_up"), 2)


def user_of_target(case):
    """The user is the target's, not ours."""
    os.chmod(case.dir, 0o777)
    target = case.popen(["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sleep", "1000"])
    lib.poll("it to be sleep", lambda: (lib.read_proc(f"/proc/{target.pid}/comm") or "") == "sleep\n")
    _, text = stderr_when_ready(case, pids=[target.pid])
    case.true(f"not said to be nobody's: {text}", re.search(rf"process {target.pid}: sleep, .*, user nobody$", text,
                                                          re.M))


def ourselves_left_out(case):
    """A shell that becomes the observer has named itself, as `pgrep -f` does."""
    target = case.workload("sleep")
    script = f'exec "{lib.SKYOBSERVE}" --pid $$ {target.pid} --web.listen-address 127.0.0.1:0'
    observer, text = stderr_when_ready(case, prefix=["sh", "-c", script], address=None)
    case.true(f"no note: {text}", re.search(rf"process {observer.pid} is left out: .*itself", text))
    case.equal("processes", observer.scrape().by("skyobserve_process_up", "process"), {"sleep": 1})


def sudo_left_out(case):
    """Of `pgrep -f app` under sudo, the wrapper is not the program."""
    target = case.workload("sleep")
    wrapper = case.workload("sleep", program=shutil.copy(lib.WORKLOADS / "sleep", case.path("sudo")))
    observer, text = stderr_when_ready(case, pids=[wrapper.pid, target.pid])
    case.true(f"no note: {text}", re.search(rf"process {wrapper.pid} is left out: .*sudo", text))
    case.equal("processes", observer.scrape().by("skyobserve_process_up", "process"), {"sleep": 1})


def nothing_left(case):
    """Only the sudo that runs us was named: then there is nothing to observe."""
    sudo = shutil.copy(shutil.which("sh"), case.path("sudo"))
    got = run_to_end([sudo, "-c", f'"{lib.SKYOBSERVE}" --pid $$ --web.listen-address 127.0.0.1:0; exit $?'])
    case.equal("status", got.returncode, USAGE)
    case.true(f"{got.stderr!r} does not say why", re.search(r"left out: .*sudo", got.stderr))
    case.true(f"{got.stderr!r} does not say what", re.search(r"^skyobserve: error: nothing is left", got.stderr, re.M))


# ---- signals, output ------------------------------------------------------------------------------------


def ends_by(sig):
    """A last summary with the totals, status 0, and nothing left attached (checked by stop)."""
    def run(case):
        calls = case.workload("syscalls", "--n", 1234)
        observer = case.observe(pids=[calls.pid])
        calls.run()
        observer.stop(sig)
        summary = observer.stderr().partition("Totals of the observation")[2]
        case.true(f"getppid is not in the summary: {summary}", re.search(r"^ +getppid +1,?234 ", summary, re.M))
        case.true(f"the books are not: {summary}", "identities hold" in summary)
    return run


def hangup_does_not_end(case):
    sleep = case.workload("sleep")
    observer = case.observe(pids=[sleep.pid])
    observer.process.send_signal(signal.SIGHUP)
    case.equal("processes", observer.scrape().value("skyobserve_process_up"), 1)


def ends_during_scrapes(case):
    """Told to end while clients ask, it ends: no client holds it up."""
    sleep = case.workload("sleep")
    observer = case.observe(pids=[sleep.pid])
    stop = threading.Event()

    def ask():
        while not stop.is_set():
            try:
                observer.fetch()
            except OSError:
                return

    clients = [threading.Thread(target=ask) for _ in range(3)]
    silent = socket.create_connection(("127.0.0.1", int(observer.address.rpartition(":")[2])))
    for client in clients:
        client.start()
    begin = lib.time.monotonic()
    observer.stop(signal.SIGTERM)
    case.at_most("seconds to end", lib.time.monotonic() - begin, 10)
    stop.set()
    for client in clients:
        client.join()
    silent.close()


def help_and_version(case):
    for argv in (["--help"], ["-h"], ["serve", "--help"], ["help"]):
        got = run_to_end([str(lib.SKYOBSERVE), *argv])
        case.equal(f"status of {argv}", got.returncode, 0)
        for word in ("--pid PID", "--comm NAME", "--web.listen-address", "serve", "top"):
            case.true(f"{argv} does not tell of {word}", word in got.stdout)
        long = [line for line in got.stdout.splitlines() if len(line) > 120]
        case.equal("lines over 120", long, [])
    got = run_to_end([str(lib.SKYOBSERVE), "--version"])
    case.equal("status", got.returncode, 0)
    case.true(f"{got.stdout!r}", re.fullmatch(r"skyobserve \d+\.\d+\S*\n", got.stdout))


def read_terminal(fd, wanted, text=b""):
    """What comes from a terminal, until @wanted is in it."""
    def look():
        nonlocal text
        while select.select([fd], [], [], 0)[0]:
            text += os.read(fd, 65536)
        return wanted in text
    lib.poll(f"{wanted!r} on the terminal", look)
    return text


def live_table(case):
    """`top` paints a table on a terminal, with the address in it, and ends on Ctrl-C."""
    calls = case.workload("syscalls", "--n", 1000)
    ours, theirs = pty.openpty()
    process = case.popen([str(lib.SKYOBSERVE), "top", "--pid", str(calls.pid), "--interval", "1",
                          "--web.listen-address", "127.0.0.1:0"], stdin=theirs, stdout=theirs,
                         stderr=subprocess.PIPE)
    text = read_terminal(ours, b"http://127.0.0.1:")
    calls.run()
    text = read_terminal(ours, b"getppid", text)
    case.true("it does not paint over itself", b"\x1b[H" in text)
    process.send_signal(signal.SIGINT)
    case.equal("status", process.wait(lib.DEADLINE_S), 0)
    case.true("no summary", b"Totals of the observation" in process.stderr.read())
    os.close(ours)
    os.close(theirs)


def top_into_a_pipe(case):
    """Without a terminal there are no escapes in it."""
    sleep = case.workload("sleep")
    observer = case.observe("--interval", 1, pids=[sleep.pid], command=["top"])
    table = lib.poll("a table", lambda: open(case.path("stdout")).read())
    case.true(f"escapes in {table[:200]!r}", "\x1b" not in table)
    case.true("no address in the table", observer.address in table)


CASES = [(row.name, mistake(row)) for row in ROWS] + [
    ("no_privilege", no_privilege),
    ("several_pids", several_pids),
    ("pids_in_one_word", pids_in_one_word),
    ("user_of_target", user_of_target),
    ("ourselves_left_out", ourselves_left_out),
    ("sudo_left_out", sudo_left_out),
    ("nothing_left", nothing_left),
    ("SIGINT", ends_by(signal.SIGINT)),
    ("SIGTERM", ends_by(signal.SIGTERM)),
    ("hangup_does_not_end", hangup_does_not_end),
    ("ends_during_scrapes", ends_during_scrapes),
    ("help_and_version", help_and_version),
    ("live_table", live_table),
    ("top_into_a_pipe", top_into_a_pipe),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
