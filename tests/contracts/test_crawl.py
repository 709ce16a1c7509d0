"""The crawl as a whole has facts, run summaries and an account that adds up."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from crawler.frontier.next_state import NextState
from crawler.items import Outcome, Reason, State, Visit
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import Judge
from crawler.urls.hosts import host_of
from crawler.urls.scope import SCOPE_REASONS
from tests.contracts.engines import ENGINES, Opener
from tests.contracts.visits import POSITION, REFUSAL, SEGMENT, found_url, lease_all, row_of
from tests.samples import NOW, acquire, link, new_url, visit_result, visited

A, A_PAGE = "http://a.test/", "http://a.test/b"
URLS = [f"http://h{host}.test/{page}" for host in range(3) for page in range(4)]
url_lists = st.lists(st.sampled_from(URLS), max_size=6)
NEXT_STATES = {
    Outcome.FETCHED: NextState(state=State.WAITING, reason=Reason.REVISIT, due=NOW),
    Outcome.FAILED: NextState(state=State.WAITING, reason=Reason.TIMEOUT, due=NOW, tries=1),
    Outcome.REFUSED: NextState(state=State.PARKED, reason=Reason.GONE),
}


# ── Facts and runs ──


def test_a_crawl_has_a_permanent_identity(store: Store, opener: Opener) -> None:
    another = opener()
    assert another.crawl.facts()["identity"] == store.crawl.facts()["identity"]
    another.close()


def test_facts_are_stored_for_later_processes(store: Store, opener: Opener) -> None:
    assert store.crawl.facts().keys() == {"identity"}
    store.crawl.set_facts({"url_scope": "1", "url_spelling": "ä\n"})
    store.crawl.set_facts({"url_scope": "2", "": ""})
    store.commits.commit([], [], NOW)  # the time of the commit is not among the facts
    expected = {"identity": store.crawl.facts()["identity"], "url_scope": "2", "url_spelling": "ä\n", "": ""}
    assert store.crawl.facts() == expected
    assert store.commits.last() == NOW
    another = opener()
    assert another.crawl.facts() == expected
    another.close()


def test_summaries_of_runs_are_returned_in_order(store: Store) -> None:
    assert store.crawl.runs() == []
    store.crawl.add_run({"pages": 1, "finished": "dönè"}, NOW)
    store.crawl.add_run({"pages": 2}, NOW + 1)
    assert store.crawl.runs() == [{"pages": 1, "finished": "dönè", "ended": NOW}, {"pages": 2, "ended": NOW + 1}]


def test_committed_rows_are_there_for_the_next_process(opener: Opener) -> None:
    store = opener()
    acquire(store, "me", 0, NOW, 60, 60)
    store.urls.add_seeds([new_url(A)], NOW)
    (visit,) = lease_all(store)
    store.commits.commit([visit_result(visited(visit, link(A_PAGE)), position=POSITION)], [SEGMENT], NOW)
    store.partitions.leave("me")
    account = store.crawl.account()
    store.close()
    again = opener()
    assert again.crawl.account() == account
    assert again.commits.last() == NOW
    assert acquire(again, "you", 0, NOW, 60, 60) > 0
    assert again.crawl.check() is None
    again.close()


# ── The account ──


def refuse_only(refused: set[str]) -> Judge:
    return lambda url, depth: REFUSAL if url in refused else None


@pytest.mark.parametrize("engine", ENGINES)
def test_known_is_waiting_plus_leased_plus_parked_whatever_happens(
    engine: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    class StoreMachine(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.store = ENGINES[engine](tmp_path_factory.mktemp("store"))()
            acquire(self.store, "me", 0, NOW, 60, 60)
            self.known: set[str] = set()
            self.seeds: set[str] = set()
            self.leased: list[Visit] = []

        @rule(urls=url_lists, parked=st.booleans())
        def add(self, urls: list[str], parked: bool) -> None:
            new = self.store.urls.add([found_url(url, refused=REFUSAL if parked else None) for url in urls], NOW)
            assert new == len(set(urls) - self.known)
            self.known |= set(urls)

        @rule(urls=url_lists)
        def seed(self, urls: list[str]) -> None:
            assert self.store.urls.add_seeds([new_url(url) for url in urls], NOW) == len(set(urls) - self.known)
            self.known |= set(urls)
            self.seeds |= set(urls)

        @rule(refused=st.sets(st.sampled_from(URLS)), site=st.sampled_from([None, "h0.test", "test"]))
        def review_scope(self, refused: set[str], site: str | None) -> None:
            before = {url: row_of(self.store, url) for url in self.known}
            judge = refuse_only(refused)
            review = self.store.urls.review_scope(judge, NOW, site)
            after = {url: row_of(self.store, url) for url in self.known}
            changed = {url for url in self.known if before[url] != after[url]}
            assert all(site in (None, "test", host_of(url)) for url in changed)
            assert not any(after[url].state is State.PARKED for url in changed & self.seeds)
            if site != "h0.test":
                assert {url for url, row in after.items() if row.reason in SCOPE_REASONS} <= refused - self.seeds
                unvisited = {url for url, row in after.items() if row.visited is None and row.state is State.WAITING}
                assert unvisited & refused <= self.seeds
            states = [(before[url].state, after[url].state) for url in changed]
            assert review.opened == states.count((State.PARKED, State.WAITING))
            assert review.closed == states.count((State.WAITING, State.PARKED))

        @rule(hosts=st.integers(1, 3), urls=st.integers(1, 3))
        def lease(self, hosts: int, urls: int) -> None:
            loads = self.store.frontier.activate("me", NOW, hosts, urls, {visit.key.host for visit in self.leased})
            self.leased += self.store.frontier.lease(
                "me", [visit for load in loads for visit in load.visits], NOW
            ).granted

        @rule(outcome=st.sampled_from(list(NEXT_STATES)), links=url_lists)
        def commit(self, outcome: Outcome, links: list[str]) -> None:
            batch = [
                visit_result(visited(visit, *map(link, links), outcome=outcome), next_state=NEXT_STATES[outcome])
                for visit in self.leased
            ]
            self.store.commits.commit(batch, [], NOW)
            self.known |= set(links) if batch else set()
            self.leased = []

        @rule()
        def unlease(self) -> None:
            self.store.frontier.unlease(self.leased, NOW)
            self.leased = []

        @rule()
        def recover(self) -> None:
            self.store.partitions.recover([0], NOW, lambda name, clock: clock)
            acquire(self.store, "me", 0, NOW, 60, 60)
            self.leased = []

        @invariant()
        def states_add_up(self) -> None:
            account = self.store.crawl.account()
            assert account.known == account.waiting + account.leased + account.parked == len(self.known)
            assert account.leased == len(self.leased) == self.store.frontier.outlook().leased

        def teardown(self) -> None:
            self.store.close()

    StoreMachine.TestCase.settings = settings(
        max_examples=60, stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
    )
    StoreMachine.TestCase("runTest").runTest()
