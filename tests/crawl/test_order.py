"""ORDER=fifo visits URLs in the order found, and is fixed when a crawl is created."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawl.pages import pages_served, seeds_of
from tests.crawl.runner import error_line, scrapy

pytestmark = pytest.mark.crawl


def test_a_fifo_crawl_goes_breadth_first_and_stays_one(tmp_path: Path) -> None:
    links = {"/": "cab", "/c": "zed", "/a": "y", "/b": "x", "/z": "w"}  # pages name others by one letter
    names = {*"/cabzedyxw"} - {"/"}
    pages = {"a.test": {f"/{name}".replace("//", "/"): "page" for name in names}}
    pages["a.test"] |= {path: "".join(f'<a href="/{name}">{name}</a>' for name in to) for path, to in links.items()}
    with pages_served(pages, tmp_path) as (settings, requests):
        root = seeds_of(pages, settings.pop("port"))
        fifo = settings | {"ORDER": "fifo"}
        assert scrapy("crawl", "web", "-a", f"seeds={root}", **fifo).returncode == 0
        assert scrapy("crawl", "web", **settings).returncode == 0  # it stays what it is
        other = settings | {"ORDER": "priority"}
        refused, seeded = scrapy("crawl", "web", **other), scrapy("seed", "-", **other)
        told = scrapy("why", f"{root}w", **fifo).stdout
    assert requests == [f"a.test/{name}" for name in ["robots.txt", "", *"cabzedyxw"]]
    for result in (refused, seeded):
        assert result.returncode == 78
        assert "ORDER=priority: this crawl was created with ORDER=fifo" in error_line(result.stderr)
    assert "priority: none; URLs are visited in the order found (ORDER=fifo)" in told


def test_another_order_is_refused(tmp_path: Path) -> None:
    result = scrapy("crawl", "web", CRAWL_DIR=tmp_path / "crawl", ORDER="random")
    assert result.returncode == 78
    assert error_line(result.stderr) == "orbweaver: ORDER='random': must be one of priority, fifo."
