"""Templates of hosts are found in their pages, and removed from the sketches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.page_sketch import page_shingles, page_sketch
from crawler.duplicates.template import find_template, pack_template, template_fingerprint
from crawler.items import Tier
from crawler.stores.contract.similarity import TemplateResult
from crawler.stores.contract.store import Store
from crawler.urls.keys import key_of
from tests.contracts.similar_texts import ONE, RULE, A, B, C, edited, originals, similarity, text_page, words_of
from tests.contracts.visits import fetch
from tests.samples import NOW

TEMPLATE_WORDS = words_of(99, 700)


def words_with_template(seed: int, own: int = 60) -> list[str]:
    """The words of a page: its own, inside those of the template."""
    return [*TEMPLATE_WORDS[:350], *words_of(seed, own), *TEMPLATE_WORDS[350:]]


def shop_url(number: int) -> str:
    return f"http://shop.test/{number}"


def run_template_jobs(store: Store, host: int, texts: Mapping[str, list[str]]) -> int:
    """Do all template jobs of a host, as a content process would; return how many."""
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
    """The own texts of two pages are undecided once the template is removed."""
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
    pages_with_job = []
    for number in range(16):
        if fetch(store, shop_url(number), NOW + number, page=text_page(words_with_template(number))).template_hosts:
            pages_with_job.append(number)
            store.similarity.store_template(TemplateResult(host=host, template=b"", mark=0, sketches={}), NOW)
    assert pages_with_job == [7, 15]


def test_a_sketched_page_is_returned_with_the_template_of_its_host(store: Store) -> None:
    fetch(store, A, NOW, page=text_page(ONE))
    assert store.similarity.template(key_of(A).host) == b""
    store.similarity.store_template(TemplateResult(host=key_of(A).host, template=b"template", mark=5, sketches={}), NOW)
    assert store.similarity.template(key_of(A).host) == b"template"
    assert store.similarity.template(key_of(C).host) == b""
    ((number, _, _),) = next(iter(store.similarity.sketches()))
    sketched = store.similarity.find_sketched(number)
    assert sketched is not None
    assert sketched.template == b"template"
