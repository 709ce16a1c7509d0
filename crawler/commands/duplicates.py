"""scrapy duplicates: what says almost the same as what, in the collection or in files, and how well that is told."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter
from scrapy.exceptions import UsageError

from crawler.collection.archive_reader import newest_archived
from crawler.collection.similar.clusters import clustered, members_of
from crawler.collection.similar.document import ComparableDocument, ComparedFeatures, DocumentReader
from crawler.collection.similar.evaluate import evaluated
from crawler.collection.similar.find import find_similar
from crawler.collection.similar.output import (
    MOST_LISTED,
    cluster_json,
    cluster_lines,
    clusters_line,
    draw_evaluation,
    evaluation_json,
    evaluation_lines,
    find_json,
    find_lines,
)
from crawler.collection.similar.sources import (
    Collection,
    DocumentSource,
    LocalFiles,
    SketchedPages,
    SourceCodeDocuments,
    files_in,
)
from crawler.duplicates.cascade import THRESHOLD, DuplicateRule
from crawler.engine.command import failing_politely
from crawler.errors import BadInput, DiskTrouble, Misconfigured
from crawler.monitor.charts import CHART_TYPES
from crawler.monitor.progress_bar import showing_progress
from crawler.options import LEAST_THRESHOLD, Options
from crawler.parse.clean_text import one_line
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.schemes import is_web_url
from crawler.worker.startup import sketch_kind

FIND_THRESHOLD = 0.8
MOST = 20  # documents or clusters that are shown
_MOST_UNREAD = 5  # documents that could not be read and are named
_EXPLAINED = """\
find: the documents of the collection that are near-duplicates of one, which is an archived URL or a file. All sketches are
looked at, and the texts of those that may be alike are read again. It is told how much each has in common with it, how that
is known, what the crawl takes it for, and a few words that differ. If it is very short, only exact copies are looked for.
Example: scrapy duplicates find http://www.example.com/ --threshold 0.7

clusters: all clusters of near-duplicates in the collection, or among files and all files in directories, the largest first,
each document with its similarity to the first one (~ is an estimate). Documents that are very short have no
sketches and are left out. Temporary files, at most 1 KB a document, are kept where TMPDIR says.
Example: scrapy duplicates clusters src/ --features code --threshold 0.8

evaluate: precision, recall and F1 of the sketches alone and of all steps together on pairs that somebody has marked, for
thresholds from 0.5 to 1. FILE has a JSON object a line, plain or .gz: "a" and "b", which are texts, or names of documents in
the file --documents, whose lines have "id" and "text"; and "duplicate", true or false, or "jaccard", a number that is held
against the threshold, or neither, and the coefficient is counted.
Example: scrapy duplicates evaluate pairs.jsonl --documents texts.jsonl.gz --plot quality.png

Reads only; a running crawl is not disturbed. What cannot be read from the archive is named, and judged by its sketch; the
exit code is 74 then, or 65 if it was a file."""


class _Paragraphs(ScrapyHelpFormatter):
    """Keeps the paragraphs of an explanation apart."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(super(_Paragraphs, self)._fill_text(part, width, indent) for part in text.split("\n\n"))


