"""Yield tables: how relevant were the pages fetched under a key (a page that links, a section, a host, a word)?

A table has a fixed size, and regions for kinds of keys. A key has one place in its region; of two keys that want the
same place, the one that was learned less often gives way, but only after the other came as often. Counts of workers are
added up.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint32]  # a row a link, a column a kind of key; 0 is no key
Values = NDArray[np.float32]

PRIOR_PAGES: Final = np.float32(3)  # of the expected relevance, that are added to each key's own
_MOST_PAGES: Final = 512.0  # above it the counts are halved: a yield follows what changes
_PRIOR_RELEVANCE: Final = (5.0, 1.0)  # pages and their relevance, before any was fetched
_LAST_PAGES: Final = 200.0
_LEAST, _MOST = 0.002, 0.998  # of the expected relevance: log-odds stay finite
_NONE, _HALF, _ALL = np.float32(0), np.float32(0.5), np.float32(1)


class ExpectedRelevance:
    """The mean relevance of the last few hundred pages: what to expect of a page of which nothing is known."""

    def __init__(self) -> None:
        self.pages, self.total = _PRIOR_RELEVANCE

    @property
    def share(self) -> float:
        return min(max(self.total / self.pages, _LEAST), _MOST)

    def add(self, relevance: float) -> None:
        keep = min(1.0, _LAST_PAGES / (self.pages + 1))
        self.pages, self.total = self.pages * keep + 1, self.total * keep + relevance

    def join(self, workers: Sequence[ExpectedRelevance]) -> None:
        """Take the mean of several workers; those count more that have seen more pages of late."""
        self.pages, self.total = (
            fmean(values) for values in zip(*((one.pages, one.total) for one in workers), strict=True)
        )


class YieldTable:
    """Counts the pages fetched under each key, and their relevance."""

    def __init__(self, regions: Sequence[tuple[int, int]]) -> None:
        """Make an empty table for the columns and places (a power of two) of each region."""
        columns = [size for count, size in regions for _ in range(count)]
        starts = np.repeat(np.cumsum([0, *(size for _, size in regions[:-1])]), [count for count, _ in regions])
        self._masks, self._starts = np.array(columns, np.uint32) - np.uint32(1), starts.astype(np.uint32)
        places = sum(size for _, size in regions)
        self._keys, self._counts = np.zeros(places, np.uint32), np.zeros((places, 2), np.float32)

    def add(self, row: Keys, relevance: float) -> None:
        """Count a fetched page under the keys of a row."""
        keys = row[row != 0]
        places = ((row & self._masks) + self._starts)[row != 0]
        counts, is_same = self._counts[places], self._keys[places] == keys
        pages = counts[:, 0]
        is_counted = is_same | (pages <= 1)
        kept = np.where(is_same, np.where(pages >= _MOST_PAGES, _HALF, _ALL), np.where(is_counted, _NONE, _HALF))
        counts *= kept[:, None]
        counts[is_counted] += np.array([1.0, relevance], np.float32)
        self._counts[places] = counts
        self._keys[places[is_counted]] = keys[is_counted]

    def counts(self, keys: Keys) -> tuple[Values, Values]:
        """Return the pages fetched under each key, and the sum of their relevance."""
        places = (keys & self._masks) + self._starts
        found = self._counts.take(places, axis=0) * (self._keys.take(places) == keys)[..., None]
        return found[..., 0], found[..., 1]

    def merge(self, other: YieldTable) -> None:
        """Add the counts of another table with these regions; of two keys in a place the more frequent one stays."""
        self._counts += other._counts * (self._keys == other._keys)[:, None]
        replaced = (self._keys != other._keys) & (other._counts[:, 0] > self._counts[:, 0])
        self._keys[replaced], self._counts[replaced] = other._keys[replaced], other._counts[replaced]

    def to_bytes(self) -> bytes:
        """Return the places that are taken, with their keys and counts."""
        taken = np.flatnonzero(self._keys)
        columns = taken.astype("<u4"), self._keys[taken].astype("<u4"), self._counts[taken].astype("<f4")
        return b"".join([column.tobytes() for column in columns])

    def load(self, data: bytes) -> None:
        """Read what `to_bytes` of a table with these regions wrote; raises ValueError for anything else."""
        count, rest = divmod(len(data), 16)
        places, keys = np.frombuffer(data, "<u4", count), np.frombuffer(data, "<u4", count, 4 * count)
        counts = np.frombuffer(data, "<f4", 2 * count, 8 * count).reshape(count, 2)
        is_sound = (counts[:, 1] >= 0) & (counts[:, 1] <= counts[:, 0]) & (counts[:, 0] < np.inf)
        if rest or (places >= len(self._keys)).any() or not is_sound.all():
            raise ValueError("not the counts of a yield table of this size")
        self._keys[:], self._counts[:] = 0, 0
        self._keys[places], self._counts[places] = keys, counts


def yield_log_odds(pages: Values, relevance: Values, expected: Any) -> Values:
    """Return the log-odds of yields that are shrunk towards the expected ones (empirical Bayes): few pages say little.

    >>> none, many = np.zeros(1, np.float32), np.full(1, 300, np.float32)
    >>> [round(float(yield_log_odds(pages, none, 0.25)[0]), 2) for pages in (none, many)]
    [-1.1, -6.0]
    """
    successes = relevance + PRIOR_PAGES * expected
    failures = pages + PRIOR_PAGES - successes
    found: Values = np.log(successes / failures)
    return found


def shrunk_yield(pages: Values, relevance: Values, expected: Any) -> Values:
    """Return yields, shrunk towards the expected ones."""
    found: Values = (relevance + PRIOR_PAGES * expected) / (pages + PRIOR_PAGES)
    return found
