"""A few lines of a text around the words that were looked for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import tantivy

LENGTH = 200  # characters
_READ = 200_000  # characters of a text in which words are looked for
_BEFORE = 60  # characters that lead up to the first word
_AGAIN = 0.1  # of what a word is worth, if it is there once more
_NEAR = 20  # characters in which the end of a word is looked for; some scripts have none
_ELLIPSIS = "…"


class Snippet(NamedTuple):
    """Text on one line, and where in it the words are."""

    text: str
    highlights: Sequence[tuple[int, int]]  # start and end


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWords:
    """What is looked for."""

    weights: Mapping[str, float]  # words as the analyzer has them, with what each is worth
    runs: Sequence[str]  # of characters of scripts without spaces, as they stand in a text
    analyzer: tantivy.TextAnalyzer


class WordMatch(NamedTuple):
    """A word in a text."""

    start: int
    end: int
    word: str
    worth: float


def snippet_of(text: str, words: QueryWords) -> Snippet:
    """The part with the most of the words, or the beginning if there is none of them."""
    matches = sorted(_matches(text[:_READ], words))
    start = _start(text, _best(matches)) if matches else 0
    end = _end(text, start + LENGTH)
    before, after = _ELLIPSIS if start else "", _ELLIPSIS if end < len(text) else ""
    moved = len(before) - start
    inside = [match for match in matches if start <= match.start and match.end <= end]
    return Snippet(
        text=before + text[start:end] + after,
        highlights=_joined([(match.start + moved, match.end + moved) for match in inside]),
    )


def _matches(text: str, words: QueryWords) -> Iterator[WordMatch]:
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


def _best(matches: Sequence[WordMatch]) -> int:
    """Where the window begins whose words are worth the most; of several the first."""
    inside: Counter[str] = Counter()
    best, found, first, worth = -1.0, 0, 0, 0.0
    for match in matches:
        inside[match.word] += 1
        worth += match.worth * (_AGAIN if inside[match.word] > 1 else 1)
        while match.end - matches[first].start > LENGTH - _BEFORE and matches[first] is not match:
            gone = matches[first]
            inside[gone.word] -= 1
            worth -= gone.worth * (_AGAIN if inside[gone.word] else 1)
            first += 1
        if worth > best + 1e-9:
            best, found = worth, matches[first].start
    return found


def _start(text: str, first: int) -> int:
    """A little before the first word: at the beginning of its sentence if that is near, else of a word."""
    if first <= _BEFORE:
        return 0
    early = first - _BEFORE
    sentence = text.rfind(". ", early, first)
    if sentence >= 0:
        return sentence + 2
    space = text.find(" ", early, min(early + _NEAR, first))
    return space + 1 if space >= 0 else early


def _end(text: str, latest: int) -> int:
    if latest >= len(text):
        return len(text)
    space = text.rfind(" ", latest - _NEAR, latest)
    return space if space >= 0 else latest


def _joined(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Without those that lie in another."""
    apart: list[tuple[int, int]] = []
    for start, end in ranges:
        if apart and start < apart[-1][1]:
            apart[-1] = apart[-1][0], max(end, apart[-1][1])
        else:
            apart.append((start, end))
    return apart
