"""The proof at a small size; `make prove-feed` runs it at full size."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.feed.consumers import JsonDirectory, bulk_server
from tests.proofs.feed.proof import prove
from tests.proofs.feed.web import ChangingWeb

pytestmark = pytest.mark.crawl


@pytest.mark.timeout(400)
@pytest.mark.parametrize(("crawls", "kills"), [(2, 4), pytest.param(3, 10, marks=pytest.mark.slow)])
def test_an_incrementally_fed_index_equals_the_collection_despite_kills_and_failures(
    crawls: int, kills: int, tmp_path: Path
) -> None:
    web = ChangingWeb(hosts=3, pages=15, seed=7)
    with bulk_server(failing=0.3, seed=7) as bulk:
        consumers = [JsonDirectory(tmp_path / "jsonl"), bulk]
        found = prove(web, consumers, tmp_path, crawls=crawls, kills=kills, seed=7, content_processes=0)
    assert found.wrong == []
    assert found.kills >= kills
    assert found.documents > 30
