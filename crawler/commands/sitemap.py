"""scrapy sitemap: write a sitemap of the files in a directory, for the webmaster who serves them."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape

from scrapy.exceptions import UsageError

from crawler.engine.command import OrbweaverCommand, exit_code_of
from crawler.errors import CrawlError
from crawler.files import write_text_atomically
from crawler.parse.sitemaps import MOST_BYTES, MOST_ENTRIES
from crawler.urls.canonical import resolve
from crawler.urls.schemes import WEB_PREFIXES

HOUR, DAY = 3600.0, 86_400.0
_INDEX_PAGES = ("index.html", "index.htm")
_NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
_OWN_BYTES = 200  # of a sitemap, besides its entries


class SitemapCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options] DIR --base URL"

    def short_desc(self) -> str:
        return "Write a sitemap of the files in a directory"

    def long_desc(self) -> str:
        return (
            "Write the sitemap of a site whose files are in DIR and are served under the URL of --base. lastmod is the "
            "time of change of a file; changefreq is estimated from the time since that change. Hidden files and "
            "symbolic links that lead out of DIR are left out; an index.html is listed as its directory. A site with "
            f"more than {MOST_ENTRIES:,} files gets several sitemaps and an index of them, which needs --to. Files get "
            "their names when they are complete. Example: scrapy sitemap /var/www --base https://example.com/ --to "
            "/var/www/sitemap.xml"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--base", metavar="URL", required=True, help="the URL under which DIR is served")
        parser.add_argument(
            "--to", metavar="FILE", help="file to write; without it the sitemap goes to the standard output"
        )

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise UsageError("name one directory", print_help=False)
        base = resolve(opts.base)
        if base is None or not base.startswith(WEB_PREFIXES):
            raise UsageError(f"--base {opts.base}: not an http or https URL", print_help=False)
        target = Path(opts.to) if opts.to else None
        self.exitcode = exit_code_of(lambda: _write(Path(args[0]), base.rstrip("/") + "/", target))


class SiteFile(NamedTuple):
    """A file of a site, with its time of change."""

    path: str  # relative to the base URL, percent-encoded
    modified: float


def files_in(directory: Path, target: Path | None = None) -> Iterator[SiteFile]:
    """Yield the public files in the order of their names, without sitemaps that were written before."""
    root = directory.resolve()
    ours = re.compile(rf"{re.escape(target.stem)}(-[0-9]+)?{re.escape(target.suffix)}") if target is not None else None
    home = target.parent.resolve() if target is not None else None
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder) / name
            if name.startswith(".") or not path.is_file() or not path.resolve().is_relative_to(root):
                continue
            if ours is not None and ours.fullmatch(name) and path.parent.resolve() == home:
                continue
            relative = path.relative_to(directory)
            place = relative.parent if name in _INDEX_PAGES else relative
            spelled = quote(os.fsencode(place.as_posix())) if place.parts else ""
            is_folder = name in _INDEX_PAGES and place.parts
            yield SiteFile(f"{spelled}/" if is_folder else spelled, path.stat().st_mtime)


def frequency_of(age: float) -> str:
    """Estimate how often a file changes from the time since its last change.

    >>> [frequency_of(age) for age in (60.0, 10 * HOUR, 3 * DAY, 20 * DAY, 400 * DAY)]
    ['hourly', 'daily', 'weekly', 'monthly', 'yearly']
    """
    for name, most in (("hourly", 2 * HOUR), ("daily", 2 * DAY), ("weekly", 14 * DAY), ("monthly", 60 * DAY)):
        if age < most:
            return name
    return "yearly"


def sitemaps_of(directory: Path, base: str, now: float, target: Path | None = None) -> Iterator[str]:
    """Yield one sitemap, or several if the files exceed the limits of one."""
    entries: list[str] = []
    size, seen = _OWN_BYTES, set[str]()
    for path, modified in files_in(directory, target):
        if path in seen:  # index.html and index.htm
            continue
        seen.add(path)
        entry = (
            f"<url><loc>{escape(base + path)}</loc><lastmod>{_date(modified)}</lastmod>"
            f"<changefreq>{frequency_of(now - modified)}</changefreq></url>\n"
        )
        if len(entries) == MOST_ENTRIES or size + len(entry) > MOST_BYTES:
            yield _file("urlset", entries)
            entries, size = [], _OWN_BYTES
        entries.append(entry)
        size += len(entry)
    yield _file("urlset", entries)


def _write(directory: Path, base: str, target: Path | None) -> int:
    if not directory.is_dir():
        raise CrawlError(f"{directory}: is not a directory.")
    sitemaps = sitemaps_of(directory, base, time.time(), target)
    first = next(sitemaps)
    second = next(sitemaps, None)
    if second is None:
        if target is None:
            sys.stdout.write(first)
        else:
            write_text_atomically(target, first)
            print(f"{target}: {first.count('<url>')} URLs", file=sys.stderr)
        return 0
    if target is None:
        raise CrawlError(
            f"{directory}: has too many files for one sitemap. Name a file with --to; the others are written beside it."
        )
    names = []
    for number, text in enumerate((first, second, *sitemaps), 1):
        path = target.with_name(f"{target.stem}-{number}{target.suffix}")
        write_text_atomically(path, text)
        names.append(path.name)
        print(f"{path}: {text.count('<url>')} URLs", file=sys.stderr)
    parts = [f"<sitemap><loc>{escape(base + quote(name))}</loc></sitemap>\n" for name in names]
    write_text_atomically(target, _file("sitemapindex", parts))
    print(f"{target}: {len(names)} sitemaps, which must be served under {base}", file=sys.stderr)
    return 0


def _file(root: str, entries: list[str]) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {_NAMESPACE}>\n{"".join(entries)}</{root}>\n'


def _date(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
