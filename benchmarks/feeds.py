"""What does a feed of all pages cost a crawl (`scrapy crawl web -O pages.jsonl`)?

The same web is crawled with and without it, in turn; the CPU time of all processes is counted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from benchmarks.added_cost import costs_with_and_without
from benchmarks.report import Verdict
from benchmarks.sides import Ours

MOST = 0.4  # CPU-ms a page


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)


def main(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as directory:
        feed = Path(directory) / "pages.jsonl"
        feeds = json.dumps({str(feed): {"format": "jsonlines", "overwrite": True}})
        pairs = costs_with_and_without(
            Ours(settings={"FEEDS": feeds}), Ours(), pages=options.pages, rounds=options.rounds
        )
        with feed.open("rb") as lines:
            count = sum(1 for _ in lines)
        print(f"{count:,} pages in the last feed, {feed.stat().st_size / max(count, 1):,.0f} bytes each")
    added = statistics.median(having - lacking for having, lacking in pairs)
    ratio = statistics.median(having / lacking for having, lacking in pairs)
    verdicts = [
        Verdict(what=f"every page is in the feed: {count:,} of {options.pages:,}", holds=count >= options.pages),
        Verdict(
            what=f"a feed costs {added:.2f} CPU-ms a page (median of pairs, {ratio:.3f} times), at most {MOST:g}",
            holds=added <= MOST,
        ),
    ]
    print(*verdicts, sep="\n")
    return 0 if all(verdict.holds for verdict in verdicts) else 1
