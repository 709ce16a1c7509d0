"""How many pages does a CPU-second bring, in this crawler and in stock Scrapy?

Both crawl the same web in turn, the server on one core and the crawler, with all its processes, on the other. Costs are
user and system time as the kernel counts them, less those of a run of the same crawler that fetches nothing.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import median

from benchmarks import report
from benchmarks.known import store_that_knows
from benchmarks.measure import Cost, cores, pinned
from benchmarks.profiled import busiest
from benchmarks.report import Measured
from benchmarks.server import Served
from benchmarks.sides import Ours, Run, Scene, Side, Stock
from benchmarks.web import MAX_HOSTS, Web


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", type=int, default=1500)
    parser.add_argument("--hosts", type=int, default=50, choices=range(1, MAX_HOSTS + 1), metavar="N")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--open", action="store_true", dest="is_open", help="30 links of each page are to new URLs")
    parser.add_argument("--known", type=int, default=1_000_000, help="URLs in the store before an open web is crawled")
    parser.add_argument("--plain", action="store_true", help="serve pages uncompressed; both crawlers accept gzip")
    parser.add_argument("--content-processes", type=int, metavar="N", help="instead of the number in the settings")
    parser.add_argument("--profile", action="store_true", help="crawl once, ours alone, and show where the time goes")


def main(options: argparse.Namespace) -> int:
    server_core, crawler_core = cores()
    if crawler_core is None:
        print("Only one core: server and crawler share it, so the figures are rough.")
    pinned(server_core)
    web = Web(pages=options.pages, hosts=options.hosts, is_open=options.is_open)
    known = store_that_knows(options.known, web) if options.is_open else None
    ours = Ours(processes=options.content_processes, known=known)
    with Served(web, server_core, compress=not options.plain) as served:
        if options.profile:
            return _profile(served, ours, crawler_core)
        print(report.opening(served.web, options.rounds, known=options.known if known else 0), flush=True)
        return _compare(served, ours, crawler_core, options.rounds)


def _compare(served: Served, ours: Ours, core: int | None, rounds: int) -> int:
    stock = Stock()
    starts: dict[str, list[Cost]] = {stock.name: [], ours.name: []}
    runs: dict[str, list[Run]] = {stock.name: [], ours.name: []}
    print(report.HEADINGS, flush=True)
    for number in range(rounds):
        in_turn: list[Side] = [stock, ours] if number % 2 == 0 else [ours, stock]
        with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
            scene = Scene(served=served, directory=Path(name), core=core)
            for side in in_turn:
                starts[side.name].append(side.start_up(scene))
                runs[side.name].append(side.crawl(scene))
                print(report.line(f"{number + 1} {side.name}", runs[side.name][-1], starts[side.name][-1]), flush=True)
        wrong = list(differences(served.web, runs[stock.name][-1], runs[ours.name][-1]))
        if wrong:
            print(*(f"NOT COMPARABLE: {what}" for what in wrong), sep="\n")
            return 1
    fastest, medians = (
        {name: _measured(runs[name], starts[name], one_of) for name in runs} for one_of in (min, median)
    )
    verdicts = report.verdicts(fastest[stock.name], fastest[ours.name], is_open=served.web.is_open)
    print(report.closing(fastest, medians, runs, served.web, verdicts))
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def _measured(runs: list[Run], starts: list[Cost], one_of: Callable[[Iterable[float]], float]) -> Measured:
    """Reduce all rounds to one figure; the cost of starting is the same in each."""
    own, together = one_of(cost.own for cost in starts), one_of(cost.all for cost in starts)
    return Measured(
        pages=int(median(len(run.requests.pages) for run in runs)),
        own=one_of((run.cost.own - own) / len(run.requests.pages) for run in runs),
        all=one_of((run.cost.all - together) / len(run.requests.pages) for run in runs),
        raw_own=one_of(run.cost.own / len(run.requests.pages) for run in runs),
        raw_all=one_of(run.cost.all / len(run.requests.pages) for run in runs),
        start=own,
        memory=max(run.cost.memory for run in runs),
        children_memory=max((most for run in runs for most in run.cost.children_memory.values()), default=0),
        lag=max((lag for run in runs if (lag := report.lag_of(run)) is not None), default=None),
    )


def differences(web: Web, stock: Run, ours: Run) -> Iterator[str]:
    """Yield everything that makes the two runs of a round incomparable."""
    wanted = web.urls()
    for name, run in (("stock", stock), ("ours", ours)):
        fetched = set(run.requests.pages)
        if len(fetched) < len(run.requests.pages):
            yield f"{name} fetched {len(run.requests.pages) - len(fetched)} pages twice"
        if wanted - fetched:
            yield (
                f"{name} did not fetch {len(wanted - fetched)} of {len(wanted)} pages, such as {min(wanted - fetched)}"
            )
        if fetched - wanted and not web.is_open:
            yield f"{name} fetched unknown URLs, such as {min(fetched - wanted)}"


def _profile(served: Served, ours: Ours, core: int | None) -> int:
    """Crawl twice: first undisturbed, for the time of each thread, then under the profiler, for its functions."""
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        scene = Scene(served=served, directory=Path(name), core=core)
        start = ours.start_up(scene)
        run = ours.crawl(scene)
        print(report.HEADINGS, report.line("ours", run, start), report.threads(run, start), sep="\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as name:
        scene = Scene(served=served, directory=Path(name), core=core)
        ours.start_up(scene)
        run = ours.crawl(scene, under=("benchmarks.profiled", name))
        for profile in sorted(Path(name).glob("*.profile")):
            print(busiest(profile, len(run.requests.pages)), end="\n\n")
    return 0