class DuplicatesCommand(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] find URL-or-FILE | clusters [PATH…] | evaluate FILE"

    def short_desc(self) -> str:
        return "Find near-duplicates of a document, or all of them, and measure how well they are found"

    def long_desc(self) -> str:
        return _EXPLAINED

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = _Paragraphs
        add = parser.add_argument
        add(
            "--threshold",
            type=float,
            metavar="T",
            help=f"share of their runs of words from which documents are near-duplicates (find: {FIND_THRESHOLD}; else "
            "DUPLICATE_THRESHOLD)",
        )
        add(
            "--most",
            type=int,
            metavar="N",
            help=f"show so many documents or clusters ({MOST}; clusters with --json: all)",
        )
        add(
            "--features",
            choices=[features.value for features in ComparedFeatures],
            help="find, clusters: compare words, or tokens of programs, so that names, comments and spacing do not count; for "
            "that all source code and plain text of the collection is read again",
        )
        add("--by-sketch", action="store_true", help="clusters: believe the sketches and read no texts, which is quick")
        add("--documents", type=Path, metavar="FILE", help="evaluate: the texts of the documents that pairs name")
        add("--plot", type=Path, metavar="FILE.png", help="evaluate: draw precision and recall by threshold")
        add("--json", action="store_true", help="JSON lines: a document, a cluster, or a threshold a line")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        verbs = {"find": self._find, "clusters": self._clusters, "evaluate": self._evaluate}
        if not args or args[0] not in verbs:
            raise UsageError(f"name what to do: {', '.join(verbs)}", print_help=False)
        _refuse(args[0], args[1:], opts)
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        self.exitcode = failing_politely(lambda: verbs[args[0]](args[1:], opts))

    def _find(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        options = self._options()
        rule = replace(options.duplicates, threshold=opts.threshold or FIND_THRESHOLD)
        reader = _reader(options, opts)
        with _reading(options) as store, showing_progress() as progress:
            collection = _collection(store, options, reader)
            own = _given(names[0], options, collection)
            found = find_similar(collection, own, rule, opts.most or MOST, progress)
        lines = find_json(found) if opts.json else find_lines(own.name, found, rule.threshold, rule.fewest_words)
        print(*lines, sep="\n", end="\n" if found.found or not opts.json else "")
        if opts.json and found.is_short:
            _say(f"{own.name} has fewer than {rule.fewest_words} words: only exact copies were looked for.")
        return _report(collection.unread, DiskTrouble.exit_code)

    def _clusters(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        options = self._options()
        rule, reader = _rule(options, opts), _reader(options, opts)
        if names:
            files = LocalFiles(files_in(names), reader, rule)
            _print_clusters(files, rule, opts)
            return _report(files.unread, BadInput.exit_code)
        with _reading(options) as store:
            collection = _collection(store, options, reader)
            is_code = reader.features is ComparedFeatures.CODE
            _print_clusters(SourceCodeDocuments(collection, rule) if is_code else SketchedPages(collection), rule, opts)
        return _report(collection.unread, DiskTrouble.exit_code)

    def _evaluate(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        rule = _rule(self._options(), opts)
        with showing_progress() as progress:
            found = evaluated(Path(names[0]), opts.documents, rule, progress)
        if found.is_short and opts.documents is None:
            _say("All texts are very short; if they are names of documents, --documents says where these are.")
        if opts.plot is not None:
            draw_evaluation(found.rows, names[0], opts.plot)
        print(*(evaluation_json(found) if opts.json else evaluation_lines(found)), sep="\n")
        return 0

    def _options(self) -> Options:
        assert self.settings is not None
        return Options.of(self.settings)


def _refuse(verb: str, names: Sequence[str], opts: argparse.Namespace) -> None:
    """What cannot be meant."""
    if verb != "clusters" and len(names) != 1:
        raise UsageError(f"{verb}: name one {'URL or file' if verb == 'find' else 'file of pairs'}", print_help=False)
    least = 0.0 if verb == "find" else LEAST_THRESHOLD
    if opts.threshold is not None and not (least <= opts.threshold <= 1 and opts.threshold):
        raise UsageError(f"--threshold {opts.threshold:g}: must be from {least or 'above 0'} to 1", print_help=False)
    if opts.most is not None and opts.most < 1:
        raise UsageError(f"--most {opts.most}: must be at least 1", print_help=False)
    given = {
        "--most": opts.most is not None,
        "--features": opts.features is not None,
        "--by-sketch": opts.by_sketch,
        "--documents": opts.documents is not None,
        "--plot": opts.plot is not None,
    }
    used = {"find": "--most --features", "clusters": "--most --features --by-sketch", "evaluate": "--documents --plot"}
    foreign = next((name for name, is_given in given.items() if is_given and name not in used[verb].split()), None)
    if foreign is not None:
        raise UsageError(f"{foreign}: means nothing to {verb}", print_help=False)
    if opts.plot is not None and opts.plot.suffix not in CHART_TYPES:
        raise UsageError(f"--plot {opts.plot}: must end in {', '.join(CHART_TYPES)}", print_help=False)


def _rule(options: Options, opts: argparse.Namespace) -> DuplicateRule:
    """As a crawl would judge, or with another threshold; if it looks for none, with the usual one."""
    return replace(options.duplicates, threshold=opts.threshold or options.duplicates.threshold or THRESHOLD)


def _reader(options: Options, opts: argparse.Namespace) -> DocumentReader:
    return DocumentReader(
        reading=options.reading, features=ComparedFeatures(opts.features or ComparedFeatures.WORDS.value)
    )


@contextmanager
def _reading(options: Options) -> Iterator[Store]:
    store = open_store(options.store, read_only=True)
    try:
        kept, asked = store.crawl.facts().get("sketches"), sketch_kind(options.duplicates)
        if kept is not None and kept != asked:
            raise Misconfigured(f"DUPLICATE_SHINGLE: the sketches of this crawl are of {kept}, and not of {asked}.")
        yield store
    finally:
        store.close()


def _collection(store: Store, options: Options, reader: DocumentReader) -> Collection:
    if reader.features is ComparedFeatures.WORDS and not store.similarity.count_sketches():
        _say("No page of this collection has a sketch: it is empty, or DUPLICATE_THRESHOLD is 0.")
    return Collection(store, options.warc_directory, reader)


def _given(name: str, options: Options, collection: Collection) -> ComparableDocument:
    """The document whose near-duplicates are looked for."""
    if not is_web_url(name) or Path(name).is_file():
        return collection.reader.file(Path(name))
    archived, document = newest_archived(options, name)
    return collection.reader.answer(archived, collection.store.similarity.template(document.key.host))


def _print_clusters(documents: DocumentSource, rule: DuplicateRule, opts: argparse.Namespace) -> None:
    with showing_progress() as progress:
        found = clustered(documents, rule, progress, by_sketch=opts.by_sketch)
    shown = found.clusters if opts.json and opts.most is None else found.clusters[: opts.most or MOST]
    if not opts.json:
        print(clusters_line(found, rule.threshold))
    for number, cluster in enumerate(shown, start=1):
        most = None if opts.json else MOST_LISTED
        members = list(members_of(cluster, documents, rule, most, by_sketch=opts.by_sketch))
        if opts.json:
            print(cluster_json(number, members))
        else:
            print("", *cluster_lines(number, len(cluster.numbers), members), sep="\n")
    if not opts.json and len(found.clusters) > len(shown):
        print(f"\nand {len(found.clusters) - len(shown):,} more clusters: --most")
    if found.short:
        _say(f"{found.short:,} documents have fewer than {rule.fewest_words} words and were left out.")


def _report(unread: Mapping[str, str], exit_code: int) -> int:
    """Say what could not be read; the exit code."""
    for name, why in list(unread.items())[:_MOST_UNREAD]:
        _say(f"{name}: not read: {why}")
    if not unread:
        return 0
    _say(f"orbweaver: {len(unread)} documents could not be read; restore the files named above, then try again.")
    return exit_code


def _say(sentence: str) -> None:
    print(one_line(sentence), file=sys.stderr, flush=True)
