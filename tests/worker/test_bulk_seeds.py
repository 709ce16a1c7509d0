"""Long lists of seeds are sorted by key on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.items import Reason
from crawler.worker import bulk_seeds
from crawler.worker.bulk_seeds import in_key_order
from tests.samples import new_url

URLS = [f"http://h{number % 7}.test/{number * 7919 % 1000}?q=\u00e4" for number in range(500)]


@pytest.mark.parametrize("run", [1, 7, 100, 500, 10_000])
def test_every_url_comes_once_in_the_order_of_keys(run: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_seeds, "MOST_RUNS", 4)
    listed = list(in_key_order(map(new_url, URLS), tmp_path, run))
    assert sorted(url.url for url in listed) == sorted(URLS)
    assert [url.key for url in listed] == sorted(new_url(url).key for url in URLS)
    assert {(url.reason, url.depth) for url in listed} == {(Reason.LISTED, 1)}
    assert list(tmp_path.iterdir()) == []


def test_an_empty_list_gives_no_urls(tmp_path: Path) -> None:
    assert list(in_key_order([], tmp_path)) == []
