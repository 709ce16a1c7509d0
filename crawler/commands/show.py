"""scrapy show: print the archived response of a URL."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence

from scrapy.exceptions import UsageError

from crawler.collection.archive_reader import archived_versions, read_archived
from crawler.collection.cached_view import cached_view
from crawler.content.answers import ArchivedAnswer, parse_archived
from crawler.engine.command import OrbweaverCommand, exit_code_of
from crawler.errors import CrawlError
from crawler.export.files import standard_output
from crawler.monitor.library_output import quiet_libraries
from crawler.monitor.text import date_of
from crawler.options import Options
from crawler.parse.html import Reading
from crawler.parse.reading import text_of
from crawler.stores.contract.documents import DocumentRow
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store

# Control characters, which are not text or could steer the terminal.
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")


class ShowCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] URL"

    def short_desc(self) -> str:
        return "Print the archived response of a URL"

    def long_desc(self) -> str:
        return (
            "Print the newest archived response of a URL to the standard output, byte for byte as the server sent it: "
            "status line, headers and body, with chunks and compression as received. --text prints the main text "
            "instead, extracted with the settings of now; --html prints an HTML view of the document, be it a page, a "
            "PDF or an office file, with its headings, tables and links, but with nothing that runs or is loaded. A "
            "URL that was fetched several times has several versions; 1 is the oldest. The exit code is 1, with the "
            "reason, if nothing is archived. The command only reads; a running crawl is not disturbed. Example: scrapy "
            "show --text http://www.example.com/"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        part = parser.add_mutually_exclusive_group()
        part.add_argument("--headers", action="store_true", help="only the status line and the headers")
        part.add_argument("--text", action="store_true", help="only the text, in UTF-8")
        part.add_argument("--html", action="store_true", help="a safe HTML view of the document, whatever its format")
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--version", type=int, metavar="N", help="show version N instead of the newest; 1 is the oldest"
        )
        which.add_argument("--all", action="store_true", help="all versions, the oldest first, each under a heading")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one URL", print_help=False)
        self.exitcode = exit_code_of(lambda: self._show(args[0], opts))

    @quiet_libraries()
    def _show(self, text: str, opts: argparse.Namespace) -> int:
        options = self.options_of_crawl()
        url = options.urls.new_policy().canonicalize(text)
        if url is None:
            raise CrawlError(f"{text}: not a URL that is ever crawled; `scrapy why` says what is wrong with it.")
        store = open_store(options.store, read_only=True)
        try:
            with standard_output() as output:
                output.writelines(_output(store, options, url, opts, is_terminal=output.isatty()))
        finally:
            store.close()
        return 0


def _output(
    store: Store, options: Options, url: str, opts: argparse.Namespace, *, is_terminal: bool
) -> Iterator[bytes]:
    """Yield the output, version by version."""
    directory, reading = options.warc_directory, options.reading
    versions = archived_versions(store, url)
    for number in _chosen_versions(url, len(versions), opts):
        document = versions[number - 1]
        if opts.all:
            yield _heading(document, number, len(versions))
            if not document.has_body:
                yield b"[Only its links and digests are archived.]\n"
                continue
        text, body = _requested_output(document, read_archived(store, directory, document), reading, opts)
        if is_terminal:
            text, body = _safe_for_terminal(document, text, body)
        yield text
        yield body
        if (opts.all or is_terminal) and not (body or text).endswith(b"\n"):
            yield b"\n"


def _chosen_versions(url: str, count: int, opts: argparse.Namespace) -> Sequence[int]:
    if opts.all:
        return range(1, count + 1)
    number: int = count if opts.version is None else opts.version
    if not 1 <= number <= count:
        raise CrawlError(f"{url}: there is no version {number}; it has {count}, and 1 is the oldest.")
    return [number]


def _heading(document: DocumentRow, number: int, count: int) -> bytes:
    place = document.position
    return (
        f"── version {number} of {count}: fetched {date_of(document.fetched)}, {document.reason.meaning}, "
        f"in {place.segment} at {place.offset} ──\n"
    ).encode()


def _requested_output(
    document: DocumentRow, archived: ArchivedAnswer, reading: Reading, opts: argparse.Namespace
) -> tuple[bytes, bytes]:
    """Return the requested output as a part that is always text and a part that may be binary."""
    if opts.headers:
        return archived.head, b""
    if opts.html:
        return cached_view(archived, document).encode("utf-8", "replace"), b""
    if not opts.text:
        return archived.head, archived.body
    found = parse_archived(archived, reading)
    text = text_of(found)
    if not text and (found.problem or not found.format):
        why = f" ({found.problem})" if found.problem else ""
        raise CrawlError(
            f"{archived.url}: {document.content_type or 'a document without a type'} has no text that Orbweaver can "
            f"read{why}; without --text its bytes are shown."
        )
    return text.encode("utf-8", "replace") + b"\n", b""


def _safe_for_terminal(document: DocumentRow, text: bytes, body: bytes) -> tuple[bytes, bytes]:
    """Make the output safe for a terminal, which would obey control characters."""
    if _CONTROL.search(body):
        body = (
            f"[{len(body)} bytes of {document.content_type or 'no type'} are not plain text and are not shown on a "
            "terminal. --text shows their text, > FILE saves them.]"
        ).encode()
    return _CONTROL.sub(lambda found: b"".join(b"\\x%02x" % byte for byte in found[0]), text), body
