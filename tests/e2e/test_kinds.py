#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kinds of interactions by routes, and which responses were good ones. The client and the server know what was said."""

import sys

sys.dont_write_bytecode = True

import subprocess

import lib
from web import Client, Sample, await_requests, get, requests_of

GOOD = b'{"patches":[{"op":1}]}'
EMPTY = b'{"patches":[]}'

# The path says how the response is written, the query which body it has.
ANSWERS = """
import os, socket, sys, tempfile, threading
BODIES = {"good": %r, "empty": %r, "short": b"{", "none": b""}
file = tempfile.TemporaryFile()
def chunks(*parts):
    return b"".join(b"%%x\\r\\n%%s\\r\\n" %% (len(part), part) for part in (*parts, b"")[:len(parts)] if part) + b"0\\r\\n\\r\\n"
def answer(peer, how, body):
    status = b"404 Not Found" if how == "missing" else b"200 OK"
    framing = b"Transfer-Encoding: chunked" if how.startswith("chunk") else b"Content-Length: %%d" %% len(body)
    extra = b"X-Long: " + b"x" * 5000 + b"\\r\\n" if how == "longhead" else b""
    head = b"HTTP/1.1 " + status + b"\\r\\n" + framing + b"\\r\\n" + extra + b"\\r\\n"
    if how == "two":
        peer.sendall(head)
        if body:
            peer.sendall(body)
    elif how == "vector":
        peer.sendmsg([head, body])
    elif how == "bytes":
        peer.sendall(head)
        for i in range(len(body)):
            peer.sendall(body[i:i + 1])
    elif how == "file":
        os.pwrite(file.fileno(), body, 0)
        peer.sendall(head)
        os.sendfile(peer.fileno(), file.fileno(), 0, len(body))
    elif how == "chunkone":
        peer.sendall(head + chunks(body))
    elif how == "chunksplit":
        peer.sendall(head)
        for part in (body[:3], body[3:]):
            if part:
                peer.sendall(b"%%x\\r\\n" %% len(part) + part + b"\\r\\n")
        peer.sendall(b"0\\r\\n\\r\\n")
    else:
        peer.sendall(head + body)
def serve(peer):
    rest = b""
    while True:
        while b"\\r\\n\\r\\n" not in rest:
            data = peer.recv(4096)
            if not data:
                return
            rest += data
        head, _, rest = rest.partition(b"\\r\\n\\r\\n")
        path, _, query = head.split()[1].decode().partition("?")
        answer(peer, path.strip("/"), BODIES[query])
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(server.accept()[0],), daemon=True).start()
""" % (GOOD, EMPTY)


def routes(case):
    """A route collects its requests under one name; what fits none keeps its own, and a query is never looked at."""
    sample = Sample(case, observe=False)
    sample.observe("--route", "GET /metadata/list", "--route", "GET /metadata/:key", "--route", "GET /files/*path",
                   "--route", "POST /metadata/:key")
    client = Client(sample.address)
    wanted = {}
    for path, kind, n in ((b"/metadata/list", "GET /metadata/list", 7), (b"/metadata/lists", "GET /metadata/:key", 5),
                          (b"/metadata/a%20b?x=/list", "GET /metadata/:key", 3),
                          (b"/metadata/" + b"k" * 300, "GET /metadata/:key", 4),
                          (b"/metadata/a/b", "GET /metadata/a/b", 2), (b"/files/", "GET /files/*path", 6),
                          (b"/files/a/b/c.css", "GET /files/*path", 1), (b"/healthz", "GET /healthz", 9)):
        for _ in range(n):
            status = client.ask(get(path))
            key = (kind, str(status))
            wanted[key] = wanted.get(key, 0) + 1
    metrics = await_requests(sample.observer, "GET /healthz", 9)
    case.equal("requests", requests_of(metrics), wanted)
    case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)


def kinds_limit(case):
    """--max-kinds bounds them; the rest is `other`, and nothing is lost."""
    sample = Sample(case, observe=False)
    sample.observe("--max-kinds", "4")  # `other` is one of them
    client = Client(sample.address)
    for i in range(30):
        client.ask(get(b"/" + bytes([97 + i % 10])))
    lib.poll("all of them", lambda: sample.observer.scrape().sum("skyobserve_interactions_total") == 30)
    metrics = sample.observer.scrape()
    case.same_table("requests by kind", metrics.by("skyobserve_interactions_total", "interaction"),
                    {"GET /a": 3, "GET /b": 3, "GET /c": 3, "other": 21})
    case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)


