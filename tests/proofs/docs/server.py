"""Serves static sites on a real socket and logs every request line as received."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

from tests.proofs.docs.site import Found, Site, content, content_type

_ADDRESS = "127.0.0.1"


class Request(NamedTuple):
    """One request line, byte for byte, and the status of its answer."""

    host: str
    line: bytes
    status: int

    @property
    def target(self) -> str:
        return self.line.split(b" ")[1].decode("latin-1")


class Server(ThreadingHTTPServer):
    """Sites by host name, all on one port of the loopback address."""

    daemon_threads = True

    def __init__(self, sites: Sequence[Site]):
        super().__init__((_ADDRESS, 0), Handler)
        self.sites = {site.host: site for site in sites}
        self.log: list[Request] = []

    def home(self, site: Site) -> str:
        """Return the URL of the site's home page."""
        return f"http://{site.host}:{self.server_port}/"

    def write_hosts_file(self, path: Path) -> Path:
        path.write_text("".join(f"{_ADDRESS} {host}\n" for host in self.sites), encoding="ascii")
        return path


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one persistent connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body leave together
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").partition(":")[0]
        target = self.raw_requestline.split(b" ")[1].decode("latin-1")  # self.path is not always what was sent
        site = self.server.sites.get(host)
        found = site.find(target) if site else Found(421)
        self.server.log.append(Request(host, self.raw_requestline, found.status))
        self._send(found)

    def _send(self, found: Found) -> None:
        body = content(found.file) if found.file else b"Not here.\n"
        self.send_response(found.status)
        self.send_header("Content-Type", content_type(found.file) if found.file else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        if found.location:
            self.send_header("Location", found.location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Print nothing: the list is the log."""


@contextmanager
def serving(sites: Sequence[Site]) -> Iterator[Server]:
    with Server(sites) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
