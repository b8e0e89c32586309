"""Measures an honest client of one Garner while attackers.py attacks: see tools/hostile.

The origin, the attackers and each honest client are processes of their own on loopback, so that they do not share a
Python interpreter. The honest clients are 127.0.0.1, the attackers have other addresses of 127/8.
"""

import argparse
import contextlib
import dataclasses
import http.client
import itertools
import json
import multiprocessing
import os
import pathlib
import queue
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time

import attackers
import http2_attackers

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
HOT = 200  # objects of 1 KiB that the honest client requests
HITS_PATIENCE, SHARED_PATIENCE = 5, 15  # s: how long an honest client waits for a response
MEMORY_BOUND = 64 + 32 + 160  # MiB when all is over: memory.size, limits.heads_max, the program with its heap
SPARE_DESCRIPTORS = 4  # when all is over: idle connections to the origin
DRAIN = 60  # s


class Failed(Exception):
    """The run cannot go on."""


@dataclasses.dataclass(frozen=True)
class Mode:
    text: str
    attacks: tuple = ()
    shared: tuple = ()  # attacked URLs that an honest client requests, too
    connections: int = 10_000  # limits.connections_max
    share: bool = False  # a client gets a quarter of them: the default, from which loopback is exempt
    files: int = 0  # limit of descriptors; 0: that of this process


MODES = {
    "quiet": Mode("no attack"),
    "silent": Mode("500 silent connections of one client at a limit of 400", ("silent",), connections=400),
    "unread": Mode("60 clients read nothing of stored objects of 6 MB that are then evicted", ("unread",)),
    "lead": Mode("leaders of collapsed requests read none of their 103 responses", ("lead",), ("lead",)),
    "evil": Mode("requests with a field that makes the origin hang up", ("evil",), ("evil",)),
    "heads": Mode("2,000 unfinished heads of up to 63 KiB", ("heads",)),
    "film": Mode("slow readers of a shared uncacheable body", ("film",), ("film",)),
    "drip": Mode("500 uploads and downloads of a byte a minute at a limit of 400", ("drip",), connections=400, share=True),
    "floods": Mode("eleven floods of HTTP/2 frames", ("floods",), share=True),
    "hints": Mode("six HTTP/2 connections read none of the 103 responses of 600 streams", ("hints",), share=True),
    "large": Mode("1,700 HTTP/2 requests of one client with heads of 8 and 57 kB; others send heads of 8 kB",
                  ("large",), ("large",), share=True),
    "handshakes": Mode("200 TLS handshakes a second without a request, and broken ones", ("handshakes",), share=True),
    "streams": Mode("13 HTTP/2 connections of 100 streams, each to another origin that does not answer, at 1,200 descriptors",
                    ("streams",), files=1_200),
    "addresses": Mode("100 requests at a time for a name with 16 addresses that do not answer, at 1,200 descriptors",
                      ("addresses",), files=1_200),
    "mix": Mode("all at once at a limit of 1,200 connections",
                ("silent", "unread", "lead", "evil", "heads", "film", "drip", "floods", "handshakes"),
                ("lead", "evil", "film"), connections=1_200, share=True),
}


# ---- honest clients ----

@dataclasses.dataclass
class Asked:
    ms: float
    good: bool  # complete, with status 200
    hit: bool
    late: float = 0  # ms by which the client itself woke up too late: the noise of the machine


