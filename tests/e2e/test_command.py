#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`-- COMMAND`: its status, its signals, its descriptors, its identity."""

import sys

sys.dont_write_bytecode = True

import os
import pty
import re
import shutil
import signal
import subprocess

import lib

NOT_EXECUTABLE, NOT_FOUND = 126, 127
# What a command does with signals; it says when it is ready for them.
SCRIPTS = {
    "dies": "echo ready; exec sleep 1000",
    "answers": "trap 'echo got; exit 5' INT TERM HUP; echo ready; while :; do sleep 0.05; done",
    "refuses": "trap '' INT TERM; echo ready; while :; do sleep 0.05; done",
}
PASSED_ON = [("dies", signal.SIGINT, 130), ("dies", signal.SIGTERM, 143), ("dies", signal.SIGHUP, 129),
             ("answers", signal.SIGINT, 5), ("answers", signal.SIGTERM, 5), ("answers", signal.SIGHUP, 5)]


def said(case, word):
    return (lib.read_proc(case.path("stdout")) or "").count(word)


def observe(case, script, *options, **arguments):
    """An observer whose command is ready."""
    before = said(case, "ready")
    observer = case.observe(*options, "--", "sh", "-c", SCRIPTS[script], **arguments)
    lib.poll("the command to be ready", lambda: said(case, "ready") > before)
    return observer


def has_ended(pid):
    return lib.task_state(pid, pid) in (None, "Z", "X")


def command_of(observer):
    """Its process id, from the metrics."""
    (labels, _), = observer.scrape().select("skyobserve_process_info")
    return int(labels["pid"])


def status(case):
    """It is the command's own, or 128 and the signal."""
    for script, want in (("exit 7", 7), ("exit 0", 0), ("kill -9 $$", 137)):
        case.observe("--", "sh", "-c", script, wait=False).wait_end(want)


def not_executed(case):
    """As of a shell: 127 for one that is not there, 126 for one that cannot be executed; and why."""
    script, wrong = case.path("script"), case.path("wrong")
    for path, text in ((script, b"#!/nonexistent/interpreter\n"), (wrong, b"\x7fELF nonsense")):
        with open(path, "wb") as file:
            file.write(text)
        os.chmod(path, 0o755)
    for program, want, why in (("/nonexistent/program", NOT_FOUND, "no such file"),
                               ("no-such-program", NOT_FOUND, "PATH"), ("", NOT_FOUND, "PATH"),
                               ("/etc/passwd", NOT_EXECUTABLE, "permission"), ("/etc", NOT_EXECUTABLE, "permission"),
                               (script, NOT_EXECUTABLE, "interpreter")):
        observer = case.observe("--", program, wait=False)
        observer.stopped = True
        case.equal(f"status of {program}", observer.process.wait(lib.DEADLINE_S), want)
        lines = observer.stderr().splitlines()
        case.true(f"{lines}: not one line that says {why}", len(lines) == 1 and re.search(
            rf"error: cannot execute {re.escape(program)}: .*{why}", lines[0]))


def signals_are_passed_on(case):
    """A signal to us alone reaches the command, and we end as it does."""
    for script, sig, want in PASSED_ON:
        observer = observe(case, script)
        command = command_of(observer)
        observer.stop(sig, want)
        case.true(f"{script} goes on after {sig.name}", has_ended(command))
    case.equal("signals that it answered", said(case, "got"), 3)


def of_another_user(case):
    """Also when serving has no privilege over it any more."""
    observer = observe(case, "dies", "--user", "daemon")
    case.true("it does not run as daemon", "daemon" in subprocess.run(
        ["ps", "-o", "user=", "-p", str(command_of(observer))], capture_output=True, text=True, check=True).stdout)
    observer.stop(signal.SIGTERM, 143)


