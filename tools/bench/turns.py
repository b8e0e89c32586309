"""Servers that take turns on the same work, and the table of their figures. The scripts run and tls build on it."""

import argparse
import dataclasses
import http.client
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from servers import HERE, ORIGIN, Fault, Origin, Server, body_name, chosen_from, machine

ROOT = HERE.parent.parent
GIGABYTE = 1e9
TROUBLE = (Fault, OSError, subprocess.SubprocessError, http.client.HTTPException)


@dataclasses.dataclass(frozen=True)
class Unit:
    name: str
    digits: int = 1
    more_is_better: bool = False


CPU, BULK = Unit("µs CPU a request"), Unit("GB a CPU second", 2, more_is_better=True)


class Turns:
    """The origin and the peers. A subclass has start, rounds, warm and measure, and units if a workload has several figures."""

    def __init__(self, options, kinds, origin=ORIGIN):
        self.options = options
        cores = sorted(os.sched_getaffinity(0))
        self.proxy_core, self.load_core = cores[0], cores[-1]
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="garner-bench-"))
        self.shm = pathlib.Path(tempfile.mkdtemp(prefix="garner-bench-", dir="/dev/shm"))
        self.dir.chmod(0o755)
        certificates = {"CERTIFICATES": self.dir / "certificates"}
        self.origin = Origin(self, self.load_core, origin, certificates)
        values = {"ORIGIN_PORT": self.origin.port, "ORIGIN_TLS_PORT": self.origin.tls_port, "ORIGIN_DIR": self.origin.dir,
                  "GARNER": options.garner, **certificates}
        if options.before:
            garner = kinds["garner"]
            kinds = {**kinds, "before": dataclasses.replace(garner, command=[str(options.before), *garner.command[1:]])}
        self.peers = [Server(name, kinds[name], self, self.proxy_core, values) for name in options.peers]

    def compile(self, name, *libraries):
        flags = ["-std=c++20", "-O2", HERE / f"{name}.cpp", "-o", self.dir / name]
        subprocess.run(["g++", *flags, *(f"-l{library}" for library in libraries)], check=True)

    def start_servers(self):
        self.origin.start()
        for peer in self.peers:
            peer.start()

    def stop(self):
        for server in [*self.peers, self.origin]:
            server.stop()
        for folder in (self.dir, self.shm):
            shutil.rmtree(folder, ignore_errors=True)

    def origin_name(self):
        return f"127.0.0.1:{self.origin.port}"

    def prefix(self, peer):
        """The part of a request target before the path. A forward proxy gets the absolute form."""
        return "" if peer.kind.reverse else f"http://{self.origin_name()}"

    def check_answer(self, peer, path, context=None):
        """Faults unless the peer answers the origin's very bytes; waits while it is still starting. A context means TLS."""
        deadline = time.monotonic() + 30
        while True:
            try:
                status, body = self.answer(peer, path, context)
            except (OSError, http.client.HTTPException) as error:
                status, body = 500, str(error).encode()
            if status == 200 and body == self.origin.body(path):
                return
            if status < 500 or time.monotonic() > deadline:
                raise Fault(f"{peer.name} answers {path} with status {status} and {len(body)} bytes: {body[:100]}")
            time.sleep(0.2)

    def answer(self, peer, path, context):
        if context:
            connection = http.client.HTTPSConnection("127.0.0.1", peer.tls_port, timeout=10, context=context)
        else:
            connection = http.client.HTTPConnection("127.0.0.1", peer.port, timeout=10)
        try:
            connection.request("GET", self.prefix(peer) + path, headers={"Host": self.origin_name()})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def wrk(self, url, environment, path, seconds):
        """Runs wrk with requests.lua and returns the number of responses. All must have status 200 and the right length."""
        command = ["taskset", "-c", str(self.load_core), "wrk", "-t1", f"-c{self.options.connections}",
                   f"-d{seconds}s", "--timeout", "10s", "-s", HERE / "requests.lua", url]
        said = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True,
                              timeout=seconds + 60).stdout
        faults = re.findall(r"(Socket errors: .*|Non-2xx.*)", said)
        done = re.search(r"(\d+) requests in .*, ([\d.]+)([KMG]?)B read", said)
        if faults or not done:
            raise Fault("; ".join(faults) or f"wrk said: {said}")
        requests = int(done[1])
        read = float(done[2]) * 1024 ** " KMG".index(done[3] or " ")
        if requests == 0 or read < 0.99 * requests * Origin.BODIES[body_name(path)]:
            raise Fault(f"{requests} answers in {read:.0f} bytes are too short")
        return requests

    def expect_origin(self, before, served, hit):
        """Faults unless the origin saw no request of hits and every request of misses."""
        asked = self.origin.requests() - before
        if hit and asked:
            raise Fault(f"the origin saw {asked} requests of {served} hits")
        if not hit and asked < served:
            raise Fault(f"the origin saw only {asked} requests of {served} misses")

    def units(self, name, workload):
        """The rows of a workload and their units, in the order of the figures that measure returns."""
        return {name: workload.unit}

    def interleaved(self, name, workload, rounds):
        """The rows of a workload, each with the figures of all peers, measured in turn; a peer's fault is said in place of its figures."""
        units = self.units(name, workload)
        rows = {row: {peer.name: [] for peer in self.peers} for row in units}
        faults = {peer.name: workload.needs(peer) for peer in self.peers}
        for turn in range(rounds):
            for peer in self.peers:
                if faults[peer.name]:
                    continue
                try:
                    if turn == 0:
                        self.warm(peer, workload)
                    measured = self.measure(peer, workload)
                    figures = measured if len(units) > 1 else [measured]
                    for row, figure in zip(rows, figures, strict=True):
                        rows[row][peer.name].append(figure)
                    said = ", ".join(f"{figure:.2f} {unit.name}" for figure, unit in zip(figures, units.values()))
                except TROUBLE as fault:
                    said = faults[peer.name] = f"failed: {fault}"
                print(f"{name} {turn + 1}/{rounds} {peer.name}: {said}", file=sys.stderr, flush=True)
        return {row: {"unit": units[row], **{peer: result(figures, faults[peer]) for peer, figures in measured.items()}}
                for row, measured in rows.items()}


