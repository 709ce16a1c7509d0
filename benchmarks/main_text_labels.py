"""Which blocks of a page are content, by its labelled text or its labelled segments."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final

from benchmarks.extraction_sets import MarkedPage
from crawler.parse.main_text.outline import Outline

CONTENT: Final = 1
OTHER: Final = 0
UNKNOWN: Final = -1
NOTHING_MADE: Final[Mapping[str, int]] = {}
_WORD: Final = re.compile(r"\w+")
_LONG: Final = 4  # words from which a block is compared by itself
_NEAR: Final = 3  # blocks around the labelled text in which short ones are believed
_ENOUGH: Final = 12  # words of a block that shows where the labelled text is
_MOSTLY, _HARDLY = 0.6, 0.25  # shares of a block's shingles in the labelled text


def labels_of(page: MarkedPage, parts: Outline, made: Mapping[str, int] = NOTHING_MADE) -> list[int]:
    """Label the blocks of a page; those that we put into it are known by their texts."""
    texts = [part.text for part in parts if part.text]
    if page.text:
        labels = _labels_by_text(page.text, texts)
    elif page.wanted:
        labels = [_label_by_segments(page, text) for text in texts]
    else:
        labels = [UNKNOWN] * len(texts)
    return [made.get(text, label) for text, label in zip(texts, labels, strict=True)]


def _label_by_segments(page: MarkedPage, text: str) -> int:
    wanted = any(piece in text for piece in page.wanted)
    unwanted = any(piece in text for piece in page.unwanted)
    return UNKNOWN if wanted == unwanted else CONTENT if wanted else OTHER


def _labels_by_text(text: str, blocks: Sequence[str]) -> list[int]:
    """Label a block as content if its shingles, for a short one with its neighbours', are in the labelled text."""
    marked = _WORD.findall(text)
    known = {size: {tuple(marked[at : at + size]) for at in range(len(marked) - size + 1)} for size in (2, 3, 4)}
    lines = {" ".join(_WORD.findall(line)) for line in text.split("\n")}
    words = [_WORD.findall(block) for block in blocks]
    labels = [_label_of_long(one, known[_LONG]) if len(one) >= _LONG else UNKNOWN for one in words]
    is_long = [label == CONTENT for label in labels]
    before: list[str] = []
    for number, one in enumerate(words):
        if 0 < len(one) < _LONG:
            after = next((words[at] for at in range(number + 1, len(words)) if is_long[at]), [])
            runs = (before[-3:] + one, one + after[:3])
            fits = any(len(run) > max(len(one), 2) and _all_known(run, known) for run in runs)
            labels[number] = CONTENT if fits or " ".join(one) in lines else OTHER
        if labels[number] == CONTENT and one:
            before = one
    return _without_strays(words, labels)


def _label_of_long(words: list[str], known: set[tuple[str, ...]]) -> int:
    runs = [tuple(words[at : at + _LONG]) for at in range(len(words) - _LONG + 1)]
    share = fmean(run in known for run in runs)
    if share > _MOSTLY or (share >= _HARDLY and len(words) < 7):
        return CONTENT
    return OTHER if share < _HARDLY else UNKNOWN


def _all_known(run: list[str], known: dict[int, set[tuple[str, ...]]]) -> bool:
    size = min(len(run), _LONG)
    return all(tuple(run[at : at + size]) in known[size] for at in range(len(run) - size + 1))


def _without_strays(words: Sequence[list[str]], labels: list[int]) -> list[int]:
    """Unlabel short blocks far from the text: the words of a heading may stand in a menu, too."""
    long = [at for at, label in enumerate(labels) if label == CONTENT and len(words[at]) >= _ENOUGH]
    for at, one in enumerate(words):
        is_far = long and not long[0] - _NEAR <= at <= long[-1] + _NEAR
        if labels[at] == CONTENT and len(one) < _ENOUGH and is_far:
            labels[at] = UNKNOWN if len(one) >= _LONG else OTHER
    return labels
