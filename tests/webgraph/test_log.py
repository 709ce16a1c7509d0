"""The checks of an access log find every violation, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.webgraph.generate import MOVED_ROBOTS, ROBOTS, Web
from tests.webgraph.log import (
    Entry,
    Requirement,
    fetched,
    forbidden_hits,
    gaps,
    missing_pages,
    politeness,
    read_log,
    refetches,
    robots_first,
)

WEB = Web(7, hosts=12, pages=60, private_share=0.5, crawl_delay=0.5)
PATIENT = next(host for host in WEB.addresses() if WEB.host_delay(host))  # its Crawl-delay is half a second
PLAIN = next(host for host in WEB.addresses() if not WEB.host_delay(host))
FLOOR = 0.25
SECOND = 0.5  # after everything else a polite crawler has to wait for here


def visits(host: str, *times: tuple[float, float]) -> list[Entry]:
    """Return visits of a host: robots.txt, then pages, each from one time to another."""
    targets = [ROBOTS, *(f"/p/{number}" for number in range(1, len(times)))]
    return [Entry(host, target, t0, t1) for target, (t0, t1) in zip(targets, times, strict=True)]


def whys(log: list[Entry], required: Requirement) -> list[str]:
    return [violation.required.why for violation in gaps(log, required)]


def clean_log() -> list[Entry]:
    """Return a log with every page once, robots.txt first, and half a second between two visits of a host."""
    log, clock = [], dict.fromkeys(WEB.addresses(), 0.0)
    for url in [*(f"{front.rstrip('/')}{ROBOTS}" for front in WEB.seeds()), *WEB.urls()]:
        netloc, _, target = url.removeprefix("http://").partition("/")
        host = netloc.partition(":")[0]
        log.append(Entry(host, f"/{target}", clock[host], clock[host] + 0.125))
        clock[host] += 0.125 + SECOND
    return log


def test_a_clean_log_passes() -> None:
    log = clean_log()
    assert gaps(log, politeness(WEB, FLOOR, factor=4.0)) == []
    assert forbidden_hits(log, WEB) == []
    assert missing_pages(log, WEB) == set()
    assert refetches(log) == {}
    assert robots_first(log) == []


def test_a_visit_one_millisecond_early_is_found() -> None:
    log = visits(PLAIN, (0.0, 1.0), (1.249, 1.5))
    [violation] = gaps(log, politeness(WEB, FLOOR))
    assert violation.entry == log[1]
    assert violation.previous == log[0]
    assert violation.gap == pytest.approx(0.249)
    assert violation.required == (FLOOR, "floor")


def test_a_visit_exactly_in_time_passes() -> None:
    assert gaps(visits(PLAIN, (0.0, 1.0), (1.25, 1.5)), politeness(WEB, FLOOR)) == []


def test_the_delays_of_hosts_are_independent() -> None:
    log = visits(PLAIN, (0.0, 1.0)) + visits(PATIENT, (0.5, 1.1))
    assert gaps(log, politeness(WEB, FLOOR)) == []


def test_the_order_of_the_lines_does_not_matter() -> None:
    log = visits(PLAIN, (0.0, 1.0), (1.1, 1.2), (1.5, 1.6))
    assert len(gaps(log[::-1], politeness(WEB, FLOOR))) == len(gaps(log, politeness(WEB, FLOOR))) == 1


def test_overlapping_requests_are_found_even_where_no_delay_is_due() -> None:
    log = visits(PLAIN, (0.0, 1.0), (0.9, 1.5))
    assert whys(log, politeness(WEB, 0.0)) == ["one request at a time"]


def test_a_long_request_overlaps_with_all_that_begin_before_its_end() -> None:
    log = visits(PLAIN, (0.0, 10.0), (1.0, 2.0), (3.0, 4.0))
    assert whys(log, politeness(WEB, 0.0)) == ["one request at a time"] * 2


def test_an_ignored_crawl_delay_is_found() -> None:
    assert whys(visits(PATIENT, (0.0, 1.0), (1.3, 1.4)), politeness(WEB, FLOOR)) == ["Crawl-delay"]
    assert whys(visits(PATIENT, (0.0, 1.0), (1.5, 1.6)), politeness(WEB, FLOOR)) == []


def test_a_crawl_delay_applies_only_once_it_has_been_read() -> None:
    robots, page = visits(PATIENT, (0.0, 1.0), (1.3, 1.4))
    for unread in (robots._replace(status=503), robots._replace(aborted=True), robots._replace(status=301)):
        assert whys([unread, page], politeness(WEB, FLOOR)) == []
    moved = [robots._replace(status=301), robots._replace(target=MOVED_ROBOTS, t0=1.3, t1=1.4), page._replace(t0=1.7)]
    assert whys(moved, politeness(WEB, FLOOR)) == ["Crawl-delay"]


def test_a_crawl_delay_does_not_apply_to_robots_txt() -> None:
    robots, page = visits(PATIENT, (0.0, 1.0), (1.5, 1.6))
    again = robots._replace(t0=1.9, t1=2.0)
    assert whys([robots, page, again], politeness(WEB, FLOOR)) == []


def test_an_ignored_retry_after_is_found() -> None:
    robots, busy, page = visits(PLAIN, (0.0, 1.0), (2.0, 3.0), (3.9, 4.0))
    busy = busy._replace(status=503, retry_after=1.0)
    assert whys([robots, busy, page], politeness(WEB, FLOOR)) == ["Retry-After"]
    assert whys([robots, busy, page._replace(t0=4.0)], politeness(WEB, FLOOR)) == []
    assert whys([robots, busy._replace(aborted=True), page], politeness(WEB, FLOOR)) == []
    assert whys([robots, busy._replace(status=500), page], politeness(WEB, FLOOR)) == []


def test_slow_hosts_need_longer_delays_up_to_a_cap() -> None:
    log = visits(PLAIN, (0.0, 2.0), (5.0, 5.5))
    assert whys(log, politeness(WEB, FLOOR, factor=2.0)) == ["response time"]
    assert whys(log, politeness(WEB, FLOOR, factor=1.5)) == []
    assert whys(log, politeness(WEB, FLOOR, factor=2.0, cap=3.0)) == []


def test_a_restart_excuses_lost_times_but_not_the_floor_or_the_crawl_delay() -> None:
    slow, busy, page = visits(PATIENT, (0.0, 2.0), (4.0, 6.0), (6.5, 6.6))
    log = [slow, busy._replace(status=503, retry_after=1.0), page]
    assert whys(log, politeness(WEB, FLOOR, factor=1.0)) == ["response time"]
    assert whys(log, politeness(WEB, FLOOR, factor=1.0, restarts=[5.0])) == []
    assert whys(log, politeness(WEB, FLOOR, factor=1.0, restarts=[3.0])) == ["response time"]
    assert whys(log, politeness(WEB, 0.6, restarts=[5.0])) == ["floor"]
    assert whys([*log[:2], page._replace(t0=6.3)], politeness(WEB, FLOOR, restarts=[5.0])) == ["Crawl-delay"]


def test_a_forbidden_request_is_found() -> None:
    log = clean_log()
    netloc, _, target = min(WEB.forbidden()).removeprefix("http://").partition("/")
    hit = Entry(netloc.partition(":")[0], f"/{target}", 99.0, 99.1, status=0, aborted=True)
    assert forbidden_hits([*log, hit], WEB) == [hit]


def test_a_page_that_was_never_answered_as_a_whole_is_missing() -> None:
    *log, last = clean_log()
    for partial in ({"aborted": True}, {"behaviour": "short"}, {"status": 500}, {"method": "HEAD"}):
        assert missing_pages([*log, last._replace(**partial)], WEB) == {last.url}
    assert missing_pages(log, WEB) == {last.url}


def test_only_whole_documents_count_as_fetched() -> None:
    page = Entry(PLAIN, "/p/1", 0.0, 0.1)
    log = [page._replace(status=500), page._replace(behaviour="short"), page._replace(aborted=True), page, page]
    assert fetched(log) == {page.url: 2}


def test_a_refetch_after_a_whole_answer_is_found() -> None:
    page = Entry(PLAIN, "/p/1", 0.0, 0.1)
    retried = [page._replace(status=503), page._replace(aborted=True), page]
    assert refetches(retried) == {}
    assert refetches([*retried, page]) == {page.url: 1}
    assert refetches([page._replace(status=404)] * 3) == {page.url: 2}


def test_a_page_before_its_robots_file_is_found() -> None:
    robots, page = visits(PLAIN, (1.0, 2.0), (3.0, 4.0))
    assert robots_first([robots, page]) == []
    assert robots_first([page]) == [page]
    assert robots_first([robots, page._replace(t0=1.5)]) == [page._replace(t0=1.5)]
    assert robots_first([robots._replace(status=404), page]) == []


@pytest.mark.parametrize("unread", [{"status": 503}, {"status": 301}, {"aborted": True}, {"behaviour": "reset"}])
def test_an_unread_robots_txt_does_not_count(unread: dict[str, object]) -> None:
    robots, page = visits(PLAIN, (0.0, 1.0), (2.0, 3.0))
    assert robots_first([robots._replace(**unread), page]) == [page]  # type: ignore[arg-type]
    moved = robots._replace(target=MOVED_ROBOTS, t0=1.2, t1=1.4)
    assert robots_first([robots._replace(**unread), moved, page]) == []  # type: ignore[arg-type]


def test_the_log_is_read_up_to_its_last_whole_line(tmp_path: Path) -> None:
    entry = Entry(PLAIN, "/p/1", 0.1, 0.30000000000000004)
    file = tmp_path / "access.jsonl"
    line = json.dumps(entry._asdict())
    file.write_text(f"{line}\n{line[:-9]}")
    assert read_log(file) == [entry]
    assert read_log(tmp_path / "absent") == []