def result(figures, fault):
    return {"figures": figures, "fault": fault, "median": None if fault else statistics.median(figures)}


def figure_of(unit, requests, body, cpu):
    """`requests` answers with bodies of `body` bytes took `cpu` seconds."""
    if cpu <= 0:
        raise Fault("no CPU time was counted: too short a run")
    return requests * body / cpu / GIGABYTE if unit == BULK else cpu / requests * 1e6


def cell(unit, result, garner):
    """A figure, followed by the factor by which Garner's is better."""
    if result["median"] is None:
        return result["fault"].split("\n")[0]
    figure = f"{result['median']:,.{unit.digits}f}"
    if not garner or garner is result or not garner["median"]:
        return figure
    better = garner["median"] / result["median"] if unit.more_is_better else result["median"] / garner["median"]
    return f"{figure} ({better:.2f})"


def table(results, peers):
    rows = [["workload", "unit", *peers], ["---", "---", *["--:"] * len(peers)]]
    for name, row in results.items():
        rows.append([name, row["unit"].name, *[cell(row["unit"], row[peer], row.get("garner")) for peer in peers]])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def options_parser(description, kinds, workloads):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--peers", type=chosen_from(kinds), default=list(kinds), metavar=",".join(kinds))
    parser.add_argument("--workloads", type=chosen_from(workloads), default=list(workloads), metavar=",".join(workloads))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=4, help="duration of the load in each round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--garner", type=pathlib.Path, default=ROOT / "build/release/garner", metavar="PATH")
    parser.add_argument("--before", type=pathlib.Path, metavar="PATH", help="another build of Garner, as the peer before")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="writes every single figure too")
    return parser


def parsed(parser):
    chosen = parser.parse_args()
    if "garner" in chosen.peers and not chosen.garner.exists():
        parser.error(f"there is no {chosen.garner}: tools/build makes it")
    chosen.garner = chosen.garner.resolve()
    if chosen.before:
        chosen.before = chosen.before.resolve(strict=True)
        chosen.peers = [*chosen.peers, "before"]
    return chosen


def report(chosen, results, versions):
    about = machine()
    brackets = " In brackets: how many times better Garner is." if "garner" in chosen.peers else ""
    print(f"{about['processor']}, {about['cores']} cores, Linux {about['kernel']}, {about['date']}; "
          f"{chosen.connections} connections, medians of {chosen.rounds} × {chosen.seconds} s.{brackets}\n")
    print(table(results, chosen.peers))
    if chosen.json:
        settings = {key: value for key, value in vars(chosen).items() if isinstance(value, int)}
        chosen.json.write_text(json.dumps({"machine": about, "versions": versions, "settings": settings,
                                           "results": results}, indent=2, default=vars) + "\n")


def compare(chosen, make_run, workloads):
    """Runs the chosen workloads and prints the table; the exit code is 1 if a peer failed."""
    subprocess.run([ROOT / "tools/packages", "bench"], check=True)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    for ending in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(ending, lambda *_: sys.exit(1))

    run = make_run(chosen)
    try:
        run.start()
        results = {}
        for name in chosen.workloads:
            results |= run.interleaved(name, workloads[name], run.rounds(workloads[name]))
        versions = {peer.name: peer.version() for peer in run.peers}
    except Fault as fault:
        sys.exit(f"bench: {fault}")
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        run.stop()
    report(chosen, results, versions)
    failed = any(row[peer]["fault"].startswith("failed") for row in results.values() for peer in chosen.peers)
    sys.exit(1 if failed else 0)
