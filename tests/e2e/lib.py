# SPDX-License-Identifier: MIT
"""What the end-to-end tests share: workloads, the observer as users run it, its metrics, and cases.

A test program is a list of cases, functions of one argument: the Case, which starts what the case needs,
notes what is wrong, and ends everything afterwards. Nothing here sleeps to wait for a state: it polls for
the state, with a deadline.

Environment: BUILD is the folder of the built programs (default: build beside this tree), SKYOBSERVE the
observer (default: BUILD/skyobserve).
"""

import sys

sys.dont_write_bytecode = True

import collections
import fnmatch
import gzip
import http.client
import json
import os
import platform
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
import traceback
import urllib.parse
from pathlib import Path

import exposition

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("BUILD", ROOT / "build"))
SKYOBSERVE = Path(os.environ.get("SKYOBSERVE", BUILD / "skyobserve"))
WORKLOADS = BUILD / "tests" / "workloads"

# A stuck machine, not a slow one.
DEADLINE_S = 30
# Between two looks: short at first, then a tenth of the time waited so far.
MIN_POLL_S, MAX_POLL_S = 0.002, 0.02

STATUS_SKIP = 77  # of a workload that cannot run here
STATUS_USAGE, STATUS_MISSING, STATUS_GONE = 64, 69, 3

# Identities of counts: no clock has a part in them, so they hold in every scrape.
EXACT_IDENTITIES = ("in_flight", "syscalls", "modes")
# At rest. The clocks of `cpu` and the machine's own losses are in their bounds.
ALL_IDENTITIES = ("cpu", "cpu_stamps", "modes", "in_flight", "syscalls", "stamps", "run_queue", "wall", "switches")

NR_READ = {"x86_64": 0, "aarch64": 63}.get(platform.machine())

TEXT_TYPE = "text/plain; version=0.0.4"
OPENMETRICS_TYPE = "application/openmetrics-text; version=1.0.0"


class Failed(Exception):
    """The case cannot go on."""


class Skip(Exception):
    """The case cannot be run here."""


def poll(what, look, seconds=DEADLINE_S):
    """Call look() until it answers with something true; returns that."""
    begin = time.monotonic()
    while True:
        found, waited = look(), time.monotonic() - begin
        if found:
            return found
        if waited > seconds:
            raise Failed(f"waited {seconds} s for {what}")
        time.sleep(min(MAX_POLL_S, max(MIN_POLL_S, waited / 10)))


def one_line(text, limit=1500):
    text = " ".join(str(text).split())
    return text if len(text) <= limit else text[:limit] + " ..."


# ---- /proc: what the kernel says, without the observer --------------------------------------------------


def read_proc(path):
    """The text, or None if what it is about has gone."""
    try:
        return Path(path).read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None


def thread_ids(pid):
    try:
        return sorted(int(name) for name in os.listdir(f"/proc/{pid}/task"))
    except FileNotFoundError:
        return []


def task_state(pid, tid):
    stat = read_proc(f"/proc/{pid}/task/{tid}/stat")
    return stat.rpartition(")")[2].split()[0] if stat else None


def waits_for_us(pid):
    """Whether the leading thread sleeps in a read of its stdin."""
    call = read_proc(f"/proc/{pid}/task/{pid}/syscall")
    return bool(call) and call.startswith(f"{NR_READ} 0x0 ") and task_state(pid, pid) == "S"


def is_off_cpu(pid, tid):
    """Whether a thread waits for something or has ended. A state alone is set before the CPU is left."""
    return read_proc(f"/proc/{pid}/task/{tid}/syscall") != "running\n" and \
        task_state(pid, tid) in ("S", "I", "Z", "X", None)


def all_sleep(pid):
    """Whether every thread waits for something, or the process is gone."""
    return all(is_off_cpu(pid, tid) for tid in thread_ids(pid))


Books = collections.namedtuple("Books", "on_ns run_delay_ns voluntary involuntary faults")


