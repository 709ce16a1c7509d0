"""Visits as a store hands them out, made at a time and committed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from crawler.frontier.politeness import HostClock
from crawler.items import Kind, Link, Outcome, Page, Reason, Refusal, Visit, Visited
from crawler.stores.contract.archive import ArchivePosition, SegmentState
from crawler.stores.contract.changes import PublishedChange
from crawler.stores.contract.commits import CommitSummary, EarlyUrls
from crawler.stores.contract.partitions import Assignment, WorkerStatus
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import NewUrl, UrlRow
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of
from tests.defaults import revisits_with
from tests.samples import NOW, answer, link, new_url, visit_result, visit_to, visited

DAY = 86_400.0
REVISIT = 8 * DAY  # after which a fetched page is due again
SEGMENT = SegmentState(name="x-000-00001.warc.gz", slot=0, length=100, records=4, closed=False)
POSITION = ArchivePosition(segment=SEGMENT.name, offset=40, length=30)
REVISIT_POLICY = revisits_with(interval=7 * DAY)
ME, YOU = "me", "you"  # workers, in the slots 0 and 1
URL, OTHER = "http://a.test/page", "http://a.test/other"
REFUSAL = Refusal(Reason.EXCLUDED, "exclude.txt:1 http://a.test/")

# Facts of visits that end in other ways than with a document; for `commit` and `fetch`.
UNCHANGED = {"outcome": Outcome.UNCHANGED, "reason": Reason.NOT_MODIFIED, "status": 304, "body": b""}
HEAD_REQUEST = {"page": None, "request": b"HEAD /page HTTP/1.1\r\n\r\n"}
SAME_HEAD = UNCHANGED | HEAD_REQUEST | {"reason": Reason.SAME_HEAD, "status": 200}
PROMISING = HEAD_REQUEST | {"outcome": Outcome.PROMISING, "reason": Reason.HEAD_SEEN}
MOVED = {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "location": link(OTHER)}
SERVER_ERROR = {"outcome": Outcome.FAILED, "reason": Reason.SERVER_ERROR, "status": 500}


# ── Rows ──


def page(body: str = "a", **facts: Any) -> Page:
    """A page with the digests of a body."""
    return Page(body_digest=body.encode(), payload_digest=body.encode(), **facts)


def found_url(url: str, **facts: Any) -> NewUrl:
    """A URL that was found as a link."""
    return new_url(url, **{"reason": Reason.LINK, "via": key_of("http://b.test/"), "depth": 1} | facts)


def row_of(store: Store, url: str) -> UrlRow:
    row = store.urls.find(key_of(url))
    assert row is not None
    return row


def states(store: Store) -> tuple[int, int, int, int]:
    """How many URLs are known, waiting, leased, parked."""
    account = store.crawl.account()
    return account.known, account.waiting, account.leased, account.parked


def due_urls(store: Store, now: float) -> set[str]:
    """The URLs of all hosts that can be activated."""
    return {visit.url for load in store.frontier.activate("me", now, 100, 1_000, ()) for visit in load.visits}


def events(store: Store, url: str) -> list[str]:
    """The events of a URL in the change feed, in order."""
    return [event for event, of in store.changes.entries() if of == url]


def latest_change(store: Store, url: str, after: int = 0) -> PublishedChange | None:
    return next((row for row in store.changes.published(after) if row.url == url), None)


# ── Leases ──


def renew_lease(store: Store, owner: str, now: float = NOW, *, expected: int = 1, rest: float = 0.0) -> Assignment:
    def full_rest(name: str, clock: HostClock) -> HostClock:
        return replace(clock, next_visit=now + rest)

    worker = WorkerStatus(slot=[ME, YOU].index(owner), owner=owner, pages=7, expected=expected)
    return store.partitions.renew_lease(worker, now, 60.0, 60.0, full_rest)


def lease_all(store: Store, now: float = NOW) -> list[Visit]:
    """Lease all URLs that are due."""
    visits = [visit for load in store.frontier.activate("me", now, 100, 100, ()) for visit in load.visits]
    return store.frontier.lease("me", visits, NOW).granted


def lease_url(store: Store, url: str, now: float) -> Visit:
    """Lease a URL that is due, and return its visit as the store loads it."""
    (visit,) = [visit for visit in store.frontier.load(key_of(url).host, now, 1_000) if visit.url == url]
    assert store.frontier.lease("me", [visit], now).granted == [visit]
    return visit


def add_and_lease(store: Store, url: str, now: float = NOW) -> Visit:
    """Lease a URL, which is added if it is new; it need not be due."""
    store.urls.add([new_url(url)], now)
    (visit,) = store.frontier.lease("me", [visit_to(url)], NOW).granted
    return visit


# ── Commits ──


def commit(store: Store, visit: Visit, now: float, **facts: Any) -> CommitSummary:
    """End a visit; facts are those of the `Visited`, and of the answer: status, head, body, request, is_revisit."""
    is_revisit = facts.pop("is_revisit", False)
    wire = {name: facts.pop(name) for name in ("status", "head", "body", "request") if name in facts}
    fetched = answer(visit.url, started=now - 0.1, ended=now, **wire)
    result = visited(visit, **{"fetched": fetched, "page": Page()} | facts)
    position = POSITION if result.page is not None else None
    next_state = REVISIT_POLICY.after(result, now, now)
    batch = [visit_result(result, next_state=next_state, position=position, is_revisit=is_revisit)]
    return store.commits.commit(batch, [SEGMENT], now)


def insert_early(store: Store, *results: Visited, most: int = 1, now: float = NOW) -> EarlyUrls:
    """Insert what the visits found before their commit, `most` in a transaction."""
    return store.commits.insert_early([visit_result(result) for result in results], most, now)


def fetch(store: Store, url: str, now: float, **facts: Any) -> CommitSummary:
    """Visit a URL that is due; it is added as a seed if it is new."""
    store.urls.add([new_url(url)], now)
    return commit(store, lease_url(store, url, now), now, **facts)


def fetch_refused(store: Store, url: str, now: float, reason: Reason, status: int, **facts: Any) -> CommitSummary:
    return fetch(store, url, now, **{"outcome": Outcome.REFUSED, "reason": reason, "status": status} | facts)


def fetch_robots(store: Store, url: str, now: float, sitemaps: Sequence[Link]) -> CommitSummary:
    """Visit the robots.txt of a URL's origin, which names sitemaps."""
    origin = origin_of(url)
    visit = visit_to(f"{origin}/robots.txt", kind=Kind.ROBOTS, origin=origin)
    assert store.frontier.lease("me", [visit], now).granted == [visit]
    return commit(store, visit, now, sitemaps=sitemaps, page=None)


def publish(store: Store, url: str, now: float = NOW, **facts: Any) -> None:
    """Visit a URL, due or not, and commit its page."""
    visit = add_and_lease(store, url, now)
    store.commits.commit([visit_result(visited(visit, **facts), position=POSITION)], [SEGMENT], now)
