"""The origin and the attackers of tools/hostile. Each coroutine of an attack goes on until its process is ended.

Both run at low priority: elsewhere they are other machines, and take no processor time from the proxy.
"""

import asyncio
import contextlib
import itertools
import os
import resource
import socket

import http2_attackers

MIB = 1 << 20
BIG = 6_000_000  # bytes: a send buffer takes up to 4 MB
HINTS = 15  # 103 responses of 60 kB before a final one: an origin may send 16
CLIENTS_HOLDING = 60
NICENESS = 10
SILENT_NAME = "silent.test"  # a name with these addresses
SILENT_ADDRESSES = [f"127.0.6.{i}" for i in range(1, 17)]
SLOW_ADDRESSES = [f"127.0.5.{i}" for i in range(1, 101)]


# ---- the origin ----

def head(status, *fields):
    return "\r\n".join((f"HTTP/1.1 {status}", *fields, "", "")).encode()


def whole(body, control):
    return head("200 OK", f"Cache-Control: {control}", f"Content-Length: {len(body)}") + body


HINT = head("103 Early Hints", "X-Long: " + "x" * 60_000)
CHUNK = b"%x\r\n%b\r\n" % (MIB, b"z" * MIB)
ANSWERS = {
    b"hot": whole(b"x" * 1024, "max-age=86400"),
    b"big": whole(b"y" * BIG, "max-age=86400"),
    b"down": whole(b"y" * BIG, "no-store"),
    b"evil": whole(b"x" * 1024, "no-store"),
    b"lead": whole(b"x" * 1024, "max-age=60"),
    b"hints": whole(b"x" * 1024, "no-store"),
    b"large": whole(b"x" * 1024, "max-age=60"),
}


async def send_film(writer):
    """24 MiB in chunks, more than memory.object_max. Slow readers join during the pause."""
    writer.write(head("200 OK", "Cache-Control: max-age=60", "Transfer-Encoding: chunked") + b"5\r\nstart\r\n")
    await asyncio.sleep(0.3)
    for _ in range(24):
        writer.write(CHUNK)
        await writer.drain()
    writer.write(b"0\r\n\r\n")


async def send_hints(writer):
    await asyncio.sleep(0.3)
    for _ in range(HINTS):
        writer.write(HINT)
        await writer.drain()


async def answer(request, reader, writer):
    kind = request.split(b"/")[1]
    if kind == b"up":
        await reader.read()
    elif kind == b"evil" and b"x-evil" in request.lower():
        writer.close()
    elif kind == b"hang":
        await asyncio.sleep(8)
        writer.write(ANSWERS[b"hints"])
    elif kind == b"film":
        await send_film(writer)
    else:
        if kind in (b"lead", b"hints"):
            await send_hints(writer)
        writer.write(ANSWERS[kind])
        await writer.drain()


async def serve(reader, writer):
    with contextlib.suppress(OSError, asyncio.IncompleteReadError), contextlib.closing(writer):
        while not writer.is_closing():
            await answer(await reader.readuntil(b"\r\n\r\n"), reader, writer)


def run_origin(listening):
    os.nice(NICENESS)
    async def forever():
        server = await asyncio.start_server(serve, sock=listening, limit=MIB, backlog=1024)
        await server.serve_forever()
    asyncio.run(forever())


# ---- origins of the attackers ----

def accepting(addresses, backlog):
    """One port of these addresses; the kernel completes so many connections of each, and no request is read."""
    listening = []
    for address in addresses:
        port = listening[0].getsockname()[1] if listening else 0
        listening.append(socket.create_server((address, port), backlog=backlog))
    return listening, listening[0].getsockname()[1]


def silent(addresses):
    """The same, but their backlogs are full: they drop SYNs."""
    listening, port = accepting(addresses, 0)
    for address in addresses:
        for _ in range(3):
            listening.append(socket.socket())
            listening[-1].setblocking(False)
            listening[-1].connect_ex((address, port))
    return listening, port


# ---- the attackers ----

class Attackers:
    """Source addresses: 127.0.0.2 to 127.0.0.15 by attack, 127.0.1.1 to 127.0.1.8 for unfinished heads."""

    def __init__(self, proxy, secure, origin, slots):
        self.proxy, self.secure, self.origin, self.slots = proxy, secure, origin, slots

    def run(self, names):
        os.nice(NICENESS)
        async def all_of_them():
            self.loop = asyncio.get_running_loop()
            await asyncio.gather(*(getattr(self, name)() for name in names))
        asyncio.run(all_of_them())

    def request(self, path, *fields, method="GET"):
        lines = (f"{method} http://{self.origin}{path} HTTP/1.1", f"Host: {self.origin}", *fields, "", "")
        return "\r\n".join(lines).encode()

    @contextlib.asynccontextmanager
    async def connection(self, source, sends, buffer=None):
        """Errors end the block: the proxy may close at any time."""
        connection = socket.socket()
        with connection:
            connection.setblocking(False)
            if buffer:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
            connection.bind((source, 0))
            await self.loop.sock_connect(connection, self.proxy)
            await self.loop.sock_sendall(connection, sends)
            with contextlib.suppress(OSError):
                yield connection

    async def converse(self, source, sends, buffer=None, piece=MIB, pause=0):
        """Sends, and reads a piece after each pause until the proxy closes."""
        async with self.connection(source, sends, buffer) as connection:
            while await self.loop.sock_recv(connection, piece):
                await asyncio.sleep(pause)

    async def repeat(self, pause, act):
        while True:
            with contextlib.suppress(OSError):
                await act()
            await asyncio.sleep(pause)

    async def silent(self):
        await asyncio.gather(*(self.repeat(1, lambda: self.converse("127.0.0.2", b"")) for _ in range(500)))

    async def heads(self):
        count = min(2000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 1500)
        def unfinished(i):
            text = self.request("/hot/0")[:-2] + b"X: " + b"x" * (1024 * (i % 63))
            return lambda: self.converse(f"127.0.1.{1 + i % 8}", text)
        await asyncio.gather(*(self.repeat(3, unfinished(i)) for i in range(count)))

    async def read_nothing(self, source, path):
        async with self.connection(source, self.request(path), 4096):
            await asyncio.sleep(60)

    async def unread(self):
        """Clients hold objects in memory; further objects, large and small, evict these."""
        holding = set()
        for number in itertools.count():
            path = f"/big/{number}"
            for newcomer in (path, f"/hot/new-{number}"):
                with contextlib.suppress(OSError):
                    await self.converse("127.0.0.9", self.request(newcomer, "Connection: close"))
            if len(holding) < CLIENTS_HOLDING:
                holding.add(task := asyncio.create_task(self.read_nothing("127.0.0.3", path)))
                task.add_done_callback(holding.discard)
            await asyncio.sleep(0.05 if number < CLIENTS_HOLDING else 0.25)

    async def each_slot(self, name, act):
        """Requests each object that an honest client announces in its slot; keeps the last 20 connections."""
        tasks, done = [], 0
        while True:
            if (number := self.slots[name].value) > done:
                done = number
                tasks.append(asyncio.create_task(act(f"/{name}/{number}")))
                if len(tasks) > 20:
                    tasks.pop(0).cancel()
            await asyncio.sleep(0.02)

    async def lead(self):
        await self.each_slot("lead", lambda path: self.read_nothing("127.0.0.4", path))

    async def film(self):
        async def join(path):
            await asyncio.sleep(0.1)  # the honest client comes first
            await self.converse("127.0.0.7", self.request(path), 65536, 32768, 0.02)
        await self.each_slot("film", join)

    async def evil(self):
        numbers = itertools.cycle(range(20))
        await self.repeat(0.005, lambda: self.converse(
            "127.0.0.5", self.request(f"/evil/{next(numbers)}", "X-Evil: yes", "Connection: close")))

    async def upload(self):
        head_of_upload = self.request("/up/0", "Content-Length: 1000000", method="POST")
        async with self.connection("127.0.0.8", head_of_upload) as connection:
            while True:
                await self.loop.sock_sendall(connection, b"x")
                await asyncio.sleep(60)

    async def download(self):
        await self.converse("127.0.0.8", self.request("/down/0"), 4096, 1, 60)

    async def drip(self):
        await asyncio.gather(*(self.repeat(1, act) for _ in range(250) for act in (self.upload, self.download)))

    async def floods(self):
        def one(frames):
            return lambda: http2_attackers.flood(self.secure, "127.0.0.10", self.origin, frames)
        await asyncio.gather(*(self.repeat(0.1, one(frames)) for frames in http2_attackers.FLOODS))

    async def unread_streams(self, source, connections, request_of):
        await asyncio.gather(*(self.repeat(0.1, lambda: http2_attackers.unread(self.secure, source, self.origin, request_of))
                               for _ in range(connections)))

    async def hints(self):
        numbers = itertools.count()
        await self.unread_streams("127.0.0.12", 6, lambda stream, origin: http2_attackers.request(
            b"/hints/%d" % next(numbers), origin, stream))

    async def large(self):
        """Small heads take what the large ones leave."""
        def heads_of(size):
            return lambda stream, origin: http2_attackers.large_head(b"/hang/%d" % (stream % 7), origin, stream, size)
        await asyncio.gather(*(self.unread_streams("127.0.0.13", connections, heads_of(size))
                               for connections, size in ((14, 14_200), (3, 2_000))))

    async def handshakes(self):
        whole_ones = [self.repeat(0.05, lambda: http2_attackers.handshake(self.secure, "127.0.0.11")) for _ in range(10)]
        broken_ones = [self.repeat(0.2, lambda: http2_attackers.broken(self.secure, "127.0.0.11")) for _ in range(50)]
        await asyncio.gather(*whole_ones, *broken_ones)

    async def streams(self):
        slow, port = accepting(SLOW_ADDRESSES, 64)
        await asyncio.gather(*(self.repeat(1, lambda: http2_attackers.hold(self.secure, "127.0.0.14", SLOW_ADDRESSES, port))
                               for _ in range(13)))
        del slow

    async def addresses(self):
        dead, port = silent(SILENT_ADDRESSES)
        numbers = itertools.count()
        def request():
            host = f"{SILENT_NAME}:{port}"
            return f"GET http://{host}/{next(numbers)} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
        await asyncio.gather(*(self.repeat(0.1, lambda: self.converse("127.0.0.15", request())) for _ in range(100)))
        del dead
