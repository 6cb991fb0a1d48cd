#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`skyobserve fit`: what is known to grow by so much is found to, and what no line shows is refused."""

import sys

sys.dont_write_bytecode = True

import json
import shutil
import socket
import subprocess

import lib
import web
from test_record import STATUS_FAILED, STATUS_UNRESOLVED, Recording, run


def fit(*words, status=0):
    return json.loads(run("fit", "--json", *words, status=status)[0])


def writes(case, count, turn=0):
    """A record of a program that makes @count synchronous writes."""
    return Recording(case, f"w{count}-{turn}.sky", "--", shutil.which("dd"), "if=/dev/zero", f"of={case.path('out')}",
                     "bs=512", f"count={count}", "oflag=dsync").wait_end().path


def exact_counts(case):
    """One durable write for each block, none without: exactly, in any order of the words."""
    paths = {count: writes(case, count) for count in (40, 3, 120, 80)}
    words = [f"{count}:{path}" for count, path in paths.items()]
    (line,) = fit("--of", "durable writes", *words)["lines"]
    case.equal("levels", (line["runs"], line["levels"], line["x_low"], line["x_high"]), (4, 4, 3, 120))
    case.equal("exact", (line["exact"], line["refused"]), (True, []))
    case.between("per block", line["slope"]["value"], 1 - 1e-9, 1 + 1e-9)
    case.between("without blocks", line["intercept"]["value"], -1e-6, 1e-6)
    text, said = run("fit", "--of", "durable writes", *words)
    case.true(f"not for people: {text}", "every run is on it, exactly" in " ".join(text.split()))
    case.equal("said", said, "")
    case.at_most("width", max(map(len, text.splitlines())), 80)
    ordered = [f"{count}:{paths[count]}" for count in sorted(paths)]
    case.equal("the order of words", fit("--of", "durable writes", *ordered)["lines"], [line])


def refusals(case):
    """Two levels, one, few, and far from 0: each by its name, and status 2 unless that is allowed."""
    paths = {count: writes(case, count) for count in (30, 20, 40)}
    word = {count: f"{count}:{path}" for count, path in paths.items()}
    (line,) = fit("--of", "durable writes", word[20], word[30], status=STATUS_UNRESOLVED)["lines"]
    case.equal("two levels", (line["refused"], line["intercept"]), (["TWO_POINTS", "EXTRAPOLATED_INTERCEPT"], None))
    case.equal("two levels", line["slope"]["ci95_by_runs"], None)
    (line,) = fit("--of", "durable writes", "--unresolved-ok", *word.values())["lines"]
    case.equal("three levels", line["refused"], ["FEW_LEVELS", "EXTRAPOLATED_INTERCEPT"])
    (line,) = fit("--of", "durable writes", f"7:{paths[20]}", f"7:{paths[30]}", status=STATUS_UNRESOLVED)["lines"]
    case.equal("one level", (line["refused"], line["slope"]), (["ONE_LEVEL"], None))
    curve = [f"{x}:{writes(case, x * x + 1, 1)}" for x in (9, 0, 3, 6, 12)]
    (line,) = fit("--of", "durable writes", *curve, status=STATUS_UNRESOLVED)["lines"]
    case.true(f"a curve: {line['refused']}", "CURVATURE" in line["refused"] and line["intercept"] is None)
    case.between("its square", line["square"]["value"], 1 - 1e-9, 1 + 1e-9)


def wrong_words(case):
    """One line says what is wrong with the words, or with the files."""
    a, b = writes(case, 3), writes(case, 4)
    for words, status, why in (
            ((), lib.STATUS_USAGE, "several levels"), ((f"3:{a}",), lib.STATUS_USAGE, "several levels"),
            ((a, b), lib.STATUS_USAGE, "X:FILE"), ((f"-3:{a}", f"4:{b}"), lib.STATUS_USAGE, "not an option"),
            ((f"x3:{a}", f"4:{b}"), lib.STATUS_USAGE, "X:FILE"), (("3:", f"4:{b}"), lib.STATUS_USAGE, "X:FILE"),
            ((f"1e999:{a}", f"4:{b}"), lib.STATUS_USAGE, "X:FILE"), ((f"nan:{a}", f"4:{b}"), lib.STATUS_USAGE, "X:FILE"),
            (("--x", "size", a, b), lib.STATUS_USAGE, "in-flight"),
            (("--knee", "p99", f"3:{a}", f"4:{b}"), lib.STATUS_USAGE, "p99=100ms"),
            (("--knee", "p99=1s", "--of", "CPU", f"3:{a}", f"4:{b}"), lib.STATUS_USAGE, "--of"),
            ((f"3:{a}", "--", f"4:{b}"), lib.STATUS_USAGE, "`--`"),
            ((f"3:{case.path('none')}", f"4:{b}"), STATUS_FAILED, "none"),
            ((f"3:{__file__}", f"4:{b}"), STATUS_FAILED, "test_fit.py"),
            (("--of", "nothing", f"3:{a}", f"4:{b}"), STATUS_FAILED, "nothing to fit"),
            (("--x", "in-flight", a, b), STATUS_FAILED, "do not have in-flight"),
            (("--knee", "p99=1s", f"3:{a}", f"4:{b}"), STATUS_FAILED, "--knee")):
        out, said = run("fit", *words, status=status)
        lines = [line for line in said.splitlines() if "warning" not in line]
        case.true(f"{words}: {said}", not out and len(lines) == 1 and why in lines[0])
    said = run("fit", f"3:{a}", f"4:{a}", status=lib.STATUS_GONE)[1]
    case.true(f"twice: {said}", "is the same run" in said)


