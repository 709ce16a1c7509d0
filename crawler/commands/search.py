"""scrapy search: rank the documents of the collection for a query."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text
from scrapy.exceptions import UsageError

from crawler.collection.search_update import update_index
from crawler.engine.command import OrbweaverCommand, exit_code_of
from crawler.errors import AlreadyRunning, NoCrawl
from crawler.export.documents import safe_json
from crawler.monitor.library_output import quiet_libraries
from crawler.monitor.progress_bar import showing_progress
from crawler.options import Options
from crawler.parse.clean_text import one_line
from crawler.search.index import has_index
from crawler.search.query import PER_HOST, Searcher, SearchHit, SearchOptions, SearchResult, blank_controls

LIMIT = 10
_INDENT = 4
_MOST = 200  # characters of the query that are repeated in the output


class SearchCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] WORDS…"

    def short_desc(self) -> str:
        return "Search the collection"

    def long_desc(self) -> str:
        return (
            "Print the documents that match the query, the best first; documents with all the words come before those "
            "with some. Words in titles and in the texts of links from other hosts count most, words outside the main "
            'text least. Quotation marks search for a phrase ("fog signal"); +word requires a word, -word excludes it; '
            "word OR word and title:word work, too. A query that is not valid syntax is searched as plain words. At "
            "most two documents of each host are shown, and one of several duplicates. The index is in the directory "
            "`search` of CRAWL_DIR; before the search it is updated with what was crawled since, also while the crawl "
            "runs. A search without results is no failure (exit code 0). Example: scrapy search how to tie a bowline "
            "--per-host 0"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        add = parser.add_argument
        add("--limit", type=int, default=LIMIT, metavar="N", help=f"show at most N documents ({LIMIT})")
        add(
            "--per-host",
            type=int,
            default=PER_HOST,
            metavar="N",
            help=f"show at most N documents of each host ({PER_HOST}); 0 = all",
        )
        add("--host", default="", metavar="NAME", help="only documents of this host")
        add("--language", default="", metavar="CODE", help="only documents in this language, such as en or ja")
        add(
            "--min-relevance",
            type=float,
            metavar="N",
            help="only documents of at least this relevance to the topic of the crawl (0 to 1)",
        )
        add("--json", action="store_true", help="print one JSON object per document, one per line")
        add("--index", type=Path, metavar="DIR", help="directory of the index (CRAWL_DIR/search)")
        add("--no-update", action="store_true", help="search the index as it is, without adding new documents")
        add("--full", action="store_true", help="rebuild the index")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        query = " ".join(args)
        if not query.strip():
            raise UsageError(
                "name the words to search for, such as: scrapy search how to tie a bowline", print_help=False
            )
        if opts.limit < 1:
            raise UsageError(f"--limit {opts.limit}: must be at least 1", print_help=False)
        if opts.per_host < 0:
            raise UsageError(f"--per-host {opts.per_host}: must be at least 0", print_help=False)
        if opts.min_relevance is not None and not 0 <= opts.min_relevance <= 1:
            raise UsageError(f"--min-relevance {opts.min_relevance:g}: must be from 0 to 1", print_help=False)
        if opts.full and opts.no_update:
            raise UsageError("--full and --no-update: give one of them", print_help=False)
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
        self.exitcode = exit_code_of(lambda: self._search(query, opts))

    @quiet_libraries()
    def _search(self, query: str, opts: argparse.Namespace) -> int:
        options = self.options()
        directory: Path = opts.index or options.crawl.dir / "search"
        if not opts.no_update:
            _update(options, directory, full=opts.full)
        if not has_index(directory):
            hint = (
                "search without --no-update to build it" if opts.no_update else "the crawl has fetched no page so far"
            )
            raise NoCrawl(f"{directory}: there is no index yet; {hint}.")
        wanted = SearchOptions(
            limit=opts.limit,
            per_host=opts.per_host,
            host=opts.host,
            language=opts.language,
            min_relevance=opts.min_relevance,
        )
        searcher = Searcher(directory)
        found = searcher.search(query, wanted)
        if opts.json:
            for rank, hit in enumerate(found.hits, start=1):
                print(safe_json(_facts(rank, hit)))
        else:
            _show(query, found, searcher.count)
        return 0


def _update(options: Options, directory: Path, *, full: bool) -> None:
    try:
        with showing_progress() as progress:
            unread = update_index(options, directory, full=full, progress=progress, notify=_print_message)
        if unread:
            _print_message(f"{unread} documents could not be read from the archive and are not in the index.")
    except AlreadyRunning:
        if full or not has_index(directory):
            raise
        _print_message("Another process is updating the index; this search uses its state before the update.")


def _print_message(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


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
        **({"relevance": hit.relevance} if hit.relevance is not None else {}),
        "snippet": hit.snippet.text,
        "highlights": hit.snippet.highlights,
        "more_from_host": hit.more_from_host,
    }


def _show(query: str, found: SearchResult, documents: int) -> None:
    """Print the hits, in colours and wrapped on a terminal, plain elsewhere; text of pages is never read as markup."""
    console = Console(highlight=False)
    for indent, line in _lines(query, found, documents):
        if console.is_terminal:
            console.print(Padding(line, (0, 0, 0, indent)))
        else:
            print(" " * indent + line.plain)


def _lines(query: str, found: SearchResult, documents: int) -> Iterator[tuple[int, Text]]:
    if not found.hits:
        yield 0, Text(f"None of {documents:,} documents matches: {one_line(blank_controls(query))[:_MOST]}")
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
    yield 0, Text(f"{found.matching:,} of {documents:,} documents match", style="dim")


def _snippet(hit: SearchHit) -> Text:
    text = Text(hit.snippet.text)
    for start, end in hit.snippet.highlights:
        text.stylize("bold yellow", start, end)
    return text
