"""scrapy search: the documents of the collection that have the words, the best first."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from rich.console import Console
from rich.padding import Padding
from rich.text import Text
from scrapy.commands import ScrapyCommand
from scrapy.exceptions import UsageError

from crawler.collection.search_update import bring_up_to_date
from crawler.engine.command import failing_politely
from crawler.errors import AlreadyRunning, NoCrawl
from crawler.export.documents import safe_json
from crawler.monitor.progress_bar import showing_progress
from crawler.options import Options
from crawler.parse.clean_text import one_line
from crawler.search.index import has_index
from crawler.search.query import PER_HOST, Searcher, SearchHit, SearchOptions, SearchResult, seemly

LIMIT = 10
_INDENT = 4
_MOST = 200  # characters of a question that are repeated


class SearchCommand(ScrapyCommand):
    requires_project = True
    requires_crawler_process = False
    default_settings: ClassVar = {"LOG_ENABLED": False}

    def syntax(self) -> str:
        return "[options] WORDS…"

    def short_desc(self) -> str:
        return "Search the collection"

    def long_desc(self) -> str:
        return (
            "Print the documents that have the words, those with all of them before those with some, the best first: words in "
            "titles, and in links from other hosts, count most, those that stand around the main text least. "
            'In quotation marks a phrase is meant ("fog signal"); -word must not be there, +word must; word OR word; title:word. '
            "What cannot be read like that is searched for its words. Of each host the best two are shown; of documents that "
            "say the same, one. The index is in the directory `search` of CRAWL_DIR, and gets first what the crawl has fetched "
            "since it was last used, also while the crawl runs. Nothing found is no failure. Example: scrapy search how to tie "
            "a bowline --per-host 0"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--limit", type=int, default=LIMIT, metavar="N", help=f"show so many documents ({LIMIT})")
        add(
            "--per-host",
            type=int,
            default=PER_HOST,
            metavar="N",
            help=f"show so many of each host ({PER_HOST}); 0 = all",
        )
        add("--host", default="", metavar="NAME", help="only documents of this host")
        add("--language", default="", metavar="CODE", help="only documents in this language: en, ja …")
        add("--json", action="store_true", help="print one JSON object a line for each document")
        add("--index", type=Path, metavar="DIR", help="where the index is (CRAWL_DIR/search)")
        add("--no-update", action="store_true", help="search the index as it is")
        add("--full", action="store_true", help="build the index anew")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        question = " ".join(args)
        if not question.strip():
            raise UsageError(
                "name the words to search for, such as: scrapy search how to tie a bowline", print_help=False
            )
        if opts.limit < 1:
            raise UsageError(f"--limit {opts.limit}: must be at least 1", print_help=False)
        if opts.per_host < 0:
            raise UsageError(f"--per-host {opts.per_host}: must be at least 0", print_help=False)
        if opts.full and opts.no_update:
            raise UsageError("--full and --no-update: only one of them can be meant", print_help=False)
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        self.exitcode = failing_politely(lambda: self._search(question, opts))

    def _search(self, question: str, opts: argparse.Namespace) -> int:
        assert self.settings is not None
        options = Options.of(self.settings)
        directory: Path = opts.index or options.crawl.dir / "search"
        if not opts.no_update:
            _update(options, directory, full=opts.full)
        elif not has_index(directory):
            raise NoCrawl(f"{directory}: there is no index yet; search without --no-update, and it is built.")
        wanted = SearchOptions(limit=opts.limit, per_host=opts.per_host, host=opts.host, language=opts.language)
        searching = Searcher(directory)
        found = searching.search(question, wanted)
        if opts.json:
            for rank, hit in enumerate(found.hits, start=1):
                print(safe_json(_facts(rank, hit)))
        else:
            _show(question, found, searching.count)
        return 0


def _update(options: Options, directory: Path, *, full: bool) -> None:
    try:
        with showing_progress() as progress:
            unread = bring_up_to_date(options, directory, full=full, progress=progress)
        if unread:
            print(f"{unread} documents could not be read from the archive and will not be found.", file=sys.stderr)
    except AlreadyRunning:
        if full or not has_index(directory):
            raise
        print("Another process is bringing the index up to date; this searches what it had before.", file=sys.stderr)


def _facts(rank: int, hit: SearchHit) -> dict[str, object]:
    return {
        "rank": rank,
        "id": hit.id,
        "url": hit.url,
        "title": hit.title,
        "host": hit.host,
        "language": hit.language,
        "format": hit.format,
        "fetched_at": hit.fetched_at,
        "published_at": hit.published_at,
        "score": hit.score,
        "snippet": hit.snippet.text,
        "highlights": hit.snippet.highlights,
        "more_from_host": hit.more_from_host,
    }


def _show(question: str, found: SearchResult, documents: int) -> None:
    """In colours on a terminal; elsewhere plain, a line a line. Nothing that a page says is taken for markup."""
    console = Console(highlight=False)
    for indent, line in _lines(question, found, documents):
        if console.is_terminal:
            console.print(Padding(line, (0, 0, 0, indent)))
        else:
            print(" " * indent + line.plain)


def _lines(question: str, found: SearchResult, documents: int) -> Iterator[tuple[int, Text]]:
    if not found.hits:
        yield 0, Text(f"None of {documents:,} documents has anything of: {one_line(seemly(question))[:_MOST]}")
        return
    last = {hit.host: rank for rank, hit in enumerate(found.hits, start=1)}
    for rank, hit in enumerate(found.hits, start=1):
        yield 0, Text.assemble(f"{rank:2}. ", (hit.title or hit.url, "bold"))
        date = hit.published_at[:10] or hit.fetched_at[:10]
        kind = "" if hit.format == "html" else f"  {hit.format}"
        yield _INDENT, Text.assemble((hit.url, "green"), (f"  {date}{kind}", "dim"))
        if hit.snippet.text:
            yield _INDENT, _snippet(hit)
        if hit.more_from_host and last[hit.host] == rank:
            yield (
                _INDENT,
                Text(f"{hit.more_from_host:,} more from this host: --host {hit.host} --per-host 0", style="dim"),
            )
        yield 0, Text("")
    yield 0, Text(f"{found.matching:,} of {documents:,} documents have some of it", style="dim")


def _snippet(hit: SearchHit) -> Text:
    text = Text(hit.snippet.text)
    for start, end in hit.snippet.highlights:
        text.stylize("bold yellow", start, end)
    return text
