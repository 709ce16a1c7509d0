"""Simulated crawls for tests: hours of crawling in a moment under a virtual clock, with an access log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from crawler.frontier.politeness import Politeness
from crawler.frontier.priority import Draw, most_important
from crawler.items import Kind, Outcome, RobotsFile, Visit, Visited
from crawler.simulation import driver
from crawler.simulation.driver import Respond
from crawler.stores.contract.store import Store
from crawler.urls.hosts import host_of
from crawler.worker.runtime import PageReader
from tests.defaults import DEFAULTS, options_with
from tests.samples import NOW, answer, new_url, visited

__all__ = ["Request", "Respond", "Simulation", "fetched_page", "options_with", "seeded"]

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Request:
    """One request as the server would log it."""

    url: str
    host: str
    started: float
    ended: float


def seeded(store: Store, *urls: str) -> Store:
    store.urls.add([new_url(url) for url in urls], NOW)
    return store


def fetched_page(visit: Visit, started: float, took: float = 0.1) -> Visited:
    """Return a visit that succeeds; a robots.txt does not exist."""
    fetched = answer(visit.url, started=started, ended=started + took, address=f"address of {host_of(visit.url)}")
    rules = None
    if visit.kind is Kind.ROBOTS:
        rules = RobotsFile(
            host=visit.key.host, origin=visit.origin, status=404, body=None, fetched=started, expires=started + DAY
        )
    return visited(visit, fetched=fetched, rules=rules)


class Simulation(driver.Simulation):
    """A simulated crawl of one worker, with an access log."""

    owner = "me"

    def __init__(
        self,
        store: Store,
        respond: Respond = fetched_page,
        politeness: Politeness | None = None,
        *,
        active_hosts: int = 100,
        queue_length: int = 5,
        draw: Draw = most_important,
        address_of: Callable[[str], str] = "address of {}".format,
        now: float = NOW,
        horizon: float = 60.0,
        store_time: float = 0.0,
        page_reader: PageReader | None = None,
        **changes: Any,
    ) -> None:
        self.log: list[Request] = []
        self.answer = respond
        given = {"FRONTIER_MOST_HOSTS": active_hosts, "CONCURRENT_REQUESTS": 50} | changes
        options = options_with(
            politeness=politeness or DEFAULTS.politeness,
            FRONTIER_ACTIVE_HOSTS=active_hosts,
            FRONTIER_QUEUE_LENGTH=queue_length,
            CRAWL_HORIZON=horizon,
            **given,
        )
        super().__init__(
            store,
            options,
            self._logged,
            now=now,
            draw=draw,
            address_of=address_of,
            store_time=store_time,
            page_reader=page_reader,
        )

    def _logged(self, visit: Visit, started: float) -> Visited:
        result = self.answer(visit, started)
        if result.outcome is not Outcome.DENIED:
            ended = result.fetched.ended if result.fetched is not None else started
            self.log.append(Request(visit.url, host_of(visit.url), started, ended))
        return result

    def lease_now(self, visits: int) -> None:
        """Run the store's work until so many visits are leased, but send no request."""
        while self.store.crawl.account().leased < visits or self.worker.is_waiting:
            self.clock.run_next_event()

    # ── the log ──

    def urls(self) -> list[str]:
        return [request.url for request in self.log]

    def gaps(self, host: str) -> list[float]:
        mine = [request for request in self.log if request.host == host]
        return [later.started - earlier.ended for earlier, later in pairwise(mine)]
