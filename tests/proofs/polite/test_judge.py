"""The judge finds every violation in a log, and only those."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from tests.proofs.polite.judge import COMMITTED, LEARNED, NOTICED, PolitenessLimits, Stop, Verdict, judge
from tests.proofs.polite.log import Entry, read_log
from tests.proofs.polite.world import ROBOTS, Host, World

WORLD = World(seed=5, hosts=400, pages=4000, port=8000, rates=True)
LIMITS = PolitenessLimits(floor=0.1, factor=2.0)
MOMENT = 1e-5  # more than the noise of adding times
EARLY = 0.001


def find(fits: Callable[[Host], bool]) -> Host:
    return next(host for host in WORLD.all if host.rate is None and fits(host))


PLAIN = find(lambda host: host.robots == "none")
PATIENT = find(lambda host: host.robots == "rules" and host.crawl_delay == 1.5)
ELSEWHERE = find(lambda host: host.robots == "elsewhere" and host.crawl_delay >= 1)
NEVER = find(lambda host: host.robots == "never")
RATED = next(host for host in WORLD.all if host.robots == "rules" and host.rate == (2, 3) and not host.crawl_delay)


class Log:
    """Requests to hosts, one after another."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._ends: dict[str, float] = {}
        self._numbers = count(1)

    def request(
        self,
        host: Host,
        target: str,
        after: float = 60.0,
        took: float = 0.001,
        status: int = 200,
        retry_after: float = 0.0,
    ) -> Entry:
        """Add a request that begins so many seconds after the end of the host's last answer."""
        t0 = self._ends.get(host.name, 1000.0) + after
        not_before = t0 + took + retry_after if retry_after else 0.0
        entry = Entry(t0, t0 + took, host.name, target, status, not_before=not_before, address=host.address)
        self.entries.append(entry._replace(connection=next(self._numbers)))
        self._ends[host.name] = t0 + took
        return self.entries[-1]

    def replace_last(self, **values: object) -> Entry:
        self.entries[-1] = self.entries[-1]._replace(**values)  # type: ignore[arg-type]
        return self.entries[-1]

    def judged(self, *stops: Stop, limits: PolitenessLimits = LIMITS) -> Verdict:
        return judge(sorted(self.entries), WORLD, limits, stops)

    def broken_rules(self, *stops: Stop) -> list[str]:
        return [violation.rule for violation in self.judged(*stops).violations]


@pytest.fixture
def log() -> Log:
    """Return a log in which two hosts have served their robots.txt."""
    log = Log()
    log.request(PLAIN, ROBOTS, status=404)
    log.request(PATIENT, ROBOTS)
    return log


def test_a_polite_log_passes(log: Log) -> None:
    for page in range(50):
        log.request(PLAIN, f"/p/{page}", after=0.1 + MOMENT)
        log.request(PATIENT, f"/p/{page}", after=1.5 + MOMENT)
    verdict = log.judged()
    assert verdict.violations == []
    assert verdict.margins["floor"].tight == 50
    assert verdict.margins["Crawl-delay"].tight == 50
    assert 0 <= verdict.margins["floor"].smallest < 2 * MOMENT


def test_a_gap_that_is_a_millisecond_too_short_is_found(log: Log) -> None:
    log.request(PLAIN, "/p/0", after=0.1 - EARLY)
    [violation] = log.judged().violations
    assert violation.rule == "floor"
    assert violation.required - violation.gap == pytest.approx(EARLY)
    assert "99" in str(violation)


def test_a_slow_answer_requires_a_longer_gap(log: Log) -> None:
    log.request(PLAIN, "/p/0", took=0.3)
    log.request(PLAIN, "/p/1", after=0.6 + MOMENT, took=0.3)
    assert log.broken_rules() == []
    log.request(PLAIN, "/p/2", after=0.6 - EARLY)
    assert log.broken_rules() == ["answer's time"]


def test_an_ignored_crawl_delay_is_found(log: Log) -> None:
    log.request(PATIENT, "/p/0", after=1.5 - EARLY)
    assert log.broken_rules() == ["Crawl-delay"]


def test_a_crawl_delay_served_by_another_host_applies_a_moment_later() -> None:
    rules_host = WORLD.all[WORLD.numbers[ELSEWHERE.name] + 1]
    for late, expected in ((LEARNED / 2, []), (LEARNED * 1.1, ["Crawl-delay"])):
        log = Log()
        moved = log.request(ELSEWHERE, ROBOTS, status=301)
        rules_served = log.request(rules_host, f"/rules-of/{ELSEWHERE.name}")
        assert log.broken_rules() == []
        log.request(ELSEWHERE, "/p/0", after=rules_served.t1 + late - moved.t1)
        assert log.broken_rules() == expected


