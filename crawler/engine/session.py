"""What the Scrapy components of one crawl share: the worker's session, and parts that are made when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from scrapy.crawler import Crawler

from crawler.engine.wiring import crawl_options
from crawler.worker.session import Session

T = TypeVar("T")


class Components:
    """The session of a crawl, and one instance of each shared part."""

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
    """Set the session that the components of a crawler share."""
    components = _components[crawler] = Components(session)
    return components


def components_of(crawler: Crawler) -> Components:
    """Return what the components of a crawler share; the first call opens the session."""
    return _components.get(crawler) or attach(crawler, Session.open(crawl_options(crawler.settings)))


def session_of(crawler: Crawler) -> Session:
    """Return the worker's session of a crawler."""
    return components_of(crawler).session
