"""The request line that a server receives is the stored URL, byte by byte, however the link was written.

Every link contains a mark that no canonical form loses, so that its stored URL can be found.
"""

from __future__ import annotations

import socketserver
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from random import Random
from typing import NamedTuple
from urllib.parse import quote

import pytest

from tests.crawl.runner import rows, scrapy

pytestmark = pytest.mark.crawl

HOSTS = [f"n{number}.test" for number in range(8)]
GENERATED = 400
TROUBLE = "|^[]{}'\"<>`\\ ;?+*!&=%~:@,$()_-.é日"
PARKED = 2

TABLE = [  # MARK becomes the mark, AUTHORITY the page's host and port
    *("/pipe|^[]{}MARK", "/?pipe=|^[]{}MARK", "/quote'\"<>`MARK", "/?quote='\"<>`MARK", "/back\\slash\\..\\MARK"),
    *("/?back\\slash=\\..\\MARK", "/latin/%e9MARK", "/?latin=%e9MARK", "/up/%2e%2e/%2E./.%2eMARK", "/a/./b/../c/../../MARK"),
    *("/..//MARK", "/.//MARK", "/a/..//../MARK", "/tilde/%7e%7EMARK~", "/?tilde=%7e~MARK", "/a b  c MARK", "/?a b  c MARK"),
    *("/é/日本/😀MARK", "/?é=日本&😀MARK", "/;a;b=c;dMARK", "/;MARK?;a;b=c&;d", "/?a?b??c=?MARK", "/MARK??", "/MARK?"),
    *("/double//slash///MARK", "/?double=//slash///MARK", "/100%MARK", "/100%/%zz%2%MARK", "/?100%&%zz=%2%&%MARK"),
    *("/%%32e%%37eMARK", "/%252e%252E%2525MARK", "/%2f%2F%5c%5C%3f%3F%23MARK", "/%00%0a%0d%0A%20%7f%80%ffMARK"),
    *("/plus+plus%2b%2BMARK", "/?plus+plus%2b%2B=+MARK", "/star*!$&'(),=:@MARK", "/?star*!$&'(),=:@MARK"),
    *("/?a=1&amp;b=2&ampMARK", "/?a=1&b=2&copy=3&lt=4&MARK", "/MARK&amp;&lt;&#38;&notin;", "/tab\there\nand\rthereMARK"),
    *("/control\x01\x1f\x7fMARK", "/?control\x01\x1f\x7f=\0MARK", "/soft\u00adhyphen\u200b\u202eMARK", "/?&&a&&=&=MARK&"),
    *("/MARK#fragment|^?", "/?MARK#", "?only=|queryMARK", "?MARK", "relative|^MARK", "./MARK", "../..//MARK", " /spaceMARK "),
    *("http://user:pw@AUTHORITY/userMARK|", "http://AUTHORITY\\back\\MARK", "//AUTHORITY//twice//MARK", "http:withoutMARK"),
    *("HTTP://AUTHORITY/UPPER%4a%4A%c3%9fMARK", "http://AUTHORITY?MARK", "/http://other.test:80/MARK", "/@other.test/MARK"),
    *("/?b=2&a=1&c&b=1&utm_source=x&MARK", "/?z=%41&A=%c3%a9&a=é&MARK", "/page%3fquery%26MARK", "/.well-known/..MARK"),
    *("/a/..;jsessionid=0A1B/MARK", "/a/.;jsessionid=1;jsessionid=2./MARK", "/(S(0123456789ab))/../MARK", "/a;b;;MARK;"),
    *("/MARK" + "/long|" * 300, "/?MARK=" + "é" * 250, "/MARK" + "/too-long" * 400, "/MARK" + "x" * 1900, "/MARK" + "%7e" * 600),
]  # fmt: skip
PIECES = [
    *"|^[]{}'\"<>`\\ ;?+*!&=%~/.:@,$()_-aZ0",
    *("%e9", "%2e", "%2E%2e", "%7e", "%zz", "%2", "%2f", "%5C", "%3f", "%26", "%20", "%00", "%25", "%41", "%c3%A9", "%C3%28"),
    *("..", "/../", "/./", "//", "/..", "\\..\\", "é", "日本", "😀", "\u200b", "\t", "\n", "\0", "\x7f", "&amp;", "&lt", "b=1&"),
]  # fmt: skip


class Received(NamedTuple):
    """The request line and the Host header of a request, with their line ends."""

    request_line: bytes
    host: bytes


