"""A small collection in a temporary directory, with its options and its store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scrapy.settings import Settings

from crawler.options import Options
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from tests.small_collection import Collection


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    made = Collection(tmp_path)
    yield made
    made.close()


@pytest.fixture
def options(collection: Collection) -> Options:
    settings = Settings({"CRAWL_DIR": str(collection.directory)})
    settings.setmodule("crawler.settings", priority="default")
    return Options.of(settings)


@pytest.fixture
def store(collection: Collection, options: Options) -> Iterator[Store]:
    opened = open_store(options.store, read_only=True)
    yield opened
    opened.close()
