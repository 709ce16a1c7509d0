"""Which characters of a page can others not read?"""

from __future__ import annotations

import re
from re import Match
from typing import Final

_HALVES = re.compile("[\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n?")
# Control characters, those that end a line only for some, halves of surrogate pairs, and what XML and YAML do not have.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_PLAIN: Final = bytes([0x09, 0x0A, *range(0x20, 0x7F)])


def encoded(text: str) -> bytes:
    """In UTF-8, which has no bytes for half a surrogate pair.

    >>> encoded("a\\ud800b")
    b'a\\xef\\xbf\\xbdb'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _HALVES.sub("\ufffd", text).encode()


def printable(text: str) -> str:
    """Lines that all take for the same lines, without what steers a terminal or is no character.

    >>> printable("a\\r\\nb\\x00\\ud800")
    'a\\nb �'
    """
    if text.isascii() and not text.encode().translate(None, _PLAIN):  # as most are, seen in a tenth of the time
        return text
    return _UNPRINTABLE.sub(_replacement, _LINE_ENDS.sub("\n", text))


def on_one_line(text: str) -> str:
    """Words with single spaces between them.

    >>> on_one_line(" a\\n\\x00 b")
    'a b'
    """
    return " ".join(printable(text).split())


def _replacement(found: Match[str]) -> str:
    return "\ufffd" if found[0] >= "\ud800" else " "
