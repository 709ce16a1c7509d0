"""The counters of a run: gaps between requests, failing hosts, reasons of visits."""

from __future__ import annotations

import doctest
import random

import pytest

from crawler.focus.harvest import LAST_PAGES
from crawler.items import Kind, Outcome, Page, Reason
from crawler.monitor import judged_pages
from crawler.monitor import record as record_module
from crawler.monitor.judged_pages import harvest_words
from crawler.monitor.record import HostGap, RunRecord
from tests.samples import visit_to, visited


def test_the_closest_gap_of_the_run_is_the_closest_of_any_host() -> None:
    record, chance = RunRecord(), random.Random(7)
    for _ in range(500):
        host = f"h{chance.randrange(20)}.test"
        record.record_request(host, chance.choice([None, chance.uniform(1, 9)]), chance.uniform(0, 1))
    least = min(
        (run.shortest_gap - run.required, name) for name, run in record.hosts.items() if run.shortest_gap is not None
    )
    assert record.closest is not None
    assert (record.closest.seconds - record.closest.required, record.closest.host) == least


def test_a_first_visit_has_no_gap() -> None:
    record = RunRecord()
    record.record_request("a.test", None, 5.0)
    assert record.closest is None
    record.record_request("a.test", 5.5, 5.0)
    assert record.closest == HostGap("a.test", 5.5, 5.0)


def end(record: RunRecord, host: str, reason: Reason, outcome: Outcome = Outcome.FAILED) -> None:
    record.record_visit(host, visited(visit_to(f"http://{host}/"), outcome=outcome, reason=reason))


def test_a_host_is_failing_while_its_last_visit_failed_by_its_own_fault() -> None:
    record = RunRecord()
    for reason, failing in (
        (Reason.CONNECT_FAILED, 1),
        (Reason.DNS_FAILED, 1),
        (Reason.OK, 0),
        (Reason.BUSY, 1),
        (Reason.NOT_FOUND, 0),
        (Reason.SERVER_ERROR, 0),
    ):
        end(record, "a.test", reason)
        assert record.failing == failing
    end(record, "a.test", Reason.TIMEOUT)
    end(record, "b.test", Reason.TIMEOUT)
    assert record.failing == 2


def judge(record: RunRecord, relevance: float | None, reason: Reason = Reason.OK, kind: Kind = Kind.PAGE) -> None:
    visit = visit_to("http://a.test/", kind=kind)
    record.record_visit("a.test", visited(visit, reason=reason, page=Page(relevance=relevance)))


def test_judged_pages_are_counted_as_they_were_judged() -> None:
    """A page that was kept is on topic, whatever its relevance."""
    record = RunRecord()
    assert record.judged.as_data() is None
    for relevance, reason in ((0.9, Reason.OK), (0.3, Reason.OK), (0.3, Reason.OFF_TOPIC)):
        judge(record, relevance, reason)
    assert record.judged.as_data() == {"pages": 3, "on_topic": 2, "last_pages": 3, "last_on_topic": 2}
    assert record.judged.relevance == pytest.approx(1.5)
    assert dict(record.judged.relevance_histogram()) == {
        **dict.fromkeys((0.1, 0.2), 0),
        **dict.fromkeys((0.3, 0.4, 0.5, 0.6, 0.7, 0.8), 2),
        **dict.fromkeys((0.9, 1.0), 3),
    }


def test_what_was_not_judged_by_the_topic_is_not_counted_as_such() -> None:
    record = RunRecord()
    judge(record, None)
    judge(record, 0.9, Reason.NOINDEX)
    judge(record, 0.9, Reason.LOGIN_WALL)
    judge(record, 0.9, kind=Kind.SITEMAP)
    end(record, "a.test", Reason.TIMEOUT)
    assert record.judged.as_data() is None


def test_the_last_pages_are_counted_apart() -> None:
    record = RunRecord()
    for number in range(LAST_PAGES + 500):
        judge(record, 0.9, Reason.OK if number < 1_000 else Reason.OFF_TOPIC)
    harvest = record.judged.as_data()
    assert harvest == {"pages": 1_500, "on_topic": 1_000, "last_pages": 1_000, "last_on_topic": 500}
    assert harvest_words(harvest) == "1,000 of 1,500 pages (67 %), 50 % of the last 1,000 pages"


def test_hosts_without_counters_of_their_own_are_not_counted_as_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_module, "HOSTS", 1)
    record = RunRecord()
    for _ in range(3):
        end(record, "a.test", Reason.TIMEOUT)
        end(record, "b.test", Reason.TIMEOUT)
    assert record.failing == 1


def test_the_most_common_reasons_are_summed_over_outcomes() -> None:
    record = RunRecord()
    for reason, outcome in (
        (Reason.OK, Outcome.FETCHED),
        (Reason.STOPPED, Outcome.ABORTED),
        (Reason.STOPPED, Outcome.FAILED),
    ):
        end(record, "a.test", reason, outcome)
    assert record.most_common_reasons(1) == [(Reason.STOPPED, 2)]
    assert dict(record.most_common_reasons(9)) == {Reason.STOPPED: 2, Reason.OK: 1}


def test_the_examples_are_true() -> None:
    assert doctest.testmod(judged_pages).failed == 0
