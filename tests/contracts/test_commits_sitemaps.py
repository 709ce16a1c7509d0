"""Sitemaps and feeds that sites name are added as lists, with the hosts that vouch for them."""

from __future__ import annotations

import pytest

from crawler.frontier.budgets import next_day
from crawler.frontier.priority import PriorityInputs, level_of
from crawler.items import Kind, Outcome, Page, Reason, Refusal, State
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import DAY, due_urls, fetch, fetch_refused, fetch_robots, lease_url, row_of
from tests.samples import NOW, link, new_url

FRONT_PAGE, SITEMAP, FEED, PAGE = (f"http://www.a.test/{path}" for path in ("", "sitemap.xml", "feed", "page"))
OTHER_SITEMAP = "http://cdn.b.test/index.xml"


# ── Lists that are named ──


def test_sitemaps_named_by_a_robots_txt_are_added_once(store: Store) -> None:
    store.urls.add([new_url(FRONT_PAGE)], NOW)
    first = fetch_robots(store, FRONT_PAGE, NOW, [link(SITEMAP), link(OTHER_SITEMAP)])
    assert (first.new_urls, set(first.hosts_with_new)) == (2, {key_of(SITEMAP).host, key_of(OTHER_SITEMAP).host})
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.reason, row.due) == (Kind.SITEMAP, State.WAITING, Reason.SITEMAP_FILE, NOW)
    assert (row.depth, row.level, row.via) == (0, 0, "http://www.a.test/robots.txt")
    before = row_of(store, SITEMAP), store.crawl.account()
    again = fetch_robots(store, FRONT_PAGE, NOW + DAY, [link(SITEMAP), link(OTHER_SITEMAP)])
    assert (again.new_urls, set(again.hosts_with_new)) == (0, set())
    assert (row_of(store, SITEMAP), store.crawl.account()) == before


def test_a_refused_sitemap_is_parked_with_the_reason(store: Store) -> None:
    fetch_robots(store, FRONT_PAGE, NOW, [link(SITEMAP, refused=Reason.EXCLUDED)])
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.reason, row.detail) == (Kind.SITEMAP, State.PARKED, Reason.EXCLUDED, "so")


def test_a_parked_sitemap_waits_when_it_is_no_longer_refused(store: Store) -> None:
    fetch_robots(store, FRONT_PAGE, NOW, [link(SITEMAP, refused=Reason.EXCLUDED)])
    assert SITEMAP not in due_urls(store, NOW)
    committed = fetch_robots(store, FRONT_PAGE, NOW + DAY, [link(SITEMAP)])
    row = row_of(store, SITEMAP)
    assert (row.state, row.reason, row.detail) == (State.WAITING, Reason.SITEMAP_FILE, "")
    assert set(committed.hosts_with_new) == {key_of(SITEMAP).host}
    assert SITEMAP in due_urls(store, NOW + DAY)


@pytest.mark.parametrize("reason", [None, Reason.FILE_TYPE, Reason.NOT_INCLUDED, Reason.OUT_OF_SCOPE])
def test_an_unvisited_page_that_is_named_as_a_sitemap_becomes_one_and_waits(
    reason: Reason | None, store: Store
) -> None:
    store.urls.add(
        [new_url(SITEMAP, reason=Reason.LINK, refused=Refusal(reason, "xml") if reason else None, depth=4)], NOW
    )
    committed = fetch_robots(store, FRONT_PAGE, NOW + 5, [link(SITEMAP)])
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.detail) == (Kind.SITEMAP, State.WAITING, "")
    assert row.reason is (Reason.SITEMAP_FILE if reason else Reason.LINK)
    assert set(committed.hosts_with_new) == {key_of(SITEMAP).host}
    assert SITEMAP in due_urls(store, NOW + 5)
    assert lease_url(store, SITEMAP, NOW + 5).kind is Kind.SITEMAP


def test_a_parked_page_that_is_refused_as_a_sitemap_stays_a_page(store: Store) -> None:
    store.urls.add([new_url(SITEMAP, reason=Reason.LINK, refused=Refusal(Reason.FILE_TYPE, "xml"))], NOW)
    fetch_robots(store, FRONT_PAGE, NOW, [link(SITEMAP, refused=Reason.EXCLUDED)])
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.reason) == (Kind.PAGE, State.PARKED, Reason.FILE_TYPE)


