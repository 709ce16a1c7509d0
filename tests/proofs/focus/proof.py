"""Crawl a served web for a topic: undisturbed, with kills, with several workers, and in the order found."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crawler.focus.topic import Topic
from tests.crawl.pages import pages_served
from tests.crawl.runner import crawling, kill_all, rows
from tests.proofs.focus.web import TopicalWeb, WebTopic, topic_file

RUN_TIMEOUT = 400.0  # seconds
DELAY = 0.1  # seconds that a host rests


@dataclass(frozen=True, slots=True, kw_only=True)
class FocusedRun:
    """What one crawl requested, in order, by the server's log."""

    order: Sequence[int]
    kills: int
    seconds: float
    known: int  # URLs that the crawl knows at its end
    with_evidence: int  # URLs that wait with evidence


def crawl(
    web: TopicalWeb,
    topic: WebTopic,
    learned: Topic,
    directory: Path,
    *,
    pages: int,
    kills: int = 0,
    workers: int = 1,
    seed: int = 1,
    **settings: object,
) -> FocusedRun:
    """Crawl until so many pages were fetched."""
    directory.mkdir(parents=True)
    chance, done = random.Random(seed), 0
    served: dict[str, dict[str, str]] = {host: {} for host in web.names}
    with pages_served(served, directory, addresses=len(served)) as (defaults, requests):
        port = defaults.pop("port")
        for host, bodies in web.served(port).items():
            served[host].update(bodies)
        topic_file(directory / "crawl", topic.name, learned)
        seeds = ",".join(web.url_of(number, port) for number in topic.seeds)
        words = ("crawl", "focused", "-a", f"topic={topic.name}", "-a", f"seeds={seeds}", "--workers", str(workers))
        chosen = defaults | {"POLITENESS_MIN_DELAY": DELAY, "CRAWL_MAX_PAGES": pages, "SCOPE": "any"} | settings
        begun = time.monotonic()
        while True:
            after = chance.uniform(1.0, 4.0) if done < kills else None
            # The limit counts the pages of one run.
            chosen["CRAWL_MAX_PAGES"] = max(1, pages - _pages(directory / "crawl"))
            if _run(words, chosen, directory, after):
                break
            done += 1
        seconds = time.monotonic() - begun
    order = [web.numbers[key] for key in (_host_and_path(request) for request in requests) if key in web.numbers]
    return FocusedRun(
        order=order,
        kills=done,
        seconds=seconds,
        known=int(str(rows(directory / "crawl", "SELECT count(*) FROM urls")[0][0])),
        with_evidence=int(str(rows(directory / "crawl", "SELECT count(*) FROM link_evidence")[0][0])),
    )


def _run(words: Sequence[str], settings: dict[str, object], directory: Path, after: float | None) -> bool:
    """Run a crawl; kill it so many seconds after its first page, if given. Returns whether it ended by itself."""
    with crawling(*words, output=directory / "output.txt", **settings) as process:
        deadline = time.monotonic() + RUN_TIMEOUT
        if after is not None:
            before = _pages(directory / "crawl")
            while process.poll() is None and _pages(directory / "crawl") == before and time.monotonic() < deadline:
                time.sleep(0.05)
            time.sleep(after)
            if process.poll() is None:
                kill_all(process)
                process.wait()
                return False
        code = process.wait(timeout=RUN_TIMEOUT)
        assert code == 0, (directory / "output.txt").read_text()
        return True


def _pages(directory: Path) -> int:
    if not (directory / "crawl.db").exists():
        return 0
    tables = rows(directory, "SELECT count(*) FROM sqlite_schema WHERE name = 'documents'")
    if tables != [(1,)]:
        return 0
    return int(str(rows(directory, "SELECT count(*) FROM documents WHERE kind = 0 AND status = 200")[0][0]))


def _host_and_path(request: str) -> tuple[str, str]:
    host, _, path = request.partition("/")
    return host, f"/{path}"
