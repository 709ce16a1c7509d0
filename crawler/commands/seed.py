"""scrapy seed: add URLs to the frontier."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ClassVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.clock import steady_clock
from crawler.engine.command import command_options, exit_code_of
from crawler.errors import BadInput
from crawler.stores.contract.urls import NewUrl
from crawler.stores.open import open_store
from crawler.urls.canonical import UrlPolicy
from crawler.worker.bulk_seeds import in_key_order
from crawler.worker.seeds import BadSeed, read_seeds, size_of
from crawler.worker.startup import prepare_directory

_REPORTED = 20  # bad lines that are shown one by one
_PROGRESS = 100_000  # lines between two lines of progress
_DRAWN = 2_000  # lines between two redrawings of the progress bar


class SeedCommand(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

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
            "are visited as if a seed page had linked to them, and do not extend the scope. Example: scrapy seed "
            "data/seeds/example.txt"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--now", action="store_true", help="visit them before all other URLs, also those that are known already"
        )
        parser.add_argument("--bulk", action="store_true", help="load long lists of URLs, which do not count as seeds")
        parser.add_argument("--strict", action="store_true", help="add nothing if any line is bad")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if not args:
            raise UsageError("name at least one file with seeds", print_help=False)
        if opts.bulk and opts.now:
            raise UsageError("--bulk and --now cannot be combined", print_help=False)
        self.exitcode = exit_code_of(lambda: self._seed(args, strict=opts.strict, now=opts.now, bulk=opts.bulk))

    def _seed(self, files: list[str], *, strict: bool, now: bool, bulk: bool) -> int:
        assert self.settings is not None
        options = command_options(self.settings)
        policy = options.urls.new_policy()
        if strict:
            lines = (line for file in files for line in read_seeds(file, policy.canonicalize))
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
                good = _good_seeds(files, policy, bad_lines, counts, advance)
                if bulk:
                    new = store.urls.add(
                        _with_progress(in_key_order(good, options.crawl.dir), counts), steady_clock()()
                    )
                else:
                    new = store.urls.add_seeds(good, steady_clock()(), urgent=now)
            _report_bad_lines(bad_lines, total=counts["bad"])
            known = store.urls.count()
        finally:
            store.close()
        what = "URLs" if bulk else "seeds"
        print(f"{counts['good']} {what} read, {new} new, {counts['bad']} bad lines; {known} URLs known.")
        return 0


def _good_seeds(
    files: list[str],
    policy: UrlPolicy,
    bad_lines: list[BadSeed],
    counts: dict[str, int],
    advance: Callable[[int, int], None],
) -> Iterator[NewUrl]:
    for file in files:
        for line in read_seeds(file, policy.canonicalize):
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
