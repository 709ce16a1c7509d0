"""Which encoding does a document itself say it is in?

First as the HTML Standard looks through the beginning of a page before it is read; then, as a parser would meet it, in a head
that is longer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import turbohtml
from turbohtml import TokenType

from crawler.parse.encodings.labels import DEFAULT, UTF_8, encoding_of_label

_BEGINNING: Final = 1_024  # bytes in which the standard wants it
_LONGEST_HEAD: Final = 12_288  # of 28 pages in 297 that have it later, 26 have it here
_LONGEST_TAG: Final = 1_024
_IN_HEAD: Final = frozenset({"html", "head", "title", "base", "link", "meta", "script", "noscript", "style", "object"})
_ENDING_IN_HEAD: Final = _IN_HEAD - {"html", "head"}

# Nothing in these is tried twice, so that time is linear whatever the page.
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

Attributes = Mapping[str, str]  # of one tag; of two of a name the first counts


def encoding_in_xml(body: bytes) -> str | None:
    """The encoding that an XML declaration names.

    >>> encoding_in_xml(b"<?xml version='1.0' encoding='koi8-r'?>"), encoding_in_xml(b"<?xml version='1.0' encoding='UTF-16'?>")
    ('KOI8-R', 'UTF-8')
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
    """The encoding that a page's meta elements name.

    >>> encoding_in_meta(b"<!-- <meta charset=big5> --><meta charset=latin1>"), encoding_in_meta(b"<p title='<meta charset=big5>'>")
    ('windows-1252', None)
    """
    return _prescan_beginning(body[:_BEGINNING]) or _scan_head(body[:_LONGEST_HEAD])


def _encoding_in_meta_element(attributes: Attributes) -> str | None:
    """The encoding that a meta element names: in charset, or in content if it says that it stands for the header."""
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
    """The standard: a declaration that could be read as ASCII is not in UTF-16, and most likely means UTF-8."""
    return UTF_8 if name in ("UTF-16LE", "UTF-16BE") else name


# ── the beginning, tag by tag ──


def _prescan_beginning(data: bytes) -> str | None:
    """As the standard's prescan finds it: in scripts and titles too, not in comments.

    Where a comment, a tag or a quoted value does not end, nothing more is seen.
    """
    name, position = None, 0
    while name is None and (before := _BEFORE_META.match(data, position)) and (tag := _META.match(data, before.end())):
        if b"charset" in tag[0].lower():
            name = _encoding_in_meta_element(_attributes(tag[0][len(b"<meta") :]))
        position = tag.end()
    return name


def _attributes(tag: bytes) -> Attributes:
    found = _ATTRIBUTES.findall(tag.decode("latin-1").lower())
    return {name: double or single or bare for name, double, single, bare in reversed(found)}


# ── a long head ──


def _scan_head(data: bytes) -> str | None:
    """As a parser finds it, until something begins or ends that heads do not hold."""
    name = None
    for token in turbohtml.tokenize(data[: _last_candidate(data.lower())].decode("latin-1")):
        if token.type is TokenType.START_TAG:
            if token.tag == "meta":
                name = _encoding_in_meta_element({key: value or "" for key, value in token.attrs or ()})
            elif token.tag not in _IN_HEAD:
                break
        elif token.type is TokenType.END_TAG and token.tag not in _ENDING_IN_HEAD:
            break
        if name is not None:
            break
    return name


def _last_candidate(data: bytes) -> int:
    """Where the last tag ends that could be what is sought: most heads have none and need not be read."""
    end, found = 0, data.find(b"charset")
    while found >= 0:
        start = data.rfind(b"<", max(end, found - _LONGEST_TAG), found)
        if start >= 0 and data.startswith(b"<meta", start):
            end = data.find(b">", found) + 1 or len(data)
        found = data.find(b"charset", max(end, found + 1))
    return end
