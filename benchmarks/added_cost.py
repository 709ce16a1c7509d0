"""Crawl the same web with and without something, in turn, and count the CPU time of all processes."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.measure import cores, pinned
from benchmarks.server import Served
from benchmarks.sides import Ours, Scene
from benchmarks.web import Web


def costs_with_and_without(having: Ours, lacking: Ours, pages: int, rounds: int) -> list[tuple[float, float]]:
    """Return the CPU-ms a page of each side, for each round; the order changes from round to round."""
    server_core, crawler_core = cores()
    pinned(server_core)
    pairs = []
    with Served(Web(pages=pages, hosts=50), server_core, compress=True) as served:
        for number in range(rounds):
            costs: dict[str, float] = {}
            for name in ("with", "without")[:: 1 if number % 2 else -1]:
                costs[name] = _cost(having if name == "with" else lacking, served, crawler_core)
                print(f"{number + 1} {name:8} {costs[name]:.3f} CPU-ms a page, start included", flush=True)
            pairs.append((costs["with"], costs["without"]))
    return pairs


def _cost(side: Ours, served: Served, core: int | None) -> float:
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        scene = Scene(served=served, directory=Path(name), core=core)
        (scene.directory / "crawl").mkdir()
        run = side.crawl(scene)
    return 1e3 * run.cost.all / len(run.requests.pages)
