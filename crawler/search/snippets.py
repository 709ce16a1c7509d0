"""Cut a snippet from a document's text around the words of a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import tantivy

SNIPPET_LENGTH = 200  # characters
_MAX_READ = 200_000  # characters of a text that are searched for the words
_MAX_LEAD = 60  # characters before the first word
_REPETITION_WEIGHT = 0.1  # factor for the weight of a word that occurs again
_MAX_SHIFT = 20  # characters in which a boundary of words is searched for; some scripts have none
_ELLIPSIS = "…"


class Snippet(NamedTuple):
    """Text on one line, and the positions of the query's words in it."""

    text: str
    highlights: Sequence[tuple[int, int]]  # start and end


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWords:
    """The words of a query that are highlighted."""

    weights: Mapping[str, float]  # terms of the analyzer, each with its weight
    runs: Sequence[str]  # substrings in scripts without spaces
    analyzer: tantivy.TextAnalyzer


class WordMatch(NamedTuple):
    """An occurrence of a word in a text."""

    start: int
    end: int
    word: str
    worth: float


def snippet_of(text: str, words: QueryWords) -> Snippet:
    """The part of a text with the words of the highest total weight, or its beginning if it has none of them."""
    matches = sorted(_find_matches(text[:_MAX_READ], words))
    start = _window_start(text, _best_window(matches)) if matches else 0
    end = _window_end(text, start + SNIPPET_LENGTH)
    before, after = _ELLIPSIS if start else "", _ELLIPSIS if end < len(text) else ""
    moved = len(before) - start
    inside = [match for match in matches if start <= match.start and match.end <= end]
    return Snippet(
        text=before + text[start:end] + after,
        highlights=_merge_overlapping([(match.start + moved, match.end + moved) for match in inside]),
    )


def _find_matches(text: str, words: QueryWords) -> Iterator[WordMatch]:
    if words.weights:
        for token in words.analyzer.pre_tokenize(text).tokens:
            worth = words.weights.get(token.text)
            if worth is not None:
                yield WordMatch(token.char_offset_from, token.char_offset_to, token.text, worth)
    for run in words.runs:
        at = text.find(run)
        while at >= 0:
            yield WordMatch(at, at + len(run), run, float(len(run)))
            at = text.find(run, at + len(run))


def _best_window(matches: Sequence[WordMatch]) -> int:
    """The start of the window whose words have the highest total weight; of several the first."""
    inside: Counter[str] = Counter()
    best, best_start, first, worth = -1.0, 0, 0, 0.0
    for match in matches:
        inside[match.word] += 1
        worth += match.worth * (_REPETITION_WEIGHT if inside[match.word] > 1 else 1)
        while match.end - matches[first].start > SNIPPET_LENGTH - _MAX_LEAD and matches[first] is not match:
            gone = matches[first]
            inside[gone.word] -= 1
            worth -= gone.worth * (_REPETITION_WEIGHT if inside[gone.word] else 1)
            first += 1
        if worth > best + 1e-9:
            best, best_start = worth, matches[first].start
    return best_start


def _window_start(text: str, first: int) -> int:
    """The start of the snippet, a little before the first match: the start of its sentence if near, else of a word."""
    if first <= _MAX_LEAD:
        return 0
    early = first - _MAX_LEAD
    sentence = text.rfind(". ", early, first)
    if sentence >= 0:
        return sentence + 2
    space = text.find(" ", early, min(early + _MAX_SHIFT, first))
    return space + 1 if space >= 0 else early


def _window_end(text: str, latest: int) -> int:
    if latest >= len(text):
        return len(text)
    space = text.rfind(" ", latest - _MAX_SHIFT, latest)
    return space if space >= 0 else latest


def _merge_overlapping(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge ranges that overlap."""
    apart: list[tuple[int, int]] = []
    for start, end in ranges:
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart
