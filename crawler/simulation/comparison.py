"""Compare a focused crawl with an unfocused one from the same seeds, simulated over the pages that the crawl knows."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from crawler.collection.topics import TOPIC_FACT
from crawler.errors import CrawlError
from crawler.frontier.priority import BiasedDraw, Order
from crawler.items import Reason, State
from crawler.monitor.text import folded, plural
from crawler.options import Options
from crawler.simulation.driver import Simulation
from crawler.simulation.findings import START
from crawler.simulation.known_web import KnownWeb
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import NewUrl
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from crawler.worker.startup import last_politeness

_NEVER: Final = 1e11  # seconds until a page is visited again
_SHARES: Final = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)  # of the judged pages, after which the crawls are compared
_FIRST_PART: Final = 0.25  # of the judged pages, over which the mean is taken
_POINTS: Final = 200  # of a curve in the data
_SHOW_EVERY: Final = 500  # pages

_FIRST_VISITS: Final = frozenset(  # reasons of URLs that wait for their first visit
    {Reason.SEED, Reason.LINK, Reason.REDIRECT_TARGET, Reason.REQUESTED, Reason.LISTED}
)

Curve = NDArray[np.int64]  # pages on topic after each judged page
ShowProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class HarvestComparison:
    """The harvest of a focused crawl, and of an unfocused one over the same pages."""

    topic: str
    focused: Curve
    unfocused: Curve  # shorter where links do not lead to all pages
    seconds: float  # simulated, of the unfocused crawl
    never_fetched: int  # URLs that were found and do not exist in the simulation
    unread: int  # pages whose links could not be read

    @property
    def pages(self) -> int:
        return len(self.focused)

    @property
    def unreached(self) -> int:
        """Judged pages to which no links from the seeds lead."""
        return len(self.focused) - len(self.unfocused)

    @property
    def advantage(self) -> float | None:
        """How many times as many pages on topic the focused crawl had, on average over its first part."""
        first = max(int(self.pages * _FIRST_PART), 1)
        ours, theirs = (
            sum(on_topic_after(curve, pages) for pages in range(1, first + 1))
            for curve in (self.focused, self.unfocused)
        )
        return ours / theirs if theirs else None


def compare_unfocused(
    store: Store, options: Options, show: ShowProgress = lambda what, done, of: None
) -> HarvestComparison:
    """Simulate the crawl of a store without its topic: the same seeds and rests, in the order found."""
    web = KnownWeb.read(store, options.warc_directory, lambda done, of: show("reading links", done, of))
    focused = harvest_curve(web, range(len(web.pages)))
    if not len(focused):
        raise CrawlError(
            "No page of this crawl was judged by a topic, so there is nothing to compare: scrapy crawl focused -a "
            "topic=NAME"
        )
    if not web.seeds:
        raise CrawlError("None of the seeds of this crawl was fetched, so an unfocused crawl has nowhere to begin.")
    options = replace(
        options,
        politeness=last_politeness(store, options.politeness),
        order=Order.FIFO,
        sitemaps=False,
        newsfeeds=False,
        revisit=replace(options.revisit, interval=_NEVER),
    )
    return HarvestComparison(
        topic=store.crawl.facts().get(TOPIC_FACT, ""),
        focused=focused,
        seconds=_crawl(web, options, show),
        unfocused=harvest_curve(web, web.fetched),
        never_fetched=_never_fetched(store),
        unread=web.unread,
    )


def _never_fetched(store: Store) -> int:
    return sum(
        urls
        for state, reason, urls in store.crawl.account().by_reason
        if state is State.WAITING and reason in _FIRST_VISITS
    )


def _crawl(web: KnownWeb, options: Options, show: ShowProgress) -> float:
    """Crawl the web until all pages are fetched to which links lead; return the simulated time."""
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as directory:
        store = open_store(
            f"sqlite:{Path(directory) / 'crawl.db'}", durable=False, budgets=options.budgets, order=options.order
        )
        try:
            store.urls.add_seeds((NewUrl(key=key_of(url), url=url, reason=Reason.SEED) for url in web.seeds), START)
            simulation = Simulation(
                store,
                options,
                web.respond,
                now=START,
                draw=BiasedDraw(Random(1).random),  # noqa: S311 -- a game of chance
                address_of=web.address_of,
            )
            simulation.worker.look_now()
            shown = 0
            while not simulation.worker.is_done and simulation.clock.next_event < math.inf:
                simulation.step()
                if len(web.fetched) >= shown + _SHOW_EVERY:
                    shown = len(web.fetched)
                    show("crawling unfocused", shown, len(web.pages))
            return simulation.time - START
        finally:
            store.close()


def harvest_curve(web: KnownWeb, order: Iterable[int]) -> Curve:
    """Return how many pages on topic there were after each judged page."""
    judged = [is_on_topic for number in order if (is_on_topic := web.pages[number].is_on_topic) is not None]
    return np.cumsum(np.array(judged, np.int64))


def on_topic_after(curve: Curve, pages: int) -> int:
    """Return how many pages on topic there were after so many; a crawl that has ended finds no more.

    >>> [on_topic_after(np.array([0, 1, 2]), pages) for pages in (0, 2, 9)]
    [0, 1, 2]
    """
    return int(curve[min(pages, len(curve)) - 1]) if pages and len(curve) else 0


# ── results ──


def comparison_data(found: HarvestComparison) -> dict[str, Any]:
    """Return the comparison as JSON has it, with the curves."""
    points = sorted({round(found.pages * point / _POINTS) for point in range(_POINTS + 1)})
    return {
        "topic": found.topic,
        "pages": found.pages,
        "on_topic": on_topic_after(found.focused, found.pages),
        "advantage": round(found.advantage, 4) if found.advantage is not None else None,
        "simulated_seconds": round(found.seconds, 1),
        "unreached": found.unreached,
        "never_fetched": found.never_fetched,
        "unread": found.unread,
        "curves": [
            {
                "pages": pages,
                "focused": on_topic_after(found.focused, pages),
                "unfocused": on_topic_after(found.unfocused, pages),
            }
            for pages in points
        ],
    }


def comparison_lines(found: HarvestComparison) -> Iterator[str]:
    """Format the comparison for people."""
    for line in _lines(found):
        yield from folded(line)


def _lines(found: HarvestComparison) -> Iterator[str]:
    of_topic = f" {found.topic}" if found.topic else ""
    yield (
        f"Topic{of_topic}: {plural(found.pages, 'page')} that this crawl has judged, "
        f"{on_topic_after(found.focused, found.pages):,} on topic"
    )
    yield f"  {'pages':>9} {'focused':>9} {'unfocused':>10}   on topic, when so many pages were fetched"
    for pages in sorted({max(math.ceil(found.pages * share), 1) for share in _SHARES}):
        yield f"  {pages:9,} {on_topic_after(found.focused, pages):9,} {on_topic_after(found.unfocused, pages):10,}"
    if found.advantage is not None:
        yield (
            f"  In the first quarter the focused crawl had {found.advantage:.2f} × as many pages on topic as the "
            "unfocused one, on average."
        )
    yield (
        "  The unfocused crawl was simulated: same seeds, rests and connections, URLs in the order found, over the "
        "pages that this crawl has fetched."
    )
    yield from _unknown_lines(found)


def _unknown_lines(found: HarvestComparison) -> Iterator[str]:
    """Say what such a comparison cannot know."""
    if found.never_fetched:
        yield (
            f"  Not known: {plural(found.never_fetched, 'URL')} that were found and never fetched. An unfocused crawl "
            "would have fetched many of them; they do not exist here, so its real harvest is probably lower."
        )
    if found.unreached:
        yield (
            f"  {plural(found.unreached, 'page')}: no links lead there from the seeds within the budgets; this crawl "
            "has them from sitemaps, feeds or links that are gone."
        )
    if found.unread:
        yield f"  {plural(found.unread, 'page')}: the archive cannot be read, so their links are missing."
