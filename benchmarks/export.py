"""How many documents a second does `scrapy export` write from a collection to jsonl on one core?

The collection is a closed web, crawled for this: pages of about 1,050 words, as most have no more, and then pages of
3,400. Costs are user and system time as the kernel counts them, less those of the same command where nothing has
changed.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path

from benchmarks.measure import cores
from benchmarks.report import Verdict
from benchmarks.server import Served
from benchmarks.sides import ROOT, Ours, Scene, scrapy
from benchmarks.web import SENTENCES, Web
from crawler.stores.open import open_store

PER_SECOND = 2_000  # documents of usual length, at least
USUAL = 40  # sentences
GROWTH = 40e6  # bytes of memory that documents may need, however many there are


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=3_000)
    parser.add_argument("--rounds", type=int, default=4)


def main(options: argparse.Namespace) -> int:
    rate, grown = _measured(options.pages, options.rounds, USUAL)
    long, grown_too = _measured(options.pages, options.rounds, SENTENCES)
    print(f"{long:,.0f} documents of 3,400 words a second")
    verdicts = [
        Verdict(
            what=f"{rate:,.0f} documents of 1,050 words a second, at least {PER_SECOND:,}", holds=rate >= PER_SECOND
        ),
        Verdict(
            what=f"{max(grown, grown_too) / 1e6:.0f} MB for them, at most {GROWTH / 1e6:.0f}",
            holds=max(grown, grown_too) <= GROWTH,
        ),
    ]
    print(*verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def _measured(pages: int, rounds: int, sentences: int) -> tuple[float, int]:
    """Return documents a second, and bytes of memory for them."""
    server_core, core = cores()
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        with Served(Web(pages=pages, hosts=50, sentences=sentences), server_core, compress=True) as served:
            scene = Scene(served=served, directory=Path(name), core=core)
            Ours().start_up(scene)
            Ours().crawl(scene)
        directory = Path(name) / "crawl"
        store = open_store(f"sqlite:{directory / 'crawl.db'}", read_only=True)
        newest = store.changes.version()
        store.close()

        def export(*words: str) -> tuple[float, int]:
            cost = scrapy(
                ["export", "--to", f"jsonl:{os.devnull}", *words],
                {"CRAWL_DIR": directory},
                cwd=ROOT,
                log=Path(name) / "export.log",
                core=core,
            )
            return cost.all, cost.memory

        starts, wholes, grown = [], [], []
        print(f"{pages:,} documents of {sentences} sentences as jsonl")
        for number in range(rounds):
            start, before = export("--since", str(newest))
            whole, after = export()
            starts.append(start)
            wholes.append(whole)
            grown.append(after - before)
            print(
                f"  round {number + 1}: {whole:.2f} s, of which {start:.2f} s to start; {after / 1e6:.0f} MB",
                flush=True,
            )
    # Other processes can only make a round slower.
    return pages / (min(wholes) - min(starts)), min(grown)
