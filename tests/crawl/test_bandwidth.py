"""BANDWIDTH_LIMIT holds for all workers together, while one joins and while one dies; the server's log proves it."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.crawl.runner import crawling, polite_to, rows, seeds_file, wait_for
from tests.webgraph.server import Served

pytestmark = [pytest.mark.crawl, pytest.mark.slow]

LIMIT = 100_000  # bytes a second
WINDOW = 10.0  # seconds
WEB = {"seed": 5, "hosts": 40, "pages": 4_000, "page_bytes": 8_000, "robots": False, "error_share": 0.0}


def test_no_ten_seconds_bring_more_than_the_limit(tmp_path: Path) -> None:
    with Served(WEB, tmp_path) as served:
        directory = tmp_path / "crawl"
        limits = {"BANDWIDTH_LIMIT": LIMIT, "POLITENESS_MIN_DELAY": 0, "POLITENESS_LATENCY_FACTOR": 0}
        settings = polite_to(served, directory, **limits | {"PARTITION_LEASE": 6, "FETCH_TIMEOUT": 3})
        seeds = f"seeds={seeds_file(served, tmp_path)}"
        with crawling("crawl", "web", "-a", seeds, output=tmp_path / "first.txt", **settings) as first:
            wait_for(lambda: len(served.log()) > 100)
            with crawling("crawl", "web", "--join", output=tmp_path / "second.txt", **settings) as second:
                wait_for(lambda: rows(directory, "SELECT sum(visits > 50) FROM workers") == [(2,)])
                shared = served.log()[-1].t1
                second.send_signal(signal.SIGKILL)
                second.wait()
            wait_for(lambda: served.log()[-1].t1 > shared + 15)  # the lease of the dead worker has ended
            first.send_signal(signal.SIGTERM)
            assert first.wait(30) == 0
        log = [(entry.t1, entry.bytes) for entry in served.log()]
    most = max(sum(size for at, size in log if start <= at < start + WINDOW) for start, _ in log)
    assert most <= 1.1 * LIMIT * WINDOW
    assert most > 0.5 * LIMIT * WINDOW  # it was the limit that held it back
