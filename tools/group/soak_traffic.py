"""Requests to the members of tools/group_soak: clients that check each answer, and publishers that invalidate."""
import contextlib
import dataclasses
import http.client
import json
import random
import re
import socket
import subprocess
import threading
import time
import urllib.parse

from loaded_mesh import mesh
from soak_promise import LEASE, OBJECTS

CLIENT_PATIENCE, ORDER_PATIENCE = 1, 8  # s; others ask on while a client waits for an origin that is cut off
CLIENTS = 3  # of each member
FORM = {"Garner-Admin": "1", "Content-Type": "application/x-www-form-urlencoded"}


def ask_admin(method, target, form=None):
    """Status and JSON. Called on the host of a member."""
    connection = http.client.HTTPConnection("127.0.0.1", mesh.ADMIN, timeout=ORDER_PATIENCE)
    with contextlib.closing(connection):
        connection.request(method, target, form and urllib.parse.urlencode(form), FORM if form else {})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


# ---- clients ----


@dataclasses.dataclass
class Answer:
    status: int
    fields: dict
    body: bytes


class Connection:
    """To the proxy of a member, from its own host. It is opened again when it was lost."""

    def __init__(self, member):
        self.place, self.socket = (member.host.address, mesh.HTTP), None

    def ask(self, method, url, fields=(), body=b""):
        """Raises OSError if no whole answer comes."""
        try:
            if not self.socket:
                self.socket = socket.create_connection(self.place, timeout=CLIENT_PATIENCE)
                self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            lines = [f"{method} {url} HTTP/1.1", f"Host: {url.split('/')[2]}", *fields]
            if body:
                lines.append(f"Content-Length: {len(body)}")
            self.socket.sendall("\r\n".join([*lines, "", ""]).encode() + body)
            answer = self.read(method)
        except OSError:
            self.close()
            raise
        if answer.fields.get("connection", "").lower() == "close":
            self.close()
        return answer

    def read(self, method):
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.more()
        head, body = received.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        fields = dict((name.lower(), value.strip()) for name, value in (line.split(":", 1) for line in lines[1:]))
        status = int(lines[0].split(" ")[1])
        length = 0 if method == "HEAD" or status in (204, 304) else int(fields.get("content-length", -1))
        if length < 0:
            raise OSError(f"an answer without Content-Length: {head.decode('latin-1')}")
        while len(body) < length:
            body += self.more()
        return Answer(status, fields, body)

    def more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise ConnectionError("the connection ended")
        return piece

    def close(self):
        if self.socket:
            self.socket.close()
            self.socket = None


class Client(threading.Thread):
    def __init__(self, lab, member):
        super().__init__(daemon=True)
        self.lab, self.member = lab, member
        self.draw = random.Random(f"{lab.options.seed} client {member.number} {self.name}")

    def run(self):
        mesh.enter(self.member.host.namespace)
        connection = Connection(self.member)
        while not self.lab.over.wait(self.draw.uniform(0, 2 * CLIENTS * self.lab.options.pause)):
            number = self.draw.choice(self.lab.judge.recent) if self.draw.random() < 0.5 else self.draw.randrange(OBJECTS)
            self.ask(connection, self.lab.judge.objects[number], self.draw.choice(("whole", "whole", "part", "head")))
        connection.close()

    def ask(self, connection, one, what):
        judge, language = self.lab.judge, self.draw.choice(("de", "en")) if one.varies else "en"
        fields = [f"Accept-Language: {language}"]
        if what == "part":
            fields.append("Range: bytes=0-99")
        begun = time.monotonic()
        try:
            answer = connection.ask("HEAD" if what == "head" else "GET", self.lab.url(one.path), fields)
        except OSError as fault:
            judge.counts[f"no answer ({type(fault).__name__})"] += 1
            return
        if answer.status not in (200, 206):
            judge.counts[f"status {answer.status}"] += 1
            return
        how = answer.fields.get("cache-status", "")
        judge.counts["from caches"] += "; hit" in how
        judge.counts["held back"] += "held back" in how
        version = version_of(one, answer, what, language)
        if version:
            judge.check(one.number, version, begun, self.member.name, how)
        else:
            judge.broken(one.number, f"{self.member.name} mixes versions, variants or objects: {answer.status} {answer.fields} "
                                     f"{answer.body[:80]!r} ... {answer.body[-20:]!r}")


def version_of(one, answer, what, language):
    """None: the answer has parts of several versions, or is another variant or object."""
    tag = re.fullmatch(rf'"(\d+){language}"', answer.fields.get("etag", ""))
    if not tag or what == "head":
        return tag and int(tag[1])
    whole = one.body(int(tag[1]), language)
    return int(tag[1]) if answer.body == (whole[:100] if answer.status == 206 else whole) else None


# ---- publishers ----


