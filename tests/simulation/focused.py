"""A focused crawl under a virtual clock: frontier, store and learner are the real ones, pages are read as ever."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random

from msgspec.structs import replace

from crawler.content.examine import examine
from crawler.content.relevance import RelevanceJudge
from crawler.focus.topic import Topic
from crawler.frontier.priority import BiasedDraw
from crawler.items import CrawlLimits, Kind, Visit, Visited
from crawler.simulation.driver import Simulation
from crawler.stores.open import open_store
from crawler.urls.hosts import host_of
from crawler.worker.focus_learner import FocusLearner
from tests.defaults import options_with
from tests.frontier.simulation import fetched_page
from tests.samples import NOW, answer, new_url, visited

NO_LIMITS: Mapping[str, CrawlLimits] = {}
LATENCY = 0.003  # seconds
_MODEL_EVERY = 2.0  # seconds after which content processes get what was learned, as at renewals of the lease


class FocusedSimulation(Simulation):
    """One worker that crawls a web, given as a function from URL to HTML."""

    def __init__(
        self,
        body_of: Callable[[str], str],
        seeds: Sequence[str],
        topic: Topic,
        directory: Path,
        crawl_limits: Mapping[str, CrawlLimits] = NO_LIMITS,
        **settings: object,
    ) -> None:
        usual = {"OWN_HOSTS": "*.test", "POLITENESS_MIN_DELAY": 0.1, "POLITENESS_LATENCY_FACTOR": 0, "SCOPE": "any"}
        options = options_with(**usual | {"SITEMAPS": False, "PROBE_AFTER": 0} | settings)
        self.urls: list[str] = []  # that were fetched, in order
        self._body_of, self._crawl_limits = body_of, crawl_limits
        self.learner = FocusLearner(topic)
        store = open_store(f"sqlite:{directory / 'simulated.db'}", durable=False, order=options.order)
        store.focus.begin(self.learner, 0)
        store.urls.add_seeds([new_url(url) for url in seeds], NOW)
        self._judge, self._told = RelevanceJudge(self.learner.model()), NOW
        self._reading, self._scope = options.reading, options.new_scope()
        for url in seeds:
            self._scope.add(url)
        super().__init__(
            store,
            options,
            self._answer,
            now=NOW,
            draw=BiasedDraw(Random(1).random),
            address_of="address of {}".format,
        )

    def fetch(self, pages: int) -> list[str]:
        """Crawl until so many pages were fetched, or nothing is left; return their URLs in order."""
        self.worker.look_now()
        while len(self.urls) < pages and not self.worker.is_done and self.clock.next_event < math.inf:
            self.step()
        return self.urls

    def _answer(self, visit: Visit, started: float) -> Visited:
        if visit.kind is Kind.ROBOTS:
            found = fetched_page(visit, started, LATENCY)
            limits = self._crawl_limits.get(host_of(visit.url))
            return replace(found, rules=replace(found.rules, crawl_limits=limits)) if limits is not None else found
        if started >= self._told + _MODEL_EVERY and (model := self.learner.new_model()) is not None:
            self._judge.update(model)
            self._told = started
        self.urls.append(visit.url)
        times = {"started": started, "ended": started + LATENCY, "address": f"address of {host_of(visit.url)}"}
        found = visited(visit, fetched=answer(visit.url, body=self._body_of(visit.url).encode(), **times))
        return examine(found, self._scope, self._reading, self.options.duplicates, self._judge)