class Handler(socketserver.StreamRequestHandler):
    """Answers every request of a connection; the bytes received are logged before they are parsed."""

    server: Server

    def handle(self) -> None:
        while first := self.rfile.readline():
            lines = [first]
            while lines[-1] not in (b"\r\n", b""):
                lines.append(self.rfile.readline())
            host = next((line for line in lines if line.lower().startswith(b"host:")), b"")
            self.server.log.append(Received(first, host))
            is_rules = first.startswith(b"GET /robots.txt ")
            body = self.server.pages.get(host, b"<p>Here") if first == b"GET / HTTP/1.1\r\n" else b"<p>Here"
            status = b"404 Not Found" if is_rules else b"200 OK"
            self.wfile.write(
                b"HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s"
                % (status, len(body), body)
            )


class Server(socketserver.ThreadingTCPServer):
    request_queue_size = 64

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.log: list[Received] = []
        self.pages: dict[bytes, bytes] = {}  # by Host header


@contextmanager
def serving() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def spellings() -> list[str]:
    """Return all links, each with its own mark."""
    chance = Random(9309)
    generated = ["/n" + "".join(chance.choices(PIECES, k=chance.randint(1, 12))) + "MARK" for _ in range(GENERATED)]
    return [href.replace("MARK", mark(number)) for number, href in enumerate([*TABLE, *generated])]


def mark(number: int) -> str:
    return f"m{number}e"


def page(links: list[str]) -> bytes:
    anchors = [f'<a href="{escape(link)}">link</a>' for link in links]
    return "\n".join(["<!DOCTYPE html><meta charset=utf-8><title>Links</title>", *anchors]).encode()


def demanded_by(url: str) -> Received:
    """Return the request that must be sent for a URL, computed from its text alone."""
    authority, _, target = url.removeprefix("http://").partition("/")
    return Received(f"GET /{target} HTTP/1.1\r\n".encode(), f"Host: {authority}\r\n".encode())


def test_the_request_line_is_the_path_and_query_of_the_stored_url(tmp_path: Path) -> None:
    hrefs = spellings()
    with serving() as server:
        port = server.server_address[1]
        for number, host in enumerate(HOSTS):
            links = [href.replace("AUTHORITY", f"{host}:{port}") for href in hrefs[number :: len(HOSTS)]]
            server.pages[f"Host: {host}:{port}\r\n".encode()] = page(links)
        crawl(tmp_path, port)
        log = server.log
    known = rows(tmp_path / "crawl", "SELECT url, state, visits FROM urls")
    assert Counter(log) == Counter(demanded_by(str(url)) for url, _, visits in known if visits)
    assert [url for url, _, visits in known if visits not in (0, 1)] == []
    done = [str(url) for url, state, visits in known if visits or state == PARKED]
    assert [href for number, href in enumerate(hrefs) if sum(mark(number) in url for url in done) != 1] == []
    assert_that_links_were_difficult(log, len(hrefs))


def crawl(tmp_path: Path, port: int) -> None:
    hosts_file = tmp_path / "hosts"
    hosts_file.write_text("".join(f"127.0.0.1 {host}\n" for host in HOSTS))
    seeds = ",".join(f"http://{host}:{port}/" for host in HOSTS)
    settings = {
        "HEAD_POLICY": "never",
        "SITEMAPS": False,
        "PROBE_AFTER": 0,
        "CRAWL_DIR": tmp_path / "crawl",
        "OWN_HOSTS": "*.test",
        "INTRANET_HOSTS": "*.test",
        "INTRANET_NETWORKS": "127.0.0.0/8",
        "DNS_HOSTS": hosts_file,
        "POLITENESS_MIN_DELAY": 0,
        "POLITENESS_LATENCY_FACTOR": 0,
        "CRAWL_HORIZON": 5,
        "LOG_LEVEL": "WARNING",
    }
    result = scrapy("crawl", "web", "-a", f"seeds={seeds}", timeout=100, **settings)
    assert result.returncode == 0, result.stderr


def assert_that_links_were_difficult(log: list[Received], links: int) -> None:
    """Assert that most links were requested, with every difficult character."""
    targets = {received.request_line.removeprefix(b"GET ").removesuffix(b" HTTP/1.1\r\n") for received in log}
    assert len(targets) > 0.8 * links
    assert max(map(len, targets)) > 1500
    text = b"\n".join(targets)
    assert [char for char in TROUBLE if char.encode() not in text and quote(char).encode() not in text.upper()] == []