class Client:
    def __init__(self, proxy, origin, patience):
        self.proxy, self.origin, self.patience = proxy, origin, patience
        self.connection = None

    def close(self):
        if self.connection:
            self.file.close()
            self.connection.close()
        self.connection = None

    def get(self, path):
        begin = time.monotonic()
        self.until = begin + self.patience
        status, hit = 0, False
        with contextlib.suppress(OSError, ValueError, IndexError):
            if not self.connection:
                self.connection = socket.create_connection(self.proxy, self.patience, ("127.0.0.1", 0))
                self.file = self.connection.makefile("rb")
            self.connection.sendall(f"GET http://{self.origin}{path} HTTP/1.1\r\nHost: {self.origin}\r\n\r\n".encode())
            status, hit = self.response()
        if status != 200:
            self.close()
        return Asked((time.monotonic() - begin) * 1000, status == 200, hit)

    def received(self, data):
        if not data or time.monotonic() > self.until:
            raise OSError
        return data

    def exactly(self, size):
        while size > 0:
            size -= len(self.received(self.file.read1(size)))

    def response(self):
        status = 100
        while status < 200:
            status, fields = int(self.received(self.file.readline()).split()[1]), {}
            while (line := self.received(self.file.readline())) != b"\r\n":
                name, _, value = line.partition(b":")
                fields[name.lower()] = value.strip()
        if b"content-length" in fields:
            self.exactly(int(fields[b"content-length"]))
        else:
            while size := int(self.received(self.file.readline()), 16):
                self.exactly(size + 2)
            self.exactly(2)
        return status, b"; hit" in fields.get(b"cache-status", b"")


class Http2Client:
    """Sends a head of 8 kB over a new HTTP/2 connection each time."""

    def __init__(self, secure, origin, patience):
        self.secure, self.origin, self.patience = secure, origin, patience

    def get(self, path):
        begin, good = time.monotonic(), False
        with contextlib.suppress(OSError):
            tcp = socket.create_connection(self.secure, self.patience, ("127.0.0.1", 0))
            with http2_attackers.context().wrap_socket(tcp) as connection:
                connection.sendall(http2_attackers.head_of_8_kb(path.encode(), self.origin.encode()))
                good = http2_attackers.is_accepted(connection.makefile("rb"))
        return Asked((time.monotonic() - begin) * 1000, good, False)


def ask_hits(client, until, results):
    """Every fifth request uses a new connection."""
    fresh, asked = Client(client.proxy, client.origin, client.patience), []
    for number in itertools.count():
        if (begin := time.monotonic()) > until:
            break
        time.sleep(0.005)
        late = (time.monotonic() - begin) * 1000 - 5
        asked.append((client if number % 5 else fresh).get(f"/hot/{random.randrange(HOT)}"))
        asked[-1].late = late
        fresh.close()
    results.put(asked)


def ask_shared(client, until, results, name, slot):
    """Announces each object in its slot, so that attackers request it too: before this client (lead) or after it (film)."""
    asked = []
    while time.monotonic() < until:
        slot.value += 1
        time.sleep({"lead": 0.15, "evil": 0.02, "film": 0, "large": 0.1}[name])
        asked.append(client.get(f"/{name}/{slot.value % 20 if name == 'evil' else slot.value}"))
    results.put(asked)


# ---- the proxy ----

def listen():
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    return listening, listening.getsockname()[1]


def free_port():
    listening, port = listen()
    listening.close()
    return port


def make_certificate(folder):
    chain, key = folder / "chain.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-keyout", key, "-out", chain], check=True, capture_output=True)
    return {"chain": str(chain), "key": str(key)}


