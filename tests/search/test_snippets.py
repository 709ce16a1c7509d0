"""A snippet shows the words of the query."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.search.index import WORDS, analyzers
from crawler.search.snippets import SNIPPET_LENGTH, QueryWords, Snippet, snippet_of

ANALYZER = analyzers()[WORDS]
FILL = "And so it went on for a while, as such things do, until it came to an end. " * 10


def shown(text: str, *words: str, runs: tuple[str, ...] = ()) -> Snippet:
    return snippet_of(text, QueryWords(weights=dict.fromkeys(words, 1.0), runs=runs, analyzer=ANALYZER))


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[start:end] for start, end in snippet.highlights]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A short one.", "A short one."),
        ("", ""),
        (f"The bell rang. {FILL}", "The bell rang. And so"),
        (f"{FILL}The bell rang. {FILL}", "…The bell rang. And so"),
        (f"{FILL}The bell rang.", "…The bell rang."),
    ],
)
def test_a_snippet_begins_with_the_sentence(text: str, expected: str) -> None:
    snippet = shown(text, "bell")
    assert snippet.text.startswith(expected)
    assert len(snippet.text) <= SNIPPET_LENGTH + 2
    assert marked(snippet) == ["bell"] * ("bell" in text)


def test_the_snippet_is_taken_where_most_words_are_together() -> None:
    text = f"The bell. {FILL} A horn. {FILL} The bell and the horn in fog. {FILL} fog fog fog."
    assert marked(shown(text, "bell", "horn", "fog")) == ["bell", "horn", "fog"]


def test_rare_words_are_worth_more() -> None:
    text = f"The keeper and the lamp. {FILL} Ambergris."
    assert marked(
        snippet_of(text, QueryWords(weights={"keeper": 1, "lamp": 1, "ambergris": 5}, runs=(), analyzer=ANALYZER))
    ) == ["Ambergris"]


def test_words_are_found_as_they_are_written() -> None:
    assert marked(shown("Die Straße zum ÉTOILE-Haus", "strasse", "etoile")) == ["Straße", "ÉTOILE"]


def test_scripts_without_spaces() -> None:
    text = "。".join(["岩の上にはフジツボがいます"] * 30 + ["潮だまりの生きもの"] + ["岩の上にはフジツボがいます"] * 30)
    snippet = shown(text, runs=("潮だまり", "潮だ", "だま"))
    assert marked(snippet) == ["潮だまり"]
    assert len(snippet.text) <= SNIPPET_LENGTH + 2


@given(st.text(max_size=2_000), st.lists(st.text(max_size=5), max_size=4))
def test_every_text_has_a_snippet(text: str, words: list[str]) -> None:
    terms = [term for word in words for term in ANALYZER.analyze(word)]
    snippet = shown(text, *terms, runs=tuple(word for word in words if word))
    assert snippet.text.strip("…") in text
    assert len(snippet.text) <= SNIPPET_LENGTH + 2
    ends = [0, *(place for pair in snippet.highlights for place in pair), len(snippet.text)]
    assert ends == sorted(ends)
