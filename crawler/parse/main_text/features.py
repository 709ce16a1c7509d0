"""What can be seen of each part of a page that tells content from the rest, in any language?

Sizes, links, punctuation, names, place, and how a part stands to the paragraphs of the page. What each is worth is learned.
"""

from __future__ import annotations

import re
from bisect import bisect_right
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

_SENTENCE_ENDS: Final = tuple(".!?…。！？”\"»:;)'’")
_STOP: Final = re.compile(r"[.!?…](?=\s)|[。！？]")
_COMMA: Final = re.compile("[,，、،]")
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
    found: list[list[str]] = []
    blocks = [number for number, part in enumerate(parts) if part.text]
    kinds = [_kind(parts[number]) for number in blocks]
    first_h1 = next((number for number, part in enumerate(parts) if part.tag == "h1"), -1)
    texts: dict[str, int] = {}
    for number in blocks:
        texts[parts[number].text] = texts.get(parts[number].text, 0) + 1
    before = -1  # blocks
    top, total, all_prose = seen.top, seen.size[0] or 1, seen.prose[0] or 1
    for number, part in enumerate(parts):
        size, start = seen.size[number], seen.start[number]
        if part.text:
            before += 1
            names = _block(part, *kinds[before])
            names.append(_AFTER_SIZES[kinds[before + 1]] if before + 1 < len(kinds) else "after nothing")
            names.append(_BEFORE_SIZES[kinds[before - 1]] if before else "before nothing")
            if before + 1 < len(kinds) and parts[blocks[before + 1]].tag in HEADINGS:
                names.append("after heading")
            if before and parts[blocks[before - 1]].tag in HEADINGS:
                names.append("before heading")
            names.append(_PLACES[start * 10 // total])
            if texts[part.text] > 1:
                names.append("twice")
            if title and 8 < size < 300 and _is_title(part.text.lower(), title):
                names.append("title")
            if first_h1 >= 0:
                names.append("h1 before" if number > first_h1 else "h1 after" if number < first_h1 else "h1 itself")
        else:
            links = bisect_right(_ELEMENT_LINKS, seen.link_size[number] / size)
            names = [
                f"<{part.tag}>",
                _HOLDS[bisect_right(_ELEMENT_SIZES, size)][links],
                _PROSE[bisect_right(_SHARES, seen.prose[number] / all_prose)],
                _OWN_PROSE[bisect_right(_SHARES, seen.own_prose[number] / all_prose)],
                _MEANS[bisect_right(_MEAN_SIZES, size / seen.blocks[number])],
                _STARTS[start * 5 // total],
                _ENDS[(start + size) * 5 // total],
            ]
            if number:
                names.append(_PART[bisect_right(_PARTS, seen.prose[number] / (seen.prose[part.parent] or 1))])
            if first_h1 >= 0:
                names.append(
                    "h1 within"
                    if number <= first_h1 <= seen.end[number]
                    else "h1 before"
                    if number > first_h1
                    else "h1 after"
                )
        if number == top:
            names.append("top")
        elif top < number <= seen.end[top]:
            names.append("in top")
        elif number < top <= seen.end[number]:
            names.append("holds top")
        else:
            names.append("beside top" if part.parent == parts[top].parent else "far from top")
        if number:
            parent = part.parent
            among = bisect_right(_AMONG, seen.own_prose[parent] / seen.size[parent])
            names.append(_BLOCKS_AMONG[among] if part.text else _ELEMENTS_AMONG[among])
        if part.names.startswith(HIDDEN):
            names.append("hidden")
        names.extend(seen.names[number])
        if seen.alike[number] > 1:
            names.append((_ALIKE_BLOCKS if part.text else _ALIKE_ELEMENTS)[bisect_right(_ALIKE, seen.alike[number])])
        found.append(names)
    return found


def _block(part: Part, size: int, links: int) -> list[str]:
    text = part.text
    names = [
        _SIZES[size][links],
        "bare" if part.is_bare else f"<{part.tag}> block",
        _ENDINGS[text.endswith(_SENTENCE_ENDS)][min(size // 2, 2)],
        _COMMAS[min(len(_COMMA.findall(text[:500])), 4)],
        _SENTENCES[min(len(_STOP.findall(text[:500])), 3)],
    ]
    opening = text[:60]
    if sum(map(str.isdigit, opening)) * 4 > len(opening):
        names.append("digits")
    if text[0].islower():
        names.append("small")
    elif opening.isupper():
        names.append("capitals")
    if _MARK.search(text):
        names.append("marks")
    if "©" in text:
        names.append("rights")
    return names


def _kind(block: Part) -> tuple[int, int]:
    return bisect_right(_BLOCK_SIZES, block.size), bisect_right(_BLOCK_LINKS, block.link_size / block.size)


def _is_title(text: str, title: str) -> bool:
    return text in title or title in text


_SIZES: Final = [[f"size {size} links {links}" for links in range(4)] for size in range(8)]
_BEFORE_SIZES: Final = {
    (size, links): f"before size {size // 2} links {min(links, 2)}" for size in range(8) for links in range(4)
}
_AFTER_SIZES: Final = {key: f"after{name.removeprefix('before')}" for key, name in _BEFORE_SIZES.items()}
_ENDINGS: Final = [[f"{ending} size {size}" for size in range(3)] for ending in ("open end", "sentence end")]
_COMMAS: Final = [f"commas {count}" for count in range(5)]
_SENTENCES: Final = [f"sentences {count}" for count in range(4)]
_PLACES: Final = [f"place {tenth}" for tenth in range(11)]
_STARTS: Final = [f"starts {fifth}" for fifth in range(6)]
_ENDS: Final = [f"ends {fifth}" for fifth in range(6)]
_HOLDS: Final = [[f"holds {size} links {links}" for links in range(5)] for size in range(5)]
_PROSE: Final = [f"prose {share}" for share in range(6)]
_OWN_PROSE: Final = [f"own prose {share}" for share in range(6)]
_PART: Final = [f"part of prose {share}" for share in range(6)]
_MEANS: Final = [f"mean size {size}" for size in range(5)]
_ALIKE_BLOCKS: Final = [f"blocks alike {count}" for count in range(4)]
_ALIKE_ELEMENTS: Final = [f"elements alike {count}" for count in range(4)]
_BLOCKS_AMONG: Final = [f"block among prose {share}" for share in range(5)]
_ELEMENTS_AMONG: Final = [f"element among prose {share}" for share in range(5)]
