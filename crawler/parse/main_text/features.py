"""Features of the parts of a page that separate content from boilerplate, in any language.

Size, links, punctuation, names, position on the page, and position relative to its paragraphs. The weights of the
features are learned (weights.py).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from crawler.parse.elements import HEADINGS
from crawler.parse.main_text.hints import hints
from crawler.parse.main_text.outline import HIDDEN, Outline, OutlinePart

_PARAGRAPH: Final = 80  # characters from which a block with few links is running text
_LONGEST_TITLE: Final = 300  # characters of the title that are compared
_NON_CONTENT_NAMES: Final = frozenset({"name comment", "name foot", "name hidden", "name notice", "name signup"})

_BLOCK_SIZES: Final = (12, 25, 50, 100, 200, 400, 1000)
_LONG_SIZE_CLASS: Final = 5  # index in _BLOCK_SIZES from which a text is too long for a label
_ELEMENT_SIZES: Final = (50, 200, 800, 3000)
_MEAN_SIZES: Final = (20, 40, 80, 160)
_BLOCK_LINKS: Final = (0.05, 0.25, 0.6)
_ELEMENT_LINKS: Final = (0.1, 0.25, 0.5, 0.8)
_SHARES: Final = (0.001, 0.1, 0.3, 0.6, 0.9)
_PARTS: Final = (0.001, 0.2, 0.5, 0.8, 0.999)
_AMONG: Final = (0.001, 0.2, 0.5, 0.8)
_ALIKE: Final = (3, 6, 12)

_SENTENCE_ENDS: Final = frozenset(".!?…。！？”\"»:;)'’")
_OTHER_STOPS: Final = ("… ", "。", "！", "？", "؟", "।")
_OTHER_COMMAS: Final = ("，", "、", "،")
_DIGIT: Final = re.compile(r"\d")
_MARK: Final = re.compile("[|»›•→]")
_HIDDEN: Final = ("hidden",)


class PartSums:
    """Sums over the subtrees of a page's parts: lists by index of the part."""

    def __init__(self, parts: Outline) -> None:
        count = len(parts)
        self.size = [part.size for part in parts]
        self.link_size = [part.link_size for part in parts]
        self.blocks = [1 if part.text else 0 for part in parts]
        self.start = [0] * count  # characters of text before the part
        self.prose = [0] * count  # characters of running text
        self.own_prose = [0] * count  # characters of paragraphs that are children of the part
        self.end = list(range(count))  # index of the last descendant
        self.names = [hints(part.names) if part.names and part.tag != "body" else () for part in parts]
        self.alike = [0] * count  # siblings with the same tag and classes, including itself
        is_not_content = self._read_down(parts)
        self._sum_up(parts)
        self.top = self._top(parts, is_not_content)
        self.top_parent = parts[self.top].parent
        paragraphs = [
            number for number in range(self.top, self.end[self.top] + 1) if parts[number].text and self.prose[number]
        ]
        self.first_paragraph, self.last_paragraph = (paragraphs[0], paragraphs[-1]) if paragraphs else (-1, -1)
        self.h1 = next((number for number, part in enumerate(parts) if part.tag == "h1"), -1)

    def _read_down(self, parts: Outline) -> list[bool]:
        start, prose, names, position = self.start, self.prose, self.names, 0
        is_not_content, is_hidden = [False] * len(parts), [False] * len(parts)
        siblings: dict[tuple[int, str, str], list[int]] = {}
        for number, part in enumerate(parts):
            start[number] = position
            size = part.size
            position += size
            if number:
                parent = part.parent
                hidden, not_content = is_hidden[parent], is_not_content[parent]
                if part.names:
                    hidden = hidden or part.names.startswith(HIDDEN)
                    not_content = not_content or hidden or not _NON_CONTENT_NAMES.isdisjoint(names[number])
                    if part.tag not in ("li", "tr", "td"):
                        siblings.setdefault((parent, part.tag, part.names.partition(" #")[0]), []).append(number)
                is_hidden[number], is_not_content[number] = hidden, not_content
            if size >= _PARAGRAPH and part.link_size * 4 < size and not is_hidden[number]:
                prose[number] = size
        for numbers in siblings.values():
            for number in numbers:
                self.alike[number] = len(numbers)
        return is_not_content

    def _sum_up(self, parts: Outline) -> None:
        size, link_size, blocks, prose, end = self.size, self.link_size, self.blocks, self.prose, self.end
        for number in range(len(parts) - 1, 0, -1):
            part = parts[number]
            parent = part.parent
            size[parent] += size[number]
            link_size[parent] += link_size[number]
            blocks[parent] += blocks[number]
            if prose[number]:
                prose[parent] += prose[number]
                if part.text:
                    self.own_prose[parent] += prose[number]
            if end[number] > end[parent]:
                end[parent] = end[number]

    def _top(self, parts: Outline, is_not_content: list[bool]) -> int:
        """The element with the most text in paragraphs of its own; those of its children count half."""
        score = [0.0] * len(parts)
        for number, own in enumerate(self.own_prose):
            if own and not is_not_content[number]:
                score[number] += own
                if number and not is_not_content[parts[number].parent]:
                    score[parts[number].parent] += own / 2
        return score.index(max(score))


