"""Entries of a sitemap as nearly everybody writes them, read by expressions: twice as fast as by a parser.

What they fit is a part of XML that needs no parser: no attributes but those of links to other languages, no comments, no
CDATA, and of references only the five that XML itself knows. Classes of one character are several times as fast as
others; what they let pass is looked for afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_SPACE = r"[ \t\n]*+"


def _optional_element(name: str, group: int) -> str:
    """An element that may come anywhere among others, but not twice."""
    return rf"<{name}>(?({group})(?!))([^<]*+)</{name}>"


_HREF = r'"[^"<\t\n]*+"'  # a "<" is an error there, and of the others a parser makes spaces
_LINK = rf'<[a-z]++:link rel="alternate" (?:hreflang="[\w-]*+" href={_HREF}|href={_HREF} hreflang="[\w-]*+") ?/>'
_MEDIUM = rf"<([a-z]++:(?:image|video))>{_SPACE}(?:<([a-z]++:[a-z_]++)>[^<]*+</\8>{_SPACE})*</\7>"
_ENTRY = re.compile(
    rf"{_SPACE}<(url|sitemap)>{_SPACE}<loc>([^<]*+)</loc>{_SPACE}"
    rf"(?:(?:{_optional_element('lastmod', 3)}|{_optional_element('changefreq', 4)}|{_optional_element('priority', 5)}){_SPACE})*"
    rf"((?:(?:{_LINK}|{_MEDIUM}){_SPACE})*)</\1>"
)
_REFERENCE = re.compile(r"&(?:lt|gt|quot|apos|amp);")
_LINKS = re.compile(
    r':link rel="alternate" (?:hreflang="([^"]*+)" href="([^"]*+)"|href="([^"]*+)" hreflang="([^"]*+)")'
)
_LOCATIONS = re.compile(r":(?:content_)?loc>([^<]++)</")


class EntryFields(NamedTuple):
    """What an entry says, as text; None of what it does not say."""

    loc: str
    lastmod: str | None = None
    changefreq: str | None = None
    priority: str | None = None
    more: str = ""  # its links and media, still as XML: few ask for them, and read they would take far more memory


def match_simple_entry(text: str, start: int) -> tuple[EntryFields, int] | None:
    """The entry that starts there, perhaps after white space, and where it ends; None if it takes a parser to read it.

    The place must be between entries, lines must end in "\\n", and the text must not hold what XML forbids.

    >>> match_simple_entry("<url><loc>http://a.test/?b&amp;c</loc></url>", 0)
    (EntryFields(loc='http://a.test/?b&c', lastmod=None, changefreq=None, priority=None, more=''), 44)
    """
    found = _ENTRY.match(text, start)
    if found is None:
        return None
    loc, lastmod, changefreq, priority, more = found.group(2, 3, 4, 5, 6)
    end = found.end()
    references = text.count("&", start, end)
    if references:
        if references != loc.count("&amp;") and references != len(_REFERENCE.findall(text, start, end)):
            return None
        loc = _unescape(loc)
    return EntryFields(loc.strip(), lastmod, changefreq, priority, more), end


def alternates_in(more: str) -> tuple[tuple[str, str], ...]:
    """Languages and the URLs of pages in them.

    >>> alternates_in(more_xml([("de", "http://a.test/?b&c")], []))
    (('de', 'http://a.test/?b&c'),)
    """
    rows = _LINKS.findall(more)
    return tuple(
        (before or after, _unescape(href or earlier)) for before, href, earlier, after in rows if href or earlier
    )


def media_in(more: str) -> tuple[str, ...]:
    """URLs of images and videos.

    >>> media_in(more_xml([], ["http://a.test/?b&c"]))
    ('http://a.test/?b&c',)
    """
    return tuple(filter(None, map(_unescape, _LOCATIONS.findall(more))))


def more_xml(alternates: Iterable[tuple[str, str]], media: Iterable[str]) -> str:
    """As a plain entry would say it."""
    links = [
        f'<x:link rel="alternate" hreflang="{_escape(name)}" href="{_escape(href)}"/>' for name, href in alternates
    ]
    return "".join(links + [f"<x:image><x:loc>{_escape(loc)}</x:loc></x:image>" for loc in media])


def _unescape(text: str) -> str:
    if "&" in text:  # the last of these makes no other
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
        text = text.replace("&amp;", "&")
    return text.strip()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
