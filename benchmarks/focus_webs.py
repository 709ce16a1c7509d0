"""Two webs of real pages with topics, for crawls that are simulated, and single pages on a topic or not.

Each topic is a task in three modes: few examples with a query, many examples of both kinds, and a query alone, which
starts from pages that are off topic. Pages that are seeds or examples in any mode count neither as found nor as fetched.
"""

from __future__ import annotations

import gzip
import heapq
import json
import lzma
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from itertools import count
from pathlib import Path
from typing import NamedTuple

from crawler.focus.topic import Topic
from crawler.parse.charset import decode
from crawler.parse.html import parse_html

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "focused"
WEBS = ("wikischools", "mdn")


class FocusMode(StrEnum):
    """What a topic is learned from."""

    FEW = "few"
    MANY = "many"
    QUERY = "query"


class WebLink(NamedTuple):
    """A link of a page in one of the webs."""

    target: int  # number of the page
    anchor: str
    around: str  # the words around the anchor, with an ellipsis in its place
    position: int  # 0 content, 1 navigation, 2 footer


class FocusPage(NamedTuple):
    """A page of one of the webs."""

    url: str
    title: str
    text: str
    links: Sequence[WebLink]

    @property
    def topic_text(self) -> str:
        """The text by which a topic judges the page."""
        return f"{self.title}\n{self.text}"


class FocusTask(NamedTuple):
    """A topic of a web: what it is learned from, where a crawl starts, and which pages are on topic."""

    web: str
    name: str
    query: str
    relevant: frozenset[int]
    seeds: Sequence[int]
    few: Sequence[int]
    cold: Sequence[int]
    positive: Sequence[int]
    negative: Sequence[int]

    @property
    def uncounted(self) -> frozenset[int]:
        """Pages that are seeds or examples in any mode."""
        return frozenset(self.seeds) | {*self.few, *self.cold, *self.positive, *self.negative}

    def starts(self, mode: FocusMode) -> Sequence[int]:
        return self.cold if mode is FocusMode.QUERY else self.seeds

    def learn(self, mode: FocusMode, pages: Sequence[FocusPage]) -> Topic:
        """Learn the topic from what the mode has."""
        if mode is FocusMode.QUERY:
            return Topic.learn((), (), self.query)
        if mode is FocusMode.FEW:
            return Topic.learn([pages[number].topic_text for number in self.few], (), self.query)
        positive, negative = ([pages[number].topic_text for number in kind] for kind in (self.positive, self.negative))
        return Topic.learn(positive, negative)


@cache
def pages_of_web(web: str) -> Sequence[FocusPage]:
    """Read all pages of a web; their numbers are their places."""
    with lzma.open(DATA / f"{web}.jsonl.xz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [FocusPage(row["url"], row["title"], row["text"], [WebLink(*link) for link in row["links"]]) for row in rows]


@cache
def tasks_of_web(web: str) -> Sequence[FocusTask]:
    """Read the topics of a web."""
    topics: Mapping[str, dict[str, list[int]]] = json.loads((DATA / f"{web}.topics.json").read_text("utf-8"))
    kinds = ("seeds", "few", "cold", "positive", "negative")
    return [
        FocusTask(web, name, str(topic["query"]), frozenset(topic["relevant"]), *(topic[kind] for kind in kinds))
        for name, topic in topics.items()
    ]


def breadth_first(pages: Sequence[FocusPage], starts: Sequence[int], most: int) -> list[int]:
    """Return the pages that a breadth-first crawl fetches first."""
    waiting, found, fetched = deque(starts), set(starts), list[int]()
    while waiting and len(fetched) < most:
        fetched.append(waiting.popleft())
        new = dict.fromkeys(link.target for link in pages[fetched[-1]].links if link.target not in found)
        found.update(new)
        waiting.extend(new)
    return fetched


def best_first(
    pages: Sequence[FocusPage], starts: Sequence[int], most: int, fetch: Callable[[int], float]
) -> list[int]:
    """Return the pages fetched first if a link is worth what `fetch` returns for the best page that has it."""
    order = count()
    waiting = [(-1.0, next(order), number) for number in starts]
    best: dict[int, float] = dict.fromkeys(starts, 1.0)
    fetched: dict[int, None] = {}
    while waiting and len(fetched) < most:
        number = heapq.heappop(waiting)[2]
        if number in fetched:
            continue
        fetched[number] = None
        score = fetch(number)
        for link in pages[number].links:
            if link.target not in fetched and score > best.get(link.target, -1.0):
                best[link.target] = score
                heapq.heappush(waiting, (-score, next(order), link.target))
    return [*fetched]


class LabelledPage(NamedTuple):
    """A single page that is on a topic or not."""

    text: str  # title, newline, main text
    is_relevant: bool


@cache
def ebola_pages() -> Sequence[LabelledPage]:
    """Read the pages on an outbreak of Ebola, and on other diseases."""
    return [*_labelled_pages(DATA / "ache_ebola")]


def _labelled_pages(folder: Path) -> Iterator[LabelledPage]:
    for line in (folder / "cases.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        body = gzip.decompress((folder / row["file"]).read_bytes())
        html = parse_html(decode(body).text.encode(), row["url"], "text/html; charset=utf-8")
        yield LabelledPage(f"{html.title}\n{html.main_text}", row["label"] == "relevant")
