"""What is known of each text block of a page, as numbers: the columns by which the trees decide (trees.py).

The block itself, its neighbours, the elements around it, its place on the page, and the page as a whole. All are
computed for all blocks of a page at once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from crawler.parse.elements import HEADINGS
from crawler.parse.main_text.outline_arrays import (
    ELEMENTS,
    NAME_BITS,
    NAMES,
    NOT_SHOWN,
    TAG_NUMBERS,
    Column,
    Numbers,
    OutlineArrays,
)

_PARAGRAPH: Final = 80  # characters from which a block with few links is running text
_LONGEST_TITLE: Final = 300  # characters of the title that are compared
_BEGINNING: Final = 500  # characters of a block whose punctuation is counted
_OPENING: Final = 60  # characters of a block in which dates and prices are looked for
_FEWEST_ALIKE: Final = 3  # siblings of one kind that make a list
_FARTHEST: Final = 200  # parts from the h1, the first and the last paragraph, beyond which distance does not matter
_MOST_STOPS: Final = 100.0

_SENTENCE_ENDS: Final = frozenset(".!?…。！？”\"»:;)'’")
_DATE: Final = re.compile(r"\d{1,2}[:./-]\d{1,2}|(?:19|20)\d\d")
_PRICE: Final = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:[€£]|USD|EUR)")

_H1: Final = TAG_NUMBERS["h1"]
_IN: Final = [*(f"in {name}" for name in NAMES), *(f"in <{tag}>" for tag in ELEMENTS)]
_NAMED: Final = [f"named {name}" for name in NAMES]
# Paragraphs in elements of these names are not the page's own text, so they do not say where that is.
_NOT_CONTENT: Final = sum(
    NAME_BITS[name] for name in ("comment", "foot", "hidden", "notice", "signup", "ads", "consent", "not shown")
)


def block_columns(outline: OutlineArrays, title: str) -> dict[str, Column]:
    """Return the columns of all features; `title` is the document's."""
    columns = _text_columns(outline, title)
    return columns | _place_columns(outline, columns)


def _text_columns(outline: OutlineArrays, title: str) -> dict[str, Column]:
    """Features of the text of a block alone."""
    texts = outline.texts
    title = title[:_LONGEST_TITLE].lower()
    counts = Counter(texts)
    beginnings = [text[:_BEGINNING] for text in texts]
    size = outline.size
    beginning = np.minimum(size, _BEGINNING)
    commas = np.array([text.count(",") if text.isascii() else _commas(text) for text in beginnings], float)
    words = np.array([text.count(" ") for text in beginnings]) + 1.0
    return {
        "size": np.log1p(size),
        "words": words,
        "characters a word": beginning / words,
        "links": outline.link_size / size,
        "ends as a sentence": np.array([text[-1] in _SENTENCE_ENDS for text in texts], float),
        "commas": commas,
        "commas a character": commas / beginning,
        "sentences": np.array([_stops(text) for text in beginnings], float),
        "date": np.array([_DATE.search(text, 0, _OPENING) is not None for text in texts], float),
        "price": np.array([_PRICE.search(text, 0, _OPENING) is not None for text in texts], float),
        "question": np.array([text[-1] in "?？" for text in texts], float),
        "times on the page": np.array([counts[text] for text in texts], float),
        "in the title": np.array([_is_title(text, title) for text in texts], float),
    }


def _commas(text: str) -> int:
    return text.count(",") + text.count("，") + text.count("、") + text.count("،")


def _stops(text: str) -> int:
    found = text.count(". ") + text.count("! ") + text.count("? ")
    return found if text.isascii() else found + text.count("。") + text.count("！") + text.count("？")


def _is_title(text: str, title: str) -> bool:
    return bool(title) and 8 < len(text) < _LONGEST_TITLE and ((lower := text.lower()) in title or title in lower)


