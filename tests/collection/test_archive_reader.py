"""The archive has the links of every visit, also where the body of the page is not in it."""

from __future__ import annotations

from pathlib import Path

from crawler.collection.archive_reader import archived_versions, read_outlinks
from crawler.stores.open import open_store
from tests.samples import NOW
from tests.small_collection import Collection

A, B = "http://a.test/", "http://b.test/"
BODY = b'<a href="/1">one</a> <a href="http://c.test/?q=1">two</a> <a href="/1">again</a>'


def outlinks(directory: Path, url: str) -> list[list[str]]:
    store = open_store(f"sqlite:{directory / 'crawl.db'}", read_only=True)
    try:
        return [read_outlinks(store, directory / "warc", version) for version in archived_versions(store, url)]
    finally:
        store.close()


def test_links_are_read_from_the_record_behind_the_answer(tmp_path: Path) -> None:
    collection = Collection(tmp_path)
    collection.add(A, BODY, content_type="text/html")
    collection.add(B, b"no links", content_type="text/html")
    collection.close()
    assert outlinks(tmp_path, A) == [[f"{A}1", "http://c.test/?q=1"]]
    assert outlinks(tmp_path, B) == [[]]


def test_copies_and_pages_without_their_bodies_have_their_links(tmp_path: Path) -> None:
    collection = Collection(tmp_path)
    collection.add(A, BODY, content_type="text/html", relevance=0.1, is_off_topic=True)
    collection.add(A, BODY, content_type="text/html", at=NOW + 9)
    collection.add(B, BODY, content_type="text/html")  # the body of which is in another record
    collection.close()
    assert outlinks(tmp_path, A) == [[f"{A}1", "http://c.test/?q=1"]] * 2
    assert outlinks(tmp_path, B) == [[f"{B}1", "http://c.test/?q=1"]]
