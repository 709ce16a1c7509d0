"""Reports can be drawn for crawls of any size; an empty section says that it is empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import html5lib
import pytest

from crawler.items import Page, Reason
from crawler.report.bars import ChartBar
from crawler.report.charts import bar_chart, count_chart, time_chart
from crawler.report.data import crawl_data
from crawler.report.host_data import host_data
from crawler.report.host_page import host_page
from crawler.report.lines import ChartLine
from crawler.report.page import crawl_page
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from tests.contracts.visits import fetch
from tests.report.hostile import options_of
from tests.samples import NOW, acquire, new_url


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:{tmp_path / 'crawl.db'}", durable=False)
    acquire(opened, "me", 0, NOW, 60, 60)
    yield opened
    opened.close()


def page_of(store: Store) -> tuple[dict[str, Any], str]:
    data = crawl_data(store, options_of("data/x"), NOW + 60)
    return data, crawl_page(data)


def tags(markup: str, name: str) -> list[Any]:
    tree = html5lib.parse(markup, treebuilder="etree", namespaceHTMLElements=False)
    return [node for node in tree.iter() if isinstance(node.tag, str) and node.tag.rpartition("}")[2] == name]


def words(node: Any) -> str:
    return " ".join("".join(node.itertext()).split())


# ── small and large ──


def test_a_crawl_of_nothing_has_sentences_and_no_charts(store: Store) -> None:
    _, page = page_of(store)
    assert not tags(page, "svg")
    assert "This crawl has no URLs yet." in page
    assert "No visit has ended yet." in page


def test_a_crawl_that_was_only_seeded_can_be_reported(store: Store) -> None:
    store.urls.add([new_url("http://a.test/")], NOW)
    data, page = page_of(store)
    assert data["times"] == {"first": NOW, "last": NOW}
    assert "No host has responded twice yet" in page


def test_a_crawl_of_three_pages_reads_well(store: Store) -> None:
    for number in range(3):
        fetch(store, f"http://a.test/{number}", NOW + 10 * number, page=Page(body_digest=b"%d" % number, title="x"))
    data, page = page_of(store)
    assert data["totals"]["pages"] == 3
    cards = [words(node) for node in tags(page, "dd")]
    assert cards[:2] == ["3among 3 archived responses", "3of 1 host"]
    assert "The required delay was kept for the one host that has responded more than once." in page


def test_only_a_crawl_that_has_judged_pages_has_a_section_about_its_topic(store: Store) -> None:
    fetch(store, "http://a.test/", NOW, page=Page())
    data, page = page_of(store)
    assert data["topic"] is None
    assert "Topic" not in [words(node) for node in tags(page, "h2")]


def judged_crawl(store: Store, on_topic: int = 6) -> None:
    """Eight pages of one host, in two sections."""
    store.crawl.set_facts({"topic": "birds"})
    for number in range(8):
        facts = (0.75, Reason.OK) if number < on_topic else (0.25, Reason.OFF_TOPIC)
        url = f"http://a.test/{'birds' if number < on_topic else 'taxes'}/{number}"
        fetch(store, url, NOW + 10 * number, page=Page(relevance=facts[0]), reason=facts[1])


def test_the_harvest_of_a_focused_crawl_is_drawn_with_its_best_sections(store: Store) -> None:
    judged_crawl(store)
    data, page = page_of(store)
    assert (data["topic"]["name"], data["topic"]["pages"], data["topic"]["on_topic"]) == ("birds", 8, 6)
    section = next(node for node in tags(page, "section") if node.attrib["id"] == "topic")
    titles = [words(node) for node in section.iter() if node.tag == "figcaption"]
    assert titles == ["Harvest curve", "Share on topic"]
    assert "The crawl is about the topic birds." in words(section)
    assert [words(node) for node in section.iter() if node.tag == "td"][-10:-5] == [
        "a.test/birds/",
        "6",
        "6",
        "0.75",
        "0.708",
    ]
    assert "#topic" in {node.attrib.get("href") for node in tags(page, "a")}


@pytest.mark.parametrize("on_topic", [0, 8])
def test_a_harvest_of_nothing_or_of_all_is_drawn(store: Store, on_topic: int) -> None:
    judged_crawl(store, on_topic)
    data, page = page_of(store)
    assert data["topic"]["on_topic"] == on_topic
    assert "Harvest curve" in page


def test_the_report_of_a_host_has_its_own_harvest_and_names_no_other_host(store: Store) -> None:
    judged_crawl(store)
    fetch(store, "http://b.test/", NOW, page=Page(relevance=0.9))
    data = host_data(store, options_of("data/x"), key_of("http://a.test/").host, NOW + 600)
    assert data is not None
    assert data["topic"]["pages"] == 8
    assert {one["name"] for one in data["topic"]["best_sections"]} == {"a.test/birds/", "a.test/taxes/"}
    assert "best_sources" not in data["topic"]
    assert "Harvest curve" in host_page(data)


@pytest.mark.parametrize("pages", [1, 7, 1_000, 1_234_567])
def test_lines_over_numbers_of_pages_stay_within_their_chart(pages: int) -> None:
    counts = [pages * part / 10 for part in range(11)]
    chart = str(count_chart("Curve", counts, [ChartLine("x", counts)], "pages", "pages"))
    for drawing in tags(chart, "svg"):
        labels = [node for node in drawing.iter() if node.tag.endswith("text")]
        assert all(0 <= float(label.attrib["x"]) <= float(drawing.attrib["width"]) for label in labels)
        assert "pages" in [words(label) for label in labels]


def test_a_crawl_of_millions_reads_well(store: Store) -> None:
    fetch(store, "http://a.test/", NOW, page=Page())
    data, _ = page_of(store)
    data["totals"] |= {"known": 12_345_678, "pages": 1_234_567, "documents": 1_500_000, "archive_bytes": 10**12}
    page = crawl_page(data)
    for shown in ("1,234,567", "12,345,678", "1.0 TB"):
        assert shown in page


def test_every_section_can_be_reached(store: Store) -> None:
    _, page = page_of(store)
    places = {node.attrib.get("id") for node in tags(page, "section")}
    assert {node.attrib["href"][1:] for node in tags(page, "a")} == places


def test_a_host_that_was_never_visited_can_be_reported(store: Store) -> None:
    store.urls.add([new_url("http://a.test/")], NOW)
    data = host_data(store, options_of("data/x"), key_of("http://a.test/").host, NOW)
    assert data is not None
    assert "Nothing was requested from this host yet." in host_page(data)


def test_a_host_that_is_not_known_has_no_report(store: Store) -> None:
    assert host_data(store, options_of("data/x"), key_of("http://a.test/").host, NOW) is None


# ── charts ──


def test_a_chart_has_a_title_axes_a_legend_and_its_numbers() -> None:
    chart = str(
        time_chart("Growth", [0, 60, 120], [ChartLine("found", [0, 5, 9]), ChartLine("fetched", [0, 2, 4])], "URLs")
    )
    (figure,) = tags(chart, "figure")
    assert words(tags(chart, "figcaption")[0]) == "Growth"
    assert [words(node) for node in tags(chart, "li")] == ["found", "fetched"]
    texts = [words(node) for node in tags(chart, "text")]
    assert "URLs" in texts
    assert "time (UTC) on 1970-01-01" in texts
    assert [words(node) for node in tags(chart, "td")][-3:] == ["1970-01-01 00:02:00 UTC", "9", "4"]
    assert len(tags(chart, "title")) == len(tags(chart, "desc")) == 2
    assert figure is not None


def test_one_series_needs_no_legend() -> None:
    assert not tags(str(bar_chart("Sizes", [ChartBar("a", [1]), ChartBar("b", [2])], "pages")), "li")


@pytest.mark.parametrize("values", [[0.0], [1.0], [1_234_567.0], [0.0001, 3.0], [0, 0], [1e12, 1]])
def test_bars_stay_within_their_chart(values: list[float]) -> None:
    chart = str(bar_chart("Bars", [ChartBar(f"name {value}", [value]) for value in values], "things", whole=False))
    for drawing in tags(chart, "svg"):
        width = float(drawing.attrib["width"])
        for bar in (node for node in drawing.iter() if node.tag.endswith("rect")):
            assert 0 <= float(bar.attrib["x"]) + float(bar.attrib["width"]) <= width


@pytest.mark.parametrize("span", [1.0, 59.0, 3_600.0, 86_400.0 * 3, 86_400.0 * 4_000])
def test_lines_stay_within_their_chart_however_long_it_took(span: float) -> None:
    times = [NOW + span * number / 10 for number in range(11)]
    chart = str(time_chart("Time", times, [ChartLine("x", [number * 1e6 for number in range(11)])], "things"))
    for drawing in tags(chart, "svg"):
        (line,) = [node for node in drawing.iter() if node.tag.endswith("polyline")]
        points = [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        assert all(0 <= x <= float(drawing.attrib["width"]) and 0 <= y <= 270 for x, y in points)
        assert sum(1 for node in drawing.iter() if node.tag.endswith("line")) > 3