def _place_columns(outline: OutlineArrays, texts: Mapping[str, Column]) -> dict[str, Column]:
    """Features of the place of a block: neighbours, elements around it, page."""
    blocks, size, tag = outline.blocks, outline.size, outline.tag
    facts = outline.facts[blocks]
    is_shown = (facts & NOT_SHOWN) == 0
    prose = np.where((size >= _PARAGRAPH) & (texts["links"] < 0.25) & is_shown, size, 0.0)
    page = _Page(outline, texts, prose)
    count, numbers = len(blocks), np.arange(len(blocks))
    before = page.sizes[blocks]
    around = _elements_around(outline, blocks)
    columns = {
        "tag": tag[blocks].astype(float),
        "depth": outline.depth[blocks].astype(float),
        "alike": outline.group_sizes[outline.group[blocks]].astype(float),
        "start": before / page.size,
        "end": 1 - (before + size) / page.size,
        "characters before": np.log1p(before),
        "characters after": np.log1p(page.size - before - size),
        "number": numbers.astype(float),
        "number, as a share": numbers / count,
        "tags to the next": np.diff(outline.tags_before[blocks], append=outline.tags_before[blocks[-1]]).astype(float),
    }
    columns |= zip(_IN, _bits(facts, len(_IN)), strict=True)
    columns |= zip(_NAMED, _bits(outline.own[blocks] | outline.own[around[0]], len(_NAMED)), strict=True)
    columns |= _neighbour_columns(texts, columns, size, outline.link_size, prose, page.all_prose)
    for name, elements in zip(("parent", "parent 2", "parent 3", "parent 4"), around, strict=True):
        columns |= {f"{name}: {what}": column for what, column in page.of_elements(elements, before)}
    columns["parent: alike"] = outline.group_sizes[outline.group[around[0]]].astype(float)
    columns["parent 2: alike"] = outline.group_sizes[outline.group[around[1]]].astype(float)
    columns |= page.positions(around)
    columns |= {f"page: {what}": np.full(count, value) for what, value in page.facts()}
    return columns


def _bits(facts: Numbers, count: int) -> Column:
    """Return a row for each of the first bits."""
    return ((facts >> np.arange(count)[:, None]) & 1).astype(float)


def _elements_around(outline: OutlineArrays, blocks: Numbers) -> list[Numbers]:
    """Return the parents of the blocks, the parents of these, and so on."""
    around = [outline.parent[blocks]]
    for _ in range(3):
        around.append(outline.parent[around[-1]])
    return around


def shifted(column: Column, by: int, missing: float = -1.0) -> Column:
    """Return for each block the value of the one so many places before it (after it, if negative).

    >>> shifted(np.array([1.0, 2.0, 3.0]), 1), shifted(np.array([1.0, 2.0, 3.0]), -5)
    (array([-1.,  1.,  2.]), array([-1., -1., -1.]))
    """
    moved = np.full(len(column), missing)
    if by > 0:
        moved[by:] = column[:-by]
    elif -by < len(column):
        moved[:by] = column[-by:]
    return moved


def _neighbour_columns(
    texts: Mapping[str, Column],
    places: Mapping[str, Column],
    size: Column,
    link_size: Column,
    prose: Column,
    all_prose: float,
) -> dict[str, Column]:
    count = len(size)
    numbers = np.arange(count)
    columns = {
        "before: size": shifted(texts["size"], 1),
        "before: ends as a sentence": shifted(texts["ends as a sentence"], 1),
        "before: tag": shifted(places["tag"], 1),
        "after: size": shifted(texts["size"], -1),
        "after: links": shifted(texts["links"], -1),
        "after: tag": shifted(places["tag"], -1),
    }
    sizes, links, proses = (np.concatenate([[0.0], np.cumsum(values)]) for values in (size, link_size, prose))
    for width in (3, 8, 20):
        first, behind = np.maximum(numbers - width, 0), np.minimum(numbers + width + 1, count)
        near = sizes[behind] - sizes[first]
        columns[f"near {width}: size"] = np.log1p(near)
        columns[f"near {width}: links"] = (links[behind] - links[first]) / near
        if width > 3:
            columns[f"before {width}: prose"] = (proses[numbers] - proses[first]) / all_prose
            columns[f"after {width}: prose"] = (proses[behind] - proses[numbers + 1]) / all_prose
    return columns


