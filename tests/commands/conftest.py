"""A small generated web that a whole test module shares."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.server import Served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served({"seed": 21, "hosts": 6, "pages": 60, "crawl_delay": 0.1}, tmp_path_factory.mktemp("web")) as web:
        yield web
