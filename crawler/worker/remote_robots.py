"""The robots.txt files that lie on another host than their origin's: the worker that owns that host fetches them.

The visits are queued in the store. Here is what one worker knows of them: which files it waits for, and which it
fetches for itself or for other workers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crawler.items import RobotsFile, Visit
from crawler.urls.keys import key_of

FETCH_TIMEOUT = 60.0  # seconds within which a file must be fetched
RETRY_DELAY = 600.0  # seconds after which an origin whose file was not fetched in time is tried again


class RemoteRobots:
    """Origins whose robots.txt lies elsewhere, and since when it is awaited or fetched."""

    def __init__(self) -> None:
        self.awaited: dict[str, float] = {}  # origins of ours, whose file the owner of another host fetches
        self.running: dict[str, float] = {}  # origins whose file we fetch, perhaps for another worker

    def robots_queued(self, visits: Iterable[Visit], now: float) -> None:
        """Wait for the files of these visits, which are queued in the store."""
        self.awaited.update((visit.origin, now) for visit in visits)

    def robots_committed(self, origin: str) -> None:
        """Wait no longer for the file of an origin: we have fetched and committed it."""
        self.awaited.pop(origin, None)
        self.running.pop(origin, None)

    def accept_robots(self, rules: RobotsFile) -> bool:
        """Whether a file in the store is newer than our request for it; if so, it is awaited no longer."""
        is_new = rules.fetched >= self.awaited.get(rules.origin, float("inf"))
        if is_new:
            del self.awaited[rules.origin]
        return is_new

    def time_out(self, now: float) -> Iterator[RobotsFile]:
        """Give up files that were not fetched in time; their origins count as unreachable for a while."""
        self.running = {origin: since for origin, since in self.running.items() if since + FETCH_TIMEOUT > now}
        for origin in [origin for origin, since in self.awaited.items() if since + FETCH_TIMEOUT < now]:
            del self.awaited[origin]
            yield RobotsFile(
                host=key_of(f"{origin}/").host,
                origin=origin,
                status=0,
                body=None,
                fetched=now,
                expires=now + RETRY_DELAY,
                held_until=now + RETRY_DELAY,
            )
