"""What is a duplicate of what: by bytes, by words, by almost the same words; and what if an original goes."""

from __future__ import annotations

import random
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import apsw
import pytest
from msgspec.structs import replace

from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.page_sketch import page_shingles, page_sketch
from crawler.duplicates.template import find_template, pack_template, template_fingerprint
from crawler.items import Outcome, Page, Reason, Tier
from crawler.stores.contract.commits import VisitResult
from crawler.stores.contract.similarity import TemplateResult
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.engines import Opener
from tests.contracts.visits import DAY, PLACE, SEGMENT, fetch, leased, refused
from tests.samples import NOW, acquire, answer, link, new_url, visit_result, visited

RULE = DuplicateRule()
WORDS = [f"word{number}" for number in range(3_000)]


def words_of(seed: int, count: int = 400) -> list[str]:
    return random.Random(seed).choices(WORDS, k=count)


def edited(words: list[str], changes: int, seed: int = 1) -> list[str]:
    """With so many words replaced, far from each other: each is in five shingles."""
    words, step = list(words), len(words) // (changes + 1)
    for number in range(changes):
        words[(number + 1) * step] = f"edited{seed}x{number}"
    return words


def page(words: list[str], template: bytes = b"", **facts: Any) -> Page:
    text = " ".join(words)
    digest = sha256(text.encode()).digest()
    return Page(
        text=text,
        body_digest=facts.pop("body_digest", digest),
        payload_digest=digest,
        text_digest=digest,
        sketch=page_sketch(text, template, RULE),
        template=template_fingerprint(template),
        **facts,
    )


def similarity(one: list[str], other: list[str]) -> float:
    return jaccard(*(page_shingles(" ".join(words), b"", RULE) for words in (one, other)))


def originals(store: Store) -> Mapping[str, str | None]:
    """What the change feed says each URL is a duplicate of."""
    return {row.url: row.duplicate_of for row in store.changes.published() if row.document is not None}


def told_since(store: Store, version: int) -> list[tuple[str, str | None]]:
    return [(row.url, row.duplicate_of) for row in store.changes.published(version)]


ONE = words_of(1)
NEAR = edited(ONE, 2)  # .95
DOUBTFUL = edited(ONE, 4)  # .90
FAR = edited(ONE, 20)  # .60
A, A_PRINT, B, C = "http://a.test/x", "http://a.test/x?print=1", "http://b.test/copied", "http://c.test/one-more"


def test_the_sample_texts_have_the_similarities_they_stand_for() -> None:
    assert similarity(ONE, NEAR) > 0.95
    assert 0.89 < similarity(ONE, DOUBTFUL) < 0.92
    assert similarity(ONE, FAR) < 0.65


def test_a_page_with_almost_the_same_words_is_a_near_duplicate(store: Store) -> None:
    first = fetch(store, A, NOW, page=page(ONE))
    second = fetch(store, B, NOW + 1, page=page(edited(ONE, 1)))
    other = fetch(store, C, NOW + 2, page=page(FAR))
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
    fetch(store, A, NOW, page=page(ONE))
    committed = fetch(store, B, NOW + 1, page=page(ONE, **facts))
    (document,) = store.documents.versions(key_of(B))
    assert (document.tier, document.similarity) == (tier, 1.0)
    assert (committed.duplicates, committed.near_duplicates) == (1, 0)


def test_near_duplicates_within_one_batch_are_found(store: Store) -> None:
    batch = [doubtful(store, A, ONE), doubtful(store, B, edited(ONE, 1))]
    assert store.similarity.candidates(batch) == {}
    store.commits.commit(batch, [SEGMENT], NOW)
    assert originals(store) == {A: None, B: A}


