"""Crawl a web of copies, undisturbed or with kills; the clusters found must be the planted ones."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from crawler.settings import CONTENT_PROCESSES
from tests.crawl.pages import Pages, pages_served, seeds_of
from tests.crawl.runner import crawling, kill_all, rows
from tests.proofs.copies.web import Copies

RUN_TIMEOUT = 90.0  # seconds that one run may take
DELAY = 0.3  # seconds between two visits of a host: long enough for kills


@dataclass
class Findings:
    """The clusters that a crawl found, and its figures."""

    clusters: set[frozenset[str]] = field(default_factory=set)
    pages: int = 0
    kills: int = 0
    templates: int = 0  # hosts whose template was learned
    compared: int = 0  # pages that were decided by comparing texts


def crawl(
    web: Copies,
    directory: Path,
    *,
    kills: int = 0,
    workers: int = 2,
    seed: int = 1,
    content_processes: int = CONTENT_PROCESSES,
) -> Findings:
    """Crawl the web to its end."""
    return crawl_pages(
        web.served(), directory, kills=kills, workers=workers, seed=seed, content_processes=content_processes
    )


def crawl_pages(
    pages: Pages,
    directory: Path,
    *,
    kills: int = 0,
    workers: int = 2,
    seed: int = 1,
    delay: float = DELAY,
    content_processes: int = CONTENT_PROCESSES,
) -> Findings:
    """Crawl all of these pages once."""
    directory.mkdir(exist_ok=True)
    findings, chance = Findings(), random.Random(seed)
    with pages_served(pages, directory) as (settings, _):
        port = settings.pop("port")
        words = ("crawl", "web", "-a", f"seeds={seeds_of(pages, port)}", "--workers", str(workers))
        settings |= {"POLITENESS_MIN_DELAY": delay, "CRAWL_HORIZON": 5, "LOG_LEVEL": "WARNING", "COMMIT_VISITS": 10}
        settings["CONTENT_PROCESSES"] = content_processes
        while not _run(words, settings, directory, chance.uniform(0.1, 1.2) if findings.kills < kills else None):
            findings.kills += 1
    return _read_findings(directory / "crawl", findings)


def _run(words: tuple[str, ...], settings: dict[str, object], directory: Path, after: float | None) -> bool:
    """Run a crawl; kill it `after` seconds from its first visit if given. Returns whether it ended by itself."""
    with crawling(*words, output=directory / "output.txt", **settings) as process:
        deadline = time.monotonic() + RUN_TIMEOUT
        if after is not None:
            before = _visits(directory / "crawl")
            while process.poll() is None and _visits(directory / "crawl") == before and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(after)
            if process.poll() is None:
                kill_all(process)
                process.wait()
                return False
        code = process.wait(timeout=RUN_TIMEOUT)
        assert code == 0, (directory / "output.txt").read_text()
        return True


def _visits(directory: Path) -> object:
    """Return the number of documents so far; None before there is a store."""
    if not (directory / "crawl.db").exists():
        return None
    tables = rows(directory, "SELECT count(*) FROM sqlite_schema WHERE name = 'documents'")
    return rows(directory, "SELECT count(*) FROM documents")[0][0] if tables == [(1,)] else None


def _read_findings(directory: Path, findings: Findings) -> Findings:
    pages = rows(
        directory,
        """SELECT u.url, coalesce(ou.url, u.url), d.tier
           FROM documents d JOIN urls u ON u.host = d.host AND u.rest = d.rest
           LEFT JOIN documents o ON o.id = d.duplicate_of
           LEFT JOIN urls ou ON ou.host = o.host AND ou.rest = o.rest
           WHERE d.kind = 0 AND d.reason = 20 AND d.id = (
               SELECT max(n.id) FROM documents n WHERE n.host = d.host AND n.rest = d.rest)""",
    )
    clusters = defaultdict(set)
    for url, original, tier in pages:
        clusters[_host_and_path(str(original))].add(_host_and_path(str(url)))
        findings.compared += tier == 4
    findings.pages = len(pages)
    findings.clusters = {frozenset(members) for members in clusters.values() if len(members) > 1}
    findings.templates = len(rows(directory, "SELECT 1 FROM hosts WHERE length(template) > 0"))
    return findings


def _host_and_path(url: str) -> str:
    """Return a URL without scheme and port."""
    host, _, path = url.removeprefix("http://").partition("/")
    return f"{host.partition(':')[0]}/{path}"