@pytest.mark.parametrize("status", [429, 503])
def test_an_ignored_retry_after_is_found(log: Log, status: int) -> None:
    log.request(PLAIN, "/p/0", status=status, retry_after=3.0)
    log.request(PLAIN, "/p/0", after=3.0 + MOMENT, status=status, retry_after=3.0)
    assert log.broken_rules() == []
    log.request(PLAIN, "/p/0", after=3.0 - EARLY)
    assert log.broken_rules() == ["Retry-After"]


def test_each_failure_doubles_the_required_gap_and_each_success_halves_it(log: Log) -> None:
    log.request(PLAIN, "/p/0", status=503)
    log.request(PLAIN, "/p/0", after=0.2 + MOMENT, status=429)
    log.request(PLAIN, "/p/0", after=0.4 + MOMENT)
    log.request(PLAIN, "/p/0", after=0.2 + MOMENT)
    log.request(PLAIN, "/p/1", after=0.1 + MOMENT)
    assert log.broken_rules() == []
    log.request(PLAIN, "/p/2", status=503)
    log.request(PLAIN, "/p/2", after=0.2 - EARLY)
    assert log.broken_rules() == ["doubled"]


def test_a_timeout_counts_as_a_slow_answer_and_doubles_the_required_gap(log: Log) -> None:
    log.request(PLAIN, "/p/0", took=1.5)
    log.replace_last(aborted=True)
    due = 2 * 2 * (1.5 - NOTICED) - NOTICED
    log.request(PLAIN, "/p/0", after=due + MOMENT)
    assert log.broken_rules() == []
    log.replace_last(t0=log.entries[-1].t0 - EARLY)
    assert log.broken_rules() == ["doubled"]


def test_overlapping_requests_are_found(log: Log) -> None:
    first = log.request(PLAIN, "/p/0", took=1.0)
    log.request(PLAIN, "/p/1", after=-0.5)
    assert log.broken_rules() == ["one connection at a time"]
    log.replace_last(connection=first.connection)
    assert log.broken_rules() == ["one at a time"]


def test_a_short_request_within_a_long_one_does_not_hide_its_end(log: Log) -> None:
    log.request(PLAIN, "/p/0", took=2.0)
    log.request(PLAIN, "/p/1", after=-1.5, took=0.1)
    log.request(PLAIN, "/p/2", after=0.3)
    assert log.broken_rules() == ["one connection at a time"] * 2


def test_a_page_requested_before_robots_txt_is_found() -> None:
    log = Log()
    log.request(PLAIN, "/p/0")
    log.request(PLAIN, ROBOTS, status=404)
    log.request(PLAIN, "/p/1")
    assert log.broken_rules() == ["robots.txt first"]


def test_each_port_of_a_host_has_its_own_robots_txt_and_all_share_its_delay(log: Log) -> None:
    log.request(PLAIN, "/p/2")
    log.replace_last(server_port=8001)
    assert log.broken_rules() == ["robots.txt first"]
    log.request(PLAIN, "/p/3", after=0.1 - EARLY)
    assert log.broken_rules() == ["robots.txt first", "floor"]


def test_a_robots_txt_with_a_server_error_permits_no_page() -> None:
    log = Log()
    log.request(NEVER, ROBOTS, status=503)
    log.request(NEVER, "/p/0")
    assert log.broken_rules() == ["robots.txt first"]


def test_a_redirected_robots_txt_permits_no_page_until_its_target_is_read() -> None:
    log = Log()
    log.request(ELSEWHERE, ROBOTS, status=301)
    log.request(ELSEWHERE, "/p/0")
    assert log.broken_rules() == ["robots.txt first"]


def test_a_request_for_a_forbidden_page_is_found(log: Log) -> None:
    log.request(PATIENT, "/private/1")
    log.request(PLAIN, "/private/1", status=404)
    assert log.broken_rules() == ["forbidden"]


def test_a_request_to_a_wrong_address_is_found(log: Log) -> None:
    log.request(PLAIN, "/p/0")
    log.replace_last(address="127.0.0.1")
    assert log.broken_rules() == ["wrong address"]


