"""A switch between hosts of tools/mesh that forwards each frame after a delay. It needs /dev/net/tun, and no kernel module such as
sch_netem, which few kernels of virtual machines have."""
import collections
import contextlib
import fcntl
import multiprocessing
import os
import struct
import subprocess
import threading
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000
FRAME_MAX = 65536


class SlowSwitch:
    """Replaces the eth0 of each host by a tap device. A frame arrives `delay` seconds after it was sent. A process of its own
    forwards, so that it does not wait for the interpreter of the caller. Host.cut() and heal() need the former eth0."""

    def __init__(self, hosts, stack):
        self.delay_shared, self.ports = multiprocessing.Value("d", 0.0), {}
        for host in hosts:
            mac, port = host.run(make_tap, host.address)
            self.ports[mac] = port
            stack.callback(os.close, port)
        process = multiprocessing.get_context("fork").Process(target=self.forward_all, daemon=True)
        process.start()
        stack.callback(process.kill)

    @property
    def delay(self):
        return self.delay_shared.value

    @delay.setter
    def delay(self, seconds):
        self.delay_shared.value = seconds

    def forward_all(self):
        self.sent, self.wake = collections.deque(), threading.Condition()
        for port in self.ports.values():
            threading.Thread(target=self.receive, args=(port,), daemon=True).start()
        self.forward()

    def receive(self, port):
        while True:
            frame = os.read(port, FRAME_MAX)
            with self.wake:
                self.sent.append((time.monotonic() + self.delay, port, frame))
                self.wake.notify()

    def forward(self):
        while True:
            with self.wake:
                while not self.sent:
                    self.wake.wait()
                due, sender, frame = self.sent.popleft()
            time.sleep(max(0, due - time.monotonic()))
            for port in self.receivers(frame, sender):
                with contextlib.suppress(OSError):
                    os.write(port, frame)

    def receivers(self, frame, sender):
        if frame[0] & 1:  # broadcast and multicast
            return [port for port in self.ports.values() if port != sender]
        return [self.ports[frame[:6]]] if frame[:6] in self.ports else []


def make_tap(address):
    subprocess.run(["ip", "link", "delete", "eth0"], check=True)
    port = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(port, TUNSETIFF, struct.pack("16sH22x", b"eth0", IFF_TAP | IFF_NO_PI))
    subprocess.run(["ip", "address", "add", f"{address}/24", "dev", "eth0"], check=True)
    subprocess.run(["ip", "link", "set", "eth0", "up"], check=True)
    shown = subprocess.run(["ip", "-o", "link", "show", "eth0"], check=True, capture_output=True, text=True).stdout
    return bytes.fromhex(shown.split("link/ether ")[1].split()[0].replace(":", "")), port
