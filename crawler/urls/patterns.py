"""URL patterns in a file, one a line: a prefix of URLs, or a regular expression behind a "~".

https://example.com/docs/        URLs that begin with this
~/tag/[^/]+/page/[0-9]+          URLs that contain a match
"""

from __future__ import annotations

import re
from bisect import bisect_right
from re import Pattern

from crawler.urls.canonical import UrlPolicy
from crawler.urls.rules import DEFAULTS
from crawler.urls.schemes import is_web_url
from crawler.urls.sites import BrokenLine

# A prefix is canonicalized like URLs, but nothing is removed from it or reordered.
_PREFIX_POLICY = UrlPolicy(dict.fromkeys(DEFAULTS, False) | {"escapes": True})


class UrlPatterns:
    """The patterns of one file; raises `BrokenLine` for the first line that is invalid.

    >>> patterns = UrlPatterns("https://example.com/docs\\n~[?&]sort=", "list.txt")
    >>> patterns.first_match("https://example.com/docs/a?b")
    'list.txt:1 https://example.com/docs'
    >>> patterns.first_match("http://a.com/?sort=up"), patterns.first_match("http://a.com/")
    ('list.txt:2 ~[?&]sort=', '')
    """

    def __init__(self, text: str = "", file: str = "") -> None:
        self._expressions: list[tuple[Pattern[str], str]] = []
        prefixes: dict[str, str] = {}
        for number, line in enumerate(re.split(r"\r\n|\r|\n", text), 1):
            pattern = line.strip()
            if not pattern or pattern.startswith("#"):
                continue
            name = f"{file}:{number} {pattern}"
            if pattern.startswith("~"):
                self._expressions.append((_compiled(pattern[1:].strip(), file, number), name))
            else:
                prefixes.setdefault(_canonical_prefix(pattern, file, number), name)
        # A prefix that begins with a shorter one is dropped, so that only the last one not after a URL can match it.
        self._prefixes: list[str] = []
        for prefix in sorted(prefixes):
            if not self._prefixes or not prefix.startswith(self._prefixes[-1]):
                self._prefixes.append(prefix)
        self._names = prefixes

    def __bool__(self) -> bool:
        return bool(self._prefixes or self._expressions)

    def first_match(self, url: str) -> str:
        """Return the file, line and text of a pattern that matches a canonical URL; empty if none does."""
        place = bisect_right(self._prefixes, url)
        if place and url.startswith(self._prefixes[place - 1]):
            return self._names[self._prefixes[place - 1]]
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


def _canonical_prefix(text: str, file: str, number: int) -> str:
    is_url = is_web_url(text) and "#" not in text  # a comment has its own line
    prefix = _PREFIX_POLICY.canonicalize(text) if is_url else None
    if prefix is None:
        raise BrokenLine(
            file,
            number,
            f"{text!r} is no beginning of a URL (https://example.com/docs/); before a regular expression put ~",
        )
    return prefix
