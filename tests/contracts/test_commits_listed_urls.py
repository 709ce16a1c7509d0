"""URLs that sitemaps and feeds list are added with what the lists say about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from crawler.frontier.budgets import next_day
from crawler.frontier.priority import PriorityInputs, level_of
from crawler.frontier.trust import Source, Trust
from crawler.items import Kind, ListedUrl, Page, Reason, Refusal, State
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import FeedAnnouncement
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import DAY, due_urls, fetch, fetch_refused, row_of
from tests.samples import NOW, new_url

FRONT_PAGE, SITEMAP, FEED, PAGE = (f"http://www.a.test/{path}" for path in ("", "sitemap.xml", "feed", "page"))


def listed_url(url: str = PAGE, refusal: Reason | None = None, **facts: Any) -> ListedUrl:
    return ListedUrl(key_of(url), url, Refusal(refusal, "so") if refusal else None)._replace(**facts)


def fetch_sitemap(store: Store, now: float, *entries: ListedUrl, url: str = SITEMAP) -> Any:
    """Visit a sitemap, which is added if it is new."""
    store.urls.add([new_url(url, kind=Kind.SITEMAP, reason=Reason.SITEMAP_FILE)], now)
    return fetch(store, url, now, page=Page(kind=Kind.SITEMAP, listed=entries))


def fetch_feed(store: Store, now: float, *entries: ListedUrl, url: str = FEED) -> Any:
    store.urls.add([new_url(url, kind=Kind.FEED, reason=Reason.FEED_FILE)], now)
    return fetch(store, url, now, page=Page(kind=Kind.FEED, listed=entries))


# ── Sitemaps ──


@pytest.mark.parametrize("kind", [Kind.FEED, Kind.SITEMAP])
def test_a_url_whose_content_is_a_list_becomes_a_list(kind: Kind, store: Store) -> None:
    fetch(store, FEED, NOW, page=Page(kind=kind, listed=[listed_url()]))
    assert row_of(store, FEED).kind is kind
    assert list(store.changes.entries()) == []
    assert row_of(store, PAGE).reason is (Reason.IN_FEED if kind is Kind.FEED else Reason.IN_SITEMAP)


def test_urls_of_a_sitemap_are_added_with_their_facts(store: Store) -> None:
    committed = fetch_sitemap(store, NOW, listed_url(modified=NOW - 50, interval=DAY, hint=1.0), listed_url(FRONT_PAGE))
    assert (committed.new_urls, set(committed.hosts_with_new)) == (2, {key_of(PAGE).host})
    row = row_of(store, PAGE)
    assert (row.kind, row.state, row.reason, row.due) == (Kind.PAGE, State.WAITING, Reason.IN_SITEMAP, NOW)
    assert (row.lister, row.via, row.lastmod, row.interval) == (SITEMAP, SITEMAP, NOW - 50, DAY)
    assert (row.depth, row.hint, row.level) == (1, 1.0, level_of(PriorityInputs(1, hint=1.0)))
    without_facts = row_of(store, FRONT_PAGE)
    assert (without_facts.lister, without_facts.lastmod, without_facts.interval, without_facts.hint) == (
        SITEMAP,
        None,
        None,
        None,
    )
    assert without_facts.level == level_of(PriorityInputs(1)) > row.level
    assert {PAGE, FRONT_PAGE} <= due_urls(store, NOW)


def test_a_listed_url_that_is_refused_is_parked(store: Store) -> None:
    fetch_sitemap(store, NOW, listed_url(refusal=Reason.OUT_OF_SCOPE, modified=NOW - 50))
    row = row_of(store, PAGE)
    assert (row.state, row.reason, row.detail, row.lastmod) == (State.PARKED, Reason.OUT_OF_SCOPE, "so", NOW - 50)


def test_a_parked_url_stays_parked_whatever_its_lastmod(store: Store) -> None:
    fetch_refused(store, PAGE, NOW, Reason.GONE, 410)
    fetch_sitemap(store, NOW + DAY, listed_url(modified=NOW + 50))
    row = row_of(store, PAGE)
    assert (row.state, row.reason, row.lastmod) == (State.PARKED, Reason.GONE, NOW + 50)
    assert PAGE not in due_urls(store, NOW + DAY)


@pytest.mark.parametrize("fetch_list", [fetch_sitemap, fetch_feed])
@pytest.mark.parametrize(("ago", "is_due"), [(-50.0, True), (50.0, False), (0.0, False)])
def test_a_page_listed_as_changed_since_its_visit_is_due_at_once(
    fetch_list: Callable[..., Any], ago: float, is_due: bool, store: Store
) -> None:
    fetch(store, PAGE, NOW)
    committed = fetch_list(store, NOW + DAY, listed_url(modified=NOW - ago, guid=1))
    assert (row_of(store, PAGE).due == NOW + DAY) is is_due
    assert (key_of(PAGE).host in committed.hosts_with_new) is is_due
    assert (PAGE in due_urls(store, NOW + DAY)) is is_due
    assert (committed.new_urls, row_of(store, PAGE).lastmod) == (0, NOW - ago)


def test_a_page_that_waits_for_its_first_visit_keeps_its_due_time(store: Store) -> None:
    store.urls.add([new_url(PAGE)], NOW)
    store.frontier.postpone(
        [(visit, NOW + 9 * DAY) for visit in store.frontier.load(key_of(PAGE).host, NOW, 9)], Reason.LINK
    )
    fetch_sitemap(store, NOW + DAY, listed_url(modified=NOW + 50))
    assert row_of(store, PAGE).due == NOW + 9 * DAY


def list_false_changes(store: Store, fetch_list: Callable[..., Any], times: int) -> float:
    """List a page as changed though it is not, several times; return when it was last visited."""
    now = NOW
    fetch(store, PAGE, now)
    for _ in range(times):
        fetch_list(store, now + DAY, listed_url(modified=now + 50, guid=1))
        now += DAY
        fetch(store, PAGE, now + 60)
        now += 60
    return now


@pytest.mark.parametrize(("fetch_list", "source"), [(fetch_sitemap, Source.LASTMOD), (fetch_feed, Source.FEED)])
def test_a_source_that_has_listed_false_changes_is_no_longer_trusted(
    fetch_list: Callable[..., Any], source: Source, store: Store
) -> None:
    now = list_false_changes(store, fetch_list, 5)
    assert store.urls.trust(key_of(PAGE).host) == {source: Trust(changed_wrong=5)}
    due = row_of(store, PAGE).due
    fetch_list(store, now + DAY, listed_url(modified=now + 50, guid=1))
    assert (row_of(store, PAGE).due, row_of(store, PAGE).lastmod) == (due, now + 50)
    assert PAGE not in due_urls(store, now + DAY)


def test_false_changes_of_sitemaps_do_not_count_against_feeds(store: Store) -> None:
    now = list_false_changes(store, fetch_sitemap, 5)
    fetch_feed(store, now + DAY, listed_url(modified=now + 50, guid=1))
    assert PAGE in due_urls(store, now + DAY)


def test_the_last_list_replaces_all_facts_except_the_interval(store: Store) -> None:
    fetch_sitemap(store, NOW, listed_url(modified=NOW - 50, interval=DAY))
    fetch_sitemap(store, NOW + DAY, listed_url(), url="http://www.a.test/other.xml")
    row = row_of(store, PAGE)
    assert (row.lister, row.lastmod, row.interval) == ("http://www.a.test/other.xml", None, DAY)


def test_facts_of_a_colliding_url_are_not_stored_for_the_first(store: Store) -> None:
    store.urls.add([new_url(PAGE)], NOW)
    other = listed_url("http://www.a.test/double", modified=NOW - 50)._replace(key=key_of(PAGE))
    assert fetch_sitemap(store, NOW, other).new_urls == 0
    assert (row_of(store, PAGE).url, row_of(store, PAGE).lastmod) == (PAGE, None)
    assert store.urls.collisions(key_of(PAGE)) == ["http://www.a.test/double"]


def test_a_feed_that_is_listed_stays_a_feed(store: Store) -> None:
    store.urls.add([new_url(FEED, kind=Kind.FEED, reason=Reason.FEED_FILE)], NOW)
    fetch_sitemap(store, NOW, listed_url(FEED, modified=NOW - 50, interval=5.0))
    assert (row_of(store, FEED).kind, row_of(store, FEED).interval) == (Kind.FEED, None)


def test_listed_urls_over_budget_are_admitted_later_with_their_facts(with_budgets: Opener) -> None:
    store = with_budgets(host_day=3)
    entries = [listed_url(f"http://www.a.test/{n}", modified=NOW - n, interval=DAY) for n in range(4)]
    fetch_sitemap(store, NOW, *entries)
    last = row_of(store, entries[3].url)
    assert (last.state, last.reason, last.lastmod) == (State.PARKED, Reason.OVER_BUDGET, NOW - 3)
    assert entries[3].url in due_urls(store, next_day(NOW))
    last = row_of(store, entries[3].url)
    assert (last.state, last.lister, last.lastmod, last.interval) == (State.WAITING, SITEMAP, NOW - 3, DAY)


# ── Feed entries ──


def test_feed_entries_are_stored_with_title_and_summary(store: Store) -> None:
    fetch_feed(store, NOW, listed_url(modified=NOW - 50, guid=7, hint=1.0, title="New", summary="All of it"))
    row = row_of(store, PAGE)
    assert (row.reason, row.lister, row.lastmod, row.hint) == (Reason.IN_FEED, FEED, NOW - 50, 1.0)
    assert store.urls.announcements(key_of(PAGE)) == [
        FeedAnnouncement(feed=FEED, title="New", summary="All of it", dated=NOW - 50)
    ]
    assert store.urls.announcements(key_of(FRONT_PAGE)) == []


def test_a_known_feed_entry_is_ignored_even_with_another_url(store: Store) -> None:
    fetch_feed(store, NOW, listed_url(guid=7, title="Old"))
    assert fetch_feed(store, NOW + DAY, listed_url(FRONT_PAGE, guid=7, title="New")).new_urls == 0
    assert store.urls.find(key_of(FRONT_PAGE)) is None
    assert [announcement.title for announcement in store.urls.announcements(key_of(PAGE))] == ["Old"]
    assert fetch_feed(store, NOW + 2 * DAY, listed_url(FRONT_PAGE, guid=8)).new_urls == 1


@pytest.mark.parametrize(
    ("dated", "title"),
    [(NOW - 50, "Old"), (NOW - 60, "Old"), (None, "Old"), (NOW + 50, "New")],
    ids=["same", "older", "none", "newer"],
)
def test_a_feed_entry_with_a_newer_date_replaces_the_stored_one(dated: float | None, title: str, store: Store) -> None:
    fetch_feed(store, NOW - 5, listed_url(modified=NOW - 50, guid=7, title="Old"))
    fetch(store, PAGE, NOW)
    fetch_feed(store, NOW + DAY, listed_url(modified=dated, guid=7, title="New"))
    assert [announcement.title for announcement in store.urls.announcements(key_of(PAGE))] == [title]
    assert (PAGE in due_urls(store, NOW + DAY)) is (title == "New")


def test_only_the_newest_entries_of_a_feed_are_stored(store: Store) -> None:
    for times in range(4):
        entries = [listed_url(f"http://www.a.test/{times}/{n}", guid=1_000 * times + n) for n in range(1_000)]
        fetch_feed(store, NOW + times * DAY, *entries)
    remembered = [bool(store.urls.announcements(key_of(f"http://www.a.test/{times}/0"))) for times in range(4)]
    assert remembered == [False, False, True, True]


def test_a_feed_entry_that_gets_its_first_date_replaces_the_stored_one(store: Store) -> None:
    fetch_feed(store, NOW, listed_url(guid=7, title="Old"))
    fetch_feed(store, NOW + DAY, listed_url(modified=NOW - 50, guid=7, title="New"))
    assert [announcement.title for announcement in store.urls.announcements(key_of(PAGE))] == ["New"]


def test_announcements_of_a_page_by_two_feeds_are_returned_latest_first(store: Store) -> None:
    fetch_feed(store, NOW, listed_url(guid=7, title="Here"))
    fetch_feed(store, NOW + 5, listed_url(guid=7, title="There"), url="http://b.test/feed")
    announcements = store.urls.announcements(key_of(PAGE))
    assert [(announcement.feed, announcement.title) for announcement in announcements] == [
        ("http://b.test/feed", "There"),
        (FEED, "Here"),
    ]
