"""What the Scrapy components of one crawl share: the worker's session, and parts that are made when first needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from scrapy import signals
from scrapy.crawler import Crawler

from crawler.engine.command import exit_with
from crawler.engine.run_end import ForeignRun
from crawler.engine.spiders import refuse_other_commands, topic_of
from crawler.engine.wiring import crawl_options
from crawler.errors import CrawlError
from crawler.worker.session import Session

T = TypeVar("T")


class Components:
    """The session of a crawl, and one instance of each shared part."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.foreign_run: ForeignRun | None = None  # if another command than ours has started the crawl
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
    """Return what the components of a crawler share.

    If no command of ours has opened a session, the first call does, and sees to the end of the run.
    """
    found = _components.get(crawler)
    if found is None:
        try:
            refuse_other_commands(crawler)
            topic = topic_of(crawler.spidercls, vars(crawler.spider) if crawler.spider is not None else {})
            found = attach(crawler, Session.open(crawl_options(crawler.settings), topic=topic))
        except CrawlError as error:
            exit_with(error)
        found.foreign_run = ForeignRun(found.session, crawler.spidercls.name)
        crawler.signals.connect(found.foreign_run.end, signal=signals.engine_stopped)
    return found


def session_of(crawler: Crawler) -> Session:
    """Return the worker's session of a crawler."""
    return components_of(crawler).session
