"""Ten million URLs on a hundred thousand hosts: loading time, bytes per URL, cost of new links, memory, restart.

The list is loaded by `scrapy seed --bulk` in two parts. After each, links are added to the store: three in five are
known, as on the web. Then a crawl is started, killed, and started again; a server on loopback logs its first request.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from benchmarks.measure import peak_memory
from benchmarks.server import ROOT
from crawler.items import Reason
from crawler.stores.contract.urls import NewUrl
from crawler.stores.open import open_store
from crawler.urls.keys import key_of

FIRST = 0.1  # share of the list after which links are added for the first time
LINKS = 60_000  # links that are added, in batches as in a commit
BATCH = 3_000
KNOWN = 0.6  # share of these links that are known
ADDRESSES = 200
PAGES = 3_000  # requests of the crawl before it is killed
NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
MEMORY, RESTART, RATE, WEIGHT, LOAD = 600e6, 30.0, 0.5, 140.0, 1_200.0


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--urls", type=int, default=10_000_000)
    parser.add_argument("--hosts", type=int, default=100_000)


def main(options: argparse.Namespace) -> int:
    urls, hosts = options.urls, options.hosts
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name, serving() as (port, requests):
        directory = Path(name)
        settings = settings_for(directory, hosts, port)
        first = int(urls * FIRST)
        seconds, text = load_list(directory, settings, range(first), hosts, port)
        print(f"{first:,} URLs loaded in {seconds:.0f} s", flush=True)
        few = _add_links(directory, first, hosts, port)
        print(f"at {first:,} URLs: {few:,.0f} links a second checked and, if new, inserted", flush=True)
        more, longer = load_list(directory, settings, range(first, urls), hosts, port)
        seconds, text = seconds + more, text + longer
        known = known_urls(directory)
        weight = (sum(path.stat().st_size for path in directory.glob("crawl/crawl.db*")) - text) / urls
        print(
            f"{known:,} URLs in all loaded in {seconds:.0f} s; {weight:.0f} bytes for each beyond its text", flush=True
        )
        many = _add_links(directory, urls, hosts, port)
        print(f"at {urls:,} URLs: {many:,.0f} links a second", flush=True)
        memory = _crawl_and_kill(settings, requests)
        restart = _restart(settings, requests)
        print(f"crawl process: {memory / 1e6:.0f} MB; {restart:.1f} s from an unclean restart to the first request")
    verdicts = [
        (f"loaded in {seconds / 60:.1f} minutes, at most {LOAD / 60:.0f}", seconds <= LOAD),
        (f"{weight:.0f} bytes for each URL beyond its text, at most {WEIGHT:.0f}", weight <= WEIGHT),
        (f"links at {urls:,} URLs: {many / few:.2f} of the rate at {first:,}, at least {RATE}", many >= RATE * few),
        (f"crawl process {memory / 1e6:.0f} MB, at most {MEMORY / 1e6:.0f}", memory <= MEMORY),
        (f"{restart:.1f} s to the first request after a kill, at most {RESTART:.0f}", restart <= RESTART),
    ]
    for what, holds in verdicts:
        print(f"{'pass' if holds else 'FAIL'}  {what}")
    return 0 if all(holds for _, holds in verdicts) else 1


# ── the list ──


def _name(number: int) -> str:
    return f"www.h{number}.s{number // 2}.test"


def url_of(number: int, hosts: int, port: int) -> str:
    """Make a URL; consecutive URLs are on different hosts, as in a list from elsewhere."""
    host = number * 48_271 % hosts
    return f"http://{_name(host)}:{port}/archive/{number % 97}/a-page-about-{number % 7_919}/{number}.html"


def load_list(directory: Path, settings: list[str], numbers: range, hosts: int, port: int) -> tuple[float, int]:
    """Load URLs; return the seconds it took and the bytes of their text."""
    path, text = directory / "list.txt", 0
    with path.open("w", encoding="ascii") as file:
        for number in numbers:
            url = url_of(number, hosts, port)
            text += len(url)
            file.write(url + "\n")
    begun = time.monotonic()
    _scrapy("seed", "--bulk", str(path), settings=settings)
    path.unlink()
    return time.monotonic() - begun, text


def known_urls(directory: Path) -> int:
    store = open_store(f"sqlite:{directory / 'crawl' / 'crawl.db'}", read_only=True)
    try:
        return store.urls.count()
    finally:
        store.close()


def _add_links(directory: Path, count: int, hosts: int, port: int) -> float:
    """Measure how many links a second a copy of the store checks and inserts."""
    copy = directory / "copy.db"
    shutil.copy(directory / "crawl" / "crawl.db", copy)
    chance = random.Random(count)
    store = open_store(f"sqlite:{copy}")
    try:
        batches = [[_link(chance, count, hosts, port) for _ in range(BATCH)] for _ in range(LINKS // BATCH)]
        begun = time.monotonic()
        for batch in batches:
            store.urls.add(batch, begun)
        return LINKS / (time.monotonic() - begun)
    finally:
        store.close()
        for path in directory.glob("copy.db*"):
            path.unlink()


def _link(chance: random.Random, count: int, hosts: int, port: int) -> NewUrl:
    number = chance.randrange(count) if chance.random() < KNOWN else chance.randrange(10 * count, 20 * count)
    url = url_of(number, hosts, port)
    return NewUrl(key=key_of(url), url=url, reason=Reason.LINK, depth=2)


# ── the crawl ──


def settings_for(directory: Path, hosts: int, port: int) -> list[str]:
    names = directory / "hosts"
    with names.open("w", encoding="ascii") as file:
        for number in range(hosts):
            file.write(f"127.40.0.{number % ADDRESSES + 1}\t{_name(number)}\n")
    given = {
        "CRAWL_DIR": directory / "crawl",
        "OWN_HOSTS": "*.test",
        "INTRANET_HOSTS": "*.test",
        "INTRANET_NETWORKS": "127.40.0.0/16",
        "DNS_HOSTS": names,
        "SCOPE": "any",
        "URL_PORTS": port,
        "LOG_LEVEL": "WARNING",
        "CONTENT_PROCESSES": 1,
    }
    return [word for name, value in given.items() for word in ("-s", f"{name}={value}")]


def _scrapy(*words: str, settings: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "scrapy", *words, *settings], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


@contextmanager
def _crawling(settings: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    crawl = subprocess.Popen([sys.executable, "-m", "scrapy", "crawl", "web", *settings], cwd=ROOT)
    try:
        yield crawl
    finally:
        crawl.send_signal(signal.SIGKILL)
        crawl.wait()


def _crawl_and_kill(settings: list[str], requests: list[float]) -> float:
    """Crawl until the server got PAGES requests; return the memory of the crawl process."""
    with _crawling(settings) as crawl:
        deadline = time.monotonic() + 300
        while len(requests) < PAGES and time.monotonic() < deadline and crawl.poll() is None:
            time.sleep(0.1)
        print(f"{len(requests):,} requests", flush=True)
        return peak_memory(crawl.pid)


def _restart(settings: list[str], requests: list[float]) -> float:
    """Restart the crawl; return the seconds until its first request."""
    before, begun = len(requests), time.monotonic()
    with _crawling(settings) as crawl:
        while len(requests) == before and time.monotonic() < begun + 300 and crawl.poll() is None:
            time.sleep(0.01)
        return requests[before] - begun if len(requests) > before else float("inf")


@contextmanager
def serving(answer: Callable[[str, int], bytes] = lambda path, port: NOT_FOUND) -> Iterator[tuple[int, list[float]]]:
    """Run a server that gives an answer to each path, 404 by default; yields its port and the times of requests."""
    requests: list[float] = []
    loop = asyncio.new_event_loop()

    class Answering(asyncio.Protocol):
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            self._transport = cast("asyncio.Transport", transport)

        def data_received(self, data: bytes) -> None:
            requests.append(time.monotonic())
            self._transport.write(answer(data.split(b" ", 2)[1].decode("ascii", "replace"), port))

    async def serve() -> int:
        first = await loop.create_server(Answering, "127.40.0.1", 0)
        port = int(first.sockets[0].getsockname()[1])
        others = [f"127.40.0.{number}" for number in range(2, ADDRESSES + 1)]
        servers.extend([first, await loop.create_server(Answering, others, port)])
        return port

    servers: list[asyncio.Server] = []
    port = loop.run_until_complete(serve())
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield port, requests
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