Facet = tuple[str, ...]  # names of the features that are computed together
Kind = tuple[int, int]  # the classes of a block by size and by share of links
TextTraits = tuple[bool, int, int, Facet]  # of a text: ends like a sentence, commas, sentences, further features
T = TypeVar("T")


class Facets(NamedTuple, Generic[T]):
    """Functions that map each facet of a part to a result; facets repeat, so the functions may cache their results."""

    shape: Callable[[Kind, str, TextTraits], T]
    neighbours: Callable[[Kind | None, Kind | None, bool, bool, bool, bool], T]
    container: Callable[[str, int, int, int], T]
    prose_share: Callable[[int, int, int], T]
    position: Callable[[bool, int, str, str, str, int, int], T]
    names: Callable[[Facet], T]


def features(parts: Outline, title: str, facets: Facets[T]) -> list[list[T]]:
    """The results of the facet functions for every part of a page; `title` is the document's title in lower case."""
    if not parts:
        return []
    sums = PartSums(parts)
    title = title[:_LONGEST_TITLE]
    blocks = [part for part in parts if part.text]
    kinds = [_kind(block) for block in blocks]
    is_heading = [block.tag in HEADINGS for block in blocks]
    is_twice = _find_repeated(blocks)
    total, all_prose, last = sums.size[0] or 1, sums.prose[0] or 1, len(blocks) - 1
    sizes, starts, ends, prose, own_prose = sums.size, sums.start, sums.end, sums.prose, sums.own_prose
    alike, h1, top, top_end = sums.alike, sums.h1, sums.top, ends[sums.top]
    shape, neighbours, position = facets.shape, facets.neighbours, facets.position
    among = [-1] * len(parts)  # by index of an element, the class of its share of text in own paragraphs
    found: list[list[T]] = []
    count = -1  # blocks so far
    for number, part in enumerate(parts):
        size, start, parent = sizes[number], starts[number], part.parent
        alike_class = bisect_right(_ALIKE, alike[number]) if alike[number] > 1 else -1
        if part.text:
            count += 1
            kind = kinds[count]
            facets_of_part = [
                shape(kind, "" if part.is_bare else part.tag, _text_traits(part.text, kind[0])),
                neighbours(
                    kinds[count - 1] if count else None,
                    kinds[count + 1] if count < last else None,
                    count > 0 and is_heading[count - 1],
                    count < last and is_heading[count + 1],
                    is_twice[count],
                    bool(title) and 8 < size < _LONGEST_TITLE and _is_title(part.text.lower(), title),
                ),
                # Most parts are blocks, without descendants: the common cases are decided here to save calls.
                position(
                    True,  # noqa: FBT003
                    start * 10 // total,
                    "h1 before" if number > h1 >= 0 else _position_to_h1(number, number, sums),
                    "in top" if top < number <= top_end else _position_to_top(number, number, parent, sums),
                    _position_to_paragraphs(True, number, number, sums),  # noqa: FBT003
                    among[parent] if number else -1,
                    alike_class,
                ),
            ]
        else:
            facets_of_part = [
                facets.container(
                    part.tag,
                    bisect_right(_ELEMENT_SIZES, size),
                    bisect_right(_ELEMENT_LINKS, sums.link_size[number] / size),
                    bisect_right(_MEAN_SIZES, size / sums.blocks[number]),
                ),
                facets.prose_share(
                    bisect_right(_SHARES, prose[number] / all_prose),
                    bisect_right(_SHARES, own_prose[number] / all_prose),
                    bisect_right(_PARTS, prose[number] / (prose[parent] or 1)) if number else -1,
                ),
            ]
            among[number] = bisect_right(_AMONG, own_prose[number] / size)
            facets_of_part.append(
                position(
                    False,  # noqa: FBT003
                    start * 5 // total * 10 + (start + size) * 5 // total,
                    _position_to_h1(number, ends[number], sums),
                    _position_to_top(number, ends[number], parent, sums),
                    _position_to_paragraphs(False, number, ends[number], sums),  # noqa: FBT003
                    among[parent] if number else -1,
                    alike_class,
                )
            )
        if part.names:
            facets_of_part.append(facets.names(sums.names[number]))
            if part.names.startswith(HIDDEN):
                facets_of_part.append(facets.names(_HIDDEN))
        found.append(facets_of_part)
    return found


def _find_repeated(blocks: Sequence[OutlinePart]) -> list[bool]:
    """Whether each block's text occurs more than once; only blocks of equal size are compared."""
    sizes = Counter([block.size for block in blocks])
    counts = Counter([block.text for block in blocks if sizes[block.size] > 1])
    return [sizes[block.size] > 1 and counts[block.text] > 1 for block in blocks]


