"""Generate a web from a seed: hosts with their own sizes, latencies, crawl delays and failures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from crawler.items import CrawlLimits, Fetched, Kind, Link, Outcome, Page, Reason, RobotsFile, Visit, Visited
from crawler.urls.hosts import host_of
from crawler.urls.keys import key_of, link_fingerprint

_BRANCHES = 8  # links of a page to pages below it
_FAR_LINKS = 2  # and to front pages of other hosts
_UNEVEN = 1.2  # exponent of the power law of sizes
_CONNECT = 10.0  # seconds until a connection to a dead host times out
_PATIENCE = 60.0  # seconds of Retry-After of a busy host
_DAY = 86_400.0
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
_REQUEST = b"GET / HTTP/1.1\r\n\r\n"
_BODY = bytes(1 << 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPlan:
    """The parameters of a generated web."""

    hosts: int = 2_000
    pages: int = 50  # of a host, on average: many hosts have few, few have many
    even: bool = False  # all hosts have the same number of pages
    seeds: int = 0  # number of hosts whose front pages are seeds; the others are found by links; 0 = all
    latency: float = 0.3  # average seconds of a response: most hosts are faster, some much slower
    page_bytes: int = 25_000
    delays: Sequence[tuple[float, float]] = ()  # Crawl-delay in seconds, and the share of the hosts that have it
    servers: int = 0  # number of servers that the hosts share; 0 = each host has its own
    busy: float = 0.0  # share of the responses that are 429 with Retry-After
    dead: float = 0.0  # share of the hosts that never respond
    outages: Sequence[tuple[float, float]] = ()  # of our own network: from, to, in seconds since the start
    seed: int = 1


class SimulatedHost(NamedTuple):
    name: str
    address: str
    size: int  # pages
    latency: float
    crawl_delay: float | None
    is_dead: bool


class SimulatedWeb:
    """A web that answers simulated visits; the same plan gives the same web."""

    def __init__(self, plan: WebPlan, start: float) -> None:
        self.plan = plan
        self.start = start
        self._chance = Random(plan.seed)  # noqa: S311 -- a game of chance
        self.hosts = {host.name: host for host in self._hosts()}
        self._names = list(self.hosts)

    def _hosts(self) -> Iterator[SimulatedHost]:
        plan, chance = self.plan, Random(self.plan.seed)  # noqa: S311 -- a game of chance
        weights = [1.0 if plan.even else chance.paretovariate(_UNEVEN) for _ in range(plan.hosts)]
        mean = sum(weights) / max(len(weights), 1)
        for number, weight in enumerate(weights):
            place = number % plan.servers if plan.servers else number
            yield SimulatedHost(
                name=f"h{number}.site{number}.test",
                address=f"10.{place >> 16}.{place >> 8 & 255}.{place & 255}",
                size=max(1, round(plan.pages * weight / mean)),
                latency=plan.latency * chance.lognormvariate(-0.5, 1.0),
                crawl_delay=_drawn(plan.delays, chance.random()),
                is_dead=chance.random() < plan.dead,
            )

    @property
    def pages(self) -> int:
        """Pages that can be fetched."""
        return sum(host.size for host in self.hosts.values() if not host.is_dead)

    def seeds(self) -> Iterator[str]:
        for name in self._names[: self.plan.seeds or None]:
            yield f"http://{name}/0"

    def address_of(self, name: str) -> str:
        return self.hosts[name].address

    def respond(self, visit: Visit, started: float) -> Visited:
        """Return the result of a visit that starts at a time."""
        host = self.hosts[host_of(visit.url)]
        since = started - self.start
        if any(begin <= since < end for begin, end in self.plan.outages):
            return _lost(visit, started, 0.1, Reason.CONNECT_FAILED)
        if host.is_dead:
            return _lost(visit, started, _CONNECT, Reason.CONNECT_TIMEOUT)
        took = host.latency * (0.5 + self._chance.random())
        if visit.kind is Kind.ROBOTS:
            return _robots(visit, _answer(visit, host, started, took, 100), host.crawl_delay)
        if self._chance.random() < self.plan.busy:
            fetched = _answer(visit, host, started, took, 0, status=429)
            return Visited(
                visit=visit, outcome=Outcome.BUSY, reason=Reason.BUSY, fetched=fetched, retry_after=_PATIENCE
            )
        size = int(self.plan.page_bytes * (0.5 + self._chance.random()))
        fetched = _answer(visit, host, started, took, size)
        page = Page(content_type="text/html", links=self._links(host, int(visit.url.rpartition("/")[2])))
        return Visited(visit=visit, outcome=Outcome.FETCHED, reason=Reason.OK, fetched=fetched, page=page)

    def _links(self, host: SimulatedHost, page: int) -> list[Link]:
        below = range(_BRANCHES * page + 1, min(_BRANCHES * (page + 1) + 1, host.size))
        urls = [f"http://{host.name}/{number}" for number in below]
        urls += [f"http://{self._chance.choice(self._names)}/0" for _ in range(_FAR_LINKS)]
        return [Link(key_of(url), url, "", None, link_fingerprint(url, "")) for url in urls]


def _drawn(delays: Sequence[tuple[float, float]], roll: float) -> float | None:
    for delay, share in delays:
        roll -= share
        if roll < 0:
            return delay
    return None


def _answer(visit: Visit, host: SimulatedHost, started: float, took: float, size: int, status: int = 200) -> Fetched:
    return Fetched(
        url=visit.url,
        reason=Reason.OK,
        started=started,
        ended=started + took,
        request=_REQUEST,
        status=status,
        head=_HEAD,
        body=_BODY[:size],
        address=host.address,
    )


def _robots(visit: Visit, fetched: Fetched, crawl_delay: float | None) -> Visited:
    rules = RobotsFile(
        host=visit.key.host,
        origin=visit.origin,
        status=200,
        body=b"",
        fetched=fetched.ended,
        expires=fetched.ended + _DAY,
        crawl_limits=CrawlLimits(crawl_delay=crawl_delay),
    )
    return Visited(visit=visit, outcome=Outcome.FETCHED, reason=Reason.OK, fetched=fetched, rules=rules)


def _lost(visit: Visit, started: float, took: float, reason: Reason) -> Visited:
    fetched = Fetched(url=visit.url, reason=reason, started=started, ended=started + took)
    rules = None
    if visit.kind is Kind.ROBOTS:
        until = fetched.ended + 3_600
        rules = RobotsFile(
            host=visit.key.host,
            origin=visit.origin,
            status=0,
            body=None,
            fetched=fetched.ended,
            expires=until,
            held_until=until,
            failures=1,
        )
    return Visited(visit=visit, outcome=Outcome.FAILED, reason=reason, fetched=fetched, rules=rules)