class _Page:
    """Sums over the page, its element with the most running text, and its largest list."""

    def __init__(self, outline: OutlineArrays, texts: Mapping[str, Column], prose: Column) -> None:
        self._outline = outline
        self._texts = texts
        self._prose = prose
        self.sizes = outline.sums(outline.size)
        self._links = outline.sums(outline.link_size)
        self._proses = outline.sums(prose)
        self._counts = outline.sums(np.ones(len(prose)))
        self._stops = outline.sums(texts["sentences"])
        self.size, self.all_prose = self.sizes[-1], max(self._proses[-1], 1.0)
        self._own_prose = np.bincount(outline.parent[outline.blocks], prose, len(outline.parts))
        self.top = self._find_top()

    def _find_top(self) -> int:
        """Find the element with the most text in paragraphs of its own; those of its children count half."""
        outline = self._outline
        counted = np.where(outline.facts & _NOT_CONTENT, 0.0, self._own_prose)
        counted[1:] += np.bincount(outline.parent[1:], counted[1:] / 2, len(counted))[1:]
        return int(np.argmax(counted))

    def of_elements(self, elements: Numbers, before: Column) -> Iterator[tuple[str, Column]]:
        """Yield features of an element around each block."""
        within = self._outline.within
        size, prose, blocks = (within(sums, elements) for sums in (self.sizes, self._proses, self._counts))
        yield "size", size / self.size
        yield "links", within(self._links, elements) / size
        yield "prose of the page", prose / self.all_prose
        yield "prose", prose / size
        yield "own prose", self._own_prose[elements] / size
        yield "blocks", np.log1p(blocks)
        yield "characters a block", np.log1p(size / blocks)
        yield "sentences a character", np.minimum(within(self._stops, elements) / size * _MOST_STOPS, _MOST_STOPS)
        yield "before", (before - self.sizes[elements]) / size

    def positions(self, around: Sequence[Numbers]) -> dict[str, Column]:
        """Return the positions of the blocks relative to the top element, its paragraphs, and the h1."""
        outline, top = self._outline, self.top
        blocks, top_end = outline.blocks, outline.end[top]
        is_in_top = (blocks > top) & (blocks < top_end)
        paragraphs = blocks[(self._prose > 0) & is_in_top]
        first, last = (paragraphs[0], paragraphs[-1]) if len(paragraphs) else (len(outline.parts), -1)
        h1 = np.flatnonzero(outline.tag == _H1)
        return {
            "in top": is_in_top.astype(float),
            "beside top": ((around[0] == top) | (around[1] == outline.parent[top])).astype(float),
            "from top": np.where(blocks < top, blocks - top, np.where(is_in_top, 0, blocks - top_end + 1)).astype(
                float
            ),
            "from the first paragraph": np.clip(blocks - first, -_FARTHEST, _FARTHEST).astype(float),
            "from the last paragraph": np.clip(blocks - last, -_FARTHEST, _FARTHEST).astype(float),
            "from the h1": np.clip(blocks - h1[0], -_FARTHEST, _FARTHEST).astype(float)
            if len(h1)
            else np.full(len(blocks), -2.0 * _FARTHEST),
        }

    def facts(self) -> Iterator[tuple[str, float]]:
        """Yield features of the page as a whole."""
        outline, texts, prose, size = self._outline, self._texts, self._prose, self._outline.size
        tags, facts = outline.tag[outline.blocks], outline.facts[outline.blocks]
        in_comments, in_promotion = ((facts & NAME_BITS[name]) != 0 for name in ("comment", "promo"))
        top = np.array([self.top])
        yield "size", np.log1p(self.size)
        yield "blocks", np.log1p(len(size))
        yield "prose", self.all_prose / self.size
        yield "characters of prose", np.log1p(self.all_prose)
        yield "links", float(outline.link_size.sum() / self.size)
        yield "prose in top", float(outline.within(self._proses, top)[0] / self.all_prose)
        yield "size of top", float(outline.within(self.sizes, top)[0] / self.size)
        yield "own prose of top", float(self._own_prose[self.top] / self.all_prose)
        for name in ("p", "li", "td", "pre"):
            yield f"in <{name}>", float(size[tags == TAG_NUMBERS[name]].sum() / self.size)
        for name in ("article", "form"):
            yield f"<{name}>", np.log1p(float((outline.tag == TAG_NUMBERS[name]).sum()))
        yield "<main>", float((outline.tag == TAG_NUMBERS["main"]).any())
        yield "headings", np.log1p(float(np.isin(tags, _HEADING_NUMBERS).sum()))
        yield "in comments", float(size[in_comments].sum() / self.size)
        yield "prose in comments", float(prose[in_comments].sum() / self.all_prose)
        yield "in promotion", float(size[in_promotion].sum() / self.size)
        for name in ("date", "price", "question"):
            yield f"{name}s", np.log1p(float(texts[name].sum()))
        yield from self._largest_lists()

    def _largest_lists(self) -> Iterator[tuple[str, float]]:
        """Yield features of the siblings of one kind that have the most text, and of those with the most prose."""
        outline = self._outline
        numbers = np.arange(len(outline.parts))
        many = outline.group_sizes >= _FEWEST_ALIKE
        sizes, proses = (
            np.bincount(outline.group, outline.within(sums, numbers), len(many)) * many
            for sums in (self.sizes, self._proses)
        )
        largest, most_prose = int(np.argmax(sizes)), int(np.argmax(proses))
        yield "size of the largest list", float(sizes[largest] / self.size)
        yield "items of the largest list", np.log1p(float(outline.group_sizes[largest] * many[largest]))
        yield "prose of the largest list", float(proses[largest] / self.all_prose)
        yield "most prose of a list", float(proses[most_prose] / self.all_prose)


_HEADING_NUMBERS: Final = [TAG_NUMBERS[tag] for tag in HEADINGS]
