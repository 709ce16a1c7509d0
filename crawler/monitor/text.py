"""Format times, durations and the counts of a crawl, for people and as JSON."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from crawler.stores.contract.archive import SegmentState
from crawler.stores.contract.crawl import CrawlAccount

WIDTH = 80  # columns of what is printed for people
_BEHIND_NUMBER = re.compile(r"(?<=\d) (?=\w)")


def date_of(seconds: float) -> str:
    """Format a time as a date in UTC.

    >>> date_of(0)
    '1970-01-01 00:00:00 UTC'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def span_of(seconds: float) -> str:
    """Format a duration in its usual unit.

    >>> span_of(0.25), span_of(59), span_of(7200), span_of(604800)
    ('0.2 s', '59 s', '2.0 h', '7.0 days')
    """
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 2 * 3600:
        return f"{seconds / 60:.0f} min"
    if seconds < 2 * 86_400:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:.1f} days"


def plural(count: int, one: str, many: str = "") -> str:
    """Format a count with its noun.

    >>> plural(1, "page"), plural(1_200, "page"), plural(0, "copy", "copies")
    ('1 page', '1,200 pages', '0 copies')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def folded(line: str) -> list[str]:
    """Break a line of a report between words, and never between a number and what it counts.

    The further lines are indented to where the text of the first begins, which two spaces precede.

    >>> folded("  Bytes        170.2 kB received; 249.0 kB archived, with requests and headers, 12 kB")
    ['  Bytes        170.2 kB received; 249.0 kB archived, with requests and headers,', '               12 kB']
    """
    if len(line) <= WIDTH:
        return [line]
    beginning = re.match(r".*\s{2,}", line)
    indent = " " * (beginning.end() if beginning is not None else 2)
    lines = textwrap.wrap(
        _BEHIND_NUMBER.sub("\u00a0", line),
        WIDTH,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [part.replace("\u00a0", " ") for part in lines]


def command_lines(commands: Sequence[tuple[str, str]]) -> Iterator[str]:
    """List commands with what each does: beside them if there is room for all, else below; no command is broken.

    >>> list(command_lines([("scrapy status", "the crawl in numbers")]))
    ['    scrapy status  the crawl in numbers']
    """
    longest = max(len(command) for command, _ in commands)
    lines = [f"    {command:{longest}}  {what}" for command, what in commands]
    if all(len(line) <= WIDTH for line in lines):
        yield from lines
        return
    for command, what in commands:
        yield f"    {command}"
        yield f"        {what}"


def in_directory(directory: object) -> str:
    """Return the option by which a command is given the directory of a crawl.

    >>> in_directory("data/my crawl")
    "-s 'CRAWL_DIR=data/my crawl'"
    """
    return f"-s {shlex.quote(f'CRAWL_DIR={directory}')}"


def next_due(account: CrawlAccount, now: float, command: str = "") -> str:
    """Say when the next URL is due; if some are, with the command that visits them."""
    if account.next_due is None:
        return "nothing waits."
    if account.next_due <= now:
        return f"URLs are due now: {command}" if command else "URLs are due now."
    return f"the next is due in {span_of(account.next_due - now)}, at {date_of(account.next_due)}."


def account_data(account: CrawlAccount, segments: Sequence[SegmentState]) -> dict[str, Any]:
    """Return the counts of a crawl as JSON has them."""
    return {
        "known": account.known,
        "waiting": account.waiting,
        "leased": account.leased,
        "parked": account.parked,
        "collisions": account.collisions,
        "hosts": account.hosts,
        "documents": account.documents,
        "pages": account.pages,
        "archive_files": len(segments),
        "archive_bytes": sum(segment.length for segment in segments),
        "next_due": account.next_due,
    }
