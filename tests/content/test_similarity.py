"""Archived pages are compared by their texts, and the template of a host is found in them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crawler.content.answers import ArchivedAnswer
from crawler.content.examine import examine
from crawler.content.similarity import compare, learn_template
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.page_sketch import page_shingles, page_sketch
from crawler.duplicates.template import MIN_PAGES, template_fingerprint, unpack_template
from crawler.items import Kind, Page
from tests.contracts.similar_texts import words_of
from tests.defaults import DEFAULTS, urls_with
from tests.samples import answer, visit_to, visited

READING, RULE = DEFAULTS.reading, DEFAULTS.duplicates
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def text_of(seed: int, count: int = 300) -> str:
    return " ".join(words_of(seed, count))


def archived_page(*texts: str) -> ArchivedAnswer:
    body = "<title>T</title>" + "".join(f"<p>{text}</p>" for text in texts)
    return ArchivedAnswer(url="http://a.test/", head=HEAD, body=body.encode())


def shingles_of(text: str) -> object:
    return page_shingles(text, b"", RULE)


def test_pages_are_compared_by_their_main_texts() -> None:
    one, other = text_of(1), text_of(2)
    edited = one.replace(" ", " edited ", 1)
    found = compare(
        (archived_page(one), b""),
        [(archived_page(one), b""), (archived_page(edited), b""), (archived_page(other), b"")],
        READING,
        RULE,
    )
    assert found[0] == 1.0
    assert found[1] == pytest.approx(jaccard(shingles_of(one), shingles_of(edited)))  # type: ignore[arg-type]
    assert found[2] < 0.05


def test_pages_are_compared_without_the_templates_of_their_hosts() -> None:
    shared, own = text_of(9, 600), text_of(1)
    template, _ = learn_template(
        [archived_page(shared, text_of(seed)) for seed in range(MIN_PAGES)], None, READING, RULE
    )
    whole, bare = archived_page(shared, own), archived_page(own)
    assert compare((whole, b""), [(bare, b"")], READING, RULE)[0] < 0.5
    assert compare((whole, template), [(bare, b"")], READING, RULE)[0] > 0.95


def test_a_template_has_the_shingles_of_most_pages() -> None:
    shared = text_of(9, 200)
    pages = [archived_page(shared, text_of(seed)) for seed in range(MIN_PAGES)]
    template, sketches = learn_template(pages, None, READING, RULE)
    assert set(unpack_template(template).tolist()) == set(shingles_of(shared).tolist())  # type: ignore[attr-defined]
    again, same = learn_template(pages, template, READING, RULE)
    assert (again, same) == (template, sketches)
    assert len(set(sketches)) == MIN_PAGES


def test_pages_with_nothing_in_common_have_no_template() -> None:
    template, sketches = learn_template(
        [archived_page(text_of(seed)) for seed in range(MIN_PAGES)], None, READING, RULE
    )
    assert template == b""
    assert sketches == [page_sketch(text_of(seed), b"", RULE) for seed in range(MIN_PAGES)]


def examined(text: str, rule: DuplicateRule = RULE, template: bytes = b"", kind: Kind = Kind.PAGE) -> Page:
    visit = visit_to("http://a.test/", template=template, kind=kind)
    result = visited(visit, page=None, fetched=answer(visit.url, head=HEAD, body=archived_page(text).body))
    page = examine(result, urls_with().new_scope(), READING, rule).page
    assert page is not None
    return page


def test_a_page_comes_with_its_sketch() -> None:
    text = text_of(1)
    assert examined(text).sketch == page_sketch(text, b"", RULE) != b""
    template = learn_template(
        [archived_page(text_of(9, 200), text_of(seed)) for seed in range(MIN_PAGES)], None, READING, RULE
    )[0]
    page = examined(text, template=template)
    assert (page.sketch, page.template) == (page_sketch(text, template, RULE), template_fingerprint(template))


@pytest.mark.parametrize(
    ("text", "rule", "kind"),
    [
        (text_of(1, RULE.fewest_words - 1), RULE, Kind.PAGE),
        (text_of(1), replace(RULE, threshold=0), Kind.PAGE),
        (text_of(1), RULE, Kind.PROBE),
    ],
    ids=["too few words", "near-duplicates are off", "a probe"],
)
def test_some_pages_have_no_sketch(text: str, rule: DuplicateRule, kind: Kind) -> None:
    assert examined(text, rule, kind=kind).sketch == b""
