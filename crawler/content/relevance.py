"""Judge a page by the topic of the crawl, and its links by what they are probably worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from crawler.focus.links import LinkScorer
from crawler.focus.topic import Topic
from crawler.items import Page
from crawler.parse.links import HtmlLink


class FocusModel(Struct, frozen=True, array_like=True):
    """The topic of a focused crawl, and what links are worth by what it has learned."""

    topic: bytes  # empty = as before
    links: bytes


class JudgedPage(NamedTuple):
    """A page as links are scored by."""

    url: str
    title: str
    text: str
    score: float


class RelevanceJudge:
    """Holds the model of a focused crawl in one content process."""

    def __init__(self, model: FocusModel) -> None:
        self._topic = Topic.from_bytes(model.topic)
        self._scorer = LinkScorer(self._topic)
        self._scorer.restore(model.links)

    def update(self, model: FocusModel) -> None:
        """Judge by what the crawl has learned since; an empty topic is the one before."""
        if model.topic:
            self._topic = Topic.from_bytes(model.topic)
            self._scorer.use_topic(self._topic)
        self._scorer.restore(model.links)

    def judge(self, page: Page, url: str, links: Sequence[HtmlLink]) -> Page:
        """Return the page with its relevance, its words for the topic, and the worth of its links."""
        text = f"{page.title}\n{page.text}"
        relevance, words = self._topic.judge(text)
        scores, evidence = self._scorer.score_packed(JudgedPage(url, page.title, page.text, relevance), links)
        return replace(
            page,
            relevance=relevance,
            topic_words=words,
            link_scores=scores,
            link_evidence=evidence,
        )
