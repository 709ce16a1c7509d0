"""Is it the hosts that fail, or our own network?

Dead hosts are normal: a list of seeds may have more of them than living ones. What is not normal is that hosts which
have answered before stop answering all at once, or that nobody at all can be reached.
"""

from __future__ import annotations

from crawler.frontier.politeness import UNREACHABLE
from crawler.items import Visited

SPAN = 60.0  # seconds that are looked at
FEW = 5  # hosts that have answered before and fail now: fewer say nothing
NOBODY = 10  # hosts that fail, if none answers
PROBE_EVERY = 10.0  # seconds between two tries while the network is down
_MOST_HOSTS = 100_000


class Network:
    """What became of the last visit to each host, for a minute."""

    def __init__(self) -> None:
        self.is_down = False
        self.next_probe = 0.0
        self._answered: set[int] = set()  # hosts that have ever answered
        self._recent: dict[int, tuple[float, bool]] = {}  # host → when, whether it answered; the latest last

    def note(self, host: int, visited: Visited, now: float) -> None:
        """A visit has ended."""
        answered = visited.fetched is not None and visited.fetched.status > 0
        if not answered and visited.reason not in UNREACHABLE:
            return
        self._recent.pop(host, None)
        self._recent[host] = now, answered
        self._forget(now)
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

    def _forget(self, now: float) -> None:
        while self._recent:
            host, (when, _) = next(iter(self._recent.items()))
            if when > now - SPAN:
                return
            del self._recent[host]

    def _looks_down(self) -> bool:
        """More than half of the hosts that we know to live have failed within a minute; or everybody has."""
        living = [answered for host, (_, answered) in self._recent.items() if host in self._answered]
        failing = living.count(False)
        if failing >= FEW and failing > len(living) / 2:
            return True
        return len(self._recent) >= NOBODY and not any(answered for _, answered in self._recent.values())
