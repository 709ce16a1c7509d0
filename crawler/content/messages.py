"""Messages between the crawl process and a content process: a frame with length and kind, then MessagePack."""

from __future__ import annotations

import struct

import msgspec

from crawler.content.answers import ArchivedAnswer
from crawler.content.similarity import TemplatedAnswer
from crawler.duplicates.cascade import DuplicateRule
from crawler.items import Link, Outcome, Page, Reason, Visited, WarcRecord
from crawler.parse.html import Reading
from crawler.urls.scope import UrlOptions

FRAME = struct.Struct("!IB")  # length of the message, its kind
CONFIGURE, SEEDS, EXAMINE, COMPARE, LEARN_TEMPLATE = 1, 2, 3, 4, 5  # kinds of message


class ContentConfiguration(msgspec.Struct, array_like=True):
    """What a process must know to judge links, and what it may use."""

    urls: UrlOptions
    reading: Reading
    rule: DuplicateRule
    cpu_seconds: int  # per page
    memory: int  # address space
    hook: str


class PageTask(msgspec.Struct, array_like=True):
    """One answer to look at."""

    visited: Visited
    location: str | None


class ComparisonTask(msgspec.Struct, array_like=True):
    """A page, and others that may say almost the same."""

    new: TemplatedAnswer
    others: list[TemplatedAnswer]


class TemplateTask(msgspec.Struct, array_like=True):
    """Pages of a host, and its template if that is known."""

    pages: list[ArchivedAnswer]
    template: bytes | None


class ExaminedPage(msgspec.Struct, array_like=True):
    """What looking at it found: the fields of `Visited` that it fills."""

    outcome: Outcome
    reason: Reason
    detail: str
    page: Page | None
    target: Link | None
    records: list[WarcRecord]
