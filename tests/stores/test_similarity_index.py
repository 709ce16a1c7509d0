"""The index of near-duplicates in SQLite: its bands stay small, and its sketches are read in blocks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.stores.sqlite import similarity_index
from tests.contracts.similar_texts import text_page, words_of
from tests.contracts.visits import fetch
from tests.samples import NOW, acquire


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:{tmp_path / 'crawl.db'}")
    acquire(opened, "me", 0, NOW, 60, 60)
    yield opened
    opened.close()


def test_a_band_never_has_more_than_64_pages(store: Store, tmp_path: Path) -> None:
    """Many of the pages share a band: four fifths of their texts are the same, too little for duplicates."""
    connection = apsw.Connection(str(tmp_path / "crawl.db"))
    largest_band = "SELECT max(c) FROM (SELECT count(*) c FROM bands GROUP BY band)"
    common = words_of(5)
    for number in range(250):
        fetch(store, f"http://a.test/{number}", NOW + number, page=text_page(common + words_of(100 + number, 50)))
    assert connection.execute(largest_band).get == 64
    store.similarity.rebuild_index()
    assert connection.execute(largest_band).get == 64
    connection.close()


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
