"""Run a simulation and format its results, for people and as JSON."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from crawler.frontier.priority import BiasedDraw
from crawler.frontier.supply import Supply
from crawler.items import Reason, Visit, Visited
from crawler.monitor.summary import supply_line
from crawler.options import Options
from crawler.simulation.driver import Simulation
from crawler.simulation.observer import SLICES, PolitenessObserver, SimulatedSlice
from crawler.simulation.web import SimulatedWeb, WebPlan
from crawler.stores.contract.crawl import CrawlAccount
from crawler.stores.contract.urls import NewUrl
from crawler.stores.open import open_store
from crawler.urls.keys import key_of

START = 1_800_000_000.0  # an arbitrary moment
_STEPS = 200  # steps of the progress bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The results of a simulation."""

    plan: WebPlan
    pages: int  # pages of the web that can be fetched
    seconds: float  # simulated time
    computed: float  # seconds that the simulation took
    is_done: bool  # everything was visited before the end of the simulated time
    observer: PolitenessObserver
    supply: Supply
    connections: int
    window: int
    most_in_flight: int
    account: CrawlAccount

    @property
    def rate(self) -> float:
        """Visits a second until the last visit."""
        return self.observer.visits / self.observer.last if self.observer.last else 0.0

    @property
    def best(self) -> SimulatedSlice:
        return max(self.observer.slices, key=lambda part: part.visits)


def simulate(
    plan: WebPlan, options: Options, seconds: float, progress: Callable[[float], None] = lambda share: None
) -> Findings:
    """Crawl the web of a plan for a simulated time, or until everything is visited."""
    begun = time.monotonic()
    web = SimulatedWeb(plan, START)
    observer = PolitenessObserver(web, options.politeness, seconds)
    with tempfile.TemporaryDirectory(prefix="orbweaver-") as directory:
        store = open_store(
            f"sqlite:{Path(directory) / 'crawl.db'}", durable=False, budgets=options.budgets, order=options.order
        )
        try:
            store.urls.add_seeds((NewUrl(key=key_of(url), url=url, reason=Reason.SEED) for url in web.seeds()), START)
            simulation = Simulation(
                store,
                options,
                _observed(web, observer, lambda: simulation),
                now=START,
                draw=BiasedDraw(Random(plan.seed).random),  # noqa: S311 -- a game of chance
                address_of=web.address_of,
            )
            for step in range(1, _STEPS + 1):
                simulation.run(START + seconds * step / _STEPS)
                progress(step / _STEPS)
                if simulation.worker.is_done:
                    break
            account = store.crawl.account()
        finally:
            store.close()
    return Findings(
        plan=plan,
        pages=web.pages,
        seconds=simulation.time - START,
        computed=time.monotonic() - begun,
        is_done=simulation.worker.is_done,
        observer=observer,
        supply=simulation.frontier.supply,
        connections=simulation.frontier.connections,
        window=simulation.frontier.window,
        most_in_flight=simulation.most_in_flight,
        account=account,
    )


def _observed(
    web: SimulatedWeb, observer: PolitenessObserver, simulation: Callable[[], Simulation]
) -> Callable[[Visit, float], Visited]:
    def respond(visit: Visit, started: float) -> Visited:
        visited = web.respond(visit, started)
        frontier = simulation().frontier
        observer.saw(visit, started, visited, len(frontier.hosts), len(frontier.in_flight))
        return visited

    return respond


def as_data(found: Findings) -> dict[str, Any]:
    """Return the results as JSON has them, with the values over time."""
    observer, supply = found.observer, found.supply
    stretches = observer.stretches()
    return {
        "hosts": found.plan.hosts,
        "pages_there": found.pages,
        "simulated_seconds": round(found.seconds, 1),
        "computed_seconds": round(found.computed, 1),
        "done": found.is_done,
        "last_visit": round(observer.last, 1),
        "visits": observer.visits,
        "pages": observer.pages,
        "robots": observer.robots,
        "rate": round(found.rate, 2),
        "best_rate": round(found.best.visits / observer.seconds * SLICES, 2),
        "outcomes": dict(observer.outcomes.most_common()),
        "supply": supply.as_data(found.connections),
        "window": found.window,
        "most_in_flight": found.most_in_flight,
        "gaps": {"shorter_than_required": observer.early, "closest": round(observer.closest, 6)},
        "fairness": {
            "median": _quantile(stretches, 0.5),
            "worst_tenth": _quantile(stretches, 0.9),
            "jain": _jain(stretches),
        },
        "waiting": found.account.waiting,
        "parked": found.account.parked,
        "seed": found.plan.seed,
        "slice_seconds": observer.seconds / SLICES,
        "slices": [
            {"visits": part.visits, "bytes": part.bytes, "hosts": part.active, "in_flight": part.in_flight}
            for part in observer.slices
        ],
    }


def lines(found: Findings) -> Iterator[str]:
    """Format the results for people."""
    data = as_data(found)
    observer, fairness = found.observer, data["fairness"]
    hours = found.seconds / 3600
    yield (
        f"Simulated {hours:.1f} h of crawling {found.plan.hosts:,} hosts with {found.pages:,} pages in "
        f"{found.computed:.0f} s (seed {found.plan.seed})"
    )
    end = (
        f"the last after {observer.last / 3600:.1f} h" if found.is_done else "stopped at the end of the simulated time"
    )
    yield f"  Visits       {observer.visits:,}: {observer.pages:,} pages and {observer.robots:,} robots.txt; {end}"
    yield (
        f"  Rate         {data['rate']:,.1f} visits a second, {data['best_rate']:,.1f} at best; {found.most_in_flight} "
        "in flight at most"
    )
    yield f"  Supply       {supply_line(data['supply'], observer.last)}"
    kept = "none was shorter than required" if not observer.early else f"{observer.early} WERE SHORTER THAN REQUIRED"
    yield f"  Gaps         {kept}; the closest was {max(observer.closest, 0.0) * 1000:,.1f} ms longer"
    yield (
        f"  Fairness     half of the hosts waited at most {fairness['median']:.2f} × as long as they had to between "
        f"visits, nine in ten {fairness['worst_tenth']:.2f} ×; Jain's index {fairness['jain']:.3f}"
    )
    yield f"  Window       {found.window:,} hosts in memory"
    outcomes = ", ".join(f"{count:,} {reason}" for reason, count in observer.outcomes.most_common())
    yield f"  Answers      {outcomes}"
    yield f"  Left         {found.account.waiting:,} URLs wait, {found.account.parked:,} are parked"


def _quantile(numbers: list[float], share: float) -> float:
    return round(numbers[min(int(share * len(numbers)), len(numbers) - 1)], 4) if numbers else 0.0


def _jain(stretches: list[float]) -> float:
    """Compute Jain's fairness index: 1 if all hosts are served alike, 1/n if one gets everything."""
    rates = [1 / stretch for stretch in stretches]
    return round(sum(rates) ** 2 / (len(rates) * sum(rate * rate for rate in rates)), 4) if rates else 1.0
