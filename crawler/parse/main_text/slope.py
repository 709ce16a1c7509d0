"""Main-text extraction by the document slope curve: it rises with tags, is level over words; content is the plateau.

Finn, Kushmerick and Smyth (2001) treat a page as a sequence of tokens, tags and words, and take the range that
maximizes tags outside plus words inside. Pinto et al. (2002) find several plateaus: runs of windows in which the curve
rises less than half as much as on average. Tags that only format do not count as tokens.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from turbohtml import Document

from crawler.parse.main_text.outline import Outline, outline
from crawler.parse.main_text.result import MainText, ParsedPage, main_text

_WINDOW: Final = 50  # tokens
_STEEP: Final = 0.5  # share of the page's mean slope from which a window is steep
_LEAST_WINDOWS: Final = 3  # flat windows in a row that begin a section; two steep ones end it


@dataclass(frozen=True, slots=True)
class SlopeCurve:
    """The corners of the curve as (tokens so far, tags among them), and the range of tokens that is the content."""

    points: list[tuple[int, int]]
    chosen: tuple[int, int]


def slope_curve(document: Document) -> SlopeCurve:
    """The slope curve of a page with the chosen plateau, for plotting."""
    parts = outline(document, menus_whole=False)
    points = _points(parts)
    first, last = _plateau(parts)
    return SlopeCurve(points, (points[2 * first + 1][0], points[2 * last][0]) if first < last else (0, 0))


def slope(source: ParsedPage) -> MainText:
    """Extract the one best plateau of the curve (Finn et al.)."""
    parts = outline(source.document, menus_whole=False)  # each menu entry is between tags
    first, last = _plateau(parts)
    numbers = iter(range(len(parts)))
    return main_text(parts, [1.0 if part.text and first <= next(numbers) < last else 0.0 for part in parts])


def windows(source: ParsedPage) -> MainText:
    """Extract all flat sections of the curve, found by windows (Pinto et al.)."""
    parts = outline(source.document, menus_whole=False)  # each menu entry is between tags
    points = _points(parts)
    sections = _sections(points)
    starts = [start for start, _ in sections]
    importance = []
    number = 0
    for part in parts:
        weight = 0.0
        if part.text:
            begin, end = points[2 * number + 1][0], points[2 * number + 2][0]
            number += 1
            section = bisect_right(starts, (begin + end) // 2) - 1
            weight = 1.0 if section >= 0 and (begin + end) // 2 < sections[section][1] else 0.0
        importance.append(weight)
    return main_text(parts, importance)


def _points(parts: Outline) -> list[tuple[int, int]]:
    """The corners of the curve: (0, 0), then the start and the end of each block's words."""
    points = [(0, 0)]
    words = 0
    for part in parts:
        if part.text:
            tags = part.tags_before
            points.append((tags + words, tags))
            words += len(part.text.split())
            points.append((tags + words, tags))
    return points


def _plateau(parts: Outline) -> tuple[int, int]:
    """The range of blocks, the end excluded, whose words exceed the tags between them by most.

    Maximizing tags outside plus words inside is maximizing words inside minus tags inside: the maximum subarray, in one
    pass.
    """
    best = (0, 0)
    most = gain = start = tags = 0
    blocks = [part for part in parts if part.text]
    for number, block in enumerate(blocks):
        gain -= block.tags_before - tags
        tags = block.tags_before
        if gain <= 0:
            gain, start = 0, number
        gain += len(block.text.split())
        if gain > most:
            most, best = gain, (start, number + 1)
    return best


def _sections(points: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges of tokens in which the curve is flat."""
    tokens, tags = points[-1]
    if not tokens:
        return []
    risen = _heights(points, tokens)
    flat = [after - before < _STEEP * tags / tokens * _WINDOW for before, after in pairwise(risen)]
    sections: list[tuple[int, int]] = []
    start = -1
    for number, is_flat in enumerate([*flat, False, False]):
        if start < 0 and all(flat[number : number + _LEAST_WINDOWS]) and is_flat:
            start = number
        elif start >= 0 and not is_flat and not any(flat[number : number + 2]):
            sections.append((start * _WINDOW, number * _WINDOW))
            start = -1
    return sections


def _heights(points: list[tuple[int, int]], tokens: int) -> list[int]:
    """The number of tags up to the end of each window."""
    rises = [0] * (tokens // _WINDOW + 2)
    for (begin, low), (end, high) in pairwise(points):
        if high > low:  # in this range every token is a tag
            for window in range(begin // _WINDOW, end // _WINDOW + 1):
                left, right = max(begin, window * _WINDOW), min(end, (window + 1) * _WINDOW)
                rises[window + 1] += max(right - left, 0)
    return list(accumulate(rises))
