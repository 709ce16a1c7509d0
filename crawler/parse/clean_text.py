"""Normalize extracted text: Unicode NFC, no control characters, no superfluous white space."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

# Control characters (C0 and C1), lone surrogates and noncharacters: databases, JSON readers and terminals fail on them.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")

_PRINTABLE: Final = bytes(range(0x20, 0x7F))


def normalize_text(text: str) -> str:
    """Remove control characters and compose the text (NFC).

    >>> normalize_text("e\\u0301\\x00t\\u00e9") == "\\u00e9t\\u00e9"
    True
    """
    if text.isascii():
        return _CONTROL.sub("", text) if _CONTROL.search(text) else text
    if _CONTROL.search(text):
        text = _CONTROL.sub("", text)
    return _to_nfc(text)


def _to_nfc(text: str) -> str:
    return text if unicodedata.is_normalized("NFC", text) else unicodedata.normalize("NFC", text)


def one_line(text: str) -> str:
    """Put a text on one line with single spaces, normalized.

    >>> one_line("  a\\n\\tb ")
    'a b'
    """
    if _is_printable(text) and "  " not in text:  # then only composition is left to do
        text = text.strip(" ")
        return text if text.isascii() else _to_nfc(text)
    return normalize_text(" ".join(text.split()))


def _is_printable(text: str) -> bool:
    if len(text) > 50 and text.isascii():  # same as str.isprintable, in a quarter of the time
        return not text.encode().translate(None, _PRINTABLE)
    return text.isprintable()


def nonempty_lines(text: str) -> str:
    """Normalize a text and drop empty lines and the white space at the ends of the others.

    >>> nonempty_lines(" a \\n\\n b")
    'a\\nb'
    """
    return "\n".join([stripped for line in normalize_text(text).split("\n") if (stripped := line.strip())])
