"""What can be seen of each part of a page that tells content from the rest, in any language?

Sizes, links, punctuation, names, place, and how a part stands to the paragraphs of the page. What each is worth is learned.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from functools import lru_cache
from typing import Final

from crawler.parse.main_text.hints import hints
from crawler.parse.main_text.outline import HEADINGS, HIDDEN, Outline, Part

_PARAGRAPH: Final = 80  # characters without links, by which running text is known
_APART: Final = frozenset({"name comment", "name foot", "name hidden", "name notice", "name signup"})

_BLOCK_SIZES: Final = (12, 25, 50, 100, 200, 400, 1000)
_ELEMENT_SIZES: Final = (50, 200, 800, 3000)
_MEAN_SIZES: Final = (20, 40, 80, 160)
_BLOCK_LINKS: Final = (0.05, 0.25, 0.6)
_ELEMENT_LINKS: Final = (0.1, 0.25, 0.5, 0.8)
_SHARES: Final = (0.001, 0.1, 0.3, 0.6, 0.9)
_PARTS: Final = (0.001, 0.2, 0.5, 0.8, 0.999)
_AMONG: Final = (0.001, 0.2, 0.5, 0.8)
_ALIKE: Final = (3, 6, 12)

_SENTENCE_ENDS: Final = frozenset(".!?…。！？”\"»:;)'’")
_STOP: Final = re.compile(r"[.!?…](?=\s)|[。！？]")
_COMMA: Final = re.compile("[,，、،]")
_MARK: Final = re.compile("[|»›•→]")
_DIGIT: Final = re.compile("[0-9]")
_HIDDEN: Final = ("hidden",)
_KEPT: Final = 32_768  # facets of a kind that are remembered


class Seen:
    """Sums over the parts of a page, each a list by number of part."""

    def __init__(self, parts: Outline) -> None:
        count = len(parts)
        self.size = [part.size for part in parts]
        self.link_size = [part.link_size for part in parts]
        self.blocks = [1 if part.text else 0 for part in parts]
        self.start = [0] * count  # characters of text before
        self.prose = [0] * count  # characters of running text
        self.own_prose = [0] * count  # of an element's own paragraphs
        self.end = list(range(count))  # the last part inside
        self.names = [hints(part.names) if part.names and part.tag != "body" else () for part in parts]
        self.alike = [0] * count  # siblings with the same tag and classes, itself among them
        is_apart = self._read_down(parts)
        self._sum_up(parts)
        self.top = self._top(parts, is_apart)

    def _read_down(self, parts: Outline) -> list[bool]:
        position = 0
        is_apart, is_hidden = [False] * len(parts), [False] * len(parts)
        kin: dict[tuple[int, str, str], list[int]] = {}
        for number, part in enumerate(parts):
            self.start[number] = position
            position += part.size
            if number:
                is_hidden[number] = is_hidden[part.parent] or part.names.startswith(HIDDEN)
                is_apart[number] = (
                    is_apart[part.parent] or is_hidden[number] or not _APART.isdisjoint(self.names[number])
                )
                if part.names and part.tag not in ("li", "tr", "td"):
                    kin.setdefault((part.parent, part.tag, part.names.partition(" #")[0]), []).append(number)
            if part.size >= _PARAGRAPH and part.link_size * 4 < part.size and not is_hidden[number]:
                self.prose[number] = part.size
        for numbers in kin.values():
            for number in numbers:
                self.alike[number] = len(numbers)
        return is_apart

    def _sum_up(self, parts: Outline) -> None:
        size, link_size, blocks, prose, end = self.size, self.link_size, self.blocks, self.prose, self.end
        for number in range(len(parts) - 1, 0, -1):
            parent = parts[number].parent
            size[parent] += size[number]
            link_size[parent] += link_size[number]
            blocks[parent] += blocks[number]
            prose[parent] += prose[number]
            if parts[number].text:
                self.own_prose[parent] += prose[number]
            if end[number] > end[parent]:
                end[parent] = end[number]

    def _top(self, parts: Outline, is_apart: list[bool]) -> int:
        """The element with the most paragraphs of its own, those of its children counted half."""
        score = [0.0] * len(parts)
        for number, part in enumerate(parts):
            if not part.text and not is_apart[number]:
                score[number] += self.own_prose[number]
                if number:
                    score[part.parent] += self.own_prose[number] / 2
        return max(range(len(parts)), key=lambda number: 0 if is_apart[number] else score[number])


Facet = tuple[str, ...]  # names that are seen together; there are few different ones, so what each weighs is soon known


def features(parts: Outline, title: str = "") -> list[list[Facet]]:
    """Of every part, in facets. `title` is that of the document, in lower case."""
    if not parts:
        return []
    seen = Seen(parts)
    blocks = [part for part in parts if part.text]
    kinds = [_kind(block) for block in blocks]
    counts = Counter([block.text for block in blocks])
    first_h1 = next((number for number, part in enumerate(parts) if part.tag == "h1"), -1)
    top, total, all_prose = seen.top, seen.size[0] or 1, seen.prose[0] or 1
    top_end, top_parent, last = seen.end[top], parts[top].parent, len(blocks) - 1
    sizes, starts, ends, prose, own_prose = seen.size, seen.start, seen.end, seen.prose, seen.own_prose
    found: list[list[Facet]] = []
    count = -1  # blocks so far
    for number, part in enumerate(parts):
        size, start, parent, end = sizes[number], starts[number], part.parent, ends[number]
        h1 = "" if first_h1 < 0 else "before" if number > first_h1 else "after" if end < first_h1 else "within"
        if part.text:
            count += 1
            facets = [
                _shape(*kinds[count], "" if part.is_bare else part.tag, *_look(part.text)),
                _neighbours(
                    kinds[count - 1] if count else None,
                    kinds[count + 1] if count < last else None,
                    count > 0 and blocks[count - 1].tag in HEADINGS,
                    count < last and blocks[count + 1].tag in HEADINGS,
                    counts[part.text] > 1,
                    bool(title) and 8 < size < 300 and _is_title(part.text.lower(), title),
                ),
            ]
            place = start * 10 // total
        else:
            facets = [
                _container(
                    part.tag,
                    bisect_right(_ELEMENT_SIZES, size),
                    bisect_right(_ELEMENT_LINKS, seen.link_size[number] / size),
                    bisect_right(_MEAN_SIZES, size / seen.blocks[number]),
                ),
                _holding(
                    bisect_right(_SHARES, prose[number] / all_prose),
                    bisect_right(_SHARES, own_prose[number] / all_prose),
                    bisect_right(_PARTS, prose[number] / (prose[parent] or 1)) if number else -1,
                ),
            ]
            place = start * 5 // total * 10 + (start + size) * 5 // total
        if number == top:
            relation = "top"
        elif top < number <= top_end:
            relation = "in top"
        elif number < top <= end:
            relation = "holds top"
        else:
            relation = "beside top" if parent == top_parent else "far from top"
        among = bisect_right(_AMONG, own_prose[parent] / sizes[parent]) if number else -1
        alike = bisect_right(_ALIKE, seen.alike[number]) if seen.alike[number] > 1 else -1
        facets.append(_standing(bool(part.text), place, h1, relation, among, alike))
        if part.names.startswith(HIDDEN):
            facets.append(_HIDDEN)
        if seen.names[number]:
            facets.append(seen.names[number])
        found.append(facets)
    return found


def _look(text: str) -> tuple[bool, int, int, Facet]:
    """Whether it ends as sentences do, how many commas and sentences it has at first, and what else strikes the eye."""
    opening = text[:60]
    if text.isascii():
        commas, has_marks = text.count(",", 0, 500), "|" in text
        stops = text.count(". ", 0, 500) if "\n" not in text else len(_STOP.findall(text[:500]))
        if stops < 3 and "\n" not in text:
            stops += (text.count("! ", 0, 500) if "!" in text else 0) + (text.count("? ", 0, 500) if "?" in text else 0)
        digits = len(_DIGIT.findall(opening)) if _DIGIT.search(opening) is not None else 0
    else:
        commas, stops = len(_COMMA.findall(text[:500])), len(_STOP.findall(text[:500]))
        digits, has_marks = sum(map(str.isdigit, opening)), _MARK.search(text) is not None
    striking = []
    if digits * 4 > len(opening):
        striking.append("digits")
    if text[0].islower():
        striking.append("small")
    elif opening.isupper():
        striking.append("capitals")
    if has_marks:
        striking.append("marks")
    if "©" in text:
        striking.append("rights")
    return text[-1] in _SENTENCE_ENDS, min(commas, 4), min(stops, 3), tuple(striking)


@lru_cache(maxsize=_KEPT)
def _shape(size: int, links: int, tag: str, ends: bool, commas: int, stops: int, striking: Facet) -> Facet:
    """Of a block; without a tag it is bare."""
    return (
        f"size {size} links {links}",
        f"<{tag}> block" if tag else "bare",
        f"{'sentence' if ends else 'open'} end size {min(size // 2, 2)}",
        f"commas {commas}",
        f"sentences {stops}",
        *striking,
    )


@lru_cache(maxsize=_KEPT)
def _neighbours(
    before: tuple[int, int] | None,
    after: tuple[int, int] | None,
    is_after_heading: bool,
    is_before_heading: bool,
    is_twice: bool,
    is_title: bool,
) -> Facet:
    """Of a block: what stands around it, and where else its text does."""
    names = [_neighbour("after", after), _neighbour("before", before)]
    flags = {
        "after heading": is_before_heading,
        "before heading": is_after_heading,
        "twice": is_twice,
        "title": is_title,
    }
    return (*names, *(name for name, is_so in flags.items() if is_so))


def _neighbour(side: str, kind: tuple[int, int] | None) -> str:
    return f"{side} size {kind[0] // 2} links {min(kind[1], 2)}" if kind is not None else f"{side} nothing"


@lru_cache(maxsize=_KEPT)
def _container(tag: str, size: int, links: int, mean: int) -> Facet:
    return f"<{tag}>", f"holds {size} links {links}", f"mean size {mean}"


@lru_cache(maxsize=_KEPT)
def _holding(share: int, own: int, part: int) -> Facet:
    """How much of the running text of the page, and of what is around it, an element holds."""
    names = f"prose {share}", f"own prose {own}"
    return (*names, f"part of prose {part}") if part >= 0 else names


@lru_cache(maxsize=_KEPT)
def _standing(is_block: bool, place: int, h1: str, relation: str, among: int, alike: int) -> Facet:
    """Where on the page a part stands, and among what."""
    what = "block" if is_block else "element"
    names = [f"place {place}"] if is_block else [f"starts {place // 10}", f"ends {place % 10}"]
    if h1:
        names.append("h1 itself" if is_block and h1 == "within" else f"h1 {h1}")
    names.append(relation)
    if among >= 0:
        names.append(f"{what} among prose {among}")
    if alike >= 0:
        names.append(f"{what}s alike {alike}")
    return tuple(names)


def _kind(block: Part) -> tuple[int, int]:
    return bisect_right(_BLOCK_SIZES, block.size), bisect_right(_BLOCK_LINKS, block.link_size / block.size)


def _is_title(text: str, title: str) -> bool:
    return text in title or title in text