class Publisher(threading.Thread):
    """Renews objects at the origin, and tells a member. It waits for each acceptance, so that it knows which one was accepted."""

    def __init__(self, lab, member):
        super().__init__(daemon=True)
        self.lab, self.judge, self.member = lab, lab.judge, member
        self.draw = random.Random(f"{lab.options.seed} publisher {member.number}")
        self.posts_from = 0.0

    def run(self):
        mesh.enter(self.member.host.namespace)
        while not self.lab.over.wait(self.draw.uniform(0.5, 6)):
            order = self.draw.choices((self.purge, self.purge_by_method, self.purge_by_command, self.post), (65, 10, 5, 20))[0]
            if order == self.post and not self.may_post():
                order = self.purge
            try:
                order()
            except (OSError, http.client.HTTPException, ValueError, subprocess.TimeoutExpired) as fault:
                self.judge.counts["orders without answer"] += 1
                # It may be accepted yet, and must not be taken for a later POST.
                self.posts_from = time.monotonic() + 2 * LEASE + ORDER_PATIENCE + self.lab.options.longest

    def may_post(self):
        """POSTs of children pass their parents, which submit them, too."""
        return not self.member.is_parent and time.monotonic() > self.posts_from

    def some_object(self):
        return self.draw.choice(self.judge.objects)

    def renew(self, covered, why):
        return self.judge.renew([one.number for one in covered], f"{why} at {self.member.name}")

    def purge(self):
        one, kind = self.some_object(), self.draw.choices(("url", "tag", "prefix", "all"), (50, 22, 22, 6))[0]
        covered = [one]
        if kind == "url":
            form = {"group": 1, "url": self.lab.url(one.path)}
            if one.is_strict and self.draw.random() < 0.3:
                form["soft"] = 1
        elif kind == "tag":
            form, covered = {"tag": one.tag}, [other for other in self.judge.objects if other.tag == one.tag]
        elif kind == "prefix":
            prefix = one.path[: one.path.rindex("/") + 1]
            form, covered = {"prefix": self.lab.url(prefix)}, [o for o in self.judge.objects if o.path.startswith(prefix)]
        else:
            form, covered = {"all": 1}, self.judge.objects
        if self.draw.random() < 0.2:
            form["wait"] = 1
        renewed = self.renew(covered, f"purge {form}")
        status, answer = ask_admin("POST", "/purge", form)
        self.settle(renewed, status == 200 and "accepted" in answer, f"purge by {kind}", f"{status} {answer}")

    def purge_by_method(self):
        one = self.some_object()
        renewed = self.renew([one], "PURGE")
        connection = Connection(self.member)
        try:
            answer = connection.ask("PURGE", self.lab.url(one.path))
        finally:
            connection.close()
        text = answer.body.decode(errors="replace")
        self.settle(renewed, "group: stored by " in text, "PURGE", f"{answer.status} {text}")

    def purge_by_command(self):
        covered = [self.some_object() for _ in range(2)]
        if covered[0] == covered[1]:
            covered.pop()
        renewed = self.renew(covered, "garner purge --group -")
        words = [self.member.binary, "purge", "--group", "-", "--set", f"admin.address=127.0.0.1:{mesh.ADMIN}"]
        lines = "".join(self.lab.url(one.path) + "\n" for one in covered)
        done = subprocess.run(words, input=lines, capture_output=True, text=True, timeout=2 * ORDER_PATIENCE)
        told = done.stdout.splitlines()
        if len(told) != len(covered):
            raise ValueError(f"garner purge - answers {done.stdout}{done.stderr}")
        for line, one in zip(told, covered):
            self.settle({one.number: renewed[one.number]}, line.startswith("accepted "), "garner purge -", line)

    def post(self):
        """The client of a POST does not wait for the group: the member counts what was accepted."""
        one, before = self.some_object(), self.totals()
        connection = Connection(self.member)
        try:
            answer = connection.ask("POST", self.lab.url(one.path), body=b"x")
        finally:
            connection.close()
        if answer.status != 200:
            raise ValueError(f"POST gets {answer.status}")
        renewed = {one.number: int(answer.body.split()[1])}
        until = time.monotonic() + ORDER_PATIENCE
        while time.monotonic() < until:
            after = self.totals()
            if after != before:
                is_accepted = after == before[:1] + (before[1] + 1,) + before[2:]
                return self.settle(renewed, is_accepted, "POST", f"{before} then {after}")
            time.sleep(0.01)
        raise ValueError("nothing is known of the POST")

    def totals(self):
        """Its instance, and the submissions that were accepted, not accepted and refused."""
        pid, of_all = self.member.process.pid, self.member.state()["invalidations"]
        return (pid, *(of_all[name] for name in ("accepted", "not_accepted", "refused")))

    def settle(self, renewed, is_accepted, what, told):
        if is_accepted:
            return self.judge.accepted(renewed, self.member.name, what)
        self.judge.counts["not accepted"] += 1
        self.judge.note(renewed, self.member.name, f"hears that it is not accepted: {what}, {told}")
