"""Find the title of a page: its headline, without the name of the site.

Authors give a page up to four titles: for the window, for social networks, for search engines, and the headline.
Readers know the page by its headline, so that is preferred if another title confirms it; unconfirmed it may be the
name of the site.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from crawler.parse.page_scan import Heading

_SEPARATOR = re.compile(r"\s+[-–—|·•:»›«‹⋆★*/\\~<>]{1,2}\s+|\s*[|»›«‹]\s+|\s+::\s+|: (?=\S+$)")
_WORD = re.compile(r"\w+")
_MOST_PARTS = 8
_ENOUGH_WORDS = 4
_SAME_SITE = 0.6  # relative length from which a name contained in another is the same: "The Paper", "The Paper Online"
_CONFIRMED = 0.5  # similarity of the words of a heading and another title (Dice) that is needed


def words(text: str) -> list[str]:
    """The words of a text in lower case, for comparison.

    >>> words("L'été, 2019!")
    ['l', 'été', '2019']
    """
    return _WORD.findall(text.casefold())


def best_title(plain: str, declared: Sequence[str], headings: Sequence[Heading], site_names: Iterable[str]) -> str:
    """Choose the title from <title>, declared titles (best first) and headings, given the names of the site.

    >>> headings = [Heading(1, "The Paper"), Heading(1, "It rains")]
    >>> best_title("News: It rains | The Paper", ["It rains today"], headings, [])
    'It rains'
    >>> best_title("It rains - thepaper.com", [], [], ["The Paper", "www.thepaper.com"])
    'It rains'
    """
    sites = frozenset(filter(None, map(_key, site_names)))
    bare = [without_site(title, sites) for title in (*declared, plain) if title]
    heading = _most_confirmed(_candidate_headings(headings, 1, sites), bare) or _heading_in_title(
        _candidate_headings(headings, 3, sites), bare
    )
    if heading or not bare:
        return heading or (headings[0].text if headings else "")
    return bare[0] if bare[0] != plain else _without_short_suffix(plain)


def without_site(title: str, sites: frozenset[str]) -> str:
    """A title without the parts at its ends that name the site; the whole title if no other part remains."""
    parts = _parts(title)
    start, end = 0, len(parts)
    while end - start > 1 and _is_site(title[parts[end - 1][0] : parts[end - 1][1]], sites):
        end -= 1
    while end - start > 1 and _is_site(title[parts[start][0] : parts[start][1]], sites):
        start += 1
    return title[parts[start][0] : parts[end - 1][1]].strip()


def _parts(title: str) -> list[tuple[int, int]]:
    """The start and end of the parts of a title, which separators divide."""
    parts, start = [], 0
    for separator in _SEPARATOR.finditer(title):
        parts.append((start, separator.start()))
        start = separator.end()
    parts.append((start, len(title)))
    return parts if len(parts) <= _MOST_PARTS else [(0, len(title))]


def _most_confirmed(headings: Sequence[str], titles: Sequence[str]) -> str:
    """The heading that is most similar to one of the titles, the first of equals; empty if none is similar enough."""
    best, most = "", _CONFIRMED
    known = [set(words(title)) for title in titles]
    for heading in headings:
        own = set(words(heading))
        share = max((2 * len(own & other) / (len(own) + len(other)) for other in known if own), default=0.0)
        if share > most:
            best, most = heading, share
    return best


def _candidate_headings(headings: Sequence[Heading], lowest: int, sites: frozenset[str]) -> list[str]:
    """The headings down to a level that are not the name of the site."""
    return [heading.text for heading in headings if heading.level <= lowest and not _is_site(heading.text, sites)]


def _heading_in_title(headings: Sequence[str], titles: Sequence[str]) -> str:
    """The longest heading that equals a part of a title; the last part counts only if it is the longest."""
    known: set[str] = set()
    for title in titles:
        parts = [_key(title[start:end]) for start, end in _parts(title)]
        known.update(parts[:-1], [max(parts, key=len)])
    return max((heading for heading in headings if _key(heading) in known), key=len, default="")


def _without_short_suffix(title: str) -> str:
    """A title without a short last part, which is probably the site's name, if enough words remain."""
    parts = _parts(title)
    rest = title[: parts[-2][1]] if len(parts) > 1 else ""
    return rest if len(words(rest)) >= _ENOUGH_WORDS >= len(words(title[parts[-1][0] :])) else title


def _is_site(text: str, sites: frozenset[str]) -> bool:
    key = _key(text)
    return not key or any(_is_similar_name(key, site) for site in sites)


def _is_similar_name(key: str, site: str) -> bool:
    shorter, longer = sorted((key, site), key=len)
    return shorter in longer and len(shorter) >= _SAME_SITE * len(longer)


def _key(name: str) -> str:
    return "".join(words(name))
