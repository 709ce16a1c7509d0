"""Whole crawls, from seeds to an archive, as a user runs them."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.crawl.broken import is_third
from tests.crawl.runner import ROOT, command, crawling, polite_to, rows, scrapy, seeds_file, wait_for
from tests.proofs.kill import archive
from tests.proofs.kill.proof import Proof
from tests.webgraph.log import forbidden_hits, gaps, missing_pages, politeness, refetches, robots_first
from tests.webgraph.server import Served

pytestmark = pytest.mark.crawl


def test_a_crawl_fetches_every_page_once_politely_and_prints_their_number(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", CONTENT_PROCESSES=2)
    before = len(served.log())
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings)
    log, web = served.log()[before:], served.web
    assert result.returncode == 0, result.stderr
    assert "60 pages" in result.stdout
    assert missing_pages(log, web) == set()
    assert forbidden_hits(log, web) == []
    assert robots_first(log) == []
    assert refetches(log) == {}
    assert gaps(log, politeness(web, 0.05, factor=1)) == []
    assert {entry.agent for entry in log} == {"Orbweaver/0.1"}


def test_a_second_run_finds_nothing_to_do(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", REVISIT_MISSING=8 * 86_400)
    assert scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings).returncode == 0
    before = len(served.log())
    again = scrapy("crawl", "web", **settings)
    assert again.returncode == 0
    assert len(served.log()) == before
    assert "the next visit is due in 7.0 days" in again.stdout


def test_the_limit_on_pages_is_not_exceeded_and_the_next_run_goes_on(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl")
    first = scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings, CRAWL_MAX_PAGES=20)
    assert (first.returncode, pages_in(tmp_path)) == (0, 20)
    assert "Page limit reached" in first.stdout
    second = scrapy("crawl", "web", **settings)
    assert (second.returncode, pages_in(tmp_path)) == (0, 60)


def test_at_the_time_limit_a_crawl_ends_and_releases_its_leases(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", POLITENESS_MIN_DELAY=2, CRAWL_MAX_SECONDS=1)
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings)
    assert result.returncode == 0
    assert "Time limit reached" in result.stdout
    assert rows(tmp_path / "crawl", "SELECT count(*) FROM urls WHERE state = 1") == [(0,)]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_crawl_cleanly_within_twenty_seconds(number: int, served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", POLITENESS_MIN_DELAY=0.5, CONTENT_PROCESSES=1)
    words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}")
    before = len(served.log())
    with crawling(*words, output=tmp_path / "output.txt", **settings) as process:
        wait_for(lambda: len(served.log()) > before + 8)
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
    assert_clean_end(tmp_path / "crawl")
    assert scrapy("crawl", "web", **settings | {"POLITENESS_MIN_DELAY": 0.05}).returncode == 0
    assert pages_in(tmp_path) == 60


def test_a_second_signal_ends_a_crawl_at_once_and_loses_nothing(served: Served, tmp_path: Path) -> None:
    proof = Proof(served, tmp_path)
    before = len(served.log())
    with crawling(*proof.words, output=tmp_path / "output.txt", **proof.settings) as process:
        wait_for(lambda: len(served.log()) > before + 8)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=15)  # the orderly end may take twenty
    assert scrapy(*proof.words, **proof.settings).returncode == 0
    assert pages_in(tmp_path) == 60
    assert_clean_end(tmp_path / "crawl")


def test_hanging_fetches_are_aborted_when_a_crawl_is_stopped(tmp_path: Path) -> None:
    web = {"seed": 2, "hosts": 2, "pages": 10, "slow_share": 1.0, "slow": 30.0, "robots": False}
    with Served(web, tmp_path) as slow:
        settings = polite_to(slow, tmp_path / "crawl")
        words = ("crawl", "web", "-a", f"seeds={seeds_file(slow, tmp_path)}")
        with crawling(*words, output=tmp_path / "output.txt", **settings) as process:
            # Leased, and the delay of its host ended a second ago: its request was sent.
            sent = (
                "SELECT 1 FROM urls u JOIN hosts h USING (host) WHERE u.state = 1 AND u.kind = 0 AND h.next_visit < ?"
            )
            wait_for(lambda: rows(tmp_path / "crawl", sent, (time.time() - 1,)) != [])
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=20) == 0
        assert_clean_end(tmp_path / "crawl")
        stopped = "SELECT count(*), sum(tries) FROM urls JOIN reasons ON code = reason WHERE name = 'STOPPED'"
        ((count, tries),) = rows(tmp_path / "crawl", stopped)
        assert count
        assert tries == 0


def test_seeds_added_while_a_crawl_runs_are_crawled(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", SCOPE="hosts", CRAWL_HORIZON="inf", CONTENT_PROCESSES=1)
    first, *others = served.web.seeds()
    words = ("crawl", "web", "-a", f"seeds={first}")
    more = tmp_path / "more.txt"
    more.write_text("\n".join(others))
    with crawling(*words, output=tmp_path / "output.txt", **settings) as process:
        wait_for(lambda: (tmp_path / "crawl" / "crawl.db").exists() and pages_in(tmp_path) > 0)
        assert scrapy("seed", str(more), **settings).returncode == 0
        wait_for(lambda: pages_in(tmp_path) == 60)
        process.terminate()
        assert process.wait(timeout=30) == 0
    assert pages_in(tmp_path) == 60


def test_only_one_crawl_runs_in_a_directory(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", POLITENESS_MIN_DELAY=1, CRAWL_HORIZON="inf")
    words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}")
    with crawling(*words, output=tmp_path / "output.txt", **settings) as process:
        wait_for(lambda: (tmp_path / "crawl" / "crawl.db").exists() and pages_in(tmp_path) > 0)
        second = scrapy("crawl", "web", **settings)
        assert second.returncode == 75
        assert f"process {process.pid}" in second.stderr
        assert "Traceback" not in second.stderr
        assert process.poll() is None


def test_a_crawl_listens_on_no_port(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", POLITENESS_MIN_DELAY=1, CRAWL_HORIZON="inf", CONTENT_PROCESSES=1)
    words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}")
    with crawling(*words, output=tmp_path / "output.txt", **settings) as process:
        wait_for(lambda: (tmp_path / "crawl" / "crawl.db").exists() and pages_in(tmp_path) > 0)
        assert listening(process.pid) == []


def test_a_full_disk_ends_the_crawl_and_the_next_one_completes_it(served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl")
    words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}")
    full = scrapy(*words, **settings, COMMIT_STEP_HOOK="tests.crawl.hooks:fill_the_disk")
    assert full.returncode == 74
    assert "No space left on device" in full.stderr
    assert "What was committed is kept" in full.stderr
    assert len(full.stderr.splitlines()) == 1
    assert scrapy("crawl", "web", **settings).returncode == 0
    assert pages_in(tmp_path) == 60
    assert_clean_end(tmp_path / "crawl")


def test_a_visit_that_user_code_lost_is_released_when_the_crawl_is_stopped(served: Served, tmp_path: Path) -> None:
    pipelines = '{"crawler.pipelines.extract.ExtractPipeline": 100, "crawler.pipelines.store.StorePipeline": 900, '
    settings = polite_to(
        served,
        tmp_path / "crawl",
        POLITENESS_MIN_DELAY=0.3,
        LOG_LEVEL="CRITICAL",
        ITEM_PIPELINES=pipelines + '"tests.crawl.broken.SwallowingPipeline": 500}',
    )
    words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}")
    before = len(served.log())
    with crawling(*words, output=tmp_path / "output.txt", **settings) as process:
        wait_for(lambda: any(is_third(entry.url) and entry.status == 200 for entry in served.log()[before:]))
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) in (0, 3)
    assert_clean_end(tmp_path / "crawl")


@pytest.mark.parametrize("moment", ["before the loop", "components", "spider_opened", "engine_started"])
def test_a_signal_during_the_start_stops_a_crawl_cleanly(moment: str, served: Served, tmp_path: Path) -> None:
    settings = polite_to(served, tmp_path / "crawl", CONTENT_PROCESSES=1)
    python, m, _, *words = command("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", **settings)
    stopped = [python, m, "tests.crawl.stopped", moment, *words]
    result = subprocess.run(stopped, cwd=ROOT, timeout=60, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert pages_in(tmp_path) == 0
    assert_clean_end(tmp_path / "crawl")


def listening(pid: int) -> list[str]:
    """Return the sockets on which a process accepts connections."""
    mine = {Path(f"/proc/{pid}/fd/{name}").resolve().name for name in map(str, range(200)) if exists(pid, name)}
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in mine:
                found.append(fields[1])
    return found


def exists(pid: int, name: str) -> bool:
    return Path(f"/proc/{pid}/fd/{name}").is_symlink()


def pages_in(tmp_path: Path) -> int:
    found = "SELECT DISTINCT host, rest FROM documents WHERE kind = 0 AND status = 200 AND reason = 20"
    ((count,),) = rows(tmp_path / "crawl", f"SELECT count(*) FROM ({found})")
    return int(str(count))


def assert_clean_end(directory: Path) -> None:
    """Assert that nothing is leased, and that every archive file is closed, complete, and as in the store."""
    assert rows(directory, "SELECT count(*) FROM urls WHERE state = 1") == [(0,)]
    names = archive.closed_files(directory)
    assert sorted(names) == sorted(path.name for path in (directory / "warc").iterdir())
    assert archive.miscounted_files(directory, names) == []
    assert archive.broken_files(directory, names) == []
