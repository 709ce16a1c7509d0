"""What does near-duplicate detection cost a crawl?

The same web is crawled with and without it, in turn; the CPU time of all processes is counted.
"""

from __future__ import annotations

import argparse

from benchmarks.added_cost import costs_with_and_without
from benchmarks.report import Verdict
from benchmarks.sides import Ours

MOST = 1.0  # CPU-ms a page


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)


def main(options: argparse.Namespace) -> int:
    pairs = costs_with_and_without(
        Ours(), Ours(settings={"DUPLICATE_THRESHOLD": 0}), pages=options.pages, rounds=options.rounds
    )
    having, lacking = zip(*pairs, strict=True)
    added = min(having) - min(lacking)
    verdict = Verdict(what=f"near-duplicates cost {added:.2f} CPU-ms a page, at most {MOST:g}", holds=added <= MOST)
    print(verdict)
    return 0 if verdict.holds else 1
