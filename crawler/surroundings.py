"""What the messenger finds under Scrapy: the event loop, the store's thread, names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Protocol, TypeVar

from crawler.download import client_of
from crawler.items import Key, Visited
from crawler.session import Session
from crawler.stores.contract import Committed, Settled, Store, Tenure

T = TypeVar("T")


class Scheduler(Protocol):
    """Whom the surroundings tell what concerns the engine."""

    def may_release(self) -> bool: ...

    def engine_is_ready(self) -> bool: ...

    def wake(self) -> None: ...

    def kept(self) -> None: ...

    def acknowledged(self, host: str, visited: Visited) -> None: ...

    def count(self, what: str, times: int) -> None: ...

    def fail(self, error: BaseException) -> None: ...


class Surroundings:
    """Implements `crawler.messenger.Surroundings`."""

    def __init__(self, scheduler: Scheduler, session: Session) -> None:
        self.owner = session.owner
        self.now = session.now
        self._scheduler = scheduler
        self._session = session

    @property
    def store(self) -> Store:
        return self._session.store

    def later(self, delay: float, act: Callable[[], object]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(delay, act)

    def in_store(self, act: Callable[[], T], then: Callable[[T], None]) -> None:
        self._session.run(act).add_done_callback(partial(self._answered, then))

    def _answered(self, then: Callable[[T], None], future: asyncio.Future[T]) -> None:
        try:
            answer = future.result()
        except Exception as error:
            self.fail(error)
        else:
            then(answer)

    def commit(self, batch: Sequence[Settled]) -> tuple[Committed, Collection[Key]]:
        return self._session.committer.commit(batch)

    def keep(self) -> Tenure:
        return self._session.keep()

    def kept(self) -> None:
        self._scheduler.kept()

    def new_seeds(self) -> list[str]:
        return self._session.new_seeds()

    def welcome(self, seeds: Sequence[str]) -> Callable[[], None]:
        self._session.learn(seeds)
        return lambda: self._session.welcome(seeds)

    def known_address(self, host: str) -> str | None:
        return client_of(self._session).known_address(host)

    def look_up(self, host: str, then: Callable[[], None]) -> None:
        look_up = asyncio.ensure_future(client_of(self._session).address_of(host))
        look_up.add_done_callback(lambda _: then())

    def may_release(self) -> bool:
        return self._scheduler.may_release() and self._scheduler.engine_is_ready()

    def wake(self) -> None:
        self._scheduler.wake()

    def acknowledged(self, host: str, visited: Visited) -> None:
        self._scheduler.acknowledged(host, visited)

    def committed(self, committed: Committed) -> None:
        record = self._session.record
        record.commits += 1
        record.new_urls += committed.new_urls
        record.duplicates += committed.duplicates
        record.bytes_archived += committed.bytes_archived

    def count(self, what: str, times: int = 1) -> None:
        self._scheduler.count(what, times)

    def fail(self, error: BaseException) -> None:
        self._scheduler.fail(error)
