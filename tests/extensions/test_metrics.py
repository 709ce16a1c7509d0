"""The metrics are those of the run, and are published only where the settings say."""

from __future__ import annotations

import doctest
import json
import random
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from prometheus_client.parser import text_string_to_metric_families

from crawler.errors import Misconfigured
from crawler.extensions import metrics
from crawler.extensions.metrics import MetricsPublication, exposition, file_of
from crawler.frontier.census import Census
from crawler.items import Outcome, Page, Reason
from crawler.monitor.prometheus import LastRun, RunCollector
from crawler.monitor.record import RunRecord
from crawler.monitor.vitals import Vitals
from crawler.worker.session import Session
from tests.crawl.runner import ROOT, crawling, polite_to, scrapy, seeds_file
from tests.defaults import options_with
from tests.samples import visit_to, visited
from tests.webgraph.server import Served

VITALS = Vitals(
    hosts=Census(visiting=1, ready=2, resting=3, waiting=4, queued=50),
    in_flight=7,
    connections=1000,
    bytes_in_flight=4096,
    uncommitted=6,
    pages_waiting=2,
    allowed=12.5,
    workers=3,
)
ENDINGS = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}
DASHBOARD = ROOT / "data" / "ops" / "grafana-dashboard.json"


def run() -> RunRecord:
    record = RunRecord(duplicates=3, near_duplicates=1, new_urls=9, commits=2, rate=8.5, store_share=0.25)
    record.record_request("a.test", 5.5, 5.0)
    for reason, outcome in ((Reason.OK, Outcome.FETCHED), (Reason.OK, Outcome.FETCHED), (Reason.BUSY, Outcome.BUSY)):
        record.record_visit("a.test", visited(visit_to("http://a.test/"), reason=reason, outcome=outcome))
    record.record_lag(0.0035)
    for reason, relevance in ((Reason.OK, 0.875), (Reason.OFF_TOPIC, 0.125)):
        record.judged.record_visit(visited(visit_to("http://a.test/"), reason=reason, page=Page(relevance=relevance)))
    record.library_messages["pypdfium2"] += 4
    return record


