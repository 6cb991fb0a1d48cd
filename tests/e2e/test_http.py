#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The exporter over HTTP, with real numbers in it: formats, routes, consistency under load, bad clients."""

import sys

sys.dont_write_bytecode = True

import gzip
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import threading

import exposition
import lib

# T54: so many clients, so often, for so long.
CLIENTS, PERIOD_S, SECONDS = 3, 0.1, 10


def observed(case, *options, workload=("sleep",)):
    target = case.workload(*workload)
    return target, case.observe(*options, pids=[target.pid])


def raw(observer, path, method="GET", headers=()):
    """The answer as it comes: nothing unpacked."""
    host, _, port = observer.address.rpartition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=lib.DEADLINE_S)
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, text in headers:
            connection.putheader(name, text)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, {name.lower(): text for name, text in answer.getheaders()}, answer.read()
    finally:
        connection.close()


def address_of(observer):
    host, _, port = observer.address.rpartition(":")
    return host, int(port)


# ---- formats --------------------------------------------------------------------------------------------


def text_format(case):
    _, observer = observed(case)
    for accept in (None, "text/plain", "*/*", "application/json"):
        status, headers, body = raw(observer, "/metrics", headers=[("Accept", accept)] if accept else [])
        case.equal(f"status for {accept}", status, 200)
        case.equal(f"type for {accept}", headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
        families = exposition.parse(body)
        case.true("no family of ours", "skyobserve_process_up" in families)


def openmetrics_format(case):
    """What Prometheus sends by default gets OpenMetrics; the same families with types, units, creation times."""
    _, observer = observed(case)
    accept = ("application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
              "text/plain;version=0.0.4;q=0.5,*/*;q=0.1")
    status, headers, body = raw(observer, "/metrics", headers=[("Accept", accept)])
    case.equal("status", status, 200)
    case.equal("type", headers["content-type"], "application/openmetrics-text; version=1.0.0; charset=utf-8")
    families = exposition.parse(body, openmetrics=True)
    case.equal("unit", families["skyobserve_cpu_seconds"].unit, "seconds")
    case.equal("type of an info", families["skyobserve_build"].type, "info")
    plain = exposition.parse(raw(observer, "/metrics")[2])
    names = {re.sub("_(total|info)$", "", name) for name in plain}
    case.equal("families in one format only", names ^ set(families), set())
    created = {labels: value for name, labels, value in families["skyobserve_fsyncs"].samples
               if name.endswith("_created")}
    case.equal("creation times, one for each series", len(created), 10)
    for value in created.values():
        case.between("creation time", value, lib.time.time() - 120, lib.time.time())


def gzip_encoding(case):
    _, observer = observed(case)
    _, headers, packed = raw(observer, "/metrics", headers=[("Accept-Encoding", "gzip")])
    case.equal("encoding", headers.get("content-encoding"), "gzip")
    body = gzip.decompress(packed)
    exposition.parse(body)
    case.at_most("packed size", len(packed), len(body) / 4)
    _, headers, plain = raw(observer, "/metrics")
    case.equal("encoding without asking", headers.get("content-encoding"), None)
    exposition.parse(plain)
    _, headers, plain = raw(observer, "/metrics", headers=[("Accept-Encoding", "gzip;q=0, identity")])
    case.equal("encoding refused", headers.get("content-encoding"), None)


def closed_sets_begin_at_zero(case):
    """From the first scrape on: what is measured and has not happened is 0, not absent."""
    _, observer = observed(case)
    first = observer.scrape()
    counts = {(have["call"], have["via"]): value for have, value in first.select("skyobserve_fsyncs_total")}
    case.equal("calls", len(counts), 10)
    case.equal("their sum", sum(counts.values()), 0)
    for name, labels, values in (("skyobserve_off_cpu_seconds_total", "reason", None),
                                 ("skyobserve_context_switches_total", "kind", {"voluntary", "involuntary"}),
                                 ("skyobserve_cpu_seconds_total", "mode", {"user", "system"}),
                                 ("skyobserve_dropped_events_total", "reason", None)):
        found = {have[labels] for have, _ in first.select(name)}
        case.true(f"{name} has {found}", found == values if values else len(found) >= 8)
    for name in ("skyobserve_read_bytes_total", "skyobserve_written_bytes_total", "skyobserve_page_faults_total"):
        case.equal(name, first.value(name), 0)


def snapshot_json(case):
    """/snapshot has the same numbers as the metrics, while nothing moves."""
    target, observer = observed(case, workload=("fsync", "--n", "50", "--no-sync"))
    target.run()
    shown = json.loads(observer.fetch("/snapshot").body)
    metrics = observer.scrape()
    case.equal("content type", observer.fetch("/snapshot").headers["content-type"],
               "application/json; charset=utf-8")
    for name in ("skyobserve_fsyncs_total", "skyobserve_syscalls_total", "skyobserve_syscall_errors_total",
                 "skyobserve_written_bytes_total", "skyobserve_context_switches_total"):
        family = shown["families"][name]
        table = {frozenset(s["labels"].items()): s["value"] for s in family["samples"]}
        case.equal(name, table, {pairs: value for (series, pairs), value in metrics.series.items() if series == name})
    for sample in shown["families"]["skyobserve_fsync_duration_seconds"]["samples"]:
        case.equal("count of a histogram", sample["buckets"][-1], ["+Inf", sample["count"]])
        case.equal("bounds", len(sample["buckets"]), 54)


# ---- routes ---------------------------------------------------------------------------------------------


def routes(case):
    _, observer = observed(case)
    for path, status, kind in (("/", 200, "text/html"), ("/-/healthy", 200, "text/plain"),
                               ("/-/ready", 200, "text/plain"), ("/metrics", 200, "text/plain"),
                               ("/snapshot", 200, "application/json"), ("/nothing", 404, "text/plain"),
                               ("/metrics/", 404, "text/plain"), ("/metrics%00", 404, "text/plain"),
                               ("/../metrics", 404, "text/plain"), ("/metrics?name[]=x", 200, "text/plain")):
        got, headers, body = raw(observer, path)
        case.equal(f"status of {path}", got, status)
        case.true(f"type of {path}: {headers.get('content-type')}", headers["content-type"].startswith(kind))
        case.equal(f"length of {path}", int(headers["content-length"]), len(body))
        if status == 200 and path != "/metrics?name[]=x":
            head = raw(observer, path, method="HEAD")
            case.equal(f"HEAD {path}", (head[0], head[2]), (200, b""))
            case.equal(f"type by HEAD {path}", head[1]["content-type"], headers["content-type"])
        for method in ("POST", "PUT", "DELETE"):
            if status == 200:
                got, headers, _ = raw(observer, path, method=method)
                case.equal(f"{method} {path}", (got, headers.get("allow")), (405, "GET, HEAD"))


def landing_page(case):
    _, observer = observed(case)
    page = observer.fetch("/").body.decode()
    for path in ("/metrics", "/snapshot", "/-/healthy", "/-/ready"):
        case.true(f"no link to {path}", f'href="{path}"' in page)
        case.equal(f"status of {path}", observer.fetch(path).status, 200)


def other_path_and_addresses(case):
    """--web.telemetry-path, and two addresses of two families."""
    target = case.workload("sleep")
    observer = case.observe("--web.telemetry-path", "/m", "--web.listen-address", "[::1]:0", pids=[target.pid])
    urls = observer.urls()
    case.equal("addresses said", len(urls), 2)
    case.equal("path", observer.path, "/m")
    observer.scrape()
    case.equal("the usual path", observer.fetch("/metrics").status, 404)
    six = urls[1][len("http://"):].partition("/")[0]
    exposition.parse(lib.fetch(six, "/m").body)


def strangers_host(case):
    """A web page that had its name resolve to 127.0.0.1 gets nothing."""
    _, observer = observed(case, "--web.host", "observer.example")
    for host, status in (("evil.example", 403), ("observer.example", 200), ("localhost:1", 200)):
        case.equal(f"status for {host}", observer.fetch("/metrics", headers={"Host": host}).status, status)


def ourselves(case):
    """The exporter's own process metrics are those of its process."""
    _, observer = observed(case)
    metrics = observer.scrape()
    resident = metrics.value("process_resident_memory_bytes")
    # What loading needs is given back; kernels with more types need more of it.
    case.at_most("resident", resident, 32 << 20)
    case.between("resident memory", resident, lib.statm_resident_bytes(observer.pid) * 0.8,
                 lib.statm_resident_bytes(observer.pid) * 1.2)
    case.between("descriptors", metrics.value("process_open_fds"), 10, len(os.listdir(f"/proc/{observer.pid}/fd")) + 5)
    case.between("start", metrics.value("process_start_time_seconds"), lib.time.time() - 60, lib.time.time() + 1)
    case.equal("build", len(metrics.select("skyobserve_build_info")), 1)
    case.between("edge of the snapshot", metrics.value("skyobserve_snapshot_edge_seconds"), 0, 1)
    for _ in range(200):
        observer.fetch()
    grown = lib.statm_resident_bytes(observer.pid) - resident
    case.at_most("growth over 200 scrapes, bytes", grown, 2 << 20)
    case.at_most("descriptors after them", len(os.listdir(f"/proc/{observer.pid}/fd")),
                 metrics.value("process_open_fds") + 8)


# ---- promtool -------------------------------------------------------------------------------------------


def promtool(case):
    """`promtool check metrics` has nothing to say of what is served under load."""
    if not shutil.which("promtool"):
        raise lib.Skip("promtool is not installed")
    target, observer = observed(case, workload=("noise", "--ms", "5"))
    target.say()

    def worked():
        metrics = observer.scrape()
        return metrics if metrics.sum("skyobserve_fsyncs_total") > 20 else None

    metrics = lib.poll("some work", worked)
    said = subprocess.run(["promtool", "check", "metrics"], input=metrics.body, capture_output=True,
                          timeout=lib.DEADLINE_S)
    case.equal("promtool", (said.returncode, (said.stdout + said.stderr).decode()), (0, ""))


# ---- T54: consistency under load ------------------------------------------------------------------------


class Client(threading.Thread):
    """Asks at 10 Hz and keeps what it got; it is read when the load is over."""

    def __init__(self, observer, openmetrics):
        super().__init__()
        self.observer, self.openmetrics = observer, openmetrics
        self.bodies, self.failures, self.slowest_s = [], [], 0.0

    def run(self):
        begin = lib.time.monotonic()
        accept = lib.OPENMETRICS_TYPE if self.openmetrics else lib.TEXT_TYPE
        while lib.time.monotonic() - begin < SECONDS:
            asked = lib.time.monotonic()
            try:
                answer = self.observer.fetch(headers={"Accept": accept, "Accept-Encoding": "gzip"}, seconds=5)
                self.bodies.append(answer.body)
                if answer.status != 200:
                    self.failures.append(f"status {answer.status}")
            except OSError as err:
                self.failures.append(str(err))
            took = lib.time.monotonic() - asked
            self.slowest_s = max(self.slowest_s, took)
            if took < PERIOD_S:  # the pace of the client, not a wait for a state
                lib.time.sleep(PERIOD_S - took)


# What a strict reader refuses; a bug of the exporter must not be forgiven.
HEAD = b"# HELP a h\n# TYPE a gauge\n"
COUNTER = b"# HELP a_total h\n# TYPE a_total counter\n"
HISTOGRAM = b"# HELP h h\n# TYPE h histogram\n"
REFUSED = [
    HEAD + b'a{x="\\q"} 1\n', HEAD + b'a{x="1",x="2"} 1\n', HEAD + b"a 1\na 2\n", b"a 1\n", HEAD + b"a NaN\n",
    HEAD + b"a 1 2\n", HEAD + b"a 1", HEAD + b'a{b="\xff"} 1\n', HEAD + b"\na 1\n", HEAD + b'a{b="1"\n} 1\n',
    HEAD + b'a{b="1",} 1\n', HEAD + b"a{} 1\n", HEAD, HEAD + b"a 1\n" + HEAD + b'a{b="1"} 1\n', HEAD + b"b 1\n",
    COUNTER + b"a_total -1\n", b"# HELP a h\n# TYPE a counter\na 1\n", b"# TYPE a gauge\na 1\n",
    HISTOGRAM + b'h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_sum 1\nh_count 1\n',
    HISTOGRAM + b'h_bucket{le="1"} 1\nh_sum 1\nh_count 1\n',
    HISTOGRAM + b'h_bucket{le="+Inf"} 1\nh_sum 1\nh_count 2\n',
]


def reader_is_strict(case):
    """The reader of these tests itself."""
    good = exposition.parse(COUNTER + b'a_total{x="q\\"\\\\\\n}"} 1\n')
    case.equal("escapes", good["a_total"].samples, [("a_total", (("x", 'q"\\\n}'),), 1)])
    for text in REFUSED:
        try:
            exposition.parse(text)
            case.note(f"it takes {text!r}")
        except exposition.Malformed:
            pass


def wrong_in_load(metrics):
    """What must hold in each scrape by itself: one snapshot, in which everything adds up."""
    wrong = lib.scrape_wrong(metrics)
    # A durable write has ended well or not, and its duration is there when it has.
    ended = metrics.by("skyobserve_fsync_duration_seconds_count", "process", "call", "via")
    well = metrics.by("skyobserve_fsyncs_total", "process", "call", "via")
    badly = metrics.by("skyobserve_fsync_errors_total", "process", "call", "via")
    for key in set(ended) | set(well) | set(badly):
        if abs(ended.get(key, 0) - well.get(key, 0) - badly.get(key, 0)) > 2:  # CPUs that are in the middle of one
            wrong.append(f"{key}: {ended.get(key, 0)} durations, {well.get(key, 0)} good, {badly.get(key, 0)} bad")
    return wrong


def check_client(case, name, client):
    case.equal(f"{name}: failures", client.failures, [])
    case.at_least(f"{name}: scrapes", len(client.bodies), SECONDS / PERIOD_S / 5)
    last, sums, wrong = None, [], []
    for body in client.bodies:
        metrics = lib.Metrics(body, client.openmetrics)
        wrong += wrong_in_load(metrics) + (lib.went_down(last, metrics) if last else [])
        last = metrics
        sums.append(metrics.sum("skyobserve_syscalls_total"))
    if wrong:
        case.note(f"{name}: {len(wrong)} times in {len(client.bodies)} scrapes, as {'; '.join(wrong[:3])}")
    case.at_least(f"{name}: scrapes between which something happened", len(set(sums)), len(sums) / 2)


def load_and_clients(case):
    """T54: three clients at 10 Hz for 10 s while the targets work: counters only grow, sums are sums."""
    noises = [case.workload("noise", "--ms", ms) for ms in ("2", "7")]
    busy = case.workload("syscalls", "--loop", SECONDS)
    waves = case.workload("threads", "--threads", 2, "--ms", 1, "--waves", 500)
    targets = [*noises, busy, waves]
    observer = case.observe(pids=[target.pid for target in targets])
    clients = [Client(observer, openmetrics=i % 2 == 1) for i in range(CLIENTS)]
    for target in targets:
        target.say()
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    for noise in noises:
        noise.say()
    for target in targets:
        target.take_truth()
    for i, client in enumerate(clients):
        check_client(case, f"client {i}", client)
        print(f"# client {i}: {len(client.bodies)} scrapes, slowest {client.slowest_s * 1000:.0f} ms")
    lib.poll("the loop to wait for its end", lambda: lib.waits_for_us(busy.pid))
    final = observer.scrape()
    case.equal("getppids of the loop", final.value("skyobserve_syscalls_total", process="syscalls",
                                                   syscall="getppid"), busy.truth["syscalls"]["getppid"])
    case.equal("fsyncs of both neighbours", final.sum("skyobserve_fsyncs_total", process="noise", call="fsync"),
               sum(noise.truth["fsyncs"] for noise in noises))
    case.equal("threads born", final.value("skyobserve_syscalls_total", process="threads", syscall="clone"), 1000)


# ---- bad clients ----------------------------------------------------------------------------------------

GARBAGE = [
    b"\x00\x01\x02\xff" * 1000,
    b"GET /metrics\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 100000,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # a TLS client
    b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"GET " + b"/" * 70000 + b" HTTP/1.1\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
]


def good_client_is_served(case, observer, what):
    begin = lib.time.monotonic()
    observer.scrape()
    case.at_most(f"seconds for a scrape beside {what}", lib.time.monotonic() - begin, 5)


def garbage_clients(case):
    _, observer = observed(case)
    for i, text in enumerate(GARBAGE):
        with socket.create_connection(address_of(observer), timeout=5) as client:
            try:
                client.sendall(text)
            except OSError:
                pass  # it was shown the door
            good_client_is_served(case, observer, f"garbage {i}")
    case.equal("the observer", observer.process.poll(), None)


def slow_clients(case):
    """Clients that say nothing, half a request, or take no answer keep nobody waiting."""
    _, observer = observed(case)
    clients = []
    for i in range(60):
        client = socket.create_connection(address_of(observer), timeout=5)
        clients.append(client)
        if i % 3 == 1:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: loc")
        elif i % 3 == 2:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4)
    good_client_is_served(case, observer, "60 slow clients")
    clients += [socket.create_connection(address_of(observer), timeout=5) for _ in range(200)]
    good_client_is_served(case, observer, "260 slow clients")
    for client in clients:
        client.close()
    good_client_is_served(case, observer, "nobody")


def kept_connection(case):
    """A client that scrapes again over its connection is served on it."""
    _, observer = observed(case)
    host, port = address_of(observer)
    connection = http.client.HTTPConnection(host, port, timeout=lib.DEADLINE_S)
    try:
        connection.connect()
        before = connection.sock
        for _ in range(20):
            connection.request("GET", "/metrics")
            exposition.parse(connection.getresponse().read())
        case.true("the connection was not kept", connection.sock is before)
    finally:
        connection.close()


CASES = [
    ("reader_is_strict", reader_is_strict),
    ("text_format", text_format),
    ("openmetrics_format", openmetrics_format),
    ("gzip_encoding", gzip_encoding),
    ("closed_sets_begin_at_zero", closed_sets_begin_at_zero),
    ("snapshot_json", snapshot_json),
    ("routes", routes),
    ("landing_page", landing_page),
    ("other_path_and_addresses", other_path_and_addresses),
    ("strangers_host", strangers_host),
    ("ourselves", ourselves),
    ("promtool", promtool),
    ("T54_scrapes_under_load", load_and_clients),
    ("garbage_clients", garbage_clients),
    ("slow_clients", slow_clients),
    ("kept_connection", kept_connection),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
