"""The origin and the proxies: how each is configured, started, measured and stopped."""

import argparse
import dataclasses
import datetime
import http.client
import os
import pathlib
import platform
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).parent
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Fault(Exception):
    """The run cannot go on, or a figure would be wrong."""


@dataclasses.dataclass(frozen=True)
class Kind:
    """A peer as Debian has it. `files` maps templates below peers/ to the places of their copies. Templates with one place
    are joined."""

    command: list
    files: dict
    prepare: list = dataclasses.field(default_factory=list)  # run once in a fresh folder
    reverse: bool = False  # takes origin-form requests
    bodies_in_memory: bool = True
    only_small: bool = False  # answers every request with the body of 1 KiB
    version: list = dataclasses.field(default_factory=list)


KINDS = {
    "garner": Kind(["@GARNER@", "--config", "@DIR@/garner.json"], {"garner.json": "garner.json"}),
    "squid": Kind(["squid", "-N", "-n", "bench@PORT@", "-f", "@DIR@/squid.conf"], {"squid.conf": "squid.conf"}, version=["squid", "-v"]),
    "ats": Kind(
        ["traffic_server", "--run-root=@DIR@/runroot.yaml"],
        {"runroot.yaml": "runroot.yaml", "records.config": "etc/records.config", "storage.config": "etc/storage.config"},
        version=["traffic_server", "--version"],
    ),
    "varnish": Kind(
        ["varnishd", "-F", "-j", "none", "-n", "@DIR@/work", "-a", "127.0.0.1:@PORT@", "-f", "@DIR@/default.vcl",
         "-s", "malloc,6G", "-p", "thread_pools=@WORKERS@", "-p", "timeout_idle=600"],
        {"default.vcl": "default.vcl"}, reverse=True, version=["varnishd", "-V"],
    ),
    "nginx": Kind(["nginx", "-c", "@DIR@/nginx.conf"], {"nginx.conf": "nginx.conf"}, reverse=True,
                  bodies_in_memory=False, version=["nginx", "-v"]),
    "haproxy": Kind(["haproxy", "-db", "-f", "@DIR@/haproxy.cfg"], {"haproxy.cfg": "haproxy.cfg"}, reverse=True,
                    version=["haproxy", "-v"]),
    "epoll": Kind(["@PROGRAMS@/small_server", "@PORT@", "0", "@ORIGIN_DIR@/1k"], {}, reverse=True, only_small=True),
}
ORIGIN = Kind(["nginx", "-c", "@DIR@/origin.conf"], {"origin.conf": "origin.conf"})


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def process_tree(root):
    """The process and all its living descendants."""
    children = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            stat = pathlib.Path(f"/proc/{entry}/stat").read_text()
        except OSError:
            continue
        parent = int(stat.rpartition(")")[2].split()[1])
        children.setdefault(parent, []).append(int(entry))
    tree, reached = [], [root]
    while reached:
        process = reached.pop()
        tree.append(process)
        reached += children.get(process, [])
    return tree


class Server:
    """One running server, pinned to one core, with a folder of its own."""

    def __init__(self, name, kind, run, core, values):
        self.name, self.kind, self.core = name, kind, core
        self.dir = run.dir / name
        self.shm = run.shm / name
        self.port, self.tls_port, self.admin_port = free_port(), free_port(), free_port()
        self.values = {"DIR": self.dir, "SHM": self.shm, "PORT": self.port, "TLS_PORT": self.tls_port,
                       "ADMIN_PORT": self.admin_port, "PROGRAMS": run.dir, "WORKERS": 1, **values}
        self.process = None

    def filled(self, text):
        for key, value in self.values.items():
            text = text.replace(f"@{key}@", str(value))
        return text

    def start(self):
        self.make_folders()
        self.launch()

    def make_folders(self):
        shutil.rmtree(self.dir, ignore_errors=True)
        shutil.rmtree(self.shm, ignore_errors=True)
        for folder in (self.dir, self.shm):
            folder.mkdir(parents=True)
            folder.chmod(0o777)  # started as root, some servers go on as users of their own
        if "runroot.yaml" in self.kind.files:
            shutil.copytree("/etc/trafficserver", self.dir / "etc")
            for folder in ("cache", "run", "log"):
                (self.dir / folder).mkdir()
        texts = {}
        for template, place in self.kind.files.items():
            texts[place] = texts.get(place, "") + self.filled((HERE / "peers" / template).read_text())
        for place, text in texts.items():
            (self.dir / place).write_text(text)
        if self.kind.prepare:
            subprocess.run([self.filled(word) for word in self.kind.prepare], check=True, capture_output=True, timeout=60)

    def launch(self):
        command = ["taskset", "-c", str(self.core)] + [self.filled(word) for word in self.kind.command]
        with open(self.dir / "output", "wb") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                            start_new_session=True)
        self.wait_for_port()

    def wait_for_port(self):
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.005)
        said = (self.dir / "output").read_text(errors="replace")[-2000:]
        raise Fault(f"{self.name} does not listen on its port; it said:\n{said}")

    def stop(self):
        self.end(signal.SIGTERM, signal.SIGKILL)
        shutil.rmtree(self.shm, ignore_errors=True)

    def end(self, *signals):
        """Ends the process and keeps its folders, so that launch() can continue with them."""
        if not self.process:
            return
        for stop_signal in signals:
            try:
                os.killpg(self.process.pid, stop_signal)
                self.process.wait(10)
                break
            except ProcessLookupError:
                break
            except subprocess.TimeoutExpired:
                continue
        self.process = None

    def cpu_seconds(self):
        """User and system time of all its processes so far."""
        ticks = 0
        for process in process_tree(self.process.pid):
            fields = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / TICKS_A_SECOND

    def memory(self):
        """Proportional set size of all its processes, in bytes."""
        total = 0
        for process in process_tree(self.process.pid):
            rollup = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text()
            total += sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
        return total

    def written_bytes(self):
        """The bytes that its processes wrote to the device, including dirty pages."""
        total = 0
        for process in process_tree(self.process.pid):
            counters = pathlib.Path(f"/proc/{process}/io").read_text()
            total += int(re.search(r"^write_bytes: (\d+)", counters, re.M)[1])
        return total

    def version(self):
        if self.name == "garner" or not self.kind.version:
            return ""
        said = subprocess.run(self.kind.version, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        return said.stdout.strip().splitlines()[0]


class Origin(Server):
    BODIES = {"1k": 1024, "64k": 64 * 1024, "100k": 100 * 1024, "1m": 1024 * 1024}

    def __init__(self, run, core, kind=ORIGIN, values=None):
        super().__init__("origin", kind, run, core, values or {})

    def start(self):
        super().start()
        for name, size in self.BODIES.items():
            (self.dir / name).write_bytes(os.urandom(size))

    def body(self, path):
        return (self.dir / body_name(path)).read_bytes()

    def requests(self):
        """The number of requests so far, without those for this counter."""
        self.polls = getattr(self, "polls", 0) + 1
        connection = http.client.HTTPConnection("127.0.0.1", self.admin_port, timeout=10)
        connection.request("GET", "/status")
        counters = connection.getresponse().read().decode().splitlines()[2].split()
        connection.close()
        return int(counters[2]) - self.polls


def body_name(path):
    return path.removeprefix("/nc").removeprefix("/marked").split("/")[1]


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    return {"processor": model[1] if model else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "date": datetime.date.today().isoformat()}


def chosen_from(known):
    def choose(text):
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"no '{name}' (there are {', '.join(known)})")
        return names
    return choose
