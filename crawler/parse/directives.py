"""Robots directives of a page: `X-Robots-Tag` headers and `<meta name="robots">`.

Directives for all crawlers and those for ours are combined; the strictest one applies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from crawler.items import ROBOTS_TOKEN
from crawler.parse.metadata.dates import seconds_of

# Directives with a value after a colon: what stands before that colon is not a crawler's name.
_WITH_VALUE = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_AGENT = re.compile(r"\s*([\w.-]+)\s*:\s*(.*)", re.DOTALL)
_UNAVAILABLE = re.compile(r"unavailable_after\s*:?\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUED = re.compile(r"[\w-]+\s*:\s*[^\s,]*")  # max-image-preview:none
_WORDS = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    """The directives that apply to our crawler."""

    noindex: bool = False  # keep the page out of search results
    nofollow: bool = False  # do not follow its links
    noarchive: bool = False  # do not show a cached copy
    unavailable_after: float | None = None  # keep it out of search results after this time


NONE = Directives()


def from_headers(values: Iterable[str]) -> Directives:
    """Parse `X-Robots-Tag` headers, each of which is for all crawlers or for the one it names.

    >>> from_headers(["noarchive", "otherbot: noindex, nofollow", "orbweaver: none"])
    Directives(noindex=True, nofollow=True, noarchive=True, unavailable_after=None)
    """
    ours = []
    for value in values:
        named = _AGENT.match(value)
        if named is None or named[1].lower() in _WITH_VALUE:
            ours.append(value)
        elif named[1].lower() in (ROBOTS_TOKEN, "robots"):
            ours.append(named[2])
    return parse(ours)


def parse(values: Iterable[str]) -> Directives:
    """Parse directives that apply to our crawler.

    >>> parse(["NOINDEX,nofollow"]).noindex, parse(["all"]) == NONE
    (True, True)
    """
    words: set[str] = set()
    ends: list[float] = []
    for value in values:
        found = _UNAVAILABLE.search(value)
        plain = _VALUED.sub("", value[: found.start()] if found else value)
        words.update(word.lower() for word in _WORDS.findall(plain))
        if found is not None:
            when, others = _unavailable_time(found[1])
            words.update(others)
            ends += [when] if when is not None else []
    if not words and not ends:
        return NONE
    return Directives(
        noindex=not words.isdisjoint(("noindex", "none")),
        nofollow=not words.isdisjoint(("nofollow", "none")),
        noarchive=not words.isdisjoint(("noarchive", "nocache")),
        unavailable_after=min(ends, default=None),
    )


def merged(first: Directives, second: Directives) -> Directives:
    """Combine two sets of directives: of each, the stricter one."""
    ends = [end for end in (first.unavailable_after, second.unavailable_after) if end is not None]
    return Directives(
        noindex=first.noindex or second.noindex,
        nofollow=first.nofollow or second.nofollow,
        noarchive=first.noarchive or second.noarchive,
        unavailable_after=min(ends, default=None),
    )


def _unavailable_time(text: str) -> tuple[float | None, list[str]]:
    """The time at the start of a text, and the directives after it (dates may contain commas, too)."""
    parts = text.split(",")
    for end in range(1, len(parts) + 1):
        when = seconds_of(",".join(parts[:end]))
        if when is not None:
            return when, [part.strip().lower() for part in parts[end:]]
    return None, [part.strip().lower() for part in parts[1:]]
