"""Seeds from files: one URL a line, comments and blank lines allowed, bad lines reported by number."""

from __future__ import annotations

import codecs
import re
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
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\f\r"))
_MOST_CONTROLS = 8  # characters at the beginning of a file that is still text
_KINDS = {
    b"\x1f\x8b": "packed with gzip",
    b"PK\x03\x04": "a zip archive or an office file",
    b"%PDF": "a PDF",
    b"\xff\xfe": "in UTF-16 (save it in UTF-8)",
    b"\xfe\xff": "in UTF-16 (save it in UTF-8)",
    b"\x89PNG": "a picture",
    b"SQLite format 3": "a database",
}
# A host name with a dot, or localhost, and what may follow it.
_WITHOUT_SCHEME = re.compile(r"(?:[\w-]+(?:\.[\w-]+)+|localhost)(?::\d{1,5})?(?:[/?#]\S*)?")

Canonicalize = Callable[[str], str | None]  # returns the canonical form of a URL


@dataclass(frozen=True, slots=True, kw_only=True)
class BadSeed:
    """A line that is not a URL that can be crawled."""

    file: str
    number: int
    text: str
    meant: str = ""  # the URL that was probably meant

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= _SHOWN else self.text[:_SHOWN] + "…"
        hint = f"; did you mean {self.meant}? (--guess-scheme takes it so)" if self.meant else ""
        return f"{self.file}:{self.number}: not a URL that can be crawled: {shown!r}{hint}"


def with_scheme(canonicalize: Canonicalize) -> Canonicalize:
    """Return a function that takes a text without a scheme, such as example.org, as https."""
    return lambda text: canonicalize(text) or _guess(text, canonicalize)


def _guess(text: str, canonicalize: Canonicalize) -> str | None:
    return canonicalize(f"https://{text}") if _WITHOUT_SCHEME.fullmatch(text) else None


def read_seeds(path: str, canonicalize: Canonicalize = canonical.canonicalize) -> Iterator[NewUrl | BadSeed]:
    """Read the lines of a file as seeds, one at a time: a file may have millions. `BadInput` if it is no text."""
    try:
        with Path(path).open("rb") as file:
            _refuse_binary(file.peek(), path)
            yield from _lines(file, path, canonicalize)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror}). Nothing was seeded from it.") from error


def _refuse_binary(start: bytes, path: str) -> None:
    for mark, kind in _KINDS.items():
        if start.startswith(mark):
            raise BadInput(f"{path}: {kind}, not a list of URLs. Nothing was seeded from it; seeds are one URL a line.")
    if len(start) - len(start.translate(None, _CONTROLS)) > max(_MOST_CONTROLS, len(start) // 50):
        raise BadInput(
            f"{path}: a binary file, not a list of URLs. Nothing was seeded from it; seeds are one URL a line."
        )


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
        return BadSeed(file=source, number=number, text=text, meant=_guess(text, canonicalize) or "")
    return NewUrl(key=key_of(url), url=url, reason=Reason.SEED)
