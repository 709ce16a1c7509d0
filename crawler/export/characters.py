"""Replace characters that readers of exports cannot handle: lone surrogates, control characters, odd line ends."""

from __future__ import annotations

import re
from re import Match
from typing import Final

_SURROGATES = re.compile("[\ud800-\udfff]")
_LINE_ENDS = re.compile("\r\n?")
# Control characters, those that only some readers take for line ends, lone surrogates, and what XML and YAML forbid.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_PRINTABLE_ASCII: Final = bytes([0x09, 0x0A, *range(0x20, 0x7F)])


def encode_utf8(text: str) -> bytes:
    """Encode as UTF-8; lone surrogates, which it cannot encode, become U+FFFD.

    >>> encode_utf8("a\\ud800b")
    b'a\\xef\\xbf\\xbdb'
    """
    try:
        return text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text).encode()


def printable(text: str) -> str:
    """A text with "\\n" as its only line end, and without control characters or invalid ones.

    >>> printable("a\\r\\nb\\x00\\ud800")
    'a\\nb �'
    """
    # Most texts are plain ASCII, which is checked in a tenth of the time.
    if text.isascii() and not text.encode().translate(None, _PRINTABLE_ASCII):
        return text
    return _UNPRINTABLE.sub(_replacement, _LINE_ENDS.sub("\n", text))


def on_one_line(text: str) -> str:
    """A text on one line, with single spaces between words.

    >>> on_one_line(" a\\n\\x00 b")
    'a b'
    """
    return " ".join(printable(text).split())


def _replacement(match: Match[str]) -> str:
    return "\ufffd" if match[0] >= "\ud800" else " "
