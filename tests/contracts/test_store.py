"""What every store promises. A further engine joins by a line in `ENGINES`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from crawler.frontier.aftermath import Aftermath
from crawler.frontier.politeness import HostClock, Politeness
from crawler.items import Kind, OriginRules, Outcome, Page, Reason, Refusal, State, Visit
from crawler.stores.contract import LateCommit, Place, SegmentState, Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of
from tests.samples import NOW, answer, link, new_url, settled, visit_to, visited

Opener = Callable[[], Store]
A, B, ELSEWHERE = "http://a.test/", "http://a.test/b", "http://b.test/"
SEGMENT = SegmentState(name="x-000-00001.warc.gz", slot=0, length=100, records=4, closed=False)
PLACE = Place(segment=SEGMENT.name, offset=40, length=30)


def sqlite_at(path: Path) -> Opener:
    return lambda: open_store(f"sqlite:{path / 'crawl.db'}")


ENGINES = {"sqlite": sqlite_at}


@pytest.fixture(params=ENGINES)
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    return ENGINES[request.param](tmp_path)


@pytest.fixture
def store(opener: Opener) -> Iterator[Store]:
    opened = opener()
    opened.acquire("me", 0, NOW, 60, 60)
    yield opened
    opened.close()


def lease_all(store: Store, now: float = NOW) -> list[Visit]:
    visits = [visit for load in store.activate("me", now, 100, 100, ()) for visit in load.visits]
    return store.lease("me", visits)


def states(store: Store) -> tuple[int, int, int, int]:
    account = store.account()
    return account.known, account.waiting, account.leased, account.parked


# ── URLs are made known ──


def test_a_url_is_new_only_once(store: Store) -> None:
    assert store.add([new_url(A), new_url(B)], NOW) == 2
    assert store.add([new_url(B), new_url(ELSEWHERE)], NOW + 1) == 1
    assert states(store) == (3, 3, 0, 0)


def test_a_refused_url_is_known_and_parked(store: Store) -> None:
    store.add([new_url(A, refused=Refusal(Reason.OUT_OF_SCOPE, "hosts"))], NOW)
    row = store.find_url(key_of(A))
    assert row is not None
    assert (row.state, row.reason, row.detail) == (State.PARKED, Reason.OUT_OF_SCOPE, "hosts")
    assert lease_all(store) == []


def test_a_seed_opens_what_was_out_of_scope(store: Store) -> None:
    store.add([new_url(A, refused=Refusal(Reason.OUT_OF_SCOPE), depth=3)], NOW)
    store.add_seeds([new_url(A)], NOW)
    assert [visit.url for visit in lease_all(store)] == [A]
    assert [url for _, url in store.seeds()] == [A]


def test_seeds_are_read_from_where_one_stopped(store: Store) -> None:
    store.add_seeds([new_url(A)], NOW)
    last = max(serial for serial, _ in store.seeds())
    store.add_seeds([new_url(A), new_url(B)], NOW)
    assert [url for _, url in store.seeds(last)] == [B]


# ── hosts are activated ──


def test_only_what_is_due_is_given_and_important_things_first(store: Store) -> None:
    store.add([new_url(B, level=3), new_url(A, level=1)], NOW)
    store.add([new_url("http://a.test/later")], NOW + 50)
    (load,) = store.activate("me", NOW, 10, 10, ())
    assert [visit.url for visit in load.visits] == [A, B]
    assert load.name == "a.test"


def test_important_hosts_come_first_and_active_ones_not_again(store: Store) -> None:
    store.add([new_url(A, level=2), new_url(ELSEWHERE, level=0)], NOW)
    assert [load.name for load in store.activate("me", NOW, 10, 10, ())] == ["b.test", "a.test"]
    assert [load.name for load in store.activate("me", NOW, 10, 10, {key_of(ELSEWHERE).host})] == ["a.test"]


def test_a_host_with_nothing_due_is_asked_for_no_more(store: Store) -> None:
    store.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    store.commit([settled(visited(visit))], [], NOW)
    assert store.load(key_of(A).host, NOW, 10) == []
    assert store.outlook().next_due == NOW + 7 * 86_400
    assert len(store.activate("me", NOW + 8 * 86_400, 10, 10, ())) == 1


def test_a_wrong_clock_does_not_hold_a_host_for_years(store: Store) -> None:
    store.add([new_url(A), new_url(B)], NOW)
    (first, second) = lease_all(store)
    far = NOW + 1e9
    busy = visited(first, outcome=Outcome.BUSY, reason=Reason.BUSY, page=None)
    store.commit([settled(busy, clock=HostClock(held_until=far, next_visit=far))], [], NOW)
    store.unlease([second], NOW)
    store.believe_no_later_than(NOW + 100)
    (load,) = store.activate("me", NOW + 101, 10, 10, ())
    assert load.clock.next_visit == NOW + 100


def test_hosts_of_another_worker_are_not_given(store: Store) -> None:
    store.add([new_url(A)], NOW)
    assert store.activate("you", NOW, 10, 10, ()) == []
    assert store.lease("you", [visit_to(A)]) == []
    assert store.load_host("you", key_of(A).host, "a.test", NOW, 10) is None


def test_a_host_can_be_loaded_before_any_url_of_it_is_known(store: Store) -> None:
    load = store.load_host("me", key_of(A).host, "a.test", NOW, 10)
    assert load is not None
    assert (load.name, list(load.visits)) == ("a.test", [])


def test_a_held_host_gives_nothing_until_its_hold_ends(store: Store) -> None:
    store.add([new_url(A), new_url(B)], NOW)
    (first, second) = lease_all(store)
    busy = visited(first, outcome=Outcome.BUSY, reason=Reason.BUSY, page=None)
    clock = HostClock(held_until=NOW + 600, next_visit=NOW + 600)
    store.commit([settled(busy, clock=clock)], [], NOW)
    store.unlease([second], NOW)
    assert store.activate("me", NOW + 599, 10, 10, ()) == []
    assert store.outlook().next_due == NOW + 600
    store.add([new_url("http://a.test/new")], NOW + 1)
    assert store.outlook().next_due == NOW + 600
    assert len(store.activate("me", NOW + 600, 10, 10, ())) == 1


def test_postponed_urls_wait_until_their_time(store: Store) -> None:
    store.add([new_url(A)], NOW)
    store.postpone([(visit_to(A), NOW + 100)], Reason.ROBOTS_UNAVAILABLE)
    assert store.activate("me", NOW + 99, 10, 10, ()) == []
    assert len(store.activate("me", NOW + 100, 10, 10, ())) == 1


# ── leases ──


def test_a_url_is_leased_once(store: Store) -> None:
    store.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    assert store.lease("me", [visit]) == []
    assert states(store) == (1, 0, 1, 0)
    assert store.outlook().leased == 1


def test_a_lease_that_is_not_used_leaves_the_url_waiting(store: Store) -> None:
    store.add([new_url(A)], NOW)
    visits = lease_all(store)
    store.unlease(visits, NOW)
    assert states(store) == (1, 1, 0, 0)
    assert [visit.url for visit in lease_all(store)] == [A]


def test_a_robots_file_becomes_known_when_it_is_leased(store: Store) -> None:
    store.add([new_url(A)], NOW)
    robots = visit_to("http://a.test/robots.txt", kind=Kind.ROBOTS, origin="http://a.test")
    assert store.lease("me", [robots]) == [robots]
    assert states(store) == (2, 1, 1, 0)
    rules = OriginRules(
        host=robots.key.host, origin="http://a.test", status=200, body=b"User-agent: *", fetched=NOW, expires=NOW + 9
    )
    store.commit([settled(visited(robots, rules=replace(rules, crawl_delay=3.0)))], [], NOW)
    assert states(store) == (2, 1, 0, 1)
    assert store.find_rules("http://a.test") == replace(rules, crawl_delay=3.0)
    assert store.lease("me", [robots]) == [robots]  # on demand, again


def test_a_robots_file_that_was_given_as_a_page_is_still_one_url(store: Store) -> None:
    url = "http://a.test/robots.txt"
    store.add([new_url(url)], NOW)
    assert store.lease("me", [visit_to(url, kind=Kind.ROBOTS)])
    assert states(store) == (1, 0, 1, 0)


# ── commits ──


def test_a_commit_acknowledges_everything_at_once(store: Store) -> None:
    store.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    page = Page(title="A title", body_digest=b"d", text_digest=b"t", content_type="text/html")
    links = (link(B, "inside"), link(ELSEWHERE, "outside"), link("http://c.test/", refused=Reason.OUT_OF_SCOPE))
    clock = HostClock(next_visit=NOW + 5, latency=0.1, last_end=NOW)
    result = visited(visit, page=replace(page, links=links))
    committed = store.commit([settled(result, clock=clock, place=PLACE)], [SEGMENT], NOW)
    assert committed.new_urls == 3
    assert set(committed.hosts_with_new) == {key_of(A).host, key_of(ELSEWHERE).host}
    assert states(store) == (4, 3, 0, 1)
    row, host = store.find_url(visit.key), store.find_host(visit.key.host)
    assert row is not None
    assert host is not None
    assert (row.state, row.reason, row.last_reason, row.status) == (State.WAITING, Reason.REVISIT, Reason.OK, 200)
    assert (host.clock, host.visits, host.pages, host.known, host.address) == (clock, 1, 1, 2, "127.0.0.1")
    (document,) = store.documents(visit.key)
    assert (document.title, document.place, document.status) == ("A title", PLACE, 200)
    assert store.segments() == [SEGMENT]
    assert store.anchors(key_of(ELSEWHERE)) == [("a.test", "outside")]
    assert store.anchors(key_of(B)) == []
    found = store.find_url(key_of(B))
    assert found is not None
    assert (found.depth, found.via, found.reason) == (1, A, Reason.LINK)


def test_a_redirect_makes_its_target_known_one_hop_further(store: Store) -> None:
    store.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    result = visited(visit, outcome=Outcome.REDIRECTED, reason=Reason.REDIRECTED, location=link(B), detail=B)
    store.commit([settled(result)], [], NOW)
    target, source = store.find_url(key_of(B)), store.find_url(key_of(A))
    assert target is not None
    assert source is not None
    assert (target.hops, target.depth, target.reason) == (1, 0, Reason.REDIRECT_TARGET)
    assert (source.state, source.detail) == (State.PARKED, B)


def test_a_late_commit_changes_nothing(store: Store) -> None:
    store.add([new_url(A), new_url(ELSEWHERE)], NOW)
    first, second = lease_all(store)
    store.unlease([first], NOW)
    before = store.account()
    batch = [settled(visited(first, link("http://new.test/"))), settled(visited(second))]
    with pytest.raises(LateCommit) as caught:
        store.commit(batch, [SEGMENT], NOW)
    assert caught.value.keys == {first.key}
    assert store.account() == before
    assert store.segments() == []


def test_a_commit_under_an_old_epoch_is_late(store: Store) -> None:
    store.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    assert store.acquire("you", 1, NOW + 119, 60, 60) == 0  # the lease is over, but a request may still be out
    assert store.acquire("you", 1, NOW + 121, 60, 60) > 0
    store.recover([1], NOW + 200, lambda name, clock: clock)
    store.acquire("you", 1, NOW + 200, 60, 60)
    (load,) = store.activate("you", NOW + 200, 10, 10, ())
    assert store.lease("you", load.visits)
    with pytest.raises(LateCommit):
        store.commit([settled(visited(visit))], [], NOW + 201)
    assert store.renew("me", NOW + 201, 60) == 0


def test_a_page_that_is_gone_is_published_as_deleted_only_if_it_was_there(store: Store) -> None:
    store.add([new_url(A), new_url(ELSEWHERE)], NOW)
    here, never = sorted(lease_all(store), key=lambda visit: visit.url)
    gone = {"outcome": Outcome.REFUSED, "reason": Reason.GONE}
    store.commit([settled(visited(here), place=PLACE), settled(visited(never, **gone))], [SEGMENT], NOW)
    (again,) = store.lease("me", [visit for load in store.activate("me", NOW + 1e6, 9, 9, ()) for visit in load.visits])
    store.commit([settled(visited(again, fetched=answer(A, status=410), **gone), place=PLACE)], [SEGMENT], NOW + 1e6)
    assert [(change, url) for change, url in store.changes()] == [("upsert", A), ("delete", A)]


def test_anchors_are_kept_once_and_not_without_end(store: Store) -> None:
    store.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    links = [link(ELSEWHERE, f"text {n % 70}") for n in range(140)]
    store.commit([settled(visited(visit, *links))], [], NOW)
    assert len(store.anchors(key_of(ELSEWHERE))) == 64


def test_links_brought_early_are_the_same_links(store: Store) -> None:
    store.add([new_url(A)], NOW)
    (visit,) = lease_all(store)
    assert store.add_links(visit, [link(B)], NOW).new_urls == 1
    assert store.commit([settled(visited(visit, link(B)))], [], NOW).new_urls == 0
    assert states(store) == (2, 2, 0, 0)


# ── what is published ──


def publish(store: Store, url: str, now: float = NOW, **facts: Any) -> None:
    """Visit a URL, and commit what came of it."""
    store.add([new_url(url)], now)
    (visit,) = store.lease("me", [visit_to(url)])
    store.commit([settled(visited(visit, **facts), place=PLACE)], [SEGMENT], now)


def delete(store: Store, url: str, now: float) -> None:
    gone = answer(url, status=410)
    waits = Aftermath(state=State.WAITING, reason=Reason.GONE, due=now)
    (visit,) = store.lease("me", [visit_to(url)])
    result = visited(visit, fetched=gone, outcome=Outcome.REFUSED, reason=Reason.GONE)
    store.commit([settled(result, after=waits, place=PLACE)], [SEGMENT], now)


def told(store: Store, after: int = 0) -> list[tuple[str, str | None]]:
    return [(row.url, row.document and row.document.title) for row in store.published(after)]


def test_each_url_is_published_once_as_it_is_now_in_the_order_of_the_changes(store: Store) -> None:
    assert (list(store.published()), store.version()) == ([], 0)
    for number, url in enumerate([A, B, ELSEWHERE, A]):
        publish(store, url, NOW + number, page=Page(title=f"title {number}"))
    delete(store, B, NOW + 9)
    assert told(store) == [(ELSEWHERE, "title 2"), (A, "title 3"), (B, None)]
    versions = [row.version for row in store.published()]
    assert versions == sorted(versions)
    assert store.version() == versions[-1]
    assert [row.key for row in store.published()] == [key_of(ELSEWHERE), key_of(A), key_of(B)]


def test_who_has_seen_a_version_is_told_what_came_after_it(store: Store) -> None:
    publish(store, A)
    publish(store, B)
    seen = store.version()
    assert told(store, seen) == []
    publish(store, A, NOW + 1, page=Page(title="new"))
    assert told(store, seen) == [(A, "new")]
    delete(store, A, NOW + 2)
    publish(store, ELSEWHERE, NOW + 3)
    assert told(store, seen) == [(A, None), (ELSEWHERE, "")]


def test_a_copy_is_published_with_the_url_that_had_it_first(store: Store) -> None:
    page = Page(body_digest=b"same", payload_digest=b"same")
    for url in (A, B, ELSEWHERE):
        publish(store, url, page=page if url != B else Page(body_digest=b"other"))
    assert [(row.url, row.duplicate_of) for row in store.published()] == [(A, None), (B, None), (ELSEWHERE, A)]


@pytest.mark.parametrize(("digest", "followed"), [(7, False), (8, True)])
def test_a_copys_links_are_followed_only_if_they_differ(digest: int, followed: bool, store: Store) -> None:
    page = Page(body_digest=b"same", payload_digest=b"same", links_digest=7)
    publish(store, A, page=page)
    publish(store, ELSEWHERE, page=replace(page, links_digest=digest, links=(link("http://new.test/", "words"),)))
    assert store.documents(key_of(ELSEWHERE))[0].duplicate_of == store.documents(key_of(A))[0].id
    assert (store.find_url(key_of("http://new.test/")) is not None) == followed


def test_what_is_published_is_read_as_of_one_moment(opener: Opener, store: Store) -> None:
    publish(store, A)
    publish(store, B)
    reader = opener()
    rows = reader.published()
    first = next(rows)
    publish(store, ELSEWHERE, page=Page(links=(link(B, "new words"),)))
    publish(store, B, NOW + 1, page=Page(title="new"))
    assert reader.anchors(key_of(B)) == []
    assert [(row.url, row.document and row.document.title) for row in (first, *rows)] == [(A, ""), (B, "")]
    assert reader.anchors(key_of(B)) == [("b.test", "new words")]
    reader.close()


def test_a_document_is_found_by_its_number(store: Store) -> None:
    publish(store, A, page=Page(title="old"))
    publish(store, A, NOW + 1, page=Page(title="new"))
    new, old = store.documents(key_of(A))
    assert (store.find_document(old.id), store.find_document(new.id)) == (old, new)
    assert store.find_document(new.id + 1) is None


# ── the dead ──


def test_what_a_dead_worker_had_leased_waits_again_and_its_host_rests(store: Store) -> None:
    store.add([new_url(A), new_url(ELSEWHERE)], NOW)
    (load, _) = store.activate("me", NOW, 10, 10, ())
    store.lease("me", load.visits)
    politeness = Politeness(floor=5)
    recovered = store.recover([0], NOW + 1, lambda name, clock: politeness.after_unclean_stop(name, clock, NOW + 1))
    assert (recovered.returned, recovered.quarantined) == (1, 0)
    assert states(store) == (2, 2, 0, 0)
    row, host = store.find_url(load.visits[0].key), store.find_host(load.host)
    other = store.find_host(next(key_of(url).host for url in (A, ELSEWHERE) if key_of(url).host != load.host))
    assert row is not None
    assert host is not None
    assert other is not None
    assert (row.reason, row.crashes) == (Reason.RETURNED, 1)
    assert (host.clock.next_visit, other.clock.next_visit) == (NOW + 6, 0)


def test_recovering_twice_does_no_harm(store: Store) -> None:
    store.add([new_url(A)], NOW)
    lease_all(store)
    store.recover([0], NOW, lambda name, clock: clock)
    again = store.recover([0], NOW, lambda name, clock: clock)
    assert (again.returned, again.quarantined) == (0, 0)


def test_a_living_workers_leases_are_not_touched(store: Store) -> None:
    store.add([new_url(A)], NOW)
    lease_all(store)
    assert store.recover([1], NOW, lambda name, clock: clock).returned == 0
    assert states(store) == (1, 0, 1, 0)


def test_a_url_that_kills_is_left_alone_only_after_a_death_alone(store: Store) -> None:
    store.add([new_url(A)], NOW)
    for death in range(1, 7):
        store.acquire("me", 0, NOW, 60, 60)
        (visit,) = lease_all(store)
        assert visit.crashes == death - 1
        recovered = store.recover([0], NOW, lambda name, clock: clock)
        assert recovered.quarantined == (death == 6)
    row = store.find_url(key_of(A))
    assert row is not None
    assert (row.state, row.reason) == (State.PARKED, Reason.CRASHED)


def test_a_visit_that_ends_clears_the_blame(store: Store) -> None:
    store.add([new_url(A)], NOW)
    lease_all(store)
    store.recover([0], NOW, lambda name, clock: clock)
    store.acquire("me", 0, NOW, 60, 60)
    (visit,) = lease_all(store)
    store.commit([settled(visited(visit))], [], NOW)
    row = store.find_url(key_of(A))
    assert row is not None
    assert row.crashes == 0


def test_a_robots_file_that_kills_holds_its_origin_for_an_hour(store: Store) -> None:
    store.add([new_url(A)], NOW)
    robots = visit_to("http://a.test/robots.txt", kind=Kind.ROBOTS, origin="http://a.test")
    for _ in range(6):
        store.acquire("me", 0, NOW, 60, 60)
        (load,) = store.activate("me", NOW, 10, 10, ())
        store.lease("me", [replace(robots, epoch=load.epoch)])
        store.recover([0], NOW, lambda name, clock: clock)
    rules = store.find_rules("http://a.test")
    assert rules is not None
    assert rules.held_until == NOW + 3_600


def test_the_host_that_was_asked_rests_not_the_one_that_is_named(store: Store) -> None:
    store.add([new_url(A), new_url(ELSEWHERE)], NOW)
    robots = visit_to("http://a.test/robots.txt", kind=Kind.ROBOTS, asked=key_of(ELSEWHERE).host)
    store.lease("me", [robots])
    store.recover([0], NOW, lambda name, clock: replace(clock, next_visit=NOW + 5))
    home, asked = store.find_host(key_of(A).host), store.find_host(key_of(ELSEWHERE).host)
    assert home is not None
    assert asked is not None
    assert (home.clock.next_visit, asked.clock.next_visit) == (0, NOW + 5)


# ── files ──


def test_a_segments_length_grows_and_closing_stays(store: Store) -> None:
    store.commit([], [SEGMENT], NOW)
    store.commit([], [replace(SEGMENT, length=300, records=9)], NOW)
    store.close_segment(SEGMENT.name)
    assert store.segments(0) == [replace(SEGMENT, length=300, records=9, closed=True)]
    assert store.segments(1) == []


# ── everything survives ──


def test_what_was_committed_is_there_for_the_next_process(opener: Opener) -> None:
    store = opener()
    store.acquire("me", 0, NOW, 60, 60)
    store.add_seeds([new_url(A)], NOW)
    (visit,) = lease_all(store)
    store.commit([settled(visited(visit, link(B)), place=PLACE)], [SEGMENT], NOW)
    store.release("me")
    account = store.account()
    store.close()
    again = opener()
    assert again.account() == account
    assert again.last_commit() == NOW
    assert again.acquire("you", 0, NOW, 60, 60) > 0
    assert again.check() is None
    again.close()


# ── the law ──

URLS = [f"http://h{host}.test/{page}" for host in range(3) for page in range(4)]
urls_given = st.lists(st.sampled_from(URLS), max_size=6)
AFTER = {
    Outcome.FETCHED: Aftermath(state=State.WAITING, reason=Reason.REVISIT, due=NOW),
    Outcome.FAILED: Aftermath(state=State.WAITING, reason=Reason.TIMEOUT, due=NOW, tries=1),
    Outcome.REFUSED: Aftermath(state=State.PARKED, reason=Reason.GONE),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_known_is_waiting_plus_leased_plus_parked_whatever_happens(
    engine: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    class Life(RuleBasedStateMachine):
        def __init__(self) -> None:
            super().__init__()
            self.store = ENGINES[engine](tmp_path_factory.mktemp("store"))()
            self.store.acquire("me", 0, NOW, 60, 60)
            self.known: set[str] = set()
            self.out: list[Visit] = []

        @rule(urls=urls_given, parked=st.booleans())
        def add(self, urls: list[str], parked: bool) -> None:
            refused = Refusal(Reason.OUT_OF_SCOPE) if parked else None
            new = self.store.add([new_url(url, refused=refused) for url in urls], NOW)
            assert new == len(set(urls) - self.known)
            self.known |= set(urls)

        @rule(hosts=st.integers(1, 3), urls=st.integers(1, 3))
        def lease(self, hosts: int, urls: int) -> None:
            loads = self.store.activate("me", NOW, hosts, urls, {visit.key.host for visit in self.out})
            self.out += self.store.lease("me", [visit for load in loads for visit in load.visits])

        @rule(outcome=st.sampled_from(list(AFTER)), links=urls_given)
        def commit(self, outcome: Outcome, links: list[str]) -> None:
            batch = [
                settled(visited(visit, *map(link, links), outcome=outcome), after=AFTER[outcome]) for visit in self.out
            ]
            self.store.commit(batch, [], NOW)
            self.known |= set(links) if batch else set()
            self.out = []

        @rule()
        def give_back(self) -> None:
            self.store.unlease(self.out, NOW)
            self.out = []

        @rule()
        def die(self) -> None:
            self.store.recover([0], NOW, lambda name, clock: clock)
            self.store.acquire("me", 0, NOW, 60, 60)
            self.out = []

        @invariant()
        def adds_up(self) -> None:
            account = self.store.account()
            assert account.known == account.waiting + account.leased + account.parked == len(self.known)
            assert account.leased == len(self.out) == self.store.outlook().leased

        def teardown(self) -> None:
            self.store.close()

    Life.TestCase.settings = settings(
        max_examples=40, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
    )
    Life.TestCase("runTest").runTest()
