"""Find the URLs in field instructions of word processors, such as HYPERLINK and INCLUDEPICTURE."""

from __future__ import annotations

import re

_HYPERLINK = re.compile(r'\s*HYPERLINK\s+(?:\\[a-z]\s+)*(?:["“”„]([^"“”]*)|([^\s"“”\\]+))', re.IGNORECASE)
_REFERRING = re.compile(r"\s*(?:INCLUDEPICTURE|INCLUDETEXT|IMPORT|LINK|RD|DDE|DDEAUTO)\s", re.IGNORECASE)
_URL = re.compile(r"https?://[^\s\"<>]{1,2000}")


def hyperlink(instruction: str) -> str:
    """The URL of a HYPERLINK instruction; empty for others.

    >>> hyperlink(' HYPERLINK "http://a.example/" \\\\o "tip"'), hyperlink("PAGE")
    ('http://a.example/', '')
    """
    found = _HYPERLINK.match(instruction)
    return (found[1] or found[2] or "") if found is not None else ""


def references(instruction: str) -> list[str]:
    """The URLs in an instruction that includes or links external content."""
    return _URL.findall(instruction) if _REFERRING.match(instruction) else []
