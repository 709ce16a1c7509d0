"""The counters of a run: gaps between requests, failing hosts, reasons of visits."""

from __future__ import annotations

import random

import pytest

from crawler.items import Outcome, Reason
from crawler.monitor import record as record_module
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
