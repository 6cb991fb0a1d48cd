#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The real Prometheus server scrapes the observer, and PromQL gives what the workload did.

Prometheus asks for OpenMetrics and gets it. A small relay of ours asks for the text format and passes it
on, so the server reads that too, as a second job.
"""

import sys

sys.dont_write_bytecode = True

import http.server
import json
import re
import shutil
import socket
import threading
import urllib.error
import urllib.parse
import urllib.request

import lib

FSYNCS, FDATASYNCS, GETPPIDS = 200, 100, 5000
JOBS = ("openmetrics", "text")

CONFIG = """
global:
  scrape_interval: 1s
  scrape_timeout: 1s
scrape_configs:
  - job_name: openmetrics
    static_configs: [{{targets: ['{openmetrics}']}}]
  - job_name: text
    static_configs: [{{targets: ['{text}']}}]
"""


class TextRelay(http.server.ThreadingHTTPServer):
    """Serves what the observer gives to a client that takes only text."""

    daemon_threads = True

    def __init__(self, observer):
        relay = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                relay.relay(self)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.observer = observer
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def relay(self, client):
        try:
            answer = self.observer.fetch(headers={"Accept": lib.TEXT_TYPE}, seconds=5)
        except OSError:
            client.send_error(502)
            return
        client.send_response(answer.status)
        client.send_header("Content-Type", answer.headers["content-type"])
        client.send_header("Content-Length", str(len(answer.body)))
        client.end_headers()
        client.wfile.write(answer.body)


class Prometheus:
    """A server of our own: its data in the case's folder, its port on loopback."""

    def __init__(self, case, targets):
        config = case.path("prometheus.yml")
        with open(config, "w") as to:
            to.write(CONFIG.format(**targets))
        for _ in range(5):  # a port that is free now may be taken a moment later
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.address = "127.0.0.1:%d" % probe.getsockname()[1]
            self.log_path = case.path("prometheus.log")
            with open(self.log_path, "wb") as log:
                self.process = case.popen(
                    ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={case.path('data')}",
                     f"--web.listen-address={self.address}"], stdout=log, stderr=log)
            if lib.poll("Prometheus to be ready or to end", self.ready_or_ended) == "ready":
                return
        raise lib.Failed(f"Prometheus does not start: {lib.one_line(self.log())}")

    def log(self):
        with open(self.log_path, errors="replace") as log:
            return log.read()

    def ready_or_ended(self):
        if self.process.poll() is not None:
            return "ended"
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=5) as answer:
                return "ready" if answer.status == 200 else None
        except (OSError, urllib.error.HTTPError):
            return None

    def api(self, path, **parameters):
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, promql, at=None):
        """[(labels, value)]; the value of a range is its list of samples."""
        result = self.api("query", query=promql, **({"time": at} if at else {}))["result"]
        return [(row["metric"], row["values"] if "values" in row else float(row["value"][1])) for row in result]

    def one(self, promql, at=None):
        found = self.query(promql, at)
        if len(found) != 1:
            raise lib.Failed(f"{promql} gives {len(found)} series, not one")
        return found[0][1]


def extrapolated(samples, begin, end):
    """What PromQL's increase() makes of the samples (time, value) of a counter in a window, from its
    documentation: the difference, stretched to the window's edges where a sample would be expected there."""
    first, last = samples[0], samples[-1]
    sampled, average = last[0] - first[0], (last[0] - first[0]) / (len(samples) - 1)
    to_begin, to_end = first[0] - begin, end - last[0]
    increase = last[1] - first[1]
    if increase > 0 and first[1] >= 0:
        to_begin = min(to_begin, sampled * first[1] / increase)  # it cannot have been below zero
    threshold = average * 1.1
    total = sampled + sum(gap if gap < threshold else average / 2 for gap in (to_begin, to_end))
    return increase * total / sampled


class Scene:
    """Workloads, observer, relay and server, with the work done between two scrapes."""

    def __init__(self, case):
        if not shutil.which("prometheus"):
            raise lib.Skip("prometheus is not installed")
        self.fsync = case.workload("fsync", "--n", FSYNCS, "--no-sync", "--dir", case.dir)
        self.calls = case.workload("syscalls", "--n", GETPPIDS)
        self.observer = case.observe(pids=[self.fsync.pid, self.calls.pid])
        self.relay = TextRelay(self.observer)
        try:
            self.server = Prometheus(case, {
                "openmetrics": self.observer.address, "text": "127.0.0.1:%d" % self.relay.server_address[1]})
        except Exception:
            self.end()
            raise

    def end(self):
        self.relay.shutdown()
        self.relay.server_close()

    def samples(self, job):
        """How many scrapes of the job there are, and when the last one was."""
        found = self.server.query(f'skyobserve_fsyncs_total{{job="{job}",process="fsync",call="fsync",'
                                  'via="syscall"}[5m]')
        return [(float(t), float(v)) for t, v in found[0][1]] if found else []

    def work(self):
        for job in JOBS:
            lib.poll(f"two scrapes of {job}", lambda: len(self.samples(job)) >= 2)
        for workload in (self.fsync, self.calls):
            workload.run()
        done = lib.time.time()
        for job in JOBS:
            lib.poll(f"two scrapes of {job} after the work",
                     lambda: len([t for t, _ in self.samples(job) if t > done]) >= 2)


