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
GARNER_ACCESS = [
    {"allow": {"source": ["127.0.0.0/8"], "destination": ["127.0.0.0/8"], "port": ["@ORIGIN_PORT@", "@ORIGIN_TLS_PORT@"]}},
    {"deny": "all"},
]
GARNER_BUMP = {"ca_chain": "@CERTIFICATES@/ca.pem", "ca_key": "@CERTIFICATES@/ca.key", "certificates": 65536,
               "rules": [{"bump": {"host": ".bench.test"}}]}
GARNER_SETS = {"listen": GARNER_LISTEN, "access": GARNER_ACCESS, "bump": GARNER_BUMP,
               "dns.hosts_file": "@CERTIFICATES@/hosts", "tls.ca_file": "@CERTIFICATES@/ca.pem"}

NO_BUMP = {"bumped": "no interception", "minting": "no interception"}
NO_CONNECT = {"tunnels": "no CONNECT", "h2-tunnels": "no CONNECT", **NO_BUMP}
# The only load of a server.
ONLY = {"nghttpx+squid": "h2-tunnels", "squid-client-first": "bumped"}
# Reasons by server and load.
IMPOSSIBLE = {
    "squid": {"h2": "no HTTP/2", "h2-tunnels": "no HTTP/2"},
    "ats": {"h2-tunnels": "no CONNECT in HTTP/2", **NO_BUMP},
    "nginx": NO_CONNECT,
    "haproxy": NO_CONNECT,
    "h2o": {**NO_CONNECT, "resumed": "no ticket after a resumption"},
}


def with_tls(name, files=None, words=(), **changes):
    """A kind of the plain comparison with additional files and arguments."""
    kind = servers.KINDS[name]
    return dataclasses.replace(kind, files={**kind.files, **(files or {})}, command=[*kind.command, *words], **changes)


# The helper runs as the user that Squid becomes.
SQUID_STORE = ["sh", "-c", "/usr/lib/squid/security_file_certgen -c -s @DIR@/certificates -M 64MB; "
               "id proxy >/dev/null 2>&1 && [ $(id -u) = 0 ] && chown -R proxy: @DIR@/certificates; true"]
ORIGIN = dataclasses.replace(servers.ORIGIN, files={**servers.ORIGIN.files, "tls/origin.conf": "tls.conf"})


KINDS = {
    "garner": with_tls("garner", words=[word for key, value in GARNER_SETS.items()
                                        for word in ("--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}")]),
    "squid": with_tls("squid", {"tls/squid.conf": "squid.conf", "tls/squid-mimic.conf": "squid.conf"}, prepare=SQUID_STORE),
    "squid-client-first": with_tls("squid", {"tls/squid.conf": "squid.conf", "tls/squid-client-first.conf": "squid.conf"},
                                   prepare=SQUID_STORE),
    # Traffic Server on a TLS listener refuses targets with the scheme http, but not CONNECT.
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


def bump_port(peer):
    """The plain port at which it decrypts tunnels."""
    return peer.admin_port if peer.name.startswith("squid") else peer.port


def make_hosts(folder, count):
    """Names for twice as many origins, in the form of /etc/hosts; origin.pem is valid for all of them."""
    names = [f"{kind}{number}.bench.test" for kind in "hf" for number in range(count)]
    (folder / "hosts").write_text("".join(f"127.0.0.1 {name}\n" for name in names))


def make_authority(folder):
    """A CA for the origins that also signs what the proxies mint: ca.pem, ca.key, origin.pem, origin.key."""
    p256 = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
    made = ["openssl", "req", "-x509", *p256, "-subj", "/CN=bench CA", "-addext", "basicConstraints=critical,CA:TRUE,pathlen:0",
            "-addext", "keyUsage=critical,keyCertSign,cRLSign", "-keyout", folder / "ca.key", "-out", folder / "ca.pem"]
    subprocess.run(made, check=True, capture_output=True)
    (folder / "ca.key").chmod(0o600)
    request = ["openssl", "req", *p256[:-2], "-subj", "/CN=bench.test", "-keyout", folder / "origin.key", "-out",
               folder / "origin.csr"]
    subprocess.run(request, check=True, capture_output=True)
    (folder / "names").write_text("subjectAltName=DNS:*.bench.test\nextendedKeyUsage=serverAuth\n")
    sign = ["openssl", "x509", "-req", "-days", "30", "-in", folder / "origin.csr", "-CA", folder / "ca.pem", "-CAkey",
            folder / "ca.key", "-CAcreateserial", "-extfile", folder / "names", "-out", folder / "origin.pem"]
    subprocess.run(sign, check=True, capture_output=True)


def make_certificate(folder):
    """Writes a self-signed P-256 certificate: chain.pem, key.pem, and both in one file."""
    folder.mkdir()
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
               "-subj", "/CN=proxy.test", "-addext", "subjectAltName=DNS:proxy.test,IP:127.0.0.1",
               "-keyout", folder / "key.pem", "-out", folder / "chain.pem"]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "both.pem").write_text((folder / "chain.pem").read_text() + (folder / "key.pem").read_text())
