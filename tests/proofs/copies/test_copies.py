"""Two workers find the planted clusters of copies, whether they are killed or not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.proofs.copies.proof import crawl
from tests.proofs.copies.web import Copies

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(400)]
WEB = Copies(hosts=6, pages=16, clusters=14)


def test_a_crawl_finds_the_planted_clusters(tmp_path: Path) -> None:
    found = crawl(WEB, tmp_path, content_processes=1)
    assert found.clusters == WEB.clusters_of_copies()
    assert found.pages == WEB.hosts * (WEB.pages + 1)
    assert found.templates == WEB.hosts // 3


@pytest.mark.parametrize("kills", [3, pytest.param(6, marks=pytest.mark.slow)])
def test_a_crawl_that_is_killed_finds_the_planted_clusters(kills: int, tmp_path: Path) -> None:
    found = crawl(WEB, tmp_path, kills=kills, content_processes=1)
    assert found.clusters == WEB.clusters_of_copies()
    assert found.kills >= kills // 2