def samples_in(text: str) -> dict[tuple[str, ...], float]:
    """Parse metrics text: (name, labels in order) → value."""
    return {
        (sample.name, *(f"{name}={value}" for name, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_numbers_are_those_of_the_run() -> None:
    numbers = samples_in(exposition(RunCollector(run(), lambda: VITALS, started=100.0)))
    expected = {
        ("orbweaver_visits_total", "outcome=fetched", "reason=ok"): 2,
        ("orbweaver_visits_total", "outcome=busy", "reason=busy"): 1,
        ("orbweaver_pages_total",): 2,
        ("orbweaver_new_urls_total",): 9,
        ("orbweaver_exact_duplicates_total",): 2,
        ("orbweaver_near_duplicates_total",): 1,
        ("orbweaver_early_requests_total",): 0,
        ("orbweaver_queue_urls",): 50,
        ("orbweaver_hosts_active",): 10,
        ("orbweaver_hosts_asked",): 1,
        ("orbweaver_hosts_ready",): 2,
        ("orbweaver_library_messages_total", "library=pypdfium2"): 4,
        ("orbweaver_hosts_resting",): 3,
        ("orbweaver_hosts_failing",): 1,
        ("orbweaver_connections",): 7,
        ("orbweaver_in_flight_bytes",): 4096,
        ("orbweaver_visits_per_second",): 8.5,
        ("orbweaver_allowed_visits_per_second",): 12.5,
        ("orbweaver_store_busy_ratio",): 0.25,
        ("orbweaver_loop_lag_p99_seconds",): 0.004,
        ("orbweaver_shortest_gap_margin_seconds",): 0.5,
        ("orbweaver_workers",): 3,
        ("orbweaver_network_down",): 0,
        ("orbweaver_running",): 1,
        ("orbweaver_start_time_seconds",): 100,
        ("orbweaver_topic_pages_total", "topic=on"): 1,
        ("orbweaver_topic_pages_total", "topic=off"): 1,
        ("orbweaver_topic_harvest_ratio",): 0.5,
        ("orbweaver_page_relevance_bucket", "le=0.1"): 0,
        ("orbweaver_page_relevance_bucket", "le=0.2"): 1,
        ("orbweaver_page_relevance_bucket", "le=+Inf"): 2,
        ("orbweaver_page_relevance_count",): 2,
        ("orbweaver_page_relevance_sum",): 1,
    }
    assert {key: numbers[key] for key in expected} == expected
    assert numbers["orbweaver_resident_memory_bytes",] > 1_000_000
    assert numbers["orbweaver_cpu_seconds_total",] > 0


def test_a_crawl_without_a_topic_has_no_metrics_of_topics() -> None:
    names = {family.name for family in RunCollector(RunRecord(), lambda: VITALS, started=0.0).collect()}
    assert not [name for name in names if "topic" in name or "relevance" in name]


def test_there_are_few_labels() -> None:
    families = list(RunCollector(run(), lambda: VITALS, started=0.0).collect())
    names = {name for family in families for sample in family.samples for name in sample.labels}
    assert names == {"outcome", "reason", "library", "topic", "le"}


def test_totals_are_counters_and_every_metric_has_a_description() -> None:
    ended = LastRun(at=1.0, exit_code=0, seconds=1.0)
    for family in RunCollector(run(), lambda: VITALS, started=0.0, ended=ended).collect():
        assert family.documentation
        assert re.fullmatch("orbweaver(_[a-z0-9]+)+", family.name)
        names = {sample.name for sample in family.samples}
        assert names == {f"{family.name}{ending}" for ending in ENDINGS[family.type]}


def test_the_metrics_of_an_ended_run_have_its_time_and_exit_code() -> None:
    ended = LastRun(at=160.0, exit_code=74, seconds=60.0)
    numbers = samples_in(exposition(RunCollector(run(), Vitals, started=100.0, ended=ended)))
    assert numbers["orbweaver_running",] == 0
    assert numbers["orbweaver_last_run_timestamp_seconds",] == 160
    assert numbers["orbweaver_last_run_exit_code",] == 74
    assert numbers["orbweaver_last_run_seconds",] == 60


def test_the_dashboard_shows_only_what_is_exported_and_most_of_it() -> None:
    ended = LastRun(at=1.0, exit_code=0, seconds=1.0)
    families = RunCollector(run(), lambda: VITALS, started=0.0, ended=ended).collect()
    exported = {sample.name for family in families for sample in family.samples}
    dashboard = json.loads(DASHBOARD.read_text())
    queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    named = set(re.findall(r"orbweaver_\w+", json.dumps(dashboard)))
    assert named <= exported
    assert all(re.search(r"orbweaver_\w+", query) for query in queries)
    unseen = {
        *("commits_total", "late_visits_total", "library_messages_total"),
        *("last_run_seconds", "last_run_timestamp_seconds", "workers"),
        *("page_relevance_count", "page_relevance_sum"),
    }
    assert exported - named == {f"orbweaver_{name}" for name in unseen}


def test_the_dashboard_works_with_any_data_source_and_its_panels_do_not_overlap() -> None:
    dashboard = json.loads(DASHBOARD.read_text())
    sources = {json.dumps(panel["datasource"]) for panel in dashboard["panels"]}
    assert sources == {'{"type": "prometheus", "uid": "${datasource}"}'}
    assert {variable["name"] for variable in dashboard["templating"]["list"]} == {"datasource", "instance"}
    assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
    taken: set[tuple[int, int]] = set()
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & taken
        assert place["x"] + place["w"] <= 24
        taken |= cells


# ── where they are published ──


@contextmanager
def opened(directory: Path, *, join: bool = False, expected: int = 1, **given: Any) -> Iterator[Session]:
    options = options_with(**{"CRAWL_DIR": str(directory / "crawl"), "CONTACT": "me@a.test"} | given)
    session = Session.open(options, join=join, expected=expected)
    try:
        yield session
    finally:
        session.close()


def free_port() -> int:
    """Find a port that is free, as is the next one; below the range from which the kernel picks ports."""
    while True:
        port = random.randrange(20_000, 32_000)
        with (
            suppress(OSError),
            socket.create_server(("127.0.0.1", port)),
            socket.create_server(("127.0.0.1", port + 1)),
        ):
            return port


def scrape(port: int) -> dict[tuple[str, ...], float]:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as response:
        return samples_in(response.read().decode())


def test_metrics_are_served_on_the_loopback_address_until_closed(tmp_path: Path) -> None:
    port = free_port()
    with opened(tmp_path, METRICS_PORT=port) as session:
        publication = MetricsPublication(session)
        assert scrape(port)["orbweaver_queue_urls",] == 0
        publication.watch(lambda: VITALS)
        assert scrape(port)["orbweaver_queue_urls",] == 50
        with pytest.raises(URLError), urlopen(f"http://127.0.0.2:{port}/metrics", timeout=30):
            pass
        publication.close()
        with pytest.raises(URLError):
            scrape(port)


def test_each_worker_has_the_port_and_the_file_of_its_slot(tmp_path: Path) -> None:
    port, file = free_port(), tmp_path / "orbweaver.prom"
    given = {"METRICS_PORT": port, "METRICS_FILE": file}
    with opened(tmp_path, join=True, expected=2, **given), opened(tmp_path, join=True, expected=2, **given) as second:
        publication = MetricsPublication(second)
        assert scrape(port + 1)["orbweaver_running",] == 1
        publication.close()
    assert [path.name for path in tmp_path.glob("*.prom*")] == ["orbweaver.1.prom"]
    assert samples_in((tmp_path / "orbweaver.1.prom").read_text())[
        "orbweaver_running", f"crawl={tmp_path / 'crawl'}", "worker=1"
    ]


@pytest.mark.parametrize(
    ("name", "slot", "several", "expected"),
    [
        ("a/orbweaver.prom", 0, False, "a/orbweaver.prom"),
        ("a/orbweaver.prom", 0, True, "a/orbweaver.0.prom"),
        ("a/orbweaver.prom", 2, False, "a/orbweaver.2.prom"),  # a worker that joined by hand
        ("a.b/metrics", 1, True, "a.b/metrics.1"),
    ],
)
def test_files_of_workers_are_numbered(name: str, slot: int, several: bool, expected: str) -> None:
    assert file_of(Path(name), slot, several=several) == Path(expected)
    assert file_of(None, slot, several=several) is None


def test_a_port_that_is_taken_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with opened(tmp_path, METRICS_PORT=port) as session, pytest.raises(Misconfigured) as refused:
            MetricsPublication(session)
    assert str(refused.value) == (
        f"METRICS_PORT={port}: port {port}, that of worker 0, is taken on 127.0.0.1. Nothing was crawled; name another "
        "port, or 0 for none."
    )


def test_a_port_number_that_is_too_large_is_refused(tmp_path: Path) -> None:
    given = {"METRICS_PORT": 65_535}
    with (
        opened(tmp_path, join=True, expected=2, **given),
        opened(tmp_path, join=True, expected=2, **given) as second,
        pytest.raises(Misconfigured, match="port 65536, that of worker 1, cannot be used"),
    ):
        MetricsPublication(second)


def test_a_file_that_cannot_be_written_is_refused_at_the_start(tmp_path: Path) -> None:
    with (
        opened(tmp_path, METRICS_FILE=tmp_path / "nowhere" / "x.prom") as session,
        pytest.raises(Misconfigured, match=r"^METRICS_FILE: .*create its directory"),
    ):
        MetricsPublication(session)


def test_a_file_that_cannot_be_written_later_costs_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "metrics"
    folder.mkdir()
    with opened(tmp_path, METRICS_FILE=folder / "x.prom") as session:
        publication = MetricsPublication(session)
        (folder / "x.prom").unlink()
        folder.rmdir()
        for _ in range(3):
            publication.write()
        folder.mkdir()
        publication.end(3)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    where = (f"crawl={tmp_path / 'crawl'}", "worker=0")
    assert samples_in((folder / "x.prom").read_text())["orbweaver_last_run_exit_code", *where] == 3
    assert [path.name for path in folder.iterdir()] == ["x.prom"]


# ── whole crawls ──


@pytest.mark.crawl
def test_a_running_crawl_can_be_scraped_and_its_last_metrics_stay_in_the_file(served: Served, tmp_path: Path) -> None:
    port, file = free_port(), tmp_path / "orbweaver.prom"
    settings = polite_to(
        served, tmp_path / "crawl", METRICS_PORT=port, METRICS_FILE=file, CRAWL_HORIZON="inf", CONTENT_PROCESSES=1
    )
    words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}")
    with crawling(*words, output=tmp_path / "output", **settings) as process:
        numbers = until_pages(process, port, 60)
        process.terminate()
        assert process.wait(30) == 0
    assert numbers["orbweaver_running",] == 1
    assert numbers["orbweaver_received_bytes_total",] > 10_000
    assert numbers["orbweaver_early_requests_total",] == 0
    where = (f"crawl={tmp_path / 'crawl'}", "worker=0")
    left = samples_in(file.read_text())
    assert left["orbweaver_pages_total", *where] == 60
    assert (left["orbweaver_running", *where], left["orbweaver_last_run_exit_code", *where]) == (0, 0)
    visits = sum(value for key, value in left.items() if key[0] == "orbweaver_visits_total")
    assert visits >= 60
    assert "Traceback" not in (tmp_path / "output").read_text()


def until_pages(process: subprocess.Popen[bytes], port: int, pages: int) -> dict[tuple[str, ...], float]:
    """Scrape until so many pages were fetched; return the metrics."""
    numbers: dict[tuple[str, ...], float] = {}
    while numbers.get(("orbweaver_pages_total",), 0) < pages:
        with pytest.raises(subprocess.TimeoutExpired):  # it is still running
            process.wait(timeout=0.05)
        with suppress(URLError):  # it is still starting
            numbers = scrape(port)
    return numbers


@pytest.mark.crawl
def test_a_crawl_whose_port_is_taken_fails_with_one_sentence_and_exit_code_78(served: Served, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        settings = polite_to(served, tmp_path / "crawl", METRICS_PORT=other.getsockname()[1])
        words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}")
        result = scrapy(*words, **settings)
        several = scrapy(*words, "--workers", "2", **settings)
    assert result.returncode == 78
    assert result.stderr.startswith("orbweaver: METRICS_PORT=")
    assert result.stderr.count("\n") == 1
    assert several.returncode == 78
    assert "[1] orbweaver: METRICS_PORT=" in several.stderr or "[2] orbweaver: METRICS_PORT=" in several.stderr


@pytest.mark.crawl
def test_workers_leave_a_file_each_and_one_for_all(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "orbweaver.prom"
    settings = polite_to(served, tmp_path / "crawl", METRICS_FILE=file)
    words = ("crawl", "web", "-a", f"seeds={seeds_file(served, tmp_path)}", "--workers", "2")
    summary = tmp_path / "summary.json"
    assert scrapy(*words, "--summary", str(summary), **settings).returncode == 0
    assert sorted(path.name for path in tmp_path.glob("*.prom*")) == [
        "orbweaver.0.prom",
        "orbweaver.1.prom",
        "orbweaver.prom",
    ]
    crawl = f"crawl={tmp_path / 'crawl'}"
    parts = [samples_in((tmp_path / f"orbweaver.{slot}.prom").read_text()) for slot in (0, 1)]
    assert sum(part["orbweaver_pages_total", crawl, f"worker={slot}"] for slot, part in enumerate(parts)) == 60
    assert samples_in(file.read_text())["orbweaver_last_run_exit_code", crawl] == 0
    assert summary.read_text().count("\n") == 1
    assert json.loads(summary.read_text())["pages"] == 60


@pytest.mark.crawl
def test_a_second_crawl_of_a_directory_does_not_touch_the_metrics_file(served: Served, tmp_path: Path) -> None:
    file = tmp_path / "orbweaver.prom"
    settings = polite_to(served, tmp_path / "crawl", METRICS_FILE=file)
    with opened(tmp_path):
        assert scrapy("crawl", "web", **settings).returncode == 75
    assert not file.exists()


def test_the_examples_are_true() -> None:
    assert doctest.testmod(metrics).failed == 0
