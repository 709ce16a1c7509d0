"""A host is probed for the page that it shows, with status 200, instead of missing ones."""

from __future__ import annotations

from typing import Any

import pytest

from crawler.items import Kind, Outcome, Page, Reason, State
from crawler.stores.contract.store import Store
from crawler.urls.hosts import origin_of
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import DAY, OTHER, URL, fetch, fetch_refused, page, row_of
from tests.samples import NOW, new_url

HOST = key_of(URL).host
FEED = "http://a.test/feed"
SOFT404_SKETCH = b"sketch of it"


def probe_urls(store: Store, now: float = NOW) -> list[str]:
    return [
        visit.url
        for load in store.frontier.activate("me", now, 9, 99, ())
        for visit in load.visits
        if visit.kind is Kind.PROBE
    ]


def fetch_pages(store: Store, count: int, now: float = NOW, host: str = "a.test") -> None:
    for number in range(count):
        fetch(store, f"http://{host}/{now}/{number}", now, page=page(f"{host} {now} {number}"))


def has_soft404(store: Store) -> bool | None:
    row = store.urls.find_host(HOST, NOW)
    assert row is not None
    return row.soft404


def test_a_host_is_probed_once_after_a_number_of_pages(with_probes: Opener) -> None:
    store = with_probes(3)
    fetch_pages(store, 2)
    assert (probe_urls(store), has_soft404(store)) == ([], None)
    fetch_pages(store, 1, NOW + 1)
    (probe,) = probe_urls(store, NOW + 1)
    row = row_of(store, probe)
    assert (row.kind, row.state, row.reason, row.level) == (Kind.PROBE, State.WAITING, Reason.PROBE_FILE, 0)
    assert origin_of(probe) == "http://a.test"
    assert len(probe) > len("http://a.test/") + 8
    fetch_pages(store, 5, NOW + 2)
    assert probe_urls(store, NOW + 2) == [probe]
    fetch_pages(store, 2, NOW + 3, host="b.test")
    assert probe_urls(store, NOW + 3) == [probe]


def test_only_pages_count_towards_a_probe(with_probes: Opener) -> None:
    store = with_probes(2)
    fetch_refused(store, URL, NOW, Reason.NOT_FOUND, 404)
    store.urls.add([new_url(FEED, kind=Kind.FEED)], NOW)
    fetch(store, FEED, NOW, page=Page(kind=Kind.FEED))
    fetch_pages(store, 1)
    assert probe_urls(store) == []
    fetch_pages(store, 1, NOW + 1)
    assert len(probe_urls(store, NOW + 1)) == 1


def test_with_probe_after_0_no_host_is_probed(with_probes: Opener) -> None:
    store = with_probes(0)
    fetch_pages(store, 5)
    assert (probe_urls(store), has_soft404(store)) == ([], None)


def test_the_soft_404_sketch_of_a_host_is_stored(with_probes: Opener) -> None:
    store = with_probes(1)
    fetch_pages(store, 1)
    (probe,) = probe_urls(store)
    fetch(store, probe, NOW, page=Page(soft404=SOFT404_SKETCH))
    assert has_soft404(store) is True
    row = row_of(store, probe)
    assert (row.state, row.reason) == (State.PARKED, Reason.PROBE_FILE)
    store.urls.add([new_url(OTHER)], NOW)
    assert [load.soft404 for load in store.frontier.activate("me", NOW, 9, 9, ())] == [SOFT404_SKETCH]
    load = store.frontier.load_host("me", HOST, "a.test", NOW, 9)
    assert load is not None
    assert load.soft404 == SOFT404_SKETCH
    fetch_pages(store, 5, NOW + 1)
    assert (probe_urls(store, NOW + 1), has_soft404(store)) == ([], True)
    assert (probe, "upsert") not in [(url, change) for change, url in store.changes.entries()]


@pytest.mark.parametrize(
    "facts",
    [
        {"outcome": Outcome.REFUSED, "reason": Reason.NOT_FOUND, "status": 404, "page": Page(soft404=b"honest")},
        {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "status": 302},
        {"page": Page(soft404=b"")},
    ],
    ids=["404", "redirect", "nothing to read"],
)
def test_a_host_without_a_soft_404_is_not_probed_again(facts: dict[str, Any], with_probes: Opener) -> None:
    store = with_probes(1)
    fetch_pages(store, 1)
    (probe,) = probe_urls(store)
    fetch(store, probe, NOW, **facts)
    assert has_soft404(store) is False
    fetch_pages(store, 3, NOW + 1)
    assert probe_urls(store, NOW + 1) == []
    load = store.frontier.load_host("me", HOST, "a.test", NOW, 9)
    assert load is not None
    assert load.soft404 == b""


@pytest.mark.parametrize(
    ("outcome", "reason"),
    [
        (Outcome.ABORTED, Reason.STOPPED),
        (Outcome.BUSY, Reason.BUSY),
        (Outcome.FAILED, Reason.TIMEOUT),
    ],
)
def test_a_probe_without_an_answer_is_repeated(outcome: Outcome, reason: Reason, with_probes: Opener) -> None:
    store = with_probes(1)
    fetch_pages(store, 1)
    (probe,) = probe_urls(store)
    fetch(store, probe, NOW, outcome=outcome, reason=reason, status=0, page=None)
    assert probe_urls(store, NOW + DAY) == [probe]
    fetch(store, probe, NOW + DAY, page=Page(soft404=SOFT404_SKETCH))
    assert (has_soft404(store), row_of(store, probe).state) == (True, State.PARKED)
