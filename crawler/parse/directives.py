"""What does a page ask of crawlers, in its `X-Robots-Tag` headers and its `<meta name="robots">`?

Whoever is named, all crawlers or we, of what they are asked the strictest holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from crawler.items import ROBOTS_TOKEN
from crawler.parse.metadata.dates import seconds_of

# Those that have values of their own after a colon: what stands before it is no crawler's name.
_WITH_VALUE = ("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview")
_AGENT = re.compile(r"\s*([\w.-]+)\s*:\s*(.*)", re.DOTALL)
_UNAVAILABLE = re.compile(r"unavailable_after\s*:?\s*(.*)", re.IGNORECASE | re.DOTALL)
_VALUED = re.compile(r"[\w-]+\s*:\s*[^\s,]*")  # max-image-preview:none
_WORDS = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Directives:
    """What is asked for."""

    noindex: bool = False  # it is not to be found
    nofollow: bool = False  # its links are not to be followed
    noarchive: bool = False  # no copy is to be shown
    unavailable_after: float | None = None  # after this time it is not to be found


NONE = Directives()


def from_headers(values: Iterable[str]) -> Directives:
    """Of `X-Robots-Tag` headers, each for all crawlers or for one.

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
    """Of texts that are meant for us.

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
    """The stricter of each."""
    ends = [end for end in (first.unavailable_after, second.unavailable_after) if end is not None]
    return Directives(
        noindex=first.noindex or second.noindex,
        nofollow=first.nofollow or second.nofollow,
        noarchive=first.noarchive or second.noarchive,
        unavailable_after=min(ends, default=None),
    )


def _unavailable_time(text: str) -> tuple[float | None, list[str]]:
    """The time that a text begins with, and the directives after it: dates may hold commas, too."""
    parts = text.split(",")
    for end in range(1, len(parts) + 1):
        when = seconds_of(",".join(parts[:end]))
        if when is not None:
            return when, [part.strip().lower() for part in parts[end:]]
    return None, [part.strip().lower() for part in parts[1:]]
