"""A content process judges pages by the topic of the crawl, and its links by what they are probably worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from crawler.content.examine import examine
from crawler.content.relevance import FocusModel, RelevanceJudge
from crawler.focus.evidence import EVIDENCE_BYTES
from crawler.focus.links import LinkScorer
from crawler.focus.topic import Topic
from crawler.items import Kind, Page
from tests.defaults import DEFAULTS, options_with
from tests.samples import answer, visit_to, visited

URL = "http://a.test/"
BIRDS, TAXES = (Topic.learn([], query=query) for query in ("gull tern feather", "income levy refund"))
TEXT = "<title>Gulls</title><p>" + "A gull is a bird with a feather, and so is a tern. " * 9
LINKS = '<p><a href="/gulls">gull and tern</a> <a href="/taxes">levy</a> <a href="mailto:a@b.test">mail</a>'


def model_of(topic: Topic, scorer: LinkScorer | None = None) -> FocusModel:
    return FocusModel(topic.snapshot(), (scorer or LinkScorer(topic)).snapshot())


def judged(body: str, judge: RelevanceJudge | None, **facts: Any) -> Page:
    options = options_with(SCOPE="any", CONTACT="me@a.test")
    result = visited(visit_to(URL), fetched=answer(URL, body=body.encode(), **facts))
    page = examine(result, options.new_scope(), DEFAULTS.reading, DEFAULTS.duplicates, judge).page
    assert page is not None
    return page


def test_a_page_gets_its_relevance_and_a_score_for_each_link() -> None:
    page = judged(TEXT + LINKS, RelevanceJudge(model_of(BIRDS)))
    assert page.relevance is not None
    assert page.relevance > 0.5
    scores = np.frombuffer(page.link_scores, "<f4")
    assert [link.anchor for link in page.links] == ["gull and tern", "levy"]
    assert scores[0] > scores[1]
    assert len(page.link_evidence) == EVIDENCE_BYTES * len(page.links)
    text = f"{page.title}\n" + TEXT.partition("<p>")[2].strip()
    assert BIRDS.judge(text) == (page.relevance, page.topic_words) == (BIRDS.score(text), BIRDS.page_words(text))


def test_a_crawl_without_a_topic_judges_nothing() -> None:
    page = judged(TEXT + LINKS, None)
    assert (page.relevance, page.topic_words, page.link_scores, page.link_evidence) == (None, b"", b"", b"")


@pytest.mark.parametrize("body", ["", "<p>", "\0", "<p>\ud800".encode("utf-8", "replace").decode(), TEXT])
def test_pages_without_links_or_words_are_judged_too(body: str) -> None:
    page = judged(body, RelevanceJudge(model_of(BIRDS)))
    assert page.relevance is not None
    assert (page.links, page.link_scores, page.link_evidence) == ([], b"", b"")


def test_documents_are_judged_and_their_links_too() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
    page = judged("A gull, a tern, a feather. http://b.test/gull", RelevanceJudge(model_of(BIRDS)), head=head)
    assert page.format == "text"
    assert page.relevance is not None
    assert len(page.link_scores) == 4 * len(page.links)


def test_a_feed_is_not_judged() -> None:
    feed = '<?xml version="1.0"?><rss version="2.0"><channel><title>gull</title><item><link>http://a.test/1</link></item></channel></rss>'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n\r\n"
    page = judged(feed, RelevanceJudge(model_of(BIRDS)), head=head)
    assert (page.kind, page.relevance) == (Kind.FEED, None)


def test_what_the_crawl_has_learned_is_taken_in() -> None:
    judge, scorer = RelevanceJudge(model_of(BIRDS)), LinkScorer(BIRDS)
    before = judged(TEXT + LINKS, judge)
    for _ in range(50):
        scorer.learn(before.link_evidence[:EVIDENCE_BYTES], 0.0)
    judge.update(FocusModel(b"", scorer.snapshot()))
    after = judged(TEXT + LINKS, judge)
    assert after.relevance == before.relevance
    assert np.frombuffer(after.link_scores, "<f4")[0] < np.frombuffer(before.link_scores, "<f4")[0]
    judge.update(model_of(TAXES))
    assert (judged(TEXT + LINKS, judge).relevance or 0) < 0.5
