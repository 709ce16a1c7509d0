"""Main-text extraction by filters: what is left after removing boilerplate is the content.

After Gupta, Kaiser, Neistadt and Grimm (2003): one filter each removes advertisements, lists of links, and tables
without much text; images and scripts are not in the outline at all. Nothing is scored, and nothing is learned.
"""

from __future__ import annotations

from typing import Final

from crawler.parse.main_text.hints import hints
from crawler.parse.main_text.outline import Outline, OutlinePart
from crawler.parse.main_text.result import MainText, ParsedPage, main_text

_LINKS_TO_TEXT: Final = 0.35  # characters in links per character outside: more is a list of links
_SUBSTANCE: Final = 80  # characters outside of links from which a table is kept
_LISTS: Final = frozenset({"ul", "ol", "dl", "menu", "td", "th", "table"})
_DROPPED: Final = frozenset({"nav", "footer", "aside", "form", "button"})
_ADVERTISING: Final = frozenset({"name promo", "name share", "name signup"})


def filters(source: ParsedPage) -> MainText:
    """Extract the main text by removing link lists, near-empty tables, forms, advertising and the like."""
    parts = source.parts
    size, link_size = _sum_sizes(parts)
    is_kept: list[bool] = []
    for number, part in enumerate(parts):
        text_size = size[number] - link_size[number]
        is_list = link_size[number] > _LINKS_TO_TEXT * text_size and (bool(part.text) or part.tag in _LISTS)
        is_empty = part.tag == "table" and text_size < _SUBSTANCE
        is_dropped = is_list or is_empty or part.tag in _DROPPED or _is_advertising(part)
        is_most = 2 * size[number] > size[0]  # some pages are a single form or table
        is_kept.append((is_most or not is_dropped) and (number == 0 or is_kept[part.parent]))
    return main_text(parts, [1.0 if keep else 0.0 for keep in is_kept])


def _is_advertising(part: OutlinePart) -> bool:
    return part.tag not in ("html", "body") and not _ADVERTISING.isdisjoint(hints(part.names))


def _sum_sizes(parts: Outline) -> tuple[list[int], list[int]]:
    """Characters of text, and of text in links, of each part with all its descendants."""
    size = [part.size for part in parts]
    link_size = [part.link_size for part in parts]
    for number in range(len(parts) - 1, 0, -1):
        parent = parts[number].parent
        size[parent] += size[number]
        link_size[parent] += link_size[number]
    return size, link_size
