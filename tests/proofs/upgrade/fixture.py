"""The fixture: crawl directories that an older version wrote, and its exports of them."""

from __future__ import annotations

import json
import signal
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.crawl.runner import crawling, rows, scrapy
from tests.proofs.sites.web import Served
from tests.proofs.upgrade.web import seeds

ARCHIVE = Path(__file__).with_name("before.tar.xz")
STOPPED, KILLED = "stopped", "killed"  # half a crawl that ended at its page limit; another that was killed
HALF = 45  # pages
TIMELESS = ("url", "title", "text", "digest", "content_type", "language", "format", "status", "problem", "anchors")


def settings(web: Served, directory: Path, **more: object) -> dict[str, object]:
    return {
        "CRAWL_DIR": directory,
        "OWN_HOSTS": "*.test",
        "INTRANET_HOSTS": "*.test",
        "INTRANET_NETWORKS": "127.0.0.0/8",
        "DNS_HOSTS": web.hosts_file,
        "POLITENESS_MIN_DELAY": 0.01,
        "POLITENESS_LATENCY_FACTOR": 0,
        "POLITENESS_ADDRESS_GAP": 0,
        "RETRY_DELAY": 0.1,
        "CRAWL_HORIZON": 5,
        "LOG_LEVEL": "WARNING",
    } | more


def crawl(web: Served, directory: Path, **more: object) -> str:
    """Crawl to the end; return the log output."""
    result = scrapy("crawl", "web", "-a", f"seeds={','.join(seeds(web.port))}", **settings(web, directory, **more))
    assert result.returncode == 0, result.stderr
    return result.stderr


def export(directory: Path) -> list[dict[str, Any]]:
    """Return the documents that `scrapy export` writes, sorted by URL."""
    result = scrapy("export", "--to", "jsonl", "--blocks", "--links", CRAWL_DIR=directory)
    assert result.returncode == 0, result.stderr
    return sorted(map(json.loads, result.stdout.splitlines()), key=lambda document: document["url"])


def timeless(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the fields that do not depend on the time and order of the fetches."""
    return [{name: document.get(name) for name in TIMELESS} for document in documents]


def states(directory: Path) -> dict[str, tuple[object, ...]]:
    """Return URL → state and reason; the reasons of copies depend on which was fetched first."""
    return {str(url): (state, reason) for url, state, reason in rows(directory, "SELECT url, state, reason FROM urls")}


def make(web: Served, directory: Path) -> None:
    """Make the fixture: crawl halfway, twice, and from there to the end; pack directories and exports."""
    crawl(web, directory / STOPPED, CRAWL_MAX_PAGES=HALF)
    kill(web, directory / KILLED)
    exports: dict[str, Any] = {name: export(directory / name) for name in (STOPPED, KILLED)}
    with tarfile.open(directory / "before.tar.xz", "w:xz") as archive:
        for name in (STOPPED, KILLED):
            archive.add(directory / name, name)
        crawl(web, directory / STOPPED)
        exports["finished"] = timeless(export(directory / STOPPED))
        exports["states"] = states(directory / STOPPED)
        (directory / "exports.json").write_text(json.dumps(exports, indent=1))
        archive.add(directory / "exports.json", "exports.json")


def kill(web: Served, directory: Path) -> None:
    """Kill a crawl while some of its visits are in flight."""
    words = ("crawl", "web", "-a", f"seeds={','.join(seeds(web.port))}")
    before = len(web.log())
    with crawling(*words, output=directory.with_suffix(".log"), **settings(web, directory)) as process:
        deadline = time.monotonic() + 60
        while len(web.log()) < before + HALF or not leased(directory):
            assert time.monotonic() < deadline, directory.with_suffix(".log").read_text()
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert leased(directory), "all visits ended just before the kill: try again"


def leased(directory: Path) -> int:
    """Return the number of URLs in flight."""
    return len(rows(directory, "SELECT 1 FROM urls WHERE state = 1"))


def unpack(directory: Path) -> Mapping[str, Any]:
    """Unpack the crawl directories below this one; return the exports of them."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(directory, filter="data")
    exports: Mapping[str, Any] = json.loads((directory / "exports.json").read_text())
    return exports
