"""What the first scores of the blocks of a page say about each of them: the columns of the second pass of trees.

A heading belongs to what follows it, a paragraph to its neighbours, a list item to its list: whether a block is content
is easier to say when it is known what the others probably are.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from crawler.parse.main_text.block_features import shifted
from crawler.parse.main_text.outline_arrays import Column, OutlineArrays

_LEAST: Final = 1e-4  # probability that is taken for certain
_NO_BLOCK: Final = -9.0  # score of a neighbour that there is not


def score_columns(outline: OutlineArrays, scores: Column) -> dict[str, Column]:
    """Return the columns of all features; a score is the probability that a block is content."""
    count, size = len(scores), outline.size
    numbers = np.arange(count)
    certain = np.clip(scores, _LEAST, 1 - _LEAST)
    score = np.log(certain / (1 - certain))
    content = size * scores
    columns = {"score": score}
    for distance in (1, 2, 3):
        columns[f"score before {distance}"] = shifted(score, distance, _NO_BLOCK)
        columns[f"score after {distance}"] = shifted(score, -distance, _NO_BLOCK)
    contents, sizes = (np.concatenate([[0.0], np.cumsum(values)]) for values in (content, size))
    for width in (4, 12):
        first, behind = np.maximum(numbers - width, 0), np.minimum(numbers + width + 1, count)
        columns[f"content before, {width}"] = _shares(
            contents[numbers] - contents[first], sizes[numbers] - sizes[first]
        )
        columns[f"content after, {width}"] = _shares(
            contents[behind] - contents[numbers + 1], sizes[behind] - sizes[numbers + 1]
        )
    all_content = max(contents[-1], 1.0)
    contents_of, sizes_of, scores_of, blocks_of = map(outline.sums, (content, size, scores, np.ones(count)))
    elements = outline.parent[outline.blocks]
    for name in ("parent", "parent 2", "parent 3", "parent 4"):
        inside, within, total, blocks = (
            outline.within(sums, elements) for sums in (contents_of, sizes_of, scores_of, blocks_of)
        )
        columns[f"{name}: content of the others"] = _shares(inside - content, within - size)
        columns[f"{name}: score of the others"] = (total - scores) / np.maximum(blocks - 1, 1)
        columns[f"{name}: content of the page"] = inside / all_content
        elements = outline.parent[elements]
    columns["content before"] = contents[:-1] / all_content
    columns["content after"] = (contents[-1] - contents[1:]) / all_content
    highest = float(scores.max())
    columns["score, as a share of the highest"] = scores / max(highest, _LEAST)
    facts = {
        "content": contents[-1] / sizes[-1],
        "characters of content": np.log1p(contents[-1]),
        "highest score": highest,
        "blocks of content": float(scores.sum()),
        "likely blocks": float((scores >= 0.5).mean()),
        "certainty": float(np.abs(2 * scores - 1).mean()),
    }
    return columns | {f"page: {what}": np.full(count, value) for what, value in facts.items()}


def _shares(parts: Column, wholes: Column) -> Column:
    shares: Column = parts / np.maximum(wholes, 1.0)
    return shares
