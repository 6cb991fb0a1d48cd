# SPDX-License-Identifier: MIT
"""What is measured. Each section is a function of (rig, plan) that returns plain data for JSON.

A section with arms measures in blocks: every block holds all of its arms once, in an order drawn anew, and
everything that is said about an arm is the median over the blocks of its ratio to, or difference from, the arm
`none` of the same block.
"""

import contextlib
import gzip
import http.client
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
from pathlib import Path

import arms
import rig

NR_GETPPID = {"x86_64": 110, "aarch64": 173}.get(platform.machine())

NOTHING = (arms.Arm("none", "nothing"), arms.Arm("none_again", "nothing, again (A/A control)"))
NOT_OBSERVED = arms.Skyobserve("sky_other", "skyobserve, observing another process", other=True)
SKY_ALL = arms.Skyobserve("sky", "skyobserve, all groups, no interactions", "--interaction", "off")
SKY_HTTP = arms.Skyobserve("sky_http", "skyobserve, and interactions on sockets", "--interaction", "http")


class Plan:
    """How much is measured: blocks per section and lengths of slices."""

    def __init__(self, quick, chance, blocks, sample_blocks, slice_ms, sample_ms, scrapes, starts):
        self.quick = quick
        self.blocks, self.sample_blocks = blocks, sample_blocks
        self.slice_ms, self.sample_ms = slice_ms, sample_ms
        self.scrapes, self.starts = scrapes, starts
        self.chance = chance
        self.progress = lambda text: None


def in_blocks(bench, plan, name, blocks, all_arms, pids, measure):
    """measure(block, arm) -> values of one slice. Returns {"arms": [{key, label, values: {block: values}}]}."""
    rows = {arm.key: {"key": arm.key, "label": arm.label, "blocks": {}, "missing": arm.missing()} for arm in all_arms}
    usable = [arm for arm in all_arms if not rows[arm.key]["missing"]]
    for block in range(blocks):
        here = [arm for arm in usable if not (arm.dear and block % 2)]
        plan.chance.shuffle(here)
        for arm in here:
            if rows[arm.key]["missing"]:
                continue
            plan.progress(f"{name}: block {block + 1} of {blocks}, {arm.label}")
            try:
                values = bench.slice(arm, pids, lambda: measure(block))
            except (rig.Failed, OSError, subprocess.SubprocessError) as why:
                rows[arm.key]["missing"] = " ".join(str(why).split())
                continue
            if values:
                rows[arm.key]["blocks"][block] = values
    return {"arms": [row for row in rows.values()]}


# ---- loops of one system call, and ping-pong ------------------------------------------------------------


def work_slice(bench, plan, work, block, names):
    """One slice of each of the works, on one CPU, another one in the next block."""
    values = {}
    cpu = bench.cpus[block % len(bench.cpus)]
    for name in names:
        values[name] = json.loads(work.ask(f"{name} {cpu} {plan.slice_ms}"))
    return values


def calls(bench, plan):
    """Costs per system call: getppid does nothing itself, read of /dev/zero is a read of a file."""
    saw = rf"^@ns\[{NR_GETPPID}\]|^@\[{NR_GETPPID}\]|\bgetppid\b"
    all_arms = [
        *NOTHING,
        arms.Programs("enter", "empty program on sys_enter", "empty", ["sys_enter"]),
        arms.Programs("both", "empty programs on sys_enter, sys_exit", "empty", arms.SYSCALL_HOOKS),
        arms.Programs("floor", "the floor: and on sched_switch, wake-ups", "empty", arms.ALL_HOOKS),
        arms.Programs("clock", "the floor, each reads the clock", "clock", arms.ALL_HOOKS),
        NOT_OBSERVED,
        arms.Skyobserve("sky_sched", "skyobserve, --groups sched", "--groups", "sched"),
        arms.Skyobserve("sky_syscalls", "skyobserve, --groups syscalls", "--groups", "syscalls"),
        SKY_ALL,
        SKY_HTTP,
        arms.bpftrace_count(saw),
        arms.bpftrace_hist(saw),
        arms.syscount(saw),
        arms.syscount_latency(saw),
        arms.perf_trace(saw),
        arms.strace(saw),
    ]
    work = rig.Helper("work")
    pid = int(work.answer().split()[0])
    try:
        return in_blocks(bench, plan, "calls", plan.blocks, all_arms, [pid],
                         lambda block: work_slice(bench, plan, work, block, ("getppid", "read")))
    finally:
        work.close()


