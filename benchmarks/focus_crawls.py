"""Simulated focused crawls of the two webs: one page after the other, by the score of its links.

A crawl knows text and links of a page once it is fetched, and fetches next the waiting URL with the best score; of equal
ones the one found first. The topic's own judgement of fetched pages is the only feedback; labels only measure.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from benchmarks.focus_webs import FocusMode, FocusPage, FocusTask, pages_of_web, tasks_of_web
from crawler.focus.evidence import EVIDENCE_BYTES
from crawler.focus.links import LinkScorer, Worth
from crawler.focus.topic import Topic
from crawler.focus.words import words_of_text

RESCORE_EVERY = 20  # pages fetched between two slices of waiting URLs that are scored again
RESCORE_MOST = 500  # URLs of a slice: a tenth of the store's thread at a hundred pages a second and 40 µs a URL
_FRONT = 5  # of so many URLs of a slice one is of the best; the others go on downward from where the last slice ended
_COST_PAGES = 100  # whose CPU time is taken at once: to ask for it takes long
_TIE = 1e-9  # by which a URL counts less than one found before it


class WaitingUrls:
    """The URLs that wait in a crawl, by number, with their scores."""

    def __init__(self, pages: int, place: Callable[[float], float] = float) -> None:
        """Make it empty; `place` rounds scores, so that URLs of one place are fetched in the order found."""
        self._place = place
        self._keys = np.full(pages, -np.inf)
        self._serial = np.zeros(pages)
        self._scores = np.zeros(pages)
        self._found = 0

    def put(self, number: int, score: float) -> None:
        """Let a URL wait with this score, whether it waited before or not."""
        if self._keys[number] == -np.inf:
            self._found += 1
            self._serial[number] = self._found
        self._scores[number] = score
        self._keys[number] = self._place(score) - _TIE * self._serial[number]

    def raise_to(self, number: int, score: float) -> None:
        """Let a URL wait with this score, or the one that it has if that is better."""
        if self._keys[number] == -np.inf or score > self._scores[number]:
            self.put(number, score)

    def pop(self) -> int | None:
        number = int(self._keys.argmax())
        if self._keys[number] == -np.inf:
            return None
        self._keys[number] = -np.inf
        return number

    def best(self, most: int | None) -> list[int]:
        """Return the URLs that wait, those with the best scores first."""
        waiting = np.flatnonzero(self._keys > -np.inf)
        ranked: list[int] = waiting[np.argsort(-self._scores[waiting], kind="stable")[:most]].tolist()
        return ranked

    def score_of(self, number: int) -> float | None:
        return None if self._keys[number] == -np.inf else float(self._scores[number])


class LinkPolicy(Protocol):
    """Decides what is fetched next."""

    def fetched(self, number: int, targets: Sequence[int], waiting: WaitingUrls) -> None:
        """Learn that a page was fetched, and let its targets that were not wait."""


class CrawlMeasures(NamedTuple):
    """How soon a crawl found the relevant pages, as shares of them."""

    harvest: float  # after as many pages as can be found
    r10: float  # after 10 % of the pages that can be reached
    r25: float
    r50: float
    auc: float  # mean from the first page to 25 %


class CrawlTask(NamedTuple):
    """A topic in one of the modes."""

    web: str
    name: str
    mode: FocusMode

    @property
    def task(self) -> FocusTask:
        return next(task for task in tasks_of_web(self.web) if task.name == self.name)

    @property
    def pages(self) -> Sequence[FocusPage]:
        return pages_of_web(self.web)

    @property
    def starts(self) -> Sequence[int]:
        return self.task.starts(self.mode)

    def topic(self) -> Topic:
        return Topic.from_bytes(_learned_topic(self))


@cache
def _learned_topic(task: CrawlTask) -> bytes:
    return task.task.learn(task.mode, task.pages).to_bytes()


def reachable(task: CrawlTask) -> frozenset[int]:
    """Return the pages that can be reached from where the task starts."""
    found, waiting = set(task.starts), deque(task.starts)
    while waiting:
        new = {link.target for link in task.pages[waiting.popleft()].links} - found
        found |= new
        waiting.extend(new)
    return frozenset(found)


def crawl(task: CrawlTask, policy: LinkPolicy, waiting: WaitingUrls, most: int) -> list[int]:
    """Crawl until this number of counted pages is fetched, and return all pages in the order of fetching."""
    uncounted, starts, order, counted = task.task.uncounted, deque(task.starts), dict[int, None](), 0
    begun = {*task.starts}
    while counted < most and (number := starts.popleft() if starts else waiting.pop()) is not None:
        order[number] = None
        counted += number not in uncounted
        targets = [link.target for link in task.pages[number].links]
        policy.fetched(number, [-1 if target in order or target in begun else target for target in targets], waiting)
    return [*order]


def measure_crawl(task: CrawlTask, order: Iterable[int], reached: Collection[int]) -> CrawlMeasures:
    """Measure a crawl; seeds and examples count neither as found nor as fetched."""
    uncounted = task.task.uncounted
    findable = task.task.relevant.intersection(reached) - uncounted
    pages = len(set(reached) - uncounted)
    found = np.cumsum([number in findable for number in order if number not in uncounted]) / len(findable)
    quarter = found[np.minimum(np.arange(pages // 4), len(found) - 1)]
    shares = [found[min(count, len(found)) - 1] for count in (len(findable), pages // 10, pages // 4, pages // 2)]
    return CrawlMeasures(*map(float, shares), float(quarter.mean()))


# ── Simple policies ──


class BreadthFirst:
    def fetched(self, number: int, targets: Sequence[int], waiting: WaitingUrls) -> None:
        for target in targets:
            if target >= 0:
                waiting.raise_to(target, 0.0)


class QueryWordsPolicy:
    """Scores a link by the number of the query's words in anchor and URL."""

    def __init__(self, task: CrawlTask) -> None:
        self._pages = task.pages
        self._query = set(words_of_text(task.task.query))

    def fetched(self, number: int, targets: Sequence[int], waiting: WaitingUrls) -> None:
        for link, target in zip(self._pages[number].links, targets, strict=True):
            if target >= 0:
                waiting.raise_to(target, self._count(link.anchor) + self._count(self._pages[target].url))

    @cache  # noqa: B019 (as long as the crawl)
    def _count(self, text: str) -> int:
        return len(self._query.intersection(words_of_text(text)))


