"""Texts that are read again from answers as they were archived."""

from __future__ import annotations

from random import Random

import pytest

from crawler.content.answers import ArchivedAnswer
from crawler.content.examine import examine
from crawler.content.similarity import compare, learn_template
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.jaccard import jaccard
from crawler.duplicates.page_sketch import page_shingles, page_sketch
from crawler.duplicates.template import MIN_PAGES, template_fingerprint, unpack_template
from crawler.items import Kind, Page
from crawler.parse.html import DEFAULT_READING
from tests.defaults import urls_with
from tests.samples import answer, visit_to, visited

RULE = DuplicateRule()
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
WORDS = [f"word{number}" for number in range(3_000)]


def words_of(seed: int, count: int = 300) -> str:
    return " ".join(Random(seed).choices(WORDS, k=count))


def page_of(*texts: str) -> ArchivedAnswer:
    body = "<title>T</title>" + "".join(f"<p>{text}</p>" for text in texts)
    return ArchivedAnswer(url="http://a.test/", head=HEAD, body=body.encode())


def shingles_of(text: str) -> object:
    return page_shingles(text, b"", RULE)


def test_pages_are_compared_by_their_main_texts() -> None:
    one, other = words_of(1), words_of(2)
    edited = one.replace(" ", " edited ", 1)
    shares = compare(
        (page_of(one), b""), [(page_of(one), b""), (page_of(edited), b""), (page_of(other), b"")], DEFAULT_READING, RULE
    )
    assert shares[0] == 1.0
    assert shares[1] == pytest.approx(jaccard(shingles_of(one), shingles_of(edited)))  # type: ignore[arg-type]
    assert shares[2] < 0.05


def test_each_is_compared_without_the_template_of_its_host() -> None:
    dress, own = words_of(9, 600), words_of(1)
    template, _ = learn_template(
        [page_of(dress, words_of(seed)) for seed in range(MIN_PAGES)], None, DEFAULT_READING, RULE
    )
    dressed, bare = page_of(dress, own), page_of(own)
    assert compare((dressed, b""), [(bare, b"")], DEFAULT_READING, RULE)[0] < 0.5
    assert compare((dressed, template), [(bare, b"")], DEFAULT_READING, RULE)[0] > 0.95


def test_a_template_is_what_most_pages_have() -> None:
    dress = words_of(9, 200)
    pages = [page_of(dress, words_of(seed)) for seed in range(MIN_PAGES)]
    template, sketches = learn_template(pages, None, DEFAULT_READING, RULE)
    assert set(unpack_template(template).tolist()) == set(shingles_of(dress).tolist())  # type: ignore[attr-defined]
    again, same = learn_template(pages, template, DEFAULT_READING, RULE)
    assert (again, same) == (template, sketches)
    assert len(set(sketches)) == MIN_PAGES


def test_pages_with_nothing_in_common_have_no_template() -> None:
    template, sketches = learn_template(
        [page_of(words_of(seed)) for seed in range(MIN_PAGES)], None, DEFAULT_READING, RULE
    )
    assert template == b""
    assert sketches == [page_sketch(words_of(seed), b"", RULE) for seed in range(MIN_PAGES)]


def seen(text: str, rule: DuplicateRule = RULE, template: bytes = b"", kind: Kind = Kind.PAGE) -> Page:
    visit = visit_to("http://a.test/", template=template, kind=kind)
    result = visited(visit, page=None, fetched=answer(visit.url, head=HEAD, body=page_of(text).body))
    page = examine(result, urls_with().new_scope(), None, DEFAULT_READING, rule).page
    assert page is not None
    return page


def test_a_page_comes_with_its_sketch() -> None:
    text = words_of(1)
    assert seen(text).sketch == page_sketch(text, b"", RULE) != b""
    template = learn_template(
        [page_of(words_of(9, 200), words_of(seed)) for seed in range(MIN_PAGES)], None, DEFAULT_READING, RULE
    )[0]
    page = seen(text, template=template)
    assert (page.sketch, page.template) == (page_sketch(text, template, RULE), template_fingerprint(template))


@pytest.mark.parametrize(
    ("text", "rule", "kind"),
    [
        (words_of(1, RULE.fewest_words - 1), RULE, Kind.PAGE),
        (words_of(1), DuplicateRule(threshold=0), Kind.PAGE),
        (words_of(1), RULE, Kind.PROBE),
    ],
    ids=["too few words", "nobody asks", "no page"],
)
def test_some_pages_have_no_sketch(text: str, rule: DuplicateRule, kind: Kind) -> None:
    assert seen(text, rule, kind=kind).sketch == b""
