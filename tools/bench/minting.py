"""What a minted certificate costs: Garner's in-process measurement, and Squid's helper without its database."""

import os
import re
import subprocess
import sys

from servers import TICKS_A_SECOND, Fault

HELPER = "/usr/lib/squid/security_file_certgen"
CERTIFICATES = 500


def microseconds(peer, folder, garner):
    return of_squid(folder) if peer == "squid" else of_garner(garner)


def of_garner(garner):
    """The median of seven turns; the figure with a provider key of OpenSSL 3 goes to standard error."""
    program = garner.parent / "minting"
    if not program.exists():
        raise Fault(f"there is no {program}: tools/build release minting makes it")
    said = subprocess.run([program], capture_output=True, text=True, check=True, timeout=120).stdout
    print(said.strip(), file=sys.stderr)
    return float(re.search(r"minting: ([\d.]+) us", said)[1])


def of_squid(folder):
    """The requests are those that Squid sends to the helper."""
    signing = (folder / "ca.pem").read_text() + (folder / "ca.key").read_text()
    with subprocess.Popen([HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as helper:
        for number in range(CERTIFICATES):
            body = f"host=h{number}.bench.test\nSign=signTrusted\nSignHash=sha256\n{signing}"
            helper.stdin.write(f"new_certificate {len(body)} {body}\n".encode())
            helper.stdin.flush()
            if not response(helper.stdout).startswith(b"OK "):
                raise Fault(f"{HELPER} mints nothing")
        with open(f"/proc/{helper.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rpartition(")")[2].split()
        helper.stdin.close()
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND / CERTIFICATES * 1e6


def response(stream):
    text = b""
    while not text.endswith(b"\1"):
        piece = os.read(stream.fileno(), 65536)
        if not piece:
            raise Fault(f"{HELPER} has ended")
        text += piece
    return text
