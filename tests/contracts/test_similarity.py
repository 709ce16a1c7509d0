"""Near-duplicates are found by their sketches, and by comparing texts where sketches do not decide."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from crawler.duplicates.cascade import DuplicateRule
from crawler.items import Tier
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.similar_texts import (
    FAR,
    NEAR,
    ONE,
    RULE,
    UNDECIDED,
    A,
    B,
    C,
    edited,
    originals,
    similarity,
    text_page,
    uncommitted,
    words_of,
)
from tests.contracts.visits import DAY, POSITION, SEGMENT, fetch, lease_url
from tests.samples import NOW, acquire, answer, link, visit_result, visited

EDITED = [*ONE[:200], "another", *ONE[201:]]


# ── Near-duplicates ──


def test_the_sample_texts_have_the_similarities_they_stand_for() -> None:
    assert similarity(ONE, NEAR) > 0.95
    assert 0.89 < similarity(ONE, UNDECIDED) < 0.92
    assert similarity(ONE, FAR) < 0.65


def test_a_page_with_almost_the_same_words_is_a_near_duplicate(store: Store) -> None:
    first = fetch(store, A, NOW, page=text_page(ONE))
    second = fetch(store, B, NOW + 1, page=text_page(edited(ONE, 1)))
    other = fetch(store, C, NOW + 2, page=text_page(FAR))
    assert originals(store) == {A: None, B: A, C: None}
    assert [committed.near_duplicates for committed in (first, second, other)] == [0, 1, 0]
    (document,) = store.documents.versions(key_of(B))
    assert document.tier is Tier.SKETCH
    assert document.similarity == pytest.approx(similarity(ONE, edited(ONE, 1)), abs=0.05)


@pytest.mark.parametrize(
    ("facts", "tier"),
    [({}, Tier.BODY), ({"body_digest": b"another body, the same words"}, Tier.TEXT)],
)
def test_the_tier_of_an_exact_duplicate_is_stored(store: Store, facts: dict[str, Any], tier: Tier) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    committed = fetch(store, B, NOW + 1, page=text_page(ONE, **facts))
    (document,) = store.documents.versions(key_of(B))
    assert (document.tier, document.similarity) == (tier, 1.0)
    assert (committed.duplicates, committed.near_duplicates) == (1, 0)


def test_near_duplicates_within_one_batch_are_found(store: Store) -> None:
    batch = [uncommitted(store, A, ONE), uncommitted(store, B, edited(ONE, 1))]
    assert store.similarity.candidates(batch) == {}
    store.commits.commit(batch, [SEGMENT], NOW)
    assert originals(store) == {A: None, B: A}


def test_a_copy_of_a_near_duplicate_is_a_duplicate_of_the_original(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, B, NOW + 1, page=text_page(edited(ONE, 1)))
    fetch(store, C, NOW + 2, page=text_page(edited(ONE, 1)))
    assert originals(store) == {A: None, B: A, C: A}


def test_short_pages_are_no_near_duplicates(store: Store) -> None:
    short = words_of(2, RULE.fewest_words - 1)
    assert text_page(short).sketch == b""
    fetch(store, A, NOW, page=text_page(short))
    fetch(store, B, NOW + 1, page=text_page(edited(short, 1)))
    fetch(store, C, NOW + 2, page=text_page(short))
    assert originals(store) == {A: None, B: None, C: A}


@pytest.mark.parametrize(("follows", "known"), [(True, True), (False, False)])
def test_links_of_near_duplicates_are_added_if_the_rule_says_so(
    open_as_worker: Opener, follows: bool, known: bool
) -> None:
    store = open_as_worker(duplicates=DuplicateRule(links=follows))
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, B, NOW + 1, page=text_page(edited(ONE, 1), links=(link("http://new.test/"),), links_digest=5))
    assert (store.urls.find(key_of("http://new.test/")) is not None) == known


# ── Candidates for comparison ──


def candidate_urls(store: Store, *batch: VisitResult) -> dict[str, list[str]]:
    """URL → URLs with which it must be compared."""
    found = store.similarity.candidates(batch)
    urls = {each.visited.visit.key: each.visited.visit.url for each in batch}
    return {urls[key]: [candidate.document.url for candidate in candidates] for key, candidates in found.items()}


def test_pages_whose_sketches_do_not_decide_are_candidates_for_comparison(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    near, far, undecided = (
        uncommitted(store, url, words) for url, words in ((B, edited(ONE, 1)), (C, FAR), ("http://d.test/", UNDECIDED))
    )
    assert candidate_urls(store, near, far, undecided) == {"http://d.test/": [A]}


@pytest.mark.parametrize(("share", "original"), [(0.91, A), (0.89, None)])
def test_the_similarity_of_compared_texts_decides(store: Store, share: float, original: str | None) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    undecided = uncommitted(store, B, UNDECIDED)
    ((candidate,),) = store.similarity.candidates([undecided]).values()
    compared = replace(undecided, compared={candidate.id: share}, comparisons=1)
    assert store.similarity.candidates([compared]) == {}
    store.commits.commit([compared], [SEGMENT], NOW)
    assert originals(store) == {A: None, B: original}
    (document,) = store.documents.versions(key_of(B))
    assert (document.similarity, document.tier) == ((share, Tier.COMPARED) if original else (None, None))


def test_after_two_comparisons_the_sketch_decides(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    undecided = uncommitted(store, B, UNDECIDED, comparisons=2)
    assert store.similarity.candidates([undecided]) == {}


def test_a_page_that_must_be_compared_with_one_of_its_batch_waits_for_it(store: Store) -> None:
    first, second = uncommitted(store, A, ONE), uncommitted(store, B, UNDECIDED)
    assert candidate_urls(store, first, second) == {B: []}
    store.commits.commit([first], [SEGMENT], NOW)
    assert candidate_urls(store, replace(second, comparisons=1)) == {B: [A]}


def test_an_exact_copy_has_no_candidates(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, B, NOW + 1, page=text_page(FAR))
    assert candidate_urls(store, uncommitted(store, C, ONE)) == {}


def test_a_commit_finds_originals_committed_since_the_candidates_were_read(opener: Opener, store: Store) -> None:
    late = uncommitted(store, B, edited(ONE, 1))
    assert store.similarity.candidates([late]) == {}
    other = opener()
    fetch(other, A, NOW, page=text_page(ONE))
    other.close()
    store.commits.commit([late], [SEGMENT], NOW + 2)
    assert originals(store) == {A: None, B: A}


def test_an_undecided_page_that_is_fetched_again_is_compared_again(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    undecided = uncommitted(store, B, UNDECIDED)
    ((candidate,),) = store.similarity.candidates([undecided]).values()
    store.commits.commit([replace(undecided, compared={candidate.id: 0.89}, comparisons=1)], [SEGMENT], NOW + 1)
    visit = lease_url(store, B, NOW + 9 * DAY)
    again = visit_result(visited(visit, fetched=answer(visit.url), page=text_page(UNDECIDED)), position=POSITION)
    assert candidate_urls(store, again) == {B: [A]}


# ── The index ──


def test_with_threshold_0_only_exact_copies_are_duplicates(open_as_worker: Opener) -> None:
    store = open_as_worker(duplicates=DuplicateRule(threshold=0))
    fetch(store, A, NOW, page=replace(text_page(ONE), sketch=b""))
    fetch(store, B, NOW + 1, page=replace(text_page(edited(ONE, 1)), sketch=b""))
    fetch(store, C, NOW + 2, page=replace(text_page(ONE), sketch=b""))
    assert originals(store) == {A: None, B: None, C: A}
    store.close()


def test_a_page_that_is_not_to_be_compared_is_no_near_duplicate_and_has_none(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE), is_compared=False)
    assert store.similarity.count_sketches() == 0
    fetch(store, B, NOW + 1, page=text_page(ONE))
    fetch(store, C, NOW + 2, page=text_page(edited(ONE, 1)), is_compared=False)
    assert originals(store) == {A: None, B: A, C: None}


def test_another_threshold_finds_more_duplicates_once_the_index_is_rebuilt(opener: Opener) -> None:
    store = opener()
    acquire(store, "me", 0, NOW, 1e9, 60)
    fetch(store, A, NOW, page=text_page(ONE))
    store.close()
    store = opener(duplicates=DuplicateRule(threshold=0.6))
    assert store.similarity.rebuild_index() == 1
    fetch(store, B, NOW + 1, page=text_page(edited(ONE, 12)))
    assert originals(store) == {A: None, B: A}
    store.similarity.forget_sketches()
    fetch(store, C, NOW + 2, page=text_page(edited(ONE, 12, seed=2)))
    assert originals(store) == {A: None, B: A, C: None}
    store.close()


def test_near_duplicates_are_found_again_after_a_run_with_threshold_0(opener: Opener) -> None:
    for threshold, url, words in ((0.9, A, ONE), (0, C, words_of(3)), (0.9, B, edited(ONE, 1))):
        store = opener(duplicates=DuplicateRule(threshold=threshold))
        acquire(store, "me", 0, NOW, 1e9, 60)
        if threshold and url == B:
            store.similarity.rebuild_index()
        fetch(store, url, NOW + 1, page=text_page(words) if threshold else replace(text_page(words), sketch=b""))
        store.close()
    store = opener()
    assert originals(store) == {A: None, C: None, B: A}
    store.close()


# ── Reading sketches ──


def sketches_of(store: Store) -> dict[str, bytes]:
    """URL → sketch; each is also found by its number."""
    found = {}
    for number, document, sketch in (row for block in store.similarity.sketches() for row in block):
        row = store.documents.find(document)
        assert row is not None
        sketched = store.similarity.find_sketched(number)
        assert sketched is not None
        assert (sketched.id, sketched.document) == (number, row)
        found[row.url] = sketch
    return found


def test_originals_and_duplicates_have_sketches(store: Store) -> None:
    pages = {A: text_page(ONE), B: text_page(EDITED), C: text_page(words_of(3))}
    for url, page in pages.items():
        fetch(store, url, NOW, page=page)
    assert sketches_of(store) == {url: page.sketch for url, page in pages.items()}
    assert store.similarity.count_sketches() == 3


def test_a_page_that_is_or_becomes_too_short_has_no_sketch(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, B, NOW, page=text_page(words_of(2, 10)))
    assert set(sketches_of(store)) == {A}
    ((number, _, _),) = next(iter(store.similarity.sketches()))
    fetch(store, A, NOW + 10 * DAY, page=text_page(words_of(2, 10)))
    assert list(store.similarity.sketches()) == []
    assert store.similarity.find_sketched(number) is None


def test_sketches_can_be_read_while_a_crawl_writes(store: Store, opener: Opener) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    reader = opener(read_only=True)
    reading = reader.similarity.sketches()
    assert len(next(reading)) == 1
    fetch(store, B, NOW, page=text_page(words_of(3)))
    assert [len(block) for block in reading] == [1]  # the page committed meanwhile, by its higher number
    reader.close()
