"""scrapy show: what was archived for a URL."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.commands.archived import Archived, read_archived, text_of
from crawler.commands.common import date_of, failing_politely
from crawler.errors import CrawlError
from crawler.export.files import standard_output
from crawler.items import State
from crawler.options import Options
from crawler.stores.contract import DocumentRow, Store
from crawler.stores.open import open_store
from crawler.urls.keys import key_of

# What is not text, or could steer the terminal on which it is shown.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] URL"

    def short_desc(self) -> str:
        return "Show what was archived for a URL"

    def long_desc(self) -> str:
        return (
            "Print the newest archived answer for a URL to the standard output, byte for byte as the server sent it: "
            "status line, headers, body, chunks and compression not undone. --text prints the main text instead, as it is "
            "understood now. A URL that was fetched several times has several versions, 1 being the oldest. Exit code "
            "1 if nothing is archived, with the reason. Reads only; a running crawl is not disturbed. Example: scrapy "
            "show --text http://www.example.com/"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        part = parser.add_mutually_exclusive_group()
        part.add_argument("--headers", action="store_true", help="only the status line and the headers")
        part.add_argument("--text", action="store_true", help="only the text, in UTF-8")
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--version", type=int, metavar="N", help="not the newest version but this one; 1 is the oldest"
        )
        which.add_argument(
            "--all", action="store_true", help="all versions, the oldest first, each under a line of its own"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one URL", print_help=False)
        self.exitcode = failing_politely(lambda: self._show(args[0], opts))

    def _show(self, text: str, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        options = Options.of(self.settings)
        url = options.urls.new_policy().canonicalize(text)
        if url is None:
            raise CrawlError(f"{text}: nothing that is ever crawled; `scrapy why` tells what is wrong with it.")
        store = open_store(options.store, read_only=True)
        try:
            with standard_output() as output:
                output.writelines(_pieces(store, options.warc_directory, url, opts, is_terminal=output.isatty()))
        finally:
            store.close()
        return 0


def _pieces(store: Store, directory: Path, url: str, opts: argparse.Namespace, *, is_terminal: bool) -> Iterator[bytes]:
    """What is printed, version by version."""
    versions = _versions(store, url)
    for number in _chosen(url, len(versions), opts):
        document = versions[number - 1]
        if opts.all:
            yield _heading(document, number, len(versions))
        text, body = _asked_for(document, read_archived(store, directory, document), opts)
        if is_terminal:
            text, body = _harmless(document, text, body)
        yield text
        yield body
        if (opts.all or is_terminal) and not (body or text).endswith(b"\n"):
            yield b"\n"


def _versions(store: Store, url: str) -> list[DocumentRow]:
    """The oldest first; at least one."""
    row = store.find_url(key_of(url))
    if row is not None and row.url != url:
        raise CrawlError(f"{url}: could not be kept, it has the same key as {row.url}, which was found first.")
    versions = store.documents(key_of(url))
    if not versions:
        raise CrawlError(f"{url}: {_why_not(store, url)}; `scrapy why {url}` tells more.")
    return versions[::-1]


def _why_not(store: Store, url: str) -> str:
    row = store.find_url(key_of(url))
    if row is None:
        return "not archived and not known: it is no seed, and no page that was fetched links to it"
    then = " and not visited yet" if row.state is State.WAITING and row.visited is None else ""
    return f"not archived: {row.state.name.lower()}, {row.reason.meaning} ({row.reason.name.lower()}){then}"


def _chosen(url: str, count: int, opts: argparse.Namespace) -> Sequence[int]:
    if opts.all:
        return range(1, count + 1)
    number: int = count if opts.version is None else opts.version
    if not 1 <= number <= count:
        raise CrawlError(f"{url}: there is no version {number}; it has {count}, and 1 is the oldest.")
    return [number]


def _heading(document: DocumentRow, number: int, count: int) -> bytes:
    place = document.place
    return (
        f"── version {number} of {count}: fetched {date_of(document.fetched)}, {document.reason.meaning}, "
        f"in {place.segment} at {place.offset} ──\n"
    ).encode()


def _asked_for(document: DocumentRow, archived: Archived, opts: argparse.Namespace) -> tuple[bytes, bytes]:
    """What is asked for: first what is text by its nature, then what can be anything."""
    if opts.headers:
        return archived.head, b""
    if not opts.text:
        return archived.head, archived.body
    text = text_of(archived)
    if text is None:
        raise CrawlError(
            f"{archived.url}: {document.content_type or 'a document without a type'} has no text that Orbweaver can read; "
            "without --text its bytes are shown."
        )
    return text.encode("utf-8", "replace") + b"\n", b""


def _harmless(document: DocumentRow, text: bytes, body: bytes) -> tuple[bytes, bytes]:
    """The same for a terminal, which obeys control characters."""
    if _CONTROL.search(body):
        body = (
            f"[{len(body)} bytes of {document.content_type or 'no type'} that are not plain text as they came: not shown on a "
            "terminal. --text shows what they say, > FILE keeps them.]"
        ).encode()
    return _CONTROL.sub(lambda found: b"".join(b"\\x%02x" % byte for byte in found[0]), text), body
