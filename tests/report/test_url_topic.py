"""The explanation of a URL of a focused crawl says what is known, and why anything is not."""

from __future__ import annotations

import doctest
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.collection.topics import topic_path
from crawler.content.relevance import JudgedPage
from crawler.focus.links import LinkScorer
from crawler.focus.topic import Topic
from crawler.items import Page, Reason
from crawler.parse.links import HtmlLink
from crawler.report import url_topic
from crawler.report.url_topic import UrlTopic
from crawler.stores.contract.focus import WaitingPlace
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from crawler.worker.focus_learner import FocusLearner
from tests.contracts.visits import commit, fetch, lease_url, row_of
from tests.crawl.topic_web import write_topic
from tests.defaults import options_with
from tests.samples import NOW, acquire, link, new_url
from tests.small_collection import Collection

HUB, GULLS, TAXES = "http://hub.test/", "http://a.test/gulls", "http://a.test/taxes"
TOPIC = Topic.learn(["Gulls are birds\nGulls and terns are sea birds with long wings."], query="birds gulls wings")
UNFOCUSED = "priority: as in any crawl"


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    write_topic(tmp_path, "birds", TOPIC)
    return tmp_path


@pytest.fixture
def store(directory: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:{directory / 'crawl.db'}", durable=False)
    acquire(opened, "me", 0, NOW, 60, 60)
    opened.crawl.set_facts({"topic": "birds"})
    yield opened
    opened.close()


def hub_page(relevance: float = 0.5, url: str = HUB) -> Page:
    """A page with two links, judged as a content process does it."""
    links = [link(GULLS, "gulls and other birds"), link(TAXES, "income taxes")]
    seen = JudgedPage(url, "Links", "A list of links", relevance)
    scores, evidence = LinkScorer(TOPIC).score_packed(seen, [HtmlLink(one.url, one.anchor, "") for one in links])
    return Page(links=links, relevance=relevance, link_scores=scores, link_evidence=evidence)


def explained(store: Store, directory: Path, url: str, **settings: object) -> list[str]:
    topic = UrlTopic(store, options_with(CRAWL_DIR=directory, **settings))
    row = row_of(store, url)
    return [*topic.priority_lines(row, UNFOCUSED), *topic.relevance_lines(row)]


def test_a_url_to_which_no_scored_link_is_known_says_so(store: Store, directory: Path) -> None:
    store.urls.add([new_url(GULLS)], NOW)
    assert explained(store, directory, GULLS) == [
        f"{UNFOCUSED}; there is no evidence of what it is worth: no link to it was scored"
    ]


def test_a_url_that_is_to_be_visited_at_once_waits_for_nothing_else(store: Store, directory: Path) -> None:
    store.urls.add_seeds([new_url(GULLS)], NOW, urgent=True)
    assert explained(store, directory, GULLS) == [UNFOCUSED]


def test_a_link_that_is_worth_much_less_than_the_last_pages_is_visited_seldom(store: Store, directory: Path) -> None:
    learner = FocusLearner(TOPIC)
    store.focus.begin(learner, 0)
    fetch(store, HUB, NOW, page=hub_page())
    for url, reward in ((GULLS, 1.0), (TAXES, 0.0)):
        found = store.focus.evidence(key_of(url))
        assert found is not None
        learner.learn([found.evidence] * 50, [reward] * 50)
    assert store.focus.rescore(key_of(TAXES).host, WaitingPlace(), 9, NOW).moved == 2
    store.focus.save()
    said = [[line for line in explained(store, directory, url) if "FOCUS_FOLLOW" in line] for url in (GULLS, TAXES)]
    assert said[0] == []
    (line,) = said[1]
    assert line.endswith("FOCUS_FOLLOW=0.5): if its host shows that it has little, such URLs get 5 % of the visits")


def test_what_the_workers_have_learned_counts(store: Store, directory: Path) -> None:
    """Links like this one have led to nothing so far."""
    learner = FocusLearner(TOPIC)
    store.focus.begin(learner, 0)
    fetch(store, HUB, NOW, page=hub_page())
    found = store.focus.evidence(key_of(GULLS))
    assert found is not None
    learner.learn([found.evidence] * 50, [0.0] * 50)
    store.focus.save()
    (line,) = [line for line in explained(store, directory, GULLS) if "by what is known now" in line]
    (now,) = learner.rescore([found.evidence])
    assert line.startswith(f"  {now:.3f} by what is known now: log-odds ")
    assert now < found.score / 2


def test_without_its_topic_or_its_archive_the_rest_is_explained(store: Store, directory: Path) -> None:
    store.focus.begin(FocusLearner(TOPIC), 0)
    fetch(store, HUB, NOW, page=hub_page())
    topic_path(directory, "birds").unlink()
    lines = explained(store, directory, GULLS)
    assert lines[0].startswith("priority: level ")
    assert lines[1].startswith("  its parts are not known: ")
    assert lines[2] == "  from 1 page that links to it, with the relevance 0.50"
    assert lines[3].startswith(f"  the links of {HUB} cannot be read: ")
    assert "its words are not known: " in "".join(explained(store, directory, HUB))


def test_a_page_that_another_rule_keeps_out_is_not_called_off_topic(store: Store, directory: Path) -> None:
    fetch(store, GULLS, NOW, page=Page(relevance=0.25), reason=Reason.NOINDEX)
    assert "relevance 0.250 to the topic birds: not judged by it, for another reason (noindex)" in "\n".join(
        explained(store, directory, GULLS)
    )


def test_the_relevance_to_a_former_topic_is_still_said(store: Store, directory: Path) -> None:
    fetch(store, GULLS, NOW, page=Page(relevance=0.75))
    store.crawl.set_facts({"topic": ""})
    lines = explained(store, directory, GULLS)
    assert lines[-1] == "relevance 0.750 to a topic that the crawl had: on topic (FOCUS_KEEP=0.5)"
    assert not UrlTopic(store, options_with(CRAWL_DIR=directory)).decides_priority


def test_of_a_page_without_its_body_the_links_are_known(directory: Path) -> None:
    """FOCUS_ARCHIVE=kept keeps the links of pages off topic, without their anchors."""
    collection = Collection(directory)
    others = "".join(f'<a href="http://a.test/{number}">{number}</a>' for number in range(4))
    collection.add(HUB, f'<a href="{GULLS}">gulls</a>{others}'.encode(), content_type="text/html", is_off_topic=True, relevance=0.1)  # fmt: skip
    for number, relevance in ((0, 0.75), (1, 0.25)):
        collection.add(f"http://a.test/{number}", b"<p>Hello", content_type="text/html", relevance=relevance)
    collection.add("http://hub.test/2", f'<a href="{TAXES}">x</a> <a href="{GULLS}">gulls</a>'.encode(), relevance=0.7)
    collection.close()
    store = open_store(f"sqlite:{directory / 'crawl.db'}", durable=False)
    acquire(store, "me", 0, NOW, 60, 60)
    store.crawl.set_facts({"topic": "birds"})
    store.focus.begin(FocusLearner(TOPIC), 0)
    store.focus.place_waiting(0, 100, NOW)
    lines = explained(store, directory, GULLS)
    store_lines = explained(store, directory, HUB)
    of_second = explained(store, directory, TAXES)
    store.close()
    assert of_second[-2:] == [
        "  http://hub.test/2 has the relevance 0.700; it links to it by the anchor 'x'",
        "  other links of that page: none of 1 was judged yet",
    ]
    assert lines[-2:] == [
        f"  {HUB} has the relevance 0.100",
        "  other links of that page: 2 of 4 were judged, 2 on topic, mean relevance 0.500",
    ]
    assert "  its words are not known: only its links and digests are archived (FOCUS_ARCHIVE=kept)" in store_lines


def test_the_pages_whose_links_have_raised_a_score_are_counted(store: Store, directory: Path) -> None:
    store.focus.begin(FocusLearner(TOPIC), 0)
    fetch(store, HUB, NOW, page=hub_page(0.25))
    fetch(store, f"{HUB}2", NOW, page=hub_page(0.75, f"{HUB}2"))
    lines = explained(store, directory, TAXES)
    assert "  from 2 pages that link to it, with the relevance 0.75 at most and 0.50 on average" in lines


def test_of_several_versions_the_newest_is_explained(store: Store, directory: Path) -> None:
    fetch(store, GULLS, NOW, page=Page(relevance=0.75))
    commit(store, lease_url(store, GULLS, NOW + 10**8), NOW + 10**8, page=Page(relevance=0.25))
    topic = UrlTopic(store, options_with(CRAWL_DIR=directory))
    assert next(topic.relevance_lines(row_of(store, GULLS))).startswith("relevance 0.250 ")


def test_the_examples_are_true() -> None:
    assert doctest.testmod(url_topic).failed == 0
