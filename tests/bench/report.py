# SPDX-License-Identifier: MIT
"""Tables of what was measured, for the terminal and for docs/OVERHEAD.md."""

import re

import stats

# What "the same hooks" are for an arm that does not use all of them; all others are held against `floor`.
FLOORS = {
    ("calls", "sky_syscalls"): "both",
    ("calls", "sky_sched"): None,  # none of its hooks is hit by a call that does not block
    ("switches", "sky_sched"): "sched_floor",
}

NOTE = ("Ratios and differences are medians over blocks, each against the arm `nothing` of the same block, with the "
        "95 % interval of the sign test in brackets (the whole range, marked ~, where there are fewer than 6 blocks). "
        "`added / floor` is what the arm adds over what empty programs on the same hooks add. `with tool` has the CPU "
        "time that the tool's own process used meanwhile.")


class Table:
    """Rows of texts under a title."""

    def __init__(self, title, *head):
        self.title, self.head, self.rows = title, head, []

    def add(self, *cells):
        self.rows.append(tuple(map(str, cells)))

    def text(self):
        widths = [max(len(row[i]) for row in [self.head, *self.rows]) for i in range(len(self.head))]
        lines = [self.title, ""]
        for row in [self.head, *self.rows]:
            cells = [cell.ljust(width) if not i else cell.rjust(width) for i, (cell, width) in enumerate(zip(row, widths))]
            lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join(lines) + "\n"

    def markdown(self):
        lines = [f"{self.title}", "", "| " + " | ".join(self.head) + " |", "|---|" + "---:|" * (len(self.head) - 1)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines) + "\n"


def number(value):
    """Three significant digits, no exponent."""
    if value is None:
        return ""
    size = abs(value)
    return f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def interval(summary, form=number):
    if not summary.n:
        return ""
    mark = "" if summary.n >= 6 else "~"
    return f"{form(summary.median)} [{mark}{form(summary.low)}, {form(summary.high)}]"


class Blocks:
    """The values of one work in one section, by arm and block."""

    def __init__(self, section, data, work):
        self.section = section
        self.values = {row["key"]: {int(block): values[work]["median_ns"] for block, values in row["blocks"].items()}
                       for row in data["arms"]}
        self.slices = {row["key"]: [(values[work], values["tool_ns"],
                                     sum(one["n"] for key, one in values.items() if key != "tool_ns"))
                                    for values in row["blocks"].values()] for row in data["arms"]}

    def median(self, key):
        return stats.median(self.values[key].values())

    def pairs(self, key, base="none"):
        mine, theirs = self.values[key], self.values[base]
        return [(mine[block], theirs[block]) for block in sorted(mine) if block in theirs]

    def ratio(self, key):
        return stats.ratios(self.pairs(key))

    def added(self, key):
        return stats.differences(self.pairs(key))

    def floor_of(self, key):
        return FLOORS.get((self.section, key), "floor")

    def cost(self, key):
        floor, base = self.values.get(self.floor_of(key), {}), self.values["none"]
        return stats.cost_ratios([(value, floor[block], base[block]) for block, value in self.values[key].items()
                                  if block in floor and block in base])

    def floor_is_resolved(self, key):
        """Whether the floor adds more than nothing by more than the noise; else nothing can be held against it."""
        floor = self.floor_of(key)
        added = self.added(floor) if floor in self.values else None
        return bool(added and added.n and added.low > 0)

    def with_tool(self, key):
        """The median of this work's time per call, and the tool's CPU time spread over all works of the slice."""
        return stats.median([one["median_ns"] + tool_ns / n for one, tool_ns, n in self.slices[key]])

    def per_second(self, key):
        return stats.median([one["per_second"] for one, _, _ in self.slices[key] if "per_second" in one])


def arm_table(title, name, data, work, unit, scale=1.0):
    blocks = Blocks(name, data, work)
    rate = any("per_second" in one for one, _, _ in blocks.slices["none"])
    table = Table(title, "arm", unit if work == "wall" else f"CPU {unit}", "/ nothing", f"added {unit}", "added / floor", f"with tool {unit}",
                  *(["rounds/s" if name == "go" else "requests/s"] if rate else []))
    for row in data["arms"]:
        key = row["key"]
        if row["missing"] or not blocks.values[key]:
            table.add(row["label"], f"not measured: {(row['missing'] or 'never alone')[:60]}", *[""] * (len(table.head) - 2))
            continue
        floors = ("none", "none_again", "enter", "both", "switch", "sched_floor", "floor")
        held = key not in floors and blocks.floor_is_resolved(key)
        table.add(row["label"], number(blocks.median(key) / scale),
                  "" if key == "none" else interval(blocks.ratio(key), lambda value: f"{value:.3f}"),
                  "" if key == "none" else interval(blocks.added(key), lambda value: number(value / scale)),
                  interval(blocks.cost(key)) if held else "",
                  number(blocks.with_tool(key) / scale),
                  *([f"{blocks.per_second(key):.0f}"] if rate else []))
    return table


def calls(data):
    yield arm_table("System calls: getppid in a loop, CPU per call", "calls", data, "getppid", "ns")
    yield arm_table("System calls: read of one byte of /dev/zero in a loop, CPU per call", "calls", data, "read", "ns")


def switches(data):
    yield arm_table("Context switches: a byte through two pipes and back, CPU per round trip of both sides "
                    "(2 switches, 2 wake-ups, 4 system calls)", "switches", data, "pingpong", "ns")


def sample(data):
    yield arm_table("The sample at full speed, 8 connections: GET /healthz, the target's CPU per request",
                    "sample", data, "healthz", "us", 1e3)
    yield arm_table("The sample at full speed, 8 connections: events of 94 elements with an fsync, the target's CPU "
                    "per request", "sample", data, "event", "us", 1e3)


