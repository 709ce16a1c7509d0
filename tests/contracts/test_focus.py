"""In a focused crawl, URLs wait where the worth of the links to them puts them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from crawler.content.relevance import JudgedPage
from crawler.focus.links import LinkScorer
from crawler.focus.topic import Topic
from crawler.frontier.exploration import LevelLimit
from crawler.frontier.priority import PriorityInputs, level_of, places_of
from crawler.items import Link, Outcome, Page, Reason, Visit
from crawler.parse.links import HtmlLink
from crawler.stores.contract.focus import WaitingPlace
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from crawler.worker.focus_learner import FocusLearner
from tests.contracts.engines import Opener
from tests.contracts.visits import (
    MOVED,
    POSITION,
    REVISIT,
    SEGMENT,
    SERVER_ERROR,
    commit,
    fetch,
    fetch_refused,
    found_url,
    insert_early,
    lease_url,
    renew_lease,
    row_of,
)
from tests.samples import NOW, answer, link, new_url, visit_result, visited

HUB = "http://hub.test/"
GULLS, TAXES = "http://birds.test/gulls", "http://office.test/taxes"
TOPIC = Topic.learn(["Gulls are birds\nGulls and terns are sea birds with long wings."], query="birds gulls wings")
JUDGE = LinkScorer(TOPIC)


def focused(store: Store, slot: int = 0) -> FocusLearner:
    learner = FocusLearner(Topic.from_bytes(TOPIC.to_bytes()))
    store.focus.begin(learner, slot)
    return learner


@pytest.fixture
def learner(store: Store) -> FocusLearner:
    return focused(store)


def hub_page(*links: Link, relevance: float = 0.5, scorer: LinkScorer = JUDGE) -> Page:
    """A page as a content process judges it: the anchors of its links say what they lead to."""
    seen = JudgedPage(HUB, "Links", "A list of links", relevance)
    scores, evidence = scorer.score_packed(seen, [HtmlLink(found.url, found.anchor, "") for found in links])
    return Page(links=links, relevance=relevance, link_scores=scores, link_evidence=evidence)


def place(store: Store, url: str) -> tuple[int, int]:
    """Return the level of a URL, and its place among the waiting URLs of its host."""
    row = row_of(store, url)
    return row.level, [visit.url for visit in store.frontier.load(row.key.host, NOW, 100)].index(url)


def test_new_urls_wait_by_the_worth_of_their_links(store: Store, learner: FocusLearner) -> None:
    links = [link("http://a.test/taxes", "income taxes"), link("http://a.test/gulls", "gulls and other birds")]
    fetch(store, HUB, NOW, page=hub_page(*links))
    assert [visit.url for visit in store.frontier.load(links[0].key.host, NOW, 9)] == [
        "http://a.test/gulls",
        "http://a.test/taxes",
    ]
    assert row_of(store, links[1].url).level < row_of(store, links[0].url).level


def test_links_within_a_level_are_told_apart(store: Store, learner: FocusLearner) -> None:
    scores = np.linspace(0.3, 0.5, 12, dtype=np.float32)
    links = [link(f"http://a.test/{number}") for number in range(12)]
    page = hub_page(*links)
    store.urls.add([new_url(HUB)], NOW)
    scored = Page(links=links, relevance=0.5, link_scores=scores.tobytes(), link_evidence=page.link_evidence)
    commit(store, lease_url(store, HUB, NOW), NOW, page=scored)
    order = [int(visit.url.rpartition("/")[2]) for visit in store.frontier.load(links[0].key.host, NOW, 99)]
    places = places_of(scores)
    assert len(set((places // 8).tolist())) < len(set(places.tolist()))
    assert [places[number] for number in order] == sorted(places)


def test_the_evidence_for_a_waiting_url_is_kept_until_it_is_fetched(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "gulls")))
    kept = store.focus.evidence(key_of(GULLS))
    assert kept is not None
    assert kept.score == pytest.approx(JUDGE.rescore([kept.evidence])[0], abs=1e-3)
    commit(store, lease_url(store, GULLS, NOW), NOW, page=Page(relevance=0.75))
    assert store.focus.evidence(key_of(GULLS)) is None


def test_a_better_link_moves_a_waiting_url(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "next page"), relevance=0.1))
    before, first = row_of(store, GULLS).level, store.focus.evidence(key_of(GULLS))
    fetch(store, f"{HUB}more", NOW, page=hub_page(link(GULLS, "gulls, birds with long wings"), relevance=0.9))
    after, second = row_of(store, GULLS).level, store.focus.evidence(key_of(GULLS))
    assert first is not None
    assert second is not None
    assert after < before
    assert second.score > first.score


def test_a_worse_link_leaves_a_waiting_url_where_it_is(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "gulls, birds with long wings"), relevance=0.9))
    before = row_of(store, GULLS).level, store.focus.evidence(key_of(GULLS))
    fetch(store, f"{HUB}more", NOW, page=hub_page(link(GULLS, "next page"), relevance=0.1))
    assert (row_of(store, GULLS).level, store.focus.evidence(key_of(GULLS))) == before


def test_a_better_link_does_not_move_a_page_that_was_fetched(
    store: Store, opener: Opener, learner: FocusLearner
) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "next page"), relevance=0.1))
    commit(store, lease_url(store, GULLS, NOW), NOW, page=Page(relevance=0.1))
    before = row_of(store, GULLS)
    again = opener()  # with empty caches
    renew_lease(again, "me")
    focused(again)
    fetch(again, f"{HUB}more", NOW, page=hub_page(link(GULLS, "gulls, birds with long wings"), relevance=0.9))
    assert (row_of(again, GULLS).level, again.focus.evidence(key_of(GULLS))) == (before.level, None)
    again.close()


@pytest.mark.parametrize(("relevance", "better"), [(0.95, "gulls"), (0.02, "taxes")])
def test_what_a_page_turned_out_to_be_teaches_what_links_are_worth(
    relevance: float, better: str, store: Store, learner: FocusLearner
) -> None:
    """Links to one section turn out to be good or bad, and those of another section the opposite."""
    for name, reward in (("gulls", relevance), ("taxes", 1 - relevance)):
        for number in range(40):
            url = f"http://a.test/{name}/{number}"
            fetch(store, f"{HUB}{name}/{number}", NOW, page=hub_page(link(url, "article"), scorer=JUDGE))
            commit(store, lease_url(store, url, NOW), NOW, page=Page(relevance=reward))
    scores = dict(zip(("gulls", "taxes"), _scores_of_new(learner, ["gulls", "taxes"]), strict=True))
    assert max(scores, key=scores.__getitem__) == better


def _scores_of_new(learner: FocusLearner, names: Sequence[str]) -> Sequence[float]:
    return learner.rescore([learner.url_evidence(f"http://a.test/{name}/new") for name in names])


def test_a_visit_that_failed_teaches_nothing_and_keeps_the_evidence(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "gulls")))
    before = learner.states()
    commit(store, lease_url(store, GULLS, NOW), NOW, page=None, **SERVER_ERROR)
    assert learner.states() == before
    assert store.focus.evidence(key_of(GULLS)) is not None


def test_a_page_that_is_missing_was_worth_nothing(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "gulls")))
    before = learner.rescore([learner.url_evidence(GULLS)])[0]
    for number in range(20):
        fetch(store, f"{HUB}{number}", NOW, page=hub_page(link(f"{GULLS}/{number}", "gulls")))
        fetch_refused(store, f"{GULLS}/{number}", NOW, Reason.NOT_FOUND, 404)
    assert learner.rescore([learner.url_evidence(GULLS)])[0] < before
    assert store.focus.evidence(key_of(f"{GULLS}/0")) is None


def test_the_target_of_a_redirect_inherits_the_evidence(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link("http://b.test/page", "gulls")))
    before = store.focus.evidence(key_of("http://b.test/page"))
    commit(store, lease_url(store, "http://b.test/page", NOW), NOW, page=None, status=301, **MOVED)
    assert before is not None
    after = store.focus.evidence(MOVED["location"].key)
    assert after is not None
    assert after.evidence == before.evidence
    assert store.focus.evidence(key_of("http://b.test/page")) is None


def test_a_late_commit_teaches_nothing(store: Store, opener: Opener, learner: FocusLearner) -> None:
    from crawler.stores.contract.commits import LateCommit

    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "gulls")))
    visit = lease_url(store, GULLS, NOW)
    before = learner.states()
    late = Visit(key=visit.key, url=visit.url, kind=visit.kind, epoch=visit.epoch - 1, host_key=visit.host_key)
    result = visited(late, page=Page(relevance=0.9), fetched=answer(GULLS))
    with pytest.raises(LateCommit):
        store.commits.commit([visit_result(result, position=POSITION)], [SEGMENT], NOW)
    assert learner.states() == before
    assert store.focus.evidence(key_of(GULLS)) is not None


def test_what_was_learned_survives_without_being_saved(store: Store, opener: Opener, learner: FocusLearner) -> None:
    """After kill -9 the crawl goes on with what it knew at its last commit."""
    for number in range(12):
        url = f"{GULLS}/{number}"
        fetch(store, f"{HUB}{number}", NOW, page=hub_page(link(url, "gulls")))
        commit(store, lease_url(store, url, NOW), NOW, page=Page(relevance=0.03 * number))
        if number == 5:
            store.focus.save()
    again = opener()
    resumed = focused(again)
    evidences = [learner.url_evidence(f"{GULLS}/{number}") for number in (99, 100)]
    assert resumed.rescore(evidences) == learner.rescore(evidences)
    again.close()


def test_workers_learn_from_each_other(store: Store, opener: Opener, learner: FocusLearner) -> None:
    other = opener()
    second = focused(other, slot=1)
    evidence = [learner.url_evidence(f"{GULLS}/new")]
    before = second.rescore(evidence)[0]
    for number in range(30):
        fetch(store, f"{HUB}{number}", NOW, page=hub_page(link(f"{GULLS}/{number}", "gulls")))
        commit(store, lease_url(store, f"{GULLS}/{number}", NOW), NOW, page=Page(relevance=0.0))
    store.focus.save()
    other.focus.save()
    assert second.rescore(evidence)[0] < before
    other.close()


def test_waiting_urls_are_scored_again_when_more_is_known(store: Store, learner: FocusLearner) -> None:
    waiting = [f"http://a.test/gulls/w{number}" for number in range(10)]
    fetch(store, HUB, NOW, page=hub_page(*(link(url, "gulls") for url in waiting)))
    levels = [row_of(store, url).level for url in waiting]
    for number in range(60):
        url = f"http://a.test/gulls/{number}"
        fetch(store, f"{HUB}{number}", NOW, page=hub_page(link(url, "gulls")))
        commit(store, lease_url(store, url, NOW), NOW, page=Page(relevance=0.0))
    host = key_of(waiting[0]).host
    assert [row_of(store, url).level for url in waiting] == levels
    scored, after, moved = 0, WaitingPlace(), 0
    while True:
        part = store.focus.rescore(host, after, 4, NOW)
        scored, moved = scored + part.urls, moved + part.moved
        if part.next is None:
            break
        after = part.next
    assert moved >= len(waiting)
    assert scored < 200
    assert all(row_of(store, url).level > level for url, level in zip(waiting, levels, strict=True))
    assert store.focus.rescore(host, WaitingPlace(), 500, NOW).moved == 0


def test_urls_of_sitemaps_wait_by_what_they_say(store: Store, learner: FocusLearner) -> None:
    from crawler.items import Kind, ListedUrl

    good, bad = "http://s.test/birds/gulls", "http://s.test/income/taxes"
    listed = [ListedUrl(key_of(url), url, None) for url in (bad, good)]
    fetch(store, "http://s.test/sitemap.xml", NOW, page=Page(kind=Kind.SITEMAP, listed=listed))
    assert [visit.url for visit in store.frontier.load(key_of(good).host, NOW, 9)][:2] == [good, bad]
    assert store.focus.evidence(key_of(bad)) is not None


def test_very_many_links_are_placed_before_the_commit(store: Store, learner: FocusLearner) -> None:
    links = [link(f"http://a.test/{number}", "gulls and birds" if number % 2 else "taxes") for number in range(40)]
    store.urls.add([new_url(HUB)], NOW)
    visit = lease_url(store, HUB, NOW)
    early = insert_early(store, visited(visit, page=hub_page(*links)), most=7)
    store.commits.commit(early.batch, [], NOW)
    levels = {number % 2: row_of(store, found.url).level for number, found in enumerate(links)}
    assert levels[1] < levels[0]
    assert all(store.focus.evidence(found.key) is not None for found in links)


def test_seeds_and_pages_of_the_topic_come_first(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(relevance=0.01))
    fetch(store, GULLS, NOW, page=Page(relevance=0.99))
    assert row_of(store, HUB).level > row_of(store, GULLS).level == 0
    store.urls.add_seeds([new_url("http://seed.test/")], NOW)
    assert row_of(store, "http://seed.test/").level == 0


def test_in_links_do_not_move_urls_of_a_focused_crawl(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(TAXES, "taxes"), relevance=0.1))
    before = row_of(store, TAXES).level
    for number in range(9):
        fetch(store, f"http://s{number}.test/", NOW, page=hub_page(link(TAXES, "taxes"), relevance=0.1))
    assert row_of(store, TAXES).inlinks > 5
    assert abs(row_of(store, TAXES).level - before) <= 1


# ── The last level ──


def test_urls_beyond_the_limit_are_loaded_while_it_allows_some(store: Store, learner: FocusLearner) -> None:
    good, poor = "http://good.test/", [f"http://p{number}.test/" for number in range(5)]
    store.urls.add_seeds([new_url(good)], NOW)
    fetch(store, HUB, NOW, page=hub_page(*(link(url, "taxes") for url in poor), relevance=0.0))
    deepest = min(row_of(store, url).level for url in poor) - 1
    hosts = {key_of(url).host for url in poor}
    none, some = LevelLimit(hosts, deepest, 0), LevelLimit(hosts, deepest, 2)
    free = store.frontier.activate("me", NOW, 9, 9, (), limit=LevelLimit((), deepest, 0))
    assert len(free) == 6
    assert [load.name for load in store.frontier.activate("me", NOW, 9, 9, (), limit=none)] == ["good.test"]
    assert len(store.frontier.activate("me", NOW, 9, 9, (), limit=some)) == 3
    lease_url(store, good, NOW)
    active = [load.host for load in store.frontier.activate("me", NOW, 1, 9, (), limit=none)]
    assert active == []  # that the good host has nothing more is found when it is asked
    assert len(store.frontier.activate("me", NOW, 9, 9, (), limit=none)) == 5
    store.urls.add_seeds([new_url(f"{good}more")], NOW)
    loads = store.frontier.load_all(sorted(hosts), NOW, 9, some)
    assert sum(len(visits) for _, visits in loads) == 2


def test_a_host_waits_in_the_level_of_its_best_url(store: Store, learner: FocusLearner) -> None:
    """Its better URLs were fetched, and the level that it had is found to be too good when it is loaded."""
    fetch(
        store, HUB, NOW, page=hub_page(link("http://a.test/1", "gulls birds wings"), link("http://a.test/2", "taxes"))
    )
    fetch(store, f"{HUB}more", NOW, page=hub_page(link("http://b.test/1", "birds")))
    commit(store, lease_url(store, "http://a.test/1", NOW), NOW, page=Page(relevance=0.9))
    names = [load.name for load in store.frontier.activate("me", NOW, 9, 9, ())]
    assert names.index("b.test") < names.index("a.test")


# ── Topics that come and go ──


def test_urls_found_before_the_topic_are_placed(store: Store) -> None:
    store.urls.add([found_url("http://a.test/birds/gulls"), found_url("http://a.test/income/taxes")], NOW)
    focused(store)
    after: int | None = 0
    while after is not None:
        after = store.focus.place_waiting(after, 1, NOW)
    assert [visit.url for visit in store.frontier.load(key_of("http://a.test/").host, NOW, 9)] == [
        "http://a.test/birds/gulls",
        "http://a.test/income/taxes",
    ]
    assert store.focus.evidence(key_of("http://a.test/income/taxes")) is not None


def test_a_crawl_without_its_topic_is_as_others_are(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link("http://a.test/1", "gulls"), link("http://a.test/2", "taxes")))
    store.focus.forget(NOW)
    assert {row_of(store, f"http://a.test/{number}").level for number in (1, 2)} == {level_of(PriorityInputs(1, 1))}
    assert row_of(store, HUB).level == 0
    assert store.focus.evidence(key_of("http://a.test/1")) is None
    fetch(store, f"{HUB}more", NOW, page=Page(links=[link("http://a.test/3", "taxes")]))
    assert row_of(store, "http://a.test/3").level == level_of(PriorityInputs(1, 1))


def test_an_off_topic_page_counts_as_fetched(store: Store, learner: FocusLearner) -> None:
    fetch(store, TAXES, NOW, page=Page(relevance=0.01), reason=Reason.OFF_TOPIC, outcome=Outcome.FETCHED)
    assert row_of(store, TAXES).due == NOW + REVISIT - 86_400.0


@pytest.mark.parametrize("relevance", [float("nan"), 2.0, -1.0, float("inf")])
def test_a_relevance_that_is_none_teaches_nothing(relevance: float, store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "gulls")))
    before = learner.states()["links"]
    commit(store, lease_url(store, GULLS, NOW), NOW, page=Page(relevance=relevance))
    assert learner.states()["links"] == before
    assert row_of(store, GULLS).visits == 1


def test_what_is_missing_waits_behind_what_was_found(store: Store, learner: FocusLearner) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "gulls, birds with long wings")))
    fetch_refused(store, GULLS, NOW, Reason.NOT_FOUND, 404)
    assert row_of(store, GULLS).level == 7


def test_damaged_states_are_left_out(store: Store, opener: Opener, learner: FocusLearner, tmp_path: Path) -> None:
    fetch(store, HUB, NOW, page=hub_page(link(GULLS, "gulls")))
    commit(store, lease_url(store, GULLS, NOW), NOW, page=Page(relevance=0.9, topic_words=TOPIC.page_words("gull")))
    store.focus.save(is_last=True)
    states = {part: state[: len(state) // 2] for part, state in learner.states().items()}
    again = FocusLearner(Topic.from_bytes(TOPIC.to_bytes()))
    again.load_states(states, [states])
    assert again.rescore([again.url_evidence(GULLS)]) == FocusLearner(TOPIC).rescore([learner.url_evidence(GULLS)])


def test_words_of_observed_pages_are_kept_at_the_end(store: Store, opener: Opener, learner: FocusLearner) -> None:
    for number in range(5):
        words = TOPIC.page_words(f"gull number {number}")
        fetch(store, f"{HUB}{number}", NOW, page=Page(relevance=0.5, topic_words=words))
    store.focus.save(is_last=True)
    again = opener()
    assert focused(again).topic.observations == 5
    again.close()
