"""Detects whether single hosts fail, or our own network.

Dead hosts are normal: a list of seeds may have more of them than live ones. It is not normal that hosts which have
answered before stop answering all at once, or that no host at all can be reached.
"""

from __future__ import annotations

from crawler.frontier.politeness import UNREACHABLE
from crawler.items import Visited

SPAN = 60.0  # seconds of results that are considered
FEW_FAILING = 5  # hosts that have answered before and fail now: fewer are no evidence
ALL_FAILING = 10  # failing hosts that are evidence if no host answers
PROBE_EVERY = 10.0  # seconds between two attempts while the network is down
_MOST_HOSTS = 100_000


class Network:
    """Whether our network is down, judged by the last visit to each host within a minute."""

    def __init__(self) -> None:
        self.is_down = False
        self.next_probe = 0.0
        self._answered: set[int] = set()  # hosts that have ever answered
        self._recent: dict[int, tuple[float, bool]] = {}  # host → when, whether it answered; the latest last

    def record_visit(self, host: int, visited: Visited, now: float) -> None:
        """Record the result of a visit, and judge whether the network is up or down."""
        answered = visited.fetched is not None and visited.fetched.status > 0
        if not answered and visited.reason not in UNREACHABLE:
            return
        self._recent.pop(host, None)
        self._recent[host] = now, answered
        self._drop_old(now)
        if answered:
            if len(self._answered) >= _MOST_HOSTS:
                self._answered.clear()
            self._answered.add(host)
            if self.is_down:
                self.is_down = False
                self._recent = {host: (now, True)}
        elif not self.is_down and self._looks_down():
            self.is_down = True
            self.next_probe = now + PROBE_EVERY
        elif self.is_down:
            self.next_probe = now + PROBE_EVERY

    def _drop_old(self, now: float) -> None:
        while self._recent:
            host, (when, _) = next(iter(self._recent.items()))
            if when > now - SPAN:
                return
            del self._recent[host]

    def _looks_down(self) -> bool:
        """Whether within a minute more than half of the hosts that ever answered have failed, or all hosts have."""
        living = [answered for host, (_, answered) in self._recent.items() if host in self._answered]
        failing = living.count(False)
        if failing >= FEW_FAILING and failing > len(living) / 2:
            return True
        return len(self._recent) >= ALL_FAILING and not any(answered for _, answered in self._recent.values())
