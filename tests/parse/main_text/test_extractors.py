"""Every extraction method gives a result of the same shape for any page; the default finds the main text."""

import doctest
import sys
from math import isclose

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from crawler.errors import Misconfigured
from crawler.parse.main_text import hints, libraries
from crawler.parse.main_text.extractors import DEFAULT, EXTRACTORS, extract
from crawler.parse.main_text.outline import OutlinePart, outline
from crawler.parse.main_text.result import ParsedPage
from crawler.parse.main_text.weighed import PartWeights, probabilities, weighed
from tests.parse.main_text.pages import ARTICLE, CONTENT, REST, source_of

OWN = ["trees", "weighed", "slope", "windows", "filters", "everything"]


def test_the_default_finds_the_article_and_nothing_else():
    found = extract(source_of(ARTICLE))
    assert [piece for piece in CONTENT if piece not in found.text] == []
    assert [piece for piece in REST if piece in found.text] == []
    assert found.is_sure


@pytest.mark.parametrize("method", EXTRACTORS)
def test_every_method_returns_all_blocks(method):
    source = source_of(ARTICLE)
    found = extract(source, method)
    whole = " ".join(block.text for block in extract(source, "everything").blocks)
    assert " ".join(block.text for block in found.blocks) == whole  # however it is divided into blocks
    assert all(0 <= block.importance <= 1 for block in found.blocks)
    important = "\n".join(block.text for block in found.blocks if block.importance >= 0.5)
    assert "The orb-weaver builds a round web every evening" in found.text
    assert "The orb-weaver builds a round web every evening" in important
    if method in OWN:
        assert found.text == important


@pytest.mark.parametrize("method", ["slope", "filters", "turbohtml", "resiliparse", "trafilatura"])
def test_methods_leave_out_the_navigation(method):
    text = extract(source_of(ARTICLE), method).text
    assert [piece for piece in CONTENT if piece not in text] == []
    assert "Home" not in text


def test_several_regions_of_a_page_may_be_content():
    sentence = "of the story is long, and goes on for a while, as stories do. It ends, at last, with another sentence."
    first, second = ("".join(f"<p>{part} {line} {sentence}</p>" for line in "abc") for part in ("One part", "Another"))
    menu = "<ul class=menu>" + "<li><a href=/x>Menu entry</a></li>" * 10 + "</ul>"
    html = f"<h1>A story</h1><div class=article-body>{first}</div>{menu}<div class=article-body>{second}</div>"
    text = extract(source_of(html)).text
    assert [piece for piece in ("One part a", "One part c", "Another a", "Another c") if piece not in text] == []
    assert "Menu entry" not in text


def test_hidden_text_is_not_main_text():
    paragraph = "This is a sentence of some length, as are all of them, and it is one of several on this page. " * 3
    seen, hidden = (f"<p>{word} {paragraph}</p>" * 2 for word in ("Seen.", "Hidden."))
    html = f"<article><h1>What is seen</h1>{seen}</article><div style='display: none'>{hidden}</div>"
    text = extract(source_of(html)).text
    assert "Seen" in text
    assert "Hidden" not in text


@pytest.mark.parametrize("html", ["", " ", "<p></p>", "<!-- x -->", "<script>x</script>", "<title>x</title>"])
@pytest.mark.parametrize("method", EXTRACTORS)
def test_a_page_without_text_has_no_main_text(method, html):
    found = extract(source_of(html), method)
    assert (list(found.blocks), found.text) == ([], "")


def test_a_page_with_any_text_has_a_main_text():
    assert extract(source_of("<a href=/>short</a>")).text == "short"
    assert extract(source_of("just text")).text == "just text"


@pytest.mark.parametrize("method", OWN)
@given(text=st.text(alphabet=st.sampled_from('<>/="aA pdivul1.,\n\x00é。')))
def test_any_text_gives_an_answer(method, text):
    found = extract(source_of(text), method)
    assert found.text == "\n".join(block.text for block in found.blocks if block.importance >= 0.5)


