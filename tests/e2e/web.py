# SPDX-License-Identifier: MIT
"""Servers that are observed, and a client that knows what it asked for."""

import json
import os
import signal
import socket
import subprocess
import sys

import lib

SERVER = """
import http.server, os, socket, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = sys.argv[1]
    def do_GET(self):
        for _ in range(int(sys.argv[2])):
            os.getppid()
        self.send_response(404 if self.path == "/none" else 200)
        self.send_header("Content-Length", "3")
        self.end_headers()
        self.wfile.write(b"ok\\n")
    do_POST = do_GET
    def log_message(self, *arguments):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
"""


class Sample:
    """The bundled Go server, observed."""

    def __init__(self, case, *options, max_procs=2, observe=True):
        port_file = case.path(f"port-{len(case.others)}")
        if not (lib.WORKLOADS / "sampleapp").exists():
            raise lib.Skip("the sample is not built: there is no Go")
        self.case = case
        self.process = case.popen([str(lib.WORKLOADS / "sampleapp"), "-port-file", port_file, "-data",
                                   case.path("data"), *options],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                  env={**os.environ, "GOMAXPROCS": str(max_procs)})
        self.address = lib.poll("the port of the sample",
                                lambda: lib.read_proc(port_file)).strip()
        if observe:
            self.observe()

    def observe(self, *options):
        self.observer = self.case.observe("--interaction", "http", *options, pids=[self.process.pid])

    def load(self, *options):
        done = subprocess.run([str(lib.WORKLOADS / "sampleload"), "-url", f"http://{self.address}", *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
        if done.returncode:
            raise lib.Failed(f"the load ended with {done.returncode}: {lib.one_line(done.stderr.decode())}")
        return json.loads(done.stdout)

    def truth(self):
        """What it did; it ends."""
        self.process.send_signal(signal.SIGTERM)
        return json.loads(self.process.communicate(timeout=lib.DEADLINE_S)[0].splitlines()[-1])


def requests_of(metrics, **labels):
    return metrics.by("skyobserve_interactions_total", "interaction", "code", **labels)


def await_requests(observer, kind, n):
    """The write that completes a response has returned, as the client saw it, but perhaps not all the way."""
    def enough():
        metrics = observer.scrape()
        return metrics if metrics.sum("skyobserve_interactions_total", interaction=kind) >= n else None
    return lib.poll(f"{n} requests of {kind}", enough)


class Client:
    """One connection, used as it should not be."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=lib.DEADLINE_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b""

    def send(self, data):
        self.socket.sendall(data)

    def answer(self):
        """Status and body of one response with a Content-Length."""
        while b"\r\n\r\n" not in self.rest:
            self.more()
        head, _, self.rest = self.rest.partition(b"\r\n\r\n")
        length = int(next(line.split(b":")[1] for line in head.split(b"\r\n")
                          if line.lower().startswith(b"content-length:")))
        while len(self.rest) < length:
            self.more()
        self.rest = self.rest[length:]
        return int(head.split()[1])

    def more(self):
        data = self.socket.recv(65536)
        if not data:
            raise lib.Failed("the server closed the connection")
        self.rest += data

    def ask(self, request):
        self.send(request)
        return self.answer()


def get(path, headers=b""):
    return b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n"


class Server:
    """A server in which a thread serves a connection: Python's."""

    def __init__(self, case, protocol, calls):
        self.process = case.popen([sys.executable, "-c", SERVER, protocol, str(calls)], stdout=subprocess.PIPE)
        self.address = f"127.0.0.1:{int(self.process.stdout.readline())}"
        self.observer = case.observe("--interaction", "http", pids=[self.process.pid])