class ParentScorePolicy:
    """Scores a link by the relevance of the best page that it is on."""

    def __init__(self, task: CrawlTask) -> None:
        self._pages, self._topic = task.pages, task.topic()

    def fetched(self, number: int, targets: Sequence[int], waiting: WaitingUrls) -> None:
        relevance = self._topic.score(self._pages[number].topic_text)
        self._topic.observe(self._pages[number].topic_text)
        for target in targets:
            if target >= 0:
                waiting.raise_to(target, relevance)


class LinkTextPolicy:
    """Scores a link by its anchor: the topic's weights of its words."""

    def __init__(self, task: CrawlTask) -> None:
        self._pages, self._topic = task.pages, task.topic()

    def fetched(self, number: int, targets: Sequence[int], waiting: WaitingUrls) -> None:
        self._topic.observe(self._pages[number].topic_text)
        for link, target in zip(self._pages[number].links, targets, strict=True):
            if target >= 0:
                words = list(words_of_text(link.anchor))
                weight = sum(map(self._topic.word_weight, words)) / math.sqrt(len(words) or 1)
                waiting.raise_to(target, weight)


class OraclePolicy:
    """Knows labels and links: fetches relevant pages, and otherwise what is nearest to one that was not fetched."""

    def __init__(self, task: CrawlTask) -> None:
        relevant = task.task.relevant - task.task.uncounted
        self._scores = [0.0] * len(task.pages)
        sources: list[list[int]] = [[] for _ in task.pages]
        for number, page in enumerate(task.pages):
            for link in page.links:
                sources[link.target].append(number)
        waiting, distance = deque(relevant), dict.fromkeys(relevant, 0)
        while waiting:
            number = waiting.popleft()
            new = [source for source in sources[number] if source not in distance]
            distance.update(dict.fromkeys(new, distance[number] + 1))
            waiting.extend(new)
        for number, page in enumerate(task.pages):
            leads_to = sum(link.target in relevant for link in page.links)
            self._scores[number] = leads_to / 1_000 - distance.get(number, len(task.pages))

    def fetched(self, number: int, targets: Sequence[int], waiting: WaitingUrls) -> None:
        for target in targets:
            if target >= 0:
                waiting.raise_to(target, self._scores[target])


# ── Ours ──


class _Page(NamedTuple):
    url: str
    title: str
    text: str
    score: float


class _Link(NamedTuple):
    url: str
    anchor: str
    position: str
    around: str


