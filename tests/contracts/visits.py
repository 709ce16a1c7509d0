"""Visits as a store hands them out, made at a time and committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from crawler.items import Kind, Link, Outcome, Page, Reason, Visit
from crawler.stores.contract.archive import ArchivePosition, SegmentState
from crawler.stores.contract.commits import CommitSummary
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import UrlRow
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of
from tests.defaults import revisits_with
from tests.samples import answer, new_url, visit_result, visit_to, visited

DAY = 86_400.0
SEGMENT = SegmentState(name="x-000-00001.warc.gz", slot=0, length=100, records=4, closed=False)
PLACE = ArchivePosition(segment=SEGMENT.name, offset=40, length=30)
POLICY = revisits_with(interval=7 * DAY)


def row_of(store: Store, url: str) -> UrlRow:
    row = store.urls.find(key_of(url))
    assert row is not None
    return row


def leased(store: Store, url: str, now: float) -> Visit:
    """A URL that is due, as the store knows it."""
    (visit,) = [visit for visit in store.frontier.load(key_of(url).host, now, 1_000) if visit.url == url]
    assert store.frontier.lease("me", [visit], now).granted == [visit]
    return visit


def commit(store: Store, visit: Visit, now: float, **facts: Any) -> CommitSummary:
    """Let a visit end; facts are those of the `Visited`, and of the answer: status, head, body, request, is_revisit."""
    is_revisit = facts.pop("is_revisit", False)
    wire = {name: facts.pop(name) for name in ("status", "head", "body", "request") if name in facts}
    fetched = answer(visit.url, started=now - 0.1, ended=now, **wire)
    result = visited(visit, **{"fetched": fetched, "page": Page()} | facts)
    place = PLACE if result.page is not None else None
    after = POLICY.after(result, now, now)
    return store.commits.commit(
        [visit_result(result, next_state=after, position=place, is_revisit=is_revisit)], [SEGMENT], now
    )


def fetch(store: Store, url: str, now: float, **facts: Any) -> CommitSummary:
    """Visit a URL that is due; a seed if it is not known."""
    store.urls.add([new_url(url)], now)
    return commit(store, leased(store, url, now), now, **facts)


def refused(store: Store, url: str, now: float, reason: Reason, status: int, **facts: Any) -> CommitSummary:
    return fetch(store, url, now, **{"outcome": Outcome.REFUSED, "reason": reason, "status": status} | facts)


def read_robots(store: Store, url: str, now: float, sitemaps: Sequence[Link]) -> CommitSummary:
    """The robots.txt of a URL's origin, which names sitemaps."""
    origin = origin_of(url)
    visit = visit_to(f"{origin}/robots.txt", kind=Kind.ROBOTS, origin=origin)
    assert store.frontier.lease("me", [visit], now).granted == [visit]
    return commit(store, visit, now, sitemaps=sitemaps, page=None)


def due_at(store: Store, now: float) -> set[str]:
    """The URLs that are due, as far as their hosts come forward."""
    return {visit.url for load in store.frontier.activate("me", now, 100, 1_000, ()) for visit in load.visits}