HOSTILE = {
    "nested": lambda size: "<div>" * size + "deep",
    "siblings": lambda size: "<p class=x>text</p>" * size,
    "rows": lambda size: "<table>" + "<tr><td>a<td>b" * size,
    "one text": lambda size: "word " * 25 * size,
    "attributes": lambda size: "<p " + " ".join(f"a{number}=x" for number in range(size)) + ">text",
    "inline": lambda size: "<b><i>x" * size,
    "names": lambda size: f"<p class='{'side bar ' * size}'>text</p>",
    "same names": lambda size: "".join(f"<div class=c{number}><p>text</div>" for number in range(size)),
}


@pytest.mark.parametrize("method", OWN)
@pytest.mark.parametrize("shape", HOSTILE)
def test_hostile_pages_cost_no_more_than_their_size(method, shape):
    """Counts executed lines instead of time: twice the page may cost only a little over twice as many."""
    small, large = (_lines_run(method, HOSTILE[shape](size)) for size in (500, 1_000))
    assert large < 2.2 * small + 1_000


def _lines_run(method, html):
    source, count = source_of(html), 0

    def trace(frame, event, argument):
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        extract(source, method)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("shape", ["nested", "siblings", "one text", "attributes"])
def test_pages_may_be_deep_and_wide(shape):
    html = HOSTILE[shape](200_000 if shape in ("nested", "one text") else 50_000)
    assert extract(source_of(html)).text


def test_the_second_method_is_used_only_where_the_first_is_not_sure():
    sure, unsure = source_of(ARTICLE), source_of("<p>Short.</p>" + "<p><a href=/x>A link of some length</a></p>" * 9)
    assert weighed(sure).is_sure
    assert not weighed(unsure).is_sure
    assert extract(sure, second="everything").text == extract(sure).text
    assert extract(unsure, second="everything").text == extract(unsure, "everything").text


def test_an_unknown_method_is_reported_with_the_known_ones():
    with pytest.raises(Misconfigured, match="'best'; the methods are trees, weighed, slope"):
        extract(source_of("x"), "best")


def test_a_package_that_is_missing_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    with pytest.raises(Misconfigured, match="package trafilatura"):
        libraries.trafilatura(source_of(ARTICLE))


def test_no_method_changes_the_document():
    document = turbohtml.parse(ARTICLE, positions=False)
    before = document.html
    for method in EXTRACTORS:
        extract(ParsedPage(html=ARTICLE, document=document), method)
    assert document.html == before


def test_the_default_is_a_method():
    assert DEFAULT in EXTRACTORS


def test_the_examples_are_true():
    assert doctest.testmod(hints).failed == 0


@given(st.data())
def test_the_two_passes_compute_the_exact_probabilities(data):
    """Compared with the sum over all assignments of outside, on the way and inside."""
    parts, weights = data.draw(_trees())
    found = probabilities(parts, weights)
    expected = _by_enumeration(parts, weights)
    assert all(isclose(one, other, abs_tol=1e-6) for one, other in zip(found, expected, strict=True))


@st.composite
def _trees(draw):
    parts = outline(turbohtml.parse(draw(st.sampled_from(_SMALL)), positions=False))
    numbers = st.floats(-3, 3)
    lists = [draw(st.lists(numbers, min_size=len(parts), max_size=len(parts))) for _ in range(3)]
    return parts, PartWeights(*lists)


_SMALL = ("<p>a<p>b", "<div>a<p>b</p></div>c", "<div><p>a<p>b</div><ul><li>c<li>d</ul>", "a")


def _by_enumeration(parts: list[OutlinePart], weights):
    from itertools import product
    from math import exp

    total, inside = 0.0, [0.0] * len(parts)
    for states in product("OMI", repeat=len(parts)):
        if states[0] != "M" or not _is_possible(parts, states):
            continue
        weight = 0.0
        for number, state in enumerate(states):
            if number and state == "M":
                weight += weights.through[number]
            elif number and state == "I":
                kind = weights.enter if states[parts[number].parent] == "M" else weights.stay
                weight += kind[number]
        total += exp(weight)
        for number, state in enumerate(states):
            inside[number] += exp(weight) * (state == "I")
    return [one / total for one in inside]


def _is_possible(parts, states):
    for number, part in enumerate(parts):
        state, parent = states[number], states[part.parent] if number else "M"
        children = [states[other] for other, child in enumerate(parts) if child.parent == number]
        if (parent == "O" and state != "O") or (parent == "I" and state == "M"):
            return False
        if state == "M" and (part.text or all(child == "O" for child in children)):
            return False
    return True
