"""What is a duplicate of what: by bytes, by words, by almost the same words; and what if an original goes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.page_sketch import page_shingles, page_sketch
from crawler.duplicates.template import find_template, pack_template, template_fingerprint
from crawler.items import Outcome, Reason, Tier
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.similarity import TemplateResult
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.similar_texts import (
    A_PRINT,
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
from tests.contracts.visits import DAY, POSITION, SEGMENT, fetch, fetch_refused, lease_url
from tests.samples import NOW, acquire, answer, link, visit_result, visited


def published_since(store: Store, version: int) -> list[tuple[str, str | None]]:
    return [(row.url, row.duplicate_of) for row in store.changes.published(version)]


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


# ── doubts ──


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


# ── originals that change ──


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


# ── links ──


@pytest.mark.parametrize(("follows", "known"), [(True, True), (False, False)])
def test_links_of_near_duplicates_are_added_if_the_rule_says_so(opener: Opener, follows: bool, known: bool) -> None:
    store = opener(duplicates=DuplicateRule(links=follows))
    acquire(store, "me", 0, NOW, 1e9, 60)
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, B, NOW + 1, page=text_page(edited(ONE, 1), links=(link("http://new.test/"),), links_digest=5))
    assert (store.urls.find(key_of("http://new.test/")) is not None) == known
    store.close()


def test_with_threshold_0_only_exact_copies_are_duplicates(opener: Opener) -> None:
    store = opener(duplicates=DuplicateRule(threshold=0))
    acquire(store, "me", 0, NOW, 1e9, 60)
    fetch(store, A, NOW, page=replace(text_page(ONE), sketch=b""))
    fetch(store, B, NOW + 1, page=replace(text_page(edited(ONE, 1)), sketch=b""))
    fetch(store, C, NOW + 2, page=replace(text_page(ONE), sketch=b""))
    assert originals(store) == {A: None, B: None, C: A}
    store.close()


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


# ── templates ──

TEMPLATE_WORDS = words_of(99, 700)


def words_with_template(seed: int, own: int = 60) -> list[str]:
    """A page in the dress of its site."""
    return [*TEMPLATE_WORDS[:350], *words_of(seed, own), *TEMPLATE_WORDS[350:]]


def shop_url(number: int) -> str:
    return f"http://shop.test/{number}"


def run_template_jobs(store: Store, host: int, texts: Mapping[str, list[str]]) -> int:
    """Learn all there is of a host, as a content process would; in how many lessons."""
    count = 0
    while (job := store.similarity.next_template_job(host)) is not None:
        count += 1
        pages = {number: " ".join(texts[document.url]) for number, document in job.pages}
        template = job.template
        if template is None:
            template = pack_template(find_template([page_shingles(text, b"", RULE) for text in pages.values()]))
        sketches = {number: (document.id, page_sketch(pages[number], template, RULE)) for number, document in job.pages}
        undecided = store.similarity.store_template(
            TemplateResult(host=host, template=template, mark=template_fingerprint(template), sketches=sketches), NOW
        )
        for page in undecided:
            own = shingles_without(texts[page.document.url], page.template)
            compared = {
                candidate.id: jaccard(own, shingles_without(texts[candidate.document.url], candidate.template))
                for candidate in page.candidates
            }
            store.similarity.decide(page, compared, NOW)
    return count


def shingles_without(words: list[str], template: bytes) -> Any:
    return page_shingles(" ".join(words), template, RULE)


def test_pages_with_one_template_are_no_duplicates_once_it_is_known(store: Store) -> None:
    texts = {shop_url(number): words_with_template(number, own=36) for number in range(8)}
    assert similarity(*list(texts.values())[:2]) > RULE.threshold - RULE.margin
    hosts: set[int] = set()
    for number, (url, words) in enumerate(texts.items()):
        hosts |= set(fetch(store, url, NOW + number, page=text_page(words)).template_hosts)
    host = key_of(shop_url(0)).host
    assert hosts == set(store.similarity.template_hosts("me")) == {host}
    run_template_jobs(store, host, texts)
    assert set(originals(store).values()) == {None}
    assert store.similarity.template_hosts("me") == []


def test_copies_are_found_among_pages_with_one_template(store: Store) -> None:
    texts = {shop_url(number): words_with_template(number, own=120) for number in range(20)}
    texts |= {f"http://shop.test/copy/{number}": edited(words_with_template(number, own=120), 1) for number in range(5)}
    host = key_of(shop_url(0)).host
    for number, (url, words) in enumerate(texts.items()):
        template = store.frontier.load_host("me", host, "shop.test", NOW, 0)
        committed = fetch(store, url, NOW + number, page=text_page(words, template.template if template else b""))
        if committed.template_hosts:
            run_template_jobs(store, host, texts)
    assert {url: original for url, original in originals(store).items() if original} == {
        f"http://shop.test/copy/{number}": shop_url(number) for number in range(5)
    }


def test_pages_that_were_in_flight_when_the_template_was_found_are_sketched_again(store: Store) -> None:
    texts = {shop_url(number): words_with_template(number) for number in range(9)}
    host = key_of(shop_url(0)).host
    for number in range(8):
        fetch(store, shop_url(number), NOW + number, page=text_page(texts[shop_url(number)]))
    assert run_template_jobs(store, host, texts) == 1
    late = fetch(store, shop_url(8), NOW + 8, page=text_page(texts[shop_url(8)]))
    assert set(late.template_hosts) == {host}
    assert run_template_jobs(store, host, texts) == 1
    assert store.similarity.template_hosts("me") == []


def test_an_undecided_page_is_in_the_next_template_job_until_it_is_decided(store: Store) -> None:
    """Pages whose own words are in doubt, once those of their site are known."""
    own = words_of(50, 400)
    texts = {shop_url(number): words_with_template(number, own=400) for number in range(8)}
    texts[B], texts[shop_url(7)] = own, [*TEMPLATE_WORDS[:350], *edited(own, 3), *TEMPLATE_WORDS[350:]]
    for number, (url, words) in enumerate(texts.items()):
        fetch(store, url, NOW + number, page=text_page(words))
    host = key_of(shop_url(0)).host
    job = store.similarity.next_template_job(host)
    assert job is not None
    template = pack_template(
        find_template([page_shingles(" ".join(texts[page.url]), b"", RULE) for _, page in job.pages])
    )
    sketches = {number: (page.id, page_sketch(" ".join(texts[page.url]), template, RULE)) for number, page in job.pages}
    result = TemplateResult(host=host, template=template, mark=template_fingerprint(template), sketches=sketches)
    (undecided,) = store.similarity.store_template(result, NOW)
    assert (undecided.document.url, [candidate.document.url for candidate in undecided.candidates]) == (
        shop_url(7),
        [B],
    )
    again = store.similarity.next_template_job(host)
    assert again is not None
    assert [page.url for _, page in again.pages] == [shop_url(7)]
    store.similarity.decide(undecided, {undecided.candidates[0].id: 0.91}, NOW)
    assert store.similarity.next_template_job(host) is None
    assert originals(store)[shop_url(7)] == B
    assert store.documents.versions(key_of(shop_url(7)))[0].tier is Tier.COMPARED


def test_a_host_whose_pages_have_nothing_in_common_has_no_template(store: Store) -> None:
    for number in range(40):
        assert not fetch(store, shop_url(number), NOW + number, page=text_page(words_of(number))).template_hosts
    assert store.similarity.template_hosts("me") == []


def test_pages_that_cannot_be_read_again_keep_their_sketches(store: Store) -> None:
    texts = {shop_url(number): words_with_template(number) for number in range(8)}
    host = key_of(shop_url(0)).host
    for number, (url, words) in enumerate(texts.items()):
        fetch(store, url, NOW + number, page=text_page(words))
    job = store.similarity.next_template_job(host)
    assert job is not None
    sketches = {number: (document.id, b"") for number, document in job.pages}
    assert (
        store.similarity.store_template(TemplateResult(host=host, template=b"", mark=0, sketches=sketches), NOW) == []
    )
    assert (store.similarity.next_template_job(host), store.similarity.template(host)) == (None, b"")
    template = pack_template(find_template([page_shingles(" ".join(words), b"", RULE) for words in texts.values()]))
    for undecided in store.similarity.store_template(
        TemplateResult(host=host, template=template, mark=template_fingerprint(template), sketches=sketches), NOW
    ):
        store.similarity.decide(undecided, {}, NOW)
    fetch(store, B, NOW + 9, page=text_page(edited(texts[shop_url(3)], 1)))
    assert originals(store)[B] is not None


def test_a_template_that_was_not_found_is_searched_again_when_there_are_more_pages(store: Store) -> None:
    host = key_of(shop_url(0)).host
    hosts = []
    for number in range(16):
        if fetch(store, shop_url(number), NOW + number, page=text_page(words_with_template(number))).template_hosts:
            hosts.append(number)
            store.similarity.store_template(TemplateResult(host=host, template=b"", mark=0, sketches={}), NOW)
    assert hosts == [7, 15]


# ── what must never be ──


def assert_copies_have_originals(store: Store) -> None:
    """No copy of a copy, of itself, or of what is not there."""
    originals_now = originals(store)
    for url, original in originals_now.items():
        assert original != url
        assert original is None or originals_now.get(original, "gone") is None


def test_copies_that_are_similar_only_to_the_old_original_stay_consistent(store: Store) -> None:
    for seed in range(30):
        urls = [f"http://s{seed}.test/{name}" for name in ("o?x=1", "c?y=2", "n")]
        own = words_of(1_000 + seed)
        for number, words in enumerate((own, edited(own, 3, seed=1), edited(own[::-1][::-1], 4, seed=2))):
            fetch(store, urls[number], NOW + number, page=text_page(words))
    assert_copies_have_originals(store)


def test_an_original_that_becomes_a_copy_takes_its_copies_along(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    fetch(store, C, NOW + 1, page=text_page(edited(ONE, 1)))
    undecided = uncommitted(store, B, UNDECIDED)
    ((candidate,),) = store.similarity.candidates([undecided]).values()
    store.commits.commit([replace(undecided, compared={candidate.id: 0.89}, comparisons=1)], [SEGMENT], NOW + 2)
    assert originals(store) == {A: None, C: A, B: None}
    fetch(store, A, NOW + 9 * DAY, page=text_page(UNDECIDED))  # now it has the words of B
    assert_copies_have_originals(store)
    assert originals(store)[A] == B


def test_an_undecided_page_that_is_fetched_again_is_compared_again(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    undecided = uncommitted(store, B, UNDECIDED)
    ((candidate,),) = store.similarity.candidates([undecided]).values()
    store.commits.commit([replace(undecided, compared={candidate.id: 0.89}, comparisons=1)], [SEGMENT], NOW + 1)
    visit = lease_url(store, B, NOW + 9 * DAY)
    again = visit_result(visited(visit, fetched=answer(visit.url), page=text_page(UNDECIDED)), position=POSITION)
    assert candidate_urls(store, again) == {B: [A]}


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


def test_a_series_of_better_urls_adds_few_entries_to_the_change_feed(store: Store) -> None:
    for number in range(60, 0, -1):
        fetch(
            store, f"http://a.test/calendar/{number:03}", NOW + 60 - number, page=text_page(edited(ONE, 1, seed=number))
        )
    assert len(list(store.changes.entries())) < 2 * 60
    assert_copies_have_originals(store)


def test_two_pages_that_name_each_other_as_canonical_do_not_alternate(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE, metadata={"canonical": B}))
    for day in range(1, 4):
        fetch(store, B, NOW + 9 * day * DAY, page=text_page(ONE, metadata={"canonical": A}))
        assert originals(store) == {A: None, B: A}


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


def test_a_band_never_has_more_than_64_pages(store: Store, tmp_path: Path) -> None:
    """Pages that share a band and are not alike."""
    common = words_of(5, 40)
    for number in range(90):
        fetch(store, f"http://a.test/{number}", NOW + number, page=text_page(common + words_of(100 + number, 60)))
    store.similarity.rebuild_index()
    connection = apsw.Connection(str(tmp_path / "crawl.db"))
    assert connection.execute("SELECT max(c) FROM (SELECT count(*) c FROM bands GROUP BY band)").get <= 64
    connection.close()
