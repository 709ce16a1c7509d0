"""Format the comparison with stock Scrapy for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.measure import Cost
from benchmarks.sides import Run
from benchmarks.web import LINKS, NEW_LINKS, Web

CLOSED_OWN, CLOSED_ALL, OPEN_OWN = 8.0, 2.5, 6.0  # times as many pages per CPU-second as stock Scrapy
MEMORY = 300_000_000  # of the crawl process
CONTENT_MEMORY = 512_000_000  # of each content process
LAG = 0.1  # seconds, of the event loop, 99th percentile
SERVER = 0.15e-3  # CPU-seconds a request: a slower server would distort the measurement

HEADINGS = (
    f"{'round':8}{'pages':>7}{'wall s':>8}{'CPU s':>8}{'all CPU s':>11}{'start s':>9}{'ms/page':>9}{'all ms/page':>13}"
    f"{'MB':>6}{'content MB':>12}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Medians of a side: CPU-seconds a page, without and (raw) with the start of the program."""

    pages: int
    own: float
    all: float
    raw_own: float
    raw_all: float
    start: float
    memory: int
    children_memory: int
    lag: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A measurement with whether it meets its required value."""

    what: str
    holds: bool

    def __str__(self) -> str:
        return f"{'pass' if self.holds else 'FAIL'}  {self.what}"


def opening(web: Web, rounds: int, known: int) -> str:
    kind = f"An open web ({NEW_LINKS} of {LINKS} links are new URLs; {known:,} URLs known)" if known else "A closed web"
    return f"{kind}: {web.pages} pages of about 26 KB, {LINKS} links each, on {web.hosts} hosts; {rounds} rounds."


def line(name: str, run: Run, start: Cost) -> str:
    cost, pages = run.cost, len(run.requests.pages) or 1
    content = max(cost.children_memory.values(), default=0) if run.archive else 0
    return (
        f"{name:8}{pages:7}{cost.seconds:8.1f}{cost.own:8.2f}{cost.all:11.2f}{start.own:9.2f}"
        f"{(cost.own - start.own) / pages * 1000:9.2f}{(cost.all - start.all) / pages * 1000:13.2f}"
        f"{cost.memory / 1e6:6.0f}{content / 1e6:12.0f}"
    )


def store_seconds(cost: Cost) -> float:
    """Return the CPU time of the store's thread: the busiest besides the main thread."""
    _, *others = (seconds for _, seconds in sorted(cost.threads.items()))
    return max(others, default=0.0)


def threads(run: Run, start: Cost) -> str:
    """Format the time of each thread."""
    if not run.cost.threads:
        return ""
    main, *others = (seconds for _, seconds in sorted(run.cost.threads.items()))
    store = store_seconds(run.cost)
    pages = len(run.requests.pages)
    return (
        f"Main thread {(main - start.own) / pages * 1000:.3f} ms a page without its start, store's thread "
        f"{store / pages * 1000:.3f} ms, {len(others) - 1} other threads {(sum(others) - store) / pages * 1000:.3f} "
        "ms\n"
    )


def verdicts(stock: Measured, ours: Measured, *, is_open: bool) -> list[Verdict]:
    own, together = stock.own / ours.own, stock.own / ours.all
    if is_open:
        ratios = [Verdict(what=f"(b) = {own:.1f} × (a), at least {OPEN_OWN:g} ×", holds=own >= OPEN_OWN)]
    else:
        ratios = [
            Verdict(what=f"(b) = {own:.1f} × (a), at least {CLOSED_OWN:g} ×", holds=own >= CLOSED_OWN),
            Verdict(what=f"(c) = {together:.1f} × (a), at least {CLOSED_ALL:g} ×", holds=together >= CLOSED_ALL),
        ]
    limits = [("crawl process", ours.memory, MEMORY), ("content process", ours.children_memory, CONTENT_MEMORY)]
    memory = [
        Verdict(what=f"{name}: {most / 1e6:.0f} MB resident, at most {limit / 1e6:.0f}", holds=most <= limit)
        for name, most, limit in limits
        if most
    ]
    lag = (
        []
        if ours.lag is None
        else [
            Verdict(
                what=f"event loop {ours.lag * 1000:.0f} ms late at the 99th percentile, at most {LAG * 1000:.0f}",
                holds=ours.lag <= LAG,
            )
        ]
    )
    return ratios + memory + lag


def closing(
    fastest: Mapping[str, Measured],
    medians: Mapping[str, Measured],
    runs: Mapping[str, Sequence[Run]],
    web: Web,
    found: Sequence[Verdict],
) -> str:
    stock, ours = fastest["stock"], fastest["ours"]
    rows = [
        ("(a) stock Scrapy, following links only", stock.own, stock.raw_own, stock.own),
        ("(b) our crawl process, its threads included", ours.own, ours.raw_own, stock.own),
        ("(c) all our processes", ours.all, ours.raw_all, stock.own),
    ]
    lines = [
        "",
        f"{'Each in its fastest round':46}{'pages/CPU-s':>12}{'ms/page':>9}{'× (a)':>7}{'ms/page with start':>20}",
    ]
    lines += [
        f"{name:46}{1 / cost:12.0f}{cost * 1000:9.2f}{peer / cost:7.1f}{raw * 1000:20.2f}"
        for name, cost, raw, peer in rows
    ]
    own, together = (medians["stock"].own / cost for cost in (medians["ours"].own, medians["ours"].all))
    lines += [
        "Costs are less those of a run that fetches nothing; the last column includes these.",
        "Other processes on the machine can only make a round slower, so the fastest is the best estimate.",
        f"By the medians of all rounds (b) is {own:.1f} × (a), (c) {together:.1f} ×.",
    ]
    return "\n".join([*lines, "", *_run_lines(runs, web), "", *map(str, found)])


def _run_lines(runs: Mapping[str, Sequence[Run]], web: Web) -> Iterator[str]:
    stock, ours = runs["stock"][-1], runs["ours"][-1]
    seen = stock.stats.get("scheduler/enqueued", 0) + stock.stats.get("dupefilter/filtered", 0)
    yield (
        f"stock: {len(stock.requests.pages)} pages, {seen:,.0f} requests for links made "
        f"({_count(stock, 'scheduler/enqueued')} to new URLs), {stock.requests.bytes / 1e6:.1f} MB received"
    )
    yield (
        f"ours: {len(ours.requests.pages)} pages and {ours.requests.robots} robots.txt, "
        f"{len(ours.requests.pages) * LINKS:,} links ({_count(ours, 'frontier/new_urls')} to new URLs), "
        f"{ours.requests.bytes / 1e6:.1f} MB received, archive {ours.archive / 1e6:.1f} MB, store "
        f"{ours.store / 1e6:.1f} MB, {_count(ours, 'commit/batches')} commits"
    )
    every = (
        "all pages there were at the start, and besides some of the new ones"
        if web.is_open
        else "the same pages, all there are"
    )
    yield f"Each fetched {every}, none twice."
    server = max(run.requests.cpu_per_request for side in runs.values() for run in side)
    slow = "" if server <= SERVER else f": more than {SERVER * 1000:g}, so it may have slowed both"
    yield f"The server needed at most {server * 1000:.2f} CPU-ms a request{slow}."


def _count(run: Run, name: str) -> str:
    return f"{run.stats.get(name, 0):,.0f}"


def lag_of(run: Run) -> float | None:
    """Return the 99th percentile of the lag of the event loop, if the summary has it."""
    return next((float(value) for name, value in _leaves(run.summary) if "lag" in name and "99" in name), None)


def _leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{name}/")
        elif isinstance(value, int | float):
            yield f"{path}{name}", value
