"""The outline of a page: the tree of its elements that have text, down to the text blocks.

All our own extraction methods work on it. A block is a run of text that no block-level element interrupts: inline
markup does not split it, two line breaks do. Building the outline does not change the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, cast

from turbohtml import Document, Element, Node, Text

from crawler.items import TextBlock
from crawler.parse.clean_text import normalize_text, one_line
from crawler.parse.elements import BLOCKS, FORMATTING, PREFORMATTED, UNREAD

_NOT_IN_LEAVES: Final = BLOCKS | UNREAD
HIDDEN: Final = "! "  # prefix of the names of elements that are not shown
_LONGEST_NAMES: Final = 200  # characters of class, id, role and itemprop that are used
_RUNNING_TEXT: Final = 80  # characters of a block that count as running text
_LEAST_ENCODED_DATA: Final = 200  # characters


class OutlinePart:
    """An element with text. It is a block if it has only one run of text, or is itself a run of text among blocks."""

    __slots__ = ("is_bare", "link_size", "names", "parent", "size", "tag", "tags_before", "text")

    def __init__(self, parent: int, tag: str, names: str, tags_before: int) -> None:
        self.parent = parent  # the parent's index in the outline, smaller than this part's; -1 for the first
        self.tag = tag
        self.names = names  # classes, id, role, itemprop and hiddenness, see `names_of`
        self.text = ""  # blocks only
        self.size = 0  # characters of a block's text
        self.link_size = 0  # characters of it in links
        self.is_bare = False  # a run of text among other blocks of an element; it has that element's tag
        self.tags_before = tags_before  # tags before it in the document, without those that only format


Outline = Sequence[OutlinePart]  # in document order: parents before their children


def outline(document: Document, *, menus_whole: bool = True, text_only: bool = False) -> Outline:
    """The outline of a page; empty if it has no text. A <nav> of links is one block, unless `menus_whole` is False.

    With `text_only`, names and link sizes of most blocks are not computed.
    """
    root = document.root
    return outline_of(root, menus_whole=menus_whole, text_only=text_only) if root is not None else ()


def outline_of(element: Element, *, menus_whole: bool = True, text_only: bool = False) -> Outline:
    """The outline of an element, which is itself the first part."""
    parts = _OutlineWalk(UNREAD, menus_whole=menus_whole, text_only=text_only).parts_of(element)
    if not any(part.size >= _RUNNING_TEXT for part in parts) and element.find("noscript") is not None:
        # The page is rendered by a script; its text is only in <noscript>.
        parts = _OutlineWalk(UNREAD - {"noscript"}, menus_whole=menus_whole, text_only=text_only).parts_of(element)
    return parts if len(parts) > 1 else ()


def is_encoded_data(text: str) -> bool:
    """Whether a text is encoded data instead of words: long and almost without spaces."""
    if len(text) < _LEAST_ENCODED_DATA or text.count(" ", 0, 120) >= 10 or not text.isascii():  # most texts end here
        return False
    return text.count(" ", 0, 400) * 40 < min(len(text), 400)


def blocks_of(parts: Outline, importance: Sequence[float]) -> list[TextBlock]:
    """The text blocks, given the importance of all parts.

    Adjacent cells of a table row that are all content, or all not, are joined into one block.
    """
    blocks: list[TextBlock] = []
    position, row = 0, -1
    for part, weight in zip(parts, importance, strict=True):
        if not part.text:
            continue
        is_cell = part.tag in ("td", "th") and not part.is_bare
        if is_cell and part.parent == row and (weight >= 0.5) == (blocks[-1].importance >= 0.5):
            blocks[-1] = _join_cell(blocks[-1], part, weight)
        else:
            blocks.append(TextBlock(part.text, "tr" if is_cell else part.tag, position, weight))
        position += part.size
        row = part.parent if is_cell else -1
    return blocks


def _join_cell(row: TextBlock, cell: OutlinePart, weight: float) -> TextBlock:
    size = len(row.text)
    mean = (row.importance * size + weight * cell.size) / (size + cell.size)
    return TextBlock(f"{row.text} {cell.text}", "tr", row.position, mean)


class _OutlineWalk:
    """Builds the outline in one pass over the document, without recursion: pages may be nested to any depth."""

    def __init__(self, unread: AbstractSet[str], *, menus_whole: bool, text_only: bool) -> None:
        self._unread = unread
        self._menus_whole = menus_whole
        self._text_only = text_only
        self._parts: list[OutlinePart] = []
        self._pieces: list[str] = []  # text since the last block
        self._link_size = 0  # characters of that text in links
        self._tags = 0

    def parts_of(self, root: Element) -> list[OutlinePart]:
        parts, pieces, unread = self._parts, self._pieces, self._unread
        parts.append(OutlinePart(-1, root.tag, "", 0))
        current = 0  # the innermost block-level element that is open
        in_link = in_pre = breaks = 0
        levels: list[tuple[Iterator[Node], str, int]] = [(iter(root.children), root.tag, -1)]
        while levels:
            children, open_tag, outer = levels[-1]
            for node in children:
                kind = type(node)
                if kind is Text:
                    data = cast("Text", node).data
                    if not data.isspace():
                        breaks = 0
                        pieces.append(data)
                        if in_link:
                            self._link_size += len(data.strip())
                    elif pieces:
                        pieces.append(data)
                    continue
                if kind is not Element:
                    continue
                element = cast("Element", node)
                name = element.tag
                is_formatting = name in FORMATTING
                if not is_formatting:
                    self._tags += 1
                    if name in unread:
                        continue
                    if name in BLOCKS or "-" in name:
                        if pieces:
                            self._end_block(current, in_pre)
                        if not in_pre and (
                            self._add_menu(element, current)
                            if name == "nav" and self._menus_whole
                            else self._add_leaf(element, name, current, in_link)
                        ):
                            breaks = 0
                            continue
                        in_pre += name in PREFORMATTED
                        parts.append(OutlinePart(current, name, names_of(element), self._tags))
                        levels.append((iter(element.children), name, current))
                        current = len(parts) - 1
                        break
                if name == "br":
                    breaks += 1
                    if pieces:
                        pieces.append("\n")
                        if breaks == 2 and not in_pre:
                            self._end_block(current, in_pre)
                    continue
                inner = element.children
                if len(inner) == 1 and type(inner[0]) is Text:  # most elements; descending takes four times as long
                    data = inner[0].data
                    self._tags += not is_formatting
                    if not data.isspace():
                        breaks = 0
                        pieces.append(data)
                        if in_link or name == "a":
                            self._link_size += len(data.strip())
                    elif pieces:
                        pieces.append(data)
                    continue
                in_link += name == "a"
                levels.append((iter(inner), name, -1))
                break
            else:
                levels.pop()
                self._tags += open_tag not in FORMATTING
                if outer >= 0:
                    if pieces:
                        self._end_block(current, in_pre)
                    in_pre -= open_tag in PREFORMATTED
                    self._close_element(current)
                    current = outer
                elif open_tag == "a":
                    in_link -= 1
        self._end_block(current, in_pre)
        return parts

    def _add_menu(self, element: Element, current: int) -> bool:
        """Add a <nav> as one block, if it consists mostly of links; whether it was added."""
        tags = 1
        for inner in element.iter_elements():
            if inner.tag in self._unread or inner.tag == "nav":  # a nested <nav> is tested by itself
                return False
            tags += 2 * (inner.tag not in FORMATTING)
        text = one_line(" ".join(element.strings))
        linked = sum([len(piece.strip()) for link in element.iter_elements("a") for piece in link.strings])
        if not text or 2 * linked < len(text):
            return False
        self._tags += tags
        part = OutlinePart(current, "nav", names_of(element), self._tags)
        part.text, part.size, part.link_size = text, len(text), min(linked, len(text))
        self._parts.append(part)
        return True

    def _add_leaf(self, element: Element, name: str, current: int, in_link: int) -> bool:
        """Add an element that has only text and inline markup as a block, in a third of the time; whether it was."""
        tags = 0
        holders = [element] if in_link else []  # elements whose text is in links
        for inner in element.iter_elements():
            tag = inner.tag
            if tag not in FORMATTING:
                if tag in _NOT_IN_LEAVES or "-" in tag:
                    return False
                tags += 2
                if tag == "a" and not in_link:
                    holders.append(inner)
            elif tag == "br":
                return False
        text = one_line(element.text)
        if name in PREFORMATTED or not text:
            return False
        if not is_encoded_data(text):
            part = OutlinePart(current, name, "" if self._text_only else names_of(element), self._tags)
            part.text, part.size = text, len(text)
            if holders and not self._text_only:
                linked = sum([len(piece.strip()) for holder in holders for piece in holder.strings])
                part.link_size = min(linked, part.size)
            self._parts.append(part)
        self._tags += tags + 1
        return True

    def _end_block(self, current: int, in_pre: int) -> None:
        joined = "".join(self._pieces)
        self._pieces.clear()
        text = normalize_text(joined).strip("\n") if in_pre else one_line(joined)
        if text and not text.isspace() and not is_encoded_data(text):
            part = OutlinePart(current, self._parts[current].tag, "", self._tags)
            part.text, part.size, part.is_bare = text, len(text), True
            part.link_size = min(self._link_size, part.size)
            self._parts.append(part)
        self._link_size = 0

    def _close_element(self, current: int) -> None:
        """Remove an element without text from the outline; merge one that has a single run of text with it."""
        parts = self._parts
        last = parts[-1]
        if current == len(parts) - 1:
            parts.pop()
        elif last.is_bare and last.parent == current == len(parts) - 2:
            parts.pop()
            element = parts[current]
            element.text, element.size, element.link_size = last.text, last.size, last.link_size


def names_of(element: Element) -> str:
    """The names of an element: hidden, itemprop, role, classes, id, as in "! $articleBody @main story #post-1"."""
    count = len(element.attrs)
    if not count:
        return ""
    attribute = element.attr
    names = attribute("class") or ""
    if names and count == 1:  # most elements with attributes
        return names[:_LONGEST_NAMES]
    identity = attribute("id")
    if identity:
        names = f"{names} #{identity}"
    role = attribute("role")
    if role:
        names = f"@{role} {names}"
    kind = attribute("itemprop")
    if kind:
        names = f"${kind} {names}"
    style = attribute("style")
    if (style and _hides(style)) or attribute("hidden") is not None or attribute("aria-hidden") == "true":
        names = HIDDEN + names
    return names[:_LONGEST_NAMES]


def _hides(style: str) -> bool:
    packed = style[:_LONGEST_NAMES].replace(" ", "").lower()
    return "display:none" in packed or "visibility:hidden" in packed
