"""How much of the rate that politeness allows do this crawler and stock Scrapy reach?

Both have 100 connections. `mix`: 1,800 hosts with a Crawl-delay of 10 s and 200 with 100 s: 182 pages a second are
possible. `quick`: 2,000 hosts with a delay of 1 s: more than one core can do, so pages per CPU-second are compared.
Both crawlers start at the hosts' front pages and follow links. Rates are measured by the server, over the last part of
the time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.measure import Cost, cores, pinned, run
from benchmarks.polite_server import addresses_of
from benchmarks.server import ROOT
from crawler.items import Reason
from crawler.stores.contract.urls import NewUrl
from crawler.stores.open import open_store
from crawler.urls.keys import key_of

CONNECTIONS = 100
SHARE, TIMES = 0.95, 3.0  # required: share of the possible rate; pages per CPU-second as a multiple of stock Scrapy's
_QUICK = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """Hosts with their delays, and how long they are crawled."""

    name: str
    delays: dict[str, float]
    seconds: float  # time of each crawl
    steady: float  # the last part of it, over which the rate is measured

    @property
    def possible(self) -> float:
        """Return the pages a second that the delays allow."""
        return sum(1 / delay for delay in self.delays.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The rate and the cost of one crawler."""

    rate: float  # pages a second in the last part of the time
    pages: int
    cost: Cost
    shortest: float  # the smallest margin: gap between two requests to a host less its delay

    @property
    def per_cpu(self) -> float:
        return self.pages / self.cost.all

    @property
    def per_own_cpu(self) -> float:
        return self.pages / self.cost.own


def workloads(seconds: float) -> list[Workload]:
    hosts = addresses_of(2_000)
    mixed = {address: 100.0 if number % 10 == 0 else 10.0 for number, address in enumerate(hosts)}
    return [
        Workload(name="mix", delays=mixed, seconds=seconds, steady=seconds * 5 / 6),
        Workload(
            name="quick",
            delays=dict.fromkeys(hosts, _QUICK),
            seconds=seconds / 3,
            steady=seconds / 5,
        ),
    ]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="time of each crawl of the first web (%(default)s)"
    )


def main(options: argparse.Namespace) -> int:
    server_core, crawler_core = cores()
    verdicts: list[tuple[str, bool]] = []
    for work in workloads(options.seconds):
        results: dict[str, Result] = {}
        for name, command in (("stock", _stock), ("ours", ours)):
            with tempfile.TemporaryDirectory(prefix="orbweaver-") as directory:
                results[name] = crawl(work, name, Path(directory), command, server_core, crawler_core)
            print(_line(work, name, results[name]), flush=True)
        verdicts += _verdicts(work, results["stock"], results["ours"])
    for what, holds in verdicts:
        print(f"{'pass' if holds else 'FAIL'}  {what}")
    return 0 if all(holds for _, holds in verdicts) else 1


def _verdicts(work: Workload, stock: Result, ours: Result) -> Iterator[tuple[str, bool]]:
    yield (
        f"{work.name}: our crawler sent no request too early ({ours.shortest * 1000:+.1f} ms at the closest)",
        ours.shortest >= 0,
    )
    if work.name == "mix":
        share, stock_share = ours.rate / work.possible, stock.rate / work.possible
        yield (
            f"{work.name}: {share:.1%} of the possible rate, at least {SHARE:.0%}; stock Scrapy {stock_share:.1%}",
            share >= SHARE,
        )
    else:
        times = ours.per_own_cpu / stock.per_own_cpu
        all_times = ours.per_cpu / stock.per_cpu
        ratio = (
            f"{times:.1f} × stock's pages per CPU-second, at least {TIMES:g} ×; {all_times:.1f} × with content "
            "processes"
        )
        yield f"{work.name}: {ratio}", times >= TIMES


def _line(work: Workload, name: str, result: Result) -> str:
    return (
        f"{work.name:6} {name:6} {result.rate:8.1f} pages/s of {work.possible:.0f} possible, {result.pages:6} pages, "
        f"{result.per_own_cpu:6.0f} per CPU-s of the crawler, {result.per_cpu:6.0f} of all its processes"
    )


def crawl(
    work: Workload,
    name: str,
    directory: Path,
    command: Callable[[Workload, Path, int], list[str]],
    server_core: int | None,
    crawler_core: int | None,
) -> Result:
    with _served(work, directory, server_core) as (port, take):
        words = command(work, directory, port)
        cost = run(
            [sys.executable, "-m", "scrapy", *words],
            cwd=ROOT if name == "ours" else directory,
            output=directory / f"{name}.log",
            core=crawler_core,
            environment=_environment(),
            limit=work.seconds + 120,
        )
        if cost.code:
            raise SystemExit(
                f"{name} ended with code {cost.code}:\n" + (directory / f"{name}.log").read_text()[-2_000:]
            )
        requests = take()
    end = max(at for at, _ in requests)
    return Result(
        rate=sum(at > end - work.steady for at, _ in requests) / work.steady,
        pages=len(requests),
        cost=cost,
        shortest=shortest_gap(requests, work.delays),
    )


def shortest_gap(requests: list[tuple[float, str]], delays: dict[str, float]) -> float:
    last: dict[str, float] = {}
    least = float("inf")
    for at, address in requests:
        if address in last:
            least = min(least, at - last[address] - delays[address])
        last[address] = at
    return least


def ours(work: Workload, directory: Path, port: int, **more: object) -> list[str]:
    crawl = directory / "crawl"
    crawl.mkdir()
    store = open_store(f"sqlite:{crawl / 'crawl.db'}")
    try:
        urls = (f"http://{address}:{port}/0" for address in work.delays)
        store.urls.add_seeds((NewUrl(key=key_of(url), url=url, reason=Reason.SEED) for url in urls), time.time())
    finally:
        store.close()
    given = {
        "CRAWL_DIR": crawl,
        "SCOPE": "any",
        "OWN_HOSTS": "127.40.*",
        "INTRANET_HOSTS": "127.40.*",
        "INTRANET_NETWORKS": "127.40.0.0/16",
        "POLITENESS_MIN_DELAY": 0,
        "SITEMAPS": False,  # only linked URLs are requested
        "PROBE_AFTER": 0,
        "POLITENESS_LATENCY_FACTOR": 0,
        "CONCURRENT_REQUESTS": CONNECTIONS,
        "CRAWL_MAX_SECONDS": work.seconds,
    } | more
    return ["crawl", "web", *(word for setting, value in given.items() for word in ("-s", f"{setting}={value}"))]


def _stock(work: Workload, directory: Path, port: int) -> list[str]:
    web = directory / "web.json"
    web.write_text(json.dumps({"port": port, "seconds": work.seconds, "delays": work.delays}))
    spider = ROOT / "benchmarks" / "polite_spider.py"
    return ["runspider", str(spider), "-a", f"web={web}", "-s", f"CONCURRENT_REQUESTS={CONNECTIONS}"]


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("SCRAPY")}


@contextmanager
def _served(
    work: Workload, directory: Path, core: int | None
) -> Iterator[tuple[int, Callable[[], list[tuple[float, str]]]]]:
    delays = directory / "delays.json"
    delays.write_text(json.dumps(work.delays))
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.polite_server", str(delays)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=partial(pinned, core),
    )
    with process:

        def take() -> list[tuple[float, str]]:
            process.stdin.write("take\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield json.loads(process.stdout.readline())["port"], take
