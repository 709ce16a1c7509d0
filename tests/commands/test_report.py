"""`scrapy report` writes a report of a crawl, or of one host."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest
from scrapy.settings import Settings

from crawler.options import Options
from crawler.report import data as crawl_report
from crawler.report import host_data as host_report
from crawler.stores.open import open_store
from crawler.worker.session import Session
from crawler.worker.startup import last_politeness
from tests.commands.test_show_export import one_sentence
from tests.crawl.runner import polite_to, scrapy, seeds_file, started
from tests.defaults import DEFAULTS, politeness_with
from tests.webgraph.server import Served

pytestmark = [pytest.mark.crawl, pytest.mark.xdist_group("report")]  # one worker, one crawl


@pytest.fixture(scope="module")
def done(served: Served, tmp_path_factory: pytest.TempPathFactory) -> tuple[Served, dict[str, object]]:
    """A finished crawl."""
    directory = tmp_path_factory.mktemp("reported")
    settings = polite_to(served, directory / "crawl", CONTACT="https://us.test/about")
    result = scrapy("crawl", "web", "-a", f"seeds={seeds_file(served, directory)}", **settings)
    assert result.returncode == 0, result.stderr
    return served, settings


def data_of(settings: dict[str, object], *words: str) -> dict[str, Any]:
    result = scrapy("report", "--json", *words, **settings)
    assert (result.returncode, result.stderr) == (0, "")
    told: dict[str, Any] = json.loads(result.stdout)
    return told


def test_help_teaches_with_an_example() -> None:
    result = started("report", "--help")
    assert result.returncode == 0
    assert "Example: scrapy report" in " ".join(result.stdout.split())


def test_a_report_is_one_file_and_says_where_it_is(done: tuple[Served, dict[str, object]]) -> None:
    _, settings = done
    directory = Path(str(settings["CRAWL_DIR"]))
    result = scrapy("report", **settings)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == f"The report is in {directory / 'report.html'}\n"
    page = (directory / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert page.rstrip().endswith("</html>")
    assert "<script" not in page
    assert not list(directory.glob("*.part"))


def test_names_of_the_data_are_documented(done: tuple[Served, dict[str, object]]) -> None:
    served, settings = done
    host = next(iter(served.web.addresses()))
    for module, told in ((crawl_report, data_of(settings)), (host_report, data_of(settings, "--host", host))):
        words = set((module.__doc__ or "").replace(",", " ").split())
        assert set(told) <= words


def test_the_numbers_are_those_of_status(done: tuple[Served, dict[str, object]]) -> None:
    _, settings = done
    told = data_of(settings)
    status = json.loads(scrapy("status", "--json", **settings).stdout)
    assert told["totals"] == {name: status[name] for name in told["totals"]}
    assert sum(row["urls"] for row in told["states"]) == told["totals"]["known"]
    assert sum(row["answers"] for row in told["outcomes"]) == told["totals"]["documents"]
    assert sum(row["pages"] for row in told["sizes"]) == told["totals"]["pages"]


def test_the_history_ends_with_what_there_is(done: tuple[Served, dict[str, object]]) -> None:
    _, settings = done
    told = data_of(settings)
    slices = told["history"]["slices"]
    assert 0 < len(slices) <= 122
    assert slices[-1]["pages"] == told["totals"]["pages"]
    assert slices[-1]["fetched"] == told["totals"]["documents"]
    assert slices[-1]["queued"] == 0
    assert all(before["discovered"] <= after["discovered"] for before, after in pairwise(slices))


def test_a_polite_crawl_is_reported_as_polite(done: tuple[Served, dict[str, object]]) -> None:
    served, settings = done
    told = data_of(settings)["politeness"]
    assert told["hosts_asked_too_soon"] == told["requests_before_their_time"] == 0
    assert told["hosts_with_gaps"] == len(told["worst_hosts"]) == len(served.web.addresses())
    asked = {row["host"]: row["asked"] for row in told["worst_hosts"]}
    assert asked == {name: max(served.web.host_delay(name), 0.05) for name in served.web.addresses()}


def test_a_page_about_a_host_says_who_we_are_and_nothing_of_others(
    done: tuple[Served, dict[str, object]], tmp_path: Path
) -> None:
    served, settings = done
    host, *others = served.web.addresses()
    result = scrapy("report", "--host", host.upper(), "-o", str(tmp_path / "for-webmaster.html"), **settings)
    assert (result.returncode, result.stderr) == (0, "")
    page = (tmp_path / "for-webmaster.html").read_text(encoding="utf-8")
    assert "Orbweaver/0.1 (+https://us.test/about)" in page
    assert host in page
    assert str(settings["CRAWL_DIR"]) not in page
    told = data_of(settings, "--host", host)
    assert told["totals"]["requests"] >= told["gaps"]["gaps"]
    assert told["gaps"]["shortest"] >= told["asked"]["least_rest"]
    assert not [name for name in others if f"//{name}" in page]


def test_a_page_about_a_host_is_named_after_it(done: tuple[Served, dict[str, object]]) -> None:
    served, settings = done
    host = next(iter(served.web.addresses()))
    assert scrapy("report", "--host", host, **settings).returncode == 0
    assert (Path(str(settings["CRAWL_DIR"])) / f"report-{host}.html").exists()


def test_an_unknown_host_is_told_as_status_tells_it(done: tuple[Served, dict[str, object]]) -> None:
    _, settings = done
    report, status = (scrapy(command, "--host", "nobody.test", **settings) for command in ("report", "status"))
    assert (report.returncode, report.stdout) == (status.returncode, status.stdout) == (1, report.stdout)
    assert "No URL of nobody.test is known" in report.stdout


def test_a_report_can_be_made_while_somebody_writes(done: tuple[Served, dict[str, object]]) -> None:
    _, settings = done
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


def test_where_no_crawl_is_there_is_no_report(tmp_path: Path) -> None:
    result = scrapy("report", CRAWL_DIR=tmp_path / "x")
    assert result.returncode != 0
    assert "no crawl here" in one_sentence(result.stderr)
    assert not (tmp_path / "x").exists()


def test_a_report_that_cannot_be_written_is_one_sentence(
    done: tuple[Served, dict[str, object]], tmp_path: Path
) -> None:
    _, settings = done
    result = scrapy("report", "-o", str(tmp_path / "missing" / "report.html"), **settings)
    assert result.returncode == 74
    assert "cannot be written" in one_sentence(result.stderr)


def test_a_url_is_wrong_usage(tmp_path: Path) -> None:
    assert scrapy("report", "http://a.test/", CRAWL_DIR=tmp_path).returncode == 2


def test_what_was_done_is_held_against_the_politeness_that_the_crawl_had(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'crawl.db'}")
    assert last_politeness(store, politeness_with(min_delay=7.0)) == politeness_with(min_delay=7.0)
    store.close()
    settings = Settings({"CRAWL_DIR": str(tmp_path), "OWN_HOSTS": "*.test", "POLITENESS_MIN_DELAY": 0.2})
    settings.setmodule("crawler.settings", priority="default")
    options = Options.of(settings)
    Session.open(options).close()
    store = open_store(f"sqlite:{tmp_path / 'crawl.db'}", read_only=True)
    kept = last_politeness(store, DEFAULTS.politeness)
    store.close()
    assert (kept.floor_of("a.test"), kept.floor_of("a.example"), DEFAULTS.politeness.floor_of("a.test")) == (
        0.2,
        1.0,
        5.0,
    )
