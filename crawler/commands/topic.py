"""scrapy topic: train a topic for a focused crawl, and see how well it tells pages apart."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from scrapy.exceptions import UsageError

from crawler.collection.topic_examples import ExampleReader, background_pages, examples_of_crawl
from crawler.collection.topic_output import (
    explained_lines,
    list_line,
    quality_lines,
    quality_row,
    trained_lines,
)
from crawler.collection.topic_review import DoubtfulPage, doubtful_pages, read_url_list
from crawler.collection.topics import (
    TOPIC_FACT,
    TopicExample,
    TopicFile,
    end_focus,
    existing_topic,
    read_topic_file,
    remove_topic_file,
    topic_names,
    write_topic_file,
)
from crawler.engine.command import HelpFormatter, OrbweaverCommand, as_called, exit_code_of
from crawler.errors import BadInput, Misconfigured
from crawler.focus.evaluation import THRESHOLDS, average_precision, threshold_quality
from crawler.monitor.charts import CHART_TYPES
from crawler.monitor.library_output import quiet_libraries
from crawler.monitor.progress_bar import showing_progress
from crawler.monitor.text import in_directory, plural
from crawler.options import Options
from crawler.simulation.chart import draw_comparison
from crawler.simulation.comparison import compare_unfocused, comparison_data, comparison_lines
from crawler.stores.open import open_store

_NO_TOPIC = "it had none in its last run"
_NONE = "no topic: scrapy topic train NAME --query WORDS --like URL-or-FILE"
_EXPLAINED = """\
train: learn the topic NAME from a query, from pages on topic and from pages off topic; any of them alone is enough.
An example is an archived URL, a file of HTML, text or another document, or a .jsonl file whose lines
have text, perhaps title, and label. --from takes all pages of another, finished crawl as examples on topic. If the
topic exists, the examples are added to those that it has, and a new query replaces the old one; to begin anew, remove
it first. A running crawl takes up what has changed. It prints the telling words, the examples that do not fit, and how
well the threshold separates them.
Example: scrapy topic train birds --query "birds wings nest" --like http://www.example.com/owl --unlike bolt.html

list, remove: print the topic of the crawl directory, or delete it.
Example: scrapy topic remove birds

test: measure average precision, and precision and recall by threshold, on labelled pages: .jsonl files, or --like and
--unlike.
Example: scrapy topic test birds labelled.jsonl

review: show archived pages one by one, the most doubtful first, and ask whether they are on topic: y, n, s to skip, q
to end. Reviewed pages are examples from then on. --yes and --no name files with URLs, one a line, of pages that were
reviewed elsewhere.
Example: scrapy topic review birds

explain: print the relevance of an archived URL or a file, and the words that count.
Example: scrapy topic explain birds http://www.example.com/owl

compare: simulate the crawl of CRAWL_DIR without its topic, from the same seeds and with the same rests, in the order in
which URLs are found, and print how many pages on topic both have found when so many were fetched. Only the pages that
the crawl has fetched are known, up to 100,000; what was found and never fetched does not exist there. --plot draws both
curves. Nothing is fetched, and CRAWL_DIR is not touched.
Example: scrapy topic compare birds --plot harvest.png"""
_ANSWERS = ("y", "n", "s", "q")
_OPTIONS: Mapping[str, Sequence[str]] = {  # that each takes
    "train": ("--query", "--like", "--unlike", "--from"),
    "list": ("--json",),
    "remove": (),
    "test": ("--like", "--unlike", "--json"),
    "review": ("--yes", "--no"),
    "explain": ("--json",),
    "compare": ("--plot", "--json"),
}
# Names that they need.
_VERBS = {"train": 1, "list": 0, "remove": 1, "test": 1, "review": 1, "explain": 2, "compare": 1}


class _Paragraphs(HelpFormatter):
    """Formats a description of several paragraphs."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(super(_Paragraphs, self)._fill_text(part, width, indent) for part in text.split("\n\n"))


class TopicCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] train|list|remove|test|review|explain|compare [NAME] [URL-or-FILE…]"

    def short_desc(self) -> str:
        return "Train the topic of a focused crawl, and see how well it tells pages apart"

    def long_desc(self) -> str:
        return _EXPLAINED

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = _Paragraphs
        add = parser.add_argument
        add("--query", metavar="WORDS", help="for train, words of the topic, as one would type them into a search")
        add(
            "--like",
            nargs="+",
            action="extend",
            default=[],
            metavar="URL-or-FILE",
            help="for train and test, pages on topic",
        )
        add(
            "--unlike",
            nargs="+",
            action="extend",
            default=[],
            metavar="URL-or-FILE",
            help="for train and test, pages off topic",
        )
        add("--from", dest="source", type=Path, metavar="DIR", help="for train, the directory of a finished crawl")
        add("--yes", type=Path, metavar="FILE", help="for review, URLs of pages on topic, one a line")
        add("--no", type=Path, metavar="FILE", help="for review, URLs of pages off topic, one a line")
        add(
            "--plot",
            type=Path,
            metavar="FILE",
            help="for compare, draw the curves to a .png, .svg or .pdf file",
        )
        add("--json", action="store_true", help="for list, test, explain and compare, print JSON")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        verbs = {
            "train": self._train,
            "list": self._list,
            "remove": self._remove,
            "test": self._test,
            "review": self._review,
            "explain": self._explain,
            "compare": self._compare,
        }
        if not args or args[0] not in verbs:
            raise UsageError(f"name what to do: {', '.join(verbs)}", print_help=False)
        _check_usage(args[0], args[1:], opts)
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        self.exitcode = exit_code_of(quiet_libraries()(lambda: verbs[args[0]](args[1:], opts)))

    def _train(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        [name] = names
        options = self.options_of_crawl()
        before = existing_topic(options.crawl.dir, name)
        reader = ExampleReader(options)
        examples = reader.read(opts.like, is_positive=True) + reader.read(opts.unlike, is_positive=False)
        with showing_progress() as progress:
            if opts.source is not None:
                examples += examples_of_crawl(self._options_of(opts.source), progress)
            pages = background_pages(options, progress)
        query = opts.query if opts.query is not None else before.query if before is not None else ""
        file = _trained(name, query, before.merged_examples(examples) if before is not None else examples, pages)
        write_topic_file(options.crawl.dir, file)
        print(*trained_lines(file, file.topic()), sep="\n")
        if before is None:
            where = in_directory(options.crawl.dir)
            print(as_called(f"Next: scrapy crawl focused {where} -a topic={name} -a seeds=FILE-or-URLs"))
        return 0

    def _options_of(self, directory: Path) -> Options:
        """Return the options of another crawl directory."""
        assert self.settings is not None
        if not directory.is_dir():
            raise BadInput(f"--from {directory}: no such directory; name the CRAWL_DIR of a finished crawl.")
        settings = self.settings.copy()
        settings.update({"CRAWL_DIR": str(directory), "STORE": ""}, priority="cmdline")
        return Options.of(settings)

    def _list(self, _: Sequence[str], opts: argparse.Namespace) -> int:
        directory = self.options().crawl.dir
        files = [read_topic_file(directory, name) for name in topic_names(directory)]
        if opts.json:
            for file in files:
                positive = sum(example.is_positive for example in file.examples)
                counts = {"positive": positive, "negative": len(file.examples) - positive}
                print(json.dumps({"name": file.name, "query": file.query, **counts}, ensure_ascii=False))
        else:
            print(*(map(list_line, files) if files else [as_called(_NONE)]), sep="\n")
        return 0

    def _remove(self, names: Sequence[str], _: argparse.Namespace) -> int:
        [name] = names
        options = self.options()
        end_focus(options, name, time.time())
        remove_topic_file(options.crawl.dir, name)
        print(f"Topic {name} is removed; what was crawled stays.")
        return 0

    def _test(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        name, *paths = names
        options = self.options_of_crawl()
        topic = read_topic_file(options.crawl.dir, name).topic()
        reader = ExampleReader(options)
        pages = reader.read(paths, is_positive=None)
        pages += reader.read(opts.like, is_positive=True) + reader.read(opts.unlike, is_positive=False)
        labels = [page.is_positive for page in pages]
        if not any(labels) or all(labels):
            raise BadInput(
                "Pages on topic and pages off topic are needed to measure a topic; one of the kinds is missing."
            )
        scores = [topic.score(page.text) for page in pages]
        if opts.json:
            rows = [quality_row(threshold_quality(scores, labels, threshold)) for threshold in THRESHOLDS]
            print(json.dumps({"average_precision": average_precision(scores, labels), "thresholds": rows}))
        else:
            print(*quality_lines(scores, labels), sep="\n")
        return 0

    def _review(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        [name] = names
        options = self.options_of_crawl()
        file = read_topic_file(options.crawl.dir, name)
        if opts.yes is not None or opts.no is not None:
            reader = ExampleReader(options)
            kinds = [(opts.yes, True), (opts.no, False)]
            urls = [(read_url_list(path), is_positive) for path, is_positive in kinds if path is not None]
            reviewed = [example for of_kind, kind in urls for example in reader.read(of_kind, is_positive=kind)]
        else:
            with showing_progress() as progress:
                pages = doubtful_pages(options, file.topic(), {one.source for one in file.examples}, progress)
            reviewed = [*_ask_for_labels(pages)]
        if not reviewed:
            print("No page was reviewed; the topic is as it was.")
            return 0
        with showing_progress() as progress:
            pages_seen = background_pages(options, progress)
        new = _trained(name, file.query, file.merged_examples(reviewed), pages_seen)
        write_topic_file(options.crawl.dir, new)
        print(
            f"{plural(len(reviewed), 'reviewed page')} {'is an example' if len(reviewed) == 1 else 'are examples'} now."
        )
        print(*trained_lines(new, new.topic()), sep="\n")
        return 0

    def _explain(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        name, page = names
        options = self.options_of_crawl()
        topic = read_topic_file(options.crawl.dir, name).topic()
        text = ExampleReader(options).read_text(page)
        score, words = topic.score(text), topic.explain(text)
        if opts.json:
            print(json.dumps({"page": page, "relevance": score, "words": dict(words)}, ensure_ascii=False))
        else:
            print(*explained_lines(page, score, words), sep="\n")
        return 0

    def _compare(self, names: Sequence[str], opts: argparse.Namespace) -> int:
        [name] = names
        options = self.options_of_crawl()
        logging.getLogger("crawler").setLevel(logging.ERROR)  # what happens in a simulation needs no warning
        store = open_store(options.store, read_only=True)
        try:
            about = store.crawl.facts().get(TOPIC_FACT)
            if about != name:
                raise Misconfigured(
                    f"This crawl is not about {name}; {f'its topic is {about}' if about else _NO_TOPIC}."
                )
            with showing_progress() as progress:
                found = compare_unfocused(store, options, progress)
        finally:
            store.close()
        data = comparison_data(found)
        if opts.plot is not None:
            draw_comparison(data, opts.plot)
        print(json.dumps(data) if opts.json else "\n".join(comparison_lines(found)))
        return 0


def _ask_for_labels(pages: Sequence[DoubtfulPage]) -> Iterator[TopicExample]:
    """Show pages one by one, and yield those of which somebody says whether they are on topic."""
    for number, page in enumerate(pages, start=1):
        print("", *page.lines(), sep="\n")
        answer = _answer(f"{number} of {len(pages)}: on topic? [y]es, [n]o, [s]kip, [q]uit: ")
        if answer == "q":
            return
        if answer != "s":
            yield TopicExample(page.url, is_positive=answer == "y", text=page.text)


def _answer(question: str) -> str:
    """Ask until the answer is one of those possible; its end, or Ctrl-C, ends the review."""
    while True:
        print(question, end="", file=sys.stderr, flush=True)
        try:
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            print(file=sys.stderr)
            return "q"
        answer = line.strip().lower()[:1]
        if not line:
            return "q"
        if answer in _ANSWERS:
            return answer


def _check_usage(verb: str, names: Sequence[str], opts: argparse.Namespace) -> None:
    """Refuse arguments and options that do not fit the subcommand."""
    wanted = _VERBS[verb]
    if len(names) < wanted or (len(names) > wanted and verb != "test"):
        needed = {0: "takes no name", 1: "name the topic", 2: "name the topic, and a URL or file"}[wanted]
        raise UsageError(f"{verb}: {needed}", print_help=False)
    given = {
        "--query": opts.query is not None,
        "--like": bool(opts.like),
        "--unlike": bool(opts.unlike),
        "--from": opts.source is not None,
        "--yes": opts.yes is not None,
        "--no": opts.no is not None,
        "--plot": opts.plot is not None,
        "--json": opts.json,
    }
    unfit = next((option for option, is_given in given.items() if is_given and option not in _OPTIONS[verb]), None)
    if unfit is not None:
        raise UsageError(f"{unfit}: not an option of {verb}", print_help=False)
    if verb == "train" and not any(given.values()):
        raise UsageError("train: give --query, --like, --unlike or --from to learn from", print_help=False)
    if opts.plot is not None and opts.plot.suffix not in CHART_TYPES:
        raise UsageError(f"--plot {opts.plot}: must end in {', '.join(CHART_TYPES)}", print_help=False)
    if verb == "test" and len(names) == 1 and not (opts.like or opts.unlike):
        raise UsageError("test: name files with labelled pages, or --like and --unlike", print_help=False)


def _trained(name: str, query: str, examples: Sequence[TopicExample], pages: Sequence[str]) -> TopicFile:
    try:
        return TopicFile.train(name, query, examples, pages)
    except ValueError as error:
        raise BadInput(f"{name}: {error}. Give --query, or --like with a page that has text.") from error
