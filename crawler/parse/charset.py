"""Which characters do these bytes mean?"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from turbohtml.detect import detect
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
    to_unicode,
)

# What the Encoding Standard knows, by Python's names. Python knows more, some of which does not even give text,
# and a page that asks for one of those is mistaken or up to something.
_OF_THE_WEB = frozenset(
    {
        *(
            "utf-8",
            "utf-16",
            "utf-16-le",
            "utf-16-be",
            "cp866",
            "cp874",
            "koi8-r",
            "koi8-u",
            "mac-roman",
            "mac-cyrillic",
        ),
        *(f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)),
        *(f"cp{page}" for page in range(1250, 1259)),
        *("gb18030", "big5hkscs", "euc_jp", "iso2022_jp", "cp932", "cp949"),
    }
)
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_LONGEST_SAMPLE = 100_000  # bytes to guess by: up to 27 ms on a busy machine


class Decoded(NamedTuple):
    """Text, and how its encoding came to be known."""

    text: str
    encoding: str  # Python's name
    source: str  # "bom" | "header" | "meta" | "utf-8" | "guess" | "fallback"


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """The text of a body, by its byte order mark, else its header, else its own declaration, else its look.

    What does not decode becomes U+FFFD; labels the web does not know are as good as none.

    >>> decode("né".encode("latin-1"), "text/html; charset=ISO-8859-1")
    Decoded(text='né', encoding='cp1252', source='header')
    """
    encoding, mark = read_bom(body)
    if encoding is not None and mark is not None:
        return Decoded(to_unicode(body[len(mark) :], encoding), encoding, "bom")
    encoding = http_content_type_encoding(content_type)
    if encoding in _OF_THE_WEB:
        return Decoded(to_unicode(body, encoding), encoding, "header")
    encoding = _declared(body)
    if encoding in _OF_THE_WEB:
        return Decoded(to_unicode(body, encoding), encoding, "meta")
    return _by_look(body)


def decode_or_guess(body: bytes, content_type: str | None = None) -> Decoded:
    """As decode, but where nothing tells the encoding, it is the one in which the bytes are likely words.

    >>> decode_or_guess("<title>Добрый вечер".encode("koi8-r")).text
    '<title>Добрый вечер'
    """
    decoded = decode(body, content_type)
    encoding = _likely(body) if decoded.source == "fallback" else None
    return Decoded(to_unicode(body, encoding), encoding, "guess") if encoding is not None else decoded


def _likely(body: bytes) -> str | None:
    """What the detector finds in the beginning of what is not ASCII.

    It would be misled by half a character at the end, and by marks and declarations that stand where they mean nothing.
    """
    beginning = _NOT_ASCII.search(body)
    start = beginning.start() if beginning is not None else 0
    sample = body[start : start + _LONGEST_SAMPLE]
    text = sample.rpartition(b"<")[0] or sample
    found = detect(b" " + text.replace(b"<", b" ")).encoding
    encoding = resolve_encoding(found) if found is not None else None
    return encoding if encoding in _OF_THE_WEB else None


def _declared(body: bytes) -> str | None:
    encoding = html_body_declared_encoding(body[:4096])
    # The standard: a declaration that could be read as ASCII cannot be true of UTF-16, and most likely means UTF-8.
    return "utf-8" if encoding is not None and encoding.startswith("utf-16") else encoding


def _by_look(body: bytes) -> Decoded:
    """Bytes that are valid UTF-8 are UTF-8, even if a size limit cut them inside the last character."""
    try:
        text, length = codecs.utf_8_decode(body, "strict", False)  # noqa: FBT003 - the codec takes no keywords
    except UnicodeDecodeError:
        return _fallen_back(body)
    if length == len(body):
        return Decoded(text, "utf-8", "utf-8")
    if text.isascii():  # then nothing speaks for UTF-8 but a last byte that could as well be a Latin letter
        return _fallen_back(body)
    return Decoded(text + "\ufffd", "utf-8", "utf-8")


def _fallen_back(body: bytes) -> Decoded:
    return Decoded(to_unicode(body, "cp1252"), "cp1252", "fallback")
