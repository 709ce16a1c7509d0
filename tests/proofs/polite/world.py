"""Thousands of hosts that demand rests of different lengths, and their answers.

All follows from the seed. Pages of a host form a binary tree under its front page, /p/0; other links lead to pages of
other hosts, to redirects, and to URLs that robots.txt forbids.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from email.utils import formatdate
from functools import cached_property
from math import ceil
from typing import NamedTuple

from tests.webgraph.chance import pick, rolls, span

ROBOTS = "/robots.txt"
FEW = 3  # pages of a small host
STALL = 8.0  # seconds until a stalled answer is sent: longer than the crawl waits
_ROBOTS_KINDS = ("rules",) * 12 + ("none", "none", "late", "late", "moved", "moved", "elsewhere", "elsewhere", "empty")
_CRAWL_DELAYS = (0.1, 0.25, 1 / 3, 0.5, 0.75, 1, 1.2, 1.5, 2)
_RATES = ((1, 1), (1, 2), (2, 3), (5, 2))
_TEMPERS = ("calm", "calm", "calm", "busy", "busy", "busy", "closing", "closing", "stalling")
_BUSY = ("429 seconds", "503 seconds", "429 date", "503 date", "429 bare", "503 bare")


class Host(NamedTuple):
    """The properties of one host."""

    name: str
    address: str
    size: int  # pages
    robots: str  # "rules", "late" (503 first), "moved", "elsewhere" (on the next host); "none", "empty"; "never" (503)
    crawl_delay: float  # 0 = none
    rate: tuple[int, int] | None  # Request-rate: so many in so many seconds
    latency: float  # of its answers, on average
    has_second_port: bool  # a third of its pages is served on another port
    temper: str  # "calm", "busy" (429, 503), "stalling" (answers too late), "closing" (breaks connections)

    @property
    def has_rules(self) -> bool:
        return self.robots in ("rules", "late", "moved", "elsewhere")

    @property
    def pace(self) -> float:
        """Return about how many seconds a visit takes, delay included."""
        requests, seconds = self.rate or (1, 0)
        return 0.12 + max(self.crawl_delay, seconds / requests, 3 * self.latency)


class Answer(NamedTuple):
    """The answer that the server sends to one request.

    Endings: "keep" and "close" as in HTTP; "leave" closes a kept connection a moment after the answer; "short" closes
    it within the body, "drop" before the first byte.
    """

    status: int
    headers: str = ""  # whole lines
    body: bytes = b""
    delay: float = 0.0
    ending: str = "keep"
    retry_after: float = 0.0  # seconds, counted from the answer's end
    date: float = 0.0  # of a Retry-After that is a date


@dataclass(frozen=True)
class World:
    """So many hosts, with about so many pages in all.

    A few are large, as large as their pace allows in the same time, so that a crawl works on all of them until its end
    and a host's rest decides when it is visited. The others have few pages.
    """

    seed: int
    hosts: int = 300
    pages: int = 13_000
    port: int = 0
    second_port: int = 0
    rates: bool = False  # some hosts have a Request-rate
    large: int = 150
    shared_addresses: int = 12  # nineteen in twenty hosts share these, the others have one of their own

    @cached_property
    def all(self) -> tuple[Host, ...]:
        hosts = [self._host(number) for number in range(self.hosts)]
        every = max(1, self.hosts // self.large)
        speeds = [0 if number % every or host.robots == "never" else 1 / host.pace for number, host in enumerate(hosts)]
        share = self.pages / sum(speeds)
        return tuple(host._replace(size=FEW + int(share * speed)) for host, speed in zip(hosts, speeds, strict=True))

    @cached_property
    def numbers(self) -> dict[str, int]:
        return {host.name: number for number, host in enumerate(self.all)}

    def _host(self, number: int) -> Host:
        place, robots, delays, delay, rated, rate, slow, latency, temper, never, second, *_ = rolls(
            self.seed, number, "host"
        )
        kind = "never" if never < 0.01 else pick(_ROBOTS_KINDS, robots)
        host = Host(
            name=f"h{number:04}.site{number % 40}.test",
            address=self._address(number, place),
            size=FEW,
            robots=kind,
            crawl_delay=pick(_CRAWL_DELAYS, delay) if delays < 0.4 else 0.0,
            rate=pick(_RATES, rate) if self.rates and rated < 0.15 else None,
            latency=0.05 + 0.3 * latency if slow < 0.2 else 0.0,
            has_second_port=second < 0.15 and kind in ("rules", "none"),
            temper=pick(_TEMPERS, temper),
        )
        return host if host.has_rules else host._replace(crawl_delay=0.0, rate=None)

    def _address(self, number: int, roll: float) -> str:
        if roll < 0.95:
            return f"127.11.0.{int(roll / 0.95 * self.shared_addresses) + 1}"
        block, place = divmod(number, 250)
        return f"127.12.{block}.{place + 1}"

    def addresses(self) -> list[str]:
        return sorted({host.address for host in self.all})

    def hosts_file(self) -> str:
        return "".join(f"{host.address}\t{host.name}\n" for host in self.all)

    def seeds(self) -> Iterator[str]:
        return (self.url(number, "/p/0") for number in range(self.hosts))

    def url(self, host: int, target: str) -> str:
        return f"http://{self.all[host].name}:{self.port}{target}"

    def _page_url(self, host: int, page: int) -> str:
        port = self.second_port if self.all[host].has_second_port and page % 3 == 2 else self.port
        return f"http://{self.all[host].name}:{port}/p/{page}"

    def _some_page(self, host: int, roll: float) -> str:
        return self._page_url(host, span(0, self.all[host].size - 1, roll))

    # For the judge

    def host(self, name: str) -> Host | None:
        number = self.numbers.get(name)
        return None if number is None else self.all[number]

    def rules_owner(self, name: str, target: str) -> str | None:
        """Return the host whose rules a target finally serves; None if the target is something else."""
        number = self.numbers.get(name)
        if number is None:
            return None
        if target == ROBOTS and self.all[number].robots not in ("moved", "elsewhere"):
            return name
        if target == "/rules.txt" and self.all[number].robots == "moved":
            return name
        before = self.all[number - 1]
        return before.name if target == f"/rules-of/{before.name}" and before.robots == "elsewhere" else None

    def is_page(self, target: str) -> bool:
        """Whether robots.txt must be known before a target is requested."""
        return target not in (ROBOTS, "/rules.txt") and not target.startswith("/rules-of/")

    def forbids(self, name: str, target: str) -> bool:
        host = self.host(name)
        return host is not None and host.has_rules and target.startswith("/private/")

    # Answers

    def answer(self, name: str, target: str, attempt: int, now: float) -> Answer:
        """Return a host's answer to the first, second … request for a target."""
        number = self.numbers.get(name)
        if number is None:
            return Answer(421)
        host, owner = self.all[number], self.rules_owner(name, target)
        if target == ROBOTS or owner is not None:
            return self._robots(number, target, owner, attempt)._replace(delay=host.latency)
        kind, _, digits = target[1:].partition("/")
        if not digits.isdecimal() or int(digits) >= host.size:
            return Answer(404)
        if kind == "p":
            return self._tempered(host, number, int(digits), attempt, now)
        return self._redirect(number, int(digits)) if kind == "r" else Answer(404)

    def _robots(self, number: int, target: str, owner: str | None, attempt: int) -> Answer:
        host = self.all[number]
        if owner is None:
            place = "/rules.txt" if host.robots == "moved" else self.url(self._next(number), f"/rules-of/{host.name}")
            return Answer(301, f"Location: {place}\r\n")
        owned = self.all[self.numbers[owner]]
        if owned.robots == "never" or (owned.robots == "late" and attempt <= 1 + number % 2):
            return Answer(503, "Retry-After: 1\r\n", retry_after=1.0) if number % 2 else Answer(503)
        if owned.robots == "none":
            return Answer(404)
        return Answer(200, "Content-Type: text/plain\r\n", _rules(owned) if owned.has_rules else b"")

    def _next(self, number: int) -> int:
        return (number + 1) % self.hosts

    def _redirect(self, number: int, page: int) -> Answer:
        where, host, target, *_ = rolls(self.seed, number, page, "redirect")
        aimed = span(0, self.hosts - 1, host) if where > 0.6 or where < 0.1 else number
        aim, forbidden = self._some_page(aimed, target), self.url(aimed, f"/private/{page}")
        location = forbidden if where < 0.2 else aim
        return Answer(302, f"Location: {location}\r\n")

    def _tempered(self, host: Host, number: int, page: int, attempt: int, now: float) -> Answer:
        latency_roll, flaw, kind, length, times, *_ = rolls(self.seed, number, page, "temper")
        answer = Answer(
            200, "Content-Type: text/html\r\n", self._document(number, page), host.latency * (0.5 + latency_roll)
        )
        if host.temper == "busy" and flaw < 0.25 and attempt <= span(1, 3, times):
            return _busy(pick(_BUSY, kind), length, now)._replace(delay=answer.delay)
        if host.temper == "stalling" and flaw < 0.06 and attempt == 1:
            return answer._replace(delay=STALL)
        if host.temper == "closing":
            ending = pick(("keep", "close", "close", "leave", "leave", "short", "drop"), kind)
            return answer if attempt > 1 else answer._replace(ending=ending)
        return answer

    def _document(self, number: int, page: int) -> bytes:
        far, where, turn, private, *_ = rolls(self.seed, number, page, "links")
        links = [
            self._page_url(number, child) for child in (2 * page + 1, 2 * page + 2) if child < self.all[number].size
        ]
        links.append(self._some_page(span(0, self.hosts - 1, far), where))
        links += [f"/r/{page}"] * (turn < 0.12) + [f"/private/{page}"] * (private < 0.2)
        listed = "".join(f'<li><a href="{link}">{link}</a>' for link in links)
        text = f"<!DOCTYPE html><title>{number} {page}</title><p>Page {page} of host {number}.<ul>{listed}</ul>\n"
        return text.encode()


def _rules(host: Host) -> bytes:
    delay = f"Crawl-delay: {host.crawl_delay:.6g}\n" if host.crawl_delay else ""
    rate = f"Request-rate: {host.rate[0]}/{host.rate[1]}\n" if host.rate else ""
    return f"User-agent: *\nDisallow: /private/\n{delay}{rate}".encode()


def _busy(kind: str, length: float, now: float) -> Answer:
    """Return a 429 or 503 whose Retry-After is 1 to 3 seconds, or now and then long enough to outlast a restart."""
    status, form = kind.split()
    seconds = 12 if length < 0.06 else span(1, 3, length)
    if form == "bare":
        return Answer(int(status))
    if form == "seconds":
        return Answer(int(status), f"Retry-After: {seconds}\r\n", retry_after=float(seconds))
    date = ceil(now) + seconds
    return Answer(int(status), f"Retry-After: {formatdate(date, usegmt=True)}\r\n", date=float(date))
