"""What does it cost a crawl to stay on a topic?

The same web is crawled with and without a topic, in turn: the time of the store's thread, of the crawl process and of
all processes is counted. `--open`: most links of a page lead to new URLs, whose evidence is stored.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from benchmarks.known import store_that_knows
from benchmarks.measure import Cost, cores, pinned
from benchmarks.report import Verdict, store_seconds
from benchmarks.server import Served
from benchmarks.sides import Ours, Run, Scene
from benchmarks.web import Web
from crawler.collection.topics import TopicExample, TopicFile, write_topic_file

MOST_OF_STORE = 1.3  # times the store's thread of the crawl without a topic
_NAMES = ("focused", "unfocused")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--known", type=int, default=200_000, help="URLs in the store before an open web is crawled")


def main(options: argparse.Namespace) -> int:
    good = [_compare(options, is_open=is_open) for is_open in (False, True)]
    return 0 if all(good) else 1


def _compare(options: argparse.Namespace, *, is_open: bool) -> bool:
    server_core, crawler_core = cores()
    pinned(server_core)
    web = Web(pages=options.pages, hosts=50, is_open=is_open)
    known = store_that_knows(options.known, web) if is_open else None
    costs: dict[str, list[tuple[float, float, float]]] = {name: [] for name in _NAMES}
    with tempfile.TemporaryDirectory() as name, Served(web, server_core, compress=True) as served:
        sides = {"focused": Ours(known=known, topic=_topic_file(Path(name))), "unfocused": Ours(known=known)}
        print(f"{'open' if is_open else 'closed'} web, {options.pages} pages: CPU-ms a page", flush=True)
        for number in range(options.rounds):
            for side in _NAMES[:: 1 if number % 2 else -1]:
                costs[side].append(_cost(sides[side], served, crawler_core))
                store, own, together = costs[side][-1]
                print(f"{number + 1} {side:10} store {store:.3f}  process {own:.3f}  all {together:.3f}", flush=True)
    return _judge(costs)


def _judge(costs: dict[str, list[tuple[float, float, float]]]) -> bool:
    focused, unfocused = costs["focused"], costs["unfocused"]
    ratio = median(having[0] / lacking[0] for having, lacking in zip(focused, unfocused, strict=True))
    for number, what in enumerate(("store's thread", "crawl process", "all processes")):
        print(f"{what}: {_added(focused, unfocused, number):+.3f} CPU-ms a page (median of pairs)")
    verdict = Verdict(
        what=f"the store's thread takes {ratio:.2f} × that of a crawl without a topic, at most {MOST_OF_STORE:g} ×",
        holds=ratio <= MOST_OF_STORE,
    )
    print(verdict)
    return verdict.holds


def _added(focused: Sequence[Sequence[float]], unfocused: Sequence[Sequence[float]], number: int) -> float:
    return median(having[number] - lacking[number] for having, lacking in zip(focused, unfocused, strict=True))


def _topic_file(directory: Path) -> Path:
    """Write a topic some of whose words are on most pages of this web."""
    texts = ["Ships\nThe ship left the harbour under sail.", "Boats\nA boat on the river, a ship on the sea."]
    examples = [TopicExample(text, True, text) for text in texts]  # noqa: FBT003
    return write_topic_file(directory, TopicFile.train("bench", "ship boat harbour sail", examples))


def _cost(side: Ours, served: Served, core: int | None) -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        scene = Scene(served=served, directory=Path(name), core=core)
        start = side.start_up(scene)
        if side.topic is not None and side.known is not None:  # the first start has placed all URLs that were known
            start = side.start_again(scene)
        return _per_page(side.crawl(scene), start)


def _per_page(run: Run, start: Cost) -> tuple[float, float, float]:
    pages = len(run.requests.pages)
    own, together = run.cost.own - start.own, run.cost.all - start.all
    return 1e3 * store_seconds(run.cost) / pages, 1e3 * own / pages, 1e3 * together / pages
