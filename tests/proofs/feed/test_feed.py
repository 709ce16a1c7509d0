"""A small version of the proof; `make prove-feed` runs the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.feed.consumers import JsonDirectory, bulk_server
from tests.proofs.feed.proof import prove
from tests.proofs.feed.web import ChangingWeb

pytestmark = pytest.mark.crawl


@pytest.mark.timeout(400)
def test_an_index_fed_by_increments_matches_the_collection_despite_kills_and_failures(tmp_path: Path) -> None:
    web = ChangingWeb(hosts=3, pages=15, seed=7)
    with bulk_server(failing=0.3, seed=7) as bulk:
        found = prove(web, [JsonDirectory(tmp_path / "jsonl"), bulk], tmp_path, crawls=3, kills=10, seed=7)
    assert found.wrong == []
    assert found.kills >= 10
    assert found.documents > 30
