"""The formats of TREC collections, trectext and trecweb, for programs that read those.

Readers look for lines that begin with a tag, wherever they are. So the text of a document must not contain a `<`: the
only tags in a record are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from email.utils import formatdate
from html import escape
from http import HTTPStatus
from itertools import groupby
from re import Match
from typing import Final

from crawler.export.characters import on_one_line, printable
from crawler.export.text_parts import TextPart, parts_of
from crawler.items import ExportedDocument, identifier

_ENCLOSING_TAGS: Final = {"li": ("<ul>", "</ul>"), "tr": ("<table>", "</table>")}
_PHRASES: Final = {status.value: status.phrase for status in HTTPStatus}
# A URL in its canonical form has none of these.
_NOT_IN_URLS = re.compile("[^!-;=?-~]")
_NOT_IN_HEADERS = re.compile("[^ -;=?-~]")


def trectext(document: ExportedDocument) -> bytes:
    """A document as a trectext record, with markup characters as entities."""
    return (
        f"<DOC>\n<DOCNO>{identifier(document.key)}</DOCNO>\n<TITLE>{_escaped(on_one_line(document.title))}</TITLE>\n"
        f"<TEXT>\n{_escaped(printable(document.text))}\n</TEXT>\n</DOC>\n"
    ).encode()


def trecweb(document: ExportedDocument) -> bytes:
    """A document as a trecweb record (GOV2): the HTTP header, then a page that we generate from the document's text."""
    page = _page(document).encode()
    head = [
        _url(document.url),
        f"HTTP/1.1 {document.status} {_PHRASES.get(document.status, '')}".rstrip(),
        f"Date: {formatdate(document.fetched, usegmt=True)}",
        "Content-Type: text/html; charset=utf-8",
        f"Content-Length: {len(page)}",
        *_header("Content-Language", document.language),
        *_header("X-Original-Content-Type", document.content_type),
    ]
    start = ["<DOC>", f"<DOCNO>{identifier(document.key)}</DOCNO>", "<DOCHDR>", *head, "</DOCHDR>", ""]
    return "\n".join(start).encode() + page + b"</DOC>\n"


def _page(document: ExportedDocument) -> str:
    title = _escaped(on_one_line(document.title))
    body = "\n".join(_markup(parts_of(document)))
    return f"<html>\n<head><title>{title}</title></head>\n<body>\n{body}\n</body>\n</html>\n"


def _markup(parts: Sequence[TextPart]) -> Iterator[str]:
    for kind, run in groupby(parts, key=lambda part: part.kind):
        start, end = _ENCLOSING_TAGS.get(kind, ("", ""))
        if start:
            yield start
        yield from (_element(kind, part.text) for part in run)
        if end:
            yield end


def _element(kind: str, text: str) -> str:
    if kind == "tr":
        return f"<tr><td>{_escaped(on_one_line(text))}</td></tr>"
    if kind == "pre":
        return f"<pre>\n{_escaped(printable(text))}</pre>"  # HTML ignores the first line end after the tag
    return f"<{kind}>{_escaped(on_one_line(text))}</{kind}>"


def _escaped(text: str) -> str:
    return escape(text, quote=False)


def _url(url: str) -> str:
    return _NOT_IN_URLS.sub(_percent, url)


def _percent(match: Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in match[0].encode("utf-8", "replace"))


def _header(name: str, value: str) -> list[str]:
    clean = on_one_line(_NOT_IN_HEADERS.sub(" ", value))
    return [f"{name}: {clean}"] if clean else []
