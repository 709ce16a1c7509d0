"""When is that? Dates as sites write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache

_SHORT = re.compile(r"(\d{4})(?:-(\d\d))?")  # a year, or a month


def seconds_of(text: str) -> float | None:
    """A date of ISO 8601 or one of mail (RFC 822, 850); without a day or a time its beginning, without a zone UTC.

    >>> seconds_of("2005"), seconds_of("1970-01-02"), seconds_of("Fri, 02 Jan 1970 00:00:01 GMT"), seconds_of("soon")
    (1104537600.0, 86400.0, 86401.0, None)
    """
    text = text.strip()
    return _day(text) if len(text) <= 10 else _moment(text)


def _moment(text: str) -> float | None:
    if len(text) <= 7 and (date := _SHORT.fullmatch(text)) is not None:
        text = f"{date[1]}-{date[2] or '01'}-01"
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = parse(text)
            return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError, IndexError, TypeError):
            continue
    return None


_day = lru_cache(maxsize=4096)(_moment)  # moments do not come again, days do
