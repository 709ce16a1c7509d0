"""Find all clusters of near-duplicates in a collection from its sketches.

Band by band, the documents that share a key are compared: all of them with the first, those that are not similar to it
with the next, and so on. So ten thousand copies of one page cost ten thousand comparisons and not fifty million, and
documents that only share a key cost a few each. Similar documents are in one cluster, and so is every document that is
similar to a member (single linkage).
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

MAX_MEMORY: Final = 512_000_000  # bytes for the arrays of one band
MAX_ROUNDS: Final = 16  # documents of a group with which all others that share their key are compared
_BYTES_PER_DOCUMENT: Final = 64  # in these arrays

Compare = Callable[[int, int], float | None]
Progress = Callable[[str, int, int], None]  # step, amount done, total


class SimilarPair(NamedTuple):
    """Two documents that are near-duplicates."""

    one: int
    other: int
    similarity: float
    is_counted: bool = False  # computed exactly from the texts, not estimated


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DuplicateCluster:
    """Documents each of which is similar to at least one other member; the first is the earliest in the input."""

    numbers: NDArray[np.int64]
    similarities: NDArray[np.float64]  # to the first, estimated
    pairs: list[SimilarPair]  # a spanning tree of the cluster: one pair fewer than documents


def find_duplicate_clusters(
    sketches: Iterable[tuple[int, bytes]],
    rule: DuplicateRule,
    directory: Path,
    *,
    compare: Compare | None = None,
    memory: int = MAX_MEMORY,
    progress: Progress = lambda what, done, of: None,
) -> list[DuplicateCluster]:
    """Find the clusters among sketches, given as (document number, sketch as stores keep it); the largest comes first.

    `compare` computes the exact similarity of two documents, or returns None if it cannot; it is called for estimates
    within the rule's margin of the threshold, and without it the estimates decide. Temporary files are written to a new
    directory in `directory`, which is removed at the end, also after an error.
    """
    bands = bands_for(rule.threshold, PERMUTATIONS)
    with TemporaryDirectory(prefix="duplicates-", dir=directory, ignore_cleanup_errors=True) as name:
        file = SketchFile(Path(name), bands)
        file.fill(sketches, lambda done: progress("sketches", done, 0))
        return ClusterSearch(file, rule, compare, memory, progress).clusters()


class ClusterSearch:
    """One search for clusters: the similar pairs so far, and the pairs whose estimates do not decide."""

    def __init__(
        self, file: SketchFile, rule: DuplicateRule, compare: Compare | None, memory: int, progress: Progress
    ) -> None:
        self._file = file
        self._rule = rule
        self._compare = compare
        self._ranges = -(-len(file) * _BYTES_PER_DOCUMENT // memory) or 1
        self._progress = progress
        self._unions = UnionFind(len(file))
        self._pairs: list[tuple[int, int, float, bool]] = []  # by place
        # Undecided pairs, each as one number: the first place times the number of documents, plus the other place.
        self._undecided = np.empty(0, dtype=np.int64)

    def clusters(self) -> list[DuplicateCluster]:
        for band in self._file.bands:
            self._progress("bands", band, len(self._file.bands))
            for part in self._file.read_band(band, self._ranges):
                self._compare_within_groups(part)
        if self._compare is not None:
            self._decide_by_texts(self._compare)
        return sorted(self._build_clusters(), key=lambda cluster: (-len(cluster.numbers), int(cluster.numbers[0])))

    def _compare_within_groups(self, band: BandIndex) -> None:
        """Compare documents that share a key, in rounds: in each, the next leader of a group with its other members."""
        places, groups = _documents_sharing_keys(band)
        waits = np.ones(len(places), dtype=np.bool)
        for _ in range(MAX_ROUNDS):
            if not waits.any():
                return
            leaders = _next_leaders(places, groups, waits)
            is_open = leaders >= 0
            places, groups, waits, leaders = places[is_open], groups[is_open], waits[is_open], leaders[is_open]
            self.join_similar(leaders, places)
            waits &= self._unions.roots(places) != self._unions.roots(leaders)

    def join_similar(self, ones: Places, others: Places) -> None:
        """Join pairs whose estimates reach the threshold; if texts can be compared, collect those too close to it."""
        apart = self._unions.roots(ones) != self._unions.roots(others)
        ones, others = np.minimum(ones[apart], others[apart]), np.maximum(ones[apart], others[apart])
        shares = self._file.estimate_similarities(ones, others)
        is_similar = shares >= self._rule.threshold
        if self._compare is not None:
            is_close = np.abs(shares - self._rule.threshold) <= self._rule.margin
            self._undecided = np.union1d(self._undecided, ones[is_close] * len(self._file) + others[is_close])
            is_similar &= ~is_close
        ones, others, shares = ones[is_similar], others[is_similar], shares[is_similar]
        joined = self._unions.join(ones, others)
        pairs = zip(ones[joined].tolist(), others[joined].tolist(), shares[joined].tolist(), strict=True)
        self._pairs += [(one, other, share, False) for one, other, share in pairs]

    def _decide_by_texts(self, compare: Compare) -> None:
        """Compare the texts of undecided pairs, the highest estimate first, unless they are in one cluster already."""
        ones, others = np.divmod(self._undecided, max(len(self._file), 1))
        shares = self._file.estimate_similarities(ones, others)
        for done, pair in enumerate(np.argsort(-shares, kind="stable").tolist()):
            self._progress("texts", done, len(shares))
            one, other = int(ones[pair]), int(others[pair])
            if self._unions.root(one) == self._unions.root(other):
                continue
            exact = compare(*self._file.numbers(np.array([one, other])).tolist())
            share = float(shares[pair]) if exact is None else exact
            if share >= self._rule.threshold:
                self._unions.join(ones[pair : pair + 1], others[pair : pair + 1])
                self._pairs.append((one, other, share, exact is not None))

    def _build_clusters(self) -> Iterator[DuplicateCluster]:
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
        similarities = self._file.estimate_similarities(roots, members)
        edges = np.flatnonzero(np.diff(roots, prepend=-1, append=-1)).tolist()
        for begin, end in pairwise(edges):
            yield DuplicateCluster(
                numbers=self._file.numbers(members[begin:end]),
                similarities=similarities[begin:end],
                pairs=pairs[int(roots[begin])],
            )


def _documents_sharing_keys(band: BandIndex) -> tuple[Places, Places]:
    """The documents that share their key with another, sorted by key and then by place; and a group number per key."""
    order = np.argsort(band.keys, kind="stable")
    keys = band.keys[order]
    same_as_previous = np.concatenate([[False], keys[1:] == keys[:-1]])
    is_shared = same_as_previous | np.concatenate([same_as_previous[1:], [False]])
    return band.places[order[is_shared]], np.cumsum(~same_as_previous[is_shared]) - 1


def _next_leaders(places: Places, groups: Places, waits: NDArray[np.bool]) -> Places:
    """For each document the first of its group that was not joined to a leader yet; -1 if there is none."""
    waiting = np.flatnonzero(waits)[::-1]  # of several values written to one index the last stays, so here the first
    firsts = np.full(int(groups[-1]) + 1, -1, dtype=np.int64)
    firsts[groups[waiting]] = places[waiting]
    return firsts[groups]
