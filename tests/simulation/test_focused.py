"""Focused crawls under a virtual clock: good hosts come first, a trap sinks, a share goes to what is unknown."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from crawler.focus.topic import Topic
from crawler.items import CrawlLimits
from crawler.urls.hosts import host_of
from tests.crawl.topic_web import COMMON, WORDS
from tests.samples import NOW
from tests.simulation.focused import FocusedSimulation

BIRDS = Topic.learn([], query="gull heron plumage feather nest wing")
TRAP = "trap.test"


def page(about: str, links: dict[str, str], random: Random) -> str:
    """Return a page about something, with links: URL → anchor."""
    words = WORDS[about].split()
    text = " ".join(random.choice(words if random.random() < 0.3 else COMMON) for _ in range(150))
    items = "".join(f'<li><a href="{url}">{anchor}</a>' for url, anchor in links.items())
    return f"<title>{random.choice(words)}</title><p>{text}.<ul>{items}</ul>"


def trap_or_ordinary(url: str) -> str:
    """A page of the trap is about taxes, and all its links promise birds; other hosts have a third about birds."""
    host, random = host_of(url), Random(url)
    path = url.split("/", 3)[3]
    if host == TRAP:
        links = {f"http://{TRAP}/birds/{random.random()}": "gull and heron feather" for _ in range(10)}
        return page("taxes", links, random)
    depth = path.count("/")
    links = {
        f"http://{host}/{path}{name}{number}/": f"{Random(name + url).choice(WORDS[name].split())} {number}"
        for number in range(2)
        for name in ("birds", "taxes", "bread")
        if depth < 6
    }
    about = next((name for name in WORDS if path.rstrip("/").rpartition("/")[2].startswith(name)), "bread")
    return page(about, links | {f"http://{TRAP}/": "gull"}, random)


@pytest.mark.parametrize("hosts", [1, 4])
def test_a_host_whose_links_promise_what_its_pages_are_not_sinks(hosts: int, tmp_path: Path) -> None:
    seeds = [f"http://{TRAP}/", *(f"http://h{number}.test/" for number in range(hosts))]
    simulation = FocusedSimulation(trap_or_ordinary, seeds, BIRDS, tmp_path)
    urls = simulation.fetch(1000)
    simulation.store.close()
    visits = [number for number, url in enumerate(urls) if host_of(url) == TRAP]
    assert len(visits) >= 5, "it does look promising at first"
    assert len(visits[100:]) <= 0.05 * (len(urls) - visits[:100][-1])


def test_a_slow_host_with_good_links_does_not_hold_the_others_up(tmp_path: Path) -> None:
    """It may be visited every 15 s; meanwhile the others are visited as their own rests allow."""
    seeds = ["http://slow.test/", *(f"http://h{number}.test/" for number in range(4))]
    slow = CrawlLimits(crawl_delay=15.0)
    simulation = FocusedSimulation(promising_or_poor, seeds, BIRDS, tmp_path, crawl_limits={"slow.test": slow})
    urls = simulation.fetch(1600)
    seconds = simulation.time - NOW
    simulation.store.close()
    assert sum(host_of(url) == "slow.test" for url in urls) >= 1
    assert seconds < 2 * 1600 * 0.1 / 4


def promising_or_poor(url: str) -> str:
    """All pages of the slow host are about birds, and none of the others."""
    host, random = host_of(url), Random(url)
    name = "birds" if host == "slow.test" else "taxes"
    links = {f"http://{host}/{random.random()}": random.choice(WORDS[name].split()) for _ in range(5)}
    return page(name, links, random)
