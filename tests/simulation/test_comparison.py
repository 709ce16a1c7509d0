"""An unfocused crawl is simulated over the pages that a focused crawl knows, and compared with it."""

from __future__ import annotations

import doctest
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from crawler.errors import CrawlError
from crawler.items import Kind
from crawler.monitor.text import WIDTH
from crawler.simulation import comparison
from crawler.simulation.chart import draw_comparison
from crawler.simulation.comparison import (
    HarvestComparison,
    compare_unfocused,
    comparison_data,
    comparison_lines,
    harvest_curve,
)
from crawler.simulation.known_web import KnownWeb
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from tests.defaults import options_with
from tests.samples import NOW, new_url, visit_to
from tests.small_collection import Collection

HOST = "http://a.test"
ON, OFF = 0.75, 0.25


class CrawledWeb:
    """A web as a focused crawl has fetched it: pages in the order of their visits, with relevance and links."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._collection = Collection(directory)

    def page(self, name: str, relevance: float | None, links: Sequence[str] = (), **facts: Any) -> None:
        body = "".join(f'<a href="{link}">{link}</a> ' for link in links) or name
        url = name if "://" in name else f"{HOST}/{name}"
        is_off_topic = relevance is not None and relevance < 0.5
        self._collection.add(
            url, body.encode(), content_type="text/html", relevance=relevance, is_off_topic=is_off_topic, **facts
        )

    def end(self, *seeds: str) -> None:
        self._collection.close()
        with closing(open_store(f"sqlite:{self.directory / 'crawl.db'}")) as store:
            store.urls.add_seeds([new_url(f"{HOST}/{seed}") for seed in seeds], NOW)
            store.crawl.set_facts({"topic": "birds"})

    def opened(self) -> Store:
        return open_store(f"sqlite:{self.directory / 'crawl.db'}", read_only=True)

    def read(self) -> KnownWeb:
        with closing(self.opened()) as store:
            return KnownWeb.read(store, self.directory / "warc")

    def compared(self, **settings: object) -> HarvestComparison:
        given = {"CRAWL_DIR": self.directory, "OWN_HOSTS": "*.test", "POLITENESS_MIN_DELAY": 0.01} | settings
        with closing(self.opened()) as store:
            return compare_unfocused(store, options_with(**given))


@pytest.fixture
def web(tmp_path: Path) -> CrawledWeb:
    return CrawledWeb(tmp_path)


def links_by_name(known: KnownWeb) -> dict[str, list[str]]:
    names = [page.url.removeprefix(f"{HOST}/") for page in known.pages]
    return {name: [names[target] for target in page.links] for name, page in zip(names, known.pages, strict=True)}


# ── the web that a crawl knows ──


def test_the_known_web_has_the_pages_that_were_fetched_and_the_links_between_them(web: CrawledWeb) -> None:
    """A page off topic has its links though its body is not archived; what was never fetched is not there."""
    web.page("0", ON, ["1", "2", "never"])
    web.page("2", OFF, ["0", "1"])
    web.page("1", None)
    web.end("0", "never")
    known = web.read()
    assert links_by_name(known) == {"0": ["1", "2"], "2": ["0", "1"], "1": []}
    assert [page.is_on_topic for page in known.pages] == [True, False, None]
    assert known.seeds == [f"{HOST}/0"]


def test_of_several_versions_the_newest_counts_at_the_place_of_the_first(web: CrawledWeb) -> None:
    web.page("0", OFF, ["1"])
    web.page("1", ON)
    web.page("0", ON, at=NOW + 9)
    web.end("0")
    known = web.read()
    assert links_by_name(known) == {"0": [], "1": []}
    assert harvest_curve(known, range(2)).tolist() == [1, 2]


def test_a_redirect_leads_to_its_target(web: CrawledWeb) -> None:
    web.page("0", ON, ["old"])
    web.page("old", None, status=301, location="/new")
    web.page("new", ON)
    web.end("0")
    found = web.compared()
    assert (found.focused.tolist(), found.unfocused.tolist()) == ([1, 2], [1, 2])


def test_pages_whose_links_cannot_be_read_are_counted(web: CrawledWeb) -> None:
    web.page("0", ON, ["1"])
    web.page("1", ON)
    web.end("0")
    (file,) = (web.directory / "warc").iterdir()
    file.write_bytes(file.read_bytes()[:100])
    found = web.compared()
    assert (found.unread, found.unreached, found.unfocused.tolist()) == (2, 1, [1])
    assert "2 pages: the archive cannot be read" in "\n".join(comparison_lines(found))


def test_a_large_crawl_is_read_in_part(web: CrawledWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.simulation.known_web.MOST_PAGES", 2)
    monkeypatch.setattr("crawler.simulation.known_web._READ_AT_ONCE", 1)
    web.page("0", ON, ["1", "2"])
    web.page("1", ON)
    web.page("2", ON)
    web.page("0", OFF, ["1", "2"], at=NOW + 9)
    web.end("0")
    known = web.read()
    assert links_by_name(known) == {"0": ["1"], "1": []}
    assert known.pages[0].is_on_topic is False


def test_hosts_answer_as_they_did_in_the_crawl(web: CrawledWeb) -> None:
    web.page("0", ON)
    web.end("0")
    known = web.read()
    visited = known.respond(visit_to(f"{HOST}/robots.txt", kind=Kind.ROBOTS, origin=HOST), 5.0)
    assert visited.rules is not None
    assert visited.rules.body is None
    assert visited.fetched is not None
    assert visited.fetched.ended == pytest.approx(5.0 + known.hosts["a.test"].latency)


# ── the comparison ──


def bird_web(web: CrawledWeb) -> None:
    """Ten pages on topic that were fetched first, and ten off topic that come first on the seed."""
    birds, others = [f"bird{number}" for number in range(10)], [f"other{number}" for number in range(10)]
    web.page("0", None, [*others, *birds, "unknown1", "unknown2"])
    for name in birds:
        web.page(name, ON)
    for name in others:
        web.page(name, OFF)
    web.end("0")


def test_an_unfocused_crawl_fetches_pages_in_the_order_found(web: CrawledWeb) -> None:
    bird_web(web)
    found = web.compared()
    assert found.focused.tolist() == [*range(1, 11), *[10] * 10]
    assert found.unfocused.tolist() == [*[0] * 10, *range(1, 11)]
    assert found.advantage is None  # the unfocused one has found nothing in the first quarter
    assert (found.pages, found.unreached, found.never_fetched) == (20, 0, 2)


def test_the_rests_of_the_options_hold(web: CrawledWeb) -> None:
    bird_web(web)
    slow = web.compared(POLITENESS_MIN_DELAY=0.5)
    assert slow.seconds > 20 * 0.5 > web.compared().seconds


def test_budgets_hold(web: CrawledWeb) -> None:
    bird_web(web)
    found = web.compared(BUDGET_HOST=6)
    assert len(found.unfocused) == 5
    assert found.unreached == 15
    assert "15 pages: no links lead there" in " ".join(comparison_lines(found))


def test_how_much_better_the_focused_crawl_was_is_a_mean_over_its_first_quarter(web: CrawledWeb) -> None:
    """Eight pages: after one and two, the focused crawl has one and two on topic, the other none and one."""
    names = ["good1", "good2", "bad1", "bad2", "bad3", "bad4", "bad5"]
    web.page("0", ON, ["bad1", "good1", "bad2", "good2", "bad3", "bad4", "bad5"])
    for name in names:
        web.page(name, ON if name.startswith("good") else OFF)
    web.end("0")
    found = web.compared()
    assert found.focused.tolist() == [1, 2, 3, 3, 3, 3, 3, 3]
    assert found.unfocused.tolist() == [1, 1, 2, 2, 3, 3, 3, 3]
    assert found.advantage == 3 / 2
    assert "1.50 × as many pages on topic" in " ".join(comparison_lines(found))


def test_the_comparison_says_what_it_cannot_know_within_80_columns(web: CrawledWeb) -> None:
    bird_web(web)
    lines = list(comparison_lines(web.compared()))
    text = " ".join(" ".join(lines).split())
    assert lines[0] == "Topic birds: 20 pages that this crawl has judged, 10 on topic"
    assert "10 10 0 15 10 5 20 10 10 The unfocused crawl was simulated" in text
    assert "Not known: 2 URLs that were found and never fetched." in text
    assert all(len(line) <= WIDTH for line in lines)


def test_the_same_crawl_gives_the_same_comparison(web: CrawledWeb) -> None:
    bird_web(web)
    assert comparison_data(web.compared()) == comparison_data(web.compared())


def test_the_curves_are_data_and_a_chart(web: CrawledWeb) -> None:
    bird_web(web)
    data = comparison_data(web.compared())
    assert data["curves"][0] == {"pages": 0, "focused": 0, "unfocused": 0}
    assert data["curves"][-1] == {"pages": 20, "focused": 10, "unfocused": 10}
    assert (data["topic"], data["pages"], data["on_topic"]) == ("birds", 20, 10)
    path = web.directory / "curves.png"
    draw_comparison(data, path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_without_judged_pages_or_seeds_there_is_nothing_to_compare(web: CrawledWeb, tmp_path: Path) -> None:
    web.page("0", None)
    web.end("0")
    with pytest.raises(CrawlError, match="No page of this crawl was judged by a topic"):
        web.compared()
    (tmp_path / "other").mkdir()
    other = CrawledWeb(tmp_path / "other")
    other.page("0", ON)
    other.end("never")
    with pytest.raises(CrawlError, match="None of the seeds of this crawl was fetched"):
        other.compared()


def test_the_examples_are_true() -> None:
    assert doctest.testmod(comparison).failed == 0
