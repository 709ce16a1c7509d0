"""Messages between the crawl process and a content process: a frame with length and kind, then MessagePack."""

from __future__ import annotations

import struct

import msgspec

from crawler.content.answers import ArchivedAnswer
from crawler.content.similarity import TemplatedAnswer
from crawler.duplicates.cascade import DuplicateRule
from crawler.items import Link, Outcome, Page, Reason, WarcRecord
from crawler.parse.html import Reading
from crawler.urls.scope import UrlOptions

FRAME = struct.Struct("!IB")  # length of the message, its kind
# Kinds of message. The answer to CONFIGURE says what the system does not limit; LIBRARIES counts messages of libraries.
CONFIGURE, SEEDS, EXAMINE, COMPARE, LEARN_TEMPLATE, LIBRARIES, MODEL = 1, 2, 3, 4, 5, 6, 7


class ContentConfiguration(msgspec.Struct, array_like=True):
    """The first message to a content process: its options and its limits."""

    urls: UrlOptions
    reading: Reading
    rule: DuplicateRule
    cpu_seconds: int  # per page
    memory: int  # bytes of address space
    hook: str  # CONTENT_HOOK; empty = none


class ComparisonTask(msgspec.Struct, array_like=True):
    """Compare a page with its candidates for near-duplicates."""

    new: TemplatedAnswer
    others: list[TemplatedAnswer]


class TemplateTask(msgspec.Struct, array_like=True):
    """Find the template of a host, if it is not given, and the sketches of its pages."""

    pages: list[ArchivedAnswer]
    template: bytes | None


class ExaminedPage(msgspec.Struct, array_like=True):
    """The result of examining an answer: the fields of `Visited` that examining fills."""

    outcome: Outcome
    reason: Reason
    detail: str
    page: Page | None
    target: Link | None  # of a redirect
    records: list[WarcRecord]
