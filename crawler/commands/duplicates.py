"""scrapy duplicates: find near-duplicates in the collection or among files, and measure how well they are detected."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from scrapy.exceptions import UsageError

from crawler.collection.archive_reader import newest_archived
from crawler.collection.similar.clusters import cluster_members, find_clusters
from crawler.collection.similar.document import ComparableDocument, ComparableReader, ComparedFeatures
from crawler.collection.similar.evaluate import evaluate_pairs
from crawler.collection.similar.find import find_similar
from crawler.collection.similar.output import (
    MAX_LISTED,
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
    list_files,
)
from crawler.duplicates.cascade import THRESHOLD, DuplicateRule
from crawler.duplicates.datasketch_minhash import is_installed
from crawler.engine.command import HelpFormatter, OrbweaverCommand, exit_code_of
from crawler.errors import BadInput, DiskTrouble, Misconfigured
from crawler.monitor.charts import CHART_TYPES
from crawler.monitor.library_output import quiet_libraries
from crawler.monitor.progress_bar import showing_progress
from crawler.options import LEAST_THRESHOLD, Options
from crawler.parse.clean_text import one_line
from crawler.stores.contract.store import Store
from crawler.stores.open import open_store
from crawler.urls.schemes import is_web_url
from crawler.worker.startup import sketch_kind

FIND_THRESHOLD = 0.8
MOST = 20  # documents or clusters that are shown
_MOST_UNREAD = 5  # documents that could not be read and are listed by name
_EXPLAINED = """\
find: print the documents of the collection that are near-duplicates of one document, which is an archived URL or a
file. All sketches are compared, and the texts of likely duplicates are read again from the archive. For each one it
prints the similarity, how it was determined, whether the crawl marked it as a duplicate, and a few words that differ.
For a document that is very short, only exact copies are searched.
Example: scrapy duplicates find http://www.example.com/ --threshold 0.7

clusters: print all clusters of near-duplicates in the collection, or among the given files and all files in the given
directories, the largest first, each document with its similarity to the first one (~ marks an estimate). Documents
that are very short have no sketches and are left out. Temporary files, at most 1 KB per document, are written to
TMPDIR.
Example: scrapy duplicates clusters src/ --features code --threshold 0.8

evaluate: measure precision, recall and F1 of the sketches alone and of all steps together on labelled pairs, for
thresholds from 0.5 to 1. FILE has one JSON object per line, plain or .gz. "a" and "b" are texts, or ids of documents
in the file --documents, whose lines have "id" and "text". The label is "duplicate", true or false, or "jaccard", a
number that is compared with the threshold; without a label the Jaccard coefficient of the texts is computed.
Example: scrapy duplicates evaluate pairs.jsonl --documents texts.jsonl.gz --plot quality.png

The command only reads; a running crawl is not disturbed. Documents that cannot be read are listed; those of the
archive are judged by their sketch, and the exit code is 74; for files it is 65."""


class _Paragraphs(HelpFormatter):
    """Formats a description of several paragraphs."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(super(_Paragraphs, self)._fill_text(part, width, indent) for part in text.split("\n\n"))


class DuplicatesCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] find URL-or-FILE | clusters [PATH…] | evaluate FILE"

    def short_desc(self) -> str:
        return "Find near-duplicates of a document, or all of them, and measure how well they are detected"

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
            help="similarity (Jaccard coefficient of shingles, 0 to 1) from which documents are near-duplicates "
            f"({FIND_THRESHOLD} for find, otherwise DUPLICATE_THRESHOLD)",
        )
        add(
            "--most",
            type=int,
            metavar="N",
            help=f"show at most N documents or clusters ({MOST}; all clusters with --json)",
        )
        add(
            "--features",
            choices=[features.value for features in ComparedFeatures],
            help="for find and clusters, compare words, or tokens of source code, so that names, comments and spacing "
            "do not count; code reads all source code and plain text of the collection again",
        )
        add(
            "--by-sketch",
            action="store_true",
            help="for clusters, compare the sketches only, without reading texts; faster, and less exact",
        )
        add(
            "--documents",
            type=Path,
            metavar="FILE",
            help="for evaluate, the texts of the documents to which the pairs refer",
        )
        add(
            "--method",
            choices=["datasketch"],
            help="for evaluate, also measure the MinHash of this library, on the same shingles",
        )
        add("--plot", type=Path, metavar="FILE.png", help="for evaluate, draw precision and recall by threshold")
        add(
            "--json",
            action="store_true",
            help="print one JSON object per line, for a document, a cluster, or a threshold",
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        verbs = {"find": self._find, "clusters": self._clusters, "evaluate": self._evaluate}
        if not args or args[0] not in verbs:
            raise UsageError(f"name what to do: {', '.join(verbs)}", print_help=False)
        _check_usage(args[0], args[1:], opts)
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        self.exitcode = exit_code_of(quiet_libraries()(lambda: verbs[args[0]](args[1:], opts)))

    def _find(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        options = self.options()
        rule = replace(options.duplicates, threshold=opts.threshold or FIND_THRESHOLD)
        reader = _reader(options, opts)
        with _open_store(options) as store, showing_progress() as progress:
            collection = _open_collection(store, options, reader)
            own = _read_document(names[0], options, collection)
            found = find_similar(collection, own, rule, opts.most or MOST, progress)
        lines = find_json(found) if opts.json else find_lines(own.name, found, rule.threshold, rule.fewest_words)
        print(*lines, sep="\n", end="\n" if found.documents or not opts.json else "")
        if opts.json and found.is_short:
            _print_message(f"{own.name} has fewer than {rule.fewest_words} words: only exact copies were looked for.")
        return _report_unread(collection.unread, DiskTrouble.exit_code)

    def _clusters(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        options = self.options()
        rule, reader = _rule(options, opts), _reader(options, opts)
        if names:
            files = LocalFiles(list_files(names), reader, rule)
            _print_clusters(files, rule, opts)
            return _report_unread(files.unread, BadInput.exit_code)
        with _open_store(options) as store:
            collection = _open_collection(store, options, reader)
            is_code = reader.features is ComparedFeatures.CODE
            _print_clusters(SourceCodeDocuments(collection, rule) if is_code else SketchedPages(collection), rule, opts)
        return _report_unread(collection.unread, DiskTrouble.exit_code)

    def _evaluate(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        rule = _rule(self.options(), opts)
        if opts.method and not is_installed():
            raise Misconfigured("--method datasketch: install the library, pip install 'orbweaver[datasketch]'.")
        with showing_progress() as progress:
            found = evaluate_pairs(
                Path(names[0]), opts.documents, rule, progress, with_datasketch=opts.method == "datasketch"
            )
        if found.is_short and opts.documents is None:
            _print_message(
                "All texts are very short. If they are ids of documents, name the file of these with --documents."
            )
        if opts.plot is not None:
            draw_evaluation(found.rows, names[0], opts.plot)
        print(*(evaluation_json(found) if opts.json else evaluation_lines(found)), sep="\n")
        return 0


def _check_usage(verb: str, names: Sequence[str], opts: argparse.Namespace) -> None:
    """Refuse arguments and options that do not fit the subcommand."""
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
        "--method": opts.method is not None,
        "--plot": opts.plot is not None,
    }
    used = {
        "find": "--most --features",
        "clusters": "--most --features --by-sketch",
        "evaluate": "--documents --method --plot",
    }
    unfit = next((name for name, is_given in given.items() if is_given and name not in used[verb].split()), None)
    if unfit is not None:
        raise UsageError(f"{unfit}: not an option of {verb}", print_help=False)
    if opts.plot is not None and opts.plot.suffix not in CHART_TYPES:
        raise UsageError(f"--plot {opts.plot}: must end in {', '.join(CHART_TYPES)}", print_help=False)


def _rule(options: Options, opts: argparse.Namespace) -> DuplicateRule:
    """Return the rule of the crawl, with the threshold of --threshold, or the default if the crawl has none."""
    return replace(options.duplicates, threshold=opts.threshold or options.duplicates.threshold or THRESHOLD)


def _reader(options: Options, opts: argparse.Namespace) -> ComparableReader:
    return ComparableReader(
        reading=options.reading, features=ComparedFeatures(opts.features or ComparedFeatures.WORDS.value)
    )


@contextmanager
def _open_store(options: Options) -> Iterator[Store]:
    store = open_store(options.store, read_only=True)
    try:
        stored, wanted = store.crawl.facts().get("sketches"), sketch_kind(options.duplicates)
        if stored is not None and stored != wanted:
            raise Misconfigured(f"DUPLICATE_SHINGLE: the sketches of this crawl are of {stored}, and not of {wanted}.")
        yield store
    finally:
        store.close()


def _open_collection(store: Store, options: Options, reader: ComparableReader) -> Collection:
    if reader.features is ComparedFeatures.WORDS and not store.similarity.count_sketches():
        _print_message("No page of this collection has a sketch: it is empty, or DUPLICATE_THRESHOLD is 0.")
    return Collection(store, options.warc_directory, reader)


def _read_document(name: str, options: Options, collection: Collection) -> ComparableDocument:
    """Read the document whose near-duplicates are searched."""
    if not is_web_url(name) or Path(name).is_file():
        return collection.reader.file(Path(name))
    archived, document = newest_archived(options, name)
    return collection.reader.answer(archived, collection.store.similarity.template(document.key.host))


def _print_clusters(documents: DocumentSource, rule: DuplicateRule, opts: argparse.Namespace) -> None:
    with showing_progress() as progress:
        found = find_clusters(documents, rule, progress, by_sketch=opts.by_sketch)
    shown = found.clusters if opts.json and opts.most is None else found.clusters[: opts.most or MOST]
    if not opts.json:
        print(clusters_line(found, rule.threshold))
    for number, cluster in enumerate(shown, start=1):
        most = None if opts.json else MAX_LISTED
        members = list(cluster_members(cluster, documents, rule, most, by_sketch=opts.by_sketch))
        if opts.json:
            print(cluster_json(number, members))
        else:
            print("", *cluster_lines(number, len(cluster.numbers), members), sep="\n")
    if not opts.json and len(found.clusters) > len(shown):
        print(f"\nand {len(found.clusters) - len(shown):,} more clusters: --most")
    if found.short:
        _print_message(f"{found.short:,} documents have fewer than {rule.fewest_words} words and were left out.")


def _report_unread(unread: Mapping[str, str], exit_code: int) -> int:
    """Print which documents could not be read; return the exit code."""
    for name, why in list(unread.items())[:_MOST_UNREAD]:
        _print_message(f"{name}: not read: {why}")
    if not unread:
        return 0
    _print_message(
        f"orbweaver: {len(unread)} documents could not be read; restore the files named above, then try again."
    )
    return exit_code


def _print_message(sentence: str) -> None:
    print(one_line(sentence), file=sys.stderr, flush=True)
