"""Main-text extraction by learned trees: the probability that each block of text is content, in two passes.

The first pass sees each block with its neighbours, the elements around it, and the page as a whole. The second also
sees what the first has made of all the others: so a heading follows its text, an item its list, and what stands alone
between parts that are no content is none.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np

from crawler.parse.main_text.block_features import block_columns
from crawler.parse.main_text.outline import Outline
from crawler.parse.main_text.outline_arrays import (
    ADVERTISING,
    AROUND,
    CONSENT,
    NOT_SHOWN,
    ROW,
    Column,
    OutlineArrays,
)
from crawler.parse.main_text.result import NO_TEXT, MainText, ParsedPage, main_text
from crawler.parse.main_text.score_features import score_columns
from crawler.parse.main_text.trees import Trees
from crawler.parse.main_text.weighed import weighed

FILES: Final = ("main_text_1.trees", "main_text_2.trees")
_MOST_PARTS: Final = 100_000  # of which all features take about 300 MB
_SHORT_ROW: Final = 300  # characters of a row of a table that is more likely data than layout
_NEARLY_ALL: Final = 0.75  # share of the content from which hidden text and advertising are believed to be it


class Passes(NamedTuple):
    """The trees of both passes."""

    first: Trees
    second: Trees


@cache
def learned_trees() -> Passes:
    """Return the trees that come with the package."""
    folder = files("crawler.parse.main_text")
    return Passes(*(Trees.from_bytes((folder / name).read_bytes()) for name in FILES))


def learned(source: ParsedPage) -> MainText:
    """Extract the main text with the learned trees; of pages with very many parts by a method that needs no arrays."""
    if len(source.parts) > _MOST_PARTS:
        return weighed(source)
    return learned_text(source.parts, source.title, learned_trees())


def learned_text(parts: Outline, title: str, passes: Passes) -> MainText:
    """Extract the main text with given trees."""
    if not parts:
        return NO_TEXT
    outline = OutlineArrays(parts)
    columns = block_columns(outline, title)
    first = passes.first.probabilities(columns)
    found = passes.second.probabilities(columns | score_columns(outline, first))
    return text_of_blocks(parts, outline, found)


def text_of_blocks(parts: Outline, outline: OutlineArrays, probabilities: Column) -> MainText:
    """Return the result for given probabilities of the blocks."""
    facts, size = outline.facts[outline.blocks], outline.size
    chances = _without(_rows_together(probabilities, outline), size, (facts & NOT_SHOWN) != 0)
    chances = _without(chances, size, (facts & (ADVERTISING | CONSENT)) != 0)
    importance = np.zeros(len(parts))
    importance[outline.blocks] = _with_some_text(chances, (facts & (AROUND | ADVERTISING | CONSENT | NOT_SHOWN)) != 0)
    return main_text(parts, importance.tolist(), expected_f1(chances, size))


def _rows_together(chances: Column, outline: OutlineArrays) -> Column:
    """Give all cells of a short row of a table the same chance: a name without its value says nothing."""
    rows = outline.parent[outline.blocks]
    is_cell = outline.tag[rows] == ROW
    if not is_cell.any():
        return chances
    sizes = np.bincount(rows, outline.size)
    content = np.bincount(rows, chances * outline.size)
    together: Column = np.where(is_cell & (sizes[rows] <= _SHORT_ROW), content[rows] / sizes[rows], chances)
    return together


def _without(chances: Column, size: Column, excluded: Column) -> Column:
    """Exclude blocks, unless they are nearly all of the content: some pages show their text by a script."""
    if not excluded.any():
        return chances
    content = np.where(chances >= 0.5, size, 0.0)
    if content[excluded].sum() > _NEARLY_ALL * content.sum():
        return chances
    return np.where(excluded, 0.0, chances)


def _with_some_text(chances: Column, around: Column) -> Column:
    """Where no block is likely content, take all but what stands around it: search must find the page by some text."""
    if chances.max() >= 0.5:
        return chances
    return np.ones(len(chances)) if around.all() else np.where(around, chances, np.maximum(chances, 0.5))


def expected_f1(chances: Column, size: Column) -> float:
    """Return the expected F1 of the chosen blocks by characters, if the probabilities are right."""
    chosen = chances >= 0.5
    content = float((chances * size).sum())
    right = float((chances * size)[chosen].sum())
    return 2 * right / (float(size[chosen].sum()) + content) if right else 0.0
