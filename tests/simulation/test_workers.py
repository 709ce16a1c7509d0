"""Several workers share a crawl: every clock has one owner, and nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from crawler.items import Reason
from crawler.stores.contract.partitions import PARTITIONS
from crawler.stores.contract.urls import NewUrl
from crawler.urls.keys import key_of
from tests.frontier.month import Web
from tests.simulation.workers import LEASE, LONGEST, Crew

HOSTS, PAGES = 120, 6


def found(url: str) -> NewUrl:
    return NewUrl(key=key_of(url), url=url, reason=Reason.LINK, depth=1)


@pytest.fixture
def crew(tmp_path: Path) -> Crew:
    web = Web(HOSTS, PAGES, busy=0.0)  # the Retry-After of a response that is lost is not known
    return Crew(tmp_path, web, [found(f"http://{web.name(number)}/0") for number in range(HOSTS)])


def partition_counts(crew: Crew) -> list[int]:
    """How many partitions each worker has."""
    return sorted(worker.partitions for worker in crew.store.partitions.workers())


def assert_complete(crew: Crew) -> None:
    """Assert that every page was fetched, none too early or by two workers, and that no URL is still leased."""
    early = [violation for violation in crew.web.violations if "not twice" not in violation]
    twice = {violation.partition(": ")[0] for violation in crew.web.violations if "not twice" in violation}
    assert early == []
    assert len(twice) <= crew.uncommitted
    assert [url for url in crew.web.urls() if url not in crew.web.first] == []
    account = crew.store.crawl.account()
    assert account.leased == 0
    assert account.known == account.waiting + account.parked


def test_workers_share_the_partitions_and_keep_all_delays(crew: Crew) -> None:
    for _ in range(3):
        crew.join()
    crew.run(3 * LEASE)
    assert partition_counts(crew) == [20, 22, 22]
    crew.run()
    assert_complete(crew)
    assert crew.uncommitted == 0
    assert all(worker.most_in_flight for worker in crew.workers)


def test_a_worker_that_joins_later_gets_a_share_of_the_partitions(crew: Crew) -> None:
    crew.join()
    crew.run(120)
    assert partition_counts(crew) == [PARTITIONS]
    crew.join()
    crew.run(LEASE)
    assert partition_counts(crew) == [32, 32]
    crew.end(crew.workers[0])
    crew.run(LEASE)
    assert partition_counts(crew) == [PARTITIONS]
    crew.run()
    assert_complete(crew)


def lose(crew: Crew) -> None:
    crew.lose(crew.workers[0])


def kill(crew: Crew) -> None:
    crew.kill(crew.workers[0])


def stop(crew: Crew) -> None:
    crew.uncommitted += len(crew.workers[0].frontier.in_flight) + crew.workers[0].worker.uncommitted
    crew.stop(crew.workers[0], 2 * LEASE + LONGEST)


@pytest.mark.parametrize("trouble", [kill, lose, stop])
def test_partitions_of_a_lost_worker_are_taken_over_and_no_host_is_visited_too_early(
    crew: Crew, trouble: Callable[[Crew], None]
) -> None:
    for _ in range(2):
        crew.join()
    crew.run(100)
    trouble(crew)
    crew.run(LEASE + LONGEST + 5)
    assert max(partition_counts(crew)) == PARTITIONS
    crew.run()
    assert_complete(crew)


def test_commits_of_a_worker_that_wakes_after_its_lease_are_refused_and_it_goes_on(crew: Crew) -> None:
    first, second = crew.join(), crew.join()
    crew.run(60)
    while not first.frontier.in_flight:
        crew.run(1)
    stop(crew)
    crew.run(2 * LEASE + LONGEST + 3 * LEASE)
    assert first.late > 0
    assert second.late == 0
    assert partition_counts(crew) == [32, 32]
    crew.run()
    assert_complete(crew)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_to_workers_nothing_is_lost_or_too_early(seed: int, crew: Crew) -> None:
    chance = Random(seed)
    crew.join()
    crew.join()
    for _ in range(12):
        crew.run(chance.uniform(1, 60))
        worker = chance.choice(crew.workers)
        what = chance.choice(["join", "kill", "lose", "stop", "end"])
        if what == "join" or len(crew.workers) < 2:
            crew.join()
        elif what == "stop":
            crew.uncommitted += len(worker.frontier.in_flight) + worker.worker.uncommitted
            crew.stop(worker, chance.uniform(1, 4 * LEASE))
        elif worker.asleep_until < crew.time:
            {"kill": crew.kill, "lose": crew.lose, "end": crew.end}[what](worker)
    crew.run()
    assert_complete(crew)