def invalid_records(case):
    """What compare does not take is not fitted, unless it is allowed."""
    good = writes(case, 3)
    workload = case.workload("spin", "--ms", 10)
    ended = Recording(case, "ended.sky", "--pid", workload.pid).wait_begin()
    workload.run()
    workload.finish()
    ended.wait_end(lib.STATUS_GONE)
    said = run("fit", f"1:{good}", f"2:{ended.path}", status=lib.STATUS_GONE)[1]
    for why in ("ended.sky is INVALID: target: spin", "of another build", "is a window of a running process", "not fitted"):
        case.true(f"{why} is not in {said}", why in said)
    said = run("fit", "--invalid-ok", "--different-ok", f"1:{good}", f"2:{ended.path}", status=lib.STATUS_GONE)[1]
    case.true(f"a program beside a window: {said}", "is a window of a running process" in said)


def requests(case):
    """The calls of an event grow by one with each that is asked for, and the budget breaks where it is spun away."""
    sample = web.Sample(case, "-background", "0", observe=False)
    event = "POST /_sky/event"

    def record(name, *options):
        recording = Recording(case, f"{name}.sky", "--pid", sample.process.pid).wait_begin()
        sample.load("-kind", "event", "-sessions", "1", "-fsyncs", "0", *options)
        return recording.stop().path

    words = [f"{calls}:{record(f'c{calls}', '-connections', '2', '-requests', '200', '-calls', str(calls))}"
             for calls in (200, 0, 400, 100, 300)]
    lines = fit("--unresolved-ok", "--kind", event, "--of", "system calls", *words)["lines"]
    (line,) = [line for line in lines if line["group"].endswith(f", each {event}")]
    case.between("calls for each", line["slope"]["value"], 0.95, 1.05)
    case.equal("levels", (line["runs"], line["levels"], line["x_low"]), (5, 5, 0))
    case.true(f"refused: {line['refused']}", not {"EXTRAPOLATED_INTERCEPT", "FEW_LEVELS"} & set(line["refused"]))
    knee = [f"{us}:{record(f's{us}', '-requests', '100', '-spin-us', str(us))}" for us in (30000, 50)]
    (found,) = fit("--kind", event, "--knee", "p80=12ms", *knee)["knees"]
    case.equal("knee", (found["verdict"], found["holds_up_to"], found["broken_at"]), ("between", 50, 30000))
    (found,) = fit("--kind", event, "--knee", "p80=50s", *knee)["knees"]
    case.equal("knee", (found["verdict"], found["holds_up_to"], found["broken_at"]), ("not_reached", 30000, None))
    (found,) = fit("--kind", event, "--knee", "p80=1us", *knee)["knees"]
    case.equal("knee", (found["verdict"], found["holds_up_to"], found["broken_at"]), ("already_broken", None, 50))
    (found,) = fit("--kind", event, "--knee", "p99=12ms", *knee, status=STATUS_UNRESOLVED)["knees"]
    case.equal("too few for p99", [level["too_few"] for level in found["levels"]], [True, True])
    text = run("fit", "--kind", event, "--knee", "p80=12ms", *knee)[0]
    case.true(f"not for people: {text}", "p80=12ms holds up to 50 and is broken at 3e+04" in " ".join(text.split()))


STREAMS = """
import socket, threading
def serve(c):
    c.recv(65536)
    c.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Type: text/event-stream\\r\\n\\r\\ndata: 1\\n\\n")
    c.recv(1)
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=s.accept()[:1], daemon=True).start()
"""


def sessions(case):
    """How many streams were open at the end is read from the record itself."""
    server = case.popen([sys.executable, "-c", STREAMS], stdout=subprocess.PIPE)
    port = int(lib.Lines(server.stdout, "server").next())
    paths = []
    for n in (20, 2, 60, 40):
        recording = Recording(case, f"n{n}.sky", "--pid", server.pid).wait_begin()
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(n)]
        for client in clients:
            client.sendall(web.get(b"/events"))
        for client in clients:
            client.recv(65536)
        paths.append(recording.stop().path)
        for client in clients:
            client.close()
    lines = fit("--x", "sessions", "--unresolved-ok", *paths)["lines"]
    (line,) = [line for line in lines if line["what"] == "resident memory"]
    case.equal("sessions", (line["x"], line["runs"], line["levels"], line["x_low"], line["x_high"]), ("session", 4, 4, 2, 60))


CASES = [
    ("exact_counts", exact_counts),
    ("refusals", refusals),
    ("wrong_words", wrong_words),
    ("invalid_records", invalid_records),
    ("requests", requests),
    ("sessions", sessions),
]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
