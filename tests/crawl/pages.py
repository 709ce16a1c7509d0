"""A server sends pages that a test defines: host name → path → body, or a whole response."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, NamedTuple


class Answer(NamedTuple):
    """A response that is more than a body with status 200."""

    body: bytes | str = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    status_of_head: int = 0  # status for HEAD, if it differs


Pages = Mapping[str, Mapping[str, bytes | str | Answer]]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    pages: ClassVar[Pages] = {}
    requests: list[str]  # host and path of each request; "HEAD " stands before those of HEAD requests
    sent: list[int]  # bytes of each response

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        is_head = self.command == "HEAD"
        host = self.headers["Host"].partition(":")[0]
        self.requests.append(f"{'HEAD ' if is_head else ''}{host}{self.path}")
        answer = self.pages.get(host, {}).get(self.path, Answer(status=404))
        body, status, headers, status_of_head = answer if isinstance(answer, Answer) else Answer(answer)
        if is_head and status_of_head:
            body, status = b"", status_of_head
        if headers.get("ETag") and self.headers["If-None-Match"] == headers["ETag"]:
            body, status = b"", 304
        data = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        for name, value in ({"Content-Type": "text/html; charset=utf-8"} | dict(headers)).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        head = sum(map(len, self._headers_buffer)) + 2
        self.end_headers()
        self.sent.append(head + (0 if is_head else len(data)))
        if not is_head:
            self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Print nothing: tests read the list of requests."""


@contextmanager
def pages_served(
    pages: Pages, directory: Path, sent: list[int] | None = None, addresses: int = 1
) -> Iterator[tuple[dict[str, object], list[str]]]:
    """Serve pages; yield settings for a crawl of them, and the requests in order; bytes sent are appended to `sent`.

    The hosts share so many addresses.
    """
    requests: list[str] = []
    attributes = {"pages": pages, "requests": requests, "sent": sent if sent is not None else []}
    handler = type("Pages", (Handler,), attributes)
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), handler)]
    port = servers[0].server_address[1]
    servers += [ThreadingHTTPServer((f"127.0.0.{number}", port), handler) for number in range(2, addresses + 1)]
    threads = [threading.Thread(target=server.serve_forever) for server in servers]
    for thread in threads:
        thread.start()
    hosts = directory / "hosts"
    hosts.write_text("".join(f"127.0.0.{number % addresses + 1} {host}\n" for number, host in enumerate(pages)))
    settings: dict[str, object] = {
        "CRAWL_DIR": directory / "crawl",
        "OWN_HOSTS": "*.test",
        "INTRANET_HOSTS": "*.test",
        "INTRANET_NETWORKS": "127.0.0.0/8",
        "DNS_HOSTS": hosts,
        "POLITENESS_MIN_DELAY": 0.01,
        "POLITENESS_LATENCY_FACTOR": 0,
        "RETRY_DELAY": 0.1,
        "CRAWL_HORIZON": 3,
        "LOG_LEVEL": "WARNING",
        "SITEMAPS": False,
        "PROBE_AFTER": 0,
        "CONTENT_PROCESSES": 0,  # each takes most of a second to start; tests of them set a number
        "port": port,
    }
    try:
        yield settings, requests
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


def seeds_of(pages: Pages, port: object) -> str:
    return ",".join(f"http://{host}:{port}/" for host in pages)
