"""Pages with very many new links: how many URLs a second they bring, and how large the store's log becomes.

A server gives a page to each path, with links to URLs that nobody knows yet, on hosts all over the store; a crawl of
so many workers visits them.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import NamedTuple

from benchmarks.report import Verdict
from benchmarks.scale import NOT_FOUND, known_urls, load_list, serving, settings_for, url_of
from benchmarks.server import ROOT
from crawler.stores.contract.log import LARGEST_LOG

HOSTS = 20_000
# Workers, new links of a page, pages after which the crawl ends.
CASES = ((1, 30, 3_000), (1, 400, 1_500), (2, 1_500, 250), (4, 1_500, 250), (8, 1_500, 100))
WORDS = 150  # of a page's text
LONGEST = 600.0  # seconds
LOOK_EVERY = 0.05


class Crawled(NamedTuple):
    """What a crawl brought."""

    urls: int
    seconds: float
    log: int  # bytes of the store's log at its largest


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--urls", type=int, default=2_000_000, help="URLs in the store before")


def main(options: argparse.Namespace) -> int:
    verdicts = []
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        links = 0

        def answer(path: str, port: int) -> bytes:
            return NOT_FOUND if path == "/robots.txt" else _page(path, links, options.urls, port)

        with serving(answer) as (port, _):
            directory = Path(name)
            settings = settings_for(directory, HOSTS, port)
            load_list(directory, settings, range(options.urls), HOSTS, port)
            loaded = directory / "loaded.db"
            shutil.move(directory / "crawl" / "crawl.db", loaded)
            for workers, links, pages in CASES:
                shutil.rmtree(directory / "crawl")
                (directory / "crawl").mkdir()
                shutil.copy(loaded, directory / "crawl" / "crawl.db")
                crawled = _crawl(directory, settings, workers, pages)
                what = f"{workers} workers, {links:,} new links a page"
                print(
                    f"{what}: {crawled.urls / crawled.seconds:,.0f} new URLs a second with the start, log of "
                    f"{crawled.log / 1e6:.0f} MB",
                    flush=True,
                )
                verdicts.append(
                    Verdict(
                        what=f"{what}: log of {crawled.log / 1e6:.0f} MB, at most {LARGEST_LOG / 1e6:.0f}",
                        holds=crawled.log <= LARGEST_LOG,
                    )
                )
    print(*verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def _page(path: str, links: int, urls: int, port: int) -> bytes:
    chance = Random(path)
    text = " ".join("".join(chance.choices("abcdefgh", k=6)) for _ in range(WORDS))
    anchors = "".join(
        f"<a href='{url_of(chance.randrange(10 * urls, 10**9), HOSTS, port)}'>x</a>\n" for _ in range(links)
    )
    body = f"<title>{path}</title><p>{text}</p>{anchors}".encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def _crawl(directory: Path, settings: list[str], workers: int, pages: int) -> Crawled:
    log, largest, before = directory / "crawl" / "crawl.db-wal", 0, known_urls(directory)
    words = ["crawl", "web", "--workers", str(workers), "-s", f"CRAWL_MAX_PAGES={pages}", "-s", "SITEMAPS=False"]
    begun = time.monotonic()
    crawl = subprocess.Popen([sys.executable, "-m", "scrapy", *words, *settings], cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        while crawl.poll() is None and time.monotonic() < begun + LONGEST:
            largest = max(largest, log.stat().st_size if log.exists() else 0)
            time.sleep(LOOK_EVERY)
    finally:
        crawl.terminate()
        crawl.wait()
    return Crawled(known_urls(directory) - before, time.monotonic() - begun, largest)