def test_a_fetched_page_that_is_named_as_a_list_stays_a_page(store: Store) -> None:
    """Any site may name any URL as a list, so that must not remove a page."""
    fetch(store, FRONT_PAGE, NOW)
    fetch_robots(store, "http://evil.test/", NOW, [link(FRONT_PAGE)])
    fetch(store, "http://evil.test/", NOW, page=Page(feeds=[link(FRONT_PAGE)]))
    assert row_of(store, FRONT_PAGE).kind is Kind.PAGE


def test_a_page_that_names_itself_as_its_feed_stays_a_page(store: Store) -> None:
    fetch(store, FRONT_PAGE, NOW, page=Page(feeds=[link(FRONT_PAGE)]))
    assert row_of(store, FRONT_PAGE).kind is Kind.PAGE


def test_another_site_cannot_turn_a_page_into_a_sitemap(store: Store) -> None:
    store.urls.add([new_url(PAGE, reason=Reason.LINK)], NOW)
    fetch_robots(store, "http://evil.test/", NOW, [link(PAGE)])
    assert row_of(store, PAGE).kind is Kind.PAGE


def test_the_number_of_sitemaps_of_a_host_is_limited(store: Store) -> None:
    urls = [f"http://www.a.test/{number}.xml" for number in range(5_003)]
    first = fetch_robots(store, FRONT_PAGE, NOW, [link(url) for url in urls[:5_000]])
    again = fetch_robots(store, FRONT_PAGE, NOW + DAY, [link(url) for url in urls[5_000:]] + [link(OTHER_SITEMAP)])
    assert (first.new_urls, again.new_urls) == (5_000, 1)


def test_known_sitemaps_do_not_count_again_towards_the_limit(store: Store) -> None:
    urls = [f"http://www.a.test/{number}.xml" for number in range(4_000)]
    first = fetch_robots(store, FRONT_PAGE, NOW, [link(url) for url in urls])
    again = fetch_robots(store, FRONT_PAGE, NOW + DAY, [link(url) for url in [*urls, SITEMAP]])
    assert (first.new_urls, again.new_urls) == (4_000, 1)


def test_a_seed_that_is_named_as_a_sitemap_stays_a_page(store: Store) -> None:
    store.urls.add_seeds([new_url(FRONT_PAGE)], NOW)
    fetch_robots(store, "http://evil.test/", NOW, [link(FRONT_PAGE)])
    assert row_of(store, FRONT_PAGE).kind is Kind.PAGE


def test_feeds_named_by_a_page_are_added(store: Store) -> None:
    store.urls.add([new_url(FRONT_PAGE, depth=2)], NOW)
    committed = fetch(
        store, FRONT_PAGE, NOW, page=Page(feeds=[link(FEED), link("http://b.test/feed", refused=Reason.OUT_OF_SCOPE)])
    )
    row = row_of(store, FEED)
    assert committed.new_urls == 2
    assert (row.kind, row.state, row.reason, row.via) == (Kind.FEED, State.WAITING, Reason.FEED_FILE, FRONT_PAGE)
    assert (row.depth, row.level) == (2, level_of(PriorityInputs(2)))
    assert row_of(store, "http://b.test/feed").state is State.PARKED


def test_sitemaps_over_budget_are_admitted_later_as_sitemaps(with_budgets: Opener) -> None:
    store = with_budgets(host_day=2)
    sitemaps = [f"http://www.a.test/{n}.xml" for n in range(4)]
    fetch_robots(store, FRONT_PAGE, NOW, [link(url) for url in sitemaps])
    states = [(row_of(store, url).kind, row_of(store, url).state) for url in sitemaps]
    assert states == [(Kind.SITEMAP, State.WAITING)] * 2 + [(Kind.SITEMAP, State.PARKED)] * 2
    assert row_of(store, sitemaps[3]).reason is Reason.OVER_BUDGET
    due_urls(store, next_day(NOW))
    assert [(row_of(store, url).kind, row_of(store, url).state) for url in sitemaps] == [
        (Kind.SITEMAP, State.WAITING)
    ] * 4
    assert lease_url(store, sitemaps[3], next_day(NOW)).kind is Kind.SITEMAP


# ── Lists by their content ──


def test_a_published_page_whose_content_becomes_a_feed_is_deleted(store: Store) -> None:
    fetch(store, FEED, NOW)
    fetch(store, FEED, NOW + 8 * DAY, page=Page(kind=Kind.FEED))
    assert list(store.changes.entries()) == [("upsert", FEED), ("delete", FEED)]


