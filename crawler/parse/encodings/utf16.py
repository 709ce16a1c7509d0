"""Detect UTF-16 and UTF-32 without a byte order mark."""

from __future__ import annotations

import codecs
from typing import Final
from unicodedata import category

_LONGEST_SAMPLE: Final = 4_096
_PRINTABLE: Final = bytes(range(0x20, 0x7F))
_NON_TEXT_CATEGORIES: Final = ("Cc", "Cn", "Co")  # control characters, unassigned, private use
_SPACES: Final = "\t\n\f\r"
_MOSTLY: Final = 0.8
_MARKUP_IN_UTF_32: Final = (
    *(b"<\0\0\0", codecs.BOM_UTF32_LE + b"<\0\0\0"),
    *(b"\0\0\0<", codecs.BOM_UTF32_BE + b"\0\0\0<"),
)


def detect_utf16_or_utf32(body: bytes) -> str | None:
    r"""Detect UTF-16 or UTF-32 without a byte order mark by the zero bytes; None if it is neither.

    >>> detect_utf16_or_utf32("Où ?".encode("utf-16-be")), detect_utf16_or_utf32("Où ?".encode("utf-32-le"))
    ('UTF-16BE', 'UTF-32LE')
    >>> detect_utf16_or_utf32(b"What?\0 Where?") is None
    True
    """
    sample = body[:_LONGEST_SAMPLE]
    if b"\0" not in sample:
        return None
    if _decodable_text(sample, "utf-32-le"):
        return "UTF-32LE"
    if _decodable_text(sample, "utf-32-be"):
        return "UTF-32BE"
    little, big = _count_ascii(_decodable_text(sample, "utf-16-le")), _count_ascii(_decodable_text(sample, "utf-16-be"))
    needed = len(sample) // 4 if _is_mostly_ascii(sample) else 1
    if max(little, big) < needed or little == big:
        return None
    return "UTF-16LE" if little > big else "UTF-16BE"


def is_markup_in_utf_32(body: bytes) -> bool:
    """Whether a body is markup in UTF-32, which no browser supports."""
    return body.startswith(_MARKUP_IN_UTF_32)


def _decodable_text(sample: bytes, codec: str) -> str:
    """The sample decoded by this codec; empty if the result is not text."""
    try:
        text = codecs.getincrementaldecoder(codec)().decode(sample)  # the last character may be cut
    except UnicodeDecodeError:
        return ""
    strange = sum(category(character) in _NON_TEXT_CATEGORIES and character not in _SPACES for character in text)
    return text if "\0" not in text and strange <= len(text) // 100 else ""


def _count_ascii(text: str) -> int:
    """Count ASCII characters: every text has some, if only spaces, but hardly any in the wrong byte order."""
    return sum(character < "\x80" for character in text)


def _is_mostly_ascii(sample: bytes) -> bool:
    """Whether this is ASCII with a few stray zeros: as UTF-16, any two ASCII letters make a Chinese character."""
    return len(sample.translate(None, _PRINTABLE)) < (1 - _MOSTLY) * len(sample)
