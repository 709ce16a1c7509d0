"""URLs that are too many for one transaction are inserted before the commit, and the end is the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.frontier.priority import Order
from crawler.items import Kind, Link, Outcome, Page, Reason, Visited
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import ENGINES, Opener
from tests.contracts.test_commits_listed_urls import PAGE, SITEMAP, listed_url
from tests.contracts.visits import (
    DAY,
    POSITION,
    SEGMENT,
    add_and_lease,
    due_urls,
    fetch,
    insert_early,
    lease_url,
    row_of,
)
from tests.samples import NOW, acquire, link, new_url, visit_result, visited

A, B, C = "http://a.test/", "http://b.test/", "http://c.test/"
TARGET = "http://target.test/page"
LINKS = [link(f"http://h{number % 7}.test/{number}", f"words {number % 3}") for number in range(50)]
HOSTS = {each.key.host for each in LINKS} | {key_of(TARGET).host}


def page_of(store: Store, url: str, *links: Link, **facts: Any) -> Visited:
    body = url.encode()
    page = Page(body_digest=body, payload_digest=body, links=links)
    return visited(add_and_lease(store, url), page=replace(page, **facts))


def three_pages(store: Store) -> list[Visited]:
    return [
        page_of(store, A, *LINKS[:40], link(TARGET, "from a")),
        page_of(store, B, *LINKS[20:], link(TARGET, "from b")),
        page_of(store, C, link(TARGET, "from c")),
    ]


def commit(store: Store, batch: Sequence[VisitResult]) -> int:
    placed = [replace(result, position=POSITION) for result in batch]
    return store.commits.commit(placed, [SEGMENT], NOW).new_urls


def all_rows(store: Store) -> list[object]:
    """All that is known of the URLs and their anchors."""
    rows = [row_of(store, url) for url in sorted({A, B, C, TARGET, *(each.url for each in LINKS)})]
    return [(row, sorted(store.documents.anchors(key_of(row.url)))) for row in rows]


def test_few_urls_are_left_to_the_commit(store: Store) -> None:
    results = three_pages(store)
    early = insert_early(store, *results, most=73)
    assert early.batch == [visit_result(result) for result in results]
    assert (dict(early.new_links), set(early.hosts_with_new), store.urls.count()) == ({}, set(), 3)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("most", [1, 7, 72])
def test_urls_that_are_inserted_early_are_the_same_in_the_end(most: int, engine: str, tmp_path: Path) -> None:
    stores = []
    for name in ("at once", "early"):
        (tmp_path / name).mkdir()
        store = ENGINES[engine](tmp_path / name)()
        acquire(store, "me", 0, NOW, 60, 60)
        stores.append(store)
    at_once, before = stores
    assert commit(at_once, [visit_result(result) for result in three_pages(at_once)]) == 51
    early = insert_early(before, *three_pages(before), most=most)
    assert early.new_links == {key_of(A): 41, key_of(B): 10}
    assert set(early.hosts_with_new) == HOSTS
    assert before.urls.count() == 54
    assert commit(before, early.batch) == 0
    assert row_of(before, TARGET).inlinks == 3
    assert all_rows(before) == all_rows(at_once)
    assert before.crawl.account() == at_once.crawl.account()
    assert due_urls(before, NOW) == due_urls(at_once, NOW)
    for store in stores:
        store.close()


def test_links_of_a_visit_whose_commit_failed_are_counted_once(store: Store) -> None:
    result = page_of(store, A, *LINKS, link(TARGET, "words"))
    assert sum(insert_early(store, result, most=9).new_links.values()) == 51
    first = all_rows_of(store, TARGET, LINKS[0].url)
    again = insert_early(store, result, most=9)  # the visit is fetched again, and finds the same
    assert (again.new_links, set(again.hosts_with_new)) == ({}, set())
    assert commit(store, again.batch) == 0
    assert all_rows_of(store, TARGET, LINKS[0].url) == first


def all_rows_of(store: Store, *urls: str) -> list[object]:
    return [(row_of(store, url), store.documents.anchors(key_of(url))) for url in urls]


def test_early_links_of_a_visit_without_a_page_are_none(store: Store) -> None:
    gone = visited(add_and_lease(store, B), page=None)
    early = insert_early(store, page_of(store, A, *LINKS), gone, most=9)
    assert early.batch[1] == visit_result(gone)
    assert commit(store, early.batch) == 0


# ── Copies ──


@pytest.mark.parametrize("is_in_batch", [False, True])
def test_links_of_a_copy_are_no_in_links_if_they_are_inserted_early(is_in_batch: bool, store: Store) -> None:
    same = {"body_digest": b"same", "payload_digest": b"same"}
    original = page_of(store, A, link(TARGET, "words"), links_digest=7, **same)
    copy = page_of(store, B, link(TARGET, "words"), *LINKS, links_digest=8, **same)
    if not is_in_batch:
        commit(store, [visit_result(original)])
    early = insert_early(store, *([original, copy] if is_in_batch else [copy]), most=9)
    assert early.new_links[key_of(B)] == 50
    assert commit(store, early.batch) == 0
    (document,) = store.documents.versions(key_of(B))
    assert document.duplicate_of == store.documents.versions(key_of(A))[0].id
    assert row_of(store, TARGET).inlinks == 1
    assert [source for source, _ in store.documents.anchors(key_of(TARGET))] == ["a.test"]


def test_a_page_is_no_copy_of_its_own_earlier_version(store: Store) -> None:
    first = page_of(store, A, LINKS[0])
    assert commit(store, [visit_result(first)]) == 1
    store.urls.add_seeds([new_url(A)], NOW + 1, urgent=True)
    page = replace(first.page or Page(), links=(*LINKS, link(TARGET, "words")))
    early = insert_early(store, visited(lease_url(store, A, NOW + 1), page=page), most=9, now=NOW + 1)
    assert [result.visited.page and list(result.visited.page.links) for result in early.batch] == [[]]
    assert row_of(store, TARGET).inlinks == 1


def test_a_redirect_s_target_is_no_mere_link_because_links_are_inserted_early(store: Store) -> None:
    moved = {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "location": link(TARGET), "page": None}
    redirect = visited(add_and_lease(store, B), **moved)
    early = insert_early(store, redirect, page_of(store, A, *LINKS, link(TARGET, "words")), most=9)
    assert store.urls.find(key_of(TARGET)) is None
    assert commit(store, early.batch) == 1
    row = row_of(store, TARGET)
    assert (row.reason, row.depth, row.inlinks) == (Reason.REDIRECT_TARGET, 0, 1)
    assert store.documents.anchors(key_of(TARGET)) == [("a.test", "words")]


# ── Lists ──


def sitemap_page(store: Store, now: float, *entries: Any) -> Visited:
    store.urls.add([new_url(SITEMAP, kind=Kind.SITEMAP)], NOW)
    return visited(lease_url(store, SITEMAP, now), page=Page(kind=Kind.SITEMAP, listed=entries))


def test_listed_urls_are_added_once(store: Store) -> None:
    entries = [listed_url(f"http://www.a.test/{n}", modified=NOW - n, interval=DAY, hint=0.7) for n in range(50)]
    result = sitemap_page(store, NOW, *entries)
    early = insert_early(store, result, most=9)
    assert (early.new_links, set(early.hosts_with_new)) == ({key_of(SITEMAP): 50}, {key_of(SITEMAP).host})
    row = row_of(store, entries[7].url)
    assert (row.lister, row.lastmod, row.interval, row.reason) == (SITEMAP, NOW - 7, DAY, Reason.IN_SITEMAP)
    before = [row_of(store, entry.url) for entry in entries], store.crawl.account()
    again = insert_early(store, result, most=9, now=NOW + 5)
    assert (again.new_links, set(again.hosts_with_new)) == ({}, set())
    assert ([row_of(store, entry.url) for entry in entries], store.crawl.account()) == before


def test_changes_in_a_list_that_is_inserted_early_make_pages_due(store: Store) -> None:
    fetch(store, PAGE, NOW)
    result = sitemap_page(store, NOW + DAY, listed_url(modified=NOW + 50), listed_url("http://www.a.test/other"))
    early = insert_early(store, result, now=NOW + DAY)
    assert set(early.hosts_with_new) == {key_of(PAGE).host}
    assert PAGE in due_urls(store, NOW + DAY)


def test_feed_entries_that_are_inserted_early_are_stored(store: Store) -> None:
    feed = "http://www.a.test/feed"
    store.urls.add([new_url(feed, kind=Kind.FEED, reason=Reason.FEED_FILE)], NOW)
    entries = [listed_url(f"http://www.a.test/{n}", guid=n + 1, modified=NOW - n, title=f"News {n}") for n in range(9)]
    result = visited(lease_url(store, feed, NOW), page=Page(kind=Kind.FEED, listed=entries))
    early = insert_early(store, result, most=2)
    assert commit(store, early.batch) == 0
    assert row_of(store, entries[3].url).reason is Reason.IN_FEED
    assert [each.title for each in store.urls.announcements(key_of(entries[3].url))] == ["News 3"]


def test_a_fifo_crawl_keeps_the_order_found(opener: Opener) -> None:
    store = opener(order=Order.FIFO)
    acquire(store, "me", 0, NOW, 60, 60)
    listed = [listed_url(f"http://www.a.test/{number}") for number in range(5)]
    result = visited(add_and_lease(store, A), page=Page(kind=Kind.SITEMAP, links=LINKS, listed=listed))
    insert_early(store, result, most=7)
    loaded = [visit for load in store.frontier.activate("me", NOW + 9, 99, 99, ()) for visit in load.visits]
    found = [visit.url for visit in sorted(loaded, key=lambda visit: row_of(store, visit.url).due)]
    assert found == [each.url for each in (*LINKS, *listed)]
    store.close()
