"""What sitemaps and feeds make known, and what is kept of what they say: promises of every store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from crawler.frontier.budgets import Budgets, next_day
from crawler.frontier.priority import PriorityInputs, level_of
from crawler.frontier.trust import Source, Trust
from crawler.items import Kind, ListedUrl, Outcome, Page, Reason, Refusal, State
from crawler.stores.contract.store import Store
from crawler.stores.contract.urls import FeedAnnouncement
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import DAY, due_at, fetch, leased, read_robots, refused, row_of
from tests.samples import NOW, acquire, link, new_url

Open = Callable[..., Store]
HOME, SITEMAP, FEED, PAGE = (f"http://www.a.test/{path}" for path in ("", "sitemap.xml", "feed", "page"))
ELSEWHERE = "http://cdn.b.test/index.xml"


def listed(url: str = PAGE, refusal: Reason | None = None, **facts: Any) -> ListedUrl:
    return ListedUrl(key_of(url), url, Refusal(refusal, "so") if refusal else None)._replace(**facts)


def read_sitemap(store: Store, now: float, *entries: ListedUrl, url: str = SITEMAP) -> Any:
    """A visit to a sitemap, which is made known if it is not."""
    store.urls.add([new_url(url, kind=Kind.SITEMAP, reason=Reason.SITEMAP_FILE)], now)
    return fetch(store, url, now, page=Page(kind=Kind.SITEMAP, listed=entries))


def read_feed(store: Store, now: float, *entries: ListedUrl, url: str = FEED) -> Any:
    store.urls.add([new_url(url, kind=Kind.FEED, reason=Reason.FEED_FILE)], now)
    return fetch(store, url, now, page=Page(kind=Kind.FEED, listed=entries))


# ── which lists there are ──


def test_sitemaps_that_a_robots_txt_names_become_known_once(store: Store) -> None:
    store.urls.add([new_url(HOME)], NOW)
    first = read_robots(store, HOME, NOW, [link(SITEMAP), link(ELSEWHERE)])
    assert (first.new_urls, set(first.hosts_with_new)) == (2, {key_of(SITEMAP).host, key_of(ELSEWHERE).host})
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.reason, row.due) == (Kind.SITEMAP, State.WAITING, Reason.SITEMAP_FILE, NOW)
    assert (row.depth, row.level, row.via) == (0, 0, "http://www.a.test/robots.txt")
    before = row_of(store, SITEMAP), store.crawl.account()
    again = read_robots(store, HOME, NOW + DAY, [link(SITEMAP), link(ELSEWHERE)])
    assert (again.new_urls, set(again.hosts_with_new)) == (0, set())
    assert (row_of(store, SITEMAP), store.crawl.account()) == before


def test_a_sitemap_that_must_not_be_read_is_parked_with_the_reason(store: Store) -> None:
    read_robots(store, HOME, NOW, [link(SITEMAP, refused=Reason.EXCLUDED)])
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.reason, row.detail) == (Kind.SITEMAP, State.PARKED, Reason.EXCLUDED, "so")


def test_a_sitemap_that_may_be_read_after_all_is_read(store: Store) -> None:
    read_robots(store, HOME, NOW, [link(SITEMAP, refused=Reason.EXCLUDED)])
    assert SITEMAP not in due_at(store, NOW)
    committed = read_robots(store, HOME, NOW + DAY, [link(SITEMAP)])
    row = row_of(store, SITEMAP)
    assert (row.state, row.reason, row.detail) == (State.WAITING, Reason.SITEMAP_FILE, "")
    assert set(committed.hosts_with_new) == {key_of(SITEMAP).host}
    assert SITEMAP in due_at(store, NOW + DAY)


@pytest.mark.parametrize("why", [None, Reason.FILE_TYPE, Reason.NOT_INCLUDED, Reason.OUT_OF_SCOPE])
def test_what_was_known_as_a_page_becomes_a_sitemap_that_waits(why: Reason | None, store: Store) -> None:
    store.urls.add([new_url(SITEMAP, reason=Reason.LINK, refused=Refusal(why, "xml") if why else None, depth=4)], NOW)
    committed = read_robots(store, HOME, NOW + 5, [link(SITEMAP)])
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.detail) == (Kind.SITEMAP, State.WAITING, "")
    assert row.reason is (Reason.SITEMAP_FILE if why else Reason.LINK)
    assert set(committed.hosts_with_new) == {key_of(SITEMAP).host}
    assert SITEMAP in due_at(store, NOW + 5)
    assert leased(store, SITEMAP, NOW + 5).kind is Kind.SITEMAP


def test_what_may_not_be_read_stays_what_it_was(store: Store) -> None:
    store.urls.add([new_url(SITEMAP, reason=Reason.LINK, refused=Refusal(Reason.FILE_TYPE, "xml"))], NOW)
    read_robots(store, HOME, NOW, [link(SITEMAP, refused=Reason.EXCLUDED)])
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.reason) == (Kind.PAGE, State.PARKED, Reason.FILE_TYPE)


def test_a_page_that_is_called_a_list_stays_a_page(store: Store) -> None:
    """Anybody may name any URL: who names a page that is there must not take it away."""
    fetch(store, HOME, NOW)
    read_robots(store, "http://evil.test/", NOW, [link(HOME)])
    fetch(store, "http://evil.test/", NOW, page=Page(feeds=[link(HOME)]))
    assert row_of(store, HOME).kind is Kind.PAGE


def test_a_page_may_call_itself_its_feed(store: Store) -> None:
    fetch(store, HOME, NOW, page=Page(feeds=[link(HOME)]))
    assert row_of(store, HOME).kind is Kind.PAGE


def test_nobody_on_another_site_makes_a_list_of_a_page(store: Store) -> None:
    store.urls.add([new_url(PAGE, reason=Reason.LINK)], NOW)
    read_robots(store, "http://evil.test/", NOW, [link(PAGE)])
    assert row_of(store, PAGE).kind is Kind.PAGE


def test_no_host_has_sitemaps_without_end(store: Store) -> None:
    urls = [f"http://www.a.test/{number}.xml" for number in range(5_003)]
    first = read_robots(store, HOME, NOW, [link(url) for url in urls[:5_000]])
    again = read_robots(store, HOME, NOW + DAY, [link(url) for url in urls[5_000:]] + [link(ELSEWHERE)])
    assert (first.new_urls, again.new_urls) == (5_000, 1)


def test_sitemaps_that_are_known_take_no_room_again(store: Store) -> None:
    urls = [f"http://www.a.test/{number}.xml" for number in range(4_000)]
    first = read_robots(store, HOME, NOW, [link(url) for url in urls])
    again = read_robots(store, HOME, NOW + DAY, [link(url) for url in [*urls, SITEMAP]])
    assert (first.new_urls, again.new_urls) == (4_000, 1)


def test_a_seed_that_is_called_a_list_stays_what_was_asked_for(store: Store) -> None:
    store.urls.add_seeds([new_url(HOME)], NOW)
    read_robots(store, "http://evil.test/", NOW, [link(HOME)])
    assert row_of(store, HOME).kind is Kind.PAGE


@pytest.mark.parametrize("kind", [Kind.FEED, Kind.SITEMAP])
def test_a_page_that_turns_out_to_be_a_list_is_one_from_then_on(kind: Kind, store: Store) -> None:
    fetch(store, FEED, NOW, page=Page(kind=kind, listed=[listed()]))
    assert row_of(store, FEED).kind is kind
    assert list(store.changes.entries()) == []
    assert row_of(store, PAGE).reason is (Reason.IN_FEED if kind is Kind.FEED else Reason.IN_SITEMAP)


def test_a_published_page_that_turns_out_to_be_a_list_is_no_page_any_more(store: Store) -> None:
    fetch(store, FEED, NOW)
    fetch(store, FEED, NOW + 8 * DAY, page=Page(kind=Kind.FEED))
    assert list(store.changes.entries()) == [("upsert", FEED), ("delete", FEED)]


def test_feeds_that_a_page_names_become_known(store: Store) -> None:
    store.urls.add([new_url(HOME, depth=2)], NOW)
    committed = fetch(
        store, HOME, NOW, page=Page(feeds=[link(FEED), link("http://b.test/feed", refused=Reason.OUT_OF_SCOPE)])
    )
    row = row_of(store, FEED)
    assert committed.new_urls == 2
    assert (row.kind, row.state, row.reason, row.via) == (Kind.FEED, State.WAITING, Reason.FEED_FILE, HOME)
    assert (row.depth, row.level) == (2, level_of(PriorityInputs(2)))
    assert row_of(store, "http://b.test/feed").state is State.PARKED


# ── for whom they speak ──


def vouchers(store: Store, url: str, now: float) -> set[str]:
    (visit,) = [visit for visit in store.frontier.load(key_of(url).host, now, 100) if visit.url == url]
    return set(visit.vouchers)


def test_who_names_a_sitemap_elsewhere_vouches_for_it(store: Store) -> None:
    read_robots(store, HOME, NOW, [link(ELSEWHERE), link(SITEMAP)])
    read_robots(store, "http://c.test/", NOW, [link(ELSEWHERE)])
    assert vouchers(store, ELSEWHERE, NOW) == {"www.a.test", "c.test"}
    assert vouchers(store, SITEMAP, NOW) == set()  # its own
    (load,) = [load for load in store.frontier.activate("me", NOW, 9, 9, ()) if load.name == "cdn.b.test"]
    assert set(load.visits[0].vouchers) == {"www.a.test", "c.test"}


def test_sitemaps_of_an_index_inherit_who_vouches(store: Store) -> None:
    read_robots(store, HOME, NOW, [link(ELSEWHERE)])
    own, other, deeper = "http://cdn.b.test/1.xml", "http://files.b.test/2.xml", "http://files.b.test/3.xml"
    fetch(store, ELSEWHERE, NOW, page=Page(kind=Kind.SITEMAP, sitemaps=[link(own), link(other)]))
    assert vouchers(store, own, NOW) == {"www.a.test"}
    assert vouchers(store, other, NOW) == {"www.a.test"}  # hosts of one site need not vouch for each other
    assert (row_of(store, other).kind, row_of(store, other).depth) == (Kind.SITEMAP, 1)
    fetch(store, other, NOW, page=Page(kind=Kind.SITEMAP, sitemaps=[link(deeper)]))
    assert vouchers(store, deeper, NOW) == {"www.a.test"}
    assert row_of(store, deeper).depth == 2


def test_where_a_sitemap_has_moved_those_who_vouched_still_do(store: Store) -> None:
    read_robots(store, HOME, NOW, [link(ELSEWHERE)])
    moved = "http://new.test/index.xml"
    facts = {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "status": 301, "page": None}
    fetch(store, ELSEWHERE, NOW, location=link(moved), **facts)
    assert row_of(store, moved).kind is Kind.SITEMAP
    assert vouchers(store, moved, NOW) == {"www.a.test", "cdn.b.test"}


def test_pages_have_no_vouchers(store: Store) -> None:
    store.urls.add([new_url(PAGE)], NOW)
    read_robots(store, "http://c.test/", NOW, [link(PAGE, refused=Reason.EXCLUDED)])
    assert vouchers(store, PAGE, NOW) == set()


# ── what they list ──


def test_what_a_sitemap_lists_becomes_known_with_what_is_said_of_it(store: Store) -> None:
    committed = read_sitemap(store, NOW, listed(modified=NOW - 50, interval=DAY, hint=1.0), listed(HOME))
    assert (committed.new_urls, set(committed.hosts_with_new)) == (2, {key_of(PAGE).host})
    row = row_of(store, PAGE)
    assert (row.kind, row.state, row.reason, row.due) == (Kind.PAGE, State.WAITING, Reason.IN_SITEMAP, NOW)
    assert (row.lister, row.via, row.lastmod, row.interval) == (SITEMAP, SITEMAP, NOW - 50, DAY)
    assert (row.depth, row.hint, row.level) == (1, 1.0, level_of(PriorityInputs(1, hint=1.0)))
    plain = row_of(store, HOME)
    assert (plain.lister, plain.lastmod, plain.interval, plain.hint) == (SITEMAP, None, None, None)
    assert plain.level == level_of(PriorityInputs(1)) > row.level
    assert {PAGE, HOME} <= due_at(store, NOW)


def test_what_is_listed_and_refused_is_parked(store: Store) -> None:
    read_sitemap(store, NOW, listed(refusal=Reason.OUT_OF_SCOPE, modified=NOW - 50))
    row = row_of(store, PAGE)
    assert (row.state, row.reason, row.detail, row.lastmod) == (State.PARKED, Reason.OUT_OF_SCOPE, "so", NOW - 50)


def test_what_is_parked_stays_parked_however_new_it_is_said_to_be(store: Store) -> None:
    refused(store, PAGE, NOW, Reason.GONE, 410)
    read_sitemap(store, NOW + DAY, listed(modified=NOW + 50))
    row = row_of(store, PAGE)
    assert (row.state, row.reason, row.lastmod) == (State.PARKED, Reason.GONE, NOW + 50)
    assert PAGE not in due_at(store, NOW + DAY)


@pytest.mark.parametrize("read", [read_sitemap, read_feed])
@pytest.mark.parametrize(("ago", "is_due"), [(-50.0, True), (50.0, False), (0.0, False)])
def test_a_page_that_has_changed_since_its_visit_is_due_at_once(
    read: Callable[..., Any], ago: float, is_due: bool, store: Store
) -> None:
    fetch(store, PAGE, NOW)
    committed = read(store, NOW + DAY, listed(modified=NOW - ago, guid=1))
    assert (row_of(store, PAGE).due == NOW + DAY) is is_due
    assert (key_of(PAGE).host in committed.hosts_with_new) is is_due
    assert (PAGE in due_at(store, NOW + DAY)) is is_due
    assert (committed.new_urls, row_of(store, PAGE).lastmod) == (0, NOW - ago)


def test_a_page_that_waits_for_its_first_visit_has_not_changed(store: Store) -> None:
    store.urls.add([new_url(PAGE)], NOW)
    store.frontier.postpone(
        [(visit, NOW + 9 * DAY) for visit in store.frontier.load(key_of(PAGE).host, NOW, 9)], Reason.LINK
    )
    read_sitemap(store, NOW + DAY, listed(modified=NOW + 50))
    assert row_of(store, PAGE).due == NOW + 9 * DAY


def tell_lies(store: Store, read: Callable[..., Any], lies: int) -> float:
    """Say again and again that a page is new which is not; when it was last visited."""
    now = NOW
    fetch(store, PAGE, now)
    for _ in range(lies):
        read(store, now + DAY, listed(modified=now + 50, guid=1))
        now += DAY
        fetch(store, PAGE, now + 60)
        now += 60
    return now


@pytest.mark.parametrize(("read", "witness"), [(read_sitemap, Source.LASTMOD), (read_feed, Source.FEED)])
def test_who_has_called_pages_new_that_were_not_is_believed_no_more(
    read: Callable[..., Any], witness: Source, store: Store
) -> None:
    now = tell_lies(store, read, 5)
    assert store.urls.trust(key_of(PAGE).host) == {witness: Trust(changed_wrong=5)}
    due = row_of(store, PAGE).due
    read(store, now + DAY, listed(modified=now + 50, guid=1))
    assert (row_of(store, PAGE).due, row_of(store, PAGE).lastmod) == (due, now + 50)
    assert PAGE not in due_at(store, now + DAY)


def test_lies_of_sitemaps_are_not_those_of_feeds(store: Store) -> None:
    now = tell_lies(store, read_sitemap, 5)
    read_feed(store, now + DAY, listed(modified=now + 50, guid=1))
    assert PAGE in due_at(store, now + DAY)


def test_what_is_said_last_holds_and_what_is_not_said_again_is_forgotten_but_the_interval(store: Store) -> None:
    read_sitemap(store, NOW, listed(modified=NOW - 50, interval=DAY))
    read_sitemap(store, NOW + DAY, listed(), url="http://www.a.test/other.xml")
    row = row_of(store, PAGE)
    assert (row.lister, row.lastmod, row.interval) == ("http://www.a.test/other.xml", None, DAY)


def test_another_url_with_the_same_key_is_told_nothing(store: Store) -> None:
    store.urls.add([new_url(PAGE)], NOW)
    other = listed("http://www.a.test/double", modified=NOW - 50)._replace(key=key_of(PAGE))
    assert read_sitemap(store, NOW, other).new_urls == 0
    assert (row_of(store, PAGE).url, row_of(store, PAGE).lastmod) == (PAGE, None)
    assert store.urls.collisions(key_of(PAGE)) == ["http://www.a.test/double"]


def test_lists_among_what_is_listed_stay_lists(store: Store) -> None:
    store.urls.add([new_url(FEED, kind=Kind.FEED, reason=Reason.FEED_FILE)], NOW)
    read_sitemap(store, NOW, listed(FEED, modified=NOW - 50, interval=5.0))
    assert (row_of(store, FEED).kind, row_of(store, FEED).interval) == (Kind.FEED, None)


# ── very long sitemaps ──


def test_what_was_listed_ahead_of_the_commit_is_not_listed_again(store: Store) -> None:
    entries = [listed(f"http://www.a.test/{n}", modified=NOW - n, interval=DAY, hint=0.7) for n in range(50)]
    store.urls.add([new_url(SITEMAP, kind=Kind.SITEMAP)], NOW)
    visit = leased(store, SITEMAP, NOW)
    first = store.commits.add_listed(visit, entries, NOW)
    assert (first.new_urls, set(first.hosts_with_new)) == (50, {key_of(SITEMAP).host})
    row = row_of(store, entries[7].url)
    assert (row.lister, row.lastmod, row.interval, row.reason) == (SITEMAP, NOW - 7, DAY, Reason.IN_SITEMAP)
    before = [row_of(store, entry.url) for entry in entries], store.crawl.account()
    again = store.commits.add_listed(visit, entries, NOW + 5)
    assert (again.new_urls, set(again.hosts_with_new)) == (0, set())
    assert ([row_of(store, entry.url) for entry in entries], store.crawl.account()) == before


def test_changes_that_are_listed_ahead_of_the_commit_count(store: Store) -> None:
    fetch(store, PAGE, NOW)
    store.urls.add([new_url(SITEMAP, kind=Kind.SITEMAP)], NOW)
    committed = store.commits.add_listed(leased(store, SITEMAP, NOW + DAY), [listed(modified=NOW + 50)], NOW + DAY)
    assert set(committed.hosts_with_new) == {key_of(PAGE).host}
    assert PAGE in due_at(store, NOW + DAY)


# ── feeds ──


def test_what_a_feed_announces_is_kept_with_its_words(store: Store) -> None:
    read_feed(store, NOW, listed(modified=NOW - 50, guid=7, hint=1.0, title="New", summary="All of it"))
    row = row_of(store, PAGE)
    assert (row.reason, row.lister, row.lastmod, row.hint) == (Reason.IN_FEED, FEED, NOW - 50, 1.0)
    assert store.urls.announcements(key_of(PAGE)) == [
        FeedAnnouncement(feed=FEED, title="New", summary="All of it", dated=NOW - 50)
    ]
    assert store.urls.announcements(key_of(HOME)) == []


def test_an_entry_that_is_known_is_not_announced_again_wherever_it_leads(store: Store) -> None:
    read_feed(store, NOW, listed(guid=7, title="Old"))
    assert read_feed(store, NOW + DAY, listed(HOME, guid=7, title="New")).new_urls == 0
    assert store.urls.find(key_of(HOME)) is None
    assert [told.title for told in store.urls.announcements(key_of(PAGE))] == ["Old"]
    assert read_feed(store, NOW + 2 * DAY, listed(HOME, guid=8)).new_urls == 1


@pytest.mark.parametrize(
    ("dated", "title"),
    [(NOW - 50, "Old"), (NOW - 60, "Old"), (None, "Old"), (NOW + 50, "New")],
    ids=["same", "older", "none", "newer"],
)
def test_an_entry_with_a_newer_date_is_announced_again(dated: float | None, title: str, store: Store) -> None:
    read_feed(store, NOW - 5, listed(modified=NOW - 50, guid=7, title="Old"))
    fetch(store, PAGE, NOW)
    read_feed(store, NOW + DAY, listed(modified=dated, guid=7, title="New"))
    assert [told.title for told in store.urls.announcements(key_of(PAGE))] == [title]
    assert (PAGE in due_at(store, NOW + DAY)) is (title == "New")


def test_of_a_feed_the_newest_entries_are_remembered(store: Store) -> None:
    for times in range(4):
        entries = [listed(f"http://www.a.test/{times}/{n}", guid=1_000 * times + n) for n in range(1_000)]
        read_feed(store, NOW + times * DAY, *entries)
    remembered = [bool(store.urls.announcements(key_of(f"http://www.a.test/{times}/0"))) for times in range(4)]
    assert remembered == [False, False, True, True]


def test_who_vouches_is_remembered_within_reason(store: Store) -> None:
    for number in range(30):
        read_robots(store, f"http://www.a{number}.test/", NOW, [link(ELSEWHERE)])
    assert len(vouchers(store, ELSEWHERE, NOW)) == 20


def test_what_is_called_a_list_and_is_none_is_visited_as_a_page(store: Store) -> None:
    store.urls.add([new_url(FEED, kind=Kind.FEED, reason=Reason.FEED_FILE)], NOW)
    refused(store, FEED, NOW, Reason.NOT_A_LIST, 200, page=Page(kind=Kind.PAGE))
    row = row_of(store, FEED)
    assert (row.kind, row.state, row.reason, row.due) == (Kind.PAGE, State.WAITING, Reason.LINK, NOW)
    fetch(store, FEED, NOW, page=Page(body_digest=b"a"))
    assert list(store.changes.entries()) == [("upsert", FEED)]


def test_what_may_not_be_visited_as_a_page_stays_a_list_that_is_missing(store: Store) -> None:
    store.urls.add([new_url(SITEMAP, kind=Kind.SITEMAP, reason=Reason.SITEMAP_FILE)], NOW)
    refused(store, SITEMAP, NOW, Reason.NOT_A_LIST, 200, page=Page(kind=Kind.SITEMAP))
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.reason, row.missing) == (Kind.SITEMAP, State.WAITING, Reason.NOT_A_LIST, 1)


def test_a_first_date_is_news(store: Store) -> None:
    read_feed(store, NOW, listed(guid=7, title="Old"))
    read_feed(store, NOW + DAY, listed(modified=NOW - 50, guid=7, title="New"))
    assert [told.title for told in store.urls.announcements(key_of(PAGE))] == ["New"]


def test_two_feeds_may_announce_one_page_and_the_last_comes_first(store: Store) -> None:
    read_feed(store, NOW, listed(guid=7, title="Here"))
    read_feed(store, NOW + 5, listed(guid=7, title="There"), url="http://b.test/feed")
    told = store.urls.announcements(key_of(PAGE))
    assert [(one.feed, one.title) for one in told] == [("http://b.test/feed", "There"), (FEED, "Here")]


# ── budgets ──


@pytest.fixture
def with_budgets(opener: Opener) -> Iterator[Open]:
    stores: list[Store] = []

    def open_it(**limits: float) -> Store:
        stores.append(opener(Budgets(**limits)))
        acquire(stores[-1], "me", 0, NOW, 60, 60)
        return stores[-1]

    yield open_it
    for opened in stores:
        opened.close()


def test_sitemaps_over_budget_are_let_in_later_as_sitemaps(with_budgets: Open) -> None:
    store = with_budgets(host_day=2)
    sitemaps = [f"http://www.a.test/{n}.xml" for n in range(4)]
    read_robots(store, HOME, NOW, [link(url) for url in sitemaps])
    states = [(row_of(store, url).kind, row_of(store, url).state) for url in sitemaps]
    assert states == [(Kind.SITEMAP, State.WAITING)] * 2 + [(Kind.SITEMAP, State.PARKED)] * 2
    assert row_of(store, sitemaps[3]).reason is Reason.OVER_BUDGET
    due_at(store, next_day(NOW))
    assert [(row_of(store, url).kind, row_of(store, url).state) for url in sitemaps] == [
        (Kind.SITEMAP, State.WAITING)
    ] * 4
    assert leased(store, sitemaps[3], next_day(NOW)).kind is Kind.SITEMAP


def test_what_is_listed_over_budget_is_let_in_later_with_what_was_said_of_it(with_budgets: Open) -> None:
    store = with_budgets(host_day=3)
    entries = [listed(f"http://www.a.test/{n}", modified=NOW - n, interval=DAY) for n in range(4)]
    read_sitemap(store, NOW, *entries)
    last = row_of(store, entries[3].url)
    assert (last.state, last.reason, last.lastmod) == (State.PARKED, Reason.OVER_BUDGET, NOW - 3)
    assert entries[3].url in due_at(store, next_day(NOW))
    last = row_of(store, entries[3].url)
    assert (last.state, last.lister, last.lastmod, last.interval) == (State.WAITING, SITEMAP, NOW - 3, DAY)