def answers(case, *options):
    process = case.popen([sys.executable, "-c", ANSWERS], stdout=subprocess.PIPE)
    address = f"127.0.0.1:{int(process.stdout.readline())}"
    return case.observe("--interaction", "http", *options, pids=[process.pid]), address


def read_response(client, chunked):
    if not chunked:
        client.answer()
        return
    while not client.rest.endswith(b"\r\n0\r\n\r\n"):
        client.more()
    client.rest = b""


HOWS = ("one", "two", "vector", "bytes", "chunkone", "chunksplit", "missing", "file", "longhead")


def outcomes(case):
    """A response is good if its body begins as the rule says, however it is written; what cannot be seen is unknown."""
    rules = [word for how in HOWS for word in ("--good", f'GET /{how}=prefix:{{"patches":[{{')]
    observer, address = answers(case, *rules)
    wanted = {}
    for how in HOWS:
        client = Client(address)
        for body, n in (("good", 5), ("empty", 3), ("short", 2), ("none", 1)):
            if how.startswith("chunk") and body == "none":
                continue
            for _ in range(n):
                client.send(get(f"/{how}?{body}".encode()))
                read_response(client, how.startswith("chunk"))
            outcome = "good" if body == "good" else "empty"
            if how == "missing":
                outcome = "empty"
            elif how == "longhead" or (how == "file" and body != "none"):
                outcome = "unknown"
            key = (f"GET /{how}", "404" if how == "missing" else "200", outcome)
            wanted[key] = wanted.get(key, 0) + n
        client.socket.close()
    total = sum(wanted.values())
    lib.poll("all of them", lambda: observer.scrape().sum("skyobserve_interactions_total") == total)
    metrics = observer.scrape()
    case.same_table("responses", metrics.by("skyobserve_interactions_total", "interaction", "code", "outcome"), wanted)
    case.equal("gate", metrics.value("skyobserve_quality_ok", gate="outcome"), 0)
    case.equal("lost", metrics.sum("skyobserve_dropped_events_total"), 0)


def least_size(case):
    """Or if its body is large enough; nine of ten are enough for the gate, which is absent before the first."""
    observer, address = answers(case, "--good", "GET /two=min-bytes:15", "--good", "GET /file=min-bytes:15")
    case.equal("gate before", observer.scrape().select("skyobserve_quality_ok", gate="outcome"), [])
    client = Client(address)
    for i in range(18):
        client.ask(get(b"/two?good" if i % 2 else b"/file?good"))
    client.ask(get(b"/two?empty"))
    client.ask(get(b"/one?empty"))  # no rule, no outcome
    metrics = await_requests(observer, "GET /one", 1)
    case.same_table("responses", metrics.by("skyobserve_interactions_total", "interaction", "outcome"),
                    {("GET /two", "good"): 9, ("GET /two", "empty"): 1, ("GET /file", "good"): 9,
                     ("GET /one", None): 1})
    case.equal("gate", metrics.value("skyobserve_quality_ok", gate="outcome"), 1)
    client.ask(get(b"/two?empty"))
    lib.poll("the gate to fall", lambda: observer.scrape().value("skyobserve_quality_ok", gate="outcome") == 0)


def refused(case):
    """A wrong route or rule is one line that names it, and status 64."""
    for options, words in ((("--route", "/a"), "--route '/a': it is to be a method"),
                           (("--good", "GET /a=12"), "--good 'GET /a=12': it is to be KIND=prefix"),
                           (("--good", "GET /a=min-bytes:1", "--good", "GET /a=min-bytes:2"), "two rules for GET /a")):
        done = subprocess.run([str(lib.SKYOBSERVE), "--pid", "1", "--interaction", "http", *options],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=lib.DEADLINE_S, check=False)
        said = done.stderr.decode()
        case.equal(f"status of {options}", done.returncode, 64)
        case.true(f"what {options} said: {said!r}", words in said and said.count("\n") == 1)


CASES = [(case.__name__, case) for case in (routes, kinds_limit, outcomes, least_size, refused)]

if __name__ == "__main__":
    sys.exit(lib.main(CASES))
