"""Small values for tests: URLs, links, visits, answers, results."""

from __future__ import annotations

from typing import Any

from crawler.frontier.next_state import NextState
from crawler.frontier.politeness import HostClock
from crawler.items import Fetched, Kind, Link, Outcome, Page, Reason, Refusal, Visit, Visited
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.partitions import WorkerStatus
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import NewUrl
from crawler.urls.keys import key_of, link_fingerprint
from tests.defaults import DEFAULTS

NOW = 1_000_000.0


def new_url(url: str, **facts: Any) -> NewUrl:
    return NewUrl(**{"key": key_of(url), "url": url, "reason": Reason.SEED} | facts)


def link(url: str, anchor: str = "", refused: Reason | None = None) -> Link:
    return Link(key_of(url), url, anchor, Refusal(refused, "so") if refused else None, link_fingerprint(url, anchor))


def visit_to(url: str, **facts: Any) -> Visit:
    key = key_of(url)
    return Visit(**{"key": key, "url": url, "kind": Kind.PAGE, "epoch": 1, "host_key": key.host} | facts)


def answer(url: str, *, started: float = NOW, ended: float = NOW + 0.1, status: int = 200, **facts: Any) -> Fetched:
    head = f"HTTP/1.1 {status} Whatever\r\nContent-Type: text/html\r\n\r\n".encode()
    given = {"url": url, "reason": Reason.OK, "started": started, "ended": ended, "status": status, "head": head}
    return Fetched(
        **given | {"request": b"GET / HTTP/1.1\r\n\r\n", "body": b"<p>Hello", "address": "127.0.0.1"} | facts
    )


def visited(visit: Visit, *links: Link, **facts: Any) -> Visited:
    given: dict[str, Any] = {"visit": visit, "outcome": Outcome.FETCHED, "reason": Reason.OK}
    given |= {"fetched": answer(visit.url), "page": Page(links=links), "is_compared": True}
    return Visited(**given | facts)


def visit_result(
    result: Visited, *, clock: HostClock | None = None, next_state: NextState | None = None, **facts: Any
) -> VisitResult:
    """A result ready to be committed; its next state is by default that of the default revisit policy."""
    next_state = next_state or DEFAULTS.revisit.after(result, NOW, NOW)
    clocks = {result.visit.host_key: clock or HostClock()}
    return VisitResult(visited=result, next_state=next_state, clocks=clocks, **facts)


def acquire(store: Store, owner: str, slot: int, now: float, lease: float, longest_request: float) -> int:
    """Lease all free partitions to a worker, up to its share; return how many it holds."""
    worker = WorkerStatus(slot=slot, owner=owner)
    return len(store.partitions.renew_lease(worker, now, lease, longest_request, lambda name, clock: clock).partitions)
