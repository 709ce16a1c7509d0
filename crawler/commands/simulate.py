"""scrapy simulate: predict how fast and how fair a crawl with these settings would be."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from scrapy.exceptions import UsageError

from crawler.engine.command import OrbweaverCommand, exit_code_of
from crawler.monitor.charts import CHART_TYPES
from crawler.simulation.chart import draw_simulation
from crawler.simulation.findings import as_data, lines, simulate
from crawler.simulation.sizing import Sizing, fit, sizing_data, sizing_lines
from crawler.simulation.web import WebPlan

TOO_EARLY = 1  # exit code: a request was sent before the delay of its host was over, which must never happen


# The sizing question of the textbook: bytes a second, bytes of a page, seconds for a page, seconds between visits.
_TEXTBOOK = Sizing(bandwidth=10_000_000, page_bytes=10_000, latency=0.5, delay=10.0)


class SimulateCommand(OrbweaverCommand):
    def syntax(self) -> str:
        return "[options]"

    def short_desc(self) -> str:
        return "Simulate a crawl with these settings, without a network"

    def long_desc(self) -> str:
        return (
            "Run the real frontier, politeness and store under a virtual clock on a generated web, and print how many "
            "visits a second are reached, whether there are enough hosts to keep the connections busy, the gaps "
            "between visits, and how evenly hosts are visited. All settings apply as in a crawl: POLITENESS_MIN_DELAY, "
            "CONCURRENT_REQUESTS, FRONTIER_ACTIVE_HOSTS, BANDWIDTH_LIMIT, BUDGET_DOMAIN_DAY … Nothing is fetched, and "
            "CRAWL_DIR is not touched. The exit code is 1 if a request was sent too early. --delay may be given "
            "several times, with the share of the hosts that ask for it. --sizing computes instead how large a crawler "
            "must be: with 10 MB a second, pages of 10 kB that take 500 ms, and 10 s between two visits of a host, it "
            "needs 500 connections and 10,000 hosts. Example: scrapy simulate --hosts 2000 "
            "--delay 10:0.9 --delay 100:0.1 --even --hours 0.5 --plot crawl.png -s CONCURRENT_REQUESTS=100"
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        plan = WebPlan()
        add = parser.add_argument
        add("--hosts", type=_whole(1), default=plan.hosts, metavar="N", help="number of hosts (%(default)s)")
        add(
            "--pages",
            type=_whole(1),
            default=plan.pages,
            metavar="N",
            help="average number of pages of a host (%(default)s)",
        )
        add("--even", action="store_true", help="give all hosts the same number of pages, instead of a power law")
        add(
            "--seeds",
            type=_whole(0),
            default=0,
            metavar="N",
            help="number of hosts that are seeds; the others are found by links (all)",
        )
        add(
            "--latency",
            type=_number(0, 60),
            metavar="S",
            help=f"average seconds until a response is complete ({plan.latency:g})",
        )
        add(
            "--page-bytes",
            type=_whole(0),
            metavar="N",
            help=f"average size of a page ({plan.page_bytes})",
        )
        add(
            "--delay",
            type=_delay,
            action="append",
            default=[],
            metavar="S[:SHARE]",
            help="Crawl-delay of this share of the hosts (of all without SHARE); may be given several times",
        )
        add(
            "--servers",
            type=_whole(0),
            default=0,
            metavar="N",
            help="number of servers (IP addresses) that the hosts share (each has its own)",
        )
        add(
            "--busy",
            type=_number(0, 1),
            default=0.0,
            metavar="SHARE",
            help="share of responses with status 429 and a Retry-After of 60 s (0)",
        )
        add("--dead", type=_number(0, 1), default=0.0, metavar="SHARE", help="share of hosts that never respond (0)")
        add(
            "--outage",
            type=_outage,
            action="append",
            default=[],
            metavar="FROM:TO",
            help="our own network fails from hour FROM to hour TO; may be given several times",
        )
        add("--hours", type=_number(0.001, 100_000), default=1.0, metavar="H", help="hours to simulate (%(default)s)")
        add(
            "--seed",
            type=int,
            default=plan.seed,
            metavar="N",
            help="seed of the random numbers; another one gives another web (%(default)s)",
        )
        add(
            "--plot",
            type=Path,
            metavar="FILE",
            help="draw rate, hosts and requests over time to a .png, .svg or .pdf file",
        )
        add(
            "--sizing",
            action="store_true",
            help="simulate nothing; print how many connections and hosts fill a bandwidth, given --bandwidth, "
            "--page-bytes (10,000), --latency (0.5) and --delay (10)",
        )
        add(
            "--bandwidth",
            type=_number(1, 1e15),
            default=_TEXTBOOK.bandwidth,
            metavar="N",
            help="bytes a second, for --sizing (%(default)g)",
        )
        add("--json", action="store_true", help="print one JSON object, with the values over time")

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        if args:
            raise UsageError("takes options only, no arguments", print_help=False)
        if opts.plot is not None and opts.plot.suffix not in CHART_TYPES:
            raise UsageError(f"--plot {opts.plot}: must end in {', '.join(CHART_TYPES)}", print_help=False)
        if sum(share for _, share in opts.delay) > 1 + 1e-9:
            raise UsageError("--delay: the shares are more than 1 in all", print_help=False)
        if opts.sizing:
            _check_sizing(opts)
        self.exitcode = exit_code_of(lambda: self._size(opts) if opts.sizing else self._simulate(opts))

    def _size(self, opts: argparse.Namespace) -> int:
        options = self.options()
        delays = [delay for delay, _ in opts.delay]
        asked = replace(
            _TEXTBOOK,
            bandwidth=opts.bandwidth,
            page_bytes=opts.page_bytes or _TEXTBOOK.page_bytes,
            latency=opts.latency if opts.latency is not None else _TEXTBOOK.latency,
            delay=delays[0] if delays else _TEXTBOOK.delay,
        )
        ours = fit(asked, options.politeness, options.concurrent_requests, options.frontier.most_hosts)
        print(json.dumps(sizing_data(asked, ours)) if opts.json else "\n".join(sizing_lines(asked, ours)))
        return 0

    def _simulate(self, opts: argparse.Namespace) -> int:
        options = self.options()
        plan = WebPlan(
            hosts=opts.hosts,
            pages=opts.pages,
            even=opts.even,
            seeds=opts.seeds,
            latency=opts.latency if opts.latency is not None else WebPlan().latency,
            page_bytes=opts.page_bytes if opts.page_bytes is not None else WebPlan().page_bytes,
            delays=opts.delay,
            servers=opts.servers,
            busy=opts.busy,
            dead=opts.dead,
            outages=opts.outage,
            seed=opts.seed,
        )
        logging.getLogger("crawler").setLevel(logging.ERROR)  # a simulated outage needs no warning
        with _progress() as progress:
            found = simulate(plan, options, opts.hours * 3600, progress)
        data = as_data(found)
        if opts.plot is not None:
            draw_simulation(data, opts.plot)
        print(json.dumps(data) if opts.json else "\n".join(lines(found)))
        return TOO_EARLY if found.observer.early else 0


@contextmanager
def _progress() -> Iterator[Callable[[float], None]]:
    """Show a progress bar on a terminal, nothing elsewhere; yields a function to call with the share that is done."""
    console = Console(file=sys.stderr)
    columns = (TextColumn("simulating"), BarColumn(), TextColumn("{task.percentage:.0f} %"), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("", total=1.0)
        yield lambda share: bar.update(task, completed=share)


def _check_sizing(opts: argparse.Namespace) -> None:
    """Refuse options that only a simulation uses."""
    if opts.plot is not None or len(opts.delay) > 1 or any(share < 1 for _, share in opts.delay):
        raise UsageError("--sizing takes one --delay without a share, and draws nothing", print_help=False)
    if opts.page_bytes == 0:
        raise UsageError("--page-bytes 0: --sizing needs at least 1", print_help=False)


def _whole(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        number = int(text)
        if number < least:
            raise argparse.ArgumentTypeError(f"{text}: must be at least {least}")
        return number

    return read


def _number(least: float, most: float) -> Callable[[str], float]:
    def read(text: str) -> float:
        number = float(text)
        if not least <= number <= most:
            raise argparse.ArgumentTypeError(f"{text}: must be from {least:g} to {most:g}")
        return number

    return read


def _delay(text: str) -> tuple[float, float]:
    delay, _, share = text.partition(":")
    return _number(0, 86_400)(delay), _number(0, 1)(share or "1")


def _outage(text: str) -> tuple[float, float]:
    begin, _, end = text.partition(":")
    hours: Sequence[float] = [_number(0, 100_000)(begin), _number(0, 100_000)(end)]
    if hours[0] >= hours[1]:
        raise argparse.ArgumentTypeError(f"{text}: must be FROM:TO in hours, the first before the second")
    return hours[0] * 3600, hours[1] * 3600
