"""Of documents that are duplicates one is the original, also after pages have changed or gone."""

from __future__ import annotations

from msgspec.structs import replace

from crawler.items import ChangeEvent, Outcome, Page, Reason, Tier
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.similar_texts import (
    A_PRINT,
    NEAR,
    ONE,
    UNDECIDED,
    A,
    B,
    C,
    edited,
    originals,
    text_page,
    uncommitted,
    words_of,
)
from tests.contracts.visits import DAY, SEGMENT, fetch, fetch_refused
from tests.samples import NOW


def published_since(store: Store, version: int) -> list[tuple[str, str | None]]:
    return [(row.url, row.duplicate_of) for row in store.changes.published(version)]


def assert_copies_have_originals(store: Store) -> None:
    """No page is a copy of itself, of another copy, or of a page that is not published."""
    published = originals(store)
    for url, original in published.items():
        assert original != url
        assert original is None or published.get(original, "gone") is None


# ── Originals ──


def test_a_better_url_becomes_the_original(store: Store) -> None:
    fetch(store, A_PRINT, NOW, page=text_page(ONE))
    fetch(store, B, NOW + 1, page=text_page(edited(ONE, 1)))
    seen = store.changes.version()
    fetch(store, A, NOW + 2, page=text_page(edited(ONE, 1, seed=2)))
    assert originals(store) == {A_PRINT: A, B: A, A: None}
    assert dict(published_since(store, seen)) == {A_PRINT: A, B: A, A: None}
    fetch(store, C, NOW + 3, page=text_page(edited(ONE, 1, seed=3)))
    assert originals(store)[C] == A


def test_the_canonical_url_of_a_page_becomes_the_original(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE, metadata={"canonical": B}))
    fetch(store, B, NOW + 1, page=text_page(edited(ONE, 1)))
    assert originals(store) == {A: B, B: None}


def test_between_hosts_the_first_page_stays_the_original(store: Store) -> None:
    fetch(store, B, NOW, page=text_page(ONE))
    fetch(store, "https://z.test/", NOW + 1, page=text_page(ONE))
    assert originals(store) == {B: None, "https://z.test/": B}


def test_when_an_original_is_gone_its_copies_get_another_original(store: Store) -> None:
    for number, url in enumerate((A, B, C)):
        fetch(store, url, NOW + number, page=text_page(edited(ONE, 1 if number else 0, seed=number)))
    seen = store.changes.version()
    fetch_refused(store, A, NOW + 9 * DAY, Reason.GONE, 410)
    assert originals(store) == {B: None, C: B}
    assert published_since(store, seen) == [(A, None), (B, None), (C, B)]
    fetch(store, "http://d.test/", NOW + 20 * DAY, page=text_page(ONE))
    assert originals(store) == {B: None, C: B, "http://d.test/": B}
    assert store.documents.duplicates(key_of(B)) == [C, "http://d.test/"]
    assert store.documents.duplicates(key_of(C)) == []


def test_an_original_that_is_missing_once_stays_the_original(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, B, NOW + 1, page=text_page(edited(ONE, 1)))
    fetch_refused(store, A, NOW + 9 * DAY, Reason.NOT_FOUND, 404)
    assert originals(store) == {A: None, B: A}


def test_when_an_original_changes_its_copies_get_another_original(store: Store) -> None:
    for number, url in enumerate((A, B, C)):
        fetch(store, url, NOW + number, page=text_page(ONE))
    fetch(store, A, NOW + 9 * DAY, page=text_page(words_of(7)))
    assert originals(store) == {A: None, B: None, C: B}
    assert store.documents.versions(key_of(C))[0].tier is Tier.BODY
    fetch(store, "http://e.test/", NOW + 10 * DAY, page=text_page(edited(words_of(7), 1)))
    assert originals(store)["http://e.test/"] == A


