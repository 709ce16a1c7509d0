"""Find all clusters of near-duplicates among documents of any source, and the words in which their members differ."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from crawler.collection.similar.sources import DocumentSource, Progress, text_comparison
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.differences import Differences, differences
from crawler.duplicates.discovery import DuplicateCluster, find_duplicate_clusters
from crawler.errors import DiskTrouble

MAX_READ: Final = 5  # members of a cluster whose texts are compared with that of the first
_STEPS: Final = {
    "bands": "comparing sketches",
    "texts": "comparing texts",
}  # reading sketches is reported by the source


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterMember:
    """A document of a cluster."""

    name: str
    similarity: float  # to the first
    is_counted: bool = False  # exact, not an estimate
    differences: Differences | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundClusters:
    """The clusters, and how many documents were compared."""

    clusters: Sequence[DuplicateCluster]  # the largest first
    compared: int  # documents
    short: int  # documents with too few words to be compared

    @property
    def clustered(self) -> int:
        """The number of documents that are in a cluster."""
        return sum(len(cluster.numbers) for cluster in self.clusters)


def find_clusters(
    documents: DocumentSource, rule: DuplicateRule, progress: Progress, *, by_sketch: bool
) -> FoundClusters:
    """Find clusters among all documents; estimates near the threshold are checked on the texts, unless `by_sketch`."""
    counts = {False: 0, True: 0}  # False: documents that are too short, True: the others

    def sketches() -> Iterator[tuple[int, bytes]]:
        for number, sketch in documents.sketches(progress):
            counts[bool(sketch)] += 1
            yield number, sketch

    directory = Path(tempfile.gettempdir())
    try:
        clusters = find_duplicate_clusters(
            sketches(),
            rule,
            directory,
            compare=None if by_sketch else text_comparison(documents, rule),
            progress=lambda what, done, of: progress(_STEPS[what], done, of) if what in _STEPS else None,
        )
    except OSError as error:
        raise DiskTrouble(
            f"{directory}: sketches cannot be written there temporarily ({error.strerror}); free some space, or set "
            "TMPDIR to another directory."
        ) from error
    return FoundClusters(clusters=clusters, compared=counts[True], short=counts[False])


def cluster_members(
    cluster: DuplicateCluster, documents: DocumentSource, rule: DuplicateRule, most: int | None, *, by_sketch: bool
) -> Iterator[ClusterMember]:
    """The first `most` members, without those deleted since; a few are read and compared exactly with the first."""
    first = documents.read(int(cluster.numbers[0])) if not by_sketch else None
    numbers, estimates = cluster.numbers[:most].tolist(), cluster.similarities[:most].tolist()
    for place, (number, estimate) in enumerate(zip(numbers, estimates, strict=True)):
        name = documents.name(number)
        other = documents.read(number) if first is not None and 0 < place <= MAX_READ else None
        if name and first is not None and other is not None:
            share, words = first.similarity(other, rule), differences(first.text, other.text)
            yield ClusterMember(name=name, similarity=share, is_counted=True, differences=words)
        elif name:
            yield ClusterMember(name=name, similarity=estimate, is_counted=not place)
