"""scrapy export: the collection for other programs."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import ClassVar

from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.collection.change_feed import FOLD, KEEP, ChangeFeed, Selection
from crawler.collection.exporter import NAMES, WITH_BLOCKS, Exporter, duplicates_of, target_of, tell_what_is_left
from crawler.engine.command import failing_politely
from crawler.errors import FINISHED_BADLY, BadInput, DiskTrouble
from crawler.export.files import output_to
from crawler.export.formats import FORMATS, DocumentsOnlyWriter, write_deleted
from crawler.items import ExportEntry
from crawler.monitor.progress_bar import showing_progress
from crawler.options import Options
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store

_PROGRESS = 5_000  # documents between two signs of life
_BAR = 50  # and between two pictures of a bar


class ExportCommand(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] --to FORMAT[:PLACE]"

    def short_desc(self) -> str:
        return "Write the collection for other programs, or keep an index up to date"

    def long_desc(self) -> str:
        return (
            "To a file (jsonl, parquet, jsoncollection, trecweb, trectext; without PLACE, or with -, to the standard output): "
            "every current document, and the file gets its name when it is complete. To a directory (the same formats with a "
            "PLACE that ends in /, or markdown:DIR) or a search engine (tantivy:DIR, opensearch:URL, solr:URL, vespa:URL): "
            "what has changed since the last time, deletions too; a checkpoint says how far the place has come, and is "
            "written when the place has acknowledged. Killed at any moment, the next export goes on. A document has id, url, "
            "host, fetched_at, status, content_type, title, text, language, format, problem (what kept us from reading all "
            "of it), description, author, published_at, modified_at, canonical, digest (SHA-256 of the body), duplicate_of, "
            "similarity, tier, anchors (what links on other hosts call it), noarchive (no copy may be shown), event (upsert; "
            "meta if it says what it said), version. A deletion has id, url, deleted, evidence (not_found, gone, noindex, "
            "robots, private, duplicate, redirected, not_a_page, forgotten, not_selected) and its target. Names and "
            "passwords for an engine: in its URL, or in ORBWEAVER_EXPORT_AUTH. Exit codes: 69 the engine did not answer, 74 "
            "documents could not be read from the archive, 75 another export to the same place is running, 3 the engine "
            "refused documents, which are named in a file. Example: scrapy export --to jsonl:documents.jsonl; "
            "scrapy export --to opensearch:http://localhost:9200/pages"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--to", metavar="FORMAT[:PLACE]", help=f"one of {', '.join(NAMES)}, and where")
        add("--full", action="store_true", help="begin anew: everything, whatever the place has")
        add("--since", type=int, metavar="VERSION", help="only what has changed after this version, whatever was noted")
        add(
            "--every",
            type=int,
            default=0,
            metavar="N",
            help="have the place acknowledge after N changes (as suits it)",
        )
        add("--host", action="append", default=[], metavar="PATTERN", help="only of these hosts, such as *.example.org")
        add("--language", action="append", default=[], metavar="CODE", help="only in these languages, such as de")
        add(
            "--duplicates",
            choices=(KEEP, FOLD),
            help="keep duplicates, marked with duplicate_of, or fold them into their originals (fold for search engines, "
            "keep for files)",
        )
        add("--fields", default="", metavar="NAMES", help="only these fields, with commas between")
        add("--blocks", action="store_true", help="with the text in parts, each with how much it matters (0 to 1)")
        add("--links", action="store_true", help="with the links of each document: id, url, anchor, rel")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        name, _, place = (opts.to or "").partition(":")
        if args:
            raise UsageError(f"{args[0]}: export takes options only", print_help=False)
        if name not in NAMES:
            raise UsageError(f"--to {name or 'FORMAT'}: name one of these: {', '.join(NAMES)}", print_help=False)
        if opts.since is not None and opts.since < 0:
            raise UsageError(f"--since {opts.since}: versions count from 0", print_help=False)
        if opts.every < 0:
            raise UsageError(f"--every {opts.every}: a number of changes", print_help=False)
        if opts.since is not None and opts.full:
            raise UsageError("--since and --full: give one of them", print_help=False)
        selection = Selection(
            hosts=sorted(set(opts.host)),
            languages=sorted({code.lower() for code in opts.language}),
            duplicates=opts.duplicates or duplicates_of(name),
            blocks=opts.blocks or name in WITH_BLOCKS,
            links=opts.links,
            fields=sorted({field.strip() for field in opts.fields.split(",")} - {""}),
        )
        self.exitcode = failing_politely(lambda: self._export(name, place, selection, opts))

    def _export(self, name: str, place: str, selection: Selection, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        options = Options.of(self.settings)
        # What is loaded by now stays, and documents hardly leave cycles: to look for them less often saves some of the time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)
        tell_what_is_left(options)
        store = open_store(options.store, read_only=True)
        try:
            if opts.since is not None and opts.since > (newest := store.changes.version()):
                raise BadInput(
                    f"--since {opts.since}: this crawl has come to version {newest} only. Nothing was exported; is CRAWL_DIR "
                    "the one that the version is from?"
                )
            if name in FORMATS and not place.endswith("/") and not Path(place or "-").is_dir():
                return _write(store, options, selection, name, place, opts.since)
            target = target_of(name, place, options, selection)
            exporter = Exporter(store, options, selection, target)
            with showing_progress() as progress:
                exporter.run(progress, full=opts.full, since=opts.since, every=opts.every)
        finally:
            store.close()
        if exporter.rejected:
            _say(f"orbweaver: {exporter.rejected} documents did not arrive; {target.rejected} names them, and why.")
        return _report(exporter.feed, exporter.version) or (FINISHED_BADLY if exporter.rejected else 0)


def _write(store: Store, options: Options, selection: Selection, name: str, place: str, since: int | None) -> int:
    """One file, of one moment."""
    form = FORMATS[name].keeping(selection.fields) if selection.fields else FORMATS[name]
    feed = ChangeFeed(store, options, selection)
    version = store.changes.version()
    with output_to(place) as output, showing_progress() as progress:
        writer = DocumentsOnlyWriter(form, output)
        for entry in _noticing(feed.snapshot(since), feed, lambda: progress("exporting", feed.version, version)):
            writer.write(entry)
        writer.finish()
        if since is not None and not form.has_deletions and place not in ("", "-"):
            write_deleted(Path(place), writer.deleted)  # before its file has its name
    for rejected in feed.unreadable:
        _say(f"{rejected.url}: left out: {rejected.error}")
    return _report(feed, max(feed.version, version if since is None else since))


def _noticing(entries: Iterable[ExportEntry], feed: ChangeFeed, show: Callable[[], None]) -> Iterable[ExportEntry]:
    """With a sign of life now and then: a bar on a terminal, lines elsewhere."""
    for entry in entries:
        yield entry
        count = feed.counts["documents"]
        if count % _BAR == 0:
            show()
        if count % _PROGRESS == 0 and count and not sys.stderr.isatty():
            _say(f"{count} documents …")


def _report(feed: ChangeFeed, version: int) -> int:
    """Say what was exported; the exit code."""
    counts = feed.counts
    if counts["deletions"]:
        _say(f"{counts['deletions']} deletions")
    if counts["unreadable"]:
        _say(
            f"orbweaver: {counts['unreadable']} documents could not be read from the archive and are left out; restore "
            "the files named from a backup, then export again with --full."
        )
    _say(f"{counts['documents']} documents, {counts['duplicates']} duplicates, up to version {version}")
    return DiskTrouble.exit_code if counts["unreadable"] else 0


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
