"""scrapy export: write the collection to files, directories and search engines."""

from __future__ import annotations

import argparse
import gc
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from scrapy.exceptions import UsageError

from crawler.collection.change_feed import FOLD, KEEP, ChangeFeed, Selection
from crawler.collection.exporter import Exporter, publish_pending_anchors
from crawler.collection.targets import TARGET_NAMES, TARGETS_WITH_BLOCKS, default_duplicates, make_target
from crawler.engine.command import OrbweaverCommand, exit_code_of
from crawler.errors import FINISHED_BADLY, BadInput, DiskTrouble
from crawler.export.files import output_to
from crawler.export.formats import FORMATS, DocumentsOnlyWriter, write_deleted
from crawler.items import ExportEntry
from crawler.monitor.library_output import quiet_libraries
from crawler.monitor.progress_bar import showing_progress
from crawler.options import Options
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store

_SHOWN_EVERY = 50  # documents between two looks at the progress


class ExportCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] --to FORMAT[:PLACE]"

    def short_desc(self) -> str:
        return "Export the collection to files, or keep a search engine up to date"

    def long_desc(self) -> str:
        return (
            "Export documents to a file, a directory or a search engine. To a file (jsonl, parquet, jsoncollection, "
            "trecweb, trectext; without PLACE, or with -, to the standard output) it writes every current document, "
            "and the file gets its name when it is complete. To a directory (the same formats with a PLACE that ends "
            "in /, or markdown:DIR) or a search engine (tantivy:DIR, opensearch:URL, solr:URL, vespa:URL) it writes "
            "what has changed since the last export, deletions included; a checkpoint, written after the target has "
            "acknowledged, records how far the export has come, so that an export that was killed resumes. The fields "
            "of a document are id, url, host, fetched_at, status, content_type, title, text, language, format, problem "
            "(why it could not be read in full), description, author, published_at, modified_at, canonical, digest "
            "(SHA-256 of the body), duplicate_of, similarity, tier, relevance (0 to 1, in crawls with a topic), "
            "anchors (texts of links from other hosts), noarchive (no copy may be shown), event (upsert; meta if its "
            "bytes are unchanged), version. A deletion has id, url, deleted, evidence (not_found, gone, noindex, "
            "off_topic, robots, private, duplicate, redirected, not_a_page, not_selected, unknown) and its target. "
            "Name and password for a search engine are given in its URL or in ORBWEAVER_EXPORT_AUTH. Exit codes: 69 "
            "the search engine did not respond, 74 documents could not be read from the archive, 75 another export to "
            "the same target is running, 3 the search engine refused documents, which are listed in a file. Examples: "
            "scrapy export --to jsonl:documents.jsonl; scrapy export --to opensearch:http://localhost:9200/pages"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--to", metavar="FORMAT[:PLACE]", help=f"one of {', '.join(TARGET_NAMES)}, and the file, directory or URL")
        add("--full", action="store_true", help="export everything again, whatever was exported before")
        add(
            "--since",
            type=int,
            metavar="VERSION",
            help="export only changes after this version, whatever the checkpoint says",
        )
        add(
            "--every",
            type=int,
            default=0,
            metavar="N",
            help="commit to the target after every N changes (default depends on the target)",
        )
        add(
            "--host",
            action="append",
            default=[],
            metavar="PATTERN",
            help="export only documents of these hosts, such as *.example.org",
        )
        add(
            "--language",
            action="append",
            default=[],
            metavar="CODE",
            help="export only documents in these languages, such as de",
        )
        add(
            "--duplicates",
            choices=(KEEP, FOLD),
            help="keep exports duplicates, marked with duplicate_of; fold exports originals only (default fold for "
            "search engines, keep for files)",
        )
        add(
            "--min-relevance",
            type=float,
            metavar="N",
            help="export only documents of at least this relevance to the topic of the crawl (0 to 1)",
        )
        add("--fields", default="", metavar="NAMES", help="export only these fields, separated by commas")
        add("--blocks", action="store_true", help="add the text in blocks, each with its importance (0 to 1)")
        add("--links", action="store_true", help="add the links of each document (id, url, anchor, rel)")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        name, _, place = (opts.to or "").partition(":")
        if args:
            raise UsageError(f"{args[0]}: export takes options only", print_help=False)
        if name not in TARGET_NAMES:
            raise UsageError(f"--to {name or 'FORMAT'}: name one of these: {', '.join(TARGET_NAMES)}", print_help=False)
        if opts.since is not None and opts.since < 0:
            raise UsageError(f"--since {opts.since}: versions count from 0", print_help=False)
        if opts.every < 0:
            raise UsageError(f"--every {opts.every}: must be a number of changes", print_help=False)
        if opts.since is not None and opts.full:
            raise UsageError("--since and --full: give one of them", print_help=False)
        if opts.min_relevance is not None and not 0 <= opts.min_relevance <= 1:
            raise UsageError(f"--min-relevance {opts.min_relevance:g}: must be from 0 to 1", print_help=False)
        selection = Selection(
            hosts=sorted(set(opts.host)),
            languages=sorted({code.lower() for code in opts.language}),
            duplicates=opts.duplicates or default_duplicates(name),
            min_relevance=opts.min_relevance,
            blocks=opts.blocks or name in TARGETS_WITH_BLOCKS,
            links=opts.links,
            fields=sorted({field.strip() for field in opts.fields.split(",")} - {""}),
        )
        self.exitcode = exit_code_of(lambda: self._export(name, place, selection, opts))

    @quiet_libraries()
    def _export(self, name: str, place: str, selection: Selection, opts: argparse.Namespace) -> int:
        options = self.options()
        # What is loaded by now stays, and documents hardly leave cycles: collecting garbage less often saves some time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)
        publish_pending_anchors(options)
        store = open_store(options.store, read_only=True)
        try:
            if opts.since is not None and opts.since > (newest := store.changes.version()):
                raise BadInput(
                    f"--since {opts.since}: the newest version of this crawl is {newest}. Nothing was exported; is "
                    "CRAWL_DIR that of the crawl from which the version came?"
                )
            if name in FORMATS and not place.endswith("/") and not Path(place or "-").is_dir():
                return _write_file(store, options, selection, name, place, opts.since)
            target = make_target(name, place, options, selection)
            exporter = Exporter(store, options, selection, target)
            with showing_progress() as progress:
                exporter.run(progress, full=opts.full, since=opts.since, every=opts.every, notify=_print_message)
        finally:
            store.close()
        if exporter.rejected:
            _print_message(
                f"orbweaver: {exporter.rejected} documents were not exported; "
                f"{target.rejected_path} lists them and why."
            )
        return _report(exporter.feed, exporter.version) or (FINISHED_BADLY if exporter.rejected else 0)


def _write_file(store: Store, options: Options, selection: Selection, name: str, place: str, since: int | None) -> int:
    """Write one file from one consistent state of the collection."""
    form = FORMATS[name].with_fields(selection.fields) if selection.fields else FORMATS[name]
    feed = ChangeFeed(store, options, selection)
    version = store.changes.version()
    with output_to(place) as output, showing_progress() as progress:
        writer = DocumentsOnlyWriter(form, output)
        for entry in _with_progress(feed.snapshot(since), feed, lambda: progress("exporting", feed.version, version)):
            writer.write(entry)
        writer.finish()
        if since is not None and not form.has_deletions and place not in ("", "-"):
            write_deleted(Path(place), writer.deleted)  # before the output file gets its name
    for rejected in feed.unreadable:
        _print_message(f"{rejected.url}: left out: {rejected.error}")
    return _report(feed, max(feed.version, version if since is None else since))


def _with_progress(entries: Iterable[ExportEntry], feed: ChangeFeed, show: Callable[[], None]) -> Iterable[ExportEntry]:
    """Pass entries on and show progress now and then."""
    for entry in entries:
        yield entry
        if feed.counts["documents"] % _SHOWN_EVERY == 0:
            show()


def _report(feed: ChangeFeed, version: int) -> int:
    """Print what was exported; return the exit code."""
    counts = feed.counts
    if counts["deletions"]:
        _print_message(f"{counts['deletions']} deletions")
    if counts["unreadable"]:
        _print_message(
            f"orbweaver: {counts['unreadable']} documents could not be read from the archive and are left out; restore "
            "the files named above from a backup, then export again with --full."
        )
    _print_message(f"{counts['documents']} documents, {counts['duplicates']} duplicates, up to version {version}")
    return DiskTrouble.exit_code if counts["unreadable"] else 0


def _print_message(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
