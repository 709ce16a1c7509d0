"""A store for the simulated crawls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.stores.contract.store import Store
from crawler.stores.open import open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(f"sqlite:{tmp_path / 'crawl.db'}")
    yield opened
    opened.close()
