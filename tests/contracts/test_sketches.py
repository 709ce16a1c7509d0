"""A collection can be gone through by its sketches, and from a sketch back to its page."""

from __future__ import annotations

import random

import pytest

from crawler.items import Page, Reason
from crawler.stores.contract.similarity import TemplateResult
from crawler.stores.contract.store import Store
from crawler.stores.sqlite import similarity_index
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.similar_texts import ONE, A, B, C, text_page, words_of
from tests.contracts.visits import DAY, fetch, fetch_refused
from tests.samples import NOW

EDITED = [*ONE[:200], "another", *ONE[201:]]


def sketches_of(store: Store) -> dict[str, bytes]:
    """By URL."""
    found = {}
    for number, document, sketch in (row for block in store.similarity.sketches() for row in block):
        row = store.documents.find(document)
        assert row is not None
        sketched = store.similarity.find_sketched(number)
        assert sketched is not None
        assert (sketched.id, sketched.document) == (number, row)
        found[row.url] = sketch
    return found


def test_originals_and_duplicates_have_sketches(store: Store) -> None:
    pages = {A: text_page(ONE), B: text_page(EDITED), C: text_page(words_of(3))}
    for url, page in pages.items():
        fetch(store, url, NOW, page=page)
    assert sketches_of(store) == {url: page.sketch for url, page in pages.items()}
    assert store.similarity.count_sketches() == 3


def test_blocks_of_sketches_have_neither_gaps_nor_overlaps(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similarity_index, "_BLOCK", 4)
    urls = [f"http://{number % 3}.test/{number}" for number in range(9)]
    random.Random(1).shuffle(urls)
    for number, url in enumerate(urls):
        fetch(store, url, NOW, page=text_page(words_of(number)))
    found = list(store.similarity.sketches())
    assert [len(block) for block in found] == [4, 4, 1]
    numbers = [number for block in found for number, _, _ in block]
    assert numbers == sorted(set(numbers))


def test_a_page_that_is_or_becomes_too_short_has_no_sketch(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, B, NOW, page=text_page(words_of(2, 10)))
    assert set(sketches_of(store)) == {A}
    ((number, _, _),) = next(iter(store.similarity.sketches()))
    fetch(store, A, NOW + 10 * DAY, page=text_page(words_of(2, 10)))
    assert list(store.similarity.sketches()) == []
    assert store.similarity.find_sketched(number) is None


def test_a_sketched_page_is_returned_with_the_template_of_its_host(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    assert store.similarity.template(key_of(A).host) == b""
    store.similarity.store_template(TemplateResult(host=key_of(A).host, template=b"template", mark=5, sketches={}), NOW)
    assert store.similarity.template(key_of(A).host) == b"template"
    assert store.similarity.template(key_of(C).host) == b""
    ((number, _, _),) = next(iter(store.similarity.sketches()))
    sketched = store.similarity.find_sketched(number)
    assert sketched is not None
    assert sketched.template == b"template"


def urls_of(store: Store, like: Page, most: int = 10) -> list[str]:
    return [document.url for document in store.documents.with_digests(like.body_digest, like.text_digest, most)]


def test_exact_copies_are_found_by_body_and_by_text(store: Store) -> None:
    short = text_page(words_of(2, 30))
    fetch(store, A, NOW, page=short)
    fetch(store, B, NOW, page=text_page(words_of(2, 30), body_digest=b"other bytes, the same words"))
    fetch(store, C, NOW, page=text_page(words_of(3, 30)))
    assert urls_of(store, short) == [A, B]
    assert urls_of(store, short, most=1) == [A]
    assert store.documents.with_digests(b"", b"", 10) == []


def test_only_current_pages_are_found_by_digest(store: Store) -> None:
    page = text_page(ONE)
    for url in (A, B, C):
        fetch(store, url, NOW, page=page)
    fetch(store, A, NOW + 10 * DAY, page=text_page(words_of(3)))
    fetch_refused(store, B, NOW + 10 * DAY, Reason.GONE, 410)
    assert urls_of(store, page) == [C]


def test_sketches_can_be_read_while_a_crawl_writes(store: Store, opener: Opener) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    reader = opener(read_only=True)
    reading = reader.similarity.sketches()
    assert len(next(reading)) == 1
    fetch(store, B, NOW, page=text_page(words_of(3)))
    assert [len(block) for block in reading] == [1]  # it came after, and has the next number
    reader.close()
