"""Keep more sketches than fit into memory in temporary files: one file of sketches, and one file of keys per band.

The file of sketches is read at random, for pairs that are compared. The keys have a file per band, so that a pass over
a band reads its keys and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.bands import SIMHASH_PARTS, SKETCH_DTYPE, Bands, minhash_key_columns, simhash_key_columns
from crawler.duplicates.minhash import PERMUTATIONS, MinHashes
from crawler.duplicates.union_find import Places
from crawler.duplicates.words import Hashes

_SKETCHES_PER_BLOCK: Final = 8_192  # whose keys are computed together
_PAIRS_PER_BLOCK: Final = 8_192
_KEYS_PER_BLOCK: Final = 1 << 20


class BandIndex(NamedTuple):
    """Documents and their keys in one band: all of them, or those whose keys are in one range."""

    places: Places
    keys: Hashes


class SketchFile:
    """Sketches by their place in the file, from 0 on; each has the document number under which it was added."""

    def __init__(self, directory: Path, bands: Bands) -> None:
        self._directory = directory
        self._bands = bands
        self._numbers = np.empty(0, dtype=np.int64)
        self._sketches: NDArray[np.void] = np.empty(0, dtype=SKETCH_DTYPE)

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def bands(self) -> range:
        """The numbers of all key columns: the bands of MinHash, then the halves of simhash."""
        return range(self._bands.number + SIMHASH_PARTS)

    def fill(self, sketches: Iterable[tuple[int, bytes]], progress: Callable[[int], None]) -> None:
        """Write all sketches and their keys. Empty ones, of documents with too few words, are left out."""
        numbers: list[NDArray[np.int64]] = []
        complete = (row for row in sketches if len(row[1]) == SKETCH_DTYPE.itemsize)
        with ExitStack() as stack:
            rows = stack.enter_context(self._path("sketches").open("wb"))
            keys = [stack.enter_context(self._path(band).open("wb")) for band in self.bands]
            while block := list(islice(complete, _SKETCHES_PER_BLOCK)):
                numbers.append(np.array([number for number, _ in block], dtype=np.int64))
                self._write(b"".join(sketch for _, sketch in block), rows, keys)
                progress(sum(map(len, numbers)))
        if numbers:
            self._numbers = np.concatenate(numbers)
            self._sketches = np.memmap(self._path("sketches"), dtype=SKETCH_DTYPE, mode="r")

    def numbers(self, places: Places) -> NDArray[np.int64]:
        """The document numbers of the sketches at these places."""
        return self._numbers[places]

    def read_band(self, band: int, ranges: int = 1) -> Iterator[BandIndex]:
        """The keys of a band, in `ranges` parts by ranges of keys: documents that share a key are in the same part."""
        for part in range(ranges):
            places, keys = [], []
            for at, block in self._keys(band):
                own = np.flatnonzero(_range_of_keys(block, ranges) == part) if ranges > 1 else np.arange(len(block))
                places.append(own + at)
                keys.append(block[own])
            if places:
                yield BandIndex(np.concatenate(places), np.concatenate(keys))

    def estimate_similarities(self, ones: Places, others: Places) -> NDArray[np.float64]:
        """Estimate the similarity of each pair of documents."""
        shares = np.empty(len(ones), dtype=np.float64)
        minhashes: MinHashes = self._sketches["minhashes"]
        for at in range(0, len(ones), _PAIRS_PER_BLOCK):
            part = slice(at, at + _PAIRS_PER_BLOCK)
            shares[part] = np.count_nonzero(minhashes[ones[part]] == minhashes[others[part]], axis=1) / PERMUTATIONS
        return shares

    def _write(self, block: bytes, rows: BinaryIO, keys: Sequence[BinaryIO]) -> None:
        rows.write(block)
        sketches = np.frombuffer(block, dtype=SKETCH_DTYPE)
        columns = [*minhash_key_columns(sketches["minhashes"], self._bands), *simhash_key_columns(sketches["simhash"])]
        for column, file in zip(columns, keys, strict=True):
            file.write(column.tobytes())

    def _keys(self, band: int) -> Iterator[tuple[int, Hashes]]:
        with self._path(band).open("rb") as file:
            for at in range(0, len(self), _KEYS_PER_BLOCK):
                yield at, np.frombuffer(file.read(8 * _KEYS_PER_BLOCK), dtype=np.uint64)

    def _path(self, name: str | int) -> Path:
        return self._directory / str(name)


def _range_of_keys(keys: Hashes, ranges: int) -> Hashes:
    return (keys >> np.uint64(32)) * np.uint64(ranges) >> np.uint64(32)
