"""The benchmarks compare equal work, and their verdicts are right; their speed is not tested here."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from scrapy.utils.sitemap import Sitemap

from benchmarks import discovery, duplicates, focus_topics, focus_webs, polite, search, sites, sketch_speed
from benchmarks.crawl import differences
from benchmarks.duplicate_scores import best_cut
from benchmarks.edited_texts import Editor
from benchmarks.focus_topics import TopicQuality
from benchmarks.focus_webs import FocusMode, FocusPage, FocusTask, WebLink
from benchmarks.measure import Cost
from benchmarks.report import Measured, verdicts
from benchmarks.server import RequestLog, Served
from benchmarks.sides import Ours, Run, Scene, Stock
from benchmarks.web import LINKS, NEW_LINKS, Web, page_path
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.discovery import find_duplicate_clusters
from crawler.duplicates.evaluation import Quality
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.shingles import shingle_set
from crawler.fetch.robots import RobotsRules
from crawler.parse.sitemaps import parse_sitemap
from crawler.search.query import Searcher
from tests.focus.pages import bird_pages, screw_pages

CLOSED = Web(pages=40, hosts=5, port=8000)
OPEN = replace(CLOSED, is_open=True)


@pytest.fixture(scope="module", params=[CLOSED, OPEN], ids=["closed", "open"])
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with Served(request.param, None, compress=True) as served:
        yield Scene(served=served, directory=tmp_path_factory.mktemp("scene"), core=None)


@pytest.mark.crawl
def test_both_crawlers_fetch_the_same_pages_and_their_cost_is_measured(scene: Scene) -> None:
    ours, stock, web = Ours(processes=1), Stock(), scene.served.web
    starts = [ours.start_up(scene), stock.start_up(scene)]
    assert scene.served.take().pages == []
    runs = [ours.crawl(scene), stock.crawl(scene)]
    assert list(differences(web, *runs)) == []
    if not web.is_open:
        assert [set(run.requests.pages) for run in runs] == [web.urls(), web.urls()]
    assert [run.requests.robots for run in runs] == [web.hosts, 0]
    assert runs[0].archive > 40 * 1000
    for cost in (*starts, *(run.cost for run in runs)):
        assert 0 < cost.own < 60
        assert 10e6 < cost.memory < 1e9
    assert runs[0].cost.children > 0


@pytest.mark.parametrize(
    ("fetched", "complaint"),
    [
        (lambda urls: urls[1:], "did not fetch 1 of 40"),
        (lambda urls: [*urls, urls[0]], "1 pages twice"),
        (lambda urls: [*urls, "http://127.30.0.1:8000/elsewhere"], "fetched unknown URLs"),
    ],
)
def test_runs_that_fetched_different_pages_are_not_compared(fetched, complaint) -> None:
    urls = sorted(CLOSED.urls())
    [wrong] = differences(CLOSED, run_of(urls), run_of(fetched(urls)))
    assert complaint in wrong
    assert wrong.startswith("ours")


@pytest.mark.parametrize(("second", "shortest"), [(10.5, 0.5), (9.0, -1.0)], ids=["late enough", "too early"])
def test_the_shortest_gap_is_compared_with_the_delay_of_its_host(second: float, shortest: float) -> None:
    requests = [(0.0, "a"), (0.1, "b"), (second, "a"), (200.0, "b")]
    assert polite.shortest_gap(requests, {"a": 10.0, "b": 100.0}) == pytest.approx(shortest)


def test_the_possible_rate_of_hosts_with_different_delays() -> None:
    mix, quick = polite.workloads(120.0)
    assert (len(mix.delays), mix.possible) == (2_000, pytest.approx(182))
    assert quick.possible == pytest.approx(2_000)


def test_every_page_of_a_closed_web_can_be_reached_and_has_as_many_links() -> None:
    web = Web(pages=500, hosts=10, port=8000)
    found = set(web.seeds())
    unread = list(found)
    while unread:
        links = set(web.links(path_of(unread.pop())))
        assert len(links) == LINKS
        unread += links - found
        found |= links
    assert found == web.urls()


def test_an_open_web_never_names_a_new_url_twice() -> None:
    new = [url for path in OPEN.all_pages() for url in OPEN.links(path) if url not in OPEN.urls()]
    further = [url for found in new for url in OPEN.links(path_of(found)) if url not in OPEN.urls()]
    assert len(new) == 40 * NEW_LINKS
    assert len(further) == len(new) * NEW_LINKS
    assert len({*new, *further}) == len(new) + len(further)


def test_pages_have_the_stated_size_and_all_differ() -> None:
    bodies = [CLOSED.body(page_path(number)) for number in range(40)]
    assert 24_000 < sum(map(len, bodies)) / 40 < 28_000
    assert len(set(bodies)) == 40


@pytest.mark.parametrize(
    ("own", "together", "is_open", "expected"),
    [
        (1.0, 4.0, False, [True, True]),
        (1.3, 4.0, False, [False, True]),
        (1.0, 4.1, False, [True, False]),
        (1.6, 9.0, True, [True]),
        (1.7, 1.8, True, [False]),
    ],
)
def test_verdicts(own: float, together: float, is_open: bool, expected: list[bool]) -> None:
    stock = measured(own=10.0, together=10.0)
    assert [found.holds for found in verdicts(stock, measured(own=own, together=together), is_open=is_open)] == expected


def measured(own: float, together: float) -> Measured:
    return Measured(
        pages=1, own=own, all=together, raw_own=own, raw_all=together, start=0, memory=0, children_memory=0, lag=None
    )


def run_of(urls: list[str]) -> Run:
    return Run(cost=Cost(), requests=RequestLog(pages=urls, robots=0, bytes=0, cpu=0.0), stats={})


def path_of(url: str) -> str:
    return "/" + url.split("/", 3)[3]


@pytest.mark.parametrize("with_more", [False, True])
def test_both_sides_read_the_same_sitemap(with_more: bool) -> None:
    body = sites.sitemap(300, with_more=with_more)
    assert sites.read_ours(body) == sites.read_scrapys(body) == 300
    found = parse_sitemap(body, "https://shop.example/").entries
    theirs = list(Sitemap(body))
    assert [entry.loc for entry in found] == [entry["loc"] for entry in theirs]
    assert [[href for _, href in entry.alternates] for entry in found] == [
        entry.get("alternate", []) for entry in theirs
    ]
    assert any(entry.media for entry in found) is with_more


def test_the_rules_of_the_benchmark_allow_some_and_forbid_some() -> None:
    rules = RobotsRules.parse(sites.robots_txt(Random(1)))
    verdicts = {rules.allows(f"https://shop.example{page_path(number)}", "bot") for number in range(100)}
    assert verdicts == {True, False}


@pytest.mark.parametrize(
    ("decision", "scrapy", "memory", "expected"),
    [
        (20.0, 1.5, 64_000_000, [True, True, True]),
        (21.0, 1.4, 65_000_000, [False, False, False]),
    ],
)
def test_verdicts_on_sites(decision: float, scrapy: float, memory: int, expected: list[bool]) -> None:
    costs = {"large": {"ours": [1.0, 9.0], "scrapy": [9.0, scrapy]}}
    assert [found.holds for found in sites.judge([decision, 99.0], costs, {"large": memory})] == expected


@pytest.mark.parametrize("edit", ["replaced", "deleted", "moved", "headed", "truncated"])
def test_edited_copies_are_about_as_similar_as_they_should_be(edit: str) -> None:
    words = [f"w{number}" for number in range(1_200)]
    text = "\n".join(" ".join(words[at : at + 15]) + "." for at in range(0, len(words), 15))
    others = [f"v{number}" for number in range(1_200)]
    for aim in (0.8, 0.9):
        copies = [getattr(Editor(Random(seed), others), edit)(text, aim) for seed in (1, 2, 1)]
        assert copies[0] == copies[2]
        assert (copies[0] == copies[1]) is (edit == "truncated")
        assert jaccard(shingle_set(text), shingle_set(copies[0])) == pytest.approx(aim, abs=0.07)


def test_the_best_cut_is_the_one_with_the_best_f1() -> None:
    values, truth = np.array([0.1, 0.5, 0.6, 0.7, 0.9]), np.array([False, True, False, True, True])
    cut, best = best_cut(values, truth)
    assert (cut, best[:2]) == (0.5, (0.75, 1.0))


@pytest.mark.parametrize(
    ("precision", "recall", "expected"),
    [(0.99, 0.97, [True] * 4), (0.98, 0.98, [False, True, True, True]), (1.0, 0.96, [True, False, True, True])],
)
def test_verdicts_on_duplicates(precision: float, recall: float, expected: list[bool]) -> None:
    found = duplicates.judge("pages", [Quality(precision, recall, 0.0)] * 2)
    assert [verdict.holds for verdict in found] == expected


def test_all_sides_sketch_the_same_documents() -> None:
    documents = sketch_speed.thousands([" ".join(map(str, range(2_500))), "short"], 10)
    assert [len(document.split()) for document in documents] == [1_000, 1_000]
    assert all(side(documents[0]) is not None for side in sketch_speed.sides().values())
    assert sorted(sketch_speed.runs_of("A b, c d e F")) == ["a b c d e", "b c d e f"]


@pytest.mark.parametrize(("speed", "holds"), [(4.0, True), (3.9, False)])
def test_the_verdict_on_sketches(speed: float, holds: bool) -> None:
    speeds = {sketch_speed.OURS: 100 * speed, sketch_speed.THEIRS: 100.0}
    assert duplicates.judge_speed(speeds).holds is holds


def test_planted_clusters_are_scored_by_the_share_that_is_found(tmp_path: Path) -> None:
    chance = np.random.default_rng(1)
    planted = discovery.plant(2_000, chance)
    assert 200 <= (planted >= 0).sum() < 250
    sketches = list(discovery.drawn(planted, chance))
    found = find_duplicate_clusters(sketches, DuplicateRule(threshold=discovery.THRESHOLD), tmp_path)
    together, unmixed = discovery.scores(planted, found)
    assert together > 0.9
    assert unmixed == 1.0
    assert discovery.scores(planted, found[1:])[0] < together
    everything = replace(found[0], numbers=np.arange(2_000))
    assert discovery.scores(planted, [everything]) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("figures", "expected"),
    [((600.0, 2e9, 0.97, 0.99), [True] * 4), ((601.0, 2.1e9, 0.96, 0.98), [False] * 4)],
)
def test_verdicts_on_discovery(figures: tuple[float, ...], expected: list[bool]) -> None:
    assert [verdict.holds for verdict in discovery.judge(*figures)] == expected


def test_the_search_benchmark_indexes_every_document_and_runs_every_query(tmp_path: Path) -> None:
    words = search.Vocabulary(Random(1))
    texts = [words.drawn(50) for _ in range(search.TEXTS)]
    rate, memories, weight = search.indexed(tmp_path / "index", 300, texts, words, 1)
    times = search.query_times(tmp_path / "index", [words.query() for _ in range(20)])
    assert Searcher(tmp_path / "index").count == 300
    assert rate > 0
    assert weight > 1
    assert len(memories) == 100
    assert min(memories) > 1e6
    assert len(times) == 20
    assert [verdict.holds for verdict in search.judge(999, [100, 200], 1.5, [0.01] * 20)] == [
        False,
        True,
        False,
        True,
        True,
    ]


def test_crawls_of_a_web_fetch_in_the_order_of_their_policy() -> None:
    links = [[1, 2], [3], [4], [5], [5], []]
    pages = [
        FocusPage(f"u{number}", "", "", [WebLink(target, "", "", 0) for target in targets])
        for number, targets in enumerate(links)
    ]
    assert focus_webs.breadth_first(pages, [0], 5) == [0, 1, 2, 3, 4]
    scores = [0.5, 0.1, 0.9, 0.0, 0.8, 0.0]
    assert focus_webs.best_first(pages, [0], 5, scores.__getitem__) == [0, 1, 2, 4, 5]


def test_a_topic_is_measured_on_the_pages_that_are_no_examples() -> None:
    texts = [*bird_pages(40), *screw_pages(60)]
    pages = [
        FocusPage(f"u{number}", "", text, [WebLink((number + 7) % 100, "", "", 0)]) for number, text in enumerate(texts)
    ]
    few, negative = range(3), range(90, 100)
    task = FocusTask("made", "birds", "bird nest", frozenset(range(40)), few, few, [70], few, negative)
    for order in focus_topics.ORDERS:
        found = focus_topics.measure_task(task, FocusMode.FEW, order, pages)
        assert found.all_pages.average_precision == 1.0
        assert found.after.average_precision == 1.0
        assert found.all_pages.precision == 1.0


def test_verdicts_on_topics() -> None:
    task = FocusTask("made", "birds", "", frozenset(), [], [], [], [], [])

    def result(mode: FocusMode, precision: float, after: float) -> focus_topics.TaskResult:
        before, after_review = (TopicQuality(value, 1, 1, 0) for value in (0.5, after))
        all_pages = TopicQuality(precision, 1, 1, 0)
        return focus_topics.TaskResult(task, mode, focus_topics.ORDERS[0], all_pages, before, before, after_review)

    good = [result(FocusMode.FEW, 0.6, 0.6), result(FocusMode.MANY, 0.72, 0.6)]
    bad = [result(FocusMode.FEW, 0.59, 0.4), result(FocusMode.MANY, 0.71, 0.4)]
    assert [verdict.holds for verdict in focus_topics.verdicts(good, 0.3)] == [True] * 4
    assert [verdict.holds for verdict in focus_topics.verdicts(bad, 0.31)] == [False] * 4


def test_the_example_of_the_topic_benchmark_is_true() -> None:
    assert doctest.testmod(focus_topics).failed == 0