def switches(bench, plan):
    """A byte goes to another process on the same CPU and back: 2 switches, 2 wake-ups, 4 system calls."""
    all_arms = [
        *NOTHING,
        arms.Programs("switch", "empty program on sched_switch", "empty", ["sched_switch"]),
        arms.Programs("sched_floor", "empty programs on sched_switch, wake-ups", "empty", arms.SCHED_HOOKS),
        arms.Programs("floor", "the floor: and on sys_enter, sys_exit", "empty", arms.ALL_HOOKS),
        arms.Programs("clock", "the floor, each reads the clock", "clock", arms.ALL_HOOKS),
        NOT_OBSERVED,
        arms.Skyobserve("sky_sched", "skyobserve, --groups sched", "--groups", "sched"),
        SKY_ALL,
        SKY_HTTP,
        arms.bpftrace_off(),
        arms.offcputime(),
    ]
    work = rig.Helper("work")
    pids = [int(pid) for pid in work.answer().split()]
    try:
        return in_blocks(bench, plan, "switches", plan.blocks, all_arms, pids,
                         lambda block: work_slice(bench, plan, work, block, ("pingpong",)))
    finally:
        work.close()


# ---- the sample target at full speed --------------------------------------------------------------------


class SampleApp:
    """The bundled server, with its files in a folder that goes with it."""

    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory()
        port_file = Path(self.folder.name, "port")
        os.mkdir(Path(self.folder.name, "data"))
        program = rig.WORKLOADS / "sampleapp"
        if not program.exists():
            raise rig.Failed(f"{program} is not built: make workloads")
        self.process = subprocess.Popen([program, "-port-file", port_file, "-data", Path(self.folder.name, "data"),
                                         *options], stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        rig.poll("the sample to listen", port_file.exists)
        self.url = f"http://{port_file.read_text().strip()}/"

    def load(self, *options):
        """Run the load to its end; its last words."""
        done = subprocess.run([rig.WORKLOADS / "sampleload", "-url", self.url, *map(str, options)],
                              stdout=subprocess.PIPE, text=True, timeout=rig.DEADLINE_S, check=True)
        return json.loads(done.stdout)

    def close(self):
        rig.end_process(self.process)
        self.folder.cleanup()


LOADS = {
    "healthz": ("-kind", "healthz", "-sessions", 0),
    "event": ("-kind", "event", "-elements", 94, "-sessions", 5),
}


def sample_slice(app, plan):
    values = {}
    for name, options in LOADS.items():
        begin_ns = rig.process_cpu_ns(app.pid)
        did = app.load("-connections", 8, "-duration", f"{plan.sample_ms}ms", *options)
        used_ns = rig.process_cpu_ns(app.pid) - begin_ns
        n = did["requests"].get(name, {}).get("200", 0)
        if not n or any(did["errors"].values()):
            raise rig.Failed(f"the load {name} failed: {did['requests']} {did['errors']}")
        values[name] = {"n": n, "cpu_ns": used_ns, "median_ns": used_ns / n, "per_second": n / did["wall_seconds"]}
    return values


def per_request(app, plan):
    """How many system calls and context switches a request of each kind takes, by the observer's own count."""
    counts = {}
    with contextlib.closing(rig.Observer(pids=[app.pid])) as observer:
        for name, options in LOADS.items():
            before = totals(observer.url)
            did = app.load("-connections", 8, "-duration", f"{plan.sample_ms}ms", *options)
            after = totals(observer.url)
            counts[name] = {key: (after[key] - before[key]) / did["requests"][name]["200"] for key in after}
    return counts


def totals(url):
    text = rig.get(url).decode()
    return {key: sum(float(line.rpartition(" ")[2]) for line in text.splitlines() if line.startswith(name + "{"))
            for key, name in (("syscalls", "skyobserve_syscalls_total"),
                              ("switches", "skyobserve_context_switches_total"))}


def sample(bench, plan):
    """Requests of the bundled Go server at full speed, 8 connections: the smallest one, and an event that
    renders a view of 94 elements and writes its session durably."""
    all_arms = [
        *NOTHING,
        arms.Programs("floor", "the floor", "empty", arms.ALL_HOOKS),
        arms.Programs("clock", "the floor, each reads the clock", "clock", arms.ALL_HOOKS),
        NOT_OBSERVED,
        SKY_ALL,
        SKY_HTTP,
        arms.bpftrace_hist(),
        arms.syscount_latency(),
        arms.perf_trace(),
        arms.strace(),
    ]
    app = SampleApp()
    try:
        app.load("-connections", 8, "-duration", "200ms", "-kind", "mixed")  # it grows its heap and its threads
        done = in_blocks(bench, plan, "sample", plan.sample_blocks, all_arms, [app.pid],
                         lambda block: sample_slice(app, plan))
        return {**done, "per_request": per_request(app, plan)}
    finally:
        app.close()


# ---- scrapes and memory ---------------------------------------------------------------------------------

PLAIN = {"Accept": "text/plain; version=0.0.4"}
# What a Prometheus server asks for.
PROMETHEUS = {"Accept": "application/openmetrics-text; version=1.0.0, text/plain; version=0.0.4; q=0.5",
              "Accept-Encoding": "gzip"}


class Scraper:
    """A connection that is kept, as Prometheus does."""

    def __init__(self, url):
        at = urllib.parse.urlsplit(url)
        self.path, self.connection = at.path, http.client.HTTPConnection(at.hostname, at.port, timeout=rig.DEADLINE_S)

    def scrape(self, headers):
        self.connection.request("GET", self.path, headers=headers)
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise rig.Failed(f"a scrape had status {answer.status}")
        return body

    def close(self):
        self.connection.close()


def ticks_of(pid):
    """utime + stime in seconds, by /proc/PID/stat."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def schedstat_ns(pid):
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat"))


def cost_of_scrapes(observer, headers, n):
    scraper = Scraper(observer.url)
    try:
        body = scraper.scrape(headers)
        ticks_s, on_ns, cpu_ns = ticks_of(observer.pid), schedstat_ns(observer.pid), rig.process_cpu_ns(observer.pid)
        begin = time.monotonic()
        for _ in range(n):
            body = scraper.scrape(headers)
        return {
            "scrapes": n,
            "cpu_ms": (rig.process_cpu_ns(observer.pid) - cpu_ns) / 1e6 / n,
            "schedstat_ms": (schedstat_ns(observer.pid) - on_ns) / 1e6 / n,
            "stat_ms": (ticks_of(observer.pid) - ticks_s) * 1e3 / n,
            "wall_ms": (time.monotonic() - begin) * 1e3 / n,
            "bytes": len(body),
            "series": len(re.findall(rb"^[^#\n]", gzip.decompress(body) if body[:2] == b"\x1f\x8b" else body, re.M)),
        }
    finally:
        scraper.close()


def idle_cpu(observer, seconds):
    begin_ns = rig.process_cpu_ns(observer.pid)
    time.sleep(seconds)
    return (rig.process_cpu_ns(observer.pid) - begin_ns) / 1e9 / seconds


def map_bytes(pid):
    """Memory that the kernel charges for the BPF maps of a process, and the largest of them."""
    shown = subprocess.run(["bpftool", "-j", "map", "show"], stdout=subprocess.PIPE, timeout=rig.DEADLINE_S, check=True)
    held = rig.bpf_ids_of(pid, "map")
    maps = [(m.get("bytes_memlock", 0), m.get("name", "")) for m in json.loads(shown.stdout) if m["id"] in held]
    return {"bytes": sum(size for size, _ in maps), "maps": len(maps), "largest": sorted(maps, reverse=True)[:5]}


def measure_observer(observer, plan, n):
    before = {field: rig.status_kib(observer.pid, field) for field in ("VmRSS", "VmHWM", "RssAnon", "RssFile", "RssShmem")}
    row = {
        "at_start_kib": before,
        "plain": cost_of_scrapes(observer, PLAIN, n),
        "prometheus": cost_of_scrapes(observer, PROMETHEUS, n),
        "idle_cpu": idle_cpu(observer, 2),
        "kib": {field: rig.status_kib(observer.pid, field) for field in before},
        "map_memory": map_bytes(observer.pid),
    }
    row["ready_s"] = observer.ready_s
    row["end_s"] = observer.close()
    return row


def machine_processes():
    return sum(name.isdigit() and os.path.exists(f"/proc/{name}/exe") for name in os.listdir("/proc"))


def scrape_one(plan, rows):
    plan.progress("scrape: one target")
    app = SampleApp()
    load = subprocess.Popen([rig.WORKLOADS / "sampleload", "-url", app.url, "-gentle"], stdout=subprocess.DEVNULL)
    try:
        observer = rig.Observer(pids=[app.pid])
        time.sleep(1)  # the target makes its kinds of calls
        rows.append({"what": "one target (the sample, gently loaded)", **measure_observer(observer, plan, plan.scrapes)})
    finally:
        rig.end_process(load)
        app.close()


def scrape_machine(plan, rows, extra, *name):
    """The machine as it is and `extra` idle processes, of as many names, or of this one name."""
    what = f"--all, {extra} more processes, {'of one name' if name else 'each of its own name'}" if extra else "--all"
    plan.progress(f"scrape: {what}")
    idle = rig.Helper("idle", extra, *name) if extra else None
    try:
        if idle:
            idle.answer()
        observer = rig.Observer("--all")
        rows.append({"what": what, "processes": machine_processes(),
                     **measure_observer(observer, plan, max(5, plan.scrapes // (10 if extra > 100 else 4)))})
    finally:
        if idle:
            idle.close()


def scrape(bench, plan):
    """CPU of a scrape, and memory, by how much is observed."""
    rows = []
    bench.wait_until_alone()
    scrape_one(plan, rows)
    scrape_machine(plan, rows, 0)
    scrape_machine(plan, rows, 100)
    scrape_machine(plan, rows, 1000, "idle")
    if not plan.quick:
        scrape_machine(plan, rows, 1000)
    return {"rows": rows}


# ---- beginning, end, and the verifier -------------------------------------------------------------------


def start(bench, plan):
    """From exec to /-/ready, and from SIGINT to the end; what the verifier walked through."""
    starts, programs = [], []
    bystander = subprocess.Popen(["sleep", "1000"])
    try:
        for i in range(plan.starts):
            plan.progress(f"start: {i + 1} of {plan.starts}")
            observer = rig.Observer(pids=[bystander.pid])
            held = rig.bpf_ids_of(observer.pid, "prog")
            programs = [p for p in bench.programs() if p["id"] in held]
            cpu_ns = rig.process_cpu_ns(observer.pid)
            starts.append({"ready_s": observer.ready_s, "cpu_ns": cpu_ns, "end_s": observer.close()})
    finally:
        bystander.kill()
        bystander.wait()
    return {"starts": starts, "programs": programs}


# ---- a Go program that allocates ------------------------------------------------------------------------

KEPT_OBJECTS = 200_000


def newest_go():
    """gostats by the newest Go that tests/go/fetch.py unpacked, else by the distribution's: (path, version)."""
    sys.path.insert(0, str(rig.ROOT / "tests/go"))
    import build
    import fetch

    version, goroot = list(fetch.toolchains().items())[-1]
    row = build.Variant("../workloads/gostats", build.STATIC, [])
    return build.build(version, goroot, "stats", row), fetch.version_of(goroot)


class Allocator:
    """gostats, whose protocol is at its head."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = int(self.process.stdout.readline().split()[1])

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        rig.end_process(self.process)


def allocator_slice(program, plan):
    begin_ns, cycles = rig.process_cpu_ns(program.pid), program.ask("stats")["num_gc"]
    did = program.ask(f"work {plan.sample_ms}")
    used_ns, n = rig.process_cpu_ns(program.pid) - begin_ns, did["rounds"]
    return {"cpu": {"n": n, "median_ns": used_ns / n, "cycles": program.ask("stats")["num_gc"] - cycles},
            "wall": {"n": n, "median_ns": did["wall_ns"] / n, "per_second": n * 1e9 / did["wall_ns"]}}


def go(bench, plan):
    """A Go program that does nothing but allocate, on every CPU, with a small heap, so that it collects all the time."""
    path, version = newest_go()
    all_arms = [
        *NOTHING,
        arms.Skyobserve("sky_read", "skyobserve, --groups process,go", "--groups", "process,go"),
        arms.Skyobserve("sky_gc", "skyobserve, --groups process,go,go_gc", "--groups", "process,go,go_gc"),
        arms.Skyobserve("sky_others", "skyobserve, all groups but go_gc", "--groups",
                        "process,sched,syscalls,fsync,io_uring,go"),
        SKY_ALL,
    ]
    program = Allocator(path)
    try:
        program.ask(f"small {KEPT_OBJECTS}")
        program.ask("percent 100")
        done = in_blocks(bench, plan, "go", plan.sample_blocks, all_arms, [program.pid],
                         lambda block: allocator_slice(program, plan))
        return {**done, "version": version}
    finally:
        program.close()


SECTIONS = {"calls": calls, "switches": switches, "sample": sample, "scrape": scrape, "start": start, "go": go}
