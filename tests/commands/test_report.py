"""`scrapy report` writes a report of a crawl, or of one host."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest

from crawler.report import data as crawl_report
from crawler.report import host_data as host_report
from crawler.stores.open import open_store
from crawler.worker.session import Session
from crawler.worker.startup import last_politeness
from tests.crawl.runner import error_line, polite_to, scrapy, seeds_file, started
from tests.defaults import DEFAULTS, options_with, politeness_with
from tests.webgraph.server import Served

pytestmark = [pytest.mark.crawl, pytest.mark.xdist_group("report")]  # one worker, one crawl


@pytest.fixture(scope="module")
def finished(served: Served, tmp_path_factory: pytest.TempPathFactory) -> tuple[Served, dict[str, object]]:
    """Crawl a generated web to its end."""
    directory = tmp_path_factory.mktemp("reported")
    settings = polite_to(served, directory / "crawl", CONTACT="https://us.test/about")
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, directory)}", **settings)
    assert result.returncode == 0, result.stderr
    return served, settings


def data_of(settings: dict[str, object], *words: str) -> dict[str, Any]:
    result = scrapy("report", "--json", *words, **settings)
    assert (result.returncode, result.stderr) == (0, "")
    report: dict[str, Any] = json.loads(result.stdout)
    return report


def test_help_contains_an_example() -> None:
    result = started("report", "--help")
    assert result.returncode == 0
    assert "Example: scrapy report" in " ".join(result.stdout.split())


def test_a_report_is_one_file_whose_path_is_printed(finished: tuple[Served, dict[str, object]]) -> None:
    _, settings = finished
    directory = Path(str(settings["CRAWL_DIR"]))
    result = scrapy("report", **settings)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"The report is in {directory / 'report.html'}\n"
    page = (directory / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    assert "<script" not in page
    assert not list(directory.glob("*.part"))


def test_the_names_in_the_json_are_documented(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    host = next(iter(served.web.addresses()))
    for module, report in ((crawl_report, data_of(settings)), (host_report, data_of(settings, "--host", host))):
        words = set((module.__doc__ or "").replace(",", " ").split())
        assert set(report) <= words


def test_the_totals_equal_those_of_status(finished: tuple[Served, dict[str, object]]) -> None:
    _, settings = finished
    report = data_of(settings)
    status = json.loads(scrapy("status", "--json", **settings).stdout)
    assert report["totals"] == {name: status[name] for name in report["totals"]}
    assert sum(row["urls"] for row in report["states"]) == report["totals"]["known"]
    assert sum(row["answers"] for row in report["outcomes"]) == report["totals"]["documents"]
    assert sum(row["pages"] for row in report["sizes"]) == report["totals"]["pages"]


def test_the_history_ends_with_the_current_totals(finished: tuple[Served, dict[str, object]]) -> None:
    _, settings = finished
    report = data_of(settings)
    slices = report["history"]["slices"]
    assert 0 < len(slices) <= 122
    assert slices[-1]["pages"] == report["totals"]["pages"]
    assert slices[-1]["fetched"] == report["totals"]["documents"]
    assert slices[-1]["queued"] == 0
    assert all(before["discovered"] <= after["discovered"] for before, after in pairwise(slices))


def test_a_polite_crawl_is_reported_as_polite(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    report = data_of(settings)["politeness"]
    assert report["hosts_asked_too_soon"] == report["requests_before_their_time"] == 0
    assert report["hosts_with_gaps"] == len(report["worst_hosts"]) == len(served.web.addresses())
    required = {row["host"]: row["asked"] for row in report["worst_hosts"]}
    assert required == {name: max(served.web.host_delay(name), 0.05) for name in served.web.addresses()}


def test_the_report_of_a_host_names_the_crawler_and_no_other_host(
    finished: tuple[Served, dict[str, object]], tmp_path: Path
) -> None:
    served, settings = finished
    host, *others = served.web.addresses()
    result = scrapy("report", "--host", host.upper(), "-o", str(tmp_path / "for-webmaster.html"), **settings)
    assert (result.returncode, result.stderr) == (0, "")
    page = (tmp_path / "for-webmaster.html").read_text(encoding="utf-8")
    assert "Orbweaver/0.1 (+https://us.test/about)" in page
    assert host in page
    assert str(settings["CRAWL_DIR"]) not in page
    report = data_of(settings, "--host", host)
    assert report["totals"]["requests"] >= report["gaps"]["gaps"]
    assert report["gaps"]["shortest"] >= report["asked"]["least_rest"]
    assert not [name for name in others if f"//{name}" in page]


def test_the_file_name_of_a_host_report_contains_the_host(finished: tuple[Served, dict[str, object]]) -> None:
    served, settings = finished
    host = next(iter(served.web.addresses()))
    assert scrapy("report", "--host", host, **settings).returncode == 0
    assert (Path(str(settings["CRAWL_DIR"])) / f"report-{host}.html").exists()


def test_an_unknown_host_is_reported_with_exit_code_1_as_by_status(finished: tuple[Served, dict[str, object]]) -> None:
    _, settings = finished
    report, status = (scrapy(command, "--host", "nobody.test", **settings) for command in ("report", "status"))
    assert (report.returncode, report.stdout) == (status.returncode, status.stdout) == (1, report.stdout)
    assert "No URL of nobody.test is known" in report.stdout


def test_a_report_can_be_made_during_a_write_transaction(finished: tuple[Served, dict[str, object]]) -> None:
    _, settings = finished
    path = Path(str(settings["CRAWL_DIR"])) / "crawl.db"
    writer = apsw.Connection(str(path))
    before = path.read_bytes()
    try:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO crawl VALUES ('unfinished', 1)")
        assert data_of(settings)["totals"]["known"] > 0
        writer.execute("ROLLBACK")
    finally:
        writer.close()
    assert path.read_bytes() == before


def test_without_a_crawl_no_report_is_made(tmp_path: Path) -> None:
    result = scrapy("report", CRAWL_DIR=tmp_path / "x")
    assert result.returncode != 0
    assert "no crawl here" in error_line(result.stderr)
    assert not (tmp_path / "x").exists()


def test_a_report_that_cannot_be_written_is_an_error_of_one_line(
    finished: tuple[Served, dict[str, object]], tmp_path: Path
) -> None:
    _, settings = finished
    result = scrapy("report", "-o", str(tmp_path / "missing" / "report.html"), **settings)
    assert result.returncode == 74
    assert "cannot be written" in error_line(result.stderr)


def test_a_url_as_argument_is_exit_code_2(tmp_path: Path) -> None:
    assert scrapy("report", "http://a.test/", CRAWL_DIR=tmp_path).returncode == 2


def test_a_crawl_is_judged_by_its_own_politeness_settings(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'crawl.db'}")
    assert last_politeness(store, politeness_with(min_delay=7.0)) == politeness_with(min_delay=7.0)
    store.close()
    Session.open(options_with(CRAWL_DIR=str(tmp_path), OWN_HOSTS="*.test", POLITENESS_MIN_DELAY=0.2)).close()
    store = open_store(f"sqlite:{tmp_path / 'crawl.db'}", read_only=True)
    stored = last_politeness(store, DEFAULTS.politeness)
    store.close()
    assert (stored.floor_of("a.test"), stored.floor_of("a.example"), DEFAULTS.politeness.floor_of("a.test")) == (
        0.2,
        1.0,
        5.0,
    )
