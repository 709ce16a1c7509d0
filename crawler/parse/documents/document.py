"""The result of converting a file: a document with text, HTML, links, metadata and its problem."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Problem(StrEnum):
    """Why a file could not be read completely; what could be read is returned all the same."""

    NONE = ""
    ENCRYPTED = "encrypted"  # needs a password
    TRUNCATED = "truncated"  # its end is missing
    CORRUPT = "corrupt"  # violates its format
    BOMB = "bomb"  # would grow beyond the limits when decompressed
    TOO_LARGE = "too_large"  # has more pages, entries or text than the limits allow
    UNSUPPORTED = "unsupported"  # not a format that is read here
    EMPTY = "empty"  # has no text


class DocumentLink(NamedTuple):
    """A link of a document."""

    url: str  # absolute, http or https
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file converted to text and HTML; pages of a crawl are parsed by parse/html.py instead."""

    format: str  # short name: "pdf", "docx", "text" …; "" if unknown
    title: str = ""
    html: str = ""  # safe to show: no scripts, no styles, nothing that a browser would fetch
    text: str = ""  # a line for each block
    links: Sequence[DocumentLink] = ()  # in document order, each URL once
    metadata: Mapping[str, str] = field(default_factory=dict)  # "author", "created", "pages" …
    problem: Problem = Problem.NONE
