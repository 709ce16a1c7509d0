"""Parse the JSON-LD (schema.org) of a page and rank its things: which of them the page is about.

It is read as JSON, not as RDF: pages use the few shapes that search engines support, and contexts would need fetching.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import islice
from typing import Any

from crawler.parse.clean_text import one_line

Thing = Mapping[str, Any]
MOST_THINGS = 200  # top-level objects per page
_MOST_VALUES = 5_000  # per page, all things together
_MOST_TEXTS = 50  # per property
_DEEPEST = 12
_LONGEST = 2_000  # characters of a string
_DECODER = json.JSONDecoder(strict=False)  # line breaks within strings are the most common error
_WRAPPING = re.compile(r"(?:[\s;]|<!--|//|/\*|\*/|<!\[CDATA\[)*+")
_LAST_COMMA = re.compile(r",\s*+(?=[}\]])")

# Types of things that every page of a site has: a page is not about them.
_SITE_TYPES = """
website organization newsmediaorganization corporation localbusiness person brand breadcrumblist imageobject itemlist
listitem sitenavigationelement wpheader wpfooter wpsidebar searchaction readaction offer aggregaterating postaladdress
"""
_SITE_TYPE_NAMES = frozenset(_SITE_TYPES.split())


def things_in(scripts: Iterable[str]) -> list[Thing]:
    """Parse the things in JSON-LD scripts, those of an @graph one by one; scripts that are not JSON are skipped.

    >>> things_in(['{"@graph": [{"@type": "Article", "name": "a"}]};', "<nonsense>"])
    [{'@type': 'Article', 'name': 'a'}]
    """
    copy = _BoundedCopy()
    found = (copy.copy(thing) for script in scripts for thing in _top_level_things(_decode_script(script), 0))
    return [thing for thing in islice(found, MOST_THINGS) if isinstance(thing, dict) and thing]


def kinds_of(thing: Thing) -> list[str]:
    """The types of a thing, without the vocabulary's prefix.

    >>> kinds_of({"@type": ["http://schema.org/NewsArticle", "Thing"]})
    ['NewsArticle', 'Thing']
    """
    kinds = thing.get("@type")
    listed = kinds if isinstance(kinds, list) else [kinds]
    return [name for kind in listed if isinstance(kind, str) and (name := re.split("[/#:]", kind.rstrip("/"))[-1])]


def rank_things(things: Sequence[Thing], urls: frozenset[str], title: str) -> list[Thing]:
    """Rank things: articles first, then other subjects, then the page as such; things of the site are dropped.

    Of several things of one rank, the one with the page's URL or title is taken, else none: the page may be a list of
    articles.
    """
    articles = [thing for thing in things if _rank(thing) == 3]
    others = [thing for thing in things if _rank(thing) == 2]
    pages = [thing for thing in things if _rank(thing) == 1]
    return [
        *_select_subject(articles, urls, title),
        *_select_subject(others, urls, title),
        *_select_subject(pages, urls, title),
    ]


def property_texts(thing: Thing, name: str, things: Sequence[Thing] = ()) -> list[str]:
    """The texts of a property: strings, and the names of things, which may be described elsewhere on the page.

    >>> property_texts({"author": [{"name": "A"}, "B", {"@id": "#c"}]}, "author", [{"@id": "#c", "name": "C"}])
    ['A', 'B', 'C']
    """
    value = thing.get(name)
    found = (_text(part, things) for part in (value if isinstance(value, list) else [value])[:_MOST_TEXTS])
    # JSON has no character references, but many content management systems write them.
    return [one_line(unescape(text)) if "&" in text else text for text in found if text]


def _text(value: Any, things: Sequence[Thing]) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping):
        return ""
    for key in ("name", "@value", "url"):
        name = value.get(key)
        if isinstance(name, list):
            name = name[0] if name else ""
        if isinstance(name, str) and name:
            return name
    reference = value.get("@id")
    named = (thing.get("name") for thing in things if reference and thing.get("@id") == reference)
    return next((name for name in named if isinstance(name, str)), "")


def _rank(thing: Thing) -> int:
    """3 for an article, 2 for another subject, 1 for the page as such, 0 for a thing of the site."""
    kinds = [kind.lower() for kind in kinds_of(thing)]
    if any(kind.endswith(("article", "posting", "report")) and kind != "jobposting" for kind in kinds):
        return 3
    if any(kind.endswith("page") for kind in kinds):
        return 1
    return 0 if not kinds or not _SITE_TYPE_NAMES.isdisjoint(kinds) else 2


def _select_subject(things: Sequence[Thing], urls: frozenset[str], title: str) -> Sequence[Thing]:
    """The thing of one rank that the page is about: by URL, by title, or because all have the same name; else none."""
    if len(things) <= 1:
        return things
    for thing in things:
        if not urls.isdisjoint(_urls_of(thing)):
            return [thing]
    for thing in things:
        name = next(iter(property_texts(thing, "headline") or property_texts(thing, "name")), "")
        if name and name in title:
            return [thing]
    return things[:1] if len({str(thing.get("headline") or thing.get("name")) for thing in things}) == 1 else ()


def _urls_of(thing: Thing) -> Iterator[str]:
    for name in ("url", "@id", "mainEntityOfPage"):
        value = thing.get(name)
        if isinstance(value, Mapping):
            value = value.get("@id") or value.get("url")
        if isinstance(value, str):
            yield value.partition("#")[0]


def _decode_script(script: str) -> Any:
    """Decode the JSON value in a script, ignoring comments around it and trailing commas; None if there is none."""
    start = _WRAPPING.match(script)
    text = script[start.end() :] if start is not None else script
    for attempt in (text, None):
        try:
            return _DECODER.raw_decode(attempt if attempt is not None else _LAST_COMMA.sub("", text))[0]
        except (ValueError, RecursionError):
            continue
    return None


def _top_level_things(value: Any, depth: int) -> Iterator[Any]:
    if depth > 4:
        return
    if isinstance(value, list):
        for part in value:
            yield from _top_level_things(part, depth + 1)
    elif isinstance(value, dict):
        if "@type" in value:
            yield value
        for name in ("@graph", "mainEntity"):
            if isinstance(value.get(name), list | dict):
                yield from _top_level_things(value[name], depth + 1)


class _BoundedCopy:
    """Copies values with normalized, bounded strings, up to limits on number and depth; the rest is left out."""

    def __init__(self) -> None:
        self._left = _MOST_VALUES

    def copy(self, value: Any, depth: int = 0) -> Any:
        self._left -= 1
        if isinstance(value, str):
            return one_line(value[:_LONGEST])
        if isinstance(value, dict) and depth < _DEEPEST:
            return {one_line(key[:100]): self.copy(part, depth + 1) for key, part in value.items() if self._left > 0}
        if isinstance(value, list) and depth < _DEEPEST:
            return [self.copy(part, depth + 1) for part in value if self._left > 0]
        return value if isinstance(value, bool) or (isinstance(value, int | float) and abs(value) < 1e15) else None
