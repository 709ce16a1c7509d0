"""Focused crawls under a virtual clock: good hosts come first, a trap sinks, a share goes to what is unknown."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from crawler.focus.topic import Topic
from crawler.urls.hosts import host_of
from tests.crawl.topic_web import COMMON, WORDS
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


def test_a_share_of_the_visits_goes_to_what_is_unknown(tmp_path: Path) -> None:
    """Links that promise nothing wait in the last level, and are visited now and then."""
    seeds = ["http://h0.test/", "http://h1.test/"]
    shares = {}
    for share in (0.0, 0.2):
        directory = tmp_path / str(share)
        directory.mkdir()
        simulation = FocusedSimulation(trap_or_ordinary, seeds, BIRDS, directory, FOCUS_EXPLORE=share, FOCUS_FOLLOW=0.2)
        urls = simulation.fetch(200)
        simulation.store.close()
        shares[share] = sum("birds" not in url.rstrip("/").rpartition("/")[2] for url in urls) / len(urls)
    assert shares[0.0] < shares[0.2] < shares[0.0] + 0.35
