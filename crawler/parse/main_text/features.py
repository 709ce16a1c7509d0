"""What can be seen of each part of a page that tells content from the rest, in any language?

Sizes, links, punctuation, names, place, and how a part stands to the paragraphs of the page. What each is worth is learned.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from typing import Final

from crawler.parse.main_text.hints import hints
from crawler.parse.main_text.outline import HEADINGS, HIDDEN, Outline, Part

_PARAGRAPH: Final = 80  # characters without links, by which running text is known
_LONGEST_TITLE: Final = 300  # characters, looked for
_APART: Final = frozenset({"name comment", "name foot", "name hidden", "name notice", "name signup"})

_BLOCK_SIZES: Final = (12, 25, 50, 100, 200, 400, 1000)
_LONG: Final = 5  # the number of a size from which text is not a label
_ELEMENT_SIZES: Final = (50, 200, 800, 3000)
_MEAN_SIZES: Final = (20, 40, 80, 160)
_BLOCK_LINKS: Final = (0.05, 0.25, 0.6)
_ELEMENT_LINKS: Final = (0.1, 0.25, 0.5, 0.8)
_SHARES: Final = (0.001, 0.1, 0.3, 0.6, 0.9)
_PARTS: Final = (0.001, 0.2, 0.5, 0.8, 0.999)
_AMONG: Final = (0.001, 0.2, 0.5, 0.8)
_ALIKE: Final = (3, 6, 12)

_SENTENCE_ENDS: Final = tuple(".!?…。！？”\"»:;)'’")
_OTHER_STOPS: Final = ("… ", "。", "！", "？", "؟", "।")
_OTHER_COMMAS: Final = ("，", "、", "،")
_DIGIT: Final = re.compile(r"\d")
_MARK: Final = re.compile("[|»›•→]")


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
        self.top_parent = parts[self.top].parent
        paragraphs = [
            number for number in range(self.top, self.end[self.top] + 1) if parts[number].text and self.prose[number]
        ]
        self.first_paragraph, self.last_paragraph = (paragraphs[0], paragraphs[-1]) if paragraphs else (-1, -1)
        self.h1 = next((number for number, part in enumerate(parts) if part.tag == "h1"), -1)

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


def features(parts: Outline, title: str = "") -> list[list[str]]:
    """By name, of every part. `title` is that of the document, in lower case."""
    if not parts:
        return []
    seen = Seen(parts)
    blocks = iter(_blocks(parts, title[:_LONGEST_TITLE]))
    found = []
    for number, part in enumerate(parts):
        names = next(blocks) if part.text else _element(part, number, seen)
        names.append(_place_to_h1(number, seen))
        names.append(_place_to_top(part, number, seen))
        names.append(_place_to_paragraphs(part, number, seen))
        if number:
            among = bisect_right(_AMONG, seen.own_prose[part.parent] / seen.size[part.parent])
            names.append(_BLOCKS_AMONG[among] if part.text else _ELEMENTS_AMONG[among])
        if part.names:
            names.extend(seen.names[number])
            if part.names.startswith(HIDDEN):
                names.append("hidden")
            if seen.alike[number] > 1:
                alike = bisect_right(_ALIKE, seen.alike[number])
                names.append(_BLOCKS_ALIKE[alike] if part.text else _ELEMENTS_ALIKE[alike])
        found.append(names)
    return found


def _blocks(parts: Outline, title: str) -> Iterator[list[str]]:
    """What blocks are, beside those before and after them."""
    blocks = [part for part in parts if part.text]
    kinds = [_kind(block) for block in blocks]
    texts = Counter([block.text for block in blocks])
    total, position, last = sum([block.size for block in blocks]), 0, len(blocks) - 1
    for number, (block, kind) in enumerate(zip(blocks, kinds, strict=True)):
        names = _block(block, *kind)
        names.append(_AFTER[kinds[number + 1]] if number < last else "after nothing")
        names.append(_BEFORE[kinds[number - 1]] if number else "before nothing")
        if number < last and blocks[number + 1].tag in HEADINGS:
            names.append("after heading")
        if number and blocks[number - 1].tag in HEADINGS:
            names.append("before heading")
        names.append(_PLACES[position * 10 // total])
        if texts[block.text] > 1:
            names.append("twice")
        if title and 8 < block.size < _LONGEST_TITLE and _is_title(block.text.lower(), title):
            names.append("title")
        position += block.size
        yield names


def _block(block: Part, size: int, links: int) -> list[str]:
    text = block.text
    opening, beginning = text[:60], text[:500]
    commas = beginning.count(",")
    sentences = beginning.count(". ") + beginning.count("? ") + beginning.count("! ")
    if not beginning.isascii():
        commas += sum([beginning.count(mark) for mark in _OTHER_COMMAS])
        sentences += sum([beginning.count(mark) for mark in _OTHER_STOPS])
    names = [
        _SIZES[size][links],
        "bare" if block.is_bare else f"<{block.tag}> block",
        _ENDINGS[text.endswith(_SENTENCE_ENDS)][min(size // 2, 2)],
        _COMMAS[min(commas, 4)],
        _SENTENCES[min(sentences, 3)],
    ]
    if size < _LONG and len(_DIGIT.findall(opening)) * 4 > len(opening):
        names.append("digits")
    if text[0].islower():
        names.append("small")
    elif opening.isupper():
        names.append("capitals")
    if _MARK.search(beginning):
        names.append("marks")
    if "©" in text:
        names.append("rights")
    return names


def _kind(block: Part) -> tuple[int, int]:
    return bisect_right(_BLOCK_SIZES, block.size), bisect_right(_BLOCK_LINKS, block.link_size / block.size)


def _is_title(text: str, title: str) -> bool:
    return text in title or title in text


def _element(part: Part, number: int, seen: Seen) -> list[str]:
    size, start, total = seen.size[number], seen.start[number], seen.size[0]
    prose, all_prose = seen.prose[number], seen.prose[0] or 1
    return [
        f"<{part.tag}>",
        _HOLDS[bisect_right(_ELEMENT_SIZES, size)][bisect_right(_ELEMENT_LINKS, seen.link_size[number] / size)],
        _PROSE[bisect_right(_SHARES, prose / all_prose)],
        _OWN_PROSE[bisect_right(_SHARES, seen.own_prose[number] / all_prose)],
        _PART_OF_PROSE[bisect_right(_PARTS, prose / (seen.prose[part.parent] or 1))] if number else "root",
        _MEANS[bisect_right(_MEAN_SIZES, size / seen.blocks[number])],
        _STARTS[start * 5 // total],
        _ENDS[(start + size) * 5 // total],
    ]


def _place_to_h1(number: int, seen: Seen) -> str:
    if seen.h1 < 0:
        return "no h1"
    if number > seen.h1:
        return "h1 before"
    return "h1 within" if seen.h1 <= seen.end[number] else "h1 after"


def _place_to_top(part: Part, number: int, seen: Seen) -> str:
    top = seen.top
    if number == top:
        return "top"
    if number < top <= seen.end[number]:
        return "holds top"
    if top < number <= seen.end[top]:
        return "in top"
    return "beside top" if part.parent == seen.top_parent else "far from top"


def _place_to_paragraphs(part: Part, number: int, seen: Seen) -> str:
    """Of the top: what stands before the first is often about the text, and what comes after the last about the site."""
    first, last = seen.first_paragraph, seen.last_paragraph
    if part.text:
        return (
            "block before paragraphs" if number < first else "block after them" if number > last else "block among them"
        )
    if number > last:
        return "element after paragraphs"
    if number > first:
        return "element among them"
    end = seen.end[number]
    return "element around them" if end >= last else "element opens them" if end >= first else "element before them"


_SIZES: Final = [[f"size {size} links {links}" for links in range(4)] for size in range(8)]
_BEFORE: Final = {
    (size, links): f"before size {size // 2} links {min(links, 2)}" for size in range(8) for links in range(4)
}
_AFTER: Final = {kind: f"after{name.removeprefix('before')}" for kind, name in _BEFORE.items()}
_ENDINGS: Final = [[f"{ending} size {size}" for size in range(3)] for ending in ("open end", "sentence end")]
_COMMAS: Final = [f"commas {count}" for count in range(5)]
_SENTENCES: Final = [f"sentences {count}" for count in range(4)]
_PLACES: Final = [f"place {tenth}" for tenth in range(11)]
_STARTS: Final = [f"starts {fifth}" for fifth in range(6)]
_ENDS: Final = [f"ends {fifth}" for fifth in range(6)]
_HOLDS: Final = [[f"holds {size} links {links}" for links in range(5)] for size in range(5)]
_PROSE: Final = [f"prose {share}" for share in range(6)]
_OWN_PROSE: Final = [f"own prose {share}" for share in range(6)]
_PART_OF_PROSE: Final = [f"part of prose {share}" for share in range(6)]
_MEANS: Final = [f"mean size {size}" for size in range(5)]
_BLOCKS_ALIKE: Final = [f"blocks alike {count}" for count in range(4)]
_ELEMENTS_ALIKE: Final = [f"elements alike {count}" for count in range(4)]
_BLOCKS_AMONG: Final = [f"block among prose {share}" for share in range(5)]
_ELEMENTS_AMONG: Final = [f"element among prose {share}" for share in range(5)]
