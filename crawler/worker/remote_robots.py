"""A robots.txt that lies on another host than its origin's is fetched by whoever may ask that host.

Errands lie in the store; here is what one worker knows of them: what it waits for, and what it does for others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crawler.items import RobotsFile, Visit
from crawler.urls.keys import key_of

PATIENCE = 60.0  # how long somebody may take
AGAIN = 600.0  # after which it is asked for again


class RemoteRobots:
    """Origins, and since when."""

    def __init__(self) -> None:
        self.awaited: dict[str, float] = {}  # whose rules somebody fetches
        self.running: dict[str, float] = {}  # whose rules we fetch, perhaps for somebody else

    def noted(self, errands: Iterable[Visit], now: float) -> None:
        """Somebody is to fetch them."""
        self.awaited.update((errand.origin, now) for errand in errands)

    def done(self, origin: str) -> None:
        """The rules of an origin are committed."""
        self.awaited.pop(origin, None)
        self.running.pop(origin, None)

    def is_news(self, rules: RobotsFile) -> bool:
        """Whether these are rules that were waited for; they are no more, then."""
        is_news = rules.fetched >= self.awaited.get(rules.origin, float("inf"))
        if is_news:
            del self.awaited[rules.origin]
        return is_news

    def given_up(self, now: float) -> Iterator[RobotsFile]:
        """What nobody has brought in time: such origins wait for a while."""
        self.running = {origin: since for origin, since in self.running.items() if since + PATIENCE > now}
        for origin in [origin for origin, since in self.awaited.items() if since + PATIENCE < now]:
            del self.awaited[origin]
            yield RobotsFile(
                host=key_of(f"{origin}/").host,
                origin=origin,
                status=0,
                body=None,
                fetched=now,
                expires=now + AGAIN,
                held_until=now + AGAIN,
            )
