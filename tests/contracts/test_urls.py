"""URLs are added, reopened and looked up, each in exactly one state."""

from __future__ import annotations

import pytest

from crawler.frontier.politeness import HostClock
from crawler.items import CrawlLimits, DailyWindow, Reason, Refusal, RequestRate, RobotsFile, State
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import ME, lease_all, renew_lease, row_of, states
from tests.samples import NOW, link, new_url, visit_result, visited

A, A_PAGE, B = "http://a.test/", "http://a.test/b", "http://b.test/"


# ── Adding ──


def test_a_url_is_new_only_once(store: Store) -> None:
    assert store.urls.add([new_url(A), new_url(A_PAGE)], NOW) == 2
    assert store.urls.add([new_url(A_PAGE), new_url(B)], NOW + 1) == 1
    assert states(store) == (3, 3, 0, 0)


def test_a_refused_url_is_known_and_parked(store: Store) -> None:
    store.urls.add([new_url(A, refused=Refusal(Reason.OUT_OF_SCOPE, "hosts"))], NOW)
    row = store.urls.find(key_of(A))
    assert row is not None
    assert (row.state, row.reason, row.detail) == (State.PARKED, Reason.OUT_OF_SCOPE, "hosts")
    assert lease_all(store) == []


def test_a_seed_that_was_out_of_scope_waits_again(store: Store) -> None:
    store.urls.add([new_url(A, refused=Refusal(Reason.OUT_OF_SCOPE), depth=3)], NOW)
    store.urls.add_seeds([new_url(A)], NOW)
    assert [visit.url for visit in lease_all(store)] == [A]
    assert [url for _, url in store.urls.seeds()] == [A]


def test_seeds_are_listed_after_a_serial_number(store: Store) -> None:
    store.urls.add_seeds([new_url(A)], NOW)
    last = max(serial for serial, _ in store.urls.seeds())
    store.urls.add_seeds([new_url(A), new_url(A_PAGE)], NOW)
    assert [url for _, url in store.urls.seeds(last)] == [A_PAGE]


# ── Shorter paths ──


@pytest.mark.parametrize("target", ["http://a.test/target", "http://b.test/target"])
def test_a_shorter_path_reopens_a_url_even_with_the_same_anchor_of_the_same_host(target: str, store: Store) -> None:
    store.urls.add([new_url(A), new_url("http://a.test/2")], NOW)
    first, second = lease_all(store)
    store.commits.commit([visit_result(visited(first, link(target, "words", Reason.TOO_FAR)))], [], NOW)
    assert row_of(store, target).reason is Reason.TOO_FAR
    store.commits.commit([visit_result(visited(second, link(target, "words")))], [], NOW)
    assert (row_of(store, target).state, row_of(store, target).reason) == (State.WAITING, Reason.LINK)


def test_a_url_that_a_batch_finds_by_a_path_that_is_too_long_and_by_a_shorter_one_waits(store: Store) -> None:
    store.urls.add([new_url(A), new_url("http://a.test/2")], NOW)
    first, second = lease_all(store)
    target = "http://b.test/target"
    results = [visited(first, link(target, "words", Reason.TOO_FAR)), visited(second, link(target, "words"))]
    store.commits.commit([visit_result(result) for result in results], [], NOW)
    assert (row_of(store, target).state, row_of(store, target).reason) == (State.WAITING, Reason.LINK)


def test_a_shorter_path_reopens_a_url_that_another_process_parked_as_too_far(opener: Opener) -> None:
    mine, yours = opener(), opener()
    renew_lease(mine, ME)
    far, near = "http://a.test/far", "http://a.test/near"
    too_far = Refusal(Reason.TOO_FAR, "9 links from a seed")
    mine.urls.add([new_url(near, reason=Reason.LINK)], NOW)  # caches that no URL was parked as too far
    yours.urls.add([new_url(far, reason=Reason.LINK, refused=too_far)], NOW)
    mine.urls.add([new_url("http://a.test/2", reason=Reason.LINK, refused=too_far)], NOW)
    mine.urls.add([new_url(far, reason=Reason.LINK, depth=2)], NOW)
    row = mine.urls.find(key_of(far))
    assert row is not None
    assert (row.state, row.depth) == (State.WAITING, 2)
    yours.close()


# ── robots.txt ──


@pytest.mark.parametrize(
    "limits",
    [
        CrawlLimits(),
        CrawlLimits(crawl_delay=2.5),
        CrawlLimits(request_rate=RequestRate(1, 60)),
        CrawlLimits(
            crawl_delay=0.0, request_rate=RequestRate(3, 7, DailyWindow(0, 1439)), visit_time=DailyWindow(1320, 360)
        ),
    ],
)
def test_crawl_limits_are_stored_with_the_robots_txt_and_the_host(limits: CrawlLimits, store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    rules = RobotsFile(
        host=visit.key.host,
        origin="http://a.test",
        status=200,
        body=b"x",
        fetched=NOW,
        expires=NOW + 9,
        crawl_limits=limits,
    )
    store.commits.commit([visit_result(visited(visit, rules=rules), clock=HostClock(crawl_limits=limits))], [], NOW)
    assert store.urls.find_robots("http://a.test") == rules
    host = store.urls.find_host(visit.key.host, NOW)
    assert host is not None
    assert host.clock.crawl_limits == limits
