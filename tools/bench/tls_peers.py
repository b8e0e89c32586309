"""The servers with a TLS listener beside the plain one: their configurations, and the certificate that all of them show."""

import dataclasses
import json
import subprocess

import servers
from servers import Kind

SQUID_FILES = servers.KINDS["squid"].files
GARNER_LISTEN = [
    {"address": "127.0.0.1:@PORT@"},
    {"address": "127.0.0.1:@TLS_PORT@", "http2": True,
     "tls": {"certificates": [{"chain": "@CERTIFICATES@/chain.pem", "key": "@CERTIFICATES@/key.pem"}]}},
]


NO_CONNECT = {"tunnels": "no CONNECT", "h2-tunnels": "no CONNECT"}
# Reasons by server and load.
IMPOSSIBLE = {
    "squid": {"h2": "no HTTP/2", "h2-tunnels": "no HTTP/2"},
    "ats": {"h2-tunnels": "no CONNECT in HTTP/2"},
    "nginx": NO_CONNECT,
    "haproxy": NO_CONNECT,
    "h2o": {**NO_CONNECT, "resumed": "no ticket after a resumption"},
}


def with_tls(name, files=None, words=(), **changes):
    """A kind of the plain comparison with additional files and arguments."""
    kind = servers.KINDS[name]
    return dataclasses.replace(kind, files={**kind.files, **(files or {})}, command=[*kind.command, *words], **changes)


KINDS = {
    "garner": with_tls("garner", words=["--set", "listen=" + json.dumps(GARNER_LISTEN)]),
    "squid": with_tls("squid", {"tls/squid.conf": "squid.conf"}),
    # Traffic Server refuses targets with the scheme http on a TLS listener, but not CONNECT.
    "ats": with_tls("ats", {"tls/records.config": "etc/records.config", "tls/remap.config": "etc/remap.config",
                            "tls/ssl_multicert.config": "etc/ssl_multicert.config"}, reverse=True),
    "nginx": with_tls("nginx", {"tls/nginx.conf": "tls.conf"}),
    "haproxy": Kind(["haproxy", "-db", "-f", "@DIR@/haproxy.cfg"],
                    {"haproxy.cfg": "haproxy.cfg", "tls/haproxy.cfg": "haproxy.cfg"}, reverse=True, version=["haproxy", "-v"]),
    "h2o": Kind(["h2o", "-c", "@DIR@/h2o.conf"], {"tls/h2o.conf": "h2o.conf"}, reverse=True, version=["h2o", "--version"]),
    "nghttpx+squid": Kind(
        ["sh", "-c", "squid -N -n bench@PORT@ -f @DIR@/squid.conf & exec nghttpx --conf=@DIR@/nghttpx.conf"],
        {**SQUID_FILES, "tls/nghttpx.conf": "nghttpx.conf"}, version=["nghttpx", "--version"]),
}


def make_certificate(folder):
    """Writes a self-signed P-256 certificate: chain.pem, key.pem, and both in one file."""
    folder.mkdir()
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
               "-subj", "/CN=proxy.test", "-addext", "subjectAltName=DNS:proxy.test,IP:127.0.0.1",
               "-keyout", folder / "key.pem", "-out", folder / "chain.pem"]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "both.pem").write_text((folder / "chain.pem").read_text() + (folder / "key.pem").read_text())