def second_signal_kills(case):
    """One that does not end when it was asked to is killed at the second time."""
    observer = observe(case, "refuses")
    command = command_of(observer)
    observer.process.send_signal(signal.SIGINT)
    case.equal("processes after the first", observer.scrape().value("skyobserve_process_up"), 1)
    observer.stop(signal.SIGINT, 137)
    case.true("it goes on", has_ended(command))


def hangup_may_be_survived(case):
    """SIGHUP asks nobody to end: a command that reads its files again goes on, however often."""
    script = "trap 'echo got' HUP; echo ready; while :; do sleep 0.05; done"
    observer = case.observe("--", "sh", "-c", script)
    lib.poll("the command to be ready", lambda: said(case, "ready"))
    for n in (1, 2, 3):
        observer.process.send_signal(signal.SIGHUP)
        lib.poll("the command to answer", lambda: said(case, "got") == n)
    case.equal("processes", observer.scrape().value("skyobserve_process_up"), 1)
    observer.stop(signal.SIGTERM, 143)


def identity(case):
    """The executable is what runs now: of a command, and of what it executes later."""
    sleep = shutil.copy(shutil.which("sleep"), case.own_program("sleep"))
    observer = case.observe("--", sleep, "1000")
    case.equal("executable", observer.scrape().labels("exe"), {sleep})
    observer.stop(signal.SIGTERM, 143)
    # What comes later can be read where privileges for it are kept.
    observer = case.observe("--follow", "--", "sh", "-c", f"sleep 0.3; exec {sleep} 1000")
    lib.poll("the last executable", lambda: observer.scrape().labels("exe") == {sleep})
    observer.stop(signal.SIGTERM, 143)


def scraped_at_its_end(case):
    """However scrapes and the end of the command fall together, the end is noticed."""
    observer = case.observe("--", "sleep", "0.5")
    while observer.process.poll() is None:
        try:
            observer.fetch(seconds=5)
        except OSError:
            break  # it has closed
    observer.wait_end(0)


class Terminal:
    """The observer as the foreground of a terminal of its own."""

    def __init__(self, case, script):
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.execv(str(lib.SKYOBSERVE), ["skyobserve", "--web.listen-address", "127.0.0.1:0", "--", "sh", "-c",
                                           script])
        self.text = b""
        os.set_blocking(self.fd, False)
        self.wait_for(b"ready")
        self.wait_for(b"metrics at")

    def wait_for(self, word, n=1):
        def look():
            try:
                self.text += os.read(self.fd, 65536)
            except (BlockingIOError, OSError):
                pass  # nothing yet, or the last one closed it
            return self.text.count(word) >= n
        lib.poll(f"{word} on the terminal", look)

    def type(self, text):
        os.write(self.fd, text)

    def status(self):
        self.wait_for(b"Totals of the observation")
        _, status = os.waitpid(self.pid, 0)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(status)


def ctrl_c(case):
    """The command gets it from the terminal, once; 130 if it dies of it."""
    terminal = Terminal(case, SCRIPTS["dies"])
    terminal.type(b"\x03")
    case.equal("status", terminal.status(), 130)
    terminal = Terminal(case, "trap 'echo again; n=$((n + 1))' INT; echo ready; "
                              "while [ ${n:-0} -lt 3 ]; do sleep 0.05; done; exit 9")
    for n in (1, 2, 3):  # as in a program with a prompt
        terminal.type(b"\x03")
        terminal.wait_for(b"again", n)
    case.equal("status", terminal.status(), 9)
    case.equal("times that it got it", terminal.text.count(b"again"), 3)


CASES = [
    ("status", status),
    ("not_executed", not_executed),
    ("signals_are_passed_on", signals_are_passed_on),
    ("of_another_user", of_another_user),
    ("second_signal_kills", second_signal_kills),
    ("hangup_may_be_survived", hangup_may_be_survived),
    ("identity", identity),
    ("scraped_at_its_end", scraped_at_its_end),
    ("ctrl_c", ctrl_c),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
