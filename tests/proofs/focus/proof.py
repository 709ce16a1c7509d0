"""Crawl a served web for a topic: undisturbed, with kills, with several workers, and in the order found."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crawler.focus.topic import Topic
from tests.crawl.pages import pages_served
from tests.crawl.runner import rows
from tests.proofs.focus.web import TopicalWeb, WebTopic, topic_file
from tests.proofs.killed_run import archived_answers, run_or_kill

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
            chosen["CRAWL_MAX_PAGES"] = max(
                1, pages - archived_answers(directory / "crawl", "kind = 0 AND status = 200")
            )
            if run_or_kill(words, chosen, directory, after, RUN_TIMEOUT):
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


def _host_and_path(request: str) -> tuple[str, str]:
    host, _, path = request.partition("/")
    return host, f"/{path}"
