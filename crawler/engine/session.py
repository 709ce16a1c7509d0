"""What the components of one Scrapy crawler share: the worker's session, and parts made from it when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler

from crawler.options import Options
from crawler.worker.session import Session

T = TypeVar("T")


class Components:
    """The session of a crawl, and one instance of each part that was asked for."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._parts: dict[Callable[[Components], Any], Any] = {}

    def get(self, make: Callable[[Components], T]) -> T:
        """Return the part that `make` makes; every component that asks for it gets the same one."""
        if make not in self._parts:
            self._parts[make] = make(self)
        return cast("T", self._parts[make])


_components: WeakKeyDictionary[Crawler, Components] = WeakKeyDictionary()


def attach(crawler: Crawler, session: Session) -> Components:
    """Give a crawler the session that its components share."""
    components = _components[crawler] = Components(session)
    return components


def components_of(crawler: Crawler) -> Components:
    """What a crawler's components share; its session is opened now if nobody has."""
    return _components.get(crawler) or attach(crawler, Session.open(Options.of(crawler.settings)))


def session_of(crawler: Crawler) -> Session:
    """The worker's session of a crawler."""
    return components_of(crawler).session
