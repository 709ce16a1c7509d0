"""In a focused crawl, URLs that wait are scored again when more is known of links: the next ones first, never all at once.

Scoring and moving a URL costs the store's thread 20 to 60 µs. So it is done in slices with pauses between: at most a
tenth of the time goes to it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from functools import partial
from typing import NamedTuple

from crawler.frontier.frontier import Frontier
from crawler.stores.contract.focus import WaitingPlace
from crawler.worker.runtime import Runtime, StoreCalls, Timers

_TOP = WaitingPlace()
_MOST_URLS = 500  # of a slice
_FIRST_URLS = 64  # of a host: those that it is visited for next
_MOST_HOSTS = 10_000  # whose further URLs are to be scored
_FEWEST_URLS = 50
_LONGEST_SLICE = 0.02  # seconds
_SHARE = 0.1  # of the time of the store's thread
_LEAST_PAUSE = 0.05  # seconds
_FEWEST_LESSONS = 8  # after which URLs are scored again, and at least
_SHARE_OF_LESSONS = 0.02  # of those that were learned before
_NEXT_HOSTS = 200  # hosts behind those of the window whose URLs are scored again


class RescorePlan:
    """Which waiting URLs are scored again next: the first of each active host, of the hosts behind, then further ones.

    >>> plan = RescorePlan()
    >>> plan.begin([7, 8])
    >>> plan.take(), plan.take(), plan.take() is None
    ((7, WaitingPlace(level=0, step=0, due=0.0, id=0)), (8, WaitingPlace(level=0, step=0, due=0.0, id=0)), True)
    >>> plan.go_on(8, WaitingPlace(3, 1, 5.0, 99))
    >>> plan.take()
    (8, WaitingPlace(level=3, step=1, due=5.0, id=99))
    """

    def __init__(self) -> None:
        self._first: deque[int] = deque()  # hosts
        self._further: dict[int, WaitingPlace] = {}  # host → where to go on

    def begin(self, hosts: Iterable[int]) -> None:
        """Begin again with the first URLs of these hosts; further URLs follow where it stopped."""
        self._first = deque(dict.fromkeys(hosts))

    def take(self) -> tuple[int, WaitingPlace] | None:
        """Return a host and a place in its queue from which to score; None if all were scored."""
        if self._first:
            return self._first.popleft(), _TOP
        if not self._further:
            return None
        host = min(self._further, key=self._further.__getitem__)
        return host, self._further.pop(host)

    def go_on(self, host: int, after: WaitingPlace) -> None:
        """Note where the rest of a host's URLs begins; of two places the better one is kept."""
        self._further[host] = min(after, self._further.get(host, after))
        if len(self._further) > _MOST_HOSTS:
            del self._further[max(self._further, key=self._further.__getitem__)]


class _Slice(NamedTuple):
    urls: int
    seconds: float
    is_over: bool  # nothing is left to be scored


class LinkRescoring:
    """Scores the waiting URLs of one worker again while it crawls."""

    def __init__(self, runtime: Runtime, calls: StoreCalls, frontier: Frontier) -> None:
        self._runtime = runtime
        self._calls = calls
        self._frontier = frontier
        self._timers = Timers(runtime.clock)
        self._is_stopped = False
        self._plan = RescorePlan()  # used in the store's thread alone, like the next two
        self._lessons_before = 0
        self._urls = _MOST_URLS

    def start(self) -> None:
        if self._runtime.store_access.learner is not None:
            self._timers.set("rescore", _LEAST_PAUSE, self._rescore)

    def stop(self) -> None:
        self._is_stopped = True
        self._timers.cancel_all()

    def _rescore(self) -> None:
        active = list(self._frontier.hosts)
        self._calls.run(partial(self._score_slice, active), self._scored, kind="rescore")

    def _scored(self, done: _Slice) -> None:
        if self._is_stopped:
            return
        pause = done.seconds / _SHARE if not done.is_over else 1.0
        self._timers.set("rescore", max(pause, _LEAST_PAUSE), self._rescore)

    # ── in the store's thread ──

    def _score_slice(self, active: list[int]) -> _Slice:
        access, clock = self._runtime.store_access, self._runtime.clock
        begun = clock.now()
        self._begin_if_learned(active, begun)
        urls = 0
        while urls < self._urls and (taken := self._plan.take()) is not None:
            host, after = taken
            most = min(self._urls - urls, _FIRST_URLS) if after == _TOP else self._urls - urls
            scored = access.store.focus.rescore(host, after, most, begun)
            urls += max(scored.urls, 1)
            if scored.next is not None:
                self._plan.go_on(host, scored.next)
            if clock.now() - begun > _LONGEST_SLICE:
                break
        seconds = clock.now() - begun
        self._adapt(urls, seconds)
        return _Slice(urls, seconds, urls == 0)

    def _begin_if_learned(self, active: list[int], now: float) -> None:
        access = self._runtime.store_access
        assert access.learner is not None, "`start` has seen it"
        lessons = access.learner.lessons
        if lessons - self._lessons_before >= max(_FEWEST_LESSONS, lessons * _SHARE_OF_LESSONS):
            self._lessons_before = lessons
            self._plan.begin([*active, *access.store.focus.next_hosts(access.owner, now, _NEXT_HOSTS)])

    def _adapt(self, urls: int, seconds: float) -> None:
        """Choose the size of the next slice so that it takes no longer than it may."""
        if seconds > _LONGEST_SLICE:
            self._urls = max(_FEWEST_URLS, int(urls * _LONGEST_SLICE / seconds))
        elif urls >= self._urls:
            self._urls = min(_MOST_URLS, 2 * self._urls)
