"""URL patterns in a file, one a line: a beginning of URLs, or a regular expression behind a "~".

https://example.com/docs/        URLs that begin so
~/tag/[^/]+/page/[0-9]+          URLs in which this is found
"""

from __future__ import annotations

import re
from bisect import bisect_right
from re import Pattern

from crawler.urls.canonical import UrlPolicy
from crawler.urls.rules import DEFAULTS
from crawler.urls.schemes import is_web_url
from crawler.urls.sites import BrokenLine

# A beginning is spelled as we spell URLs, but nothing is taken out of it or moved about.
_SPELLING = UrlPolicy(dict.fromkeys(DEFAULTS, False) | {"escapes": True})


class UrlPatterns:
    """The patterns of one file; `BrokenLine` for the first that makes no sense.

    >>> patterns = UrlPatterns("https://example.com/docs\\n~[?&]sort=", "list.txt")
    >>> patterns.first("https://example.com/docs/a?b"), patterns.first("http://a.com/?sort=up"), patterns.first("http://a.com/")
    ('list.txt:1 https://example.com/docs', 'list.txt:2 ~[?&]sort=', '')
    """

    def __init__(self, text: str = "", file: str = "") -> None:
        self._expressions: list[tuple[Pattern[str], str]] = []
        beginnings: dict[str, str] = {}
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
            pattern = line.strip()
            if not pattern or pattern.startswith("#"):
                continue
            name = f"{file}:{number} {pattern}"
            if pattern.startswith("~"):
                self._expressions.append((_compiled(pattern[1:].strip(), file, number), name))
            else:
                beginnings.setdefault(_beginning(pattern, file, number), name)
        # Of two that begin alike only the shorter is kept, so that the last one not behind a URL decides.
        self._beginnings: list[str] = []
        for beginning in sorted(beginnings):
            if not self._beginnings or not beginning.startswith(self._beginnings[-1]):
                self._beginnings.append(beginning)
        self._names = beginnings

    def __bool__(self) -> bool:
        return bool(self._beginnings or self._expressions)

    def first(self, url: str) -> str:
        """The file, line and text of a pattern that fits a canonical URL; empty if none does."""
        place = bisect_right(self._beginnings, url)
        if place and url.startswith(self._beginnings[place - 1]):
            return self._names[self._beginnings[place - 1]]
        for expression, name in self._expressions:
            if expression.search(url):
                return name
        return ""


def _compiled(expression: str, file: str, number: int) -> Pattern[str]:
    if not expression:
        raise BrokenLine(file, number, "an empty regular expression fits every URL")
    try:
        return re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:
        raise BrokenLine(file, number, f"{expression!r} is no regular expression: {error}") from error


def _beginning(text: str, file: str, number: int) -> str:
    is_url = is_web_url(text) and "#" not in text  # a comment has its own line
    beginning = _SPELLING.canonicalize(text) if is_url else None
    if beginning is None:
        raise BrokenLine(
            file,
            number,
            f"{text!r} is no beginning of a URL (https://example.com/docs/); before a regular expression put ~",
        )
    return beginning
