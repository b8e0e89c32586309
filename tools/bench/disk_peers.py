"""The proxies with a disk tier and little memory: their configurations, and functions that damage their stores."""

import os

from servers import Kind

SQUID = ["-n", "bench@PORT@", "-f", "@DIR@/squid.conf"]


def squid(*how):
    return Kind(["squid", *how, *SQUID], {"disk/squid.conf": "squid.conf"}, prepare=["squid", "-z", "-N", *SQUID],
                version=["squid", "-v"])


ATS = Kind(
    ["traffic_server", "--run-root=@DIR@/runroot.yaml"],
    {"runroot.yaml": "runroot.yaml", "disk/records.config": "etc/records.config",
     "disk/storage.config": "etc/storage.config"},
    version=["traffic_server", "--version"],
)
KINDS = {
    "garner": Kind(["@GARNER@", "--config", "@DIR@/garner.json"], {"disk/garner.json": "garner.json"}),
    "squid-aufs": squid("-N"),
    "squid-rock": squid("--foreground"),  # with a process for the disk, as Squid is started for rock
    "ats": ATS,
    "ats-checked": ATS,  # with checksums, which are off as shipped
    "nginx": Kind(["nginx", "-c", "@DIR@/nginx.conf"], {"disk/nginx.conf": "nginx.conf"}, reverse=True, version=["nginx", "-v"]),
}


def values(name, memory, disk):
    """The values of the templates. Memory and disk are in MiB."""
    return {"SQUID_KIND": name.removeprefix("squid-"), "SQUID_FOLDERS": "16 256" if name == "squid-aufs" else "",
            "MEMORY": memory, "MEMORY_BYTES": memory << 20, "DISK": disk, "CHECKSUM": int(name == "ats-checked")}


class Damage:
    """Changes bytes in all copies of a text below a folder; the rest of a file stays."""

    def __init__(self, text, change):
        self.text, self.change = text, change

    def do(self, folder):
        """Returns the number of copies."""
        found = 0
        for at, _, names in os.walk(folder):
            for name in names:
                found += self.in_file(os.path.join(at, name))
        return found

    def in_file(self, name):
        found = 0
        file = os.open(name, os.O_RDWR)
        try:
            for start, end in written_parts(file):
                for place in self.places(file, start, end):
                    self.change(file, place)
                    found += 1
        finally:
            os.close(file)
        return found

    def places(self, file, start, end, piece=16 << 20):
        for at in range(start, end, piece):
            bytes_ = os.pread(file, min(piece + len(self.text) - 1, end - at), at)
            place = bytes_.find(self.text)
            while place >= 0:
                yield at + place
                place = bytes_.find(self.text, place + 1)


def written_parts(file):
    """The parts of the file that are not holes: a preallocated store mostly has holes."""
    end = 0
    size = os.fstat(file).st_size
    while end < size:
        try:
            start = os.lseek(file, end, os.SEEK_DATA)
        except OSError:  # no more
            return
        end = os.lseek(file, start, os.SEEK_HOLE)
        yield start, end


def flip(file, place):
    byte = os.pread(file, 1, place)[0]
    os.pwrite(file, bytes([byte ^ 0x04]), place)


def zero_sector(file, place):
    """Zeroes the first whole sector after the place."""
    os.pwrite(file, bytes(512), (place + 511) // 512 * 512)
