"""What becomes of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Problem(StrEnum):
    """What kept us from reading all of a file; what could be read is given all the same."""

    NONE = ""
    ENCRYPTED = "encrypted"  # needs a password
    TRUNCATED = "truncated"  # its end is missing
    CORRUPT = "corrupt"  # something in it is not as its format wants
    BOMB = "bomb"  # would grow beyond all measure when unpacked
    TOO_LARGE = "too_large"  # has more pages, entries or text than we read
    UNSUPPORTED = "unsupported"  # no format that we read
    EMPTY = "empty"  # has no text


class DocumentLink(NamedTuple):
    """Where a document leads to."""

    url: str  # absolute, http or https
    anchor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A file that is no page, as one."""

    format: str  # short: "pdf", "docx", "text" …; "" if nobody knows
    title: str = ""
    html: str = ""  # safe to show: no scripts, no styles, nothing that a browser would fetch
    text: str = ""  # a line for each block
    links: Sequence[DocumentLink] = ()  # in document order, each URL once
    metadata: Mapping[str, str] = field(default_factory=dict)  # "author", "created", "pages" …
    problem: Problem = Problem.NONE
