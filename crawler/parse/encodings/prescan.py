"""Find the encoding that a document declares in its XML declaration or its meta elements.

Meta elements are found by the HTML Standard's prescan of the first 1,024 bytes, then by tokenizing a longer head.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import turbohtml
from turbohtml import TokenType

from crawler.parse.encodings.labels import DEFAULT, UTF_8, encoding_of_label

_BEGINNING: Final = 1_024  # bytes in which the standard requires the declaration
_LONGEST_HEAD: Final = 12_288  # bytes; of 297 pages 28 have the declaration later than 1,024, 26 of them before this
_LONGEST_TAG: Final = 1_024
_IN_HEAD: Final = frozenset({"html", "head", "title", "base", "link", "meta", "script", "noscript", "style", "object"})
_ENDING_IN_HEAD: Final = _IN_HEAD - {"html", "head"}

# Possessive quantifiers: no backtracking, so that time is linear for any page.
_VALUE: Final = rb"\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*+)|(?=>)"
_ATTRIBUTE: Final = rb"[\t\n\f\r /]*+(=?[^\t\n\f\r />=]++|=)[\t\n\f\r ]*+(?:=[\t\n\f\r ]*+(?:%s)|(?!=))" % _VALUE
_ATTRIBUTES: Final = re.compile(_ATTRIBUTE.decode())
_REST: Final = rb"(?:%s)*+[\t\n\f\r /]*+>" % re.sub(rb"\((?!\?)", rb"(?:", _ATTRIBUTE)
_META: Final = re.compile(rb"<meta(?=[\t\n\f\r /])" + _REST, re.IGNORECASE)
_BEFORE_META: Final = re.compile(
    rb"(?:[^<]++|<(?![a-z!/?])|<!(?=--).*?-->|<(?:!(?!--)|\?|/(?![a-z]))[^>]*+>"
    rb"|<(?!meta[\t\n\f\r /])/?(?=[a-z])[^\t\n\f\r >]++%s)*+" % _REST,
    re.IGNORECASE | re.DOTALL,
)
_CHARSET: Final = re.compile(
    r"charset[\t\n\f\r ]*+=[\t\n\f\r ]*+(?:\"([^\"]*+)\"|'([^']*+)'|[\"']|([^\t\n\f\r ;]*+))", re.IGNORECASE
)
_XML: Final = re.compile(rb"<\?xml(?=\s)[^>]*?\bencoding\s*+=\s*+(?:\"([^\">]*+)\"|'([^'>]*+)')[^>]*+>")
_WIDE_XML: Final = {b"<\0?\0x\0": "UTF-16LE", b"\0<\0?\0x": "UTF-16BE"}

Attributes = Mapping[str, str]  # of one tag; of duplicates the first counts


def encoding_in_xml(body: bytes) -> str | None:
    """The encoding in the XML declaration of a document.

    >>> encoding_in_xml(b"<?xml version='1.0' encoding='koi8-r'?>")
    'KOI8-R'
    >>> encoding_in_xml(b"<?xml version='1.0' encoding='UTF-16'?>")
    'UTF-8'
    """
    wide = _WIDE_XML.get(body[:6])
    if wide is not None:
        return wide
    found = _XML.match(body[:_BEGINNING])
    return (
        _ascii_compatible(encoding_of_label((found[1] or found[2] or b"").decode("latin-1")))
        if found is not None
        else None
    )


def encoding_in_meta(body: bytes) -> str | None:
    """The encoding in a page's meta elements.

    >>> encoding_in_meta(b"<!-- <meta charset=big5> --><meta charset=latin1>")
    'windows-1252'
    >>> encoding_in_meta(b"<p title='<meta charset=big5>'>") is None
    True
    """
    return prescan_beginning(body[:_BEGINNING]) or _scan_head(body[:_LONGEST_HEAD])


def encoding_in_meta_element(attributes: Attributes) -> str | None:
    """The encoding that a meta element declares: in `charset`, or in `content` of http-equiv=content-type."""
    label = attributes.get("charset")
    if label is None:
        if attributes.get("http-equiv", "").lower() != "content-type":
            return None
        found = _CHARSET.search(attributes.get("content", ""))
        label = found[1] or found[2] or found[3] or "" if found is not None else ""
    return _page_encoding(encoding_of_label(label))


def _page_encoding(name: str | None) -> str | None:
    return DEFAULT if name == "x-user-defined" else _ascii_compatible(name)


def _ascii_compatible(name: str | None) -> str | None:
    """UTF-8 in place of UTF-16, as the standard says: a declaration readable as ASCII cannot be in UTF-16."""
    return UTF_8 if name in ("UTF-16LE", "UTF-16BE") else name


# ── the beginning, tag by tag ──


def prescan_beginning(data: bytes) -> str | None:
    """The standard's prescan: it finds meta elements in scripts and titles, too, but not in comments.

    It ends at a comment, a tag or a quoted value that is not closed.
    """
    name, position = None, 0
    while name is None and (before := _BEFORE_META.match(data, position)) and (tag := _META.match(data, before.end())):
        if b"charset" in tag[0].lower():
            name = encoding_in_meta_element(_attributes(tag[0][len(b"<meta") :]))
        position = tag.end()
    return name


def _attributes(tag: bytes) -> Attributes:
    found = _ATTRIBUTES.findall(tag.decode("latin-1").lower())
    return {name: double or single or bare for name, double, single, bare in reversed(found)}


# ── a long head ──


def _scan_head(data: bytes) -> str | None:
    """Tokenize the head and find the first meta declaration, up to a tag that cannot be in a head."""
    name = None
    for token in turbohtml.tokenize(data[: _last_candidate(data.lower())].decode("latin-1")):
        if token.type is TokenType.START_TAG:
            if token.tag == "meta":
                name = encoding_in_meta_element({key: value or "" for key, value in token.attrs or ()})
            elif token.tag not in _IN_HEAD:
                break
        elif token.type is TokenType.END_TAG and token.tag not in _ENDING_IN_HEAD:
            break
        if name is not None:
            break
    return name


def _last_candidate(data: bytes) -> int:
    """The end of the last tag that may be such a meta; 0 in most heads, which then need not be tokenized."""
    end, found = 0, data.find(b"charset")
    while found >= 0:
        start = data.rfind(b"<", max(end, found - _LONGEST_TAG), found)
        if start >= 0 and data.startswith(b"<meta", start):
            end = data.find(b">", found) + 1 or len(data)
        found = data.find(b"charset", max(end, found + 1))
    return end