class Proxy:
    def __init__(self, program, mode, folder):
        self.program, self.file, self.errors = program, folder / "garner.json", folder / "errors.txt"
        port, secure, self.admin = free_port(), free_port(), free_port()
        self.address, self.secure = ("127.0.0.1", port), ("127.0.0.1", secure)
        self.config = {
            "listen": [{"address": f"127.0.0.1:{port}"}],
            "workers": 2,
            "memory": {"size": "64 MiB", "object_max": "8 MiB", "what_if": False},
            "access": [{"allow": {"destination": ["127.0.0.0/8"], "port": ["1-65535"]}}],
            "limits": {"connections": mode.connections},  # the name that older programs know, too
            "pool": {"idle_timeout": "1s"},
            "dns": {"hosts_file": str(folder / "hosts")},
            "log": {"access": str(folder / "access.log"), "format": "json", "level": "warn"},
            "admin": {"address": f"127.0.0.1:{self.admin}"},
        }
        lines = [f"{address} {attackers.SILENT_NAME}" for address in attackers.SILENT_ADDRESSES]
        (folder / "hosts").write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
        if os.getuid() == 0:
            self.add_if_known("user", "root")
        tls = {"certificates": [make_certificate(folder)]}
        self.add_if_known("listen", self.config["listen"] + [{"address": f"127.0.0.1:{secure}", "tls": tls}])
        # The share is the default of programs that know client_prefix4.
        if mode.share and self.add_if_known("limits", self.config["limits"] | {"client_prefix4": 32}):
            self.config["limits"]["connections_per_client"] = mode.connections // 4
        self.file.write_text(json.dumps(self.config))
        with self.errors.open("wb") as errors:
            limit = ["prlimit", f"--nofile={mode.files}:{mode.files}", "--"] if mode.files else []
            self.process = subprocess.Popen([*limit, program, "--config", self.file], stdout=errors, stderr=errors)

    def add_if_known(self, key, value):
        """An older program refuses newer keys."""
        tried = self.config | {key: value}
        self.file.write_text(json.dumps(tried))
        known = subprocess.run([self.program, "check", self.file], capture_output=True, timeout=30).returncode == 0
        self.config = tried if known else self.config
        return known

    def wait_until_it_listens(self):
        for _ in range(200):
            with contextlib.suppress(OSError):
                return self.stats()
            self.expect_running()
            time.sleep(0.05)
        raise Failed(f"{self.program} does not listen")

    def expect_running(self):
        if self.process.poll() is not None:
            raise Failed(f"{self.program} ended with {self.process.returncode}:\n{self.errors.read_text()[-3000:]}")

    def stats(self):
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.admin, timeout=5)) as connection:
            connection.request("GET", "/stats.json")
            return json.load(connection.getresponse())

    def state(self):
        """Memory in MiB, descriptors, threads."""
        self.expect_running()
        folder = pathlib.Path(f"/proc/{self.process.pid}")
        lines = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        return {"peak": int(lines["VmHWM"].split()[0]) // 1024, "memory": int(lines["VmRSS"].split()[0]) // 1024,
                "descriptors": len(os.listdir(folder / "fd")), "threads": int(lines["Threads"])}

    def stop(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def leaks(proxy, before, now):
    """Lists as text the resources that the proxy has not given back."""
    cache = proxy.stats()["cache"]
    left = [f"{name} {before[name]}, now {now[name]}" for name, spare in (("descriptors", SPARE_DESCRIPTORS), ("threads", 0))
            if now[name] > before[name] + spare]
    left += [f"{name} {cache[name]}" for name in ("pinned_bytes", "filling_bytes") if cache[name]]
    return left + ([f"memory {now['memory']} MiB, bound {MEMORY_BOUND}"] if now["memory"] > MEMORY_BOUND else [])


def drain(proxy, before):
    for _ in range(DRAIN):
        now, left = proxy.state(), ["no answer at the admin address"]
        with contextlib.suppress(OSError):
            left = leaks(proxy, before, now)
        if not left:
            break
        time.sleep(1)
    return now, left


# ---- one run ----

@contextlib.contextmanager
def processes():
    """Starts processes, and ends those that still run."""
    started = []

    def start(call, *arguments):
        started.append(multiprocessing.Process(target=call, args=arguments, daemon=True))
        started[-1].start()
    try:
        yield start
    finally:
        for process in started:
            process.terminate()
        for process in started:
            process.join(5)


def load(proxy, origin, mode, seconds):
    """The answers to hits and to requests for attacked URLs, and the state of the proxy at the end."""
    slots = {name: multiprocessing.Value("i", 0) for name in mode.shared}
    hits, shared = multiprocessing.Queue(), multiprocessing.Queue()
    with processes() as start:
        if mode.attacks:
            start(attackers.Attackers(proxy.address, proxy.secure, origin, slots).run, mode.attacks)
            time.sleep(3)  # until all attackers are there
        until = time.monotonic() + seconds
        start(ask_hits, Client(proxy.address, origin, HITS_PATIENCE), until, hits)
        for name in mode.shared:
            client = Http2Client(proxy.secure, origin, SHARED_PATIENCE) if name == "large" else \
                Client(proxy.address, origin, SHARED_PATIENCE)
            start(ask_shared, client, until, shared, name, slots[name])
        try:
            patience = seconds + 2 * SHARED_PATIENCE
            answers = hits.get(timeout=patience), [one for _ in mode.shared for one in shared.get(timeout=patience)]
            return *answers, proxy.state()
        except queue.Empty:
            raise Failed("an honest client does not end") from None


def warm(proxy, origin):
    client = Client(proxy.address, origin, 30)
    answers = [client.get(f"/hot/{number}") for _ in range(3) for number in range(HOT)]
    client.close()
    if not all(one.good and one.hit for one in answers[HOT:]):
        raise Failed("the hot objects are no hits before the attack")


def run(program, mode, seconds, folder):
    """The cells of a row, and what has failed."""
    folder.mkdir(parents=True, exist_ok=True)
    listening, port = listen()
    origin = f"127.0.0.1:{port}"
    with listening, processes() as start:
        start(attackers.run_origin, listening)
        proxy = Proxy(program, mode, folder)
        try:
            proxy.wait_until_it_listens()
            before = proxy.state()
            warm(proxy, origin)
            hits, shared, during = load(proxy, origin, mode, seconds)
            after, left = drain(proxy, before)
        finally:
            proxy.stop()
    return row(hits, shared, (before, during, after)), left + losses(hits, shared)


def failed(asked):
    return sum(not one.good for one in asked)


def misses(asked):
    return sum(one.good and not one.hit for one in asked)


def losses(hits, shared):
    counts = {"hits that failed": failed(hits), "hits that missed": misses(hits), "attacked URLs that failed": failed(shared)}
    return [f"{count} {text}" for text, count in counts.items() if count]


def row(hits, shared, states):
    times, late = sorted(one.ms for one in hits), sorted(one.late for one in hits)
    at = lambda values, share: f"{values[int((len(values) - 1) * share)]:.1f}"
    worst = f"{max(one.ms for one in shared):.0f}" if shared else "-"
    return [len(hits), at(times, 0.5), at(times, 0.99), at(times, 1), at(late, 0.99), failed(hits), misses(hits),
            len(shared), worst, failed(shared), states[-1]["peak"],
            *(", ".join(str(state[name]) for state in states) for name in ("memory", "descriptors", "threads"))]


# ---- the program ----

COLUMNS = ("mode", "hits", "p50 ms", "p99 ms", "worst ms", "noise p99 ms", "failed", "misses", "attacked URLs", "worst ms",
           "failed", "peak MiB", "MiB before, during, after", "descriptors before, during, after", "threads before, during, after")


def print_line(cells):
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def parsed():
    parser = argparse.ArgumentParser(prog="tools/hostile", formatter_class=argparse.RawDescriptionHelpFormatter,
                                     description="\n".join(f"{name:8}{mode.text}" for name, mode in MODES.items()))
    parser.add_argument("--garner", action="append", help="program to measure; cells join the programs by an arrow")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--seconds", type=int, default=10, help="duration of each mode")
    parser.add_argument("--soak", type=int, metavar="SECONDS", help="the mix alone; exits with 1 on leaks and lost requests")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for configurations and logs")
    options = parser.parse_args()
    options.names = ["mix"] if options.soak else options.modes.split(",")
    if wrong := [name for name in options.names if name not in MODES]:
        parser.error("no such mode: " + ", ".join(wrong))
    return options


def main():
    options, problems = parsed(), []
    print_line(COLUMNS)
    print_line(["---"] + ["--:"] * (len(COLUMNS) - 1))
    with tempfile.TemporaryDirectory() as temporary:
        for name in options.names:
            rows = []
            for number, program in enumerate(options.garner or [ROOT / "build/release/garner"]):
                folder = (options.keep or pathlib.Path(temporary)) / f"{name}-{number}"
                cells, wrong = run(program, MODES[name], options.soak or options.seconds, folder)
                rows.append(cells)
                problems += [f"{program}: {name}: {text}" for text in wrong]
            print_line([name, *(" → ".join(map(str, cells)) for cells in zip(*rows))])
    print(*problems, sep="\n", file=sys.stderr)
    sys.exit(1 if problems and options.soak else 0)


if __name__ == "__main__":
    try:
        main()
    except Failed as reason:
        sys.exit(str(reason))
