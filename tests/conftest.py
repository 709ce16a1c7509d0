"""Hooks and fixtures for all tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.webgraph.server import Served

# No deadline for slow machines; an example that never ends is stopped by the timeout of its test.
settings.register_profile("no clock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("no clock")

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import modules that have no test with the selected marker: each worker would do so in vain."""
    wanted = re.match(r"(not )?(crawl|slow)\b", config.option.markexpr)
    if not wanted or not collection_path.match("test_*.py"):
        return None
    unwanted, marker = wanted.groups()
    text = collection_path.read_text(encoding="utf-8")
    if unwanted:
        return True if re.search(rf"^pytestmark = \[?pytest\.mark\.{marker}\b", text, re.MULTILINE) else None
    return None if f"pytest.mark.{marker}" in text else True


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the proofs first, which take longest; skip tests of conformance data if it is not beside the checkout."""
    items.sort(key=lambda item: "proofs" not in item.path.parts)
    if SHARED.is_dir():
        return
    skip = pytest.mark.skip(reason="the conformance data is not beside this checkout")
    for item in items:
        if item.get_closest_marker("needs_shared"):
            item.add_marker(skip)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Serve a small generated web for a whole test module."""
    with Served({"seed": 21, "hosts": 6, "pages": 60, "crawl_delay": 0.1}, tmp_path_factory.mktemp("web")) as web:
        yield web
