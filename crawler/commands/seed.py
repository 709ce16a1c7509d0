"""scrapy seed: add URLs to the frontier."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from scrapy.exceptions import UsageError

from crawler.clock import steady_clock
from crawler.engine.command import OrbweaverCommand, as_called, exit_code_of, print_message
from crawler.errors import BadInput
from crawler.monitor.host import host_key_of, unknown_host_message
from crawler.monitor.text import in_directory, plural
from crawler.stores.contract.urls import NewUrl, VisitChoice
from crawler.stores.open import open_store
from crawler.urls.schemes import is_web_url
from crawler.worker.bulk_seeds import in_key_order
from crawler.worker.seeds import BadSeed, Canonicalize, read_seeds, size_of, with_scheme
from crawler.worker.startup import last_politeness, prepare_directory

_MOST_WITHOUT_YES = 10_000  # URLs that are made due without further ado
_UNSURE = 2  # exit code if there are more
_REPORTED = 20  # bad lines that are shown one by one
_PROGRESS = 100_000  # lines between two lines of progress
_DRAWN = 2_000  # lines between two redrawings of the progress bar


class SeedCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] FILE..."

    def short_desc(self) -> str:
        return "Add the URLs of files to the frontier"

    def long_desc(self) -> str:
        return (
            "Read files with one URL per line (# starts a comment) and add the URLs to the crawl in CRAWL_DIR. A URL "
            "that is known already keeps its state, but as a seed it is visited whatever the filters say; with --now "
            "it is visited before everything that waits, again if need be. Lines that are not URLs are reported with "
            "their numbers; with --strict they stop the command with exit code 65 before anything is added. A running "
            "crawl picks up new seeds by itself. With --bulk the files are long lists of URLs, perhaps millions: these "
            "are visited as if a seed page had linked to them, and do not extend the scope. Without a FILE, --now with "
            "--host NAME, --all or --failed makes URLs due that are known: those of a host, all, or those whose last "
            "visit failed; delays are kept. Example: scrapy seed data/seeds/example.txt"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--now", action="store_true", help="visit them before all other URLs, also those that are known already"
        )
        parser.add_argument("--host", metavar="NAME", help="with --now, visit all pages of this host again")
        parser.add_argument("--all", action="store_true", help="with --now, visit everything again")
        parser.add_argument(
            "--failed", action="store_true", help="with --now, visit again what failed or was given up after failures"
        )
        parser.add_argument("--yes", action="store_true", help=f"do so with more than {_MOST_WITHOUT_YES:,} URLs, too")
        parser.add_argument(
            "--guess-scheme", action="store_true", help="take a line without a scheme, such as example.org, as https"
        )
        parser.add_argument("--bulk", action="store_true", help="load long lists of URLs, which do not count as seeds")
        parser.add_argument("--strict", action="store_true", help="add nothing if any line is bad")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        choices = [choice for choice in VisitChoice if getattr(opts, choice)]
        if choices:
            if args or len(choices) > 1 or not opts.now or opts.bulk:
                raise UsageError("--host, --all and --failed go with --now, alone and without files", print_help=False)
            self.exitcode = exit_code_of(lambda: self._visit_again(choices[0], opts.host, is_sure=opts.yes))
            return
        if not args:
            raise UsageError("name at least one file with seeds", print_help=False)
        if opts.bulk and opts.now:
            raise UsageError("--bulk and --now cannot be combined", print_help=False)
        self.exitcode = exit_code_of(lambda: self._seed(args, opts))

    def _seed(self, files: list[str], opts: argparse.Namespace) -> int:
        options, bulk = self.options(), opts.bulk
        for file in files:
            if is_web_url(file) and not Path(file).exists():
                raise BadInput(
                    f"{file}: `scrapy seed` takes files with one URL a line. Nothing was seeded; for URLs: scrapy crawl "
                    f"web {in_directory(options.crawl.dir)} -a seeds={file}"
                )
        canonicalize: Canonicalize = options.urls.new_policy().canonicalize
        if opts.guess_scheme:
            canonicalize = with_scheme(canonicalize)
        if opts.strict:
            lines = (line for file in files for line in read_seeds(file, canonicalize))
            bad = _report_bad_lines(line for line in lines if isinstance(line, BadSeed))
            if bad:
                raise BadInput(f"{bad} bad lines; nothing was seeded. Correct them, or omit --strict.")
        prepare_directory(options)
        store = open_store(
            options.store, budgets=options.budgets, group_of=options.politeness.group_of, order=options.order
        )
        try:
            bad_lines: list[BadSeed] = []
            counts = {"good": 0, "bad": 0}
            with _progress(size_of(files)) as advance:
                good = _good_seeds(files, canonicalize, bad_lines, counts, advance)
                if bulk:
                    new = store.urls.add(
                        _with_progress(in_key_order(good, options.crawl.dir), counts), steady_clock()()
                    )
                else:
                    new = store.urls.add_seeds(good, steady_clock()(), urgent=opts.now)
            _report_bad_lines(bad_lines, total=counts["bad"])
            known = store.urls.count()
        finally:
            store.close()
        what = "URLs" if bulk else "seeds"
        print(f"{counts['good']} {what} read, {new} new, {counts['bad']} bad lines; {known} URLs known.")
        return BadInput.exit_code if counts["bad"] and not counts["good"] else 0

    def _visit_again(self, choice: VisitChoice, name: str | None, *, is_sure: bool) -> int:
        """Make known URLs due, unless there are very many."""
        options = self.options()
        host = host_key_of(name) if name is not None else None
        now = steady_clock()()
        open_store(options.store, read_only=True).close()  # there must be a crawl
        store = open_store(options.store, budgets=options.budgets, group_of=options.politeness.group_of)
        try:
            if host is not None and store.urls.find_host(host, now) is None:
                print(unknown_host_message(name or ""))
                return 1
            count = store.urls.count_chosen(choice, host, now)
            if count > _MOST_WITHOUT_YES and not is_sure:
                print_message(f"{count:,} URLs would be visited again. Nothing was changed; add --yes if you mean it.")
                return _UNSURE
            made = store.urls.make_due(choice, host, now, last_politeness(store, options.politeness).without_hold)
        finally:
            store.close()
        if made:
            what = f"{plural(made, 'more URL is', 'more URLs are')} due now"
        elif choice is VisitChoice.FAILED:
            what = "Nothing has failed that is not due already"
        else:
            what = "Nothing to change, what waits is due already"
        print(as_called(f"{what}: scrapy crawl web {in_directory(options.crawl.dir)}"))
        return 0


def _good_seeds(
    files: list[str],
    canonicalize: Canonicalize,
    bad_lines: list[BadSeed],
    counts: dict[str, int],
    advance: Callable[[int, int], None],
) -> Iterator[NewUrl]:
    for file in files:
        for line in read_seeds(file, canonicalize):
            if isinstance(line, BadSeed):
                counts["bad"] += 1
                if len(bad_lines) < _REPORTED:
                    bad_lines.append(line)
                continue
            counts["good"] += 1
            advance(counts["good"], len(line.url) + 1)
            yield line


def _with_progress(urls: Iterator[NewUrl], counts: dict[str, int]) -> Iterator[NewUrl]:
    """Pass sorted URLs on to the store, and print progress."""
    for loaded, url in enumerate(urls, 1):
        if loaded % _PROGRESS == 0:
            print(f"{loaded} URLs loaded, {loaded / counts['good']:.0%} …", file=sys.stderr)
        yield url


@contextmanager
def _progress(size: int) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to call after each line with the lines read and its length; it draws a bar, or prints lines."""
    console = Console(file=sys.stderr)
    read = 0
    if not console.is_terminal:

        def print_progress(lines: int, length: int) -> None:
            nonlocal read
            read += length
            if lines % _PROGRESS == 0:
                print(f"{lines} lines read, {min(read / max(size, 1), 1):.0%} …", file=sys.stderr)

        yield print_progress
        return
    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.fields[lines]:,} lines"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=size, lines=0)

        def draw(lines: int, length: int) -> None:
            nonlocal read
            read += length
            if lines % _DRAWN == 0:
                bar.update(task, completed=min(read, size), lines=lines)

        yield draw


def _report_bad_lines(lines: Iterator[BadSeed] | list[BadSeed], total: int | None = None) -> int:
    """Print the first bad lines; return how many there were."""
    count = 0
    for count, line in enumerate(lines, 1):
        if count <= _REPORTED:
            print(line, file=sys.stderr)
    count = count if total is None else total
    if count > _REPORTED:
        print(f"… and {count - _REPORTED} more bad lines", file=sys.stderr)
    return count
