"""Split a document's main text into headings, paragraphs, list items and table rows, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from crawler.items import ExportedDocument

HEADINGS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_KINDS: Final = frozenset([*HEADINGS, "li", "tr", "pre", "blockquote"])
_MIN_IMPORTANCE: Final = 0.5  # of a block that belongs to the main text


class TextPart(NamedTuple):
    """A piece of text and its kind."""

    kind: str  # "h1" to "h6", "li", "tr" (a table's row), "pre", "blockquote", or "p" for all else
    text: str


def parts_of(document: ExportedDocument) -> Sequence[TextPart]:
    """The parts of a document, from its blocks if it has them; else each line of its text is a paragraph."""
    parts = [
        TextPart(block.tag if block.tag in _KINDS else "p", block.text)
        for block in document.blocks or ()
        if block.importance >= _MIN_IMPORTANCE
    ]
    return parts or [TextPart("p", line) for line in document.text.splitlines() if line and not line.isspace()]
