"""What does near-duplicate detection cost a crawl?

The same web is crawled with and without it, in turn; the CPU time of all processes is counted.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.measure import cores, pinned
from benchmarks.report import Verdict
from benchmarks.server import Served
from benchmarks.sides import Ours, Scene
from benchmarks.web import Web

MOST = 1.0  # CPU-ms a page


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)


def main(options: argparse.Namespace) -> int:
    server_core, crawler_core = cores()
    pinned(server_core)
    sides = {"with": Ours(), "without": Ours(settings={"DUPLICATE_THRESHOLD": 0})}
    costs: dict[str, list[float]] = {name: [] for name in sides}
    with Served(Web(pages=options.pages, hosts=50), server_core, compress=True) as served:
        for number in range(options.rounds):
            for name in list(sides)[:: 1 if number % 2 else -1]:
                costs[name].append(_cost(sides[name], served, crawler_core))
                print(f"{number + 1} {name:8} {1e3 * costs[name][-1]:.3f} CPU-ms a page, start included", flush=True)
    added = 1e3 * (min(costs["with"]) - min(costs["without"]))
    verdict = Verdict(what=f"near-duplicates cost {added:.2f} CPU-ms a page, at most {MOST:g}", holds=added <= MOST)
    print(verdict)
    return 0 if verdict.holds else 1


def _cost(side: Ours, served: Served, core: int | None) -> float:
    """Return the CPU-seconds per page."""
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        scene = Scene(served=served, directory=Path(name), core=core)
        (scene.directory / "crawl").mkdir()
        run = side.crawl(scene)
    return run.cost.all / len(run.requests.pages)
