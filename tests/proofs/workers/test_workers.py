"""The proof at a small size, and the output of a crawl with several workers."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from crawler.worker.supervisor import ORPHANED
from tests.crawl.runner import crawling, polite_to, rows, scrapy, seeds_file
from tests.proofs.workers.proof import WorkersProof
from tests.webgraph.log import missing_pages, refetches
from tests.webgraph.server import Served

pytestmark = [pytest.mark.crawl, pytest.mark.timeout(400)]

WEB = {"seed": 21, "hosts": 24, "pages": 240, "crawl_delay": 0.3, "shared_addresses": 3}


@pytest.mark.parametrize(
    ("hosts", "pages", "workers", "seconds", "interruptions"),
    [(24, 480, 3, 15, 1), pytest.param(40, 1200, 4, 60, 2, marks=pytest.mark.slow)],
)
def test_workers_that_are_killed_and_stopped_lose_nothing_and_stay_polite(
    hosts: int, pages: int, workers: int, seconds: int, interruptions: int, tmp_path: Path
) -> None:
    web = {"seed": 12, "hosts": hosts, "pages": pages, "crawl_delay": 0.4, "shared_addresses": 3}
    with Served(web, tmp_path) as served:
        proof = WorkersProof(served, tmp_path, workers, CONTENT_PROCESSES=1)
        proof.run(seconds, seed=12, deadline=time.monotonic() + 300)
        findings = proof.verify()
        proof.judge_servers()
    assert findings.wrong == []
    assert findings.pages == pages
    assert findings.accounts > seconds
    assert proof.interruptions.kills >= interruptions
    assert proof.interruptions.stops >= interruptions


def test_two_workers_share_a_crawl_and_its_summary(tmp_path: Path) -> None:
    with Served(WEB, tmp_path) as served:
        settings = polite_to(served, tmp_path / "crawl")
        words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", "--workers", "2")
        ended = scrapy(*words, "--summary", str(tmp_path / "summary.json"), timeout=120, **settings)
        assert ended.returncode == 0, ended.stderr
        assert missing_pages(served.log(), served.web) == set()
        assert refetches(served.log()) == {}
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["pages"] == summary["crawl"]["pages"] == 240
    assert summary["workers"]["lost"] == 0
    assert sum(summary["workers"]["pages"]) == 240
    assert all(summary["workers"]["pages"])
    assert summary["late_visits"] == 0
    assert "  Workers      " in ended.stdout
    assert rows(tmp_path / "crawl", "SELECT * FROM workers") == []


def test_a_worker_that_joins_gets_its_partitions_and_status_shows_them(tmp_path: Path) -> None:
    with Served(WEB | {"pages": 600, "crawl_delay": 1.0}, tmp_path) as served:
        settings = polite_to(served, tmp_path / "crawl", PARTITION_LEASE=3)
        words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}")
        output = tmp_path / "output.txt"
        with crawling(*words, output=output, **settings):
            until_workers(tmp_path / "crawl", 1)
            assert scrapy(*words, **settings).returncode == 75  # a second crawl must be started with --join
            with crawling("crawl", "web", "--join", output=output, **settings) as second:
                until_workers(tmp_path / "crawl", 2)
                status = scrapy("status", **settings).stdout
                assert "worker 0 (process " in status
                assert f"worker 1 (process {second.pid}): 32 partitions" in status
                second.terminate()
                assert second.wait(30) == 0
            until_workers(tmp_path / "crawl", 1)
    assert "ERROR" not in output.read_text()
    assert "Traceback" not in output.read_text()


def test_the_page_limit_counts_the_pages_of_all_workers(tmp_path: Path) -> None:
    with Served(WEB | {"pages": 2400, "crawl_delay": 0.1}, tmp_path) as served:
        settings = polite_to(served, tmp_path / "crawl", PARTITION_LEASE=3, CRAWL_MAX_PAGES=100)
        words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", "--workers", "2")
        ended = scrapy(*words, timeout=120, **settings)
    assert ended.returncode == 0, ended.stderr
    assert "Page limit reached" in ended.stdout
    ((pages,),) = rows(tmp_path / "crawl", "SELECT count(*) FROM documents WHERE kind = 0 AND reason = 20")
    assert 100 <= int(str(pages)) < 2400


def test_workers_end_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    with Served(WEB | {"pages": 2400, "crawl_delay": 1.0}, tmp_path) as served:
        settings = polite_to(served, tmp_path / "crawl", PARTITION_LEASE=3)
        words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", "--workers", "2")
        with crawling(*words, output=tmp_path / "output.txt", **settings) as supervisor:
            until_workers(tmp_path / "crawl", 2, visits=1)
            pids = [int(str(pid)) for (pid,) in rows(tmp_path / "crawl", "SELECT pid FROM workers")]
            supervisor.kill()
            supervisor.wait()
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, ORPHANED)  # Linux may send it a second time
        deadline = time.monotonic() + 60
        while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM urls WHERE state = 1") == [(0,)]
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM runs") == [(2,)]  # nobody else records what they did


def until_workers(directory: Path, count: int, visits: int = 0) -> None:
    """Wait until this number of workers shares all partitions equally, and each has made so many visits."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        time.sleep(0.1)
        if (directory / "crawl.db").exists():
            try:
                shares = rows(directory, "SELECT count(*) FROM partitions WHERE owner IS NOT NULL GROUP BY owner")
            except Exception:  # the tables do not exist yet
                continue
            busy = rows(directory, f"SELECT count(*) FROM workers WHERE visits >= {visits}")
            if shares == [(64 // count,)] * count and busy == [(count,)]:
                return
    raise AssertionError(f"there are not {count} workers")
