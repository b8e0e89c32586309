"""The promise of docs/guides/groups.md: the origin's versions of its objects, and the oldest one that each answer may have."""
import collections
import contextlib
import dataclasses
import random
import re
import socket
import threading
import time

from loaded_mesh import mesh

LEASE = 2.0  # s
OBJECTS, TAGS, PREFIXES, RECENT = 40, 4, 5, 6
SIZES = (300, 6_000, 90_000)


@dataclasses.dataclass(frozen=True)
class Object:
    number: int

    @property
    def path(self):
        return f"/p{self.number % PREFIXES}/o{self.number}"

    @property
    def tag(self):
        return f"t{self.number % TAGS}"

    @property
    def is_strict(self):
        """It is never used stale, so that a soft purge of it counts as a hard one."""
        return self.number % 2 == 0

    @property
    def varies(self):
        return self.number % 7 == 0

    @property
    def cache_control(self):
        life = 5 if self.number % 5 == 0 else 600
        return f"max-age={life}, " + ("must-revalidate" if self.is_strict else "stale-while-revalidate=60, stale-if-error=600")

    def body(self, version, language):
        first, last = f"object {self.number} version {version} {language}\n", f"end {version}\n"
        return (first + "." * (SIZES[self.number % len(SIZES)] - len(first) - len(last)) + last).encode()


class Judge:
    """The versions of the origin, the accepted invalidations, and the answers. Thread-safe."""

    def __init__(self):
        self.lock = threading.Lock()
        self.objects = [Object(number) for number in range(OBJECTS)]
        self.versions = [1] * OBJECTS
        self.demands = [collections.deque(maxlen=64) for _ in range(OBJECTS)]  # (accepted at, version)
        self.history = [collections.deque(maxlen=500) for _ in range(OBJECTS)]  # (when, words)
        self.recent = collections.deque(range(RECENT), maxlen=RECENT)
        self.counts = collections.Counter()
        self.oldest = 0.0  # s after an acceptance at which a request began that got an older version
        self.wrong = ""

    def version(self, number):
        with self.lock:
            return self.versions[number]

    def renew(self, numbers, why):
        """The origin serves new versions from now on. Returns them."""
        with self.lock:
            renewed = {}
            for number in numbers:
                self.versions[number] += 1
                renewed[number] = self.versions[number]
                self.history[number].append((time.monotonic(), "origin", f"has version {renewed[number]}: {why}"))
            self.recent.append(numbers[0])
            return renewed

    def note(self, numbers, who, what):
        with self.lock:
            for number in numbers:
                self.history[number].append((time.monotonic(), who, what))

    def accepted(self, renewed, who, why):
        now = time.monotonic()
        with self.lock:
            self.counts["accepted"] += 1
            for number, version in renewed.items():
                self.demands[number].append((now, version))
                self.history[number].append((now, who, f"hears that it is accepted: {why}, version {version}"))

    def check(self, number, version, begun, who, how):
        """A request that began at `begun` got this version."""
        with self.lock:
            self.counts["answers"] += 1
            self.history[number].append((time.monotonic(), who, f"answers with version {version} to a request", begun, how))
            if version > self.versions[number]:
                return self.fail(number, f"{who} answers with version {version}, which the origin never had")
            late = max((begun - accepted for accepted, due in self.demands[number] if due > version), default=0)
            self.oldest = max(self.oldest, late)
            if late > LEASE:
                self.counts["violations"] += 1
                self.fail(number, f"{who} answers with version {version} to a request that began {late:.3f} s after the "
                                  f"acceptance of a later one")

    def broken(self, number, what):
        with self.lock:
            self.fail(number, what)

    def fail(self, number, what):
        if self.wrong:
            return
        now = time.monotonic()
        lines = [f"object {number} ({self.objects[number].path}): {what}", "its history, in seconds before:"]
        for when, who, words, *answer in self.history[number]:
            detail = f" that began {now - answer[0]:.3f} before: {answer[1]}" if answer else ""
            lines.append(f"  {now - when:8.3f} {who} {words}{detail}")
        self.wrong = "\n".join(lines)


# ---- the origin ----


class Origin:
    def __init__(self, host, judge):
        self.judge, self.is_broken = judge, False
        self.by_path = {one.path: one for one in judge.objects}
        self.listening = host.run(lambda: socket.create_server((host.address, mesh.ORIGIN), backlog=1024))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listening.accept()
            threading.Thread(target=self.answer_all, args=(connection,), daemon=True).start()

    def answer_all(self, connection):
        draw = random.Random()
        with contextlib.suppress(OSError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            received = b""
            while piece := connection.recv(65536):
                received += piece
                while b"\r\n\r\n" in received:
                    head, received = received.split(b"\r\n\r\n", 1)
                    method, target, fields = parse_request(head)
                    length = int(fields.get("content-length", 0))
                    while len(received) < length:
                        received += connection.recv(65536)
                    received = received[length:]
                    answer = self.answer(method, target, fields)
                    if draw.random() < 0.05:  # invalidations come across
                        time.sleep(draw.uniform(0, 0.5))
                    connection.sendall(answer)

    def answer(self, method, target, fields):
        one = self.by_path.get(target)
        if self.is_broken:
            return reply("503 Service Unavailable", {"Cache-Control": "no-store"}, b"broken")
        if not one:
            return reply("404 Not Found", {"Cache-Control": "no-store"}, b"absent")
        if method == "POST":
            version = self.judge.renew([one.number], "a POST arrives")[one.number]
            return reply("200 OK", {"Cache-Control": "no-store"}, f"version {version}".encode())
        language = fields.get("accept-language", "en") if one.varies else "en"
        version = self.judge.version(one.number)
        tag = f'"{version}{language}"'
        answer = {"Cache-Control": one.cache_control, "ETag": tag, "Surrogate-Key": one.tag}
        if one.varies:
            answer["Vary"] = "Accept-Language"
        if fields.get("if-none-match") == tag:
            return reply("304 Not Modified", answer, None)
        body = one.body(version, language)
        part = re.fullmatch(r"bytes=(\d+)-(\d*)", fields.get("range", ""))
        if part and fields.get("if-range", tag) == tag and int(part[1]) < len(body):
            first, last = int(part[1]), min(int(part[2] or len(body) - 1), len(body) - 1)
            answer["Content-Range"] = f"bytes {first}-{last}/{len(body)}"
            return reply("206 Partial Content", answer, body[first : last + 1], method)
        return reply("200 OK", answer, body, method)


def parse_request(head):
    lines = head.decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ", 2)
    fields = (line.split(":", 1) for line in lines[1:])
    return method, target, {name.lower(): value.strip() for name, value in fields}


def reply(status, fields, body, method="GET"):
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in fields.items())]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + (b"" if body is None or method == "HEAD" else body)