def test_an_exceeded_request_rate_is_found() -> None:
    log = Log()
    log.request(RATED, ROBOTS)
    log.request(RATED, "/p/0", after=1.5 + MOMENT)
    assert log.broken_rules() == []
    log.request(RATED, "/p/1", after=1.5 - EARLY)
    assert log.broken_rules() == ["Request-rate"]


def test_a_success_leaves_at_most_three_doublings(log: Log) -> None:
    for after in (60, 0.2, 0.4, 0.8, 1.6, 3.2):
        log.request(PLAIN, "/p/0", after=after + MOMENT, status=503)
    log.request(PLAIN, "/p/0", after=6.4 + MOMENT)
    log.request(PLAIN, "/p/1", after=0.8 + MOMENT)
    assert log.broken_rules() == []
    log.request(PLAIN, "/p/2", after=0.4 - EARLY)
    assert log.broken_rules() == ["doubled"]


# ── kills ──


def killed(at: float) -> Stop:
    return Stop(at=at, restarted=at + 0.5, is_clean=False)


def test_a_host_in_flight_at_a_kill_needs_its_full_delay_after_the_restart(log: Log) -> None:
    log.request(PATIENT, "/p/0")
    cut_off = log.request(PATIENT, "/p/1")
    log.replace_last(aborted=True)
    stop = killed(cut_off.t1)
    log.request(PATIENT, "/p/1", after=0.5 + 1.5 + MOMENT)
    assert log.broken_rules(stop) == []
    log.replace_last(t0=stop.restarted + 1.5 - EARLY)
    assert log.broken_rules(stop) == ["after a kill"]


def test_a_request_that_timed_out_long_before_a_kill_was_not_in_flight(log: Log) -> None:
    log.request(PATIENT, "/p/0")
    left = log.request(PATIENT, "/p/1")
    log.replace_last(aborted=True)
    log.request(PATIENT, "/p/1", after=20 + 0.6)
    assert log.broken_rules(killed(left.t1 + 20)) == []


def test_an_answer_just_before_a_kill_may_be_lost(log: Log) -> None:
    answered = log.request(PLAIN, "/p/0", status=503, retry_after=30.0)
    log.request(PLAIN, "/p/0", after=0.7)
    assert log.broken_rules(killed(answered.t1 + 0.05)) == []
    assert log.broken_rules() == ["Retry-After"]


def test_an_answer_long_before_a_kill_is_committed(log: Log) -> None:
    answered = log.request(PLAIN, "/p/0", status=503, retry_after=30.0)
    log.request(PLAIN, "/p/0", after=29.0)
    assert log.broken_rules(killed(answered.t1 + COMMITTED + 1)) == ["Retry-After"]


def test_a_clean_stop_loses_nothing(log: Log) -> None:
    answered = log.request(PLAIN, "/p/0", status=503, retry_after=30.0)
    log.request(PLAIN, "/p/0", after=29.0)
    assert log.broken_rules(Stop(answered.t1 + 0.01, answered.t1 + 1, is_clean=True)) == ["Retry-After"]


def test_rules_that_a_kill_may_have_lost_apply_once_they_are_fetched_again() -> None:
    log = Log()
    rules_served = log.request(PATIENT, ROBOTS)
    log.request(PATIENT, ROBOTS, after=0.8)
    stop = killed(rules_served.t1)
    assert log.broken_rules(stop) == []
    log.request(PATIENT, "/p/0", after=1.5 - EARLY)
    assert log.broken_rules(stop) == ["Crawl-delay"]


# ── addresses ──


def test_concurrent_requests_to_one_address_are_counted() -> None:
    log = Log()
    sharing = [host for host in WORLD.all if host.address == PLAIN.address and host.robots == "rules"][:5]
    for number, host in enumerate(sharing):
        log.request(host, ROBOTS, after=0.1 * number, took=1.0)
    log.request(sharing[0], ROBOTS, after=60)
    assert log.judged().at_once == {PLAIN.address: 5}
    assert log.broken_rules() == []
    limited = log.judged(limits=PolitenessLimits(floor=0.1, factor=2.0, address_limit=4))
    assert [violation.rule for violation in limited.violations] == ["address limit"]


def test_a_log_is_read_as_it_was_written(tmp_path: Path) -> None:
    first = Entry(
        1.25, 2.5, "a.test", "/p/1", 503, not_before=4.5, connection=3, port=40000, address="127.0.0.9", server_port=80
    )
    second = Entry(1.0, 1.5, "b.test", "/", 0, aborted=True)
    (tmp_path / "log").write_text(first.line() + second.line() + "1.0\thalf a line")
    assert read_log(tmp_path / "log") == [second, first]
