"""Checks an access log, independently of the crawler: was every page fetched, and every host treated politely?"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.webgraph.generate import MOVED_ROBOTS, ROBOTS, Web


class Entry(NamedTuple):
    """One request, as the server saw it."""

    host: str
    target: str
    t0: float  # when its first byte had been read
    t1: float  # when the last byte of the answer was about to be sent, or the client was found to have disconnected
    status: int = 200  # 0 = the connection was reset instead of an answer
    behaviour: str = "normal"
    retry_after: float = 0.0  # seconds, of the answer's Retry-After
    aborted: bool = False  # the client disconnected before the answer ended
    port: int = 8000
    method: str = "GET"
    n: int = 0
    connection: int = 0
    address: str = ""
    attempt: int = 1  # how many times this URL has been requested, this time included
    bytes: int = 0
    agent: str = ""

    @property
    def url(self) -> str:
        return f"http://{self.host}{'' if self.port == 80 else f':{self.port}'}{self.target}"

    @property
    def is_complete(self) -> bool:
        """Whether the client could have received a whole answer."""
        return not self.aborted and self.behaviour not in ("short", "reset")

    @property
    def is_robots(self) -> bool:
        return self.target in (ROBOTS, MOVED_ROBOTS)


class Rest(NamedTuple):
    """How long a host had to rest, and by which rule."""

    seconds: float
    why: str


class Violation(NamedTuple):
    """A request that came too early after another one to the same host."""

    entry: Entry
    previous: Entry
    gap: float  # negative if both were under way at once
    required: Rest


# Maps the earlier requests to a host, in order of time and at least one, and the present request to the rest due.
Requirement = Callable[[Sequence[Entry], Entry], Rest]


def read_log(path: Path) -> list[Entry]:
    """Read all entries whose lines are complete."""
    lines = path.read_text().splitlines(keepends=True) if path.exists() else []
    return [Entry(**json.loads(line)) for line in lines if line.endswith("\n")]


def gaps(log: Iterable[Entry], required: Requirement) -> list[Violation]:
    """Return every request that began before its host had rested, counted from the end of the earlier answers."""
    return [violation for entries in _by_host(log) for violation in _violations(entries, required)]


def _violations(entries: Sequence[Entry], required: Requirement) -> Iterator[Violation]:
    latest = entries[0]  # the one whose answer ended last
    for number, entry in enumerate(entries[1:], start=1):
        previous, latest = latest, max(latest, entry, key=lambda either: either.t1)
        gap, rest = entry.t0 - previous.t1, required(entries[:number], entry)
        if gap < 0:
            yield Violation(entry, previous, gap, Rest(0.0, "one request at a time"))
        elif gap < rest.seconds:
            yield Violation(entry, previous, gap, rest)


def politeness(
    web: Web, floor: float, factor: float = 0.0, cap: float = 30.0, restarts: Sequence[float] = ()
) -> Requirement:
    """Return the rest that a polite crawler gives a host of this web.

    A crawler that was killed and restarted (at the given times) may have lost the duration and the Retry-After of the
    last answer, but neither the floor nor the robots.txt rules.
    """

    def required(history: Sequence[Entry], entry: Entry) -> Rest:
        previous = history[-1]
        rests = [Rest(floor, "floor")]
        delay = web.host_delay(entry.host)
        if delay and not entry.is_robots and _rules_were_read(history, entry):
            rests.append(Rest(delay, "Crawl-delay"))
        if not any(previous.t0 <= restart <= entry.t0 for restart in restarts):
            rests.append(Rest(min(cap, factor * (previous.t1 - previous.t0)), "response time"))
            rests.append(_retry_after_rest(previous))
        return max(rests)

    return required


def _rules_were_read(history: Iterable[Entry], entry: Entry) -> bool:
    return any(
        earlier.is_robots and earlier.is_complete and earlier.status == 200 and earlier.t1 <= entry.t0
        for earlier in history
    )


def _retry_after_rest(previous: Entry) -> Rest:
    is_binding = previous.status in (429, 503) and previous.is_complete
    return Rest(previous.retry_after if is_binding else 0.0, "Retry-After")


def fetched(log: Iterable[Entry]) -> dict[str, int]:
    """Return how often each URL was answered with a whole document."""
    return dict(
        Counter(entry.url for entry in log if entry.method == "GET" and entry.status == 200 and entry.is_complete)
    )


def refetches(log: Iterable[Entry]) -> dict[str, int]:
    """Return URLs that were requested again after a complete answer, and how often; server errors may be retried."""
    answers = Counter(entry.url for entry in log if entry.method == "GET" and entry.is_complete and entry.status < 500)
    return {url: count - 1 for url, count in answers.items() if count > 1}


def forbidden_hits(log: Iterable[Entry], web: Web) -> list[Entry]:
    """Return requests that robots.txt forbids."""
    forbidden = web.forbidden()
    return [entry for entry in log if entry.url in forbidden]


def missing_pages(log: Iterable[Entry], web: Web) -> set[str]:
    """Return pages that were never answered as a whole."""
    return set(web.urls()) - fetched(log).keys()


def robots_first(log: Iterable[Entry]) -> list[Entry]:
    """Return requests that came before their host's robots.txt had been read, or found absent."""
    return [entry for entries in _by_host(log) for entry in _before_robots(entries)]


def _before_robots(entries: Sequence[Entry]) -> Iterator[Entry]:
    answers = (entry for entry in entries if entry.is_robots and entry.is_complete and _is_conclusive(entry.status))
    known_at = min((entry.t1 for entry in answers), default=float("inf"))
    return (entry for entry in entries if not entry.is_robots and entry.t0 < known_at)


def _is_conclusive(status: int) -> bool:
    """Whether a robots.txt status settles the rules; redirects and server errors do not (RFC 9309 §2.3.1)."""
    return 200 <= status < 300 or 400 <= status < 500


def _by_host(log: Iterable[Entry]) -> list[list[Entry]]:
    hosts: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in sorted(log, key=lambda entry: entry.t0):
        hosts[entry.host].append(entry)
    return list(hosts.values())