def _text_traits(text: str, size: int) -> TextTraits:
    opening, beginning = text[:60], text[:500]
    commas, stops = beginning.count(","), beginning.count(". ")
    if "!" in beginning:
        stops += beginning.count("! ")
    if "?" in beginning:
        stops += beginning.count("? ")
    if beginning.isascii():
        has_marks = "|" in beginning
    else:
        commas += sum([beginning.count(mark) for mark in _OTHER_COMMAS])
        stops += sum([beginning.count(mark) for mark in _OTHER_STOPS])
        has_marks = _MARK.search(beginning) is not None
    flags = []
    if size < _LONG_SIZE_CLASS and len(_DIGIT.findall(opening)) * 4 > len(opening):
        flags.append("digits")
    if text[0].islower():
        flags.append("small")
    elif opening.isupper():
        flags.append("capitals")
    if has_marks:
        flags.append("marks")
    if "©" in text:
        flags.append("rights")
    return text[-1] in _SENTENCE_ENDS, min(commas, 4), min(stops, 3), tuple(flags)


def _kind(block: OutlinePart) -> Kind:
    return bisect_right(_BLOCK_SIZES, block.size), bisect_right(_BLOCK_LINKS, block.link_size / block.size)


def _is_title(text: str, title: str) -> bool:
    return text in title or title in text


def _position_to_h1(number: int, end: int, sums: PartSums) -> str:
    if sums.h1 < 0:
        return "no h1"
    if number > sums.h1:
        return "h1 before"
    return "h1 within" if sums.h1 <= end else "h1 after"


def _position_to_top(number: int, end: int, parent: int, sums: PartSums) -> str:
    top = sums.top
    if number == top:
        return "top"
    if number < top <= end:
        return "holds top"
    if top < number <= sums.end[top]:
        return "in top"
    return "beside top" if parent == sums.top_parent else "far from top"


def _position_to_paragraphs(is_block: bool, number: int, end: int, sums: PartSums) -> str:
    """The position relative to the paragraphs of the top element.

    What comes before the first is often about the text, what comes after the last about the site.
    """
    first, last = sums.first_paragraph, sums.last_paragraph
    if is_block:
        return (
            "block before paragraphs" if number < first else "block after them" if number > last else "block among them"
        )
    if number > last:
        return "element after paragraphs"
    if number > first:
        return "element among them"
    return "element around them" if end >= last else "element opens them" if end >= first else "element before them"


# ── the names of facets ──


def _shape(kind: Kind, tag: str, traits: TextTraits) -> Facet:
    """Features of a block by itself; without a tag it is bare."""
    (size, links), (ends, commas, stops, flags) = kind, traits
    return (
        f"size {size} links {links}",
        f"<{tag}> block" if tag else "bare",
        f"{'sentence' if ends else 'open'} end size {min(size // 2, 2)}",
        f"commas {commas}",
        f"sentences {stops}",
        *flags,
    )


def _neighbours(
    before: Kind | None,
    after: Kind | None,
    is_after_heading: bool,
    is_before_heading: bool,
    is_twice: bool,
    is_title: bool,
) -> Facet:
    """Features of a block from its neighbours, and whether its text is repeated or is the title."""
    flags = {
        "after heading": is_before_heading,
        "before heading": is_after_heading,
        "twice": is_twice,
        "title": is_title,
    }
    return (_neighbour("after", after), _neighbour("before", before), *(name for name, is_so in flags.items() if is_so))


def _neighbour(side: str, kind: Kind | None) -> str:
    return f"{side} size {kind[0] // 2} links {min(kind[1], 2)}" if kind is not None else f"{side} nothing"


def _container(tag: str, size: int, links: int, mean: int) -> Facet:
    return f"<{tag}>", f"holds {size} links {links}", f"mean size {mean}"


def _prose_share(share: int, own: int, part: int) -> Facet:
    """Features from the element's share of the running text of the page and of its parent."""
    return f"prose {share}", f"own prose {own}", f"part of prose {part}" if part >= 0 else "root"


def _page_position(is_block: bool, place: int, h1: str, top: str, paragraphs: str, among: int, alike: int) -> Facet:
    """Features from the part's position on the page and among its siblings."""
    what = "block" if is_block else "element"
    names = [f"place {place}"] if is_block else [f"starts {place // 10}", f"ends {place % 10}"]
    names += [h1, top, paragraphs]
    if among >= 0:
        names.append(f"{what} among prose {among}")
    if alike >= 0:
        names.append(f"{what}s alike {alike}")
    return tuple(names)


def _names(names: Facet) -> Facet:
    return names


NAMES: Final = Facets(_shape, _neighbours, _container, _prose_share, _page_position, _names)