@cache
def _links_of_web(web: str) -> Sequence[Sequence[_Link]]:
    pages, positions = pages_of_web(web), ("content", "navigation", "footer")
    return [
        [_Link(pages[link.target].url, link.anchor, positions[link.position], link.around) for link in page.links]
        for page in pages
    ]


class OurLinksPolicy:
    """Scores links as a crawl does: new ones by page and text, waiting ones again by what was learned since."""

    def __init__(
        self,
        task: CrawlTask,
        *,
        ignored: Collection[str] = (),
        step: Callable[[float], float] = float,
        every: int = RESCORE_EVERY,
        most: int | None = RESCORE_MOST,
    ) -> None:
        """Take the facts to be ignored, the step by which a score must be better, and how URLs are scored again."""
        self._pages, self._links = task.pages, _links_of_web(task.web)
        self._topic = task.topic()
        self._scorer = LinkScorer(self._topic, ignored)
        self._step, self._every, self._most = step, every, most
        self._evidence: dict[int, bytes] = {}
        self._sent: dict[int, float] = {}  # the best score that a link to a URL was sent with
        self._fetched = 0
        self._below: list[int] = []  # waiting URLs that were not scored again in this round, the best last

    def fetched(self, number: int, targets: Sequence[int], waiting: WaitingUrls) -> None:
        page, links = self._pages[number], self._links[number]
        relevance = self._topic.score(page.topic_text)
        if number in self._evidence:
            self._scorer.learn(self._evidence.pop(number), relevance)
        self._topic.observe(page.topic_text)
        worths = self._scorer.score(_Page(page.url, page.title, page.text, relevance), links)
        self._add(dict(zip(targets, worths, strict=True)), waiting)
        self._fetched += 1
        if self._fetched % self._every == 0:
            self._rescore(self._slice(waiting), waiting)

    def _slice(self, waiting: WaitingUrls) -> list[int]:
        """Return waiting URLs to be scored again: some of the best, and the next ones below the last slice."""
        if self._most is None:
            return waiting.best(None)
        front = waiting.best(self._most // _FRONT)
        below: list[int] = []
        self._below = self._below or waiting.best(None)[::-1]
        while self._below and len(front) + len(below) < self._most:
            number = self._below.pop()
            if waiting.score_of(number) is not None:
                below.append(number)
        return list(dict.fromkeys([*front, *below]))

    def _add(self, links: dict[int, Worth], waiting: WaitingUrls) -> None:
        """Let new URLs wait, and merge evidence of better links to those that wait."""
        better = []
        for target, worth in links.items():
            if target < 0:
                continue
            if waiting.score_of(target) is None:
                self._evidence[target], self._sent[target] = worth.evidence, worth.score
                waiting.put(target, worth.score)
            elif self._step(worth.score) > self._step(self._sent[target]):
                self._sent[target] = worth.score
                better.append(target)
        merged = self._scorer.merge_all(
            [self._evidence[target] for target in better], [links[target].evidence for target in better]
        )
        self._evidence.update(zip(better, merged, strict=True))
        self._rescore(better, waiting)

    def _rescore(self, numbers: Sequence[int], waiting: WaitingUrls) -> None:
        scores = self._scorer.rescore([self._evidence[number] for number in numbers])
        for number, score in zip(numbers, scores, strict=True):
            waiting.put(number, score)


def link_cost(task: CrawlTask, links: int = 44) -> float:
    """Return the CPU-seconds to score the links of a page with about so many, and to learn from one.

    The pages come in the order of a breadth-first crawl, so that the words of links are as new as in a crawl. The text
    of each page is judged before its links are, as a content process does; this is not part of the cost.
    """
    topic, all_links, all_pages = task.topic(), _links_of_web(task.web), len(task.pages)
    scorer, seconds = LinkScorer(topic), 0.0
    order = crawl(task, BreadthFirst(), WaitingUrls(all_pages), all_pages)
    numbers = [number for number in order if abs(len(all_links[number]) - links) <= links // 4]
    for first in range(0, len(numbers), _COST_PAGES):
        some = numbers[first : first + _COST_PAGES]
        pages = [task.pages[number] for number in some]
        judged = [_Page(page.url, "", "", topic.score(page.topic_text)) for page in pages]
        started = time.process_time()
        for number, page in zip(some, judged, strict=True):
            scorer.learn(scorer.score_packed(page, all_links[number])[1][:EVIDENCE_BYTES], 0.5)
        seconds += time.process_time() - started
    return seconds / len(numbers)
