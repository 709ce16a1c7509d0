"""A small collection in a temporary directory, with its options and its store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.options import Options
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from tests.defaults import options_with
from tests.small_collection import Collection


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    made = Collection(tmp_path)
    yield made
    made.close()


@pytest.fixture
def options(collection: Collection) -> Options:
    return options_with(CRAWL_DIR=str(collection.directory))


@pytest.fixture
def store(collection: Collection, options: Options) -> Iterator[Store]:
    opened = open_store(options.store, read_only=True)
    yield opened
    opened.close()
