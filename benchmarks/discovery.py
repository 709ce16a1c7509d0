"""How long does it take to find all clusters of near-duplicates among a million sketches, and are they right?

The sketches are random, and one in ten belongs to a planted cluster of 2 to 50 documents, each pair of which agrees in
a share of its MinHash values that is drawn for the cluster. There are no texts, so the estimates decide. Time and
memory are measured.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import peak_memory
from benchmarks.report import Verdict
from crawler.duplicates.bands import SKETCH_DTYPE
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.discovery import DuplicateCluster, find_duplicate_clusters
from crawler.duplicates.minhash import PERMUTATIONS
from crawler.duplicates.words import mix_bits

SECONDS, MEMORY, FOUND, UNMIXED = 600.0, 2e9, 0.97, 0.99
PLANTED = 0.1  # share of all documents
SIZES = (2, 50)
SIMILARITIES = (0.92, 0.99)
THRESHOLD = 0.9
_NONE = -1
_BLOCK = 8_192


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sketches", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=2009)


def main(options: argparse.Namespace) -> int:
    chance = np.random.default_rng(options.seed)
    planted = plant(options.sketches, chance)
    before = peak_memory(os.getpid())
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as directory:
        started = time.monotonic()
        sketches = drawn(planted, chance)
        found = find_duplicate_clusters(sketches, DuplicateRule(threshold=THRESHOLD), Path(directory))
        seconds = time.monotonic() - started
    memory = peak_memory(os.getpid())
    together, unmixed = scores(planted, found)
    sizes = np.bincount(planted[planted >= 0])
    print(
        f"{len(planted):,} sketches, {(planted >= 0).sum():,} of them in {len(sizes):,} clusters of {SIZES[0]} to "
        f"{SIZES[1]}\n{seconds:.1f} s, of which a part is for drawing them; {memory / 1e6:,.0f} MB at most, "
        f"{before / 1e6:,.0f} before\n{len(found):,} clusters found with "
        f"{sum(len(cluster.numbers) for cluster in found):,} documents, the largest of "
        f"{len(found[0].numbers) if found else 0}\n"
    )
    verdicts = judge(seconds, memory, together, unmixed)
    print(*verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def judge(seconds: float, memory: float, together: float, unmixed: float) -> list[Verdict]:
    return [
        Verdict(what=f"found in {seconds:.1f} s, at most {SECONDS:.0f}", holds=seconds <= SECONDS),
        Verdict(what=f"with {memory / 1e6:,.0f} MB, at most {MEMORY / 1e6:,.0f}", holds=memory <= MEMORY),
        Verdict(
            what=f"{together:.4f} of the planted pairs are in one cluster, at least {FOUND}", holds=together >= FOUND
        ),
        Verdict(
            what=f"{unmixed:.4f} of the planted clusters are with no other, at least {UNMIXED}",
            holds=unmixed >= UNMIXED,
        ),
    ]


def plant(count: int, chance: np.random.Generator) -> NDArray[np.int64]:
    """Return for each document the cluster to which it belongs, or _NONE."""
    sizes: list[int] = []
    while sum(sizes) < count * PLANTED:
        sizes.append(int(chance.integers(SIZES[0], SIZES[1] + 1)))
    clusters = np.full(count, _NONE, dtype=np.int64)
    members = np.repeat(np.arange(len(sizes)), sizes)[:count]
    clusters[chance.permutation(count)[: len(members)]] = members
    return clusters


def drawn(planted: NDArray[np.int64], chance: np.random.Generator) -> Iterator[tuple[int, bytes]]:
    """Yield the sketches, drawn a block at a time; the common values of a cluster are computed from its number."""
    agreement = np.sqrt(
        chance.uniform(*SIMILARITIES, size=int(planted.max()) + 1)
    )  # agreement of each of two documents with the cluster
    for at in range(0, len(planted), _BLOCK):
        clusters = planted[at : at + _BLOCK]
        block = np.zeros(len(clusters), dtype=SKETCH_DTYPE)
        block["minhashes"] = chance.integers(0, 1 << 16, size=(len(clusters), PERMUTATIONS), dtype=np.uint16)
        block["simhash"] = chance.integers(0, 1 << 64, size=len(clusters), dtype=np.uint64)
        own = np.flatnonzero(clusters >= 0)
        common = clusters[own, None] * PERMUTATIONS + np.arange(PERMUTATIONS)
        stays = chance.random((len(own), PERMUTATIONS)) < agreement[clusters[own], None]
        block["minhashes"][own] = np.where(
            stays, mix_bits(common.astype(np.uint64) + np.uint64(1)), block["minhashes"][own]
        )
        for number, sketch in enumerate(block, start=at):
            yield number, sketch.tobytes()


def scores(planted: NDArray[np.int64], found: Sequence[DuplicateCluster]) -> tuple[float, float]:
    """Return the share of planted pairs that are clustered together, and of planted clusters not merged with others."""
    pairs, mixed_up = 0, set()
    for cluster in found:
        own, counts = np.unique(planted[cluster.numbers], return_counts=True)
        counts, own = counts[own >= 0], own[own >= 0]
        pairs += int((counts * (counts - 1) // 2).sum())
        if len(own) > 1:
            mixed_up.update(own.tolist())
    sizes = np.bincount(planted[planted >= 0])
    return pairs / int((sizes * (sizes - 1) // 2).sum()), 1 - len(mixed_up) / len(sizes)
