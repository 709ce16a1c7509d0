"""The summary of a run fits a terminal of 80 columns, whatever its numbers are."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from crawler.items import Outcome, Page, Reason
from crawler.monitor.record import HostRun, RunRecord
from crawler.monitor.summary import merge_summaries, summary_data, summary_lines
from crawler.monitor.text import WIDTH
from crawler.stores.contract.crawl import CrawlAccount
from tests.samples import visit_to, visited

NOW = 1_800_000_000.0
ACCOUNT = CrawlAccount(
    known=98_765_432, waiting=87_654_321, leased=1_234, parked=11_109_877, hosts=123_456, documents=12_345_678,
    pages=11_234_567, collisions=0, by_reason=(), next_due=NOW + 3_600,
)  # fmt: skip
CRAWL = {
    "crawl": {
        "pages": 11_234_567, "archive_files": 12_345, "archive_bytes": 987_654_321_000, "known": 98_765_432,
        "waiting": 87_654_321, "leased": 1_234, "parked": 11_109_877,
    }
}  # fmt: skip


def summary(name: str = "a-host-with-a-rather-long-name.of-a-site.example") -> dict[str, Any]:
    record = RunRecord(
        visits=12_345_678, pages=11_234_567, duplicates=1_234_567, near_duplicates=1, new_urls=98_765_432,
        bytes_received=987_654_321_000, bytes_archived=123_456_789_000, late=12_345, connections=1_234_567,
    )  # fmt: skip
    record.outcomes = Counter({(Outcome.FAILED, reason): 1_234_567 for reason in Reason})
    record.hosts = {f"{name}{n}": HostRun(9, 61.25, 123.456, 123.455) for n in range(5)}
    record.spared.unchanged, record.spared.unchanged_bytes = 1_234_567, 987_654_321_000
    record.spared.unwanted, record.spared.unwanted_bytes = 1_234_567, 987_654_321_000
    record.spared.heads, record.spared.followed = 1_234_567, 1_234_567
    for number in range(1_500):
        reason = Reason.OK if number % 3 else Reason.OFF_TOPIC
        record.record_visit(name, visited(visit_to("http://a.test/"), reason=reason, page=Page(relevance=0.5)))
    record.supply = {
        "starved_seconds": 9e5, "hosts": 123_456.0, "rate": 1_234.5, "seconds_between_visits": 123.4,
        "connections": 1_000.0, "rate_of_connections": 196_799.0, "hosts_needed": 9_876_543.0,
    }  # fmt: skip
    return summary_data("page limit reached", 1e6, record) | CRAWL


@pytest.mark.parametrize("program", ["scrapy", "python -m crawler"])
@pytest.mark.parametrize("where", ["data/crawl", "/a/directory with spaces/far below/the root/of/a/disk/crawl"])
@pytest.mark.parametrize("workers", [1, 4])
def test_the_summary_fits_80_columns_and_breaks_no_number_and_no_command(
    program: str, where: str, workers: int
) -> None:
    data = summary() if workers == 1 else merge_summaries([summary()] * workers, 1, 1e6) | CRAWL
    lines = list(summary_lines(data, ACCOUNT, where, NOW, lambda text: text.replace("scrapy", program)))
    commands = [line for line in lines if line.startswith(f"    {program}")]
    assert len(commands) == 7
    assert [line for line in lines if len(line) > WIDTH and line not in commands] == []
    assert [line for line in lines if re.search(r"\d$", line)] == []
    text = " ".join(" ".join(lines).split())
    for number in ("11,109,877 parked", "123.455 s required", "987.7 GB"):
        assert number in text
    place = f"CRAWL_DIR={where}"
    assert f"{program} status -s {repr(place) if ' ' in where else place}" in text


def test_only_a_focused_crawl_has_a_line_about_its_topic() -> None:
    unfocused = summary_data("finished", 1.0, RunRecord(visits=1)) | CRAWL
    assert unfocused["harvest"] is None
    for data, expected in (
        (unfocused, []),
        (summary(), ["  On topic     1,000 of 1,500 pages (67 %), 67 % of the last 1,000 pages"]),
        (merge_summaries([summary()] * 3 + [unfocused], 0, 1.0) | CRAWL,
         ["  On topic     3,000 of 4,500 pages (67 %), 67 % of the last 3,000 pages"]),
    ):  # fmt: skip
        lines = summary_lines(data, ACCOUNT, "data/crawl", NOW, lambda text: text)
        assert [line for line in lines if "On topic" in line] == expected


def test_a_run_with_nothing_due_says_only_that() -> None:
    data = summary_data("finished", 1.0, RunRecord()) | CRAWL
    lines = list(summary_lines(data, ACCOUNT, "data/crawl", NOW, lambda text: text))
    assert lines == [
        "Nothing was due: the next visit is due in 60 min, 2027-01-15 09:00:00 UTC.",
        "To visit pages before that: scrapy seed --now --all -s CRAWL_DIR=data/crawl",
        "(or, instead of --all: --host NAME, --failed, or a file of URLs)",
    ]