def test_a_feed_url_whose_content_is_no_list_is_visited_as_a_page(store: Store) -> None:
    store.urls.add([new_url(FEED, kind=Kind.FEED, reason=Reason.FEED_FILE)], NOW)
    fetch_refused(store, FEED, NOW, Reason.NOT_A_LIST, 200, page=Page(kind=Kind.PAGE))
    row = row_of(store, FEED)
    assert (row.kind, row.state, row.reason, row.due) == (Kind.PAGE, State.WAITING, Reason.LINK, NOW)
    fetch(store, FEED, NOW, page=Page(body_digest=b"a"))
    assert list(store.changes.entries()) == [("upsert", FEED)]


def test_a_sitemap_url_that_may_not_be_a_page_stays_a_missing_sitemap(store: Store) -> None:
    store.urls.add([new_url(SITEMAP, kind=Kind.SITEMAP, reason=Reason.SITEMAP_FILE)], NOW)
    fetch_refused(store, SITEMAP, NOW, Reason.NOT_A_LIST, 200, page=Page(kind=Kind.SITEMAP))
    row = row_of(store, SITEMAP)
    assert (row.kind, row.state, row.reason, row.missing) == (Kind.SITEMAP, State.WAITING, Reason.NOT_A_LIST, 1)


# ── Vouchers ──


def vouchers(store: Store, url: str, now: float) -> set[str]:
    (visit,) = [visit for visit in store.frontier.load(key_of(url).host, now, 100) if visit.url == url]
    return set(visit.vouchers)


def test_hosts_that_name_a_sitemap_of_another_host_vouch_for_it(store: Store) -> None:
    fetch_robots(store, FRONT_PAGE, NOW, [link(OTHER_SITEMAP), link(SITEMAP)])
    fetch_robots(store, "http://c.test/", NOW, [link(OTHER_SITEMAP)])
    assert vouchers(store, OTHER_SITEMAP, NOW) == {"www.a.test", "c.test"}
    assert vouchers(store, SITEMAP, NOW) == set()  # a sitemap of its own host needs none
    (load,) = [load for load in store.frontier.activate("me", NOW, 9, 9, ()) if load.name == "cdn.b.test"]
    assert set(load.visits[0].vouchers) == {"www.a.test", "c.test"}


def test_sitemaps_of_an_index_inherit_its_vouchers(store: Store) -> None:
    fetch_robots(store, FRONT_PAGE, NOW, [link(OTHER_SITEMAP)])
    own, other, deeper = "http://cdn.b.test/1.xml", "http://files.b.test/2.xml", "http://files.b.test/3.xml"
    fetch(store, OTHER_SITEMAP, NOW, page=Page(kind=Kind.SITEMAP, sitemaps=[link(own), link(other)]))
    assert vouchers(store, own, NOW) == {"www.a.test"}
    assert vouchers(store, other, NOW) == {"www.a.test"}  # hosts of one site need not vouch for each other
    assert (row_of(store, other).kind, row_of(store, other).depth) == (Kind.SITEMAP, 1)
    fetch(store, other, NOW, page=Page(kind=Kind.SITEMAP, sitemaps=[link(deeper)]))
    assert vouchers(store, deeper, NOW) == {"www.a.test"}
    assert row_of(store, deeper).depth == 2


def test_the_target_of_a_redirected_sitemap_inherits_its_vouchers(store: Store) -> None:
    fetch_robots(store, FRONT_PAGE, NOW, [link(OTHER_SITEMAP)])
    moved = "http://new.test/index.xml"
    facts = {"outcome": Outcome.REDIRECTED, "reason": Reason.REDIRECTED, "status": 301, "page": None}
    fetch(store, OTHER_SITEMAP, NOW, location=link(moved), **facts)
    assert row_of(store, moved).kind is Kind.SITEMAP
    assert vouchers(store, moved, NOW) == {"www.a.test", "cdn.b.test"}


def test_pages_have_no_vouchers(store: Store) -> None:
    store.urls.add([new_url(PAGE)], NOW)
    fetch_robots(store, "http://c.test/", NOW, [link(PAGE, refused=Reason.EXCLUDED)])
    assert vouchers(store, PAGE, NOW) == set()


def test_the_number_of_vouchers_of_a_sitemap_is_limited(store: Store) -> None:
    for number in range(30):
        fetch_robots(store, f"http://www.a{number}.test/", NOW, [link(OTHER_SITEMAP)])
    assert len(vouchers(store, OTHER_SITEMAP, NOW)) == 20