def predicted(result):
    """What our arms should cost a request, by what it does and what that costs in the loops; independent of the
    slices of the sample, whose own noise may be larger than the effect."""
    have = result["sections"]
    if not {"calls", "switches", "sample"} <= have.keys() or "per_request" not in have["sample"]:
        return
    table = Table("The same, predicted: events of a request times what each costs in the loops", "request",
                  "system calls", "switches", "CPU us", "skyobserve adds us", "of the CPU", "the floor adds us", "of the CPU")
    call, ball = Blocks("calls", have["calls"], "read"), Blocks("switches", have["switches"], "pingpong")
    for work, n in have["sample"]["per_request"].items():
        used_us = Blocks("sample", have["sample"], work).median("none") / 1e3
        cells = []
        for key in ("sky", "floor"):
            if not (call.values[key] and ball.values[key]):
                return
            per_call = call.added(key).median
            per_switch = (ball.added(key).median - 4 * per_call) / 2
            adds_us = (n["syscalls"] * per_call + n["switches"] * per_switch) / 1e3
            cells += [number(adds_us), f"{adds_us / used_us * 100:.2f} %"]
        table.add(work, number(n["syscalls"]), number(n["switches"]), number(used_us), *cells)
    yield table


def scrape(data):
    cost = Table("CPU of the observer per scrape, on a connection that is kept", "observed", "format", "CPU ms",
                 "by schedstat ms", "by stat ms", "answer ms", "bytes", "series")
    memory = Table("Memory of the observer after the scrapes, and of its BPF maps in the kernel", "observed",
                   "VmRSS MiB", "VmHWM MiB", "anonymous MiB", "maps read MiB", "BPF maps MiB", "CPU without scrapes")
    for row in data["rows"]:
        what = row["what"] + (f" ({row['processes']} processes)" if "processes" in row else "")
        for form, label in (("plain", "text"), ("prometheus", "OpenMetrics, gzip")):
            one = row[form]
            cost.add(what if form == "plain" else "", label, f"{one['cpu_ms']:.2f}", f"{one['schedstat_ms']:.2f}",
                     f"{one['stat_ms']:.2f}", f"{one['wall_ms']:.2f}", one["bytes"], one["series"])
        kib = row["kib"]
        memory.add(what, *(number(kib[field] / 1024) for field in ("VmRSS", "VmHWM", "RssAnon")),
                   number((kib["RssShmem"] + kib["RssFile"]) / 1024), number(row["map_memory"]["bytes"] / 2 ** 20),
                   f"{row['idle_cpu'] * 100:.2f} %")
    yield cost
    yield memory


def start(data):
    table = Table("Beginning and end, one target", "", "median s", "least s", "most s")
    for label, values in (("exec to /-/ready", [one["ready_s"] for one in data["starts"]]),
                          ("CPU of it", [one["cpu_ns"] / 1e9 for one in data["starts"]]),
                          ("SIGINT to the end", [one["end_s"] for one in data["starts"]])):
        table.add(label, *(f"{value:.3f}" for value in (stats.median(values), min(values), max(values))))
    yield table
    programs = Table("Programs: what the verifier walked through, and their size", "program",
                     "verified instructions", "instructions", "machine code bytes")
    for program in data["programs"]:
        programs.add(program["name"], program["verified"], program["xlated"] // 8, program["jited"])
    yield programs


def go(data):
    cycles = stats.median([values["cpu"]["cycles"] for row in data["arms"] if row["key"] == "none"
                           for values in row["blocks"].values()])
    what = f"A program of {data['version']} that allocates on every CPU, {cycles:.0f} collections a slice"
    yield arm_table(f"{what}: wall time per round (seven objects in eight)", "go", data, "wall", "ns")
    yield arm_table(f"{what}: its CPU per round", "go", data, "cpu", "ns")


SECTIONS = {"calls": calls, "switches": switches, "sample": sample, "scrape": scrape, "start": start, "go": go}


def conditions(result):
    """One sentence on where and how it was measured."""
    c = result["conditions"]
    machine = "VM" if c["virtual"] else "machine"
    return (f"Measured on a {c['cpus']}-CPU {machine} ({c['architecture']}), kernel {c['kernel']}, clock source "
            f"{c['clocksource']}, load average {c['load'][0]:.1f} at the beginning and {c['load'][1]:.1f} at the end; "
            f"{c['skyobserve']}, {', '.join(c['tools'])}. Blocks: {c['blocks']} (of the sample {c['sample_blocks']}; tools "
            f"that are slow to start take part in every second one); slices of {c['slice_ms']} ms of CPU time "
            f"(of the sample {c['sample_ms']} ms). {c['repeated']} slices were repeated because BPF programs of "
            f"others ran, {c['disturbed']} given up.")


def text(result):
    parts = [conditions(result), NOTE]
    for name, data in result["sections"].items():
        parts += [table.text() for table in SECTIONS[name](data)]
    parts += [table.text() for table in predicted(result)]
    return "\n\n".join(parts)


def fill_document(document, result):
    """Replace what stands between <!-- bench:NAME --> and <!-- /bench --> by what was measured."""
    pieces = {"conditions": conditions(result) + "\n"}
    for name, data in result["sections"].items():
        pieces[name] = "\n".join(table.markdown() for table in SECTIONS[name](data))
    for table in predicted(result):
        pieces["predicted"] = table.markdown()

    def fill(found):
        body = pieces.get(found[2])
        return f"{found[1]}\n{body}{found[3]}" if body else found[0]
    return re.sub(r"(<!-- bench:(\w+) -->)\n.*?(<!-- /bench -->)", fill, document, flags=re.S)
