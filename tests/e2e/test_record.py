#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`skyobserve record`, `report` and `compare`: what is in a file is what happened, and what cannot be trusted says so."""

import sys

sys.dont_write_bytecode = True

import collections
import json
import os
import re
import resource
import shutil
import signal
import subprocess

import lib
import web

NOBODY = 65534
STATUS_FAILED, STATUS_UNRESOLVED = 1, 2
# Gates about the machine, which may have other work while tests run.
OF_THE_MEASUREMENT = {"target", "drops", "counts", "probes"}


class Recording:
    """`skyobserve record` under way."""

    def __init__(self, case, name, *options, **arguments):
        self.case, self.path = case, case.path(name)
        self.stderr_path = case.path(f"{name}.stderr")
        with open(self.stderr_path, "wb") as stderr:
            self.process = case.popen([lib.SKYOBSERVE, "record", "-o", self.path, *map(str, options)], stderr=stderr,
                                      **{"stdout": subprocess.DEVNULL, **arguments})

    def stderr(self):
        return lib.read_proc(self.stderr_path) or ""

    def began(self):
        if self.process.poll() is not None:
            raise lib.Failed(f"record ended with status {self.process.returncode}: {lib.one_line(self.stderr())}")
        return "recording to" in self.stderr()

    def wait_begin(self):
        lib.poll("the first edge", self.began)
        return self

    def wait_end(self, status=0):
        got = self.process.wait(lib.DEADLINE_S)
        if got != status:
            self.case.note(f"status of record {got}, not {status}: {lib.one_line(self.stderr())}")
        return self

    def stop(self, status=0):
        self.process.send_signal(signal.SIGINT)
        return self.wait_end(status)


