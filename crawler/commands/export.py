"""scrapy export: the collection for other programs."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.archived import asked_of, read_again, read_archived
from crawler.commands.common import failing_politely
from crawler.errors import BadInput, DiskTrouble
from crawler.export.documents import FORMATS, Deleted, Entry, Event, Exported
from crawler.export.files import output_to
from crawler.options import Options
from crawler.parse.reading import blocks_of, text_of
from crawler.stores.contract import DocumentRow, Published, Store
from crawler.stores.open import open_store
from crawler.urls.hosts import host_of

_PROGRESS = 5_000  # documents between two signs of life


class Command(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] --to FORMAT[:FILE]"

    def short_desc(self) -> str:
        return "Write the collection for other programs"

    def long_desc(self) -> str:
        return (
            "Write every current document as one JSON object a line: id, url, fetched_at, status, content_type, title, text, "
            "language, format, problem (what kept us from reading all of it), description, author, published_at, modified_at, "
            "canonical, digest (SHA-256 of the body), duplicate_of, similarity, tier, anchors (what links on other hosts call it), noarchive "
            "(no copy may be shown), version. A file gets its name when it is complete. The last line on the standard error "
            "names the version up to which everything is in it; with --since VERSION the next export holds only what has "
            "changed, deletions as "
            'objects with "deleted": true. A document that cannot be read from the archive is named and left out: exit code '
            "74 at the end. Reads only; of a crawl that runs it takes the state at the start. Example: scrapy export --to "
            "jsonl:documents.jsonl"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--to",
            metavar="FORMAT[:FILE]",
            help=f"{' or '.join(FORMATS)}; without FILE, or with -, to the standard output",
        )
        parser.add_argument(
            "--blocks",
            action="store_true",
            help="with the text in parts, each with how much it matters (importance, 0 to 1)",
        )
        parser.add_argument("--since", type=int, metavar="VERSION", help="only what has changed after this version")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        name, _, place = (opts.to or "").partition(":")
        if args:
            raise UsageError(f"{args[0]}: export takes options only", print_help=False)
        if name not in FORMATS:
            known = ", ".join(FORMATS)
            raise UsageError(f"--to {name or 'FORMAT'}: name one of these formats: {known}", print_help=False)
        if opts.since is not None and opts.since < 0:
            raise UsageError(f"--since {opts.since}: versions count from 0", print_help=False)
        self.exitcode = failing_politely(lambda: self._export(FORMATS[name], place, opts))

    def _export(self, line_of: Callable[[Entry], bytes], place: str, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        since: int | None = opts.since
        options = Options.of(self.settings)
        store = open_store(options.store, read_only=True)
        try:
            if since is not None and since > (newest := store.version()):
                raise BadInput(
                    f"--since {since}: this crawl has come to version {newest} only. Nothing was exported; is CRAWL_DIR the "
                    "one that the version is from?"
                )
            reading = _Reading(store, options, since, with_blocks=opts.blocks)
            with output_to(place) as output:
                output.writelines(map(line_of, reading.entries()))
        finally:
            store.close()
        return reading.report()


class _Reading:
    """Goes through the collection once, and counts."""

    def __init__(self, store: Store, options: Options, since: int | None, *, with_blocks: bool) -> None:
        self._with_blocks = with_blocks
        self._store = store
        self._directory = options.warc_directory
        self._reading = options.reading
        self._since = since
        self._version = since or 0
        self._counts: Counter[str] = Counter()

    def entries(self) -> Iterator[Entry]:
        for published in self._store.published(self._version):
            self._version = published.version
            document = published.document
            if document is None:
                if self._since is not None:
                    self._counts["deletions"] += 1
                    yield Deleted(version=published.version, key=published.key, url=published.url)
                continue
            try:
                entry = self._read(published, document)
            except DiskTrouble as error:
                self._counts["unreadable"] += 1
                _say(f"{published.url}: left out: {error}")
                continue
            self._count(entry)
            yield entry

    def report(self) -> int:
        """Say what was exported; the exit code."""
        counts = self._counts
        if counts["deletions"]:
            _say(f"{counts['deletions']} deletions")
        if counts["unreadable"]:
            _say(
                f"orbweaver: {counts['unreadable']} documents could not be read from the archive and are left out; restore "
                "the files named above from a backup, then export again."
            )
        _say(f"{counts['documents']} documents, {counts['duplicates']} duplicates, up to version {self._version}")
        return DiskTrouble.exit_code if counts["unreadable"] else 0

    def _read(self, published: Published, document: DocumentRow) -> Exported:
        archived = read_archived(self._store, self._directory, document)
        found = read_again(archived, self._reading)
        return Exported(
            version=published.version,
            event=Event.UPSERT,
            key=published.key,
            url=published.url,
            host=host_of(published.url),
            fetched=document.fetched,
            status=document.status,
            content_type=document.content_type,
            title=document.title,
            text=text_of(found),
            blocks=blocks_of(found) if self._with_blocks else None,
            format=found.format,
            problem=found.problem,
            metadata=document.metadata,
            noarchive=asked_of(archived, found).noarchive,
            language=document.language,
            digest=document.body_digest,
            duplicate_of=published.duplicate_of,
            similarity=document.similarity,
            tier=document.tier.name.lower() if document.tier is not None else None,
            anchors=self._store.anchors(published.key),
            links=None,
        )

    def _count(self, entry: Exported) -> None:
        self._counts["documents"] += 1
        self._counts["duplicates"] += entry.duplicate_of is not None
        if self._counts["documents"] % _PROGRESS == 0:
            _say(f"{self._counts['documents']} documents …")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
