"""Seeds from files: one URL a line, comments and blank lines allowed, bad lines reported by number."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from crawler.errors import BadInput
from crawler.items import Reason
from crawler.stores.contract.urls import NewUrl
from crawler.urls import canonical
from crawler.urls.keys import key_of

MAX_LINE = 64 * 1024  # bytes; a longer line is not a URL
_SHOWN = 80  # characters of a bad line that are shown

Canonicalize = Callable[[str], str | None]  # returns the canonical form of a URL


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSeed:
    """A line that is not a URL that can be crawled."""

    file: str
    number: int
    text: str

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "…"
        return f"{self.file}:{self.number}: not a URL that can be crawled: {shown!r}"


def read_seeds(path: str, canonicalize: Canonicalize = canonical.canonicalize) -> Iterator[NewUrl | BadSeed]:
    """Read the lines of a file as seeds, one at a time: a file may have millions."""
    try:
        with Path(path).open("rb") as file:
            yield from _lines(file, path, canonicalize)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}). Nothing was seeded from it.") from error


def size_of(paths: Iterable[str]) -> int:
    """Return the total size of files in bytes; what is not a file counts nothing."""
    return sum(Path(path).stat().st_size for path in paths if Path(path).is_file())


def seeds_in(
    text: Iterable[str], source: str, canonicalize: Canonicalize = canonical.canonicalize
) -> Iterator[NewUrl | BadSeed]:
    """Read lines of text as seeds."""
    for number, line in enumerate(text, 1):
        seed = _seed(line, source, number, canonicalize)
        if seed is not None:
            yield seed


def _lines(file: BinaryIO, name: str, canonicalize: Canonicalize) -> Iterator[NewUrl | BadSeed]:
    number = 0
    while line := file.readline(MAX_LINE):
        number += 1
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        is_whole = line.endswith(b"\n") or len(line) < MAX_LINE
        rest = b"" if is_whole else _skip(file)
        seed = _seed(line.decode("utf-8", "replace"), name, number, canonicalize)
        if rest and isinstance(seed, NewUrl):
            seed = BadSeed(file=name, number=number, text=seed.url)
        if seed is not None:
            yield seed


def _skip(file: BinaryIO) -> bytes:
    """Skip the rest of a line that is too long; return its next part, empty if there is none."""
    last = rest = file.readline(MAX_LINE)
    while rest and not rest.endswith(b"\n"):
        rest = file.readline(MAX_LINE)
    return last


def _seed(line: str, source: str, number: int, canonicalize: Canonicalize) -> NewUrl | BadSeed | None:
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    url = canonicalize(text)
    if url is None:
        return BadSeed(file=source, number=number, text=text)
    return NewUrl(key=key_of(url), url=url, reason=Reason.SEED)
