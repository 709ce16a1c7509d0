"""A topic, pages and links that tests of link scores use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from crawler.focus.links import LinkScorer
from crawler.focus.topic import Topic

BIRDS = (
    "Sparrow\nThe sparrow is a small bird with brown wings and feathers; it nests under roofs.",
    "Gull\nGulls are birds of the coast with long wings; their nest is on cliffs.",
    "Wren\nThe wren, a tiny bird, sings loudly; feathers and wings are brown, its nest a ball.",
)


class Page(NamedTuple):
    url: str = "https://birds.example/"
    title: str = ""
    text: str = ""
    score: float = 0.5


class Link(NamedTuple):
    url: str
    anchor: str = ""
    position: str = "content"
    around: str = ""


def scorer() -> LinkScorer:
    return LinkScorer(topic())


def topic() -> Topic:
    return Topic.learn(BIRDS, query="birds nest")


_PAGE = Page()


def evidence(scorer: LinkScorer, url: str, anchor: str = "", *, page: Page = _PAGE) -> bytes:
    return scorer.score(page, [Link(url, anchor)])[0].evidence


def scores(scorer: LinkScorer, links: Sequence[Link], page: Page = _PAGE) -> list[float]:
    return [worth.score for worth in scorer.score(page, links)]
