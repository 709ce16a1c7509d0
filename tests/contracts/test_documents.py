"""Documents are stored with their metadata, and URLs with the anchors of links to them."""

from __future__ import annotations

from crawler.items import Page, Reason
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import (
    ME,
    MOVED,
    POSITION,
    REVISIT,
    SAME_HEAD,
    SEGMENT,
    UNCHANGED,
    URL,
    fetch,
    fetch_robots,
    lease_all,
    page,
    publish,
    renew_lease,
    row_of,
)
from tests.samples import NOW, link, new_url, visit_result, visited

A, B = "http://a.test/", "http://b.test/"


def test_format_encoding_and_metadata_of_a_document_are_stored(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    page = Page(
        format="pdf",
        encoding="KOI8-R",
        encoding_source="detected",
        problem="truncated",
        published=NOW - 5,
        metadata={"author": "Ąćę \N{SPIDER}", "pages": "3"},
    )
    store.commits.commit([visit_result(visited(visit, page=page), position=POSITION)], [SEGMENT], NOW)
    (document,) = store.documents.versions(visit.key)
    assert (document.format, document.encoding, document.encoding_source) == ("pdf", "KOI8-R", "detected")
    assert (document.problem, document.published) == ("truncated", NOW - 5)
    assert document.metadata == {"author": "Ąćę \N{SPIDER}", "pages": "3"}


def test_a_document_is_found_by_its_number(store: Store) -> None:
    publish(store, A, page=Page(title="old"))
    publish(store, A, NOW + 1, page=Page(title="new"))
    new, old = store.documents.versions(key_of(A))
    assert (store.documents.find(old.id), store.documents.find(new.id)) == (old, new)
    assert store.documents.find(new.id + 1) is None


def test_an_unchanged_page_adds_no_document(store: Store) -> None:
    fetch(store, URL, NOW, page=page("a"))
    fetch(store, URL, NOW + REVISIT, **UNCHANGED, page=page(""))
    fetch(store, URL, NOW + 2 * REVISIT, **SAME_HEAD)
    assert len(store.documents.versions(key_of(URL))) == 1
    row = row_of(store, URL)
    assert (row.visits, row.changes, row.last_reason) == (3, 0, Reason.SAME_HEAD)


def test_anchors_are_stored_once_and_up_to_a_limit(store: Store) -> None:
    store.urls.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    links = [link(B, f"text {n % 70}") for n in range(140)]
    store.commits.commit([visit_result(visited(visit, *links))], [], NOW)
    assert len(store.documents.anchors(key_of(B))) == 64


def test_two_processes_store_no_more_anchors_than_one(opener: Opener) -> None:
    mine, yours = opener(), opener()
    renew_lease(mine, ME)
    sources = [f"http://s{number}.test/" for number in range(90)]
    mine.urls.add([new_url(url) for url in sources], NOW)
    visits = [visit for load in mine.frontier.activate(ME, NOW, 100, 1, ()) for visit in load.visits]
    granted = mine.frontier.lease(ME, visits, NOW).granted
    for number, visit in enumerate(granted):
        page = visited(visit, link("http://target.test/", f"words {number}"))
        (mine, yours)[number % 2].commits.commit([visit_result(page)], [], NOW)
    assert len(mine.documents.anchors(key_of("http://target.test/"))) == 64
    yours.close()


def test_documents_of_pages_are_listed_in_the_order_of_fetching(store: Store) -> None:
    """All versions of all pages, redirects included; robots.txt files are no pages."""
    fetch_robots(store, A, NOW, [])
    fetch(store, A, NOW, page=page("1"))
    fetch(store, f"{A}old", NOW, **MOVED, status=301, page=page("2"))
    fetch(store, B, NOW, page=page("3"), reason=Reason.OFF_TOPIC)
    fetch(store, A, NOW + REVISIT, page=page("4"))
    listed = store.documents.of_pages(0, 9)
    assert [(one.url, one.body_digest) for one in listed] == [
        (A, b"1"),
        (f"{A}old", b"2"),
        (B, b"3"),
        (A, b"4"),
    ]
    assert store.documents.of_pages(listed[0].id, 2) == listed[1:3]
    assert store.documents.of_pages(listed[-1].id, 2) == []