def check_counts(case, scene, job):
    """The counters were there with 0 before the work, so the difference is the work."""
    server = scene.server
    for call, n in (("fsync", FSYNCS), ("fdatasync", FDATASYNCS), ("syncfs", 0)):
        series = f'skyobserve_fsyncs_total{{job="{job}",process="fsync",call="{call}",via="syscall"}}'
        case.equal(f"{job}: {call} by PromQL", server.one(f"max_over_time({series}[5m]) - min_over_time({series}[5m])"),
                   n)
        case.equal(f"{job}: first {call}", server.one(f"min_over_time({series}[5m])"), 0)
        case.equal(f"{job}: resets", server.one(f"resets({series}[5m])"), 0)
    case.equal(f"{job}: getppid", server.one(
        f'skyobserve_syscalls_total{{job="{job}",process="syscalls",syscall="getppid"}}'), GETPPIDS)
    case.equal(f"{job}: failed fsyncs", server.one(
        f'skyobserve_fsync_errors_total{{job="{job}",process="fsync",call="fsync",errno="EBADF"}}'), 10)
    case.equal(f"{job}: durations", server.one(
        f'skyobserve_fsync_duration_seconds_count{{job="{job}",process="fsync",call="fsync",via="syscall"}}'),
        FSYNCS + 10)


def check_rate(case, scene, job):
    """increase() and rate() over the work are those of the work."""
    server, now = scene.server, int(lib.time.time() * 1000) / 1000  # the server counts in ms
    series = f'skyobserve_fsyncs_total{{job="{job}",process="fsync",call="fsync",via="syscall"}}'
    samples = [(float(t), float(v)) for t, v in server.one(f"{series}[60s]", at=now)]
    case.equal(f"{job}: raw difference", samples[-1][1] - samples[0][1], FSYNCS)
    want = extrapolated(samples, now - 60, now)
    increase = server.one(f"increase({series}[60s])", at=now)
    case.between(f"{job}: increase", increase, want * (1 - 1e-6), want * (1 + 1e-6))
    case.at_least(f"{job}: increase", increase, FSYNCS)
    rate = server.one(f"rate({series}[60s])", at=now)
    case.between(f"{job}: rate", rate, want / 60 * (1 - 1e-6), want / 60 * (1 + 1e-6))
    quantile = server.one(f'histogram_quantile(0.5, sum by (le) (rate('
                          f'skyobserve_fsync_duration_seconds_bucket{{job="{job}",process="fsync"}}[60s])))', at=now)
    case.between(f"{job}: median of an fsync, s", quantile, 1e-7, 60)


def check_metadata(case, scene, job):
    """Type, help and unit of each family have arrived."""
    openmetrics = job == "openmetrics"
    shown = {row["metric"]: row for row in scene.server.api("targets/metadata", match_target=f'{{job="{job}"}}')}
    families = scene.observer.scrape(openmetrics).families
    case.equal(f"{job}: families without metadata", set(families) - set(shown), set())
    for name, family in families.items():
        if name in shown:
            case.equal(f"{job}: type of {name}", shown[name]["type"], family.type)
            case.equal(f"{job}: help of {name}", shown[name]["help"], family.help)
            case.equal(f"{job}: unit of {name}", shown[name].get("unit", ""), family.unit or "")


def check_scrapes(case, scene, job):
    server = scene.server
    case.equal(f"{job}: up", server.one(f'up{{job="{job}"}}'), 1)
    case.equal(f"{job}: was ever down", server.one(f'min_over_time(up{{job="{job}"}}[5m])'), 1)
    case.equal(f"{job}: exact identities", server.one(
        f'min(min_over_time(skyobserve_identity_ok{{job="{job}",identity=~"in_flight|syscalls|modes"}}[5m]))'), 1)
    case.equal(f"{job}: drops", server.one(f'sum(max_over_time(skyobserve_dropped_events_total{{job="{job}"}}[5m]))'), 0)
    case.equal(f"{job}: sums by call and by name", server.one(
        f'sum(skyobserve_fsyncs_total{{job="{job}",via="syscall"}})'),
        FSYNCS + FDATASYNCS + 20 + 30)  # and sync_file_range, msync (fsync.c)
    for target in server.api("targets")["activeTargets"]:
        case.equal(f"health of {target['labels']['job']}", (target["health"], target["lastError"]), ("up", ""))


def prometheus(case):
    scene = Scene(case)
    try:
        scene.work()
        for job in JOBS:
            check_scrapes(case, scene, job)
            check_counts(case, scene, job)
            check_rate(case, scene, job)
            check_metadata(case, scene, job)
        bad = re.findall(r"^.*level=(?:warn|error).*$", scene.server.log(), re.M)
        case.equal("warnings in the server's log", bad, [])
    finally:
        scene.end()


CASES = [("scraped_by_prometheus", prometheus)]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