def test_an_original_that_is_fetched_again_almost_unchanged_stays_the_original(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, B, NOW + 1, page=text_page(edited(ONE, 1)))
    seen = store.changes.version()
    fetch(store, A, NOW + 9 * DAY, page=text_page(ONE))
    assert published_since(store, seen) == [(A, None)]
    fetch(store, A, NOW + 18 * DAY, page=text_page(edited(ONE, 1, seed=5)))
    assert originals(store) == {A: None, B: A}


def test_a_copy_that_changes_is_no_longer_a_copy(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, B, NOW + 1, page=text_page(edited(ONE, 1)))
    fetch(store, B, NOW + 9 * DAY, page=text_page(words_of(8)))
    fetch(store, C, NOW + 10 * DAY, page=text_page(edited(words_of(8), 1)))
    assert originals(store) == {A: None, B: None, C: B}


def test_copies_that_are_similar_only_to_the_old_original_stay_consistent(store: Store) -> None:
    for seed in range(30):
        urls = [f"http://s{seed}.test/{name}" for name in ("o?x=1", "c?y=2", "n")]
        own = words_of(1_000 + seed)
        for number, words in enumerate((own, edited(own, 3, seed=1), edited(own, 4, seed=2))):
            fetch(store, urls[number], NOW + number, page=text_page(words))
    assert_copies_have_originals(store)


def test_an_original_that_becomes_a_copy_takes_its_copies_along(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, C, NOW + 1, page=text_page(edited(ONE, 1)))
    undecided = uncommitted(store, B, UNDECIDED)
    ((candidate,),) = store.similarity.candidates([undecided]).values()
    store.commits.commit([replace(undecided, compared={candidate.id: 0.89}, comparisons=1)], [SEGMENT], NOW + 2)
    assert originals(store) == {A: None, C: A, B: None}
    fetch(store, A, NOW + 9 * DAY, page=text_page(UNDECIDED))  # the text of B
    assert_copies_have_originals(store)
    assert originals(store)[A] == B


def test_a_page_that_is_gone_is_no_original(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, A, NOW + 9 * DAY, page=None, outcome=Outcome.DENIED, reason=Reason.ROBOTS_DENIED)
    fetch(store, B, NOW + 10 * DAY, page=text_page(ONE))
    fetch(store, C, NOW + 11 * DAY, page=text_page(edited(ONE, 1)))
    assert originals(store) == {B: None, C: B}


def test_an_original_that_was_fetched_again_gives_way_to_a_better_url(store: Store) -> None:
    fetch(store, A_PRINT, NOW, page=text_page(ONE))
    fetch(store, B, NOW + 1, page=text_page(ONE))
    fetch(store, A_PRINT, NOW + 9 * DAY, page=text_page(ONE, body_digest=b"other bytes"))
    fetch(store, A, NOW + 10 * DAY, page=text_page(ONE))
    assert originals(store) == {A_PRINT: A, B: A, A: None}
    assert [document.duplicate_of is None for document in store.documents.versions(key_of(A_PRINT))] == [False, True]


def test_a_url_that_is_only_earlier_in_the_alphabet_does_not_replace_the_original(store: Store) -> None:
    """Else each page of a series would change the original of all pages before it, and the change feed would explode."""
    urls = [f"http://a.test/calendar/{number:03}" for number in range(60, 0, -1)]
    for number, url in enumerate(urls):
        fetch(store, url, NOW + number, page=text_page(edited(ONE, 1, seed=number)))
    assert originals(store) == dict.fromkeys(urls, urls[0]) | {urls[0]: None}
    assert len(list(store.changes.entries())) == 60


def test_two_pages_that_name_each_other_as_canonical_do_not_alternate(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE, metadata={"canonical": B}))
    for day in range(1, 4):
        fetch(store, B, NOW + 9 * day * DAY, page=text_page(ONE, metadata={"canonical": A}))
        assert originals(store) == {A: None, B: A}


# ── Main texts by another method ──


