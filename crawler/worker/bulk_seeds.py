"""Sort long lists of URLs by their keys, on the disk.

Loaded in this order, the URLs of a host come together and the store's indexes grow at their ends. A list of millions in
no order would touch a page of the disk for nearly each URL.
"""

from __future__ import annotations

import heapq
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import IO

from crawler.items import Key, Reason
from crawler.stores.contract.urls import NewUrl

RUN = 400_000  # URLs that are sorted in memory at once, about 100 MB
MOST_RUNS = 64  # sorted runs that are merged at once
_BIAS = 1 << 63  # added to fingerprints, so that negative ones come first as text, too
_DIGITS = 16


def in_key_order(urls: Iterable[NewUrl], directory: Path, run: int = RUN) -> Iterator[NewUrl]:
    """Yield URLs in the order of their keys, with the depth of links of a seed. The directory needs room for all."""
    source = iter(urls)
    runs: list[IO[str]] = []
    try:
        while lines := sorted(_line(url) for url in islice(source, run)):
            if len(runs) == MOST_RUNS:
                merged = _write_run(heapq.merge(*runs), directory)
                _close(runs)
                runs = [merged]
            runs.append(_write_run(lines, directory))
        for line in heapq.merge(*runs):
            yield _url(line)
    finally:
        _close(runs)


def _close(runs: Iterable[IO[str]]) -> None:
    for run in runs:
        run.close()


def _write_run(lines: Iterable[str], directory: Path) -> IO[str]:
    # The file has no name: it is gone when it is closed, or when the process dies.
    file = tempfile.TemporaryFile("w+", encoding="utf-8", errors="surrogatepass", dir=directory)  # noqa: SIM115
    file.writelines(lines)
    file.seek(0)
    return file


def _line(url: NewUrl) -> str:
    host, rest = url.key
    return f"{host + _BIAS:016x}{rest + _BIAS:016x}{url.url}\n"


def _url(line: str) -> NewUrl:
    host, rest = int(line[:_DIGITS], 16) - _BIAS, int(line[_DIGITS : 2 * _DIGITS], 16) - _BIAS
    return NewUrl(key=Key(host, rest), url=line[2 * _DIGITS : -1], reason=Reason.LISTED, depth=1)
