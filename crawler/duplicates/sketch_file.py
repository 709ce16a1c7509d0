"""More sketches than fit into memory: in files, by document to compare them, and by band to see who shares a key.

The file of sketches is read here and there, for pairs that are compared. A key has a file for each band, so that going
through a band reads its keys and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.bands import SIMHASH_PARTS, STORED, Bands, band_columns, simhash_columns
from crawler.duplicates.minhash import PERMUTATIONS, Marks
from crawler.duplicates.union_find import Places
from crawler.duplicates.words import Hashes

_AT_ONCE: Final = 8_192  # sketches whose keys are computed together
_PAIRS_AT_ONCE: Final = 8_192
_KEYS_AT_ONCE: Final = 1 << 20


class BandIndex(NamedTuple):
    """Documents by their keys in a band, or those of them whose keys are in a range."""

    places: Places
    keys: Hashes


class SketchFile:
    """Sketches by place, from 0 on; each with the number under which it was given."""

    def __init__(self, directory: Path, bands: Bands) -> None:
        self._directory = directory
        self._bands = bands
        self._numbers = np.empty(0, dtype=np.int64)
        self._sketches: NDArray[np.void] = np.empty(0, dtype=STORED)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def bands(self) -> range:
        """What documents share keys in: bands of MinHash, then halves of simhash."""
        return range(self._bands.number + SIMHASH_PARTS)

    def fill(self, sketches: Iterable[tuple[int, bytes]], progress: Callable[[int], None]) -> None:
        """Write them all. What is no sketch of this size, as of a document without words, is left out."""
        numbers: list[NDArray[np.int64]] = []
        whole = (given for given in sketches if len(given[1]) == STORED.itemsize)
        with ExitStack() as stack:
            rows = stack.enter_context(self._path("sketches").open("wb"))
            keys = [stack.enter_context(self._path(band).open("wb")) for band in self.bands]
            while block := list(islice(whole, _AT_ONCE)):
                numbers.append(np.array([number for number, _ in block], dtype=np.int64))
                self._write(b"".join(sketch for _, sketch in block), rows, keys)
                progress(sum(map(len, numbers)))
        if numbers:
            self._numbers = np.concatenate(numbers)
            self._sketches = np.memmap(self._path("sketches"), dtype=STORED, mode="r")

    def numbers(self, places: Places) -> NDArray[np.int64]:
        return self._numbers[places]

    def band(self, band: int, ranges: int = 1) -> Iterator[BandIndex]:
        """Who has which key, in so many parts, of which each has all that share any of its keys."""
        for part in range(ranges):
            places, keys = [], []
            for at, block in self._keys(band):
                own = np.flatnonzero(_range_of(block, ranges) == part) if ranges > 1 else np.arange(len(block))
                places.append(own + at)
                keys.append(block[own])
            if places:
                yield BandIndex(np.concatenate(places), np.concatenate(keys))

    def estimates(self, ones: Places, others: Places) -> NDArray[np.float64]:
        """How similar the documents of each pair are."""
        shares = np.empty(len(ones), dtype=np.float64)
        marks: Marks = self._sketches["marks"]
        for at in range(0, len(ones), _PAIRS_AT_ONCE):
            part = slice(at, at + _PAIRS_AT_ONCE)
            shares[part] = np.count_nonzero(marks[ones[part]] == marks[others[part]], axis=1) / PERMUTATIONS
        return shares

    def _write(self, block: bytes, rows: BinaryIO, keys: Sequence[BinaryIO]) -> None:
        rows.write(block)
        sketches = np.frombuffer(block, dtype=STORED)
        columns = [*band_columns(sketches["marks"], self._bands), *simhash_columns(sketches["simhash"])]
        for column, file in zip(columns, keys, strict=True):
            file.write(column.tobytes())

    def _keys(self, band: int) -> Iterator[tuple[int, Hashes]]:
        with self._path(band).open("rb") as file:
            for at in range(0, len(self), _KEYS_AT_ONCE):
                yield at, np.frombuffer(file.read(8 * _KEYS_AT_ONCE), dtype=np.uint64)

    def _path(self, name: str | int) -> Path:
        return self._directory / str(name)


def _range_of(keys: Hashes, ranges: int) -> Hashes:
    return (keys >> np.uint64(32)) * np.uint64(ranges) >> np.uint64(32)
