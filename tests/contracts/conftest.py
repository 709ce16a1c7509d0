"""Every test of a contract runs on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.stores.contract.store import Store
from tests.contracts.engines import ENGINES, Opener
from tests.samples import NOW, acquire


@pytest.fixture(params=ENGINES)
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    return ENGINES[request.param](tmp_path)


@pytest.fixture
def store(opener: Opener) -> Iterator[Store]:
    opened = opener()
    acquire(opened, "me", 0, NOW, 60, 60)
    yield opened
    opened.close()
