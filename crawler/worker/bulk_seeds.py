"""Long lists of URLs in the order of their keys, sorted on the disk.

Loaded so, all URLs of a host come together, and the store's indexes grow at their ends: a list of millions in no order would
touch a page of the disk for nearly each of them.
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

RUN = 400_000  # URLs that are sorted in memory, about 100 MB
MOST_RUNS = 64  # that are merged at once
_BIAS = 1 << 63  # so that negative fingerprints come first as text, too
_DIGITS = 16


def in_key_order(urls: Iterable[NewUrl], directory: Path, run: int = RUN) -> Iterator[NewUrl]:
    """The URLs as if a seed's page had linked to them, in the order of their keys; the directory needs room for all."""
    source = iter(urls)
    runs: list[IO[str]] = []
    try:
        while lines := sorted(_line(url) for url in islice(source, run)):
            if len(runs) == MOST_RUNS:
                whole = _written(heapq.merge(*runs), directory)
                _close(runs)
                runs = [whole]
            runs.append(_written(lines, directory))
        for line in heapq.merge(*runs):
            yield _url(line)
    finally:
        _close(runs)


def _close(runs: Iterable[IO[str]]) -> None:
    for run in runs:
        run.close()


def _written(lines: Iterable[str], directory: Path) -> IO[str]:
    # Without a name: it is gone when it is closed, or the process dies.
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
