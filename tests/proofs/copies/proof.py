"""Crawl a web of copies, undisturbed or with kills; the clusters found must be the planted ones."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from crawler.settings import CONTENT_PROCESSES
from tests.crawl.pages import Pages, pages_served, seeds_of
from tests.crawl.runner import rows
from tests.proofs.copies.web import Copies
from tests.proofs.killed_run import run_or_kill

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
        while not run_or_kill(
            words, settings, directory, chance.uniform(0.1, 1.2) if findings.kills < kills else None, RUN_TIMEOUT
        ):
            findings.kills += 1
    return _read_findings(directory / "crawl", findings)


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
