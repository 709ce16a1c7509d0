"""Does the index of sketches stay fast when it is large, and how many bytes does a page take?

Pages are looked up and inserted as in a commit, a hundred in a transaction, in a store on disk. One page in ten is a
near-duplicate of an earlier one. CPU time is judged; wall-clock time is printed, too.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np

from benchmarks.report import Verdict
from crawler.duplicates.cascade import DuplicateRule
from crawler.duplicates.minhash import PERMUTATIONS
from crawler.stores.sqlite.connection import open_for_writing
from crawler.stores.sqlite.similarity_index import SimilarityIndex, SketchRow

BATCH = 100
SLICE = 20_000  # pages over which a rate is measured
LEAST_RATIO = 0.4
MOST_BYTES = 2_048
_COPIED = 0.1  # share of the pages
_CHANGED = 0.04  # share of the MinHash values in which a copy differs


class Rate(NamedTuple):
    """The cost of a page in a slice that ends at a number of pages."""

    pages: int
    cpu: float  # seconds
    wall: float


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument(
        "--first", type=int, default=100_000, help="the rate at this many pages is compared with the last"
    )


def main(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        path = Path(name) / "crawl.db"
        connection = open_for_writing(path)
        empty = _size(connection, path)
        rates, found = fill(connection, options.pages)
        weight = (_size(connection, path) - empty) / options.pages
        connection.close()
    at_first = next(rate for rate in rates if rate.pages >= options.first)
    ratio = at_first.cpu / rates[-1].cpu
    print(f"{found:,} of {round(options.pages * _COPIED):,} near-duplicates were found")
    verdicts = [
        Verdict(
            what=f"rate at {options.pages:,} pages: {ratio:.2f} of that at {options.first:,}, at least {LEAST_RATIO}",
            holds=ratio >= LEAST_RATIO,
        ),
        Verdict(what=f"{weight:,.0f} bytes a page, at most {MOST_BYTES:,}", holds=weight <= MOST_BYTES),
    ]
    print(*verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def fill(connection: apsw.Connection, pages: int) -> tuple[list[Rate], int]:
    """Insert pages; return the cost per page as the index grows, and the near-duplicates found."""
    chance, rates, found = np.random.default_rng(1), [], 0
    recent: list[bytes] = []
    for start in range(0, pages, SLICE):
        batches = []
        for at in range(start, start + SLICE, BATCH):
            batches.append((at, _sketches(chance, recent)))
            recent = (recent + batches[-1][1])[-5_000:]
        cpu, wall = time.process_time(), time.monotonic()
        for at, sketches in batches:
            found += _insert(connection, at, sketches)
        rates.append(Rate(start + SLICE, (time.process_time() - cpu) / SLICE, (time.monotonic() - wall) / SLICE))
        if (start + SLICE) % (5 * SLICE) == 0:
            last = rates[-1]
            print(f"{last.pages:>9,} pages: {1e3 * last.cpu:.3f} CPU-ms a page, {1e3 * last.wall:.3f} ms", flush=True)
    return rates, found


def _sketches(chance: np.random.Generator, recent: list[bytes]) -> list[bytes]:
    """Draw sketches of unrelated pages, and of some that are copies of recent ones."""
    made = [chance.bytes(2 * PERMUTATIONS + 8) for _ in range(BATCH)]
    for number in range(0, BATCH if recent else 0, round(1 / _COPIED)):
        marks = np.frombuffer(recent[int(chance.integers(len(recent)))][: 2 * PERMUTATIONS], dtype="<u2").copy()
        marks[chance.random(PERMUTATIONS) < _CHANGED] += 1
        made[number] = marks.tobytes() + chance.bytes(8)
    return made


def _insert(connection: apsw.Connection, first: int, sketches: list[bytes]) -> int:
    index = SimilarityIndex(connection, DuplicateRule())
    connection.execute("BEGIN IMMEDIATE")
    index.look_up(sketches)
    found = 0
    for number, sketch in enumerate(sketches, start=first + 1):
        is_copy = index.judge(number, sketch, {}).original is not None
        found += is_copy
        index.enter(number, SketchRow(number, number % 1_000, 0, not is_copy, sketch), is_first=True)
    index.write()
    connection.execute("COMMIT")
    return found


def _size(connection: apsw.Connection, path: Path) -> int:
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.stat().st_size
