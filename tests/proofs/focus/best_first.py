"""The best page first, always: no hosts, no rests, and every waiting URL is scored again all the time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crawler.content.examine import examine
from crawler.content.relevance import RelevanceJudge
from crawler.focus.topic import Topic
from crawler.items import Page
from crawler.worker.focus_learner import FocusLearner
from tests.defaults import options_with
from tests.samples import answer, visit_to, visited

_SCORED_AGAIN_EVERY = 10  # fetches


class BestFirst:
    """Fetches the URL with the best score, and learns from each page before the next."""

    def __init__(self, body_of: Callable[[str], str], topic: Topic, ports: str) -> None:
        self._body_of = body_of
        self._learner = FocusLearner(topic)
        self._judge = RelevanceJudge(self._learner.model())
        self._options = options_with(SCOPE="any", OWN_HOSTS="*.test", URL_PORTS=ports)
        self._evidence: dict[str, bytes] = {}
        self._scores: dict[str, float] = {}
        self._fetched: dict[str, None] = {}

    def fetch(self, seeds: Sequence[str], pages: int) -> list[str]:
        self._scores = dict.fromkeys(seeds, 1.0)
        while self._scores and len(self._fetched) < pages:
            url = max(self._scores, key=self._scores.__getitem__)
            del self._scores[url]
            self._fetched[url] = None
            self._take(url, self._read(url))
            if len(self._fetched) % _SCORED_AGAIN_EVERY == 0:
                self._score_again()
        return list(self._fetched)

    def _read(self, url: str) -> Page:
        found = visited(visit_to(url), fetched=answer(url, body=self._body_of(url).encode()))
        scope = self._options.new_scope()
        page = examine(found, scope, self._options.reading, self._options.duplicates, self._judge).page
        assert page is not None
        return page

    def _take(self, url: str, page: Page) -> None:
        evidence = self._evidence.pop(url, None)
        self._learner.observe(page.topic_words)
        if evidence is not None and page.relevance is not None:
            self._learner.learn([evidence], [page.relevance])
        size = len(page.link_evidence) // max(len(page.links), 1)
        found = [
            (link.url, page.link_evidence[number * size : (number + 1) * size])
            for number, link in enumerate(page.links)
            if link.url not in self._fetched
        ]
        known = [(target, new) for target, new in found if target in self._evidence]
        merged = self._learner.merge([self._evidence[target] for target, _ in known], [new for _, new in known])
        self._evidence |= dict(found) | dict(zip([target for target, _ in known], merged, strict=True))
        self._score([target for target, _ in found if target not in self._scores or target in self._evidence])
        if (model := self._learner.new_model()) is not None:
            self._judge.update(model)

    def _score(self, urls: Sequence[str]) -> None:
        urls = [url for url in urls if url in self._evidence]
        self._scores |= dict(zip(urls, self._learner.rescore([self._evidence[url] for url in urls]), strict=True))

    def _score_again(self) -> None:
        self._score(list(self._evidence))
