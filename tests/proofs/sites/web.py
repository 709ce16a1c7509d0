"""Small sites with robots.txt rules, validators and binaries, served on real sockets."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.webgraph.answers import Answer, notice
from tests.webgraph.log import Entry, read_log
from tests.webgraph.server import Connection, Server, listeners

HTML = ("Content-Type", "text/html; charset=utf-8")
BINARY = ("Content-Type", "application/octet-stream")
WORDS = "A page has words, and this one has many of them, all in a row and none of any use. "
LARGE_FILE = 2_000_000


@dataclass(slots=True)
class Site:
    """The pages of one host; all other targets are 404."""

    pages: dict[str, Answer] = field(default_factory=dict)
    robots: Answer = field(default_factory=lambda: Answer(status=404))
    flips_after: int = 0  # page requests after which robots.txt forbids everything; 0 = never
    flipped: float | None = None  # when that happened

    def answer(self, target: str) -> Answer:
        if target == "/robots.txt":
            return self.robots
        if self.flips_after and self.flipped is None:
            self.flips_after -= 1
            if not self.flips_after:
                self.flipped = time.monotonic()
                self.robots = rules("User-agent: *\nDisallow: /", "max-age=1")
        return self.pages.get(target, notice(404, "Not here."))


def rules(text: str, cache_control: str = "") -> Answer:
    caching = (("Cache-Control", cache_control),) if cache_control else ()
    return Answer(status=200, headers=(("Content-Type", "text/plain"), *caching), body=text.encode())


def page(links: list[str], number: int, *, size: int = 12_000, etag: str = "") -> Answer:
    """Return an HTML page with these links, of about this size."""
    body = "".join(f'<a href="{link}">{link}</a> ' for link in links) + f"<p>Page {number}. "
    body += WORDS * max(1, (size - len(body)) // len(WORDS))
    return Answer(status=200, headers=(HTML, *((("ETag", etag),) if etag else ())), body=body.encode())


def file() -> Answer:
    return Answer(status=200, headers=(BINARY,), body=bytes(LARGE_FILE))


@dataclass(slots=True)
class Sites:
    """All hosts at one address, with the methods that the server of the synthetic web needs."""

    hosts: Mapping[str, Site]
    port: int = 0

    def addresses(self) -> dict[str, str]:
        return dict.fromkeys(self.hosts, "127.0.0.1")

    def answer(self, host: str, target: str, attempt: int) -> Answer:
        return self.hosts[host].answer(target)


@dataclass(frozen=True, slots=True)
class Served:
    """Sites that are being served."""

    port: int
    log_file: Path
    hosts_file: Path

    def log(self) -> list[Entry]:
        return read_log(self.log_file)


@contextmanager
def served(hosts: Mapping[str, Site], directory: Path, port: int = 0) -> Iterator[Served]:
    """Serve sites in a thread, so that a test can change their answers during a crawl. Port 0 is any that is free."""
    (listening,) = listeners(["127.0.0.1"], port)
    port = listening.getsockname()[1]
    log, hosts_file = directory / "access.jsonl", directory / "hosts"
    log.touch()
    hosts_file.write_text("".join(f"127.0.0.1 {host}\n" for host in hosts))
    server = Server(replace(Sites(hosts), port=port), log)  # type: ignore[arg-type]
    loop = asyncio.new_event_loop()

    def run() -> None:
        serving = loop.run_until_complete(loop.create_server(lambda: Connection(server), sock=listening))
        loop.run_forever()
        serving.close()
        loop.run_until_complete(serving.wait_closed())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield Served(port, log, hosts_file)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