def test_a_better_method_changes_no_original_and_publishes_no_page_anew(store: Store) -> None:
    for number, url in enumerate((A, B, C)):  # by the method before, the same text in different bodies
        fetch(store, url, NOW + number, page=text_page(ONE, body_digest=bytes([number]), extractor="old 1"))
    before, seen = originals(store), store.changes.version()
    assert before == {A: None, B: A, C: A}
    for days in (9, 18, 27):
        for number, url in enumerate((A, B, C)):  # by the new one, each has another text
            page = text_page(words_of(20 + number), body_digest=bytes([number]), extractor="new 1")
            fetch(store, url, NOW + days * DAY + number, page=page)
    assert originals(store) == before
    assert [change for change, _ in store.changes.entries()][seen:] == [ChangeEvent.META] * 9


def test_pages_do_not_become_copies_by_another_method_until_they_change(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE, body_digest=b"1", extractor="old 1"))
    fetch(store, B, NOW + 1, page=text_page(words_of(2), body_digest=b"2", extractor="old 1"))
    for days in (9, 18):
        fetch(store, B, NOW + days * DAY, page=text_page(ONE, body_digest=b"2", extractor="new 1"))
        assert originals(store) == {A: None, B: None}
    fetch(store, B, NOW + 27 * DAY, page=text_page(ONE, body_digest=b"3", extractor="new 1"))
    assert originals(store) == {A: None, B: A}


def test_copies_of_an_original_that_changed_are_judged_by_their_sketches(store: Store) -> None:
    for number, url in enumerate((A, B)):
        fetch(store, url, NOW + number, page=text_page(ONE, body_digest=bytes([number + 1]), extractor="old 1"))
    fetch(store, A, NOW + 9 * DAY, page=text_page(NEAR, body_digest=b"9", extractor="new 1"))
    assert originals(store) == {A: None, B: A}
    fetch(store, A, NOW + 18 * DAY, page=text_page(words_of(6), body_digest=b"7", extractor="newer 1"))
    assert originals(store) == {A: None, B: None}


def test_a_page_that_was_deleted_is_judged_anew_when_it_is_back(store: Store) -> None:
    fetch(store, A_PRINT, NOW, page=text_page(ONE, body_digest=b"1"))
    fetch(store, B, NOW + 1, page=text_page(ONE, body_digest=b"2"))
    assert originals(store) == {A_PRINT: None, B: A_PRINT}
    fetch(store, B, NOW + 9 * DAY, page=text_page(ONE, body_digest=b"2"), reason=Reason.NOINDEX)
    assert originals(store) == {A_PRINT: None}
    fetch(store, A, NOW + 10 * DAY, page=text_page(ONE, body_digest=b"1"))  # a better URL than A_PRINT
    fetch(store, A, NOW + 19 * DAY, page=text_page(words_of(7), body_digest=b"3"))
    fetch(store, B, NOW + 400 * DAY, page=text_page(ONE, body_digest=b"2"))
    assert_copies_have_originals(store)
    assert originals(store)[B] == A_PRINT


# ── Digests ──


def urls_of(store: Store, like: Page, most: int = 10) -> list[str]:
    return [document.url for document in store.documents.with_digests(like.body_digest, like.text_digest, most)]


def test_exact_copies_are_found_by_body_and_by_text(store: Store) -> None:
    short = text_page(words_of(2, 30))
    fetch(store, A, NOW, page=short)
    fetch(store, B, NOW, page=text_page(words_of(2, 30), body_digest=b"other bytes, the same words"))
    fetch(store, C, NOW, page=text_page(words_of(3, 30)))
    assert urls_of(store, short) == [A, B]
    assert urls_of(store, short, most=1) == [A]
    assert store.documents.with_digests(b"", b"", 10) == []


def test_only_current_pages_are_found_by_digest(store: Store) -> None:
    page = text_page(ONE)
    for url in (A, B, C):
        fetch(store, url, NOW, page=page)
    fetch(store, A, NOW + 10 * DAY, page=text_page(words_of(3)))
    fetch_refused(store, B, NOW + 10 * DAY, Reason.GONE, 410)
    assert urls_of(store, page) == [C]