def test_a_copy_of_a_near_duplicate_is_a_duplicate_of_the_original(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    fetch(store, B, NOW + 1, page=page(edited(ONE, 1)))
    fetch(store, C, NOW + 2, page=page(edited(ONE, 1)))
    assert originals(store) == {A: None, B: A, C: A}


def test_short_pages_are_no_near_duplicates(store: Store) -> None:
    short = words_of(2, RULE.fewest_words - 1)
    assert page(short).sketch == b""
    fetch(store, A, NOW, page=page(short))
    fetch(store, B, NOW + 1, page=page(edited(short, 1)))
    fetch(store, C, NOW + 2, page=page(short))
    assert originals(store) == {A: None, B: None, C: A}


# ── doubts ──


def doubtful(store: Store, url: str, words: list[str], **facts: Any) -> VisitResult:
    """A visit that has ended and is to be committed."""
    store.urls.add([new_url(url)], NOW)
    visit = leased(store, url, NOW + 1)
    return visit_result(visited(visit, fetched=answer(visit.url), page=page(words)), position=PLACE, **facts)


def doubts_of(store: Store, *batch: VisitResult) -> dict[str, list[str]]:
    """URL → URLs with which it must be compared."""
    found = store.similarity.candidates(batch)
    urls = {each.visited.visit.key: each.visited.visit.url for each in batch}
    return {urls[key]: [doubt.document.url for doubt in doubts] for key, doubts in found.items()}


def test_pages_whose_sketches_do_not_decide_are_candidates_for_comparison(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    near, far, unsure = (
        doubtful(store, url, words) for url, words in ((B, edited(ONE, 1)), (C, FAR), ("http://d.test/", DOUBTFUL))
    )
    assert doubts_of(store, near, far, unsure) == {"http://d.test/": [A]}


@pytest.mark.parametrize(("share", "original"), [(0.91, A), (0.89, None)])
def test_the_similarity_of_compared_texts_decides(store: Store, share: float, original: str | None) -> None:
    fetch(store, A, NOW, page=page(ONE))
    unsure = doubtful(store, B, DOUBTFUL)
    ((doubt,),) = store.similarity.candidates([unsure]).values()
    compared = replace(unsure, compared={doubt.id: share}, comparisons=1)
    assert store.similarity.candidates([compared]) == {}
    store.commits.commit([compared], [SEGMENT], NOW)
    assert originals(store) == {A: None, B: original}
    (document,) = store.documents.versions(key_of(B))
    assert (document.similarity, document.tier) == ((share, Tier.COMPARED) if original else (None, None))


def test_after_two_comparisons_the_sketch_decides(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    unsure = doubtful(store, B, DOUBTFUL, comparisons=2)
    assert store.similarity.candidates([unsure]) == {}


def test_a_page_that_must_be_compared_with_one_of_its_batch_waits_for_it(store: Store) -> None:
    first, second = doubtful(store, A, ONE), doubtful(store, B, DOUBTFUL)
    assert doubts_of(store, first, second) == {B: []}
    store.commits.commit([first], [SEGMENT], NOW)
    assert doubts_of(store, replace(second, comparisons=1)) == {B: [A]}


def test_an_exact_copy_has_no_candidates(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    fetch(store, B, NOW + 1, page=page(FAR))
    assert doubts_of(store, doubtful(store, C, ONE)) == {}


def test_a_commit_finds_originals_committed_since_the_candidates_were_read(opener: Opener, store: Store) -> None:
    late = doubtful(store, B, edited(ONE, 1))
    assert store.similarity.candidates([late]) == {}
    other = opener()
    fetch(other, A, NOW, page=page(ONE))
    other.close()
    store.commits.commit([late], [SEGMENT], NOW + 2)
    assert originals(store) == {A: None, B: A}


# ── originals that change ──


def test_a_better_url_becomes_the_original(store: Store) -> None:
    fetch(store, A_PRINT, NOW, page=page(ONE))
    fetch(store, B, NOW + 1, page=page(edited(ONE, 1)))
    seen = store.changes.version()
    fetch(store, A, NOW + 2, page=page(edited(ONE, 1, seed=2)))
    assert originals(store) == {A_PRINT: A, B: A, A: None}
    assert dict(told_since(store, seen)) == {A_PRINT: A, B: A, A: None}
    fetch(store, C, NOW + 3, page=page(edited(ONE, 1, seed=3)))
    assert originals(store)[C] == A


def test_the_canonical_url_of_a_page_becomes_the_original(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE, metadata={"canonical": B}))
    fetch(store, B, NOW + 1, page=page(edited(ONE, 1)))
    assert originals(store) == {A: B, B: None}


def test_between_hosts_the_first_page_stays_the_original(store: Store) -> None:
    fetch(store, B, NOW, page=page(ONE))
    fetch(store, "https://z.test/", NOW + 1, page=page(ONE))
    assert originals(store) == {B: None, "https://z.test/": B}


def test_when_an_original_is_gone_its_copies_get_another_original(store: Store) -> None:
    for number, url in enumerate((A, B, C)):
        fetch(store, url, NOW + number, page=page(edited(ONE, 1 if number else 0, seed=number)))
    seen = store.changes.version()
    refused(store, A, NOW + 9 * DAY, Reason.GONE, 410)
    assert originals(store) == {B: None, C: B}
    assert told_since(store, seen) == [(A, None), (B, None), (C, B)]
    fetch(store, "http://d.test/", NOW + 20 * DAY, page=page(ONE))
    assert originals(store) == {B: None, C: B, "http://d.test/": B}
    assert store.documents.duplicates(key_of(B)) == [C, "http://d.test/"]
    assert store.documents.duplicates(key_of(C)) == []


def test_an_original_that_is_missing_once_stays_the_original(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    fetch(store, B, NOW + 1, page=page(edited(ONE, 1)))
    refused(store, A, NOW + 9 * DAY, Reason.NOT_FOUND, 404)
    assert originals(store) == {A: None, B: A}


def test_when_an_original_changes_its_copies_get_another_original(store: Store) -> None:
    for number, url in enumerate((A, B, C)):
        fetch(store, url, NOW + number, page=page(ONE))
    fetch(store, A, NOW + 9 * DAY, page=page(words_of(7)))
    assert originals(store) == {A: None, B: None, C: B}
    assert store.documents.versions(key_of(C))[0].tier is Tier.BODY
    fetch(store, "http://e.test/", NOW + 10 * DAY, page=page(edited(words_of(7), 1)))
    assert originals(store)["http://e.test/"] == A


def test_an_original_that_is_fetched_again_almost_unchanged_stays_the_original(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    fetch(store, B, NOW + 1, page=page(edited(ONE, 1)))
    seen = store.changes.version()
    fetch(store, A, NOW + 9 * DAY, page=page(ONE))
    assert told_since(store, seen) == [(A, None)]
    fetch(store, A, NOW + 18 * DAY, page=page(edited(ONE, 1, seed=5)))
    assert originals(store) == {A: None, B: A}


def test_a_copy_that_changes_is_no_longer_a_copy(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    fetch(store, B, NOW + 1, page=page(edited(ONE, 1)))
    fetch(store, B, NOW + 9 * DAY, page=page(words_of(8)))
    fetch(store, C, NOW + 10 * DAY, page=page(edited(words_of(8), 1)))
    assert originals(store) == {A: None, B: None, C: B}


# ── links ──


@pytest.mark.parametrize(("follows", "known"), [(True, True), (False, False)])
def test_links_of_near_duplicates_are_added_if_the_rule_says_so(opener: Opener, follows: bool, known: bool) -> None:
    store = opener(duplicates=DuplicateRule(links=follows))
    acquire(store, "me", 0, NOW, 1e9, 60)
    fetch(store, A, NOW, page=page(ONE))
    fetch(store, B, NOW + 1, page=page(edited(ONE, 1), links=(link("http://new.test/"),), links_digest=5))
    assert (store.urls.find(key_of("http://new.test/")) is not None) == known
    store.close()


def test_with_threshold_0_only_exact_copies_are_duplicates(opener: Opener) -> None:
    store = opener(duplicates=DuplicateRule(threshold=0))
    acquire(store, "me", 0, NOW, 1e9, 60)
    fetch(store, A, NOW, page=replace(page(ONE), sketch=b""))
    fetch(store, B, NOW + 1, page=replace(page(edited(ONE, 1)), sketch=b""))
    fetch(store, C, NOW + 2, page=replace(page(ONE), sketch=b""))
    assert originals(store) == {A: None, B: None, C: A}
    store.close()


def test_another_threshold_finds_more_duplicates_once_the_index_is_rebuilt(opener: Opener) -> None:
    store = opener()
    acquire(store, "me", 0, NOW, 1e9, 60)
    fetch(store, A, NOW, page=page(ONE))
    store.close()
    store = opener(duplicates=DuplicateRule(threshold=0.6))
    assert store.similarity.rebuild_index() == 1
    fetch(store, B, NOW + 1, page=page(edited(ONE, 12)))
    assert originals(store) == {A: None, B: A}
    store.similarity.forget_sketches()
    fetch(store, C, NOW + 2, page=page(edited(ONE, 12, seed=2)))
    assert originals(store) == {A: None, B: A, C: None}
    store.close()


# ── templates ──

DRESS = words_of(99, 700)


def dressed(seed: int, own: int = 60) -> list[str]:
    """A page in the dress of its site."""
    return [*DRESS[:350], *words_of(seed, own), *DRESS[350:]]


def on_site(number: int) -> str:
    return f"http://shop.test/{number}"


def studied(store: Store, host: int, texts: Mapping[str, list[str]]) -> int:
    """Learn all there is of a host, as a content process would; in how many lessons."""
    count = 0
    while (lesson := store.similarity.next_template_job(host)) is not None:
        count += 1
        pages = {number: " ".join(texts[document.url]) for number, document in lesson.pages}
        template = lesson.template
        if template is None:
            template = pack_template(find_template([page_shingles(text, b"", RULE) for text in pages.values()]))
        sketches = {
            number: (document.id, page_sketch(pages[number], template, RULE)) for number, document in lesson.pages
        }
        unsure = store.similarity.store_template(
            TemplateResult(host=host, template=template, mark=template_fingerprint(template), sketches=sketches), NOW
        )
        for page_ in unsure:
            own = own_shingles(texts[page_.document.url], page_.template)
            compared = {
                doubt.id: jaccard(own, own_shingles(texts[doubt.document.url], doubt.template))
                for doubt in page_.candidates
            }
            store.similarity.decide(page_, compared, NOW)
    return count


def own_shingles(words: list[str], template: bytes) -> Any:
    return page_shingles(" ".join(words), template, RULE)


def test_pages_with_one_template_are_no_duplicates_once_it_is_known(store: Store) -> None:
    texts = {on_site(number): dressed(number, own=36) for number in range(8)}
    assert similarity(*list(texts.values())[:2]) > RULE.threshold - RULE.margin
    wanted: set[int] = set()
    for number, (url, words) in enumerate(texts.items()):
        wanted |= set(fetch(store, url, NOW + number, page=page(words)).template_hosts)
    host = key_of(on_site(0)).host
    assert wanted == set(store.similarity.template_hosts("me")) == {host}
    studied(store, host, texts)
    assert set(originals(store).values()) == {None}
    assert store.similarity.template_hosts("me") == []


def test_copies_are_found_among_pages_with_one_template(store: Store) -> None:
    texts = {on_site(number): dressed(number, own=120) for number in range(20)}
    texts |= {f"http://shop.test/copy/{number}": edited(dressed(number, own=120), 1) for number in range(5)}
    host = key_of(on_site(0)).host
    for number, (url, words) in enumerate(texts.items()):
        template = store.frontier.load_host("me", host, "shop.test", NOW, 0)
        committed = fetch(store, url, NOW + number, page=page(words, template.template if template else b""))
        if committed.template_hosts:
            studied(store, host, texts)
    assert {url: original for url, original in originals(store).items() if original} == {
        f"http://shop.test/copy/{number}": on_site(number) for number in range(5)
    }


def test_pages_that_were_in_flight_when_the_template_was_found_are_sketched_again(store: Store) -> None:
    texts = {on_site(number): dressed(number) for number in range(9)}
    host = key_of(on_site(0)).host
    for number in range(8):
        fetch(store, on_site(number), NOW + number, page=page(texts[on_site(number)]))
    assert studied(store, host, texts) == 1
    late = fetch(store, on_site(8), NOW + 8, page=page(texts[on_site(8)]))
    assert set(late.template_hosts) == {host}
    assert studied(store, host, texts) == 1
    assert store.similarity.template_hosts("me") == []


def test_an_undecided_page_is_in_the_next_template_job_until_it_is_decided(store: Store) -> None:
    """Pages whose own words are in doubt, once those of their site are known."""
    own = words_of(50, 400)
    texts = {on_site(number): dressed(number, own=400) for number in range(8)}
    texts[B], texts[on_site(7)] = own, [*DRESS[:350], *edited(own, 3), *DRESS[350:]]
    for number, (url, words) in enumerate(texts.items()):
        fetch(store, url, NOW + number, page=page(words))
    host = key_of(on_site(0)).host
    lesson = store.similarity.next_template_job(host)
    assert lesson is not None
    template = pack_template(
        find_template([page_shingles(" ".join(texts[page_.url]), b"", RULE) for _, page_ in lesson.pages])
    )
    sketches = {
        number: (page_.id, page_sketch(" ".join(texts[page_.url]), template, RULE)) for number, page_ in lesson.pages
    }
    learned = TemplateResult(host=host, template=template, mark=template_fingerprint(template), sketches=sketches)
    (unsure,) = store.similarity.store_template(learned, NOW)
    assert (unsure.document.url, [doubt.document.url for doubt in unsure.candidates]) == (on_site(7), [B])
    again = store.similarity.next_template_job(host)
    assert again is not None
    assert [page_.url for _, page_ in again.pages] == [on_site(7)]
    store.similarity.decide(unsure, {unsure.candidates[0].id: 0.91}, NOW)
    assert store.similarity.next_template_job(host) is None
    assert originals(store)[on_site(7)] == B
    assert store.documents.versions(key_of(on_site(7)))[0].tier is Tier.COMPARED


def test_a_host_whose_pages_have_nothing_in_common_has_no_template(store: Store) -> None:
    for number in range(40):
        assert not fetch(store, on_site(number), NOW + number, page=page(words_of(number))).template_hosts
    assert store.similarity.template_hosts("me") == []


def test_pages_that_cannot_be_read_again_keep_their_sketches(store: Store) -> None:
    texts = {on_site(number): dressed(number) for number in range(8)}
    host = key_of(on_site(0)).host
    for number, (url, words) in enumerate(texts.items()):
        fetch(store, url, NOW + number, page=page(words))
    lesson = store.similarity.next_template_job(host)
    assert lesson is not None
    sketches = {number: (document.id, b"") for number, document in lesson.pages}
    assert (
        store.similarity.store_template(TemplateResult(host=host, template=b"", mark=0, sketches=sketches), NOW) == []
    )
    assert (store.similarity.next_template_job(host), store.similarity.template(host)) == (None, b"")
    template = pack_template(find_template([page_shingles(" ".join(words), b"", RULE) for words in texts.values()]))
    for unsure in store.similarity.store_template(
        TemplateResult(host=host, template=template, mark=template_fingerprint(template), sketches=sketches), NOW
    ):
        store.similarity.decide(unsure, {}, NOW)
    fetch(store, B, NOW + 9, page=page(edited(texts[on_site(3)], 1)))
    assert originals(store)[B] is not None


def test_a_template_that_was_not_found_is_searched_again_when_there_are_more_pages(store: Store) -> None:
    host = key_of(on_site(0)).host
    wanted = []
    for number in range(16):
        if fetch(store, on_site(number), NOW + number, page=page(dressed(number))).template_hosts:
            wanted.append(number)
            store.similarity.store_template(TemplateResult(host=host, template=b"", mark=0, sketches={}), NOW)
    assert wanted == [7, 15]


# ── what must never be ──


def assert_sound(store: Store) -> None:
    """No copy of a copy, of itself, or of what is not there."""
    told = originals(store)
    for url, original in told.items():
        assert original != url
        assert original is None or told.get(original, "gone") is None


def test_copies_that_are_similar_only_to_the_old_original_stay_consistent(store: Store) -> None:
    for seed in range(30):
        urls = [f"http://s{seed}.test/{name}" for name in ("o?x=1", "c?y=2", "n")]
        own = words_of(1_000 + seed)
        for number, words in enumerate((own, edited(own, 3, seed=1), edited(own[::-1][::-1], 4, seed=2))):
            fetch(store, urls[number], NOW + number, page=page(words))
    assert_sound(store)


def test_an_original_that_becomes_a_copy_takes_its_copies_along(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    fetch(store, C, NOW + 1, page=page(edited(ONE, 1)))
    unsure = doubtful(store, B, DOUBTFUL)
    ((doubt,),) = store.similarity.candidates([unsure]).values()
    store.commits.commit([replace(unsure, compared={doubt.id: 0.89}, comparisons=1)], [SEGMENT], NOW + 2)
    assert originals(store) == {A: None, C: A, B: None}
    fetch(store, A, NOW + 9 * DAY, page=page(DOUBTFUL))  # now it has the words of B
    assert_sound(store)
    assert originals(store)[A] == B


def test_an_undecided_page_that_is_fetched_again_is_compared_again(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    unsure = doubtful(store, B, DOUBTFUL)
    ((doubt,),) = store.similarity.candidates([unsure]).values()
    store.commits.commit([replace(unsure, compared={doubt.id: 0.89}, comparisons=1)], [SEGMENT], NOW + 1)
    visit = leased(store, B, NOW + 9 * DAY)
    again = visit_result(visited(visit, fetched=answer(visit.url), page=page(DOUBTFUL)), position=PLACE)
    assert doubts_of(store, again) == {B: [A]}


def test_a_page_that_is_gone_is_no_original(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE))
    fetch(store, A, NOW + 9 * DAY, page=None, outcome=Outcome.DENIED, reason=Reason.ROBOTS_DENIED)
    fetch(store, B, NOW + 10 * DAY, page=page(ONE))
    fetch(store, C, NOW + 11 * DAY, page=page(edited(ONE, 1)))
    assert originals(store) == {B: None, C: B}


def test_an_original_that_was_fetched_again_gives_way_to_a_better_url(store: Store) -> None:
    fetch(store, A_PRINT, NOW, page=page(ONE))
    fetch(store, B, NOW + 1, page=page(ONE))
    fetch(store, A_PRINT, NOW + 9 * DAY, page=page(ONE, body_digest=b"other bytes"))
    fetch(store, A, NOW + 10 * DAY, page=page(ONE))
    assert originals(store) == {A_PRINT: A, B: A, A: None}
    assert [document.duplicate_of is None for document in store.documents.versions(key_of(A_PRINT))] == [False, True]


def test_a_series_of_better_urls_adds_few_entries_to_the_change_feed(store: Store) -> None:
    for number in range(60, 0, -1):
        fetch(store, f"http://a.test/calendar/{number:03}", NOW + 60 - number, page=page(edited(ONE, 1, seed=number)))
    assert len(list(store.changes.entries())) < 2 * 60
    assert_sound(store)


def test_two_pages_that_name_each_other_as_canonical_do_not_alternate(store: Store) -> None:
    fetch(store, A, NOW, page=page(ONE, metadata={"canonical": B}))
    for day in range(1, 4):
        fetch(store, B, NOW + 9 * day * DAY, page=page(ONE, metadata={"canonical": A}))
        assert originals(store) == {A: None, B: A}


def test_near_duplicates_are_found_again_after_a_run_with_threshold_0(opener: Opener) -> None:
    for threshold, url, words in ((0.9, A, ONE), (0, C, words_of(3)), (0.9, B, edited(ONE, 1))):
        store = opener(duplicates=DuplicateRule(threshold=threshold))
        acquire(store, "me", 0, NOW, 1e9, 60)
        if threshold and url == B:
            store.similarity.rebuild_index()
        fetch(store, url, NOW + 1, page=page(words) if threshold else replace(page(words), sketch=b""))
        store.close()
    store = opener()
    assert originals(store) == {A: None, C: None, B: A}
    store.close()


def test_a_band_never_has_more_than_64_pages(store: Store, tmp_path: Path) -> None:
    """Pages that share a band and are not alike."""
    common = words_of(5, 40)
    for number in range(90):
        fetch(store, f"http://a.test/{number}", NOW + number, page=page(common + words_of(100 + number, 60)))
    store.similarity.rebuild_index()
    connection = apsw.Connection(str(tmp_path / "crawl.db"))
    assert connection.execute("SELECT max(c) FROM (SELECT count(*) c FROM bands GROUP BY band)").get <= 64
    connection.close()
