"""Which documents of a collection say almost the same? All clusters of near-duplicates, by their sketches.

Band by band, documents that share a key are compared: each with the first of them, those that are not alike with the next,
and so on. So ten thousand copies of one page cost ten thousand comparisons and not fifty million, and documents
that only share a key cost a few each. Who is alike is of one cluster, and so is who is alike to somebody of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from crawler.duplicates.bands import bands_for
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.minhash import PERMUTATIONS
from crawler.duplicates.sketch_file import BandIndex, SketchFile
from crawler.duplicates.union_find import Places, UnionFind

MEMORY: Final = 512_000_000  # bytes that the arrays of one band may have
ROUNDS: Final = 16  # documents with which all others that share a key are compared
_EACH: Final = 64  # bytes of a document in these arrays

Compare = Callable[[int, int], float | None]
Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, and of how much


class SimilarPair(NamedTuple):
    """Two documents that are alike."""

    one: int
    other: int
    similarity: float
    is_counted: bool = False  # from their texts, and not an estimate


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DuplicateCluster:
    """Documents that are alike, each at least to another; the first is the one with the least place in the stream."""

    numbers: NDArray[np.int64]
    similarities: NDArray[np.float64]  # to the first, estimated
    pairs: list[SimilarPair]  # that hold it together: one fewer than documents


def discover(
    sketches: Iterable[tuple[int, bytes]],
    rule: DuplicateRule,
    directory: Path,
    *,
    compare: Compare | None = None,
    memory: int = MEMORY,
    progress: Progress = lambda what, done, of: None,
) -> list[DuplicateCluster]:
    """The clusters among sketches as stores keep them, each under a number; the largest first.

    `compare` counts what two documents have in common, None if it cannot; it is asked where estimates leave doubts, and
    without it they decide. Files are made in a directory of their own in `directory`, and removed whatever happens.
    """
    bands = bands_for(rule.threshold, PERMUTATIONS)
    with TemporaryDirectory(prefix="duplicates-", dir=directory, ignore_cleanup_errors=True) as name:
        file = SketchFile(Path(name), bands)
        file.fill(sketches, lambda done: progress("sketches", done, 0))
        return _Search(file, rule, compare, memory, progress).clusters()


class _Search:
    """One search: what was found to be alike, and what is in doubt."""

    def __init__(
        self, file: SketchFile, rule: DuplicateRule, compare: Compare | None, memory: int, progress: Progress
    ) -> None:
        self._file = file
        self._rule = rule
        self._compare = compare
        self._ranges = -(-len(file) * _EACH // memory) or 1
        self._progress = progress
        self._unions = UnionFind(len(file))
        self._pairs: list[tuple[int, int, float, bool]] = []  # by place
        self._doubts = np.empty(
            0, dtype=np.int64
        )  # pairs as one number each: the first times the number of all, and the other

    def clusters(self) -> list[DuplicateCluster]:
        for band in self._file.bands:
            self._progress("bands", band, len(self._file.bands))
            for part in self._file.band(band, self._ranges):
                self._look(part)
        if self._compare is not None:
            self._settle(self._compare)
        return sorted(self._found(), key=lambda cluster: (-len(cluster.numbers), int(cluster.numbers[0])))

    def _look(self, band: BandIndex) -> None:
        """Compare who shares a key, in rounds: in each, the next document of each group with all others of it."""
        places, groups = _sharing(band)
        waits = np.ones(len(places), dtype=np.bool)
        for _ in range(ROUNDS):
            if not waits.any():
                return
            leaders = _next_of_group(places, groups, waits)
            goes_on = leaders >= 0
            places, groups, waits, leaders = places[goes_on], groups[goes_on], waits[goes_on], leaders[goes_on]
            self._judge(leaders, places)
            waits &= self._unions.roots(places) != self._unions.roots(leaders)

    def _judge(self, ones: Places, others: Places) -> None:
        apart = self._unions.roots(ones) != self._unions.roots(others)
        ones, others = np.minimum(ones[apart], others[apart]), np.maximum(ones[apart], others[apart])
        shares = self._file.estimates(ones, others)
        alike = shares >= self._rule.threshold
        if self._compare is not None:
            is_doubtful = np.abs(shares - self._rule.threshold) <= self._rule.margin
            self._doubts = np.union1d(self._doubts, ones[is_doubtful] * len(self._file) + others[is_doubtful])
            alike &= ~is_doubtful
        ones, others, shares = ones[alike], others[alike], shares[alike]
        joined = self._unions.join(ones, others)
        found = zip(ones[joined].tolist(), others[joined].tolist(), shares[joined].tolist(), strict=True)
        self._pairs += [(one, other, share, False) for one, other, share in found]

    def _settle(self, compare: Compare) -> None:
        """Compare the texts of pairs in doubt, the likeliest first, unless they have come together by others."""
        ones, others = np.divmod(self._doubts, max(len(self._file), 1))
        shares = self._file.estimates(ones, others)
        for done, doubt in enumerate(np.argsort(-shares, kind="stable").tolist()):
            self._progress("texts", done, len(shares))
            one, other = int(ones[doubt]), int(others[doubt])
            if self._unions.root(one) == self._unions.root(other):
                continue
            counted = compare(*self._file.numbers(np.array([one, other])).tolist())
            share = float(shares[doubt]) if counted is None else counted
            if share >= self._rule.threshold:
                self._unions.join(ones[doubt : doubt + 1], others[doubt : doubt + 1])
                self._pairs.append((one, other, share, counted is not None))

    def _found(self) -> Iterator[DuplicateCluster]:
        ends = np.array([pair[:2] for pair in self._pairs], dtype=np.int64).reshape(-1, 2)
        pairs: dict[int, list[SimilarPair]] = {}
        facts = zip(
            self._unions.roots(ends[:, 0]).tolist(), self._file.numbers(ends).tolist(), self._pairs, strict=True
        )
        for root, (one, other), (*_, share, is_counted) in facts:
            pairs.setdefault(root, []).append(SimilarPair(one, other, share, is_counted))
        members = np.unique(ends)
        order = np.argsort(self._unions.roots(members), kind="stable")
        members = members[order]
        roots = self._unions.roots(members)
        similarities = self._file.estimates(roots, members)
        edges = np.flatnonzero(np.diff(roots, prepend=-1, append=-1)).tolist()
        for begin, end in pairwise(edges):
            yield DuplicateCluster(
                numbers=self._file.numbers(members[begin:end]),
                similarities=similarities[begin:end],
                pairs=pairs[int(roots[begin])],
            )


def _sharing(band: BandIndex) -> tuple[Places, Places]:
    """Those that share their key with another, by keys and then by places; and a number for each key."""
    order = np.argsort(band.keys, kind="stable")
    keys = band.keys[order]
    as_before = np.concatenate([[False], keys[1:] == keys[:-1]])
    shares = as_before | np.concatenate([as_before[1:], [False]])
    return band.places[order[shares]], np.cumsum(~as_before[shares]) - 1


def _next_of_group(places: Places, groups: Places, waits: NDArray[np.bool]) -> Places:
    """For each document the first of its group that waits; -1 if none does."""
    waiting = np.flatnonzero(waits)[::-1]  # of several that are written to one place, the last stays
    firsts = np.full(int(groups[-1]) + 1, -1, dtype=np.int64)
    firsts[groups[waiting]] = places[waiting]
    return firsts[groups]
