"""What of a document would stand in a book: its main text as headings, paragraphs, items and rows, in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from crawler.items import ExportedDocument

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_KINDS: Final = frozenset([*HEADINGS, "li", "tr", "pre", "blockquote"])
_MAIN: Final = 0.5  # importance from which on a block belongs to the main text


class TextPart(NamedTuple):
    """A piece of text and what it is."""

    kind: str  # "h1" to "h6", "li", "tr" (a table's row), "pre", "blockquote", or "p" for all else
    text: str


def parts_of(document: ExportedDocument) -> Sequence[TextPart]:
    """From its blocks, if it came with them; else each line of its text is a paragraph."""
    parts = [
        TextPart(block.tag if block.tag in _KINDS else "p", block.text)
        for block in document.blocks or ()
        if block.importance >= _MAIN
    ]
    return parts or [TextPart("p", line) for line in document.text.splitlines() if line and not line.isspace()]
