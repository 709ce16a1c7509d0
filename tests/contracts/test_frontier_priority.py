"""In-links, hints, changes and urgent seeds decide the order of URLs and hosts."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from crawler.errors import Misconfigured
from crawler.frontier.priority import Order, PriorityInputs, level_of
from crawler.items import Page, Reason
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import POSITION, SEGMENT, fetch, row_of
from tests.samples import NOW, acquire, answer, link, new_url, visit_result, visit_to, visited

TARGET = "http://target.test/page"


def fetch_with_links(store: Store, url: str, *links: str, **page: Any) -> None:
    """Visit a URL that links to others."""
    store.urls.add([new_url(url)], NOW)
    (visit,) = store.frontier.lease("me", [visit_to(url)], NOW).granted
    found = [link(target, "words") for target in links]
    store.commits.commit([visit_result(visited(visit, page=Page(links=found, **page), fetched=answer(url)))], [], NOW)


def test_in_links_from_other_sites_make_a_url_more_important(store: Store) -> None:
    levels = []
    for number in range(7):
        fetch_with_links(store, f"http://s{number}.test/", TARGET)
        levels.append(row_of(store, TARGET).level)
    assert row_of(store, TARGET).inlinks == 7
    assert levels == [level_of(PriorityInputs(1, inlinks)) for inlinks in range(1, 8)] == [2, 2, 1, 1, 1, 1, 0]


def test_links_within_a_site_are_no_in_links(store: Store) -> None:
    for host in ("www.target.test", "blog.target.test", "target.test"):
        fetch_with_links(store, f"http://{host}/", TARGET)
    assert (row_of(store, TARGET).inlinks, row_of(store, TARGET).level) == (0, level_of(PriorityInputs(1)))


def test_a_site_counts_as_one_in_link_whatever_its_hosts_pages_and_anchors(store: Store, opener: Opener) -> None:
    fetch_with_links(store, "http://a.farm.test/", TARGET)
    fetch_with_links(store, "http://b.farm.test/", TARGET, TARGET)
    again = opener()  # with empty caches
    acquire(again, "me", 0, NOW, 60, 60)
    fetch_with_links(again, "http://c.farm.test/other", TARGET)
    again.close()
    assert row_of(store, TARGET).inlinks == 1


def test_links_without_anchor_text_are_in_links(store: Store) -> None:
    store.urls.add([new_url("http://a.test/")], NOW)
    (visit,) = store.frontier.lease("me", [visit_to("http://a.test/")], NOW).granted
    store.commits.commit([visit_result(visited(visit, link(TARGET)))], [], NOW)
    fetch_with_links(store, "http://b.test/", TARGET)
    assert row_of(store, TARGET).inlinks == 2
    assert store.documents.anchors(key_of(TARGET)) == [("b.test", "words")]


def test_a_host_is_activated_by_its_most_important_url(store: Store) -> None:
    for number in range(3):
        fetch_with_links(store, f"http://s{number}.test/", TARGET)
        fetch_with_links(store, f"http://s{number}.test/more", f"http://other{number}.test/")
    names = [load.name for load in store.frontier.activate("me", NOW, 9, 9, ())]
    assert names[0] == "target.test"


@pytest.mark.parametrize(("hint", "level"), [(None, 0), (0.5, 0), (0.0, 2), (0.25, 1), (1.0, 0)])
def test_a_hint_changes_the_level_of_a_url(hint: float | None, level: int, store: Store) -> None:
    store.urls.add([new_url(TARGET, hint=hint)], NOW)
    assert (row_of(store, TARGET).hint, row_of(store, TARGET).level) == (hint, level)


@pytest.mark.parametrize(
    ("bodies", "changes", "step"), [("aaaaa", 0, 1), ("ab", 1, -1), ("abbbb", 1, 0), ("abcde", 4, -1)]
)
def test_a_page_that_changes_often_is_more_important_than_one_that_never_does(
    bodies: str, changes: int, step: int, store: Store
) -> None:
    store.urls.add([new_url(TARGET, depth=2, reason=Reason.LINK)], NOW)
    for day, body in enumerate(bodies):
        now = NOW + day * 8 * 86_400
        (visit,) = store.frontier.lease("me", [visit_to(TARGET, depth=2)], now).granted
        result = visited(visit, page=Page(body_digest=body.encode()), fetched=answer(TARGET, ended=now))
        store.commits.commit([replace(visit_result(result), position=POSITION)], [SEGMENT], now)
    row = row_of(store, TARGET)
    assert (row.visits, row.changes) == (len(bodies), changes)
    assert row.level == level_of(PriorityInputs(2)) + step


def test_active_hosts_with_urgent_urls_are_returned_once(store: Store) -> None:
    store.urls.add([new_url("http://a.test/1"), new_url("http://b.test/1")], NOW)
    active = {load.host for load in store.frontier.activate("me", NOW, 9, 9, ())}
    assert store.frontier.urgent(active, NOW) == []
    store.urls.add_seeds([new_url("http://a.test/news")], NOW, urgent=True)
    assert store.frontier.urgent({key_of("http://b.test/").host}, NOW) == []
    assert store.frontier.urgent(active, NOW) == [key_of("http://a.test/").host]
    assert store.frontier.urgent(active, NOW) == []
    assert store.frontier.load(key_of("http://a.test/").host, NOW, 1)[0].url == "http://a.test/news"


def test_a_host_that_was_activated_for_its_urgent_url_is_not_returned_as_urgent(store: Store) -> None:
    store.urls.add_seeds([new_url("http://a.test/news")], NOW, urgent=True)
    active = {load.host for load in store.frontier.activate("me", NOW, 9, 9, ())}
    assert store.frontier.urgent(active, NOW) == []


def test_a_url_that_became_more_important_while_leased_is_not_lost_when_the_lease_is_returned(
    store: Store,
) -> None:
    fetch_with_links(store, "http://s0.test/", TARGET)
    (visit,) = [visit for load in store.frontier.activate("me", NOW, 9, 9, ()) for visit in load.visits]
    assert store.frontier.lease("me", [visit], NOW).granted == [visit]
    for number in (1, 2):
        fetch_with_links(store, f"http://s{number}.test/", TARGET)
    assert row_of(store, TARGET).level < visit.level
    store.frontier.unlease([visit], NOW)
    assert [visit.url for load in store.frontier.activate("me", NOW, 9, 9, ()) for visit in load.visits] == [TARGET]


def test_an_urgent_url_of_a_host_that_was_held_before_is_returned(store: Store) -> None:
    store.urls.add([new_url("http://a.test/1")], NOW)
    store.frontier.hold([(key_of("http://a.test/").host, NOW + 10)])
    active = {load.host for load in store.frontier.activate("me", NOW + 20, 9, 9, ())}
    store.urls.add_seeds([new_url("http://a.test/news")], NOW + 20, urgent=True)
    assert store.frontier.urgent(active, NOW + 20) == [key_of("http://a.test/").host]


# ── ORDER=fifo ──


def test_a_fifo_crawl_has_one_level_and_keeps_the_order_found(opener: Opener) -> None:
    store = opener(order=Order.FIFO)
    acquire(store, "me", 0, NOW, 1e9, 60)
    first = [f"http://target.test/{name}" for name in "zyx"]
    store.urls.add([new_url(url, depth=depth, reason=Reason.LINK) for depth, url in enumerate(first, 3)], NOW)
    for number in range(5):  # all in one second
        page = Page(links=[link(TARGET, "words"), link(f"http://target.test/{number}")])
        fetch(store, f"http://s{number}.test/", NOW + (number + 1) / 10, page=page)
    store.urls.add([new_url("http://target.test/hinted", hint=1.0, reason=Reason.LINK)], NOW + 0.9)
    host = key_of(TARGET).host
    found = [*first, TARGET, *(f"http://target.test/{number}" for number in range(5)), "http://target.test/hinted"]
    visits = store.frontier.load(host, NOW + 1, 100)
    assert [visit.url for visit in visits] == found
    assert {visit.level for visit in visits} == {0}
    assert row_of(store, TARGET).inlinks == 5
    store.urls.add_seeds([new_url(first[2])], NOW + 1, urgent=True)
    assert store.frontier.load(host, NOW + 2, 1)[0].url == first[2]
    store.close()


def test_hosts_of_a_fifo_crawl_come_in_the_order_of_their_first_url(opener: Opener) -> None:
    store = opener(order=Order.FIFO)
    acquire(store, "me", 0, NOW, 1e9, 60)
    for number, depth in enumerate((5, 0, 3)):
        url = f"http://h{number}.test/"
        store.urls.add([new_url(url, depth=depth, reason=Reason.LINK)], NOW + number)
    loads = store.frontier.activate("me", NOW + 9, 10, 10, ())
    assert [load.name for load in loads] == ["h0.test", "h1.test", "h2.test"]
    store.close()


def test_the_order_is_fixed_when_a_crawl_gets_its_first_url(opener: Opener) -> None:
    opener(order=Order.FIFO).close()
    store = opener()  # another process that does not say
    store.urls.add([new_url(TARGET, depth=4, reason=Reason.LINK)], NOW)
    assert row_of(store, TARGET).level == 0
    store.close()
    with pytest.raises(Misconfigured, match="ORDER=priority: this crawl was created with ORDER=fifo"):
        opener(order=Order.PRIORITY)
    opener(order=Order.FIFO).close()


def test_a_crawl_that_says_nothing_of_its_order_has_priorities(opener: Opener) -> None:
    store = opener()
    store.urls.add([new_url(TARGET, depth=4, reason=Reason.LINK)], NOW)
    store.close()
    opener(order=Order.PRIORITY).close()
    with pytest.raises(Misconfigured, match="ORDER=fifo"):
        opener(order=Order.FIFO)
