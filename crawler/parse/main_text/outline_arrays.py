"""The outline of a page as arrays: for each part its place in the tree, its tag, and what is told of it by names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from crawler.parse.main_text.hints import asks_consent, is_advertising, kinds_of, words_of
from crawler.parse.main_text.outline import HIDDEN, Outline

Column = NDArray[np.float64]
Numbers = NDArray[np.int64]

_WIDE: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]+")
_WIDTH: Final = 2.5  # letters of English for a Han character in translations

_TAGS: Final = (
    "p li td th h1 h2 h3 h4 h5 h6 div pre dt dd figcaption button nav header footer span section article blockquote "
    "label ul ol table tr main aside form figure body a address dl caption summary details fieldset center tbody thead"
)
TAG_NUMBERS: Final = {tag: number for number, tag in enumerate(_TAGS.split(), 1)}
_BODY: Final = TAG_NUMBERS["body"]
ROW: Final = TAG_NUMBERS["tr"]

# Facts of an element that hold for all in it, a bit each: what its names say, and what kind of element it is.
NAMES: Final = (
    *("comment", "sidebar", "related", "share", "promo", "signup", "notice", "trail", "menu", "foot", "head", "byline"),
    *("meta", "caption", "title", "lead", "body", "article", "content", "hidden", "ads", "dialog", "consent"),
    "not shown",
)
ELEMENTS: Final = ("article", "aside", "figure", "footer", "form", "header", "main", "nav", "section", "table")
NAME_BITS: Final = {name: 1 << number for number, name in enumerate(NAMES)}
_ELEMENT_BITS: Final = {tag: 1 << number for number, tag in enumerate(ELEMENTS, len(NAMES))}
_TAG_FACTS: Final = {tag: (TAG_NUMBERS.get(tag, 0), _ELEMENT_BITS.get(tag, 0)) for tag in {*TAG_NUMBERS, *ELEMENTS}}
ADVERTISING: Final = NAME_BITS["ads"]
CONSENT: Final = NAME_BITS["consent"]
NOT_SHOWN: Final = NAME_BITS["not shown"]
AROUND: Final = sum(_ELEMENT_BITS[tag] for tag in ("nav", "header", "footer", "aside", "form"))


@lru_cache(maxsize=16_384)  # pages of a site share names; each has at most 200 characters
def _read_names(names: str) -> tuple[int, str]:
    """Return what the names of an element say, as bits, and the names without its id: siblings may share these."""
    said = 0
    if names[0] in "@$!":  # see `names_of`
        said = NAME_BITS["not shown"] * names.startswith(HIDDEN) | NAME_BITS["dialog"] * ("@dialog" in names)
    if asks_consent(names):
        said |= NAME_BITS["consent"]
    for word in words_of(names):
        said |= _bits_of(word)
    return said, names.partition(" #")[0]


@lru_cache(maxsize=16_384)
def _bits_of(word: str) -> int:
    said = NAME_BITS["ads"] * is_advertising(word)
    for kind in kinds_of(word):
        said |= NAME_BITS.get(kind, 0)
    return said


def _mean_width(text: str) -> float:
    """Return the letters that a character is worth on average: the scripts of East Asia say more with each.

    >>> _mean_width("spider"), _mean_width("паук"), _mean_width("蜘蛛")
    (1.0, 1.0, 2.5)
    """
    if text.isascii() or not _WIDE.search(text):
        return 1.0
    return 1 + (_WIDTH - 1) * (1 - len(_WIDE.sub("", text)) / len(text))


class OutlineArrays:
    """The parts of an outline as arrays, with sums over their subtrees; sizes are in letters."""

    def __init__(self, parts: Outline) -> None:
        self.parts = parts
        count = len(parts)
        tags, own, facts, depths, groups = [], [], [0], [-1], []  # the parent of the root has the number -1
        members: dict[tuple[int, str, str], int] = {}
        sizes: list[int] = []  # of the groups of siblings that are alike
        for part in parts:
            parent, tag, names = part.parent, part.tag, part.names
            number, fact = _TAG_FACTS.get(tag, (0, 0))
            said = 0
            if part.is_bare:
                names, fact = "~", 0
            elif names:
                said, names = _read_names(names)
                if number == _BODY:
                    said = 0
                fact |= said
            tags.append(number)
            own.append(said)
            facts.append(facts[parent + 1] | fact)
            depths.append(depths[parent + 1] + 1)
            alike = (parent, tag, names)
            group = members.get(alike)
            if group is None:
                group = members[alike] = len(sizes)
                sizes.append(1)
            else:
                sizes[group] += 1
            groups.append(group)
        parents = [part.parent for part in parts]
        ends = list(range(count))
        for at in range(count - 1, 0, -1):
            parent = parents[at]
            if ends[at] > ends[parent]:
                ends[parent] = ends[at]
        self.parent = np.maximum(np.array(parents), 0)  # the root is its own parent
        self.end = np.array(ends) + 1  # behind the last descendant
        self.tag = np.array(tags)
        self.own = np.array(own)
        self.facts = np.array(facts[1:])
        self.depth = np.array(depths[1:])
        self.group = np.array(groups)
        self.group_sizes = np.array(sizes)
        self.tags_before = np.array([part.tags_before for part in parts])
        self.texts = [part.text for part in parts if part.text]
        self.blocks = np.array([number for number, part in enumerate(parts) if part.text])
        widths = np.array([_mean_width(text) for text in self.texts])
        self.size = np.array([part.size for part in parts], float)[self.blocks] * widths
        self.link_size = np.array([part.link_size for part in parts], float)[self.blocks] * widths

    def sums(self, values: Column) -> Column:
        """Return for each part how much of a value of blocks lies before it; the last entry is the sum of all."""
        spread = np.zeros(len(self.parts) + 1)
        spread[self.blocks + 1] = values
        return np.cumsum(spread)

    def within(self, sums: Column, parts: Numbers) -> Column:
        """Return how much lies within each of these parts, by the result of `sums`."""
        found: Column = sums[self.end[parts]] - sums[parts]
        return found