def books_of(pid):
    """The kernel's own sums over the living threads of a process; exact while all of them sleep."""
    sums = [0, 0, 0, 0]
    for tid in thread_ids(pid):
        base = f"/proc/{pid}/task/{tid}"
        schedstat, status = read_proc(base + "/schedstat"), read_proc(base + "/status")
        if schedstat is None or status is None:
            continue
        on, delay = schedstat.split()[:2]
        switches = re.findall(r"^(?:non)?voluntary_ctxt_switches:\s*(\d+)", status, re.M)
        for i, value in enumerate((on, delay, *switches)):
            sums[i] += int(value)
    fields = read_proc(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return Books(*sums, int(fields[7]) + int(fields[9]))


def process_cpu_ns(pid):
    """CPU time of a process, its ended threads included, by the kernel's clock for it."""
    return time.clock_gettime_ns((~pid << 3) | 2)  # CPUCLOCK_SCHED of a process, time(7) and posix-timers.h


def statm_resident_bytes(pid):
    return int(read_proc(f"/proc/{pid}/statm").split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---- BPF: what of it is in the kernel -------------------------------------------------------------------


def bpf_ids_of(pid):
    """The ids of the BPF programs, links and maps that a process holds, as {kind: set}."""
    ids = {"prog": set(), "link": set(), "map": set()}
    for name in os.listdir(f"/proc/{pid}/fdinfo"):
        text = read_proc(f"/proc/{pid}/fdinfo/{name}")
        for kind, value in re.findall(r"^(prog|link|map)_id:\s*(\d+)", text or "", re.M):
            ids[kind].add(int(value))
    return ids


def bpf_ids(kind):
    """All of the machine, as bpftool lists them."""
    shown = subprocess.run(["bpftool", "-j", kind, "show"], capture_output=True, text=True, timeout=DEADLINE_S)
    return {row["id"] for row in json.loads(shown.stdout or "[]") if "id" in row}  # else it went away just then


def bpf_left(ids):
    """Those of ids that the kernel still has."""
    return {kind: ids[kind] & bpf_ids(kind) for kind in ids if ids[kind] & bpf_ids(kind)}


def pinned():
    """What is pinned in the BPF file system, where it is mounted."""
    return {str(path) for path in Path("/sys/fs/bpf").rglob("*")}


# ---- workloads ------------------------------------------------------------------------------------------


class Lines:
    """The lines that a process writes, each waited for with a deadline."""

    def __init__(self, pipe, who):
        self.fd, self.who, self.rest = pipe.fileno(), who, b""
        os.set_blocking(self.fd, False)

    def next(self, seconds=DEADLINE_S):
        """One line without its end, or None at the end of the output."""
        deadline = time.monotonic() + seconds
        while b"\n" not in self.rest:
            if not select.select([self.fd], [], [], max(0, deadline - time.monotonic()))[0]:
                raise Failed(f"{self.who} said nothing for {seconds} s")
            more = os.read(self.fd, 65536)
            if not more:
                return None
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return line


class Workload:
    """A program of tests/workloads; the protocol is described in workload.h."""

    def __init__(self, name, *options, cwd, program=None):
        self.name, self.options = name, [str(option) for option in options]
        self.process = subprocess.Popen([str(program or WORKLOADS / name), *self.options], cwd=cwd,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.pid = self.process.pid
        self.lines = Lines(self.process.stdout, name)
        self.pids = []
        self.truth, self.truth_bytes = None, 0
        self.begin = {}  # pid -> Books, when all threads slept before the window

    def wait_ready(self):
        line = self.lines.next()
        if line is None:
            self.end_without(ready=True)
        self.pids = [int(word) for word in line.split()[1:]]
        poll(f"{self.name} to wait for its release", lambda: waits_for_us(self.pid))
        self.settle()
        self.begin = {pid: books_of(pid) for pid in self.pids}
        return self

    def end_without(self, ready):
        status, why = self.process.wait(DEADLINE_S), one_line(self.process.stderr.read().decode(errors="replace"))
        if status == STATUS_SKIP:
            raise Skip(why)
        raise Failed(f"{self.name} ended with status {status} before its {'ready' if ready else 'truth'}: {why}")

    def say(self, line="go"):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def take_truth(self):
        """The next line of JSON."""
        line = self.lines.next()
        if line is None:
            self.end_without(ready=False)
        self.truth, self.truth_bytes = json.loads(line), len(line) + 1
        return self.truth

    def settle(self):
        """Wait until every thread of it sleeps: nothing that it does is under way then."""
        for pid in self.pids:
            poll(f"{self.name} ({pid}) to be quiet", lambda: all_sleep(pid))

    def run(self):
        """The whole window; then wait until the program waits for its end."""
        self.say()
        self.take_truth()
        poll(f"{self.name} to wait for its end", lambda: waits_for_us(self.pid))
        self.settle()
        return self.truth

    def finish(self):
        """Let it end. Returns its status."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(DEADLINE_S)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


# ---- metrics --------------------------------------------------------------------------------------------


class Metrics:
    """One scrape: numbers by (name, frozenset of label pairs)."""

    def __init__(self, body, openmetrics=False):
        self.body = body
        self.families = exposition.parse(body, openmetrics)
        self.series = {(name, frozenset(labels)): value
                       for family in self.families.values() for name, labels, value in family.samples}
        # When it was asked for and when it was there, on this machine's monotonic clock.
        self.asked_s = self.there_s = 0.0

    def select(self, name, **labels):
        """[(dict of labels, value)] of the series that have these labels."""
        wanted = set(labels.items())
        return [(dict(pairs), value) for (series, pairs), value in self.series.items()
                if series == name and wanted <= pairs]

    def value(self, name, **labels):
        """The one series with these labels (and perhaps more)."""
        found = self.select(name, **labels)
        if len(found) != 1:
            raise Failed(f"{len(found)} series {name}{labels}, not one")
        return found[0][1]

    def sum(self, name, **labels):
        """Over all series with these labels; 0 without any."""
        return sum(value for _, value in self.select(name, **labels))

    def by(self, name, *keys, **labels):
        """{value of the key label(s): value}, of series with these labels; what is 0 is left out."""
        table = collections.Counter()
        for have, value in self.select(name, **labels):
            key = tuple(have.get(key) for key in keys)
            table[key if len(keys) > 1 else key[0]] += value
        return {key: value for key, value in table.items() if value}

    def labels(self, label):
        """All values of a label."""
        return {value for _, pairs in self.series for name, value in pairs if name == label}

    def counters(self):
        """Everything that must never go down."""
        names = {}
        for family in self.families.values():
            if family.type == "histogram":
                names.update((family.name + ending, family) for ending in ("_bucket", "_sum", "_count"))
            elif family.type == "counter":
                names.update((name, family) for name in (family.name, family.name + "_total"))
        return {key: value for key, value in self.series.items() if key[0] in names}


def value(metrics, name, **labels):
    return metrics.value(name, **labels)


def identities_wrong(metrics, names=EXACT_IDENTITIES, **labels):
    """What is wrong with these identities, as a list of texts."""
    wrong = []
    for identity in names:
        found = metrics.select("skyobserve_identity_ok", identity=identity, **labels)
        group = "syscalls" if identity in ("in_flight", "syscalls") else "sched"
        up = metrics.value("skyobserve_probe_group_up", group=group)
        if not found and up and metrics.sum("skyobserve_process_up", **labels):
            wrong.append(f"no identity {identity}")
        for have, ok in found:
            if ok != 1:
                ratio = metrics.select("skyobserve_identity_residual_ratio", **have)[0][1]
                wrong.append(f"identity {identity} of {have.get('process', 'the machine')} does not hold, residual {ratio}")
    return wrong


def scrape_wrong(metrics):
    """What must be true of every scrape, whatever happens meanwhile; a list of texts."""
    wrong = identities_wrong(metrics)
    for labels, lost in metrics.select("skyobserve_dropped_events_total"):
        if lost:
            wrong.append(f"{lost} dropped events, reason {labels['reason']}")
    calls = metrics.by("skyobserve_syscalls_total", "process", "pid", "syscall", "abi")
    finished = metrics.by("skyobserve_syscall_duration_seconds_count", "process", "pid", "syscall", "abi")
    errors = metrics.by("skyobserve_syscall_errors_total", "process", "pid", "syscall", "abi")
    for key, n in finished.items():
        if n > calls.get(key, 0):
            wrong.append(f"{key}: {n} finished calls but {calls.get(key, 0)} entered")
    for key, n in errors.items():
        if n > calls.get(key, 0):
            wrong.append(f"{key}: {n} failed calls but {calls.get(key, 0)} entered")
    return wrong


def went_down(before, after):
    """Counters of two scrapes that went down or away, as texts."""
    wrong, now = [], after.counters()
    for key, value in before.counters().items():
        if key not in now:
            wrong.append(f"{key[0]}{dict(key[1])} has gone")
        elif now[key] < value:
            wrong.append(f"{key[0]}{dict(key[1])} went from {value} to {now[key]}")
    return wrong


# ---- HTTP -----------------------------------------------------------------------------------------------

Response = collections.namedtuple("Response", "status headers body")


def fetch(address, path, method="GET", headers=(), seconds=DEADLINE_S):
    """One request on a connection of its own; the body is unpacked. address is HOST:PORT."""
    host, _, port = address.rpartition(":")
    connection = http.client.HTTPConnection(host.strip("[]"), int(port), timeout=seconds)
    try:
        connection.request(method, path, headers=dict(headers))
        answer = connection.getresponse()
        body = answer.read()
        have = {name.lower(): text for name, text in answer.getheaders()}
        if have.get("content-encoding") == "gzip" and body:
            body = gzip.decompress(body)
        return Response(answer.status, have, body)
    finally:
        connection.close()


# ---- the observer ---------------------------------------------------------------------------------------


class Observer:
    """build/skyobserve, started as a user starts it, on a free port of loopback."""

    forgets = False  # names beyond --max-processes give their series up to `other`

    def __init__(self, case, *options, pids=(), command=(), prefix=(), address="127.0.0.1:0", wait=True):
        self.case = case
        self.pinned_before = pinned()
        self.stderr_path = case.path(f"stderr-{len(case.observers)}")
        targets = ["--pid", *map(str, pids)] if pids else []
        listen = ["--web.listen-address", address] if address else []
        self.argv = [*prefix, str(SKYOBSERVE), *command, *targets, *listen, *map(str, options)]
        with open(self.stderr_path, "wb") as stderr, open(case.path("stdout"), "ab") as stdout:
            self.started_s = time.monotonic()
            self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr)
        self.pid = self.process.pid
        self.last = None
        self.stopped = False
        self.bpf = {}
        if wait:
            self.wait_ready()

    def stderr(self):
        return Path(self.stderr_path).read_text(errors="replace")

    def urls(self):
        """The addresses that it says it serves, or None if it does not serve (yet)."""
        text = self.stderr()
        found = re.findall(r"^skyobserve: metrics at (http://\S+)\n", text, re.M)
        if not found and self.process.poll() is not None:
            raise Failed(f"the observer ended with status {self.process.returncode}: {one_line(text)}")
        return found

    def wait_ready(self):
        url = urllib.parse.urlsplit(poll("the observer to say its address", self.urls)[0])
        self.address, self.path = url.netloc, url.path
        poll("/-/ready", lambda: fetch(self.address, "/-/ready").status == 200)
        self.ready_s = time.monotonic()
        self.bpf = bpf_ids_of(self.pid)
        if not self.bpf["prog"]:
            raise Failed("the observer has no BPF program")

    def fetch(self, path=None, **arguments):
        return fetch(self.address, path or self.path, **arguments)

    def scrape(self, openmetrics=False):
        """
        Metrics, with what must hold in every scrape noted in the case if it does not. A thread that is about to
        end is in no book for a moment; the books are not compared then, so this asks again.
        """
        deadline = time.monotonic() + DEADLINE_S
        while True:
            metrics = self.scrape_once(openmetrics)
            wrong = scrape_wrong(metrics)
            if not any(text.startswith("no identity") for text in wrong) or time.monotonic() > deadline:
                break
        self.case.wrong += wrong
        return metrics

    def scrape_once(self, openmetrics):
        asked = time.monotonic()
        answer = self.fetch(headers={"Accept": OPENMETRICS_TYPE if openmetrics else TEXT_TYPE})
        there = time.monotonic()
        if answer.status != 200:
            raise Failed(f"a scrape had status {answer.status}: {one_line(answer.body.decode(errors='replace'))}")
        metrics = Metrics(answer.body, openmetrics)
        metrics.asked_s, metrics.there_s = asked, there
        if not openmetrics:
            if self.last:
                self.case.wrong += [text for text in went_down(self.last, metrics)
                                    if not (self.forgets and text.endswith("has gone"))]
            self.last = metrics
        return metrics

    def wait_end(self, status):
        """It ends by itself or was told to; check how, and that nothing of it is left in the kernel."""
        self.stopped = True
        try:
            got = self.process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            raise Failed(f"the observer did not end within {DEADLINE_S} s") from None
        self.case.equal("status of the observer", got, status)
        if "Totals of the observation" not in self.stderr():
            self.case.note(f"no last summary on stderr: {one_line(self.stderr())}")
        self.nothing_is_left()

    def nothing_is_left(self):
        try:
            # The kernel frees programs after a grace period.
            poll("BPF objects to go away", lambda: not bpf_left(self.bpf), seconds=10)
        except Failed:
            self.case.note(f"left in the kernel: {bpf_left(self.bpf)}")
        new = pinned() - self.pinned_before
        if new:
            self.case.note(f"left pinned: {new}")

    def stop(self, sig=signal.SIGINT, status=0):
        if not self.stopped:
            if self.process.poll() is None:
                self.process.send_signal(sig)
            self.wait_end(status)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def broker_of(observer):
    """The process id of its broker, as it says it; None without one."""
    found = re.search(r"^skyobserve: broker: process (\d+), ", observer.stderr(), re.M)
    return int(found[1]) if found else None


# ---- cases ----------------------------------------------------------------------------------------------


class Case:
    """One case under way: what it started, and what was wrong."""

    def __init__(self, name):
        self.name = name
        self.wrong = []
        self.workloads, self.observers, self.others, self.programs = [], [], [], 0
        # /tmp may be in memory; what the workloads make durable should be on a disk.
        disk = "/var/tmp" if os.access("/var/tmp", os.W_OK) else None
        self.dir = tempfile.mkdtemp(prefix="skyobserve-e2e-", dir=disk)

    def path(self, name):
        return os.path.join(self.dir, name)

    # What is wrong. A case goes on after it, so that one run tells everything.

    def note(self, text):
        self.wrong.append(text)

    def true(self, what, condition):
        if not condition:
            self.note(what)

    def equal(self, what, got, want):
        if got != want:
            self.note(f"{what}: {got!r}, not {want!r}")

    def at_least(self, what, got, least):
        if got < least:
            self.note(f"{what}: {got}, less than {least}")

    def at_most(self, what, got, most):
        if got > most:
            self.note(f"{what}: {got}, more than {most}")

    def between(self, what, got, least, most):
        self.at_least(what, got, least)
        self.at_most(what, got, most)

    def same_table(self, what, got, want):
        """Two tables with the same numbers; what is not in one of them is 0."""
        for key in sorted(set(got) | set(want), key=str):
            if got.get(key, 0) != want.get(key, 0):
                self.note(f"{what} {key}: {got.get(key, 0)}, not {want.get(key, 0)}")

    # What it starts.

    def workload(self, name, *options, ready=True, program=None):
        workload = Workload(name, *options, cwd=self.dir, program=program)
        self.workloads.append(workload)
        return workload.wait_ready() if ready else workload

    def own_program(self, name):
        """A copy of a workload under a name that no other process of the machine has, for --comm."""
        self.programs += 1
        path = self.path(f"e2e-{self.programs}-{os.getpid()}"[:15])  # as long as the kernel keeps a name
        shutil.copy(WORKLOADS / name, path)
        return path

    def observe(self, *options, pids=(), **arguments):
        observer = Observer(self, *options, pids=pids, **arguments)
        self.observers.append(observer)
        return observer

    def popen(self, argv, **arguments):
        """Any other process; it is ended with the case."""
        process = subprocess.Popen(argv, **{"cwd": self.dir, "stdin": subprocess.DEVNULL, **arguments})
        self.others.append(process)
        return process

    def end(self, well):
        """End everything. @well: the observers must stop as they should."""
        for observer in self.observers:
            try:
                if well:
                    observer.stop()
            except Failed as err:
                self.note(str(err))
            observer.kill()
        for process in self.others:
            if process.poll() is None:
                process.kill()
                process.wait()
        for workload in self.workloads:
            workload.kill()
        shutil.rmtree(self.dir, ignore_errors=True)


def run_case(name, function):
    """Returns the line to print and whether the case failed."""
    case, well = Case(name), False
    try:
        function(case)
        well = True
    except Skip as why:
        return f"skip {name}: {one_line(why)}", False
    except (Failed, exposition.Malformed) as err:
        case.note(str(err))
    except Exception as err:  # pylint: disable=broad-except
        where = traceback.extract_tb(err.__traceback__)[-1]
        case.note(f"{type(err).__name__}: {err} ({Path(where.filename).name}:{where.lineno})")
    finally:
        case.end(well)
    if case.wrong:
        return f"not ok {name}: {one_line('; '.join(dict.fromkeys(case.wrong)))}", True
    return f"ok {name}", False


def main(cases):
    """Run cases, a list of (name, function), or those that the arguments (patterns) name."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    patterns = [argument for argument in sys.argv[1:] if argument != "--times"]
    if os.geteuid():
        print("skip all: needs root")
        return 0
    if not SKYOBSERVE.exists() or not WORKLOADS.exists():
        print(f"not ok built: {SKYOBSERVE} or {WORKLOADS} is missing; run `make`")
        return 1
    failures = 0
    for name, function in cases:
        if patterns and not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            continue
        begin = time.monotonic()
        line, failed = run_case(name, function)
        failures += failed
        print(line + (f"  # {time.monotonic() - begin:.2f} s" if "--times" in sys.argv else ""), flush=True)
    return 1 if failures else 0
