"""Match sitemap entries in their usual form with regular expressions: twice as fast as an XML parser.

The expressions accept a subset of XML: no attributes except those of links to translations, no comments, no CDATA, and
of references only the five predefined ones. Negated classes of a single character are several times as fast as larger
ones, so what they wrongly accept is checked afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_SPACE = r"[ \t\n]*+"


def _at_most_one(name: str, group: int) -> str:
    """The pattern of an element that may occur anywhere among its siblings, at most once."""
    return rf"<{name}>(?({group})(?!))([^<]*+)</{name}>"


_HREF = r'"[^"<\t\n]*+"'  # "<" is an error there, and a parser would turn tabs and line feeds into blanks
_LINK = rf'<[a-z]++:link rel="alternate" (?:hreflang="[\w-]*+" href={_HREF}|href={_HREF} hreflang="[\w-]*+") ?/>'
_MEDIUM = rf"<([a-z]++:(?:image|video))>{_SPACE}(?:<([a-z]++:[a-z_]++)>[^<]*+</\8>{_SPACE})*</\7>"
_ENTRY = re.compile(
    rf"{_SPACE}<(url|sitemap)>{_SPACE}<loc>([^<]*+)</loc>{_SPACE}"
    rf"(?:(?:{_at_most_one('lastmod', 3)}|{_at_most_one('changefreq', 4)}|{_at_most_one('priority', 5)}){_SPACE})*"
    rf"((?:(?:{_LINK}|{_MEDIUM}){_SPACE})*)</\1>"
)
_REFERENCE = re.compile(r"&(?:lt|gt|quot|apos|amp);")
_LINKS = re.compile(
    r':link rel="alternate" (?:hreflang="([^"]*+)" href="([^"]*+)"|href="([^"]*+)" hreflang="([^"]*+)")'
)
_LOCATIONS = re.compile(r":(?:content_)?loc>([^<]++)</")


class EntryFields(NamedTuple):
    """The fields of a sitemap entry as text; None where it has none."""

    loc: str
    lastmod: str | None = None
    changefreq: str | None = None
    priority: str | None = None
    more: str = ""  # alternates and media, still as XML: rarely used, and parsed they would take far more memory


def match_simple_entry(text: str, start: int) -> tuple[EntryFields, int] | None:
    """Match the entry that starts at `start` (after optional white space) and its end; None if it needs an XML parser.

    `start` must be between entries, lines must end in "\\n", and the text must have no character that XML forbids.

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
    """(language, URL) of each translation in an entry's `more`.

    >>> alternates_in(more_xml([("de", "http://a.test/?b&c")], []))
    (('de', 'http://a.test/?b&c'),)
    """
    rows = _LINKS.findall(more)
    return tuple(
        (before or after, _unescape(href or earlier)) for before, href, earlier, after in rows if href or earlier
    )


def media_in(more: str) -> tuple[str, ...]:
    """URLs of images and videos in an entry's `more`.

    >>> media_in(more_xml([], ["http://a.test/?b&c"]))
    ('http://a.test/?b&c',)
    """
    return tuple(filter(None, map(_unescape, _LOCATIONS.findall(more))))


def more_xml(alternates: Iterable[tuple[str, str]], media: Iterable[str]) -> str:
    """Write alternates and media as XML in the form that the functions above read."""
    links = [
        f'<x:link rel="alternate" hreflang="{_escape(name)}" href="{_escape(href)}"/>' for name, href in alternates
    ]
    return "".join(links + [f"<x:image><x:loc>{_escape(loc)}</x:loc></x:image>" for loc in media])


def _unescape(text: str) -> str:
    if "&" in text:  # "&amp;" last, so that no reference is made by unescaping another
        text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
        text = text.replace("&amp;", "&")
    return text.strip()


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