def run(*arguments, status=0, **more):
    """Of a command that needs no privilege, as nobody; (stdout, stderr)."""
    done = subprocess.run([lib.SKYOBSERVE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=lib.DEADLINE_S, cwd="/", **more)
    if done.returncode != status:
        raise lib.Failed(f"{arguments} ends with {done.returncode}, want {status}: {lib.one_line(done.stderr)}")
    return done.stdout, done.stderr


class Record:
    """What `report --json` says of a file; counters are differences between its edges."""

    def __init__(self, path, status=0):
        self.all = json.loads(run("report", "--json", path, status=status)[0])
        self.facts, self.valid = self.all["facts"], self.all["valid"]
        self.gates = {gate["gate"]: gate["state"] for gate in self.all["gates"]}

    def samples(self, edge, name):
        family = self.all[edge]["families"].get(name)
        return [] if family is None else [(sample["labels"], sample) for sample in family["samples"]]

    def by(self, name, *keys, **labels):
        """{value of the key label(s): how much it grew}, without what did not."""
        table = collections.Counter()
        for edge, sign in (("end", 1), ("begin", -1)):
            for have, sample in self.samples(edge, name):
                if set(labels.items()) <= set(have.items()):
                    key = tuple(have.get(key) for key in keys)
                    table[key if len(keys) > 1 else key[0] if keys else None] += sign * sample["value"]
        return {key: n for key, n in table.items() if n}


def check_fsync(case, record, truth):
    done = {(call, "syscall"): how["ok"] for call, how in truth["durable"].items() if how["ok"]}
    case.equal("durable writes", record.by("skyobserve_fsyncs_total", "call", "via", process="fsync"), done)
    failed = {(call, errno): n for call, how in truth["durable"].items() for errno, n in how["errors"].items()}
    case.equal("failed ones", record.by("skyobserve_fsync_errors_total", "call", "errno", process="fsync"), failed)


def of_a_process(case):
    """Counts of a window are those of the workload in it, bit-exactly; the file tells what ended it."""
    workload = case.workload("fsync", "--n", 500, "--no-sync", "--dir", case.dir)
    recording = Recording(case, "run.sky", "--pid", workload.pid).wait_begin()
    truth = workload.run()
    recording.stop()
    record = Record(recording.path)
    check_fsync(case, record, truth)
    want = collections.Counter(truth["syscalls"]) + collections.Counter(truth["protocol"])
    # It slept in a read of its stdin at both edges: as many were entered in the window as returned.
    case.equal("calls", record.by("skyobserve_syscalls_total", "syscall", process="fsync"), dict(want))
    case.equal("ended by", record.all["ended_by"], "a signal (Ctrl-C)")
    case.equal("gates", {gate: record.gates[gate] for gate in OF_THE_MEASUREMENT},
               dict.fromkeys(OF_THE_MEASUREMENT, "holds"))
    case.equal("executable", record.facts["target.0.exe"], str(lib.WORKLOADS / "fsync"))
    case.true("no build id", re.fullmatch("[0-9a-f]{40}", record.facts["target.0.build_id"]))
    for fact in ("machine.kernel", "cpu.online", "load.average", "clock.source", "memory.available_kib"):
        case.true(f"no {fact}", fact in record.facts)


def of_a_command(case):
    """From its first instruction to its end; it keeps its status."""
    recording = Recording(case, "run.sky", "--", shutil.which("dd"), "if=/dev/zero", f"of={case.path('out')}", "bs=512", "count=200",
                          "oflag=dsync").wait_end()
    record = Record(recording.path)
    case.equal("synchronous writes", record.by("skyobserve_fsyncs_total", "call", "via"), {("sync_write", "syscall"): 200})
    calls = record.by("skyobserve_syscalls_total", "syscall", process="dd")
    case.equal("calls of execve", calls.get("execve"), 1)
    case.equal("calls of exit_group", calls.get("exit_group"), 1)
    case.equal("ended by", record.all["ended_by"], "the end of the program that was started")
    case.equal("status of the program", record.all["program_status"], 0)
    Recording(case, "status.sky", "--", "sh", "-c", "exit 7").wait_end(7)
    case.equal("status of the program", Record(case.path("status.sky")).all["program_status"], 7)


def series_and_duration(case):
    """Snapshots in between, and an end when the time is over; the canary ran."""
    workload = case.workload("spin", "--seconds", 20)
    workload.say()
    recording = Recording(case, "run.sky", "--pid", workload.pid, "--duration", "4s", "--interval", 1).wait_end()
    record = Record(recording.path)
    case.equal("ended by", record.all["ended_by"], "the duration that was asked for")
    case.at_least("window", record.all["window_seconds"], 4)
    case.at_most("window", record.all["window_seconds"], 10)  # of a busy machine
    case.at_least("loops of the canary", int(record.facts["canary.loops"]), 3)
    case.true("the canary is not judged", record.gates["canary"] in ("holds", "warns"))
    case.true("neighbours are not judged", record.gates["neighbours"] in ("holds", "warns"))
    snapshots = int(re.search(r"snapshots +(\d+),", run("report", recording.path)[0])[1])
    case.at_least("snapshots", snapshots, 4)
    cpu = record.by("skyobserve_cpu_seconds_total", process="spin")[None]
    case.between("CPU time", cpu, 0.1, record.all["window_seconds"] + 0.1)


SERVER = """
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
u = socket.socket(socket.AF_UNIX); u.bind(sys.argv[1]); u.listen()
print(s.getsockname()[1], flush=True)
kept = []
while True:
    kept.append(s.accept())
"""
CLIENT = """
import ctypes, socket, sys
six = socket.create_server(("::1", 0), family=socket.AF_INET6)
kept = [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(3)]
print("ready", flush=True)
sys.stdin.readline()
kept += [socket.create_connection(("127.0.0.1", int(sys.argv[1]))) for _ in range(2)]
print("again", flush=True)
sys.stdin.readline()
"""


def connections(case):
    """What a target listens on and whom it is connected to, at both edges, privileges given up or not."""
    server = case.popen([sys.executable, "-c", SERVER, case.path("u")], stdout=subprocess.PIPE)
    port = int(lib.Lines(server.stdout, "server").next())
    client = case.popen([sys.executable, "-c", CLIENT, str(port)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = lib.Lines(client.stdout, "client")
    lines.next()
    comm = lib.read_proc(f"/proc/{server.pid}/comm").strip()
    recording = Recording(case, "client.sky", "--pid", client.pid).wait_begin()
    other = Recording(case, "server.sky", "--pid", server.pid, "--groups", "sched").wait_begin()
    client.stdin.write(b"go\n")
    client.stdin.flush()
    lines.next()
    recording.stop()
    other.stop()
    facts = Record(recording.path).facts
    case.equal("connected to", {name: value for name, value in facts.items() if ".connected." in name},
               {f"target.0.connected.127.0.0.1:{port} ({comm})": ["3", "5"]})
    case.equal("listens on", [value for name, value in facts.items() if ".listens.[::1]:" in name], [["1", "1"]])
    facts = Record(other.path).facts
    case.equal("clients", facts["target.0.clients"], ["3", "5"])
    case.equal("listens on", {name: value for name, value in facts.items() if ".listens." in name},
               {f"target.0.listens.127.0.0.1:{port}": ["1", "1"], f"target.0.listens.unix:{case.path('u')}": ["1", "1"]})
    text = " ".join(run("report", recording.path)[0].split())
    case.true(f"the report does not say it: {text}",
              f"connected to 127.0.0.1:{port} ({comm}), 3 times at the beginning, 5 at the end" in text)


STORED = """
import socket, sqlite3, sys
where = sys.argv[1]
if where.isdigit():
    kept = socket.create_connection(("127.0.0.1", int(where)))
    kept.sendall(b"hello")
elif where != "nowhere":
    db = sqlite3.connect(where)
    db.execute("create table t (x)")
    db.commit()
print("ready", flush=True)
for line in sys.stdin:
    if where.isdigit():
        kept.sendall(b"x" * 4096)
    elif where != "nowhere":
        db.execute("insert into t values (1)")
        db.commit()
    print("done", flush=True)
"""


def record_store(case, name, where, store, writes, status=0):
    """Record a program that keeps its state at a port, in a file or nowhere, and writes or not; its gate."""
    program = case.popen([sys.executable, "-c", STORED, str(where)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = lib.Lines(program.stdout, name)
    lines.next()
    recording = Recording(case, f"{name}.sky", "--pid", program.pid, "--expect-store", store).wait_begin()
    if writes:
        program.stdin.write(b"go\n")
        program.stdin.flush()
        lines.next()
    recording.stop(status)
    record = Record(recording.path, status=status)
    found = [gate for gate in record.all["gates"] if gate["gate"] == "store"]
    case.equal(f"valid: {name}", record.valid, status == 0)
    case.equal(f"asked of {name}", record.facts["asked.store"], store)
    return found[0]["state"], found[0]["text"]


def expected_store(case):
    """Connected to the store that was expected and written to it, or INVALID; what is not known is not valid."""
    server = case.popen([sys.executable, "-c", SERVER, case.path("u")], stdout=subprocess.PIPE)
    port = int(lib.Lines(server.stdout, "server").next())
    state, text = record_store(case, "writes", port, f"postgres:{port}", True)
    case.true(f"{state}: {text}", state == "holds" and f" 4096 bytes written to port {port}" in text)
    for name, where, store, writes, why in (
            ("idle", port, f"postgres:{port}", False, "nothing was written to it"),
            ("fallback", "nowhere", "postgres", True, "no connection to port 5432 at either edge"),
            ("connected", port, "memory", False, "not known: it may keep something behind 127.0.0.1:"),
            ("quiet", case.path("quiet.db"), f"sqlite:{case.path('quiet.db')}", False, "nothing was written to it"),
            ("other", case.path("other.db"), f"sqlite:{case.path('else.db')}", True, "is not open for writing"),
            ("durable", case.path("durable.db"), "memory", True, "durable writes")):
        state, text = record_store(case, name, where, store, writes, lib.STATUS_GONE)
        case.true(f"{name}: {state}: {text}", state == "invalid" and why in text)
    path = case.path("app.db")
    case.equal("a file", record_store(case, "file", path, f"sqlite:{path}", True)[0], "holds")
    case.equal("memory", record_store(case, "memory", "nowhere", "memory", True)[0], "holds")
    recording = Recording(case, "program.sky", "--expect-store", "postgres", "--", "true").wait_end(lib.STATUS_GONE)
    case.true(recording.stderr(), "INVALID: store: not known: what a program that was started" in recording.stderr())
    done = subprocess.run([lib.SKYOBSERVE, "record", "-o", case.path("x"), "--expect-store", "oracle", "--", "true"],
                          stderr=subprocess.PIPE, text=True, check=False)
    case.equal("status of oracle", done.returncode, lib.STATUS_USAGE)
    case.true(done.stderr, "--expect-store oracle: give it as" in done.stderr)


def environment(case):
    """Only variables of the list, and only their values."""
    recording = Recording(case, "run.sky", "--pid", case.popen(
        ["sleep", "1000"], env={"GOGC": "50", "SECRET_GOGC": "x", "GOMAXPROCS": "2", "PASSWORD": "hidden"}).pid,
        "--duration", "500ms").wait_end()
    facts = Record(recording.path).facts
    case.equal("variables", {name: value for name, value in facts.items() if "environment" in name},
               {"target.0.environment.GOGC": "50", "target.0.environment.GOMAXPROCS": "2"})
    case.true("a secret", "hidden" not in json.dumps(facts))


WEB = """
import http.server, sys, time, urllib.parse
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/missing":
            return self.send_error(404)
        if url.path == "/elsewhere":
            self.send_response(302)
            self.send_header("Location", "file:///etc/passwd")
            self.send_header("Content-Length", "0")
            return self.end_headers()
        time.sleep(float(urllib.parse.parse_qs(url.query)["seconds"][0]) + 0.3)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"profile of " + url.query.encode())
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


def profile_of_the_window(case):
    """Fetched while it is recorded, beside it; one that was not there makes the record invalid."""
    server = case.popen([sys.executable, "-c", WEB], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    port = int(lib.Lines(server.stdout, "server").next())
    base = f"http://user:secret@127.0.0.1:{port}"
    recording = Recording(case, "run.sky", "--pid", server.pid, "--duration", "1s", "--profile", f"{base}/profile").wait_end()
    case.equal("the profile", lib.read_proc(recording.path + ".pb.gz"), "profile of seconds=1")
    case.equal("its mode", os.stat(recording.path + ".pb.gz").st_mode & 0o7777, 0o600)
    record = Record(recording.path)
    case.equal("gate", record.gates["profile"], "holds")
    case.equal("url", record.facts["profile.url"], f"http://127.0.0.1:{port}/profile")
    case.true("a secret", "secret" not in json.dumps(record.facts))
    case.at_least("window", record.all["window_seconds"], 1.3)
    case.equal("file", record.facts["profile.file"], "run.sky.pb.gz")
    for name, url, why in (("missing", f"{base}/missing", "404"), ("refused", "http://127.0.0.1:1/", "onnect"),
                           ("elsewhere", f"{base}/elsewhere", "status 302")):
        recording = Recording(case, f"{name}.sky", "--pid", server.pid, "--duration", "1s", "--profile", url)
        recording.wait_end(lib.STATUS_GONE)
        case.equal(f"bytes of {name}", os.path.getsize(recording.path + ".pb.gz"), 0)
        case.true(f"{name}: {recording.stderr()}", re.search(
            rf"INVALID: profile: it was not fetched: .*{why}", recording.stderr()))
    for url in ("file:///etc/passwd", "gopher://127.0.0.1/", "127.0.0.1:1/", "http://127.0.0.1/a b"):
        recording = Recording(case, "wrong.sky", "--pid", server.pid, "--duration", "1s", "--profile", url)
        recording.wait_end(STATUS_FAILED)
        case.true(f"{url}: {recording.stderr()}", "is no http:// or https:// address" in recording.stderr())
        case.equal("left", [name for name in os.listdir(case.dir) if "wrong.sky" in name], ["wrong.sky.stderr"])
    for options in (["--pid", server.pid], ["--duration", "500ms", "--pid", server.pid], ["--duration", "2s", "--", "true"]):
        argv = [lib.SKYOBSERVE, "record", "-o", case.path("x"), "--profile", f"{base}/profile", *map(str, options)]
        case.equal(f"status of {options}", subprocess.run(argv, stderr=subprocess.DEVNULL, check=False).returncode,
                   lib.STATUS_USAGE)


def profile_of_go(case):
    """What a Go program answers is a profile, of that many seconds."""
    if not (lib.WORKLOADS / "sampleapp").exists():
        raise lib.Skip("no Go toolchain")
    app = case.popen([lib.WORKLOADS / "sampleapp", "-listen", "127.0.0.1:0", "-store", "memory", "-pprof", "-background",
                      "1"], stdout=subprocess.PIPE)
    url = re.search(rb"http://[^/]+/", lib.Lines(app.stdout, "sampleapp").next())[0].decode()
    recording = Recording(case, "run.sky", "--pid", app.pid, "--duration", "2s", "--profile",
                          f"{url}debug/pprof/profile").wait_end()
    text = run("profile", recording.path + ".pb.gz")[0]
    case.true(f"no profile of 2 s: {text}", re.search(r"\b2\.\d* ?s", text))
    record = Record(recording.path)
    case.equal("gate", record.gates["profile"], "holds")
    case.true("no version of Go", record.facts["target.0.runtime_version"].startswith("go1."))


def interactions(case):
    """What each kind cost is what its requests did, and the report says it per request."""
    sample = web.Sample(case, "-background", "1", observe=False)
    recording = Recording(case, "run.sky", "--pid", sample.process.pid, "--interaction", "http").wait_begin()
    said = sample.load("-kind", "event", "-connections", "4", "-requests", "300", "-sessions", "2", "-calls", "7",
                       "-fsyncs", "2", "-spin-us", "300")
    requests, event = said["requests"]["event"]["200"], "POST /_sky/event"
    recording.stop()
    record = Record(recording.path)
    case.equal("events", record.by("skyobserve_interactions_total", interaction=event), {None: requests})
    case.equal("getppid of", record.by("skyobserve_syscalls_total", "interaction", syscall="getppid"), {event: 7 * requests})
    case.equal("fsyncs of", record.by("skyobserve_fsyncs_total", "interaction", call="fsync"), {event: 2 * requests})
    text = " ".join(run("report", recording.path)[0].split())
    found = re.search(rf"{re.escape(event)} {requests} \S+/s 200: {requests} each CPU (\S+ \S+) user \S+ \S+ system \S+ \S+ "
                      r"(\S+) calls (\S+) durable writes", text)
    if not found:
        raise lib.Failed(f"no line of {event} in the report: {text}")
    case.equal("durable writes of each", found[3], "2.00")
    case.at_least("calls of each", float(found[2]), 9)
    case.true("no background", "background of sampleapp: what belongs to no interaction in all CPU" in text)


def target_ends(case):
    """A target that ends in the window makes the record invalid; nothing that was measured is lost."""
    workload = case.workload("fsync", "--n", 50, "--no-sync", "--dir", case.dir)
    recording = Recording(case, "run.sky", "--pid", workload.pid, "--duration", "1h").wait_begin()
    truth = workload.run()
    workload.finish()
    recording.wait_end(lib.STATUS_GONE)
    case.true("it does not say why", "INVALID: target: fsync" in recording.stderr())
    record = Record(recording.path, status=lib.STATUS_GONE)
    check_fsync(case, record, truth)
    case.equal("valid", record.valid, False)
    case.equal("gate", record.gates["target"], "invalid")
    case.true("the report does not say INVALID", "INVALID" in run("report", recording.path, status=lib.STATUS_GONE)[0])


def without_privilege(case):
    """A record belongs to who called sudo, and to nobody else; reading it needs nothing."""
    folder = case.path("home")
    os.mkdir(folder)
    os.chown(folder, NOBODY - 1, NOBODY - 1)
    os.chmod(case.dir, 0o755)
    sudo = {**os.environ, "SUDO_UID": str(NOBODY - 1), "SUDO_GID": str(NOBODY - 1)}
    recording = Recording(case, "home/run.sky", "--", "true", env=sudo).wait_end()
    stat = os.stat(recording.path)
    case.equal("owner and mode", (stat.st_uid, stat.st_gid, stat.st_mode & 0o7777), (NOBODY - 1, NOBODY - 1, 0o600))
    if os.access(lib.SKYOBSERVE, os.X_OK):
        binary = shutil.copy(lib.SKYOBSERVE, case.path("skyobserve"))
        done = subprocess.run([binary, "report", recording.path], user=NOBODY - 1, group=NOBODY - 1, extra_groups=[],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/", check=False)
        case.equal("status as that user", (done.returncode, done.stderr), (0, ""))
    # Where that user may not write, nobody writes for him.
    recording = Recording(case, "run.sky", "--", "true", env=sudo).wait_end(STATUS_FAILED)
    case.true("it was made", not os.path.exists(recording.path))


def output_is_new(case):
    """What is there already stays as it is: a file, a link, a link to nothing."""
    kept = case.path("kept")
    with open(kept, "w", encoding="utf-8") as file:
        file.write("mine")
    os.symlink(kept, case.path("link"))
    os.symlink(case.path("nothing"), case.path("dangling"))
    for name in ("kept", "link", "dangling"):
        recording = Recording(case, name, "--", "true")
        recording.stderr_path, recording.path = case.path(f"{name}.stderr"), case.path(name)
        recording.wait_end(STATUS_FAILED)
        case.true(f"{name}: not one line that says why: {recording.stderr()}", re.fullmatch(
            r"skyobserve: error: record: \S+ exists already: .*\n", recording.stderr()))
    case.equal("the file", lib.read_proc(kept), "mine")
    case.true("the link's target was made", not os.path.exists(case.path("nothing")))
    # One that never began leaves nothing behind.
    Recording(case, "new.sky", "--pid", 999999999).wait_end(lib.STATUS_GONE)
    case.true("a file is left", not os.path.exists(case.path("new.sky")))


def wrong_words(case):
    """One line says what is wrong, before anything is made."""
    for options, why in ((["--pid", "1"], "-o FILE"), (["-o", "x", "--duration", "3x", "--pid", "1"], "--duration 3x"),
                         (["-o", "x", "--duration", "0s", "--pid", "1"], "--duration 0s"), (["-o"], "--output"),
                         (["-o", "x"], "")):
        done = subprocess.run([lib.SKYOBSERVE, "record", *options], stderr=subprocess.PIPE, text=True, cwd=case.dir,
                              check=False)
        lines = done.stderr.splitlines()
        case.equal(f"status of {options}", done.returncode, lib.STATUS_USAGE)
        case.true(f"{options}: {lines}", len(lines) == 1 and why in lines[0])
    case.true("a file was made", not os.path.exists(case.path("x")))


def cut_files(case):
    """Killed, or at the end of the disk: the file says that it is cut, and how much of it is whole."""
    workload = case.workload("spin", "--seconds", 20)
    recording = Recording(case, "killed.sky", "--pid", workload.pid).wait_begin()
    recording.process.kill()
    recording.process.wait()
    said = run("report", recording.path, status=STATUS_FAILED)[1]
    case.true(f"killed: {said}", re.search("cut off: its end is missing.*1 whole snapshot", said))
    limit = Recording(case, "full.sky", "--pid", workload.pid, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (600, 600)))
    limit.wait_end(STATUS_FAILED)
    case.true(f"full: {limit.stderr()}", "File too large" in limit.stderr())
    case.true("full", "cut off" in run("report", limit.path, status=STATUS_FAILED)[1])


def hostile_files(case):
    """What is no record, or a changed one, is refused with one line; so is what is no file."""
    recording = Recording(case, "good.sky", "--", "true").wait_end()
    good = open(recording.path, "rb").read()
    os.mkfifo(case.path("fifo"))
    files = {"empty": b"", "text": b"hello\n", "version": good[:8] + b"\xff" + good[9:],
             "changed": good[:40] + bytes([good[40] ^ 1]) + good[41:], "longer": good + b"x",
             "bomb": good[:12] + b"\x01\0\0\0\x10\0\0\0\xff\xff\xff\xff\0\0\0\0" + b"\0" * 16}
    for name, data in files.items():
        with open(case.path(name), "wb") as file:
            file.write(data)
    for name in (*files, "fifo", ".", "none"):
        said = run("report", case.path(name), status=STATUS_FAILED)[1]
        case.true(f"{name}: {said}", said.count("\n") == 1 and said.startswith("skyobserve: error: report: "))
    run("report", recording.path, case.path("text"), status=STATUS_FAILED)
    for n in range(0, len(good), max(1, len(good) // 40)):
        with open(case.path("cut"), "wb") as file:
            file.write(good[:n])
        run("report", case.path("cut"), status=STATUS_FAILED)


def names_are_harmless(case):
    """Whatever a process calls itself, a terminal gets text."""
    script = "import ctypes, time; ctypes.CDLL(None).prctl(15, b'\\x1b[31mred\\n'); time.sleep(1000)"
    process = case.popen([sys.executable, "-c", script])
    lib.poll("its name", lambda: "red" in (lib.read_proc(f"/proc/{process.pid}/comm") or ""))
    recording = Recording(case, "run.sky", "--pid", process.pid, "--duration", "500ms").wait_end()
    text = run("report", recording.path)[0]
    case.true("no such name", "red" in text)
    case.true("control characters", re.fullmatch(r"[\x20-\x7e\n]*", text))
    case.at_most("width", max(map(len, text.splitlines())), 80)


def pairs(case, *counts, names="ab"):
    """Records of programs, three of each count, in turns; {count: paths}."""
    paths = collections.defaultdict(list)
    for turn in range(3):
        for name, count in zip(names, counts):
            recording = Recording(case, f"{name}{turn}.sky", "--", shutil.which("dd"), "if=/dev/zero",
                                  f"of={case.path('out')}", "bs=512", f"count={count}", "oflag=dsync").wait_end()
            paths[name].append(recording.path)
    return paths


def row(text, what):
    """The columns of a row of compare, blanks collapsed."""
    found = re.search(rf"^  {what}  *(.*)$", text, re.M)
    return found and " ".join(found[1].split())


def compare_runs(case):
    """Exact counts that differ lie apart, with the chance of it; equal ones are equal."""
    paths = pairs(case, 20, 30)
    text, _ = run("compare", *paths["a"], "--", *paths["b"])
    case.equal("durable writes", row(text, "durable writes"), "20.0 30.0 HIGHER +50.0%")
    words = " ".join(text.split())
    case.true(f"the chance: {words}", "in 1 of 20.0 comparisons, on either side of it in 1 of 10.0" in words)
    case.at_most("width", max(map(len, text.splitlines())), 80)
    text, _ = run("compare", *paths["b"], "--", *paths["a"])
    case.equal("the other way", row(text, "durable writes"), "30.0 20.0 LOWER -33.3%")
    paths["c"] = pairs(case, 20, names="c")["c"]
    text, said = run("compare", *paths["a"], "--", *paths["c"])
    case.equal("the same again", row(text, "durable writes"), "20.0 20.0 equal")
    case.true("sides that ran one after the other", "before the other" in said)


def compare_refuses(case):
    """Too few runs, the same run twice, invalid ones, and what has no common unit."""
    paths = pairs(case, 20, 30)
    text, _ = run("compare", *paths["a"][:2], "--", *paths["b"], status=STATUS_UNRESOLVED)
    case.true("two runs are resolved", row(text, "durable writes").endswith("UNRESOLVED"))
    said = run("compare", paths["a"][0], *paths["a"][:2], "--", *paths["b"], status=lib.STATUS_GONE)[1]
    case.true(f"twice: {said}", "is the same run" in said)
    workload = case.workload("spin", "--ms", 10)
    recording = Recording(case, "ended.sky", "--pid", workload.pid).wait_begin()
    workload.run()
    workload.finish()
    recording.wait_end(lib.STATUS_GONE)
    said = run("compare", *paths["a"], "--", recording.path, *paths["b"], status=lib.STATUS_GONE)[1]
    for why in ("ended.sky is INVALID: target: spin", "of another build", "is a window of a running process"):
        case.true(f"{why} is not in {said}", why in said)
    for words in ((), paths["a"], ("--", *paths["a"])):
        run("compare", *words, status=lib.STATUS_USAGE)
    said = run("compare", *paths["a"], "--", case.path("none"), status=STATUS_FAILED)[1]
    case.equal("lines", said.count("\n"), 1)


CASES = [
    ("of_a_process", of_a_process),
    ("of_a_command", of_a_command),
    ("series_and_duration", series_and_duration),
    ("connections", connections),
    ("expected_store", expected_store),
    ("environment", environment),
    ("profile_of_the_window", profile_of_the_window),
    ("profile_of_go", profile_of_go),
    ("interactions", interactions),
    ("target_ends", target_ends),
    ("without_privilege", without_privilege),
    ("output_is_new", output_is_new),
    ("wrong_words", wrong_words),
    ("cut_files", cut_files),
    ("hostile_files", hostile_files),
    ("names_are_harmless", names_are_harmless),
    ("compare_runs", compare_runs),
    ("compare_refuses", compare_refuses),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
