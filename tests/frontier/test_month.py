"""A simulated month of crawling, checked visit by visit; `make prove-month` is longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler.items import Kind
from tests.frontier.month import START, Web, crawl
from tests.samples import visit_to


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", [1, 2])
def test_in_a_month_no_host_server_or_group_is_visited_early_and_no_url_is_lost(seed: int, tmp_path: Path) -> None:
    found = crawl(tmp_path, hosts=500, pages=16, seed=seed)
    assert found.web.violations == []
    assert found.problems == []
    assert found.web.visits > 50_000
    assert {"OK", "BUSY", "FIRST_BYTE_TIMEOUT", "CONNECT_FAILED"} == set(found.web.reasons)


def judged(*visits: tuple[str, float]) -> list[str]:
    """Return the violations of visits at these times after the start."""
    web = Web(hosts=200, pages=50)
    for url, at in visits:
        visit = visit_to(url, kind=Kind.ROBOTS if url.endswith("robots.txt") else Kind.PAGE, origin=url[:20])
        web.respond(visit, START + at)
    return [violation.partition(": ")[2] for violation in web.violations]


@pytest.mark.parametrize(
    ("visits", "complaints"),
    [
        ([("http://h1.s1.test/1", 0), ("http://h1.s1.test/2", 40)], []),
        ([("http://h1.s1.test/1", 0), ("http://h1.s1.test/2", 4)], ["host or group"]),
        ([("http://h1.s1.test/1", 0), ("http://h1.s1.test/2", 0.01)], ["in turn", "host or group"]),
        ([("http://h1.s1.test/1", 0), ("http://h1.s1.test/1", 400)], ["not twice"]),
        # Crawl-delay, Request-rate, and the same rate outside its part of the day
        ([("http://h2.s2.test/robots.txt", 0), ("http://h2.s2.test/1", 15)], ["host or group"]),
        ([("http://h10.s10.test/robots.txt", 0), ("http://h10.s10.test/1", 20)], ["host or group"]),
        ([("http://h4.s4.test/robots.txt", 0), ("http://h4.s4.test/1", 20)], []),
        ([("http://h4.s4.test/robots.txt", 40_000), ("http://h4.s4.test/1", 40_050)], ["host or group"]),
        # Visit-time
        ([("http://h5.s5.test/robots.txt", 0), ("http://h5.s5.test/1", 3_600)], []),
        ([("http://h5.s5.test/robots.txt", 0), ("http://h5.s5.test/1", 40_000)], ["visited outside of visiting hours"]),
        # one server, one group
        ([("http://h60.s60.test/1", 0), ("http://h120.s120.test/1", 0.4)], ["server"]),
        ([("http://h7.farm.test/1", 0), ("http://h57.farm.test/1", 3)], ["host or group"]),
    ],
)
def test_the_judge_sees_planted_violations(visits: list[tuple[str, float]], complaints: list[str]) -> None:
    found = judged(*visits)
    assert len(found) == len(complaints)
    assert all(complaint in said for complaint, said in zip(complaints, found, strict=True))
