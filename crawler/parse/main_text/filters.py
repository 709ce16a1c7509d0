"""Content is what is left when all that is not is taken away.

After Gupta, Kaiser, Neistadt and Grimm (2003): advertisements, lists of links, and tables without substance go, each by
a filter of its own; images and programs are in no outline. Nothing is scored, and nothing is learned.
"""

from __future__ import annotations

from typing import Final

from crawler.parse.main_text.hints import hints
from crawler.parse.main_text.outline import Outline
from crawler.parse.main_text.result import MainText, Source, main_text

_LINKS_TO_TEXT: Final = 0.35  # characters in links for each that is not: more is a list of links
_SUBSTANCE: Final = 40  # characters that make a table, or what stands in a page on its own, worth keeping
_CONTAINERS: Final = frozenset(
    ["table", "tbody", "tr", "td", "th", "ul", "ol", "dl", "div", "section", "aside", "nav", "form", "center"]
)
_DROPPED: Final = frozenset({"nav", "footer", "aside", "form", "button"})
_ADVERTISING: Final = frozenset({"name promo", "name menu", "name signup", "name notice", "name share", "is !hidden"})


def filters(source: Source) -> MainText:
    parts = source.parts
    size, link_size = _sums(parts)
    kept = [True] * len(parts)
    for number, part in enumerate(parts):
        links = link_size[number] > _LINKS_TO_TEXT * (size[number] - link_size[number])
        kept[number] = (number == 0 or kept[part.parent]) and not (
            part.tag in _DROPPED
            or (part.tag not in ("html", "body") and not _ADVERTISING.isdisjoint(hints(part.names)))
            or (links and (part.tag in _CONTAINERS or bool(part.text)))
            or (part.tag == "table" and size[number] < _SUBSTANCE)
        )
    return main_text(parts, [1.0 if keep else 0.0 for keep in kept])


def _sums(parts: Outline) -> tuple[list[int], list[int]]:
    size = [part.size for part in parts]
    link_size = [part.link_size for part in parts]
    for number in range(len(parts) - 1, 0, -1):
        parent = parts[number].parent
        size[parent] += size[number]
        link_size[parent] += link_size[number]
    return size, link_size
