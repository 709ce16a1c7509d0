"""The same crawl under a virtual clock, with the same hosts, rests and connections; and without any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from crawler.focus.topic import Topic
from crawler.urls.hosts import host_of
from tests.proofs.focus.best_first import BestFirst
from tests.proofs.focus.proof import DELAY
from tests.proofs.focus.web import TopicalWeb, WebTopic
from tests.simulation.focused import FocusedSimulation

PORT = 8000


def simulate(
    web: TopicalWeb, topic: WebTopic, learned: Topic, directory: Path, pages: int, **settings: object
) -> list[int]:
    """Return the numbers of the pages that a simulated crawl fetches, in order."""
    directory.mkdir(parents=True, exist_ok=True)
    seeds = [web.url_of(number, PORT) for number in topic.seeds]
    given = {"POLITENESS_MIN_DELAY": DELAY, "URL_PORTS": str(PORT)} | settings
    simulation = FocusedSimulation(_bodies(web), seeds, learned, directory, **given)
    urls = simulation.fetch(pages)
    simulation.store.close()
    return [_number(web, url) for url in urls]


def best_first(web: TopicalWeb, topic: WebTopic, learned: Topic, pages: int) -> list[int]:
    """Return the numbers of the pages that are fetched if the best is always next."""
    seeds = [web.url_of(number, PORT) for number in topic.seeds]
    return [_number(web, url) for url in BestFirst(_bodies(web), learned, str(PORT)).fetch(seeds, pages)]


def _bodies(web: TopicalWeb) -> Callable[[str], str]:
    served = web.served(PORT)
    return lambda url: served[host_of(url)][_path(url)]


def _number(web: TopicalWeb, url: str) -> int:
    return web.numbers[host_of(url), _path(url)]


def _path(url: str) -> str:
    return "/" + url.split("/", 3)[3]
