"""Decode the bytes of a body to text: find the character encoding and apply it."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from crawler.parse.encodings.detection import detect_encoding, detect_iso_2022
from crawler.parse.encodings.labels import DEFAULT, UTF_8, decode_as, encoding_of_label
from crawler.parse.encodings.prescan import encoding_in_meta, encoding_in_xml
from crawler.parse.encodings.utf16 import detect_utf16_or_utf32, is_markup_in_utf_32

Source = Literal["bom", "header", "meta", "xml", "utf-8", "detected", "fallback"]
SOURCE_DESCRIPTIONS: Final[dict[str, str]] = {
    "bom": "by its byte order mark",
    "header": "by the server's header",
    "meta": "by its meta element",
    "xml": "by its XML declaration",
    "utf-8": "because its bytes are valid UTF-8",
    "detected": "by detection from its bytes",
    "fallback": "as the default, since nothing indicates another",
}
_BYTE_ORDER_MARKS: Final = {
    codecs.BOM_UTF8: UTF_8,
    codecs.BOM_UTF32_LE: "UTF-32LE",  # before UTF-16LE, whose mark is a prefix of it
    codecs.BOM_UTF16_LE: "UTF-16LE",
    codecs.BOM_UTF16_BE: "UTF-16BE",
    codecs.BOM_UTF32_BE: "UTF-32BE",
}
_PARAMETER: Final = re.compile(r'(?:^|;)\s*+([^\s;="]++)=(?:"((?:[^"\\]|\\.)*+)"?|([^;,\s]*+))', re.DOTALL)
_PAGES: Final = ("text/html", "application/xhtml+xml")


class Decoded(NamedTuple):
    """Decoded text, its encoding, and how that encoding was determined."""

    text: str
    encoding: str  # the Encoding Standard's name, or one of labels.BEYOND_THE_STANDARD
    source: Source


def decode(body: bytes, content_type: str | None = None) -> Decoded:
    """Decode a body by its byte order mark, else its header, else its own declaration, else by detection.

    Undecodable bytes become U+FFFD; labels that the Encoding Standard does not know are ignored.

    >>> decode("né".encode("latin-1"), "text/html; charset=ISO-8859-1")
    Decoded(text='né', encoding='windows-1252', source='header')
    >>> decode("<title>Добрый вечер".encode("windows-1251"))
    Decoded(text='<title>Добрый вечер', encoding='windows-1251', source='detected')
    """
    mark, encoding = _byte_order_mark(body)
    if encoding is not None:
        return Decoded(decode_as(encoding, body[len(mark) :]), encoding, "bom")
    essence, encoding = _charset_in_header(content_type) if content_type else ("", None)
    if encoding is not None:
        return Decoded(decode_as(encoding, body), encoding, "header")
    encoding, source = _declared_encoding(body, essence)
    if encoding is not None:
        return Decoded(decode_as(encoding, body), encoding, source)
    return _decode_undeclared(body)


def _byte_order_mark(body: bytes) -> tuple[bytes, str | None]:
    if body[:1] not in b"\xef\xff\xfe\0":
        return b"", None
    known = ((mark, name) for mark, name in _BYTE_ORDER_MARKS.items() if body.startswith(mark))
    if is_markup_in_utf_32(body):
        known = ((mark, name) for mark, name in known if not name.startswith("UTF-32"))
    return next(known, (b"", None))


@lru_cache(maxsize=128)  # servers send few different values
def _charset_in_header(content_type: str) -> tuple[str, str | None]:
    """The media type of a Content-Type header, and the encoding of its first charset parameter."""
    essence = content_type.partition(";")[0].partition(",")[0].strip().lower()
    for name, quoted, token in _PARAMETER.findall(content_type):
        if name.lower() == "charset":
            return essence, encoding_of_label(quoted or token)
    return essence, None


def _declared_encoding(body: bytes, essence: str) -> tuple[str | None, Source]:
    """The encoding that a document declares: in XML by its declaration first, in HTML by a meta element first."""
    in_declaration = encoding_in_xml(body)
    if in_declaration is not None and essence != "text/html":
        return in_declaration, "xml"
    if "/" not in essence or essence in _PAGES:
        in_element = encoding_in_meta(body)
        if in_element is not None:
            return in_element, "meta"
    return in_declaration, "xml"


def _decode_undeclared(body: bytes) -> Decoded:
    if is_markup_in_utf_32(body):
        return _decode_fallback(body)
    encoding = detect_utf16_or_utf32(body)
    if encoding is None and body.isascii():
        encoding = detect_iso_2022(body)
        return _decode_detected(encoding, body) if encoding is not None else _decode_fallback(body)
    if encoding is not None:
        return _decode_detected(encoding, body)
    return _decode_by_statistics(body)


def _decode_by_statistics(body: bytes) -> Decoded:
    """Decode as UTF-8 if valid, even if a size limit cut the last character, else by statistical detection."""
    try:
        text, length = codecs.utf_8_decode(body, "strict", False)  # noqa: FBT003 - the codec takes no keywords
    except UnicodeDecodeError:
        text, length = "", 0
    if length and not text.isascii():
        return Decoded(text if length == len(body) else text + "\ufffd", UTF_8, "utf-8")
    encoding = detect_encoding(body)
    return _decode_detected(encoding, body) if encoding is not None else _decode_fallback(body)


def _decode_detected(encoding: str, body: bytes) -> Decoded:
    return Decoded(decode_as(encoding, body), encoding, "detected")


def _decode_fallback(body: bytes) -> Decoded:
    return Decoded(decode_as(DEFAULT, body), DEFAULT, "fallback")
